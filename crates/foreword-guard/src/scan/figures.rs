//! How well the scanner tells injections from harmless texts, in numbers.

use std::collections::BTreeMap;

use foreword::{bootstrap, mean_interval};
use serde::Serialize;

use super::verdict::{Scan, ScanVerdict};

/// A scanned text with its label.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The scanner's result.
    pub scan: Scan,
    /// The label.
    pub injection: bool,
    /// Its language.
    pub lang: String,
    /// Where it comes from.
    pub source: String,
    /// Whether an injection stands alone (`bare`) or in a document (`embedded`); may be empty.
    pub form: String,
}

/// The figures of a labelled set. A figure without texts to compute it from is absent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InjectionFigures {
    /// Share of the injections that are flagged or blocked.
    pub recall: Option<f64>,
    /// Share of the harmless texts that are.
    pub fpr: Option<f64>,
    /// The harmonic mean of recall and precision.
    pub f1: Option<f64>,
    /// The recall at the score that at most one harmless text in a hundred exceeds.
    #[serde(rename = "recallAt1Fpr")]
    pub recall_at_1_fpr: Option<f64>,
    /// How often an injection scores higher than a harmless text.
    pub auc: Option<f64>,
    /// The recall at the scores that at most these shares of the harmless texts exceed.
    pub recall_at: BTreeMap<String, f64>,
    /// 95% intervals of the figures above, by name; from 1,000 bootstrap samples of the texts.
    pub intervals: BTreeMap<String, [f64; 2]>,
    /// By where texts come from.
    pub per_source: BTreeMap<String, GroupFigures>,
    /// By language.
    pub per_lang: BTreeMap<String, GroupFigures>,
    /// By form: embedded in a document or bare.
    pub per_form: BTreeMap<String, GroupFigures>,
}

/// The figures of a part of a set.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GroupFigures {
    /// How many injections there are.
    pub injections: usize,
    /// Share of them that are flagged or blocked.
    pub recall: Option<f64>,
    /// Its 95% interval.
    pub recall_interval: Option<[f64; 2]>,
    /// Share of them that are blocked.
    pub blocked: Option<f64>,
    /// Share of them above the score that at most 2% of all harmless texts of the set exceed.
    pub recall_at_2_fpr: Option<f64>,
    /// How often one of them scores higher than a harmless text of the set.
    pub auc: Option<f64>,
    /// How many harmless texts there are.
    pub benign: usize,
    /// Share of them that are flagged or blocked.
    pub fpr: Option<f64>,
    /// Its 95% interval.
    pub fpr_interval: Option<[f64; 2]>,
    /// Share of them that are blocked.
    pub benign_blocked: Option<f64>,
}

/// The rates of false positives at which recall is reported.
const RATES: [(&str, f64); 4] = [("0.001", 0.001), ("0.01", 0.01), ("0.02", 0.02), ("0.05", 0.05)];

impl InjectionFigures {
    /// Counts.
    #[must_use]
    pub fn of(texts: &[Judged]) -> Self {
        let mut sorted: Vec<&Judged> = texts.iter().collect();
        sorted.sort_by(|a, b| b.scan.score.total_cmp(&a.scan.score));
        let once = vec![1; sorted.len()];
        let whole = Sample::of(&sorted, &once);
        Self {
            recall: whole.recall(),
            fpr: whole.fpr(),
            f1: whole.f1(),
            recall_at_1_fpr: whole.recall_at(0.01),
            auc: whole.auc(),
            recall_at: RATES
                .iter()
                .filter_map(|(name, rate)| Some(((*name).to_owned(), whole.recall_at(*rate)?)))
                .collect(),
            intervals: intervals(&sorted),
            per_source: grouped(&sorted, |text| &text.source),
            per_lang: grouped(&sorted, |text| &text.lang),
            per_form: grouped(&sorted, |text| &text.form),
        }
    }
}

/// The counts of a set of texts, of which each may occur more than once.
struct Sample {
    injections: u64,
    found: u64,
    benign: u64,
    wrong: u64,
    /// Runs of equal scores, the highest first: injections and harmless texts in each.
    runs: Vec<(u64, u64)>,
}

