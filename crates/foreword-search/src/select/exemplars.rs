//! What people ask of software and the tools that serve it, to tell whether a pool can serve a query at all.
//!
//! The best score alone says little about that: a short query that no tool serves often scores higher than
//! a long one that a tool was made for. What serves similar requests elsewhere says more. A query close to
//! an exemplar's request needs something like the exemplar's tool, so a pool without such a tool is not
//! likely to serve it; and if the tool of some exemplar fits better than all of the pool, it is probably
//! meant for that. `tools/model/exemplars.py` makes the exemplars: centroids of vectors, no text.
//!
//! ```text
//! 8 bytes of magic, u32 version, u32 dims, u32 count, the first 8 bytes of the table's hash; then the requests and
//! then the tools: a f32 for each that scales its codes to length one, and for each its codes, four bits a number,
//! 8 standing for 0: the first half of the numbers in the low bits, the second half in the high bits
//! ```

use foreword_embed::{EmbedderId, dot};

use crate::select::query_map::holds_table;

const MAGIC: [u8; 8] = *b"FWEXEMPL";
const VERSION: u32 = 1;

/// How many requests nearest to a query count, and how much less the farther ones.
const NEAREST: usize = 32;
const TEMPERATURE: f32 = 0.08;
/// How many of the best tools of exemplars are compared with the query.
const BEST: usize = 5;

/// Pairs of a request and a tool, read in place.
#[derive(Debug, Clone)]
pub(crate) struct Exemplars {
    /// Whose vectors they are.
    table: EmbedderId,
    requests: Rows,
    tools: Rows,
}

/// What exemplars say about a query and a pool, all in cosines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Evidence {
    /// How much the pool has of what serves similar requests: the mean of how much of it there is in the whole
    /// pool, and how much in the one item that has most.
    pub(crate) covered: f32,
    /// How well the tools of exemplars fit the query.
    pub(crate) elsewhere: f32,
}

/// Vectors of four bits a number.
#[derive(Debug, Clone, Copy)]
struct Rows {
    scales: &'static [u8],
    codes: &'static [u8],
    dims: usize,
}

/// Why bytes are not exemplars.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ExemplarsError {
    #[error("the exemplars are damaged: {what}; make them again with tools/model/exemplars.py")]
    Damaged { what: &'static str },
    #[error(
        "the exemplars have version {found}, this program reads version {VERSION}; \
         make them again with tools/model/exemplars.py"
    )]
    Version { found: u32 },
}

impl Exemplars {
    /// The exemplars that are part of this program.
    pub(crate) fn embedded() -> Result<Self, ExemplarsError> {
        Self::new(include_bytes!("exemplars.bin"))
    }

