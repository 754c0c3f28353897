//! How good recall is: what is found, and what of it would be put into a prompt.

use std::collections::BTreeMap;
use std::time::Duration;

use foreword::bootstrap;
use serde::Serialize;

use crate::select::measures::percentile;

/// The outcome of one question.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RecallOutcome {
    /// A group that the question belongs to.
    pub category: String,
    /// The places of the memories that answer it among all that were found, 0 being the best.
    pub places: Vec<usize>,
    /// How many memories answer it; none if it cannot be answered.
    pub relevant: usize,
    /// How many memories would be put into a prompt.
    pub given: usize,
    /// How many of those answer it.
    pub answering: usize,
    /// How long recall took.
    pub took: Duration,
}

/// Figures over questions.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecallSummary {
    /// How many questions there were.
    pub questions: usize,
    /// The share of the memories that answer among the first 3; a mean over questions.
    pub r3: Option<f64>,
    /// The same among the first 10.
    pub r10: Option<f64>,
    /// The share of questions with at least one memory in the prompt that answers them.
    pub answered: Option<f64>,
    /// The share of memories in prompts that answer.
    pub precision: Option<f64>,
    /// The share of unanswerable questions for which nothing is put into the prompt.
    pub abstained: Option<f64>,
    /// The mean number of memories in a prompt.
    pub given: f64,
    /// 95 of 100 answers took no longer, in milliseconds.
    pub p95_ms: f64,
    /// 95% intervals of the figures above by name, by drawing questions again.
    pub intervals: BTreeMap<&'static str, [f64; 2]>,
}

const NAMES: [&str; 6] = ["r3", "r10", "answered", "precision", "abstained", "given"];

impl RecallSummary {
    /// Sums up outcomes.
    #[must_use]
    pub fn of(outcomes: &[RecallOutcome]) -> Self {
        Self::over(&outcomes.iter().collect::<Vec<_>>())
    }

    /// Sums up outcomes by category.
    #[must_use]
    pub fn by_category(outcomes: &[RecallOutcome]) -> BTreeMap<String, Self> {
        let mut groups: BTreeMap<&str, Vec<&RecallOutcome>> = BTreeMap::new();
        for outcome in outcomes {
            groups.entry(&outcome.category).or_default().push(outcome);
        }
        groups.into_iter().map(|(name, group)| (name.to_owned(), Self::over(&group))).collect()
    }

    fn over(outcomes: &[&RecallOutcome]) -> Self {
        let rows: Vec<usize> = (0..outcomes.len()).collect();
        let intervals = bootstrap(&[&rows], |counts| figures(outcomes, counts));
        let [r3, r10, answered, precision, abstained, given] =
            figures(outcomes, &vec![1; outcomes.len()]);
        let mut times: Vec<Duration> = outcomes.iter().map(|outcome| outcome.took).collect();
        let named = NAMES.into_iter().zip(intervals);
        Self {
            questions: outcomes.len(),
            r3,
            r10,
            answered,
            precision,
            abstained,
            given: given.unwrap_or_default(),
            p95_ms: percentile(&mut times, 95).as_secs_f64() * 1000.0,
            intervals: named.filter_map(|(name, interval)| Some((name, interval?))).collect(),
        }
    }
}

/// The figures of a sample, in the order of [`NAMES`].
fn figures(outcomes: &[&RecallOutcome], counts: &[u64]) -> [Option<f64>; 6] {
    let drawn = || outcomes.iter().zip(counts).map(|(outcome, count)| (*outcome, *count as f64));
    // The ratio of two sums; nothing where the second is zero.
    let ratio = |part: &dyn Fn(&RecallOutcome) -> f64, whole: &dyn Fn(&RecallOutcome) -> f64| {
        let (part, whole) = drawn().fold((0.0, 0.0), |(a, b), (outcome, count)| {
            (a + count * part(outcome), b + count * whole(outcome))
        });
        (whole > 0.0).then(|| part / whole)
    };
    let yes = |condition: bool| f64::from(u8::from(condition));
    let can = |o: &RecallOutcome| yes(o.relevant > 0);
    let cannot = |o: &RecallOutcome| yes(o.relevant == 0);
    [
        ratio(&|o| o.recall(3), &can),
        ratio(&|o| o.recall(10), &can),
        ratio(&|o| yes(o.answering > 0), &can),
        ratio(&|o| o.answering as f64, &|o| o.given as f64),
        ratio(&|o| cannot(o) * yes(o.given == 0), &cannot),
        ratio(&|o| o.given as f64, &|_| 1.0),
    ]
}

impl RecallOutcome {
    fn recall(&self, depth: usize) -> f64 {
        let found = self.places.iter().filter(|place| **place < depth).count();
        found as f64 / self.relevant.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(places: &[usize], relevant: usize, given: usize, answering: usize) -> RecallOutcome {
        let places = places.to_vec();
        RecallOutcome { places, relevant, given, answering, ..RecallOutcome::default() }
    }

    #[test]
    fn figures_are_those_of_the_textbook() {
        let outcomes = [
            outcome(&[0, 5], 2, 3, 1),
            outcome(&[12], 1, 1, 0),
            outcome(&[], 0, 0, 0),
            outcome(&[], 0, 2, 0),
        ];
        let summary = RecallSummary::of(&outcomes);
        assert_eq!((summary.r3, summary.r10), (Some(0.25), Some(0.5)));
        assert_eq!((summary.answered, summary.precision), (Some(0.5), Some(1.0 / 6.0)));
        assert_eq!((summary.abstained, summary.given), (Some(0.5), 1.5));
        let [low, high] = summary.intervals["r10"];
        assert!(low < 0.5 && 0.5 < high, "{low} {high}");
        assert_eq!(RecallSummary::of(&[]), RecallSummary::default());
        assert_eq!(RecallSummary::of(&outcomes[2..]).precision, Some(0.0));
        assert_eq!(RecallSummary::of(&outcomes[2..]).r3, None);
    }

    #[test]
    fn categories_are_apart() {
        let mut outcomes = [outcome(&[0], 1, 1, 1), outcome(&[], 1, 1, 0)];
        outcomes[1].category = "dates".to_owned();
        let groups = RecallSummary::by_category(&outcomes);
        assert_eq!((groups[""].r3, groups["dates"].r3), (Some(1.0), Some(0.0)));
    }
}
