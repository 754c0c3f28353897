//! Turns a query's vector towards the tools that answer such queries.
//!
//! The table places texts of one meaning together, but a request ("is the front door open") and the
//! description of a tool that serves it ("Gets or checks the state of an entity") do not mean the same. The map adds
//! to a query `D` times the query, a symmetric matrix learned from pairs of request and tool; items and the
//! table stay as they are. `tools/model/query_map.py` trains it; docs/evaluation.md says what it does for
//! sets and languages that the training did not see.
//!
//! A vector of the full model ends with the table's. The map turns that part, and gives it all of the weight for a
//! query whose words no item has: such a query is in another language, where the table is better than the model.
//!
//! ```text
//! 8 bytes of magic, u32 version, u32 dims, the first 8 bytes of the table's hash, f32 scale,
//! then dims * dims values of one signed byte, column after column: D = scale * value
//! ```

use foreword_embed::{EmbedderId, Vector, dot, normalise};

const MAGIC: [u8; 8] = *b"FWQRYMAP";
const VERSION: u32 = 1;

/// The matrix, read in place.
#[derive(Debug, Clone)]
pub(crate) struct QueryMap {
    /// Whose vectors it was trained on.
    table: EmbedderId,
    scale: f32,
    values: &'static [u8],
}

/// Why bytes are not a map.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum QueryMapError {
    #[error("the query map is damaged: {what}; train it again with tools/model/query_map.py")]
    Damaged { what: &'static str },
    #[error(
        "the query map has version {found}, this program reads version {VERSION}; \
         train it again with tools/model/query_map.py"
    )]
    Version { found: u32 },
}

impl QueryMap {
    /// The map that is part of this program.
    pub(crate) fn embedded() -> Result<Self, QueryMapError> {
        Self::new(include_bytes!("query_map.bin"))
    }

    fn new(bytes: &'static [u8]) -> Result<Self, QueryMapError> {
        let damaged = |what| QueryMapError::Damaged { what };
        let cut = || damaged("it is cut off");
        let rest = bytes.strip_prefix(&MAGIC).ok_or(damaged("it does not start like one"))?;
        let (version, rest) = rest.split_first_chunk().ok_or_else(cut)?;
        let version = u32::from_le_bytes(*version);
        if version != VERSION {
            return Err(QueryMapError::Version { found: version });
        }
        let (dims, rest) = rest.split_first_chunk().ok_or_else(cut)?;
        let (table, rest) = rest.split_first_chunk::<8>().ok_or_else(cut)?;
        let (scale, values) = rest.split_first_chunk().ok_or_else(cut)?;
        let (dims, scale) = (u32::from_le_bytes(*dims) as usize, f32::from_le_bytes(*scale));
        if dims == 0 || dims.checked_mul(dims) != Some(values.len()) {
            return Err(damaged("its size does not match its dimensions"));
        }
        if !scale.is_finite() {
            return Err(damaged("its scale is not a number"));
        }
        let table: String = table.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { table: EmbedderId::new("static", table, dims), scale, values })
    }

    /// Whether the vectors of this embedder are those that it was trained on, or end with them.
    pub(crate) fn is_for(&self, id: &EmbedderId) -> bool {
        holds_table(id, &self.table)
    }

    /// The query as [`crate::VectorIndex::products`] compares it with items. `known` is how far the items have
    /// its words.
    pub(crate) fn apply(&self, query: &Vector, known: f32) -> Mapped {
        let (model, table) = query.values().split_at(query.values().len() - self.table.dims);
        // Column by column the sums do not depend on each other, so they run side by side, and in the same
        // order on every machine.
        let mut added = vec![0.0_f32; self.table.dims];
        for (x, column) in table.iter().zip(self.values.chunks_exact(self.table.dims)) {
            for (sum, value) in added.iter_mut().zip(column) {
                *sum += x * f32::from(value.cast_signed());
            }
        }
        let mapped = table.iter().zip(added).map(|(x, added)| x + self.scale * added);
        let mut mapped: Vec<f32> = mapped.collect();
        normalise(&mut mapped);
        // The squares of both lengths are the weights of both parts, together one.
        let (model_share, table_share) = (dot(model, model), dot(table, table));
        let weight = if model.is_empty() || table_share <= 0.0 {
            1.0
        } else {
            (1.0 - known * model_share) / table_share.sqrt()
        };
        let numbers = model.iter().map(|x| known * x).chain(mapped.iter().map(|x| weight * x));
        Mapped { numbers: numbers.collect(), table: mapped }
    }
}

