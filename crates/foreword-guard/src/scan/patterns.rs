//! Likeness to the committed examples, for embedders that have no fitted head.

use super::examples::injection_examples;
use foreword_embed::{Incomparable, Vector};

/// How many of the closest examples a text is compared with; one alone may be close by accident.
const CLOSEST: usize = 8;
/// The share of the harmless examples that may be over the bound, each judged by the others.
const OVER: f64 = 0.02;

/// The vectors of [`injection_examples`], made by an embedder without a fitted head.
///
/// A text counts as like an injection if it is closer to injections than to harmless examples, by
/// more than nearly every harmless example itself is. So the bound fits the embedder, whatever its
/// cosines look like.
#[derive(Debug, Clone)]
pub struct Patterns {
    injections: Vec<Vector>,
    harmless: Vec<Vector>,
    bound: f32,
}

impl Patterns {
    /// Takes one vector for each of [`injection_examples`], in that order.
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
        let mut margins = Vec::new();
        for (index, vector) in patterns.harmless.iter().enumerate() {
            let others = patterns.harmless.iter().enumerate().filter(|(i, _)| *i != index);
            let injections = likeness(vector, patterns.injections.iter())?;
            margins.push(injections - likeness(vector, others.map(|(_, v)| v))?);
        }
        margins.sort_by(|a, b| b.total_cmp(a));
        let over = (margins.len() as f64 * OVER) as usize;
        patterns.bound = margins.get(over).copied().unwrap_or_default().max(0.0);
        Ok(patterns)
    }

    /// By how much `vector` is more like an injection than harmless, less the bound: above zero it
    /// counts. Nothing where the vector is of another embedder.
    pub(crate) fn excess(&self, vector: &Vector) -> Option<f32> {
        if vector.is_zero() {
            return None;
        }
        let injection = likeness(vector, self.injections.iter()).ok()?;
        let harmless = likeness(vector, self.harmless.iter()).ok()?;
        Some(injection - harmless - self.bound)
    }
}

/// The mean cosine to the closest of `others`.
fn likeness<'a>(
    vector: &Vector,
    others: impl Iterator<Item = &'a Vector>,
) -> Result<f32, Incomparable> {
    let mut cosines = others.map(|other| vector.cosine(other)).collect::<Result<Vec<_>, _>>()?;
    cosines.sort_by(|a, b| b.total_cmp(a));
    cosines.truncate(CLOSEST);
    Ok(cosines.iter().sum::<f32>() / cosines.len().max(1) as f32)
}
