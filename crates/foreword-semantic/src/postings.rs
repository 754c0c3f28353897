//! Which items hold a feature, and how much of it.

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
}
