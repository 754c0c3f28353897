//! One score for meaning, words and age, on a scale that is the same for every embedder.
//!
//! Cosines of two embedders do not mean the same, and neither do they and shares of words. So all
//! goes into one logistic function, fitted on related and unrelated pairs (`tests/data/pairs.jsonl`,
//! see `docs/memory.md`): a score is how likely a memory is to be about the question. Age works on
//! the odds: it takes from what is doubtful and hardly from what fits exactly.

use foreword_semantic::EmbedderId;

use crate::recall::Parts;

/// The least score of a memory that is given out, unless another is asked for.
pub const DEFAULT_MIN_SCORE: f32 = 0.7;
/// After so many days a memory is half as recent, unless told otherwise.
pub const DEFAULT_HALF_LIFE_DAYS: f64 = 90.0;

/// What age takes from the odds of the oldest memory, as a logarithm.
const AGE_WEIGHT: f32 = 0.6;
/// What importance gives to or takes from them at most.
const IMPORTANCE_WEIGHT: f32 = 0.5;
const DAY_MS: f64 = 86_400_000.0;

/// How the cosines of an embedder are read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Calibration {
    /// The odds of a memory that shares nothing with the question.
    base: f32,
    /// What a cosine of 1 adds.
    meaning: f32,
    /// What sharing all words adds.
    words: f32,
}

/// Where there is no vector to compare.
const WORDS_ALONE: Calibration = Calibration { base: -4.0, meaning: 0.0, words: 8.0 };
const STATIC: Calibration = Calibration { base: -4.0, meaning: 8.0, words: 4.0 };
const USE: Calibration = Calibration { base: -4.0, meaning: 8.0, words: 4.0 };
/// An embedder that nobody measured: words have to help, or the cosine be high.
const UNKNOWN: Calibration = Calibration { base: -6.0, meaning: 9.0, words: 4.0 };

impl Calibration {
    pub(crate) fn of(embedder: &EmbedderId) -> Self {
        match embedder.name.as_str() {
            "static" => STATIC,
            "use" => USE,
            _ => UNKNOWN,
        }
    }
}

/// How recent something is: 1 now or in the future, a half after the half-life.
pub(crate) fn recency(age_ms: i64, half_life_days: Option<f64>) -> f32 {
    match half_life_days {
        Some(days) if days > 0.0 && age_ms > 0 => {
            (-(age_ms as f64) / (days * DAY_MS)).exp2() as f32
        }
        _ => 1.0,
    }
}

/// The score of a memory, 0 to 1.
pub(crate) fn score(
    calibration: Option<&Calibration>,
    parts: &Parts,
    importance: Option<f64>,
) -> f32 {
    let odds = |calibration: &Calibration, meaning: f32| {
        calibration.base + calibration.meaning * meaning + calibration.words * parts.words
    };
    let words = odds(&WORDS_ALONE, 0.0);
    // Words that fit exactly count whatever the vectors say: names are not in their vocabulary.
    let both = match (calibration, parts.meaning) {
        (Some(calibration), Some(meaning)) => odds(calibration, meaning).max(words),
        _ => words,
    };
    let importance = importance.map_or(0.0, |x| (x as f32 - 0.5) * 2.0 * IMPORTANCE_WEIGHT);
    let odds = both + importance - AGE_WEIGHT * (1.0 - parts.recency);
    1.0 / (1.0 + (-odds).exp())
}