impl Sample {
    /// `texts` are sorted by score, the highest first.
    fn of(texts: &[&Judged], counts: &[u64]) -> Self {
        let mut sample = Self { injections: 0, found: 0, benign: 0, wrong: 0, runs: Vec::new() };
        let mut last = f32::NAN;
        for (text, &count) in texts.iter().zip(counts) {
            let flagged = if text.scan.verdict >= ScanVerdict::Flag { count } else { 0 };
            if text.scan.score != last {
                sample.runs.push((0, 0));
                last = text.scan.score;
            }
            let Some(run) = sample.runs.last_mut() else { continue };
            if text.injection {
                sample.injections += count;
                sample.found += flagged;
                run.0 += count;
            } else {
                sample.benign += count;
                sample.wrong += flagged;
                run.1 += count;
            }
        }
        sample
    }

    fn recall(&self) -> Option<f64> {
        share(self.found, self.injections)
    }

    fn fpr(&self) -> Option<f64> {
        share(self.wrong, self.benign)
    }

    fn f1(&self) -> Option<f64> {
        share(2 * self.found, self.found + self.wrong + self.injections)
            .filter(|_| self.injections > 0)
    }

    /// The share of injections above the score that at most `rate` of the harmless texts exceed.
    fn recall_at(&self, rate: f64) -> Option<f64> {
        if self.benign == 0 {
            return None;
        }
        let allowed = (self.benign as f64 * rate) as u64;
        let (mut above, mut wrong) = (0, 0);
        for (injections, benign) in &self.runs {
            if wrong + benign > allowed {
                break;
            }
            above += injections;
            wrong += benign;
        }
        share(above, self.injections)
    }

