//! How well the scanner tells injections from harmless texts, in numbers.

use std::collections::BTreeMap;

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
    /// By where texts come from.
    pub per_source: BTreeMap<String, GroupFigures>,
    /// By language.
    pub per_lang: BTreeMap<String, GroupFigures>,
}

/// The figures of a part of a set.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GroupFigures {
    /// How many injections there are.
    pub injections: usize,
    /// Share of them that are flagged or blocked.
    pub recall: Option<f64>,
    /// Share of them that are blocked.
    pub blocked: Option<f64>,
    /// How many harmless texts there are.
    pub benign: usize,
    /// Share of them that are flagged or blocked.
    pub fpr: Option<f64>,
}

impl InjectionFigures {
    /// Counts.
    #[must_use]
    pub fn of(texts: &[Judged]) -> Self {
        let all: Vec<&Judged> = texts.iter().collect();
        let total = GroupFigures::of(&all);
        let (hits, false_alarms) = (flagged(&all, true), flagged(&all, false));
        let f1 = share(2 * hits, hits + false_alarms + total.injections);
        Self {
            recall: total.recall,
            fpr: total.fpr,
            f1: f1.filter(|_| total.injections > 0),
            recall_at_1_fpr: recall_at(&all, 0.01),
            per_source: grouped(&all, |text| &text.source),
            per_lang: grouped(&all, |text| &text.lang),
        }
    }
}

impl GroupFigures {
    fn of(texts: &[&Judged]) -> Self {
        let injections = texts.iter().filter(|t| t.injection).count();
        let benign = texts.len() - injections;
        let blocked =
            texts.iter().filter(|t| t.injection && t.scan.verdict == ScanVerdict::Block).count();
        Self {
            injections,
            recall: share(flagged(texts, true), injections),
            blocked: share(blocked, injections),
            benign,
            fpr: share(flagged(texts, false), benign),
        }
    }
}

fn flagged(texts: &[&Judged], injection: bool) -> usize {
    let of = texts.iter().filter(|t| t.injection == injection);
    of.filter(|t| t.scan.verdict >= ScanVerdict::Flag).count()
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn grouped<'a>(
    texts: &[&'a Judged],
    key: impl Fn(&'a Judged) -> &'a String,
) -> BTreeMap<String, GroupFigures> {
    let mut groups: BTreeMap<&String, Vec<&Judged>> = BTreeMap::new();
    for &text in texts {
        groups.entry(key(text)).or_default().push(text);
    }
    groups.into_iter().map(|(name, texts)| (name.clone(), GroupFigures::of(&texts))).collect()
}

/// The share of injections above the score that at most `rate` of the harmless texts exceed.
fn recall_at(texts: &[&Judged], rate: f64) -> Option<f64> {
    let scores = |injection| {
        let of = texts.iter().filter(move |t| t.injection == injection);
        of.map(|t| t.scan.score)
    };
    let mut harmless: Vec<f32> = scores(false).collect();
    harmless.sort_by(|a, b| b.total_cmp(a));
    let allowed = (harmless.len() as f64 * rate) as usize;
    let bound = harmless.get(allowed)?;
    share(scores(true).filter(|score| score > bound).count(), scores(true).count())
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
        let scan = Scan { verdict, score, reasons: Vec::new() };
        Judged { scan, injection, lang: "en".to_owned(), source: source.to_owned() }
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
        let a = &figures.per_source["a"];
        assert_eq!((a.recall, a.blocked, a.fpr), (Some(1.0), Some(0.5), None));
        assert_eq!(figures.per_source["c"].fpr, Some(0.0));
        assert_eq!(figures.per_lang["en"].injections, 4);
    }

    #[test]
    fn nothing_is_computed_from_nothing() {
        let figures = InjectionFigures::of(&[]);
        assert_eq!((figures.recall, figures.fpr, figures.f1), (None, None, None));
        assert_eq!(InjectionFigures::of(&[judged(true, 1.0, "a")]).recall_at_1_fpr, None);
    }
}
