//! How alike a question and a memory are, piece by piece.
//!
//! The vector of a whole text is a mean: a long memory that answers a question in one clause lies far
//! from it, and names that every memory of a conversation contains hide the rest. So the candidates are
//! compared more closely. Each piece of the question looks for the nearest piece of the memory in the
//! static table, which knows that "paint" and "drawing" are related; rare words count more.

use std::sync::OnceLock;

use foreword_embed::{StaticEmbedder, dot};

use crate::memory::number_map::NumberMap;

/// Pieces of a question that are compared.
const MAX_QUESTION: usize = 48;
/// Pieces of a memory that are compared.
pub(crate) const MAX_MEMORY: usize = 192;

/// The table in the program; nothing if it cannot be read, and then only whole vectors are compared.
pub(crate) fn table() -> Option<&'static StaticEmbedder> {
    static TABLE: OnceLock<Option<StaticEmbedder>> = OnceLock::new();
    TABLE.get_or_init(|| StaticEmbedder::embedded().ok()).as_ref()
}

/// The pieces of a memory, each once, in order.
pub(crate) fn pieces(text: &str) -> Box<[u32]> {
    let Some(table) = table() else { return Box::default() };
    let mut pieces = table.pieces(text);
    pieces.truncate(MAX_MEMORY);
    pieces.sort_unstable();
    pieces.dedup();
    pieces.into_boxed_slice()
}

/// A question, ready to be compared with many memories.
#[derive(Debug, Default)]
pub(crate) struct Likeness {
    /// The direction of each piece.
    directions: Vec<Vec<f32>>,
    /// Their weights; together 1.
    weights: Vec<f32>,
    /// Per piece of a memory, how near it is to each piece of the question. Memories share most of theirs.
    near: NumberMap<u32, Box<[f32]>>,
    direction: Vec<f32>,
    best: Vec<f32>,
}

impl Likeness {
    /// The words of a question with their weights.
    pub(crate) fn new<'a>(words: impl Iterator<Item = (&'a str, f32)>) -> Self {
        let mut likeness = Self::default();
        let Some(table) = table() else { return likeness };
        let mut seen: Vec<u32> = Vec::new();
        for (word, weight) in words {
            for piece in table.pieces(word) {
                if seen.len() == MAX_QUESTION || seen.contains(&piece) {
                    continue;
                }
                let mut direction = Vec::new();
                let length = table.direction(piece, &mut direction);
                if length > 0.0 && weight > 0.0 {
                    seen.push(piece);
                    likeness.directions.push(direction);
                    likeness.weights.push(weight * length);
                }
            }
        }
        let total: f32 = likeness.weights.iter().sum();
        likeness.weights.iter_mut().for_each(|weight| *weight /= total.max(f32::MIN_POSITIVE));
        likeness
    }

    /// How alike a memory is, 0 to 1.
    pub(crate) fn of(&mut self, pieces: &[u32]) -> f32 {
        let Some(table) = table() else { return 0.0 };
        let Self { directions, weights, near, direction, best } = self;
        best.clear();
        best.resize(weights.len(), 0.0);
        for piece in pieces {
            let near = near.entry(*piece).or_insert_with(|| {
                table.direction(*piece, direction);
                directions.iter().map(|one| dot(one, direction)).collect()
            });
            for (best, near) in best.iter_mut().zip(near.iter()) {
                *best = best.max(*near);
            }
        }
        best.iter().zip(weights).map(|(best, weight)| best * *weight).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alike(question: &[(&str, f32)], memory: &str) -> f32 {
        Likeness::new(question.iter().copied()).of(&pieces(memory))
    }

    #[test]
    fn related_words_are_found_in_a_long_text() {
        let question = [("What", 0.5), ("does", 0.5), ("Ada", 3.0), ("paint", 5.0)];
        let memory = "Ada: it was a long day at work and the train was late, but in the evening I \
                      finished the drawing of the harbour";
        let other = "Ada: it was a long day at work and the train was late, but in the evening I \
                     finished the tax declaration";
        assert!(alike(&question, memory) > alike(&question, other) + 0.05);
        let same = alike(&[("paint", 1.0)], "paint");
        assert!((same - 1.0).abs() < 1e-4, "{same}");
    }

    #[test]
    fn nothing_is_like_nothing() {
        assert_eq!(alike(&[], "text"), 0.0);
        assert_eq!(alike(&[("word", 1.0)], ""), 0.0);
        let long = "word ".repeat(100_000);
        assert!(pieces(&long).len() <= MAX_MEMORY);
    }
}
