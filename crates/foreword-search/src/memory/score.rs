//! One score for all that speaks for a memory, on a scale that is the same for every embedder.
//!
//! The evidence goes into one sum: what the question and the memory say (vectors, pieces, words), who
//! said it, the time it speaks of, the turns of the conversation around it, and its age. The sum orders
//! memories. A logistic function makes it a score from 0 to 1 in which the threshold is 0.7.
//! `docs/memory.md` says what the weights were chosen on.

use foreword_embed::EmbedderId;

use crate::memory::recall::RecallParts;

/// The least score of a memory that is given out, unless another is asked for.
pub(crate) const DEFAULT_MIN_SCORE: f32 = 0.7;
/// The default half-life of recency in days.
pub(crate) const DEFAULT_HALF_LIFE_DAYS: f64 = 90.0;

/// The weights of the evidence.
const MEANING: f32 = 6.0;
const LIKENESS: f32 = 14.0;
const WORDS: f32 = 9.0;
const SPEAKER: f32 = 2.5;
const TELLS_WHEN: f32 = 1.5;
const DATE: f32 = 4.0;
const ASKS: f32 = -0.7;
/// The turn before often is the question that a memory answers; the one after it, a comment.
pub(crate) const BEFORE: f32 = 0.4;
pub(crate) const AFTER: f32 = 0.1;
/// What age takes from the oldest memory.
const AGE: f32 = 1.0;
/// The maximum effect of importance.
const IMPORTANCE: f32 = 1.0;

/// The sum at which a memory is about a question rather than not.
const ENOUGH: f32 = 8.3;
/// How many units of the sum are one of the logarithm of the odds.
const UNITS: f32 = 4.0;
/// Without a vector to compare, four in ten of the rarest words must match.
const WORDS_ALONE: (f32, f32) = (ENOUGH - 9.6, 24.0);
/// Whatever the vectors say: nearly all words are there. No embedder's vocabulary holds every name.
const ALL_WORDS: (f32, f32) = (ENOUGH - 19.2, 24.0);

/// From the best on, a memory that is this much below it is left out.
const BELOW_BEST: f32 = 3.0;
/// A memory stands out if it is this much above the mean of the candidates behind the first few.
const ABOVE_REST: f32 = 2.5;
/// A memory with this sum need not stand out: there may be many that fit.
const CERTAIN: f32 = 22.0;
/// The candidates whose mean says how close unrelated memories come to this question.
const REST: std::ops::Range<usize> = 3..12;

const DAY_MS: f64 = 86_400_000.0;

/// How the cosines of an embedder are read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Calibration {
    /// What is added to the sum of every memory.
    base: f32,
}

