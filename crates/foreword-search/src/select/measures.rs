//! How good a ranking is.

use std::collections::BTreeMap;
use std::time::Duration;

use foreword::bootstrap;
use serde::Serialize;

use crate::select::selector::Ranked;

/// The outcome of one query over a whole pool.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The language of the query.
    pub lang: String,
    /// The places of the relevant items in the ranking, 0 being the best.
    pub places: Vec<usize>,
    /// How many items are relevant; more than there are places if some are not in the pool.
    pub relevant: usize,
    /// How long the answer took.
    pub took: Duration,
}

/// Means over queries.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// How many queries there were.
    pub queries: usize,
    /// The best item is a relevant one.
    pub hit1: f64,
    /// The share of relevant items among the first 3.
    pub r3: f64,
    /// The share of relevant items among the first 5.
    pub r5: f64,
    /// The share of relevant items among the first 10.
    pub r10: f64,
    /// The same among the first 20: the ten that a session sends, and ten more that one `tool_search` with
    /// the same words finds.
    pub r20: f64,
    /// All relevant items are among the first 10.
    pub all_found10: f64,
    /// One over the place of the first relevant item.
    pub mrr: f64,
    /// Normalised discounted cumulative gain of the first 10.
    pub ndcg10: f64,
    /// 95 of 100 answers took no longer, in milliseconds.
    pub p95_ms: f64,
    /// 95% intervals of the figures above by name, by drawing queries again.
    pub intervals: BTreeMap<&'static str, [f64; 2]>,
}

/// What is measured of one query, by name.
type Measure = (&'static str, fn(&Outcome) -> f64);
const MEASURES: [Measure; 8] = [
    ("hit1", |o| f64::from(u8::from(o.places.contains(&0)))),
    ("r3", |o| o.recall(3)),
    ("r5", |o| o.recall(5)),
    ("r10", |o| o.recall(10)),
    ("r20", |o| o.recall(20)),
    ("allFound10", |o| f64::from(u8::from(o.recall(10) >= 1.0))),
    ("mrr", |o| o.places.iter().min().map_or(0.0, |place| 1.0 / (*place as f64 + 1.0))),
    ("ndcg10", Outcome::ndcg10),
];

impl Summary {
    /// Sums up outcomes.
    #[must_use]
    pub fn of(outcomes: &[Outcome]) -> Self {
        let outcomes: Vec<&Outcome> = outcomes.iter().collect();
        Self::over(&outcomes)
    }

    /// Sums up outcomes by language.
    #[must_use]
    pub fn by_language(outcomes: &[Outcome]) -> BTreeMap<String, Self> {
        let mut groups: BTreeMap<&str, Vec<&Outcome>> = BTreeMap::new();
        for outcome in outcomes {
            groups.entry(&outcome.lang).or_default().push(outcome);
        }
        groups.into_iter().map(|(lang, group)| (lang.to_owned(), Self::over(&group))).collect()
    }

    fn over(outcomes: &[&Outcome]) -> Self {
        let count = outcomes.len().max(1) as f64;
        let values = MEASURES.map(|(_, measure)| -> Vec<f64> {
            outcomes.iter().map(|outcome| measure(outcome)).collect()
        });
        let rows: Vec<usize> = (0..outcomes.len()).collect();
        let intervals = bootstrap(&[&rows], |counts| {
            values.each_ref().map(|values| {
                let drawn = values.iter().zip(counts).map(|(value, n)| value * *n as f64);
                Some(drawn.sum::<f64>() / count)
            })
        });
        let [hit1, r3, r5, r10, r20, all_found10, mrr, ndcg10] =
            values.map(|values| values.iter().sum::<f64>() / count);
        let named = MEASURES.iter().zip(intervals);
        let mut times: Vec<Duration> = outcomes.iter().map(|outcome| outcome.took).collect();
        Self {
            queries: outcomes.len(),
            hit1,
            r3,
            r5,
            r10,
            r20,
            all_found10,
            mrr,
            ndcg10,
            p95_ms: percentile(&mut times, 95).as_secs_f64() * 1000.0,
            intervals: named.filter_map(|((name, _), interval)| Some((*name, interval?))).collect(),
        }
    }
}

impl Outcome {
    /// The outcome of a ranking: `relevant` are the places of the relevant items among the items,
    /// nothing standing for one that is not in the pool.
    pub fn new(
        lang: impl Into<String>,
        ranking: &[Ranked],
        relevant: &[Option<usize>],
        took: Duration,
    ) -> Self {
        let wanted = |index: usize| relevant.contains(&Some(index));
        let places = ranking.iter().enumerate().filter(|(_, ranked)| wanted(ranked.index));
        Self {
            lang: lang.into(),
            places: places.map(|(place, _)| place).collect(),
            relevant: relevant.len(),
            took,
        }
    }

    fn recall(&self, depth: usize) -> f64 {
        let found = self.places.iter().filter(|place| **place < depth).count();
        found as f64 / self.relevant.max(1) as f64
    }

    fn ndcg10(&self) -> f64 {
        let gain = |place: usize| (place as f64 + 2.0).log2().recip();
        let found: f64 =
            self.places.iter().filter(|place| **place < 10).map(|place| gain(*place)).sum();
        found / (0..self.relevant.clamp(1, 10)).map(gain).sum::<f64>()
    }
}

/// The time that this percentage of all is at most.
pub(crate) fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    let rank = (times.len() * percent).div_ceil(100).saturating_sub(1);
    times.get(rank).copied().unwrap_or_default()
}

