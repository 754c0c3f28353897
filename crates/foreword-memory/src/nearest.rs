//! The nearest memories by vector, among all that a question sees.
//!
//! Three looks, each at fewer and closer than the one before: equal bits of all sketches, the
//! question's own numbers against the bits of the best, and the stored vectors of the best of those.

use crate::index::Sketches;

/// Places at once; a block of the database.
const BLOCK: usize = 256;

/// The indexes of the `want` sketches with the fewest different bits, among the classes that are
/// seen. Equal ones in order of index.
pub(crate) fn by_bits(
    sketches: &Sketches,
    query: &[u64],
    classes: &[u32],
    seen: &[bool],
    want: usize,
) -> Vec<u32> {
    match <[u64; 4]>::try_from(query) {
        // The default embedder: the compiler makes the most of a known length.
        Ok(query) => scan(classes, seen, want, |block, distances| {
            let (codes, _) = sketches.codes.as_chunks::<4>();
            let codes = codes.get(block * BLOCK..).unwrap_or_default();
            for (distance, code) in distances.iter_mut().zip(codes) {
                let differing = |(a, b): (&u64, &u64)| (a ^ b).count_ones();
                *distance = code.iter().zip(&query).map(differing).sum();
            }
        }),
        Err(_) => scan(classes, seen, want, |block, distances| {
            let words = query.len().max(1);
            let codes = sketches.codes.get(block * BLOCK * words..).unwrap_or_default();
            for (distance, code) in distances.iter_mut().zip(codes.chunks_exact(words)) {
                *distance = code.iter().zip(query).map(|(a, b)| (a ^ b).count_ones()).sum();
            }
        }),
    }
}

fn scan(
    classes: &[u32],
    seen: &[bool],
    want: usize,
    mut measure: impl FnMut(usize, &mut [u32; BLOCK]),
) -> Vec<u32> {
    let want = want.max(1);
    let mut best: Vec<(u32, u32)> = Vec::with_capacity(2 * want);
    let mut farthest = u32::MAX;
    let mut distances = [0_u32; BLOCK];
    for (block, classes) in classes.chunks(BLOCK).enumerate() {
        measure(block, &mut distances);
        let first = block * BLOCK;
        for ((place, distance), class) in distances.iter().enumerate().zip(classes) {
            // Later ones of the same distance come behind: they cannot get in any more.
            if *distance < farthest && seen.get(*class as usize).copied().unwrap_or(false) {
                best.push((*distance, u32::try_from(first + place).unwrap_or(u32::MAX)));
                if best.len() == 2 * want {
                    best.select_nth_unstable(want - 1);
                    best.truncate(want);
                    farthest = best.last().map_or(u32::MAX, |(distance, _)| *distance);
                }
            }
        }
    }
    if best.len() > want {
        best.select_nth_unstable(want - 1);
        best.truncate(want);
    }
    best.into_iter().map(|(_, index)| index).collect()
}

/// For each byte of a sketch and each value of it: the sum of the question's numbers, each with the
/// sign that its bit says.
pub(crate) struct Table(Vec<[f32; 256]>);

impl Table {
    pub(crate) fn new(turned: &[f32]) -> Self {
        Self(
            turned
                .chunks(8)
                .map(|eight| {
                    let mut sums = [0.0; 256];
                    for (value, sum) in sums.iter_mut().enumerate() {
                        for (bit, x) in eight.iter().enumerate() {
                            *sum += if value >> bit & 1 == 1 { *x } else { -*x };
                        }
                    }
                    sums
                })
                .collect(),
        )
    }

    fn sum(&self, code: &[u64]) -> f32 {
        let bytes = code.iter().flat_map(|word| word.to_le_bytes());
        let part = |(sums, byte): (&[f32; 256], u8)| {
            sums.get(usize::from(byte)).copied().unwrap_or_default()
        };
        self.0.iter().zip(bytes).map(part).sum()
    }
}

/// Of these the `want` best by the question's own numbers.
pub(crate) fn by_numbers(
    sketches: &Sketches,
    table: &Table,
    among: &[u32],
    want: usize,
) -> Vec<u32> {
    let words = sketches.words;
    let mut best: Vec<(f32, u32)> = among
        .iter()
        .map(|index| {
            let start = *index as usize * words;
            let code = sketches.codes.get(start..start + words).unwrap_or_default();
            (table.sum(code), *index)
        })
        .collect();
    let order = |a: &(f32, u32), b: &(f32, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    if want > 0 && best.len() > want {
        best.select_nth_unstable_by(want - 1, order);
        best.truncate(want);
    }
    best.into_iter().map(|(_, index)| index).collect()
}