impl Calibration {
    pub(crate) fn of(embedder: &EmbedderId) -> Self {
        match embedder.name.as_str() {
            "static" | "use" => Self { base: 0.0 },
            // For an embedder that nobody measured, other evidence must be stronger.
            _ => Self { base: -2.0 },
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

/// A first estimate, before the text is read.
pub(crate) fn estimate(meaning: Option<f32>, words: f32) -> f32 {
    17.0 * meaning.unwrap_or(0.2) + 12.0 * words
}

/// What the question and the memory say; this is what neighbours lend each other.
pub(crate) fn content(calibration: Option<&Calibration>, parts: &RecallParts) -> f32 {
    let of_words = |(base, weight): (f32, f32)| base + weight * parts.words;
    match (calibration, parts.meaning) {
        (Some(calibration), Some(meaning)) => {
            let all = MEANING * meaning + LIKENESS * parts.likeness + WORDS * parts.words;
            (all + calibration.base).max(of_words(ALL_WORDS))
        }
        _ => of_words(WORDS_ALONE),
    }
}

/// The sum of all evidence.
pub(crate) fn sum(
    calibration: Option<&Calibration>,
    parts: &RecallParts,
    importance: Option<f64>,
) -> f32 {
    let yes = |condition: bool| f32::from(u8::from(condition));
    content(calibration, parts)
        + SPEAKER * parts.speaker
        + TELLS_WHEN * yes(parts.tells_when)
        + DATE * parts.date
        + ASKS * yes(parts.asks)
        + parts.context
        + importance.map_or(0.0, |x| (x as f32 - 0.5) * 2.0 * IMPORTANCE)
        - AGE * (1.0 - parts.recency)
}

/// A sum as a score, 0 to 1.
pub(crate) fn score(sum: f32) -> f32 {
    // The logarithm of the odds of the threshold.
    const AT_THRESHOLD: f32 = 0.847_297_9;
    1.0 / (1.0 + (-((sum - ENOUGH) / UNITS + AT_THRESHOLD)).exp())
}

/// The mean of the candidates behind the first few; the sums are in falling order.
pub(crate) fn rest(sums: impl Iterator<Item = f32>) -> Option<f32> {
    let rest: Vec<f32> = sums.skip(REST.start).take(REST.len()).collect();
    (!rest.is_empty()).then(|| rest.iter().sum::<f32>() / rest.len() as f32)
}

/// The least sum that stands out beside the best one and the rest.
pub(crate) fn outstanding(best: f32, rest: Option<f32>) -> f32 {
    let above_rest = rest.map_or(f32::NEG_INFINITY, |rest| (rest + ABOVE_REST).min(CERTAIN));
    (best - BELOW_BEST).max(above_rest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DAY: i64 = 86_400_000;
    const STATIC: Calibration = Calibration { base: 0.0 };

    fn parts(meaning: f32, likeness: f32, words: f32, recency: f32) -> RecallParts {
        RecallParts { meaning: Some(meaning), likeness, words, recency, ..RecallParts::default() }
    }

    fn static_score(meaning: f32, likeness: f32, words: f32, recency: f32) -> f32 {
        score(sum(Some(&STATIC), &parts(meaning, likeness, words, recency), None))
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
        assert!(static_score(1.0, 1.0, 1.0, 0.0) > static_score(0.7, 0.7, 0.4, 1.0));
        assert!(static_score(1.0, 1.0, 1.0, 0.0) > 0.99);
        let doubtful = (static_score(0.5, 0.42, 0.0, 1.0), static_score(0.5, 0.42, 0.0, 0.0));
        assert!(doubtful.0 >= DEFAULT_MIN_SCORE && doubtful.1 < DEFAULT_MIN_SCORE, "{doubtful:?}");
    }

    #[test]
    fn the_threshold_is_where_it_says() {
        assert!((score(ENOUGH) - DEFAULT_MIN_SCORE).abs() < 1e-4);
    }

    #[test]
    fn what_stands_out_depends_on_the_others() {
        let least = |sums: &[f32]| outstanding(sums[0], rest(sums.iter().copied()));
        // One memory far above the rest; then the same one among many that are as good.
        let lonely = least(&[14.0, 9.0, 8.0, 7.0, 7.0, 6.0]);
        assert!(lonely <= 14.0 && lonely > 9.0, "{lonely}");
        assert!(least(&[14.0; 12]) > 14.0);
        // Where all fit for certain, all may be given.
        assert!(least(&[30.0; 12]) <= 30.0);
        assert_eq!(least(&[5.0]), 2.0);
    }

    proptest! {
        #[test]
        fn scores_grow_with_every_part(
            meaning in -1.0_f32..1.0, likeness in 0.0_f32..1.0, words in 0.0_f32..1.0,
            age in 0_i64..4_000, more in 0.0_f32..1.0,
        ) {
            let recent = |age: i64| recency(age * DAY, Some(90.0));
            let one = static_score(meaning, likeness, words, recent(age));
            prop_assert!((0.0..=1.0).contains(&one));
            prop_assert!(static_score(meaning + more, likeness, words, recent(age)) >= one);
            prop_assert!(static_score(meaning, likeness + more, words, recent(age)) >= one);
            prop_assert!(static_score(meaning, likeness, words + more, recent(age)) >= one);
            prop_assert!(static_score(meaning, likeness, words, recent(age + 30)) <= one);
            let important = parts(meaning, likeness, words, recent(age));
            prop_assert!(score(sum(Some(&STATIC), &important, Some(1.0))) >= one);
        }
    }
}