/// A mapped query.
#[derive(Debug)]
pub(crate) struct Mapped {
    /// What to compare with whole vectors.
    pub(crate) numbers: Vec<f32>,
    /// The part of the table alone, of length one.
    pub(crate) table: Vec<f32>,
}

/// Whether vectors of an embedder are those of a table, or end with them.
pub(crate) fn holds_table(id: &EmbedderId, table: &EmbedderId) -> bool {
    let is_combined = || {
        let version = id.version.rsplit_once('+').map(|(_, version)| version);
        id.name == "use" && version == Some(&table.version) && id.dims > table.dims
    };
    id == table || is_combined()
}

#[cfg(test)]
mod tests {
    use super::*;
    use foreword_embed::{Embedder as _, StaticEmbedder};
    use std::sync::Arc;

    fn bytes(dims: u32, scale: f32, values: &[i8]) -> &'static [u8] {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(dims.to_le_bytes());
        bytes.extend([0xAB; 8]);
        bytes.extend(scale.to_le_bytes());
        bytes.extend(values.iter().map(|x| x.cast_unsigned()));
        bytes.leak()
    }

    #[test]
    fn the_map_in_the_program_is_for_the_table_in_the_program() {
        let table = StaticEmbedder::embedded().unwrap();
        assert!(QueryMap::embedded().unwrap().is_for(table.id()));
    }

    #[test]
    fn a_query_is_turned_and_keeps_its_length() {
        // D = 0.5 * [[0, -2], [2, 0]], in columns.
        let map = QueryMap::new(bytes(2, 0.5, &[0, 2, -2, 0])).unwrap();
        let id = Arc::new(EmbedderId::new("static", "ab".repeat(8), 2));
        assert!(map.is_for(&id));
        let turned = |x: f32, y: f32| {
            let query = Vector::new(Arc::clone(&id), vec![x, y]).unwrap();
            let mapped = map.apply(&query, 0.0);
            assert_eq!(mapped.numbers, mapped.table);
            mapped.table
        };
        let half = 0.5_f32.sqrt();
        for (query, expected) in [((1.0, 0.0), [half, half]), ((0.0, 1.0), [-half, half])] {
            let found = turned(query.0, query.1);
            for (x, y) in found.iter().zip(expected) {
                assert!((x - y).abs() < 1e-6, "{query:?}: {found:?}");
            }
        }
        assert_eq!(turned(0.0, 0.0), [0.0, 0.0]);
        for other in [EmbedderId::new("use", "ab".repeat(8), 2), EmbedderId::new("static", "1", 2)]
        {
            assert!(!map.is_for(&other), "{other}");
        }
    }

    /// Two numbers of a model with a share of 0.36, and two of the table.
    #[test]
    fn the_model_counts_as_far_as_words_are_known() {
        let map = QueryMap::new(bytes(2, 0.5, &[0, 2, -2, 0])).unwrap();
        let id = Arc::new(EmbedderId::new("use", format!("0+{}", "ab".repeat(8)), 4));
        assert!(map.is_for(&id));
        let vector = |values: [f32; 4]| Vector::new(Arc::clone(&id), values.to_vec()).unwrap();
        let (query, item) = (vector([0.6, 0.0, 0.8, 0.0]), vector([0.6, 0.0, 0.0, 0.8]));
        let score = |known: f32| dot(&map.apply(&query, known).numbers, item.values());
        // The model says 1; the turned table says the cosine of 45 degrees.
        let half = 0.5_f32.sqrt();
        for (known, expected) in [(0.0, half), (1.0, 0.36 + 0.64 * half), (0.5, 0.18 + 0.82 * half)]
        {
            assert!((score(known) - expected).abs() < 1e-6, "{known}: {}", score(known));
        }
    }

    #[test]
    fn damaged_bytes_are_named() {
        let good = bytes(2, 0.5, &[0; 4]);
        let message = |bytes| QueryMap::new(bytes).unwrap_err().to_string();
        for end in 0..good.len() {
            assert!(message(&good[..end]).contains("damaged"), "cut at {end}");
        }
        assert!(message(bytes(2, f32::NAN, &[0; 4])).contains("its scale is not a number"));
        assert!(message(bytes(3, 0.5, &[0; 4])).contains("its size does not match"));
        let mut other = good.to_vec();
        other[8] = 9;
        assert!(message(other.leak()).contains("has version 9, this program reads version 1"));
    }
}
