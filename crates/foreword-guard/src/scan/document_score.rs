//! How the windows of a document make its score.
//!
//! The worst window alone would say too much of a long document: every window is one more chance of
//! an error. So a window is weighed with what is around it (is it unlike its neighbours, is it hidden)
//! and with the document it stands in (how long it is, how it scores elsewhere), by weights that were
//! fitted on whole documents.

use std::ops::Range;

use super::document::PartKind;
use super::exemplars::{Exemplars, MAX_WINDOWS};
use super::features::{ASKS_FOR_PROMPT, DISMISSES, Facts, OVERRIDES, ROLE_MARKER, fact};
use super::head::{BlockWeight, Head};
use super::lexicon::ATTACKS;
use super::reading::{Origin, Reading};
use foreword_embed::dot;

/// How many measures a window in its document has.
pub(crate) const MEASURES: usize = 20;

/// One block of a reading, as far as its document is concerned.
#[derive(Debug, Clone)]
struct Noted {
    weight: BlockWeight,
    range: Range<usize>,
    /// The square of the length of its vector.
    square: f32,
    /// Products of its vector with those of the next three blocks.
    next: [f32; 3],
}

/// The blocks of one reading, in order.
#[derive(Debug)]
pub(crate) struct NotedReading {
    hidden: bool,
    attribute: bool,
    script: bool,
    encoded: bool,
    spelling: bool,
    blocks: Vec<Noted>,
    /// Vectors of the last three blocks.
    recent: Vec<Vec<f32>>,
    /// The sum of the vectors of its blocks.
    sum: Vec<f32>,
}

impl NotedReading {
    pub(crate) fn new(reading: &Reading<'_>) -> Self {
        Self {
            hidden: reading.is_hidden(),
            attribute: reading.kind() == PartKind::Attribute,
            script: reading.kind() == PartKind::Script,
            encoded: matches!(reading.origin, Origin::Encoded | Origin::Invisible | Origin::Cipher),
            spelling: reading.origin == Origin::Spelling,
            blocks: Vec::new(),
            recent: Vec::new(),
            sum: Vec::new(),
        }
    }

    /// Adds the next block.
    pub(crate) fn push(
        &mut self,
        weight: BlockWeight,
        vector: Option<Vec<f32>>,
        range: Range<usize>,
    ) {
        let square = vector.as_ref().map_or(0.0, |v| dot(v, v));
        if let Some(vector) = vector {
            add(&mut self.sum, &vector);
            let count = self.blocks.len();
            for (back, before) in (1..=3).zip(self.recent.iter().rev()) {
                let block = count.checked_sub(back).and_then(|i| self.blocks.get_mut(i));
                if let Some(place) = block.and_then(|block| block.next.get_mut(back - 1)) {
                    *place = dot(before, &vector);
                }
            }
            if self.recent.len() == 3 {
                self.recent.remove(0);
            }
            self.recent.push(vector);
        }
        self.blocks.push(Noted { weight, range, square, next: [0.0; 3] });
    }

    /// How many windows there are: pairs of neighbours, or the only block.
    fn windows(&self) -> usize {
        match self.blocks.len() {
            0 => 0,
            1 => 1,
            count => count - 1,
        }
    }

    fn block(&self, at: usize) -> Option<&Noted> {
        self.blocks.get(at)
    }

    fn weigh(&self, head: &Head, at: usize, stored: Option<f32>) -> f32 {
        let Some(first) = self.block(at) else { return f32::MIN };
        let second = self.block(at + 1);
        let length = match second {
            Some(second) => first.square + second.square + 2.0 * first.next[0],
            None => first.square,
        };
        let blocks: &[&BlockWeight] = match second {
            Some(second) => &[&first.weight, &second.weight],
            None => &[&first.weight],
        };
        head.weigh_window(blocks, length.max(0.0).sqrt()) + stored.unwrap_or(0.0)
    }

