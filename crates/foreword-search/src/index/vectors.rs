//! The exact scan: one query against every vector of an index.

use std::sync::Arc;

use foreword_embed::{EmbedderId, Incomparable, Vector, dot, normalise, same_embedder};

/// Vectors of one embedder, one after another in memory.
#[derive(Debug, Clone)]
pub struct VectorIndex {
    id: Arc<EmbedderId>,
    values: Vec<f32>,
    /// Per vector, how close it is to requests that have nothing to do with it, less the mean of
    /// all vectors; empty if not computed.
    hubness: Vec<f32>,
    /// The cosine that such a request has with the closest vector, on average; absent if not computed.
    chance: Option<f32>,
}

impl VectorIndex {
    /// An index without vectors.
    #[must_use]
    pub fn new(id: Arc<EmbedderId>) -> Self {
        Self { id, values: Vec::new(), hubness: Vec::new(), chance: None }
    }

    /// An index of numbers as they were stored, vector after vector; each is scaled to length one.
    pub fn from_values(id: Arc<EmbedderId>, mut values: Vec<f32>) -> Result<Self, Incomparable> {
        if id.dims == 0 || !values.len().is_multiple_of(id.dims) {
            return Err(Incomparable::Length { numbers: values.len(), dims: id.dims });
        }
        values.chunks_exact_mut(id.dims).for_each(normalise);
        Ok(Self { id, values, hubness: Vec::new(), chance: None })
    }

    /// An index of [`VectorIndex::values`] as another index gave them: nothing is scaled again,
    /// so cosines are the same to the bit. Numbers that are not finite become 0.
    pub fn from_stored(id: Arc<EmbedderId>, mut values: Vec<f32>) -> Result<Self, Incomparable> {
        if id.dims == 0 || !values.len().is_multiple_of(id.dims) {
            return Err(Incomparable::Length { numbers: values.len(), dims: id.dims });
        }
        for value in &mut values {
            *value = if value.is_finite() { *value } else { 0.0 };
        }
        Ok(Self { id, values, hubness: Vec::new(), chance: None })
    }

    /// All numbers, vector after vector.
    #[must_use]
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Notes how close each vector is to the vectors of `select::background`; see there for why.
    ///
    /// Adding a vector later forgets it all.
    pub fn set_background(&mut self, background: &[Vector]) -> Result<(), Incomparable> {
        /// The number of closest vectors that count.
        const CLOSEST: usize = 10;
        for vector in background {
            same_embedder(&self.id, vector.id())?;
        }
        let mut best = vec![f32::NEG_INFINITY; background.len()];
        let rows = self.values.chunks_exact(self.id.dims.max(1));
        let mut hubness: Vec<f32> = rows
            .map(|row| {
                let mut cosines: Vec<f32> =
                    background.iter().map(|vector| dot(row, vector.values())).collect();
                best.iter_mut().zip(&cosines).for_each(|(best, cosine)| *best = best.max(*cosine));
                cosines.sort_unstable_by(|a, b| b.total_cmp(a));
                cosines.truncate(CLOSEST);
                cosines.iter().sum::<f32>() / cosines.len().max(1) as f32
            })
            .collect();
        let mean = hubness.iter().sum::<f32>() / hubness.len().max(1) as f32;
        hubness.iter_mut().for_each(|x| *x -= mean);
        self.chance = Some(best.iter().sum::<f32>() / best.len().max(1) as f32);
        self.chance = self.chance.filter(|chance| chance.is_finite() && !best.is_empty());
        self.hubness = hubness;
        Ok(())
    }

    /// How much closer than others each vector is to everything; empty if not computed.
    #[must_use]
    pub(crate) fn hubness(&self) -> &[f32] {
        &self.hubness
    }

    /// The cosine that a request which has nothing to do with any vector has with the closest.
    #[must_use]
    pub(crate) fn chance(&self) -> Option<f32> {
        self.chance
    }

    /// The result of [`VectorIndex::set_background`], for storage; empty if it was not called.
    #[must_use]
    pub fn background_numbers(&self) -> Vec<f32> {
        let chance = self.chance.into_iter();
        chance.flat_map(|chance| self.hubness.iter().copied().chain([chance])).collect()
    }

