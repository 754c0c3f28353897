//! One score for meaning, words and age, on a scale that is the same for every embedder.
//!
//! Cosines of two embedders do not mean the same, and neither do they and shares of words. So all
//! goes into one logistic function, fitted on related and unrelated pairs (`tests/data/pairs.jsonl`,
//! see `docs/memory.md`): a score is how likely a memory is to be about the question. Age works on
//! the odds: it takes from what is doubtful and hardly from what fits exactly.

use foreword_embed::EmbedderId;

use crate::memory::recall::RecallParts;

/// The least score of a memory that is given out, unless another is asked for.
pub(crate) const DEFAULT_MIN_SCORE: f32 = 0.7;
/// The default half-life of recency in days.
pub(crate) const DEFAULT_HALF_LIFE_DAYS: f64 = 90.0;

/// What age takes from the odds of the oldest memory, as a logarithm.
const AGE_WEIGHT: f32 = 0.6;
/// The maximum effect of importance.
const IMPORTANCE_WEIGHT: f32 = 0.5;
const DAY_MS: f64 = 86_400_000.0;

/// How the cosines of an embedder are read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Calibration {
    /// The odds of a memory that shares nothing with the question.
    base: f32,
    /// The effect of a cosine of 1.
    meaning: f32,
    /// What sharing all words adds.
    words: f32,
}

/// Without a vector to compare, four in ten of the rarest words must match.
const WORDS_ALONE: Calibration = Calibration { base: -5.5, meaning: 0.0, words: 16.0 };
/// Whatever the vectors say: nearly all words are there.
const ALL_WORDS: Calibration = Calibration { base: -12.0, meaning: 0.0, words: 16.0 };
/// Fitted; a cosine of 0.58 alone is enough.
const STATIC: Calibration = Calibration { base: -9.0, meaning: 17.0, words: 10.0 };
/// Not fitted: the static table was made after this model, and its cosines are alike.
const USE: Calibration = STATIC;
/// For an embedder without a calibration: words must match too, or the cosine must be high.
const UNKNOWN: Calibration = Calibration { base: -12.0, meaning: 17.0, words: 10.0 };

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
    parts: &RecallParts,
    importance: Option<f64>,
) -> f32 {
    let odds = |calibration: &Calibration, meaning: f32| {
        calibration.base + calibration.meaning * meaning + calibration.words * parts.words
    };
    let both = match (calibration, parts.meaning) {
        // Names are not in the vocabulary of an embedder.
        (Some(calibration), Some(meaning)) => odds(calibration, meaning).max(odds(&ALL_WORDS, 0.0)),
        _ => odds(&WORDS_ALONE, 0.0),
    };
    let importance = importance.map_or(0.0, |x| (x as f32 - 0.5) * 2.0 * IMPORTANCE_WEIGHT);
    let odds = both + importance - AGE_WEIGHT * (1.0 - parts.recency);
    1.0 / (1.0 + (-odds).exp())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DAY: i64 = 86_400_000;

    fn static_score(meaning: f32, words: f32, recency: f32) -> f32 {
        score(Some(&STATIC), &RecallParts { meaning: Some(meaning), words, recency }, None)
    }

    #[test]
    fn half_of_it_is_left_after_the_half_life() {
        assert_eq!(recency(90 * DAY, Some(90.0)), 0.5);
        assert_eq!(recency(0, Some(90.0)), 1.0);
        assert_eq!(recency(-DAY, Some(90.0)), 1.0);
        assert_eq!(recency(i64::MAX, Some(90.0)), 0.0);
        for none in [None, Some(0.0), Some(-1.0), Some(f64::NAN)] {
            assert_eq!(recency(DAY, none), 1.0);
        }
    }

    #[test]
    fn age_does_not_bury_what_fits_exactly() {
        assert!(static_score(1.0, 1.0, 0.0) > static_score(0.7, 0.4, 1.0));
        assert!(static_score(1.0, 1.0, 0.0) > 0.99);
        let doubtful = (static_score(0.59, 0.0, 1.0), static_score(0.59, 0.0, 0.0));
        assert!(doubtful.0 >= DEFAULT_MIN_SCORE && doubtful.1 < DEFAULT_MIN_SCORE, "{doubtful:?}");
    }

    proptest! {
        #[test]
        fn scores_grow_with_every_part(
            meaning in -1.0_f32..1.0, words in 0.0_f32..1.0, age in 0_i64..4_000, more in 0.0_f32..1.0,
        ) {
            let recent = |age: i64| recency(age * DAY, Some(90.0));
            let one = static_score(meaning, words, recent(age));
            prop_assert!((0.0..=1.0).contains(&one));
            prop_assert!(static_score(meaning + more, words, recent(age)) >= one);
            prop_assert!(static_score(meaning, words + more, recent(age)) >= one);
            prop_assert!(static_score(meaning, words, recent(age + 30)) <= one);
            let important = RecallParts { meaning: Some(meaning), words, recency: recent(age) };
            prop_assert!(score(Some(&STATIC), &important, Some(1.0)) >= one);
        }
    }
}
