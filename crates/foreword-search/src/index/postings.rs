//! Which items hold a feature, and how much of it.

use crate::index::flat::{IndexError, Reader, Writer};

/// For every feature, numbered from 0, the items that have it with a weight, in order of item.
#[derive(Debug, Default)]
pub(crate) struct Postings {
    /// Where the entries of a feature start; one more than there are features.
    starts: Vec<u32>,
    entries: Vec<(u32, f32)>,
}

impl Postings {
    /// Sorts `(feature, item, weight)` by feature; items have to come in order.
    pub(crate) fn new(features: usize, found: &[(u32, u32, f32)]) -> Self {
        let mut starts = vec![0_u32; features + 1];
        for (feature, ..) in found {
            if let Some(count) = starts.get_mut(*feature as usize + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut next = starts.clone();
        let mut entries = vec![(0, 0.0); found.len()];
        for (feature, item, weight) in found {
            if let Some(place) = next.get_mut(*feature as usize) {
                if let Some(entry) = entries.get_mut(*place as usize) {
                    *entry = (*item, *weight);
                }
                *place += 1;
            }
        }
        Self { starts, entries }
    }

    /// How many entries there are in all.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The items that have a feature.
    pub(crate) fn of(&self, feature: u32) -> &[(u32, f32)] {
        let at = |feature: usize| self.starts.get(feature).map(|start| *start as usize);
        let range = || Some(at(feature as usize)?..at(feature as usize + 1)?);
        range().and_then(|range| self.entries.get(range)).unwrap_or_default()
    }

    /// The same for changing weights in place.
    pub(crate) fn of_mut(&mut self, feature: u32) -> &mut [(u32, f32)] {
        let at = |feature: usize| self.starts.get(feature).map(|start| *start as usize);
        let range = || Some(at(feature as usize)?..at(feature as usize + 1)?);
        range().and_then(|range| self.entries.get_mut(range)).unwrap_or_default()
    }

    /// Adds `factor` times the weight to the score of every item that has the feature.
    pub(crate) fn add(&self, feature: u32, factor: f32, scores: &mut [f32]) {
        for (item, weight) in self.of(feature) {
            if let Some(score) = scores.get_mut(*item as usize) {
                *score += factor * weight;
            }
        }
    }

    pub(crate) fn write(&self, to: &mut Writer) {
        to.numbers(&self.starts);
        to.pairs(&self.entries);
    }

    /// Reads postings for the given numbers of features and items.
    pub(crate) fn read(
        from: &mut Reader<'_>,
        features: usize,
        items: usize,
    ) -> Result<Self, IndexError> {
        let postings = Self { starts: from.numbers()?, entries: from.pairs()? };
        let Self { starts, entries } = &postings;
        let ends = starts.last().map(|end| *end as usize) == Some(entries.len());
        if starts.len() != features + 1 || !ends || !starts.is_sorted() {
            return Err(IndexError::damaged("its lists do not fit its words"));
        }
        // Without early returns this runs at the speed of memory.
        let odd = entries.iter().fold(false, |odd, (item, weight)| {
            odd | (*item as usize >= items) | !weight.is_finite()
        });
        if odd {
            return Err(IndexError::damaged("a list names what is not there"));
        }
        Ok(postings)
    }
}

/// Which of many places are taken, each taken one with a number in order.
///
/// A table with a start for every place would be mostly empty: four megabytes to fill, store and
/// read where a few thousand places are taken.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// A bit per place.
    taken: Vec<u64>,
    /// How many are taken before each word of bits.
    before: Vec<u32>,
    count: u32,
}

impl Places {
    /// The taken ones among `places`.
    pub(crate) fn new(places: u32, taken: impl Iterator<Item = u32>) -> Self {
        let mut bits = vec![0_u64; places.div_ceil(64) as usize];
        for place in taken {
            if let Some(word) = bits.get_mut(place as usize / 64) {
                *word |= 1 << (place % 64);
            }
        }
        Self::of_bits(bits)
    }

    fn of_bits(taken: Vec<u64>) -> Self {
        let mut count = 0;
        let before = taken.iter().map(|word| {
            let before = count;
            count += word.count_ones();
            before
        });
        let before = before.collect();
        Self { taken, before, count }
    }

    /// How many are taken.
    pub(crate) fn len(&self) -> usize {
        self.count as usize
    }

    /// The number of a place, if it is taken.
    pub(crate) fn number(&self, place: u32) -> Option<u32> {
        let word = self.taken.get(place as usize / 64)?;
        let bit = 1_u64 << (place % 64);
        let before = self.before.get(place as usize / 64)?;
        (word & bit != 0).then_some(before + (word & (bit - 1)).count_ones())
    }

    pub(crate) fn write(&self, to: &mut Writer) {
        to.words(&self.taken);
    }

    pub(crate) fn read(from: &mut Reader<'_>, places: u32) -> Result<Self, IndexError> {
        let taken = from.words()?;
        if taken.len() != places.div_ceil(64) as usize {
            return Err(IndexError::damaged("its table has another size"));
        }
        Ok(Self::of_bits(taken))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taken_places_are_numbered_in_order() {
        let places = Places::new(200, [3, 64, 199, 3].into_iter());
        let numbers = [3, 64, 199, 0, 65, 200, 1000].map(|place| places.number(place));
        assert_eq!(numbers, [Some(0), Some(1), Some(2), None, None, None, None]);
        assert_eq!(places.len(), 3);
    }
}