/// The probability that a query inside the scope scores above one outside, ties counting half, with
/// its 95% interval; nothing where one of the two is missing.
#[must_use]
pub fn auroc(inside: &[f32], outside: &[f32]) -> Option<(f64, [f64; 2])> {
    if inside.is_empty() || outside.is_empty() {
        return None;
    }
    let scores: Vec<f32> = inside.iter().chain(outside).copied().collect();
    let mut order: Vec<usize> = (0..scores.len()).collect();
    let score = |row: &usize| scores.get(*row).copied().unwrap_or_default();
    order.sort_by(|a, b| score(a).total_cmp(&score(b)));
    let area = |counts: &[u64]| {
        let (mut below, mut wins) = (0.0, 0.0);
        for tied in order.chunk_by(|a, b| score(a) == score(b)) {
            let (mut ours, mut theirs) = (0.0, 0.0);
            for row in tied {
                let side = if *row < inside.len() { &mut ours } else { &mut theirs };
                *side += counts.get(*row).copied().unwrap_or_default() as f64;
            }
            wins += ours * (below + theirs / 2.0);
            below += theirs;
        }
        wins / (inside.len() as f64 * outside.len() as f64)
    };
    let (ours, theirs): (Vec<usize>, Vec<usize>) =
        (0..scores.len()).partition(|row| *row < inside.len());
    let [interval] = bootstrap(&[&ours, &theirs], |counts| [Some(area(counts))]);
    Some((area(&vec![1; scores.len()]), interval?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(lang: &str, places: &[usize], relevant: usize, ms: u64) -> Outcome {
        let took = Duration::from_millis(ms);
        Outcome { lang: lang.into(), places: places.to_vec(), relevant, took }
    }

    #[test]
    fn measures_are_those_of_the_textbook() {
        let summary = Summary::of(&[outcome("en", &[0, 4], 2, 1), outcome("fr", &[12], 2, 3)]);
        let ideal = 1.0 + 1.0 / 3.0_f64.log2();
        let expected = Summary {
            queries: 2,
            hit1: 0.5,
            r3: 0.25,
            r5: 0.5,
            r10: 0.5,
            r20: 0.75,
            all_found10: 0.5,
            mrr: (1.0 + 1.0 / 13.0) / 2.0,
            ndcg10: (1.0 + 1.0 / 6.0_f64.log2()) / ideal / 2.0,
            p95_ms: 3.0,
            intervals: summary.intervals.clone(),
        };
        assert_eq!(summary, expected);
        assert_eq!(summary.intervals.len(), MEASURES.len());
        assert_eq!(summary.intervals["hit1"], [0.0, 1.0], "one of two queries");
        assert_eq!(Summary::of(&[]), Summary::default());
    }

    #[test]
    fn a_ranking_has_an_outcome() {
        let ranking = [2, 0, 1].map(|index| Ranked { index, score: 0.0 });
        let relevant = [Some(0), Some(2), None];
        let found = Outcome::new("en", &ranking, &relevant, Duration::from_millis(1));
        assert_eq!(found, outcome("en", &[0, 1], 3, 1));
    }

    #[test]
    fn languages_are_apart() {
        let groups = Summary::by_language(&[outcome("en", &[0], 1, 1), outcome("fr", &[], 1, 1)]);
        assert_eq!(groups["en"].hit1, 1.0);
        assert_eq!(groups["fr"].hit1, 0.0);
        let json = serde_json::to_value(&groups["en"]).unwrap();
        let keys: Vec<_> = json.as_object().unwrap().keys().cloned().collect();
        let expected = [
            "allFound10",
            "hit1",
            "intervals",
            "mrr",
            "ndcg10",
            "p95Ms",
            "queries",
            "r10",
            "r20",
            "r3",
            "r5",
        ];
        assert_eq!(keys, expected);
    }

    #[test]
    fn the_area_counts_ties_as_half() {
        let (area, [low, high]) = auroc(&[3.0, 2.0], &[1.0, 2.0]).unwrap();
        assert!(area == 0.875 && low < area && high == 1.0, "{low} {high}");
        assert_eq!(auroc(&[1.0], &[1.0]), Some((0.5, [0.5, 0.5])));
        assert_eq!(auroc(&[], &[1.0]), None);
    }
}