    /// Takes the values of [`VectorIndex::background_numbers`] if their number matches and they are finite.
    pub fn set_background_numbers(&mut self, mut numbers: Vec<f32>) {
        let fits = numbers.len() == self.len() + 1 && numbers.iter().all(|x| x.is_finite());
        self.chance = numbers.pop().filter(|_| fits);
        self.hubness = if fits { numbers } else { Vec::new() };
    }

    /// Adds a vector at the end.
    pub fn push(&mut self, vector: &Vector) -> Result<(), Incomparable> {
        same_embedder(&self.id, vector.id())?;
        self.values.extend_from_slice(vector.values());
        self.forget_background();
        Ok(())
    }

    /// Adds a zero vector, which is similar to nothing, for an item that has none.
    pub fn push_absent(&mut self) {
        self.values.resize(self.values.len() + self.id.dims, 0.0);
        self.forget_background();
    }

    fn forget_background(&mut self) {
        self.hubness.clear();
        self.chance = None;
    }

    /// Who made the vectors.
    #[must_use]
    pub fn id(&self) -> &Arc<EmbedderId> {
        &self.id
    }

    /// How many vectors there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len() / self.id.dims.max(1)
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The mean and the standard deviation of the cosines between some pairs of different vectors, always the
    /// same ones.
    pub(crate) fn spread(&self) -> (f32, f32) {
        const PAIRS: usize = 2000;
        let count = self.len();
        // Steps that share no factor with each other visit pairs all over the matrix.
        let pairs = (0..PAIRS).map(|i| {
            (i * 7919 % count.max(1), (i * 104_729 + i / count.max(1) + 1) % count.max(1))
        });
        let cosines: Vec<f32> =
            pairs.filter(|(a, b)| a != b).map(|(a, b)| dot(self.row(a), self.row(b))).collect();
        let size = cosines.len().max(1) as f32;
        let mean = cosines.iter().sum::<f32>() / size;
        let square = cosines.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / size;
        (mean, square.sqrt())
    }

    /// The numbers of one vector; none past the last.
    pub(crate) fn row(&self, index: usize) -> &[f32] {
        let start = index * self.id.dims;
        self.values.get(start..start + self.id.dims).unwrap_or_default()
    }

    /// The products of these numbers, as many as a vector has, with every vector, in order.
    pub(crate) fn products(&self, numbers: &[f32]) -> Vec<f32> {
        let rows = self.values.chunks_exact(self.id.dims.max(1));
        rows.map(|row| dot(row, numbers)).collect()
    }

    /// The cosine of a query with every vector, in order.
    pub fn cosines(&self, query: &Vector) -> Result<Vec<f32>, Incomparable> {
        same_embedder(&self.id, query.id())?;
        Ok(self.products(query.values()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scan_gives_what_pairs_give() {
        let id = Arc::new(EmbedderId::new("test", "1", 3));
        let vectors: Vec<Vector> = [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0], [-1.0, 0.5, 0.0]]
            .map(|values| Vector::new(Arc::clone(&id), values.to_vec()).unwrap())
            .into();
        let mut index = VectorIndex::new(Arc::clone(&id));
        vectors.iter().for_each(|vector| index.push(vector).unwrap());
        index.push_absent();
        assert_eq!(index.len(), 4);
        let pairs: Vec<f32> = vectors.iter().map(|v| vectors[0].cosine(v).unwrap()).collect();
        let scanned = index.cosines(&vectors[0]).unwrap();
        assert_eq!(scanned[..3], pairs);
        assert_eq!(scanned[3], 0.0);

        let mut stored = index.clone();
        index.set_background(&vectors[..1]).unwrap();
        assert!((index.chance().unwrap() - 1.0).abs() < 1e-6, "the request is one of the vectors");
        stored.set_background_numbers(index.background_numbers());
        assert_eq!((stored.hubness(), stored.chance()), (index.hubness(), index.chance()));
        stored.set_background_numbers(vec![0.0; 4]);
        assert_eq!((stored.hubness(), stored.chance()), (&[][..], None));
        index.push_absent();
        assert_eq!((index.background_numbers().len(), index.chance()), (0, None));

        let stranger =
            Vector::new(Arc::new(EmbedderId::new("test", "2", 3)), vec![1.0; 3]).unwrap();
        assert!(index.cosines(&stranger).is_err());
        assert!(index.push(&stranger).is_err());
        assert!(VectorIndex::from_values(id, vec![1.0; 4]).is_err());
    }
}
