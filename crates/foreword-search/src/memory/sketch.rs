//! Sketches: one bit per number of a vector, after a rotation that makes all bits equally informative.
//!
//! Embeddings put more into some dimensions than into others. A rotation spreads that evenly, so
//! that the share of equal bits says how small the angle is. The rotation is fixed: sketches are
//! stored.

/// The rotation for vectors of one length, with its buffers.
#[derive(Debug, Clone)]
pub(crate) struct Rotation {
    padded: usize,
    flips: [Vec<bool>; 2],
}

impl Rotation {
    pub(crate) fn new(dims: usize) -> Self {
        let padded = dims.next_power_of_two().max(64);
        let mut state = 0x666f_7265_776f_7264_u64;
        let mut flips =
            || -> Vec<bool> { (0..padded).map(|_| next(&mut state) & (1 << 40) != 0).collect() };
        Self { padded, flips: [flips(), flips()] }
    }

    /// How many 64-bit words a sketch has.
    pub(crate) fn words(&self) -> usize {
        self.padded / 64
    }

    /// The vector, turned and padded.
    pub(crate) fn turn(&self, values: &[f32]) -> Vec<f32> {
        let mut turned = values.to_vec();
        turned.resize(self.padded, 0.0);
        for flips in &self.flips {
            for (x, flip) in turned.iter_mut().zip(flips) {
                *x = if *flip { -*x } else { *x };
            }
            hadamard(&mut turned);
        }
        turned
    }

    /// The bits of a turned vector.
    pub(crate) fn bits(turned: &[f32]) -> Vec<u64> {
        let word = |numbers: &[f32]| {
            (0_u32..).zip(numbers).fold(0, |word, (place, x)| word | u64::from(*x > 0.0) << place)
        };
        turned.chunks(64).map(word).collect()
    }

    /// The sketch of a vector as it is stored.
    pub(crate) fn sketch(&self, values: &[f32]) -> Vec<u8> {
        Self::bits(&self.turn(values)).iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}

/// The next number of a fixed sequence (splitmix64).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The Walsh–Hadamard transform: a rotation by additions alone, but for its length.
fn hadamard(values: &mut [f32]) {
    let mut half = 1;
    while half < values.len() {
        for pair in values.chunks_exact_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            for (a, b) in low.iter_mut().zip(high) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotation_keeps_angles_and_levels_bits() {
        let rotation = Rotation::new(200);
        assert_eq!(rotation.words(), 4);
        let a: Vec<f32> = (0..200).map(|i| 1.0 / (i + 1) as f32).collect();
        let mut b = a.clone();
        b[3] = -1.0;
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
        let (turned_a, turned_b) = (rotation.turn(&a), rotation.turn(&b));
        let factor = dot(&turned_a, &turned_a) / dot(&a, &a);
        assert!((dot(&turned_a, &turned_b) / factor - dot(&a, &b)).abs() < 1e-3);
        // All numbers are positive; of the bits about a half is set.
        let set: u32 = Rotation::bits(&turned_a).iter().map(|word| word.count_ones()).sum();
        assert!((90..170).contains(&set), "{set}");
        let opposite: Vec<f32> = a.iter().map(|x| -x).collect();
        let same = Rotation::bits(&turned_a);
        let other = Rotation::bits(&rotation.turn(&opposite));
        assert!(same.iter().zip(&other).all(|(a, b)| a ^ b == u64::MAX));
    }

    #[test]
    fn a_stored_sketch_never_changes() {
        let values: Vec<f32> = (0..64).map(|i| (i as f32 * 0.7).sin()).collect();
        assert_eq!(Rotation::new(64).sketch(&values).len(), 8);
    }
}