    fn new(bytes: &'static [u8]) -> Result<Self, ExemplarsError> {
        let damaged = |what| ExemplarsError::Damaged { what };
        let cut = || damaged("they are cut off");
        let rest = bytes.strip_prefix(&MAGIC).ok_or(damaged("they do not start like some"))?;
        let (version, rest) = rest.split_first_chunk().ok_or_else(cut)?;
        let version = u32::from_le_bytes(*version);
        if version != VERSION {
            return Err(ExemplarsError::Version { found: version });
        }
        let (dims, rest) = rest.split_first_chunk().ok_or_else(cut)?;
        let (count, rest) = rest.split_first_chunk().ok_or_else(cut)?;
        let (table, rest) = rest.split_first_chunk::<8>().ok_or_else(cut)?;
        let (dims, count) =
            (u32::from_le_bytes(*dims) as usize, u32::from_le_bytes(*count) as usize);
        let length = count
            .checked_mul(dims / 2 + 4)
            .filter(|_| (2..=4096).contains(&dims) && dims.is_multiple_of(2));
        let length = length.ok_or(damaged("their size makes no sense"))?;
        let (requests, tools) = rest.split_at_checked(length).ok_or_else(cut)?;
        if tools.len() != length {
            return Err(cut());
        }
        let rows = |bytes: &'static [u8]| -> Result<Rows, ExemplarsError> {
            let (scales, codes) = bytes.split_at_checked(count * 4).ok_or_else(cut)?;
            let finite = scales.as_chunks().0.iter().all(|x| f32::from_le_bytes(*x).is_finite());
            if finite {
                Ok(Rows { scales, codes, dims })
            } else {
                Err(damaged("a scale is not a number"))
            }
        };
        let table: String = table.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self {
            table: EmbedderId::new("static", table, dims),
            requests: rows(requests)?,
            tools: rows(tools)?,
        })
    }

    /// Whether the vectors of this embedder are of the table that the exemplars are of, or end with them.
    pub(crate) fn is_for(&self, id: &EmbedderId) -> bool {
        holds_table(id, &self.table)
    }

    /// The table's part of a vector.
    pub(crate) fn table_part<'v>(&self, vector: &'v [f32]) -> &'v [f32] {
        vector.get(vector.len().saturating_sub(self.table.dims)..).unwrap_or_default()
    }

    /// What the exemplars say about a query and the items of a pool that fit it best. All are vectors of the
    /// table; `mapped` is the query as the query map turns it. Lengths do not matter.
    pub(crate) fn evidence(&self, query: &[f32], mapped: &[f32], items: &[&[f32]]) -> Evidence {
        let length = dot(query, query).sqrt().max(f32::MIN_POSITIVE);
        let mut near: Vec<(f32, usize)> = self
            .requests
            .products(query)
            .zip(0..)
            .map(|(product, at)| (product / length, at))
            .collect();
        highest(&mut near, NEAREST, |(cosine, _)| *cosine);
        let top = near.iter().map(|(cosine, _)| *cosine).fold(f32::NEG_INFINITY, f32::max);
        let weights: Vec<f32> =
            near.iter().map(|(cosine, _)| ((cosine - top) / TEMPERATURE).exp()).collect();
        let all: f32 = weights.iter().sum();
        let lengths: Vec<f32> =
            items.iter().map(|item| dot(item, item).sqrt().max(f32::MIN_POSITIVE)).collect();
        let mut by_item = vec![0.0_f32; items.len()];
        let mut covered = 0.0;
        for ((_, at), weight) in near.iter().zip(&weights) {
            let (tool, share) = (self.tools.read(*at), weight / all.max(f32::MIN_POSITIVE));
            let mut closest = f32::NEG_INFINITY;
            for ((item, length), sum) in items.iter().zip(&lengths).zip(&mut by_item) {
                let cosine = dot(&tool, item) / length;
                closest = closest.max(cosine);
                *sum += share * cosine;
            }
            covered += share * closest;
        }
        let one = by_item.into_iter().fold(f32::NEG_INFINITY, f32::max);
        let length = dot(mapped, mapped).sqrt().max(f32::MIN_POSITIVE);
        let mut best: Vec<f32> = self.tools.products(mapped).map(|x| x / length).collect();
        highest(&mut best, BEST, |cosine| *cosine);
        Evidence {
            covered: if items.is_empty() { 0.0 } else { (covered + one) / 2.0 },
            elsewhere: best.iter().sum::<f32>() / best.len().max(1) as f32,
        }
    }
}

impl Rows {
    /// The products of a vector with all rows, in whole numbers, which is several times as fast: the vector is
    /// rounded to a part in 16,384 of its largest number.
    fn products(self, vector: &[f32]) -> impl Iterator<Item = f32> {
        let largest = vector.iter().fold(f32::MIN_POSITIVE, |most, x| most.max(x.abs()));
        let unit = largest / 16_384.0;
        let vector: Vec<i16> = vector.iter().map(|x| (x / unit).round() as i16).collect();
        // A code of 8 stands for 0, so 8 times the sum of the vector is too much in each product.
        let excess = 8 * vector.iter().map(|x| i32::from(*x)).sum::<i32>();
        let rows = self.codes.chunks_exact((self.dims / 2).max(1));
        rows.zip(self.scales.as_chunks().0).map(move |(codes, scale)| {
            let (low, high) = vector.split_at(vector.len().min(codes.len()));
            f32::from_le_bytes(*scale) * unit * (product(codes, low, high) - excess) as f32
        })
    }

    /// One row.
    fn read(self, at: usize) -> Vec<f32> {
        let half = self.dims / 2;
        let codes = self.codes.get(at * half..(at + 1) * half).unwrap_or_default();
        let scale = self.scales.as_chunks().0.get(at).copied().map_or(0.0, f32::from_le_bytes);
        let number = |code: u8| scale * (f32::from(code) - 8.0);
        let (low, high) =
            (codes.iter().map(|x| number(x & 15)), codes.iter().map(|x| number(x >> 4)));
        low.chain(high).collect()
    }
}

/// The product of codes with both halves of a vector. Vectors are short enough that it fits.
fn product(codes: &[u8], low: &[i16], high: &[i16]) -> i32 {
    let halves = codes.iter().zip(low).zip(high).map(|((code, low), high)| {
        i32::from(code & 15) * i32::from(*low) + i32::from(code >> 4) * i32::from(*high)
    });
    halves.sum()
}

