//! The words of a question, weighed by how rare they are, and who has them.

use foreword_store::MemoryRows;

use crate::memory::cache::Cache;
use crate::memory::error::MemoryError;
use crate::memory::index::Index;
use crate::memory::words;

/// How fast the length of a memory counts against it, and how much.
const K1: f32 = 1.2;
const B: f32 = 0.4;
/// A query uses this many of its rarest words; most of a long task is off topic.
const MASS: usize = 4;
/// The minimum size for rarity: among a few memories no word is rare.
const SMALLEST: f32 = 200.0;

/// Memories are found by this many of the rarest words and scored with all.
const LOOKED_FOR: usize = 8;

#[derive(Debug)]
struct Term {
    text: String,
    number: u64,
    holders: u64,
    rarity: f32,
}

/// The words of a question.
#[derive(Debug)]
pub(crate) struct Question {
    /// The rarest first.
    terms: Vec<Term>,
    /// The total weight of the rarest words.
    mass: f32,
}

impl Question {
    pub(crate) fn new(
        rows: &MemoryRows<'_>,
        cache: &mut Cache,
        index: &Index,
        text: &str,
    ) -> Result<Self, MemoryError> {
        let count = (index.len() as f32).max(SMALLEST);
        let mut terms = Vec::new();
        for text in words::query_terms(text) {
            let holders = cache.count(rows, &text)?;
            let had = holders as f32;
            let rarity = (1.0 + (count - had + 0.5).max(0.0) / (had + 0.5)).ln();
            terms.push(Term { number: words::number(&text), text, holders, rarity });
        }
        terms.sort_by(|a, b| a.holders.cmp(&b.holders).then_with(|| a.text.cmp(&b.text)));
        let mass = terms.iter().take(MASS).map(|term| term.rarity).sum();
        Ok(Self { terms, mass })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The share of the question's words that a memory has, 0 to 1; its terms are sorted.
    pub(crate) fn share(&self, terms: &[u64], mean_words: f32) -> f32 {
        let had = self.terms.iter().filter(|term| terms.binary_search(&term.number).is_ok());
        let weight: f32 = had.map(|term| term.rarity).sum();
        self.relative(weight * shortness(terms.len(), mean_words))
    }

    fn relative(&self, weight: f32) -> f32 {
        if self.mass > 0.0 { (weight / self.mass).min(1.0) } else { 0.0 }
    }

    /// The memories that have the most of the question's words, among the classes that are seen.
    ///
    /// Rare words first, until enough places are read: of the remaining words, and of a word that
    /// more memories have, only the newest are found by it. What was found is scored with all words
    /// later.
    pub(crate) fn candidates(
        &self,
        rows: &MemoryRows<'_>,
        cache: &mut Cache,
        index: &Index,
        seen: &[bool],
        want: usize,
    ) -> Result<Found, MemoryError> {
        let held = || self.terms.iter().filter(|term| term.holders > 0);
        let mut unread: f32 = held().skip(LOOKED_FOR).map(|term| term.rarity).sum();
        let mut left = 512 + index.len() / 64;
        let mut found: Vec<(u32, f32)> = Vec::new();
        for term in held().take(LOOKED_FOR) {
            // Rounded, so that the same word is asked for alike by other questions.
            let limit = left.next_power_of_two() / 2;
            if limit < 64 {
                unread += term.rarity;
                continue;
            }
            let places = cache.postings(rows, index, &term.text, limit)?;
            if places.len() >= limit {
                unread += term.rarity;
            }
            left = left.saturating_sub(places.len());
            found.extend(places.iter().map(|place| (*place, term.rarity)));
        }
        found.sort_unstable_by_key(|(place, _)| *place);
        let sum = |same: &[(u32, f32)]| {
            let (place, _) = *same.first()?;
            let class = index.classes().get(place as usize)?;
            if !seen.get(*class as usize).copied().unwrap_or(false) {
                return None;
            }
            let words = usize::from(index.words(place));
            let weight: f32 = same.iter().map(|(_, weight)| weight).sum();
            Some((weight * shortness(words, index.mean_words()), place))
        };
        let mut best: Vec<(f32, u32)> = found.chunk_by(|a, b| a.0 == b.0).filter_map(sum).collect();
        best.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        let others = unread + best.get(want).map_or(0.0, |(weight, _)| *weight);
        best.truncate(want);
        let most = best.iter().map(|(weight, place)| (*place, self.relative(weight + unread)));
        Ok(Found { most: most.collect(), others: self.relative(others) })
    }
}

/// The memories found by words, each with the greatest share of words it can have.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) most: Vec<(u32, f32)>,
    /// The greatest share that any other memory can have.
    pub(crate) others: f32,
}

/// How much a word in a text of this length counts: 1 up to the mean, less beyond.
fn shortness(words: usize, mean: f32) -> f32 {
    let length = words as f32 / mean.max(1.0);
    ((K1 + 1.0) / (1.0 + K1 * (1.0 - B + B * length))).min(1.0)
}
