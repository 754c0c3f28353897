//! Ranks items for a task, and picks the ones that belong in its prompt.

use std::sync::Arc;

use crate::index::flat::IndexError;
use crate::index::lexical::LexicalIndex;
use crate::index::named::NameIndex;
use crate::index::vectors::VectorIndex;
use crate::select::exemplars::Exemplars;
use crate::select::fusion::{Calibration, Fused, MIN_FIT, Parts, trust};
use crate::select::query_map::QueryMap;
use foreword_embed::{Incomparable, Vector, same_embedder};

/// How many of the best items are compared with the tools of exemplars.
const COMPARED: usize = 64;

/// The kind of an item; each kind has its own limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A tool.
    Tool,
    /// A skill.
    Skill,
}

/// Something that can be selected.
#[derive(Debug, Clone, Copy)]
pub struct Item<'a> {
    pub kind: Kind,
    /// Its name, by which a task can ask for it.
    pub name: &'a str,
    /// Its description.
    pub text: &'a str,
    /// The vector of [`crate::embedding_text`], if there is one.
    pub vector: Option<&'a Vector>,
}

/// A query.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// The task.
    pub text: &'a str,
    /// Its vector, if an embedder answered.
    pub vector: Option<&'a Vector>,
    /// Items that the mode always brings along, by index.
    pub mode_base: &'a [usize],
    /// The items that may be picked; empty means all.
    pub offered: &'a [bool],
}

/// How much may be selected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Tools altogether.
    pub max_tools: usize,
    /// Skills altogether.
    pub max_skills: usize,
    /// Items of each kind that are there for their score alone.
    pub max_results: usize,
    /// Items whose score is below this do not count. Where not set, the embedder's own threshold, a
    /// little lower for a query with words that no item has: it may be in another language. Then nothing counts
    /// for a query that no item fits; see [`Selector::fit`].
    pub min_score: Option<f32>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_tools: 10, max_skills: 3, max_results: 5, min_score: None }
    }
}

/// Why an item was picked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The task names it.
    Named,
    /// The mode always has it.
    Base,
    /// Its score is high enough.
    Score,
}

/// An item that was picked.
#[derive(Debug, Clone, PartialEq)]
pub struct Picked {
    /// Its place among the items.
    pub index: usize,
    /// Its score; higher fits better.
    pub score: f32,
    /// The parts of the score.
    pub parts: Parts,
    /// Why it is here; never empty.
    pub reasons: Vec<Reason>,
}

/// The items picked for a task.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// Named items, then those of the mode, then the best by score; ties by place.
    pub picked: Vec<Picked>,
    /// The kinds of which there were items, none with a score that is high enough.
    pub abstained: Vec<Kind>,
    /// The score from which on items counted.
    pub min_score: f32,
    /// How well the best item fits; 0 without items.
    pub fit: f32,
    /// Whether vectors took part; if not, only words were compared.
    pub with_vectors: bool,
}

/// An item's place in a ranking of all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// Its place among the items.
    pub index: usize,
    /// Its score.
    pub score: f32,
}

/// An index over items, built once and asked often.
#[derive(Debug)]
pub struct Selector {
    kinds: Vec<Kind>,
    lexical: LexicalIndex,
    names: NameIndex,
    vectors: Option<VectorIndex>,
    /// Where the vectors are of the table that these were made for, or end with it.
    map: Option<QueryMap>,
    exemplars: Option<Exemplars>,
    pub(crate) calibration: Calibration,
}

