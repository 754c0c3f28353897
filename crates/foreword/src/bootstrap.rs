//! 95% intervals of measured figures, by drawing the rows of a set again.

/// Samples drawn per interval.
const SAMPLES: usize = 1000;

/// The 95% intervals of figures of a set.
///
/// Rows are drawn with replacement within each group of `groups`, so that every sample has as many
/// rows of a group as the set. `figures` gets, per row, how often it was drawn. A figure that some
/// samples lack, such as a share of nothing, has the interval of the others. The same input gives the
/// same intervals.
pub fn bootstrap<const N: usize>(
    groups: &[&[usize]],
    mut figures: impl FnMut(&[u64]) -> [Option<f64>; N],
) -> [Option<[f64; 2]>; N] {
    let rows = groups.iter().flat_map(|group| *group).max().map_or(0, |last| last + 1);
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut counts = vec![0; rows];
    let mut drawn: [Vec<f64>; N] = std::array::from_fn(|_| Vec::with_capacity(SAMPLES));
    for _ in 0..if rows == 0 { 0 } else { SAMPLES } {
        counts.fill(0);
        for group in groups {
            for _ in 0..group.len() {
                let row = group.get(random.below(group.len()));
                if let Some(count) = row.and_then(|row| counts.get_mut(*row)) {
                    *count += 1;
                }
            }
        }
        for (values, value) in drawn.iter_mut().zip(figures(&counts)) {
            values.extend(value);
        }
    }
    drawn.map(middle)
}

/// The 95% interval of a mean over rows; rows without a value do not count.
#[must_use]
pub fn mean_interval(values: &[Option<f64>]) -> Option<[f64; 2]> {
    let present: Vec<f64> = values.iter().copied().flatten().collect();
    let rows: Vec<usize> = (0..present.len()).collect();
    let [interval] = bootstrap(&[&rows], |counts| {
        let sum: f64 = present.iter().zip(counts).map(|(value, count)| value * *count as f64).sum();
        [Some(sum / present.len() as f64)]
    });
    interval
}

/// Where the middle 95% of the values are.
fn middle(mut values: Vec<f64>) -> Option<[f64; 2]> {
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    let at = |share: f64| values.get((last as f64 * share).round() as usize).copied();
    Some([at(0.025)?, at(0.975)?])
}

/// Numbers that look random and are the same each time (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        // The high half of a product is below `end`.
        ((u128::from(x ^ x >> 31) * end as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(count: usize) -> Vec<Option<f64>> {
        (0..count).map(|i| Some(f64::from(u8::from(i % 4 == 0)))).collect()
    }

    #[test]
    fn an_interval_holds_its_mean_and_narrows_with_more_rows() {
        let [few_low, few_high] = mean_interval(&hits(40)).unwrap();
        let [low, high] = mean_interval(&hits(400)).unwrap();
        assert!(few_low < low && low < 0.25 && 0.25 < high && high < few_high);
        // The normal approximation: 1.96 standard errors to either side.
        assert!((high - low - 2.0 * 1.96 * (0.25 * 0.75 / 400.0_f64).sqrt()).abs() < 0.01);
        assert_eq!(mean_interval(&hits(400)), Some([low, high]), "the same again");
    }

    #[test]
    fn what_is_certain_has_no_width_and_what_is_absent_no_interval() {
        assert_eq!(mean_interval(&[Some(1.0), None, Some(1.0)]), Some([1.0, 1.0]));
        assert_eq!(mean_interval(&[None, None]), None);
        assert_eq!(mean_interval(&[]), None);
    }

    #[test]
    fn groups_keep_their_size() {
        let (a, b) = ([0_usize, 2], [1_usize, 3, 4]);
        bootstrap(&[&a, &b], |counts| {
            assert_eq!((counts[0] + counts[2], counts[1] + counts[3] + counts[4]), (2, 3));
            [None]
        });
    }
}
