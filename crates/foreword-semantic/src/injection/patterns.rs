//! Likeness to the committed examples, for embedders that have no fitted head.

use super::examples::injection_examples;
use crate::vector::{Incomparable, Vector};

/// The vectors of [`injection_examples`], made by an embedder without a fitted head.
///
/// A text counts as like an injection if it is closer to one than to any harmless example, by more
/// than every harmless example itself is. So the bound fits the embedder, whatever its cosines
/// look like.
#[derive(Debug, Clone)]
pub struct Patterns {
    injections: Vec<Vector>,
    harmless: Vec<Vector>,
    bound: f32,
}

impl Patterns {
    /// Takes one vector for each of [`injection_examples`], in that order.
    ///
    /// # Errors
    /// Where the vectors were not all made by one embedder, or are too few or too many.
    pub fn new(vectors: Vec<Vector>) -> Result<Self, Incomparable> {
        let examples = injection_examples();
        if vectors.len() != examples.len() {
            return Err(Incomparable::Length { numbers: vectors.len(), dims: examples.len() });
        }
        let mut patterns = Self { injections: Vec::new(), harmless: Vec::new(), bound: 0.0 };
        for (vector, example) in vectors.into_iter().zip(examples) {
            if example.injection {
                patterns.injections.push(vector);
            } else {
                patterns.harmless.push(vector);
            }
        }
        let mut bound = f32::MIN;
        for (index, vector) in patterns.harmless.iter().enumerate() {
            let others = patterns.harmless.iter().enumerate().filter(|(i, _)| *i != index);
            let margin = closest(vector, patterns.injections.iter())?
                - closest(vector, others.map(|(_, v)| v))?;
            bound = bound.max(margin);
        }
        patterns.bound = bound.max(0.0);
        Ok(patterns)
    }

    /// By how much `vector` is more like an injection than harmless, less the bound: above zero it
    /// counts. Nothing where the vector is of another embedder.
    pub(crate) fn excess(&self, vector: &Vector) -> Option<f32> {
        if vector.is_zero() {
            return None;
        }
        let injection = closest(vector, self.injections.iter()).ok()?;
        let harmless = closest(vector, self.harmless.iter()).ok()?;
        Some(injection - harmless - self.bound)
    }
}

fn closest<'a>(
    vector: &Vector,
    others: impl Iterator<Item = &'a Vector>,
) -> Result<f32, Incomparable> {
    let mut best = -1.0_f32;
    for other in others {
        best = best.max(vector.cosine(other)?);
    }
    Ok(best)
}
