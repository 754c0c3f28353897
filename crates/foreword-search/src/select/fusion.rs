//! Words and vectors as one score.
//!
//! The score of an item is a sum of what its parts say, in units of the static embedder's cosine:
//!
//! ```text
//! scale * cosine + 0.0133 * bm25 + 0.19 * name + 0.5 * min(1, 1.5 * known) * grams
//! ```
//!
//! BM25 goes in as it is, not as a share of anything: a query that shares many rare words with an
//! item is better evidence than one that shares all of its few common ones, and ranks would throw
//! that away. Character grams count only as far as the query's words are known to the items, or a
//! German query would be led astray by English words that look alike. The weights were fitted as a
//! listwise softmax over thirteen English sets of tools and checked with each set left out.

use crate::index::lexical::LexicalScores;
use crate::select::exemplars::Evidence;
use foreword_embed::EmbedderId;

const BM25: f32 = 0.0133;
const NAME: f32 = 0.19;
const GRAMS: f32 = 0.5;
const KNOWN: f32 = 1.5;
/// How much being close to everything is held against an item, for a query none of whose words
/// any item has. Where words are known they settle such questions better.
const HUBS: f32 = 0.3;
/// How much lower the score of a query with unknown words is than that of one with known words.
///
/// Words, names and grams cannot speak for an item that says the same in another language. Fitted
/// on thirteen sets, each query once with its tools and once with them taken out of the pool: the
/// area under the curve between the two rises by one to two points, whichever set is left out.
const STRANGE: f32 = 0.5;

/// How far a threshold is lowered for a query none of whose words any item has.
///
/// Much less than [`STRANGE`]: that was fitted on large pools, where a word that no item has is of
/// another language; in a pool of thirty tools most words of any query are strange.
const EASED: f32 = 0.05;

/// How much what the tools of exemplars say counts, in a fit.
const COVERED: f32 = 1.0;
const ELSEWHERE: f32 = 0.5;
/// Below this fit nothing is picked by its score.
///
/// Chosen so that queries in scope lose hardly anything: recall of the five best changes by 0.1 points over
/// fourteen English sets, each left out of the exemplars, and one in seven queries out of scope of `clinc150`
/// gets nothing, where none did. It holds for both embedders, whose cosines are scaled alike.
pub(crate) const MIN_FIT: f32 = 0.3;

/// How far the words of a query can be trusted, 0 to 1, by the share of them that any item has. A query
/// whose words are unknown is probably in another language than the items.
pub(crate) fn trust(known: f32) -> f32 {
    (KNOWN * known).min(1.0)
}

/// How to combine an embedder's cosines with other evidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Calibration {
    /// How much a cosine counts.
    pub(crate) scale: f32,
    /// Scores below this mean that an item does not fit.
    pub(crate) min_score: f32,
}

impl Calibration {
    /// For selection without vectors.
    pub(crate) const LEXICAL: Self = Self { scale: 0.0, min_score: 0.10 };
    /// For the static table.
    pub(crate) const STATIC: Self = Self { scale: 1.0, min_score: 0.18 };
    /// For the full model.
    pub(crate) const USE: Self = Self { scale: 1.5, min_score: 0.25 };

    /// The measured values of an embedder, if it is one of ours.
    pub(crate) fn known(id: &EmbedderId) -> Option<Self> {
        match id.name.as_str() {
            "static" => Some(Self::STATIC),
            "use" => Some(Self::USE),
            _ => None,
        }
    }
}

/// What made a score, each part as it went into the sum.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Parts {
    /// From the vectors.
    pub meaning: f32,
    /// From shared words.
    pub words: f32,
    /// From the words of the name.
    pub name: f32,
    /// From parts of words.
    pub grams: f32,
}

impl Parts {
    /// The sum.
    #[must_use]
    pub fn total(&self) -> f32 {
        self.meaning + self.words + self.name + self.grams
    }
}

/// All parts for all items of one query.
#[derive(Debug, Clone)]
pub(crate) struct Fused {
    cosines: Option<Vec<f32>>,
    lexical: LexicalScores,
    scale: f32,
    grams: f32,
}

impl Fused {
    /// `hubness` is taken off the cosines of a query with strange words; it may be empty.
    pub(crate) fn new(
        lexical: LexicalScores,
        mut cosines: Option<Vec<f32>>,
        hubness: &[f32],
        scale: f32,
    ) -> Self {
        let factor = HUBS * (1.0 - trust(lexical.known));
        if let Some(cosines) = cosines.as_mut().filter(|_| factor > 0.0) {
            for (cosine, hubness) in cosines.iter_mut().zip(hubness) {
                *cosine -= factor * hubness;
            }
        }
        // Without vectors there is nothing better to fall back on than what looks alike.
        let trust = if cosines.is_some() { trust(lexical.known) } else { 1.0 };
        Self { cosines, lexical, scale, grams: GRAMS * trust }
    }

    /// What is added to a score to make it a fit, which can be held against a threshold whatever
    /// the language of the query is.
    pub(crate) fn lift(&self) -> f32 {
        if self.cosines.is_some() { STRANGE * (1.0 - self.lexical.known) } else { 0.0 }
    }

    /// What exemplars add to a fit. `chance` is the cosine that unrelated requests have with the closest item:
    /// the more items there are, the higher the best score is by chance.
    pub(crate) fn lift_by(&self, evidence: Evidence, chance: f32) -> f32 {
        self.scale * (COVERED * evidence.covered - ELSEWHERE * evidence.elsewhere - chance)
    }

    /// What to subtract from a threshold for this query's scores.
    pub(crate) fn ease(&self) -> f32 {
        if self.cosines.is_some() { EASED * (1.0 - self.lexical.known) } else { 0.0 }
    }

    pub(crate) fn parts(&self, item: usize) -> Parts {
        let at = |values: &[f32]| values.get(item).copied().unwrap_or_default();
        Parts {
            meaning: self.scale * self.cosines.as_deref().map_or(0.0, at),
            words: BM25 * at(&self.lexical.bm25),
            name: NAME * at(&self.lexical.name),
            grams: self.grams * at(&self.lexical.grams),
        }
    }

    /// The sum of the parts of every item, as [`Parts::total`] adds them.
    pub(crate) fn totals(&self) -> Vec<f32> {
        let lexical = &self.lexical;
        let words = lexical.bm25.iter().zip(&lexical.name).zip(&lexical.grams);
        let total = |((bm25, name), grams): ((&f32, &f32), &f32), cosine: f32| {
            let (words, name, grams) = (BM25 * bm25, NAME * name, self.grams * grams);
            Parts { meaning: self.scale * cosine, words, name, grams }.total()
        };
        match &self.cosines {
            Some(cosines) => {
                words.zip(cosines).map(|(words, cosine)| total(words, *cosine)).collect()
            }
            None => words.map(|words| total(words, 0.0)).collect(),
        }
    }
}
