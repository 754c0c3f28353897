//! The words of a question, weighed by how rare they are, and who has them.

use foreword_store::MemoryRows;

use crate::memory::cache::Cache;
use crate::memory::error::MemoryError;
use crate::memory::index::Index;
use crate::memory::synonyms;
use crate::memory::words;

/// How fast the length of a memory counts against it, and how much.
const K1: f32 = 1.2;
const B: f32 = 0.4;
/// A query uses this many of its rarest words; most of a long task is off topic.
const MASS: usize = 4;
/// The minimum size for rarity: among a few memories no word is rare.
const SMALLEST: f32 = 200.0;

/// The rarity of a word that one in seven memories has.
const SMALLEST_MASS: f32 = 2.0;

/// Memories are found by this many of the rarest words and scored with all.
const LOOKED_FOR: usize = 8;
/// The newest memories that are looked at for a synonym.
const MAX_SYNONYM: usize = 1024;

#[derive(Debug)]
struct Term {
    text: String,
    number: u64,
    holders: u64,
    rarity: f32,
    /// Words that stand for it, each with its number and weight.
    synonyms: Vec<Synonym>,
}

#[derive(Debug)]
struct Synonym {
    text: String,
    number: u64,
    weight: f32,
}

impl Term {
    /// What a memory with these words, sorted, has of it.
    fn weight(&self, terms: &[u64]) -> f32 {
        if terms.binary_search(&self.number).is_ok() {
            return self.rarity;
        }
        let had = self.synonyms.iter().filter(|one| terms.binary_search(&one.number).is_ok());
        had.map(|one| one.weight).fold(0.0, f32::max)
    }
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
        let rarity = |holders: u64| rarity(count, holders);
        let mut terms = Vec::new();
        for text in words::query_terms(text) {
            let holders = cache.count(rows, &text)?;
            let mut synonyms = Vec::new();
            for synonym in synonyms::of(&text) {
                let others = cache.count(rows, synonym)?;
                if others > 0 {
                    synonyms.push(Synonym {
                        text: synonym.to_owned(),
                        number: words::number(synonym),
                        weight: synonyms::WEIGHT * rarity(others.max(holders)),
                    });
                }
            }
            let (number, rarity) = (words::number(&text), rarity(holders));
            terms.push(Term { number, text, holders, rarity, synonyms });
        }
        terms.sort_by(|a, b| a.holders.cmp(&b.holders).then_with(|| a.text.cmp(&b.text)));
        let mass = terms.iter().take(MASS).map(|term| term.rarity).sum();
        Ok(Self { terms, mass })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The share of the question's words that a memory has, 0 to 1; its terms are sorted. Words in
    /// `names`, also sorted, do not count unless there are no others.
    pub(crate) fn share(&self, terms: &[u64], mean_words: f32, names: &[u64]) -> f32 {
        let is_name = |term: &&Term| names.binary_search(&term.number).is_ok();
        let mut mass: f32 = self
            .terms
            .iter()
            .filter(|term| !is_name(term))
            .take(MASS)
            .map(|term| term.rarity)
            .sum();
        let only_names = mass <= 0.0;
        if only_names {
            mass = self.mass;
        }
        let counted = self.terms.iter().filter(|term| only_names || !is_name(term));
        let weight: f32 = counted.map(|term| term.weight(terms)).sum();
        share_of(weight * shortness(terms.len(), mean_words), mass)
    }

    /// Which of these words, sorted, the question has.
    pub(crate) fn named<'a>(&'a self, words: &'a [u64]) -> impl Iterator<Item = u64> + 'a {
        let numbers = self.terms.iter().map(|term| term.number);
        numbers.filter(|number| words.binary_search(number).is_ok())
    }

    fn relative(&self, weight: f32) -> f32 {
        share_of(weight, self.mass)
    }

    /// The memories that have the most of the question's words, among the classes that are seen, each
    /// with its share.
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
    ) -> Result<Vec<(u32, f32)>, MemoryError> {
        let held =
            || self.terms.iter().filter(|term| term.holders > 0 || !term.synonyms.is_empty());
        let mut left = 512 + index.len() / 64;
        let mut found: Vec<(u32, f32)> = Vec::new();
        for term in held().take(LOOKED_FOR) {
            // Rounded, so that the same word is asked for alike by other questions.
            let limit = left.next_power_of_two() / 2;
            if limit < 64 {
                continue;
            }
            let places = cache.postings(rows, index, &term.text, limit)?;
            left = left.saturating_sub(places.len());
            found.extend(places.iter().map(|place| (*place, term.rarity)));
            for synonym in &term.synonyms {
                let places = cache.postings(rows, index, &synonym.text, limit.min(MAX_SYNONYM))?;
                left = left.saturating_sub(places.len());
                found.extend(places.iter().map(|place| (*place, synonym.weight)));
            }
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
        best.truncate(want);
        Ok(best.into_iter().map(|(weight, place)| (place, self.relative(weight))).collect())
    }
}

/// The weight of a word that so many memories have.
pub(crate) fn rarity(count: f32, holders: u64) -> f32 {
    let had = holders as f32;
    (1.0 + (count.max(SMALLEST) - had + 0.5).max(0.0) / (had + 0.5)).ln()
}

/// Words that nearly every memory has tell nothing, even if the question has no others.
fn share_of(weight: f32, mass: f32) -> f32 {
    (weight / mass.max(SMALLEST_MASS)).min(1.0)
}

/// How much a word in a text of this length counts: 1 up to the mean, less beyond.
fn shortness(words: usize, mean: f32) -> f32 {
    let length = words as f32 / mean.max(1.0);
    ((K1 + 1.0) / (1.0 + K1 * (1.0 - B + B * length))).min(1.0)
}