impl Selector {
    /// Indexes items.
    ///
    /// Vectors take part if at least one item has one; an item without one is found by its words.
    pub fn new(items: &[Item<'_>]) -> Result<Self, Incomparable> {
        let first = items.iter().find_map(|item| item.vector);
        let mut vectors = first.map(|vector| VectorIndex::new(Arc::clone(vector.id())));
        if let Some(vectors) = &mut vectors {
            for item in items {
                match item.vector {
                    Some(vector) => vectors.push(vector)?,
                    None => vectors.push_absent(),
                }
            }
        }
        let calibration = vectors.as_ref().map_or(Calibration::LEXICAL, calibrate);
        Ok(Self {
            kinds: items.iter().map(|item| item.kind).collect(),
            lexical: LexicalIndex::new(items.iter().map(|item| (item.name, item.text))),
            names: NameIndex::new(items.iter().map(|item| item.name)),
            map: vectors.as_ref().and_then(map_for),
            exemplars: vectors.as_ref().and_then(exemplars_for),
            vectors,
            calibration,
        })
    }

    /// An index of parts that were stored: rankings are those of the index they came from.
    pub fn from_parts(
        kinds: Vec<Kind>,
        lexical: LexicalIndex,
        names: NameIndex,
        vectors: Option<VectorIndex>,
    ) -> Result<Self, IndexError> {
        let expected = kinds.len();
        let counts =
            [Some(lexical.len()), Some(names.len()), vectors.as_ref().map(VectorIndex::len)];
        if let Some(found) = counts.into_iter().flatten().find(|count| *count != expected) {
            return Err(IndexError::Items { expected, found });
        }
        let calibration = vectors.as_ref().map_or(Calibration::LEXICAL, calibrate);
        let map = vectors.as_ref().and_then(map_for);
        let exemplars = vectors.as_ref().and_then(exemplars_for);
        Ok(Self { kinds, lexical, names, vectors, map, exemplars, calibration })
    }

    /// The kinds of the items.
    #[must_use]
    pub fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// The part that compares words, to be stored.
    #[must_use]
    pub fn lexical(&self) -> &LexicalIndex {
        &self.lexical
    }

    /// The part that knows the names, to be stored.
    #[must_use]
    pub fn names(&self) -> &NameIndex {
        &self.names
    }

    /// The part that compares vectors, to be stored.
    #[must_use]
    pub fn vectors(&self) -> Option<&VectorIndex> {
        self.vectors.as_ref()
    }

    /// Holds it against items that they are close to everything; see `select::background`.
    pub fn with_background(mut self, background: &[Vector]) -> Result<Self, Incomparable> {
        if let Some(vectors) = &mut self.vectors {
            vectors.set_background(background)?;
        }
        Ok(self)
    }

    /// Scores every item.
    fn fuse(&self, text: &str, vector: Option<&Vector>) -> Result<Scored, Incomparable> {
        let vector = vector.filter(|vector| !vector.is_zero());
        let lexical = self.lexical.scores(text);
        let mut mapped = None;
        let cosines = match (&self.vectors, vector) {
            (Some(vectors), Some(vector)) => {
                same_embedder(vectors.id(), vector.id())?;
                Some(match &self.map {
                    Some(map) => {
                        let query = map.apply(vector, trust(lexical.known));
                        let cosines = vectors.products(&query.numbers);
                        mapped = Some(query.table);
                        cosines
                    }
                    None => vectors.cosines(vector)?,
                })
            }
            _ => None,
        };
        let calibration = if cosines.is_some() { self.calibration } else { Calibration::LEXICAL };
        let hubness = self.vectors.as_ref().map_or(&[][..], VectorIndex::hubness);
        let fused = Fused::new(lexical, cosines, hubness, calibration.scale);
        let scores = fused.totals();
        Ok(Scored { fused, scores, mapped, calibration })
    }

    /// Whether anything fits at all, and whether that is known well enough to go by it.
    fn fit_of(&self, scored: &Scored, vector: Option<&Vector>) -> (f32, bool) {
        let Some(best) = scored.scores.iter().copied().max_by(f32::total_cmp) else {
            return (0.0, false);
        };
        let fit = best + scored.fused.lift();
        let (Some(exemplars), Some(vectors), Some(vector), Some(mapped)) =
            (&self.exemplars, &self.vectors, vector, &scored.mapped)
        else {
            return (fit, false);
        };
        let Some(chance) = vectors.chance() else { return (fit, false) };
        let mut best: Vec<usize> = (0..scored.scores.len()).collect();
        best_first(&mut best, COMPARED, |index| scored.score(index));
        let items: Vec<&[f32]> =
            best.iter().map(|index| exemplars.table_part(vectors.row(*index))).collect();
        let evidence = exemplars.evidence(exemplars.table_part(vector.values()), mapped, &items);
        (fit + scored.fused.lift_by(evidence, chance), true)
    }

    /// All items, best first: those whose unmistakable name stands in the text, then by score,
    /// ties by place. Neither limits nor thresholds apply.
    pub fn rank(&self, text: &str, vector: Option<&Vector>) -> Result<Vec<Ranked>, Incomparable> {
        let scored = self.fuse(text, vector)?;
        let mut named = vec![false; self.kinds.len()];
        for item in self.names.find(text) {
            if let Some(slot) = named.get_mut(item) {
                *slot = self.names.is_identifier(item);
            }
        }
        let mut keys: [Vec<u64>; 2] = [Vec::new(), Vec::with_capacity(self.kinds.len())];
        for (index, (score, named)) in (0_u32..).zip(scored.scores.into_iter().zip(named)) {
            let [first, rest] = &mut keys;
            if named { first } else { rest }.push(key(score, index));
        }
        // Sorting integer keys is several times as fast as sorting the items.
        keys.iter_mut().for_each(|keys| keys.sort_unstable());
        Ok(keys.concat().into_iter().map(ranked).collect())
    }

    /// Whether anything fits at all: the score of the best item, what strange words in the query cost it, and,
    /// with vectors of the table, what serves similar requests elsewhere. Scores tell items apart, fits tell
    /// queries apart; they say nothing about the order of items. 0 where there are no items.
    pub fn fit(&self, text: &str, vector: Option<&Vector>) -> Result<f32, Incomparable> {
        Ok(self.fit_of(&self.fuse(text, vector)?, vector).0)
    }

    /// Picks items for a task.
    ///
    /// Named items come first and the mode's next, so limits cut only items found by score.
    pub fn select(&self, query: &Query<'_>, limits: &Limits) -> Result<Selection, Incomparable> {
        let scored = self.fuse(query.text, query.vector)?;
        let (fused, calibration) = (&scored.fused, scored.calibration);
        let with_vectors = calibration != Calibration::LEXICAL;
        let min_score = limits.min_score.unwrap_or(calibration.min_score - fused.ease());
        let (fit, is_known) = self.fit_of(&scored, query.vector);
        let nothing_fits = is_known && limits.min_score.is_none() && fit < MIN_FIT;
        let score_of = |index: usize| scored.score(index);
        let named = self.names.find(query.text);
        let mut picked: Vec<Picked> = Vec::new();
        let mut abstained = Vec::new();
        for (kind, limit) in [(Kind::Tool, limits.max_tools), (Kind::Skill, limits.max_skills)] {
            let of_kind = |index: &usize| {
                self.kinds.get(*index) == Some(&kind)
                    && query.offered.get(*index).copied().unwrap_or(true)
            };
            let mut found: Vec<usize> = (0..self.kinds.len()).filter(of_kind).collect();
            let any = !found.is_empty();
            found.retain(|index| !nothing_fits && score_of(*index) >= min_score);
            best_first(&mut found, limits.max_results, score_of);
            if any && found.is_empty() {
                abstained.push(kind);
            }
            let sources = [
                (Reason::Named, &named[..]),
                (Reason::Base, query.mode_base),
                (Reason::Score, &found),
            ];
            let mut own: Vec<Picked> = Vec::new();
            for (reason, indices) in sources {
                for index in indices.iter().copied().filter(of_kind) {
                    if let Some(already) = own.iter_mut().find(|picked| picked.index == index) {
                        if !already.reasons.contains(&reason) {
                            already.reasons.push(reason);
                        }
                    } else if own.len() < limit {
                        let parts = fused.parts(index);
                        own.push(Picked {
                            index,
                            score: parts.total(),
                            parts,
                            reasons: vec![reason],
                        });
                    }
                }
            }
            picked.extend(own);
        }
        Ok(Selection { picked, abstained, min_score, fit, with_vectors })
    }
}

/// All items scored for a query.
struct Scored {
    fused: Fused,
    /// The score of every item.
    scores: Vec<f32>,
    /// The table's part of the mapped query, if it was mapped.
    mapped: Option<Vec<f32>>,
    calibration: Calibration,
}

impl Scored {
    fn score(&self, index: usize) -> f32 {
        self.scores.get(index).copied().unwrap_or_default()
    }
}

/// A number that is lower for a higher score, and for the earlier of two items with one score, in
/// the order of `f32::total_cmp`.
fn key(score: f32, index: u32) -> u64 {
    let bits = score.to_bits();
    let ascending = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
    u64::from(!ascending) << 32 | u64::from(index)
}

/// Decodes a key.
fn ranked(key: u64) -> Ranked {
    let ascending = !((key >> 32) as u32);
    let bits = if ascending >> 31 == 1 { ascending & !(1 << 31) } else { !ascending };
    Ranked { index: (key as u32) as usize, score: f32::from_bits(bits) }
}

/// Keeps the `count` best, best first, ties by place.
fn best_first(indices: &mut Vec<usize>, count: usize, score: impl Fn(usize) -> f32) {
    let order = |a: &usize, b: &usize| score(*b).total_cmp(&score(*a)).then(a.cmp(b));
    if count == 0 {
        return indices.clear();
    }
    if indices.len() > count {
        indices.select_nth_unstable_by(count - 1, order);
        indices.truncate(count);
    }
    indices.sort_unstable_by(order);
}

/// The map for queries, if it was trained for these vectors. A test reads the one in the program.
fn map_for(vectors: &VectorIndex) -> Option<QueryMap> {
    QueryMap::embedded().ok().filter(|map| map.is_for(vectors.id()))
}

/// The exemplars, if they are of the table of these vectors. A test reads those in the program.
fn exemplars_for(vectors: &VectorIndex) -> Option<Exemplars> {
    Exemplars::embedded().ok().filter(|exemplars| exemplars.is_for(vectors.id()))
}

/// Cosines of an embedder without a calibration are scaled to the spread of ours.
///
/// Some models give any two texts a cosine between 0.7 and 0.9, others between 0 and 0.5; how far
/// the items lie apart among themselves tells which, and where unrelated texts lie: below that
/// nothing fits. Among a handful of items it never abstains by itself.
fn calibrate(vectors: &VectorIndex) -> Calibration {
    /// The usual standard deviation of the static table's cosines between the tools of one set:
    /// 0.11 to 0.21, 0.15 on average, over thirteen sets.
    const SPREAD: f32 = 0.15;
    /// With fewer items the distribution of cosines is unknown.
    const ENOUGH: usize = 8;
    Calibration::known(vectors.id()).unwrap_or_else(|| {
        let (mean, spread) = vectors.spread();
        let scale = if spread > 0.0 { (SPREAD / spread).clamp(0.2, 10.0) } else { 1.0 };
        // The static table's threshold lies one such deviation above the mean of unrelated texts.
        let known = vectors.len() >= ENOUGH && spread > 0.0;
        let min_score = if known { scale * mean + SPREAD } else { f32::NEG_INFINITY };
        Calibration { scale, min_score }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keys_sort_as_scores_do(a: f32, b: f32, i: u32, j: u32) {
            let expected = b.total_cmp(&a).then(i.cmp(&j));
            prop_assert_eq!(key(a, i).cmp(&key(b, j)), expected);
            let back = ranked(key(a, i));
            prop_assert_eq!((back.index, back.score.to_bits()), (i as usize, a.to_bits()));
        }
    }
}