    fn scores(&self, head: &Head, stored: Option<f32>) -> Vec<f32> {
        (0..self.windows()).map(|at| self.weigh(head, at, stored)).collect()
    }

    /// How unlike its neighbours a window is: 0 the same, 1 nothing in common.
    fn contrast(&self, at: usize) -> f32 {
        let (Some(first), Some(second)) = (self.block(at), self.block(at + 1)) else { return 0.0 };
        let before = at.checked_sub(1).and_then(|i| self.block(i));
        let after = self.block(at + 2);
        let window = first.square + second.square + 2.0 * first.next[0];
        let (common, around) = match (before, after) {
            (Some(before), Some(after)) => (
                before.next[0] + before.next[1] + first.next[1] + second.next[0],
                before.square + after.square + 2.0 * before.next[2],
            ),
            (Some(before), None) => (before.next[0] + before.next[1], before.square),
            (None, Some(after)) => (first.next[1] + second.next[0], after.square),
            (None, None) => return 0.0,
        };
        let lengths = (window.max(0.0) * around.max(0.0)).sqrt();
        if lengths > 0.0 { 1.0 - common / lengths } else { 0.0 }
    }

    fn facts(&self, at: usize) -> Facts {
        let facts = |at| self.block(at).map_or(0, |block| block.weight.facts);
        facts(at) | facts(at + 1)
    }

    /// Where a window is in its reading: one of its blocks, if that is clearly the worse one.
    fn range(&self, head: &Head, at: usize) -> Range<usize> {
        let Some(first) = self.block(at) else { return 0..0 };
        let Some(second) = self.block(at + 1) else { return first.range.clone() };
        let alone = |block: &Noted| head.weigh_window(&[&block.weight], block.square.sqrt());
        let difference = alone(first) - alone(second);
        if difference > CLEARLY {
            first.range.clone()
        } else if difference < -CLEARLY {
            second.range.clone()
        } else {
            first.range.start..second.range.end
        }
    }
}

pub(super) fn add(sum: &mut Vec<f32>, vector: &[f32]) {
    sum.resize(sum.len().max(vector.len()), 0.0);
    sum.iter_mut().zip(vector).for_each(|(sum, x)| *sum += x);
}

/// What a document weighs more because as a whole it is like attacks that were seen. Only a short one
/// is compared, and only as it is written.
pub(super) fn likeness(
    exemplars: &Exemplars,
    readings: &[NotedReading],
    stored: Option<&[f32]>,
) -> f32 {
    if readings.iter().map(NotedReading::windows).sum::<usize>() > MAX_WINDOWS {
        return 0.0;
    }
    if let Some(vector) = stored {
        return exemplars.weigh(vector);
    }
    let mut whole = Vec::new();
    for reading in readings.iter().filter(|r| !r.encoded && !r.spelling && !r.sum.is_empty()) {
        add(&mut whole, &reading.sum);
    }
    exemplars.weigh(&whole)
}

/// A window in its document.
#[derive(Debug, Clone)]
pub(crate) struct Suspect {
    /// Which reading it is of.
    pub(crate) reading: usize,
    pub(crate) range: Range<usize>,
    pub(crate) facts: Facts,
    /// Its weight in the document, to be compared with the bounds.
    pub(crate) sum: f32,
    pub(crate) hidden: bool,
}

/// What a whole document shows.
#[derive(Debug, Default)]
pub(crate) struct Judgement {
    /// The worst windows, the worst first; no two overlap.
    pub(crate) suspects: Vec<Suspect>,
    /// Whether the document speaks about attacks elsewhere than in its worst window.
    pub(crate) about_attacks: bool,
}

/// One block is the worse one of two from this difference on, in units of the head (natural logarithm).
const CLEARLY: f32 = 2.0;
/// How many windows of a document are reported.
const MAX_SUSPECTS: usize = 5;
/// Speaking about attacks in so many other blocks, and in so large a share of them, is a topic.
const TOPIC_BLOCKS: usize = 2;
const TOPIC_SHARE: f32 = 0.04;

