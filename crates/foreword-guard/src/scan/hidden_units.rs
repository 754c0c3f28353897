//! Hidden units over the vector and the facts of a window, for what the head's other weights cannot say.
//!
//! The head adds up what each word, fact and dimension weighs. A step that sends something is harmful or not
//! by what it sends and where to: that takes features together. Each unit is such a combination. It adds its
//! weight as far as its own sum is above zero.
//!
//! In the table, after the exemplars and only if there are units: their number (u32); for each its constant,
//! its weight and the steps of its weights for dimensions and for facts (f32); then for each the weights of
//! dimensions and of facts (i8).

use super::features::{FACTS, Facts};
use foreword_embed::dot;

const NUMBERS: usize = 16;

/// The units of a head; none in most.
#[derive(Debug, Default)]
pub(super) struct HiddenUnits {
    units: Vec<Unit>,
}

#[derive(Debug)]
struct Unit {
    constant: f32,
    weight: f32,
    vector: Vec<f32>,
    facts: Vec<f32>,
}

impl HiddenUnits {
    /// Reads the end of the table, which may be empty; nothing if it is damaged.
    pub(super) fn new(bytes: &[u8], dims: usize) -> Option<Self> {
        if bytes.is_empty() {
            return Some(Self::default());
        }
        let (count, rest) = bytes.split_first_chunk::<4>()?;
        let count = usize::try_from(u32::from_le_bytes(*count)).ok()?;
        let each = dims.checked_add(FACTS)?;
        if rest.len() != count.checked_mul(NUMBERS.checked_add(each)?)? {
            return None;
        }
        let (numbers, weights) = rest.split_at_checked(count * NUMBERS)?;
        let units = numbers.as_chunks::<NUMBERS>().0.iter().zip(weights.chunks_exact(each));
        let units = units.map(|(numbers, weights)| Unit::new(numbers, weights, dims));
        Some(Self { units: units.collect::<Option<_>>()? })
    }

    /// What a block's vector adds to the sum of each unit, before it is divided by the length of the window.
    pub(super) fn project(&self, vector: &[f32]) -> Vec<f32> {
        self.units.iter().map(|unit| dot(&unit.vector, vector)).collect()
    }

    /// The weight of a window by what its vector of this length and its facts add to each unit.
    pub(super) fn weigh(&self, projected: &[f32], length: f32, facts: Facts) -> f32 {
        let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
        let sums = self.units.iter().zip(projected).map(|(unit, projected)| {
            let facts = set_bits(facts).filter_map(|bit| unit.facts.get(bit)).sum::<f32>();
            unit.weight * (unit.constant + projected * scale + facts).max(0.0)
        });
        sums.sum()
    }
}

impl Unit {
    fn new(numbers: &[u8; NUMBERS], weights: &[u8], dims: usize) -> Option<Self> {
        let numbers = numbers.as_chunks::<4>().0.iter().map(|number| f32::from_le_bytes(*number));
        let numbers: Vec<f32> = numbers.collect();
        let [constant, weight, vector_step, fact_step] = *numbers else { return None };
        if !numbers.iter().all(|number| number.is_finite()) {
            return None;
        }
        let (vector, facts) = weights.split_at_checked(dims)?;
        let scaled = |weights: &[u8], step: f32| {
            weights.iter().map(|weight| f32::from(weight.cast_signed()) * step).collect()
        };
        Some(Self {
            constant,
            weight,
            vector: scaled(vector, vector_step),
            facts: scaled(facts, fact_step),
        })
    }
}

fn set_bits(mut facts: Facts) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = facts.trailing_zeros();
        facts &= facts.checked_sub(1)?;
        usize::try_from(bit).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two units over vectors of two numbers: one rises with the first number, the other with the second and
    /// the first fact.
    fn table() -> Vec<u8> {
        let mut bytes = 2_u32.to_le_bytes().to_vec();
        for numbers in [[-1.0_f32, 2.0, 0.5, 1.0], [0.0, -3.0, 0.5, 0.25]] {
            bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        }
        let weights = |vector: [i8; 2], first: i8| {
            let mut facts = [0_i8; FACTS];
            facts[0] = first;
            vector.into_iter().chain(facts).map(i8::cast_unsigned).collect::<Vec<u8>>()
        };
        bytes.extend(weights([4, 0], 0));
        bytes.extend(weights([0, 2], -4));
        bytes
    }

    #[test]
    fn a_unit_counts_as_far_as_its_sum_is_above_zero() {
        let units = HiddenUnits::new(&table(), 2).unwrap();
        let weigh =
            |vector: [f32; 2], length, facts| units.weigh(&units.project(&vector), length, facts);
        assert_eq!(weigh([1.0, 0.0], 1.0, 0), 2.0, "two times (2 - 1)");
        assert_eq!(weigh([3.0, 0.0], 3.0, 0), 2.0, "by direction, not by length");
        assert_eq!(weigh([0.0, 1.0], 1.0, 0), -3.0, "the first is below zero");
        assert_eq!(weigh([0.0, 1.0], 1.0, 1), 0.0, "the fact outweighs the vector");
        assert_eq!(weigh([0.0, 0.0], 0.0, 0), 0.0);
        assert_eq!(HiddenUnits::new(&[], 2).unwrap().weigh(&[], 1.0, 1), 0.0);
    }

    #[test]
    fn a_damaged_table_is_not_read() {
        let good = table();
        for end in [1, 4, 20, good.len() - 1] {
            assert!(HiddenUnits::new(&good[..end], 2).is_none(), "cut at {end}");
        }
        for (at, value) in [(0, [255; 4]), (4, [0, 0, 0x80, 0x7F])] {
            let mut bad = good.clone();
            bad[at..at + 4].copy_from_slice(&value);
            assert!(HiddenUnits::new(&bad, 2).is_none(), "changed at {at}");
        }
    }
}
