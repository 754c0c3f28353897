//! Numbers that look random and are the same for the same seed, on every machine.

/// SplitMix64.
pub(super) struct Random(u64);

impl Random {
    /// The numbers of one scene of a run.
    pub(super) fn of(seed: u64, scene: u64) -> Self {
        // Mixed twice: the numbers of two scenes must not be one row with two beginnings.
        let seed = Self(seed).next();
        Self(Self(seed ^ scene.wrapping_mul(0xD134_2543_DE82_EF95)).next())
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// Whether something with this many chances in a hundred happens.
    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Some of these, at least one, in any order.
    pub(super) fn some<T: Copy>(&mut self, from: &[T], most: usize) -> Vec<T> {
        let mut left = from.to_vec();
        let count = 1 + self.below(most.min(left.len()));
        (0..count).map(|_| left.swap_remove(self.below(left.len()))).collect()
    }
}