/// Judges a document by the blocks of all its readings.
pub(crate) fn judge(head: &Head, readings: &[NotedReading], stored: Option<f32>) -> Judgement {
    let scores: Vec<Vec<f32>> = readings.iter().map(|r| r.scores(head, stored)).collect();
    judge_scores(head, readings, &scores)
}

/// Judges a document in which an attack is expected to fill more than one window: one that neither of
/// its neighbours confirms counts less.
pub(crate) fn judge_confirmed(head: &Head, readings: &[NotedReading]) -> Judgement {
    let confirmed = |r: &NotedReading| confirm(&r.scores(head, None));
    let scores: Vec<Vec<f32>> = readings.iter().map(confirmed).collect();
    judge_scores(head, readings, &scores)
}

/// How much of the distance to its higher neighbour a window loses that stands out alone.
const UNCONFIRMED: f32 = 1.0 / 3.0;

/// The first and the last block are in one window only, which no neighbour can confirm.
fn confirm(scores: &[f32]) -> Vec<f32> {
    let at = |index: Option<usize>| index.and_then(|i| scores.get(i)).copied();
    let confirmed = |(i, score): (usize, &f32)| match (at(i.checked_sub(1)), at(Some(i + 1))) {
        (Some(before), Some(after)) => score - UNCONFIRMED * (score - before.max(after)).max(0.0),
        _ => *score,
    };
    scores.iter().enumerate().map(confirmed).collect()
}

fn judge_scores(head: &Head, readings: &[NotedReading], scores: &[Vec<f32>]) -> Judgement {
    let count: usize = scores.iter().map(Vec::len).sum();
    if count == 0 {
        return Judgement::default();
    }
    let mut candidates: Vec<(f32, usize, usize)> = Vec::new();
    for (r, (reading, scores)) in readings.iter().zip(scores).enumerate() {
        for at in 0..scores.len() {
            let local = local(reading, scores, at);
            let weight = head.measures.iter().zip(local).map(|(w, x)| w * x).sum();
            candidates.push((weight, r, at));
        }
    }
    candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let mut chosen: Vec<(f32, usize, usize)> = Vec::new();
    for candidate in &candidates {
        if chosen.len() == MAX_SUSPECTS {
            break;
        }
        let overlaps = |other: &(f32, usize, usize)| {
            other.1 == candidate.1 && other.2.abs_diff(candidate.2) < 2
        };
        if !chosen.iter().any(overlaps) {
            chosen.push(*candidate);
        }
    }
    let total = Total::of(readings, scores);
    let mut judgement = Judgement::default();
    for (weight, r, at) in chosen {
        let (Some(reading), Some(scores)) = (readings.get(r), scores.get(r)) else { continue };
        let score = scores.get(at).copied().unwrap_or_default();
        let whole = total.without(scores, at);
        let document = whole.measures(score);
        let rest = head.measures.iter().skip(LOCAL).zip(document).map(|(w, x)| w * x).sum::<f32>();
        if judgement.suspects.is_empty() {
            judgement.about_attacks = about_attacks(readings, reading, at);
        }
        judgement.suspects.push(Suspect {
            reading: r,
            range: reading.range(head, at),
            facts: reading.facts(at),
            sum: weight + rest,
            hidden: reading.hidden,
        });
    }
    judgement
}

/// How many of the measures are of the window itself; the others are of its document.
const LOCAL: usize = 14;
/// Documents of more than two to the power of this many windows are alike.
const LONGEST: f32 = 8.0;

