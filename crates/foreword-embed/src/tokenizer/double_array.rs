//! A double-array trie in the layout of darts-clone, read in place.
//!
//! A unit is a little-endian `u32`: bits 0 to 7 a label, bit 8 "a value hangs below", bit 9 "the
//! offset is shifted by 8", bits 10 to 30 an offset; a unit with bit 31 set is a value. The child
//! of a node for a byte lies at `position ^ offset ^ byte`, its value at the child with label 0.
//! SentencePiece's normaliser comes in this layout, and our pieces are written in it too.

const LABEL: u32 = 0x8000_00FF;
const HAS_VALUE: u32 = 0x100;
const VALUE: u32 = 0x7FFF_FFFF;

/// A trie over borrowed bytes. Any bytes are allowed: a walk over invalid ones ends early.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DoubleArray<'a> {
    units: &'a [[u8; 4]],
}

impl<'a> DoubleArray<'a> {
    /// Reads `bytes` as units and ignores an incomplete last unit.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { units: bytes.as_chunks().0 }
    }

    fn unit(self, position: u32) -> Option<u32> {
        self.units.get(position as usize).map(|unit| u32::from_le_bytes(*unit))
    }

    /// Every key that is a prefix of `text`, shortest first, as its length and value.
    pub(crate) fn prefixes(self, text: &'a [u8]) -> impl Iterator<Item = (usize, u32)> + 'a {
        let mut position = self.unit(0).map(offset);
        let mut rest = text.iter().enumerate();
        std::iter::from_fn(move || {
            loop {
                let (index, byte) = rest.next()?;
                let node = position? ^ u32::from(*byte);
                let unit = self.unit(node).filter(|unit| unit & LABEL == u32::from(*byte));
                position = unit.map(|unit| node ^ offset(unit));
                if unit? & HAS_VALUE != 0 {
                    return Some((index + 1, self.unit(position?)? & VALUE));
                }
            }
        })
    }
}

fn offset(unit: u32) -> u32 {
    (unit >> 10) << ((unit & 0x200) >> 6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenizer::double_array_build::build;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn every_prefix_is_found() {
        let keys = BTreeMap::from([(&b"a"[..], 7), (b"abc", 8), (b"b", 9), ("é".as_bytes(), 10)]);
        let units = build(&keys).unwrap();
        let trie = DoubleArray::new(&units);
        let found = |text: &'static str| trie.prefixes(text.as_bytes()).collect::<Vec<_>>();
        assert_eq!(found("abcd"), [(1, 7), (3, 8)]);
        assert_eq!(found("éa"), [(2, 10)]);
        assert_eq!(found("x"), []);
        assert_eq!(found(""), []);
    }

    proptest! {
        #[test]
        fn what_was_put_in_comes_out(words in prop::collection::btree_set("[a-d\u{e0}-\u{e4}]{1,6}", 0..60), text in "[a-d\u{e0}-\u{e4}]{0,12}") {
            let keys: BTreeMap<&[u8], u32> = words.iter().map(|w| w.as_bytes()).zip(0..).collect();
            let units = build(&keys).unwrap();
            let trie = DoubleArray::new(&units);
            let expected: Vec<_> = (1..=text.len())
                .filter_map(|end| keys.get(&text.as_bytes()[..end]).map(|value| (end, *value)))
                .collect();
            prop_assert_eq!(trie.prefixes(text.as_bytes()).collect::<Vec<_>>(), expected);
        }

        #[test]
        fn nonsense_never_panics(units: Vec<u8>, text: Vec<u8>) {
            let walked = DoubleArray::new(&units).prefixes(&text).count();
            prop_assert!(walked <= text.len());
        }
    }
}
