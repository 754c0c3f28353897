//! A squarified treemap: areas in proportion to weights, as square as possible.
//!
//! The method is that of Bruls, Huizing and van Wijk (2000): weights in descending order fill rows along
//! the shorter side, and a row ends where one more tile would make its worst tile longer. Sorting is the
//! cost; laying out is linear.

/// A tile, in per cent of the area's width and height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tile {
    /// Which weight it stands for.
    pub(crate) index: usize,
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// Lays out an area that is `aspect` times as wide as it is high. A weight of 0 gets no tile.
#[expect(clippy::cast_precision_loss, reason = "areas need no more than 52 bits")]
pub(crate) fn tiles(weights: &[u64], aspect: f64) -> Vec<Tile> {
    let mut order: Vec<(usize, f64)> = weights
        .iter()
        .enumerate()
        .filter(|(_, weight)| **weight > 0)
        .map(|(index, weight)| (index, *weight as f64))
        .collect();
    // Equal weights keep their order, so the same data gives the same map.
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let total: f64 = order.iter().map(|(_, weight)| weight).sum();
    let mut free = Area { left: 0.0, top: 0.0, width: aspect, height: 1.0 };
    let scale = aspect / total.max(1.0);
    let mut out = Vec::with_capacity(order.len());
    let mut rest = order.as_slice();
    while !rest.is_empty() {
        let count = row_length(rest, scale, free.width.min(free.height));
        let (row, later) = rest.split_at_checked(count).unwrap_or((rest, &[]));
        free = place(row, scale, free, &mut out);
        rest = later;
    }
    for tile in &mut out {
        tile.left = tile.left / aspect * 100.0;
        tile.width = tile.width / aspect * 100.0;
        tile.top *= 100.0;
        tile.height *= 100.0;
    }
    out
}

#[derive(Clone, Copy)]
struct Area {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

/// How many weights make the best next row.
fn row_length(rest: &[(usize, f64)], scale: f64, side: f64) -> usize {
    let (mut sum, mut largest, mut best) = (0.0, 0.0_f64, f64::INFINITY);
    for (count, (_, weight)) in rest.iter().enumerate() {
        let area = weight * scale;
        sum += area;
        largest = largest.max(area);
        // Areas descend, so this one is the smallest. The worst tile is the longest or the thinnest.
        let worst = (side * side * largest / (sum * sum)).max(sum * sum / (side * side * area));
        if worst > best {
            return count.max(1);
        }
        best = worst;
    }
    rest.len()
}

/// Places a row along the shorter side and returns the area that is left.
fn place(row: &[(usize, f64)], scale: f64, free: Area, out: &mut Vec<Tile>) -> Area {
    let sum: f64 = row.iter().map(|(_, weight)| weight).sum();
    let wide = free.width >= free.height;
    let (side, most) = if wide { (free.height, free.width) } else { (free.width, free.height) };
    // Rounding must not push a row over the edge.
    let depth = (sum * scale / side.max(f64::MIN_POSITIVE)).min(most);
    let mut at = 0.0;
    for (index, weight) in row {
        let length = side * (weight / sum);
        let (left, top, width, height) = if wide {
            (free.left, free.top + at, depth, length)
        } else {
            (free.left + at, free.top, length, depth)
        };
        out.push(Tile { index: *index, left, top, width, height });
        at += length;
    }
    if wide {
        Area { left: free.left + depth, width: (free.width - depth).max(0.0), ..free }
    } else {
        Area { top: free.top + depth, height: (free.height - depth).max(0.0), ..free }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn areas_are_in_proportion() {
        let map = tiles(&[6, 0, 2, 4], 1.0);
        assert_eq!(map.iter().map(|tile| tile.index).collect::<Vec<_>>(), [0, 3, 2]);
        let areas: Vec<i64> =
            map.iter().map(|tile| (tile.width * tile.height / 10.0).round() as i64).collect();
        assert_eq!(areas, [500, 333, 167]);
        assert!(tiles(&[0, 0], 2.0).is_empty() && tiles(&[], 2.0).is_empty());
    }

    proptest! {
        #[test]
        fn tiles_fill_the_area_and_do_not_overlap(
            weights in proptest::collection::vec(prop_oneof![0_u64..50, 0_u64..1_000_000, Just(u64::MAX / 64)], 0..60),
        ) {
            let map = tiles(&weights, 2.0);
            let sum: f64 = map.iter().map(|tile| tile.width * tile.height).sum();
            prop_assert!(map.is_empty() || (sum - 10_000.0).abs() < 1.0, "{sum}");
            for tile in &map {
                let inside = tile.left >= -0.01 && tile.top >= -0.01
                    && tile.left + tile.width <= 100.01 && tile.top + tile.height <= 100.01;
                prop_assert!(inside && tile.width.is_finite() && tile.height.is_finite(), "{tile:?}");
            }
            for (at, a) in map.iter().enumerate() {
                for b in map.iter().skip(at + 1) {
                    let across = (a.left + a.width).min(b.left + b.width) - a.left.max(b.left);
                    let down = (a.top + a.height).min(b.top + b.height) - a.top.max(b.top);
                    prop_assert!(across < 0.01 || down < 0.01, "{a:?} {b:?}");
                }
            }
        }
    }
}