    /// Pairs of an injection and a harmless text in which the injection scores higher; a tie counts
    /// half.
    fn auc(&self) -> Option<f64> {
        let (mut higher, mut right) = (0, 0.0);
        for (injections, benign) in &self.runs {
            right += *benign as f64 * (higher as f64 + *injections as f64 / 2.0);
            higher += injections;
        }
        let pairs = self.injections as f64 * self.benign as f64;
        (pairs > 0.0).then(|| right / pairs)
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// 95% intervals of the figures of the whole set. Injections and harmless texts are drawn apart, so
/// that each sample has as many as the set.
fn intervals(texts: &[&Judged]) -> BTreeMap<String, [f64; 2]> {
    let (attacks, harmless): (Vec<usize>, Vec<usize>) =
        (0..texts.len()).partition(|i| texts.get(*i).is_some_and(|text| text.injection));
    let names = ["recall", "fpr", "f1", "recallAt1Fpr", "recallAt2Fpr", "auc"];
    let intervals = bootstrap(&[&attacks, &harmless], |counts| {
        let sample = Sample::of(texts, counts);
        let at = |rate| sample.recall_at(rate);
        [sample.recall(), sample.fpr(), sample.f1(), at(0.01), at(0.02), sample.auc()]
    });
    let named = names.into_iter().zip(intervals);
    named.filter_map(|(name, interval)| Some((name.to_owned(), interval?))).collect()
}

/// The 95% interval of a share.
fn interval(part: usize, whole: usize) -> Option<[f64; 2]> {
    let hits: Vec<Option<f64>> =
        (0..whole).map(|i| Some(if i < part { 1.0 } else { 0.0 })).collect();
    mean_interval(&hits)
}

fn grouped<'a>(
    texts: &[&'a Judged],
    key: impl Fn(&'a Judged) -> &'a String,
) -> BTreeMap<String, GroupFigures> {
    let mut groups: BTreeMap<&String, Vec<&Judged>> = BTreeMap::new();
    for &text in texts {
        groups.entry(key(text)).or_default().push(text);
    }
    let figures = |name: &String, members: &[&Judged]| {
        // injections of the group beside all harmless texts
        let counts: Vec<u64> =
            texts.iter().map(|text| u64::from(!text.injection || key(text) == name)).collect();
        group_figures(members, &Sample::of(texts, &counts))
    };
    groups.into_iter().map(|(name, members)| (name.clone(), figures(name, &members))).collect()
}

fn group_figures(members: &[&Judged], among: &Sample) -> GroupFigures {
    let count = |injection: bool, verdict: ScanVerdict| {
        let of = members.iter().filter(|t| t.injection == injection);
        of.filter(|t| t.scan.verdict >= verdict).count()
    };
    let share = |part: usize, whole: usize| share(part as u64, whole as u64);
    let injections = count(true, ScanVerdict::Pass);
    let benign = members.len() - injections;
    let (found, wrong) = (count(true, ScanVerdict::Flag), count(false, ScanVerdict::Flag));
    GroupFigures {
        injections,
        recall: share(found, injections),
        recall_interval: interval(found, injections),
        blocked: share(count(true, ScanVerdict::Block), injections),
        recall_at_2_fpr: among.recall_at(0.02).filter(|_| injections > 0),
        auc: among.auc().filter(|_| injections > 0),
        benign,
        fpr: share(wrong, benign),
        fpr_interval: interval(wrong, benign),
        benign_blocked: share(count(false, ScanVerdict::Block), benign),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(injection: bool, score: f32, source: &str) -> Judged {
        let verdict = match score {
            s if s >= 0.9 => ScanVerdict::Block,
            s if s >= 0.5 => ScanVerdict::Flag,
            _ => ScanVerdict::Pass,
        };
        let scan = Scan { verdict, score, reasons: Vec::new(), findings: Vec::new() };
        let form = if injection { "embedded" } else { "" };
        Judged {
            scan,
            injection,
            lang: "en".to_owned(),
            source: source.to_owned(),
            form: form.to_owned(),
        }
    }

    #[test]
    fn figures_are_counted() {
        let texts = [
            judged(true, 0.95, "a"),
            judged(true, 0.6, "a"),
            judged(true, 0.3, "b"),
            judged(true, 0.1, "b"),
            judged(false, 0.55, "b"),
            judged(false, 0.2, "c"),
        ];
        let figures = InjectionFigures::of(&texts);
        assert_eq!(figures.recall, Some(0.5));
        assert_eq!(figures.fpr, Some(0.5));
        assert_eq!(figures.f1, Some(4.0 / 7.0));
        assert_eq!(figures.recall_at_1_fpr, Some(0.5), "above the one at 0.55");
        assert_eq!(figures.auc, Some(5.0 / 8.0));
        assert_eq!(figures.recall_at["0.02"], 0.5);
        let a = &figures.per_source["a"];
        assert_eq!((a.recall, a.blocked, a.fpr, a.auc), (Some(1.0), Some(0.5), None, Some(1.0)));
        assert_eq!(figures.per_source["c"].fpr, Some(0.0));
        assert_eq!(figures.per_lang["en"].injections, 4);
        assert_eq!(figures.per_form["embedded"].recall, Some(0.5));
    }

    #[test]
    fn intervals_hold_the_figure_and_do_not_change() {
        let texts: Vec<Judged> = (0..200)
            .map(|i| judged(i % 2 == 0, if i % 5 == 0 { 0.8 } else { i as f32 / 1000.0 }, "a"))
            .collect();
        let figures = InjectionFigures::of(&texts);
        assert_eq!(figures, InjectionFigures::of(&texts));
        for (name, value) in
            [("recall", figures.recall), ("auc", figures.auc), ("fpr", figures.fpr)]
        {
            let [low, high] = figures.intervals[name];
            let value = value.unwrap();
            assert!(
                low < value && value < high && high - low < 0.3,
                "{name}: {low} {value} {high}"
            );
        }
        let [low, high] = figures.per_source["a"].recall_interval.unwrap();
        assert!((0.1..0.2).contains(&low) && (0.2..0.3).contains(&high), "{low} {high}");
    }

    #[test]
    fn nothing_is_computed_from_nothing() {
        let figures = InjectionFigures::of(&[]);
        assert_eq!(
            (figures.recall, figures.fpr, figures.f1, figures.auc),
            (None, None, None, None)
        );
        assert!(figures.intervals.is_empty());
        assert_eq!(InjectionFigures::of(&[judged(true, 1.0, "a")]).recall_at_1_fpr, None);
    }
}
