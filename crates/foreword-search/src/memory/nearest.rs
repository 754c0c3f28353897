//! The nearest memories by vector, among all that a question sees.
//!
//! Three looks, each at fewer and closer than the one before: equal bits of all sketches, the
//! question's own numbers against the bits of the best, and the stored vectors of the best of those.

use crate::memory::index::Sketches;

/// Places at once; a block of the database.
const BLOCK: usize = 256;

/// The indexes of the `want` sketches with the fewest different bits in their first words, among
/// the classes that are seen. Equal ones in order of index.
pub(crate) fn by_bits(
    sketches: &Sketches,
    query: &[u64],
    classes: &[u32],
    seen: &[bool],
    want: usize,
) -> Vec<u32> {
    let query = query.get(..sketches.scanned).unwrap_or(query);
    scan(classes, seen, want, |block, distances| {
        let size = BLOCK * query.len();
        let planes = sketches.planes.get(block * size..(block + 1) * size).unwrap_or_default();
        let (planes, _) = planes.as_chunks::<BLOCK>();
        distances.fill(0);
        let (pairs, rest) = query.as_chunks::<2>();
        let (plane_pairs, plane_rest) = planes.as_chunks::<2>();
        for (words, planes) in pairs.iter().zip(plane_pairs) {
            add_differing(words, planes, distances);
        }
        for (word, plane) in rest.iter().zip(plane_rest) {
            for (distance, other) in distances.iter_mut().zip(plane) {
                *distance += u64::from((word ^ other).count_ones());
            }
        }
    })
}

/// Adds the number of different bits of two words, 256 memories at a time.
///
/// Counts in the way of old, all words side by side: the processors we build for may lack an
/// instruction for it, and this form the compiler spreads over its vector units.
fn add_differing(query: &[u64; 2], planes: &[[u64; BLOCK]; 2], distances: &mut [u64; BLOCK]) {
    const PAIRS: u64 = 0x5555_5555_5555_5555;
    const FOURS: u64 = 0x3333_3333_3333_3333;
    const BYTES: u64 = 0x0f0f_0f0f_0f0f_0f0f;
    let [a, b] = planes;
    let [qa, qb] = query;
    // In fours of bits: how many are set, 0 to 4.
    let fours = |x: u64| {
        let pairs = x - (x >> 1 & PAIRS);
        (pairs & FOURS) + (pairs >> 2 & FOURS)
    };
    for ((distance, a), b) in distances.iter_mut().zip(a).zip(b) {
        let both = fours(a ^ qa) + fours(b ^ qb);
        let bytes = (both & BYTES) + (both >> 4 & BYTES);
        // Eight bytes of at most 16: their sum, 128 at most, fits the lowest one.
        let halves = bytes + (bytes >> 32);
        let quarters = halves + (halves >> 16);
        *distance += (quarters + (quarters >> 8)) & 0xff;
    }
}

fn scan(
    classes: &[u32],
    seen: &[bool],
    want: usize,
    mut measure: impl FnMut(usize, &mut [u64; BLOCK]),
) -> Vec<u32> {
    let want = want.max(1);
    let mut best: Vec<(u64, u32)> = Vec::with_capacity(2 * want);
    let mut farthest = u64::MAX;
    let mut distances = [0_u64; BLOCK];
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
                    farthest = best.last().map_or(u64::MAX, |(distance, _)| *distance);
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
                    if let Some(none) = sums.first_mut() {
                        *none = -eight.iter().sum::<f32>();
                    }
                    // Each bit doubles the table: the same sums with the sign of its number flipped.
                    for (bit, x) in eight.iter().enumerate() {
                        let (below, above) = sums.split_at_mut(1 << bit);
                        above.iter_mut().zip(below).for_each(|(to, from)| *to = *from + 2.0 * x);
                    }
                    sums
                })
                .collect(),
        )
    }

    fn sum(&self, code: &[u64]) -> f32 {
        let (tables, _) = self.0.as_chunks::<8>();
        let word = |(tables, word): (&[[f32; 256]; 8], &u64)| -> f32 {
            let part = |(sums, byte): (&[f32; 256], u8)| {
                sums.get(usize::from(byte)).copied().unwrap_or_default()
            };
            tables.iter().zip(word.to_le_bytes()).map(part).sum()
        };
        tables.iter().zip(code).map(word).sum()
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::memory::sketch::Rotation;

    fn sketches(codes: &[Vec<u64>], scanned: usize) -> Sketches {
        let mut sketches = Sketches::new(1, codes[0].len(), 1);
        sketches.scanned = scanned;
        sketches.resize(codes.len().div_ceil(BLOCK));
        for (block, codes) in codes.chunks(BLOCK).enumerate() {
            let mut bytes: Vec<u8> =
                codes.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
            bytes.resize(BLOCK * codes[0].len() * 8, 0);
            assert!(sketches.put(block, &bytes));
        }
        sketches
    }

    proptest! {
        #[test]
        fn bits_are_counted_as_the_processor_counts_them(
            codes in prop::collection::vec(prop::collection::vec(any::<u64>(), 6), 1..300),
            query in prop::collection::vec(any::<u64>(), 6),
            want in 1_usize..20,
            scanned in 1_usize..=6,
        ) {
            let classes = vec![0; codes.len()];
            let mut found = by_bits(&sketches(&codes, scanned), &query, &classes, &[true], want);
            found.sort_unstable();
            let distance = |code: &Vec<u64>| -> u32 {
                code.iter().zip(&query).take(scanned).map(|(a, b)| (a ^ b).count_ones()).sum()
            };
            let mut exact: Vec<(u32, u32)> =
                (0..).zip(&codes).map(|(index, code)| (distance(code), index)).collect();
            exact.sort_unstable();
            exact.truncate(want);
            let mut exact: Vec<u32> = exact.into_iter().map(|(_, index)| index).collect();
            exact.sort_unstable();
            prop_assert_eq!(found, exact);
        }

        #[test]
        fn a_table_sums_signed_numbers(values in prop::collection::vec(-1.0_f32..1.0, 128)) {
            let bits = Rotation::bits(&values);
            let sum = Table::new(&values).sum(&bits);
            let exact: f32 = values.iter().map(|x| x.abs()).sum();
            prop_assert!((sum - exact).abs() < 1e-3, "{} {}", sum, exact);
        }
    }

    #[test]
    fn only_what_is_seen_is_found() {
        let codes: Vec<Vec<u64>> = (0..1000).map(|i| vec![i; 4]).collect();
        let classes: Vec<u32> = (0..1000).map(|i| i % 3).collect();
        let found = by_bits(&sketches(&codes, 2), &[0; 4], &classes, &[false, true, false], 5);
        assert!(found.iter().all(|index| index % 3 == 1), "{found:?}");
        assert_eq!(found.len(), 5);
        let unknown = vec![u32::MAX; 1000];
        assert!(by_bits(&sketches(&codes, 2), &[0; 4], &unknown, &[true], 5).is_empty());
    }
}