fn local(reading: &NotedReading, scores: &[f32], at: usize) -> [f32; LOCAL] {
    let flag = |yes: bool| f32::from(u8::from(yes));
    let score = scores.get(at).copied().unwrap_or_default();
    let neighbours = [at.checked_sub(2), Some(at + 2)].into_iter().flatten();
    let (mut sum, mut count) = (0.0, 0.0_f32);
    for neighbour in neighbours.filter_map(|i| scores.get(i)) {
        sum += neighbour;
        count += 1.0;
    }
    let rise = if count > 0.0 { score - sum / count } else { 0.0 };
    let contrast = reading.contrast(at);
    [
        score,
        rise,
        contrast,
        contrast * score,
        flag(reading.hidden),
        flag(reading.hidden) * score,
        flag(reading.attribute),
        flag(reading.script),
        flag(reading.encoded),
        flag(reading.spelling),
        flag(at + 1 == scores.len() && scores.len() > 2),
        flag(scores.len() == 1),
        flag(reading.facts(at) & OVERRIDES != 0),
        flag(reading.facts(at) & (DISMISSES | ASKS_FOR_PROMPT | ROLE_MARKER) != 0),
    ]
}

/// Sums over all windows of a document.
struct Total {
    count: f32,
    sum: f32,
    squares: f32,
    attacks: usize,
}

impl Total {
    fn of(readings: &[NotedReading], scores: &[Vec<f32>]) -> Self {
        let all = || scores.iter().flatten();
        let attacks = readings
            .iter()
            .map(|r| (0..r.windows()).filter(|at| speaks_of_attacks(r.facts(*at))).count());
        Self {
            count: all().count() as f32,
            sum: all().sum(),
            squares: all().map(|s| s * s).sum(),
            attacks: attacks.sum(),
        }
    }

    /// The windows of the document that do not overlap the one at `at`.
    fn without(&self, scores: &[f32], at: usize) -> Others {
        let (mut count, mut sum, mut squares) = (self.count, self.sum, self.squares);
        for score in scores.iter().skip(at.saturating_sub(1)).take(if at == 0 { 2 } else { 3 }) {
            count -= 1.0;
            sum -= score;
            squares -= score * score;
        }
        let mean = if count > 0.0 { sum / count } else { 0.0 };
        let spread =
            if count > 0.0 { (squares / count - mean * mean).max(0.0).sqrt() } else { 0.0 };
        Others {
            windows: self.count,
            others: count,
            mean,
            spread,
            attacks: self.attacks as f32 / self.count,
        }
    }
}

fn speaks_of_attacks(facts: Facts) -> bool {
    facts & fact(ATTACKS) != 0
}

/// Whether a document speaks about attacks in other blocks than the two of its worst window.
fn about_attacks(readings: &[NotedReading], worst: &NotedReading, at: usize) -> bool {
    let speaks = |block: &&Noted| speaks_of_attacks(block.weight.facts);
    let all = || readings.iter().flat_map(|reading| &reading.blocks);
    let of_worst = worst.blocks.iter().skip(at).take(2).filter(speaks).count();
    let others = all().filter(speaks).count().saturating_sub(of_worst);
    others >= TOPIC_BLOCKS && others as f32 >= TOPIC_SHARE * all().count() as f32
}

/// The windows of a document besides one of them.
struct Others {
    windows: f32,
    others: f32,
    mean: f32,
    spread: f32,
    attacks: f32,
}

impl Others {
    fn measures(&self, score: f32) -> [f32; MEASURES - LOCAL] {
        let length = (1.0 + self.others).log2().min(LONGEST);
        let above = if self.others > 0.0 { score - self.mean } else { 0.0 };
        [1.0, length, self.mean, self.spread, above, self.attacks.min(self.windows)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_that_stands_out_alone_counts_less() {
        assert_eq!(confirm(&[0.0, 3.0, -3.0]), [0.0, 2.0, -3.0]);
        assert_eq!(confirm(&[0.0, 3.0, 3.0, 1.0]), [0.0, 3.0, 3.0, 1.0], "two agree");
        assert_eq!(confirm(&[3.0]), [3.0], "no neighbour to ask");
        assert_eq!(confirm(&[3.0, 0.0, 0.0, 3.0]), [3.0, 0.0, 0.0, 3.0], "nor at the ends");
        assert_eq!(confirm(&[]), [] as [f32; 0]);
    }
}
