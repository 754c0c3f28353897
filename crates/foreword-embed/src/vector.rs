//! Vectors that know which embedder made them.

use std::fmt;
use std::sync::Arc;

/// Which embedder made a vector: vectors of different ids are never compared.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EmbedderId {
    /// The kind of embedder, such as `static`, `use` or `http`.
    pub name: String,
    /// What else decides the numbers: the hash of a table, the name of a remote model.
    pub version: String,
    /// The length of every vector.
    pub dims: usize,
}

impl EmbedderId {
    /// An id of these three parts.
    pub fn new(name: impl Into<String>, version: impl Into<String>, dims: usize) -> Self {
        Self { name: name.into(), version: version.into(), dims }
    }
}

/// `name:version:dims`, the form in which an id is stored with vectors.
impl fmt::Display for EmbedderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.name, self.version, self.dims)
    }
}

/// Two things that cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Incomparable {
    /// The vectors were made by different embedders.
    #[error("a vector of {found} cannot be compared with vectors of {expected}; index again")]
    Embedders {
        /// The id on this side.
        expected: EmbedderId,
        /// The id of the other.
        found: EmbedderId,
    },
    /// The numbers do not fill whole vectors.
    #[error("{numbers} numbers do not divide into vectors of {dims} dimensions")]
    Length {
        /// How many numbers there were.
        numbers: usize,
        /// How long a vector is.
        dims: usize,
    },
}

/// A vector of length one, or of zeros where a text says nothing that the embedder knows.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector {
    id: Arc<EmbedderId>,
    values: Vec<f32>,
}

impl Vector {
    /// Makes a vector of these numbers, scaled to length one.
    ///
    /// Numbers that have no finite length become zeros: they carry no information, and must
    /// not poison every comparison.
    pub fn new(id: Arc<EmbedderId>, mut values: Vec<f32>) -> Result<Self, Incomparable> {
        if values.len() != id.dims {
            return Err(Incomparable::Length { numbers: values.len(), dims: id.dims });
        }
        normalise(&mut values);
        Ok(Self { id, values })
    }

    /// Who made it.
    #[must_use]
    pub fn id(&self) -> &Arc<EmbedderId> {
        &self.id
    }

    /// The numbers.
    #[must_use]
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Whether the embedder knew nothing in the text.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.values.iter().all(|x| *x == 0.0)
    }

    /// The cosine of the angle between two vectors; 0 where one of them is zero.
    pub fn cosine(&self, other: &Self) -> Result<f32, Incomparable> {
        same_embedder(&self.id, &other.id)?;
        Ok(dot(&self.values, &other.values))
    }
}

/// Refuses two different ids; equal pointers make the common case free.
pub fn same_embedder(a: &Arc<EmbedderId>, b: &Arc<EmbedderId>) -> Result<(), Incomparable> {
    if Arc::ptr_eq(a, b) || a == b {
        return Ok(());
    }
    Err(Incomparable::Embedders { expected: EmbedderId::clone(a), found: EmbedderId::clone(b) })
}

/// Scales to length one, or to zeros if the length is not finite.
///
/// A vector that already has length one is unchanged, so a stored vector stays identical to the bit.
pub fn normalise(values: &mut [f32]) {
    let length = dot(values, values).sqrt();
    if (length - 1.0).abs() < 1e-6 {
        return;
    }
    if length.is_finite() && length > 0.0 {
        values.iter_mut().for_each(|x| *x /= length);
    } else {
        values.fill(0.0);
    }
}

/// How many sums run side by side: enough to fill the vector units of common processors.
const LANES: usize = 16;

/// The dot product, in an order that does not depend on the machine.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; LANES];
    let (a_lanes, a_rest) = a.as_chunks::<LANES>();
    let (b_lanes, b_rest) = b.as_chunks::<LANES>();
    for (x, y) in a_lanes.iter().zip(b_lanes) {
        for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
            *sum += x * y;
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str) -> Arc<EmbedderId> {
        Arc::new(EmbedderId::new(name, "1", 2))
    }

    #[test]
    fn vectors_have_length_one_whatever_they_are_made_of() {
        let v = Vector::new(id("a"), vec![3.0, 4.0]).unwrap();
        assert_eq!(v.values(), [0.6, 0.8]);
        for odd in [[0.0, 0.0], [f32::NAN, 1.0], [f32::INFINITY, 0.0], [f32::MAX, f32::MAX]] {
            assert!(Vector::new(id("a"), odd.to_vec()).unwrap().is_zero(), "{odd:?}");
        }
    }

    #[test]
    fn vectors_of_two_embedders_are_not_compared() {
        let a = Vector::new(id("a"), vec![1.0, 0.0]).unwrap();
        let b = Vector::new(id("b"), vec![1.0, 0.0]).unwrap();
        assert_eq!(a.cosine(&a), Ok(1.0));
        let message = a.cosine(&b).unwrap_err().to_string();
        assert_eq!(
            message,
            "a vector of b:1:2 cannot be compared with vectors of a:1:2; index again"
        );
        assert!(Vector::new(id("a"), vec![1.0]).is_err());
    }

    #[test]
    fn the_dot_product_counts_what_does_not_fill_a_lane() {
        let a: Vec<f32> = (0..37_u8).map(f32::from).collect();
        assert_eq!(dot(&a, &a), (0..37).map(|x| (x * x) as f32).sum::<f32>());
    }
}
