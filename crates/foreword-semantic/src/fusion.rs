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

use crate::lexical::LexicalScores;
use crate::vector::EmbedderId;

const BM25: f32 = 0.0133;
const NAME: f32 = 0.19;
const GRAMS: f32 = 0.5;
const KNOWN: f32 = 1.5;

/// What has to be known of an embedder to use its cosines beside other evidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// How much a cosine counts.
    pub scale: f32,
    /// Scores below this mean that nothing fits.
    pub min_score: f32,
}

impl Calibration {
    /// For selection without vectors.
    pub const LEXICAL: Self = Self { scale: 0.0, min_score: 0.10 };
    /// For the static table.
    pub const STATIC: Self = Self { scale: 1.0, min_score: 0.18 };
    /// For the full model.
    pub const USE: Self = Self { scale: 1.5, min_score: 0.25 };

    /// The measured values of an embedder, if it is one of ours.
    #[must_use]
    pub fn known(id: &EmbedderId) -> Option<Self> {
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
    pub(crate) fn new(lexical: LexicalScores, cosines: Option<Vec<f32>>, scale: f32) -> Self {
        // Without vectors there is nothing better to fall back on than what looks alike.
        let trust = if cosines.is_some() { (KNOWN * lexical.known).min(1.0) } else { 1.0 };
        Self { cosines, lexical, scale, grams: GRAMS * trust }
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

    /// Evidence for fitting.
    pub(crate) fn evidence(&self, skip: &[usize]) -> Vec<f32> {
        let totals = self.totals();
        let keep: Vec<usize> = (0..totals.len()).filter(|i| !skip.contains(i)).collect();
        let at = |v: &[f32], i: usize| v.get(i).copied().unwrap_or_default();
        let mut order = keep.clone();
        order.sort_by(|a, b| at(&totals, *b).total_cmp(&at(&totals, *a)).then(a.cmp(b)));
        let top = |n: usize| order.get(n).map_or(0.0, |i| at(&totals, *i));
        let n = keep.len().max(1) as f32;
        let mean = keep.iter().map(|i| at(&totals, *i)).sum::<f32>() / n;
        let var = keep.iter().map(|i| (at(&totals, *i) - mean).powi(2)).sum::<f32>() / n;
        let none = Vec::new();
        let cos = self.cosines.as_ref().unwrap_or(&none);
        let cmean = keep.iter().map(|i| at(cos, *i)).sum::<f32>() / n;
        let cvar = keep.iter().map(|i| (at(cos, *i) - cmean).powi(2)).sum::<f32>() / n;
        let best = order.first().copied().unwrap_or(usize::MAX);
        let maxof = |v: &[f32]| keep.iter().map(|i| at(v, *i)).fold(0.0_f32, f32::max);
        let argmax = |v: &[f32]| {
            keep.iter()
                .copied()
                .max_by(|a, b| at(v, *a).total_cmp(&at(v, *b)).then(b.cmp(a)))
                .unwrap_or(0)
        };
        let lex = &self.lexical;
        let next: f32 = (1..6).map(top).sum::<f32>() / 5.0;
        vec![
            top(0),
            top(1),
            top(2),
            top(4),
            next,
            mean,
            var.sqrt(),
            at(cos, best),
            maxof(cos),
            cmean,
            cvar.sqrt(),
            at(&lex.bm25, best),
            maxof(&lex.bm25),
            lex.possible,
            lex.known,
            at(&lex.name, best),
            maxof(&lex.name),
            at(&lex.grams, best),
            maxof(&lex.grams),
            f32::from(u8::from(argmax(cos) == argmax(&lex.bm25))),
            n,
            f32::from(u8::from(argmax(cos) == argmax(&lex.grams))),
        ]
    }
}