/// Keeps the `count` elements with the highest values, in an order that is always the same.
fn highest<T>(all: &mut Vec<T>, count: usize, value: impl Fn(&T) -> f32) {
    if all.len() > count && count > 0 {
        all.select_nth_unstable_by(count - 1, |a, b| value(b).total_cmp(&value(a)));
        all.truncate(count);
    }
    all.sort_by(|a, b| value(b).total_cmp(&value(a)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::query_map::QueryMap;
    use foreword_embed::{Embedder as _, StaticEmbedder};

    /// Vectors of 32 numbers with a code each; the rest is zero.
    fn bytes(requests: &[(usize, u8)], tools: &[(usize, u8)]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for number in [VERSION, 32, requests.len() as u32] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend([0xAB; 8]);
        for rows in [requests, tools] {
            rows.iter().for_each(|(_, code)| {
                bytes.extend((1.0 / (f32::from(*code) - 8.0)).to_le_bytes());
            });
            for (place, code) in rows {
                let mut row = [0x88_u8; 16];
                let (byte, shift) = (place % 16, place / 16 * 4);
                row[byte] = row[byte] & !(15 << shift) | code << shift;
                bytes.extend(row);
            }
        }
        bytes
    }

    fn axis(place: usize) -> Vec<f32> {
        let mut vector = vec![0.0; 32];
        vector[place] = 1.0;
        vector
    }

    #[test]
    fn the_exemplars_in_the_program_are_for_the_table_in_the_program() {
        let table = StaticEmbedder::embedded().unwrap();
        let exemplars = Exemplars::embedded().unwrap();
        assert!(exemplars.is_for(table.id()));
        for rows in [exemplars.requests, exemplars.tools] {
            let count = rows.scales.len() / 4;
            let vector = rows.read(count / 2);
            assert!((dot(&vector, &vector) - 1.0).abs() < 1e-4);
            let product = rows.products(&vector).nth(count / 2).unwrap();
            assert!((product - 1.0).abs() < 1e-4, "{product}");
            assert_eq!(rows.products(&vector).count(), count);
        }
    }

    #[test]
    fn a_pool_with_the_tool_of_a_similar_request_covers_a_query() {
        // Requests along 0 and 20 need tools along 1 and 21.
        let bytes = bytes(&[(0, 15), (20, 12)], &[(1, 15), (21, 9)]).leak();
        let exemplars = Exemplars::new(bytes).unwrap();
        let (first, second) = (axis(1), axis(21));
        let say =
            |query: usize, items: &[&[f32]]| exemplars.evidence(&axis(query), &axis(query), items);
        assert!((say(20, &[&first, &second]).covered - 1.0).abs() < 1e-3);
        assert!(say(20, &[&first]).covered < 1e-3, "it needs what the pool does not have");
        assert_eq!(say(20, &[]).covered, 0.0);
        // The mean of both tools, of which one is the query.
        assert!((say(21, &[&first]).elsewhere - 0.5).abs() < 1e-6);
    }

    #[test]
    fn an_unrelated_query_is_covered_less_by_real_exemplars() {
        let (table, map) = (StaticEmbedder::embedded().unwrap(), QueryMap::embedded().unwrap());
        let exemplars = Exemplars::embedded().unwrap();
        let items = table.embed(&["set_alarm: Sets an alarm", "play_music: Plays a song"]).unwrap();
        let items: Vec<&[f32]> = items.iter().map(|item| item.values()).collect();
        let say = |text: &str| {
            let query = table.embed(&[text]).unwrap().remove(0);
            exemplars.evidence(query.values(), &map.apply(&query, 0.0).table, &items)
        };
        let (inside, outside) = (say("wake me up at seven"), say("what is my account balance"));
        assert!(inside.covered > outside.covered + 0.2, "{inside:?} {outside:?}");
    }

    #[test]
    fn damaged_bytes_are_named() {
        let good = bytes(&[(0, 15)], &[(1, 15)]);
        let message = |bytes: Vec<u8>| Exemplars::new(bytes.leak()).unwrap_err().to_string();
        for end in 0..good.len() {
            assert!(message(good[..end].to_vec()).contains("damaged"), "cut at {end}");
        }
        let changed = |at: usize, to: &[u8]| {
            let mut bytes = good.clone();
            bytes[at..at + to.len()].copy_from_slice(to);
            message(bytes)
        };
        assert!(changed(8, &[9]).contains("have version 9, this program reads version 1"));
        assert!(changed(12, &33_u32.to_le_bytes()).contains("their size makes no sense"));
        assert!(changed(28, &f32::NAN.to_le_bytes()).contains("a scale is not a number"));
        assert!(message([&good[..], &[0]].concat()).contains("cut off"));
    }
}
