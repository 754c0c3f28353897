//! Numbers and texts one after another in bytes, written and read back with every length checked.
//!
//! ```text
//! 8 bytes of magic, u32 version, then fields: u32, or u32 count and that many values
//! ```
//!
//! All numbers are little-endian. There is no hash: the caller stores one with the bytes.

/// Why stored bytes are not an index.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// The bytes are cut off, changed, or something else.
    #[error("the index is damaged: {what}; index again")]
    Damaged { what: &'static str },
    /// The bytes were written by another version of this program.
    #[error("the index has version {found}, this program reads version {known}; index again")]
    Version {
        /// The version of the bytes.
        found: u32,
        /// The version that can be read.
        known: u32,
    },
    /// Two parts are not of the same items.
    #[error(
        "the index covers {expected} items in one part and {found} in another; run `foreword index`"
    )]
    Items {
        /// The items of the first part.
        expected: usize,
        /// The items of the other.
        found: usize,
    },
}

impl IndexError {
    pub(crate) fn damaged(what: &'static str) -> Self {
        Self::Damaged { what }
    }
}

/// Writes fields one after another.
pub(crate) struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    pub(crate) fn new(magic: [u8; 8], version: u32) -> Self {
        let mut writer = Self { bytes: magic.to_vec() };
        writer.number(version);
        writer
    }

    pub(crate) fn number(&mut self, number: u32) {
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    fn count(&mut self, count: usize) {
        // No index holds four thousand million of anything: items and terms are numbered in u32.
        self.number(u32::try_from(count).unwrap_or(u32::MAX));
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.count(text.len());
        self.bytes.extend_from_slice(text.as_bytes());
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn numbers(&mut self, numbers: &[u32]) {
        self.count(numbers.len());
        self.bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    }

    pub(crate) fn floats(&mut self, numbers: &[f32]) {
        self.count(numbers.len());
        self.bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    }

    pub(crate) fn words(&mut self, words: &[u64]) {
        self.count(words.len());
        self.bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }

    pub(crate) fn pairs(&mut self, pairs: &[(u32, f32)]) {
        self.count(pairs.len());
        self.bytes.reserve(pairs.len() * 8);
        for (number, weight) in pairs {
            let pair = u64::from(*number) | u64::from(weight.to_bits()) << 32;
            self.bytes.extend_from_slice(&pair.to_le_bytes());
        }
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// Reads fields in the order in which they were written.
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8], magic: [u8; 8], version: u32) -> Result<Self, IndexError> {
        let rest = bytes.strip_prefix(&magic[..]);
        let mut reader =
            Self { rest: rest.ok_or(IndexError::damaged("it does not start like one"))? };
        match reader.number()? {
            found if found == version => Ok(reader),
            found => Err(IndexError::Version { found, known: version }),
        }
    }

    pub(crate) fn number(&mut self) -> Result<u32, IndexError> {
        let (number, rest) =
            self.rest.split_first_chunk().ok_or(IndexError::damaged("it is cut off"))?;
        self.rest = rest;
        Ok(u32::from_le_bytes(*number))
    }

    /// The bytes of a field whose values have this size.
    fn field(&mut self, size: usize) -> Result<&'a [u8], IndexError> {
        let length = (self.number()? as usize).checked_mul(size);
        let split = length.and_then(|length| self.rest.split_at_checked(length));
        let (field, rest) = split.ok_or(IndexError::damaged("it is cut off"))?;
        self.rest = rest;
        Ok(field)
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, IndexError> {
        std::str::from_utf8(self.field(1)?).map_err(|_| IndexError::damaged("a text is not UTF-8"))
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], IndexError> {
        self.field(1)
    }

    pub(crate) fn numbers(&mut self) -> Result<Vec<u32>, IndexError> {
        Ok(self.field(4)?.as_chunks().0.iter().map(|x| u32::from_le_bytes(*x)).collect())
    }

    pub(crate) fn floats(&mut self) -> Result<Vec<f32>, IndexError> {
        Ok(self.field(4)?.as_chunks().0.iter().map(|x| f32::from_le_bytes(*x)).collect())
    }

    pub(crate) fn words(&mut self) -> Result<Vec<u64>, IndexError> {
        Ok(self.field(8)?.as_chunks().0.iter().map(|x| u64::from_le_bytes(*x)).collect())
    }

    pub(crate) fn pairs(&mut self) -> Result<Vec<(u32, f32)>, IndexError> {
        let pair = |bytes: &[u8; 8]| {
            let pair = u64::from_le_bytes(*bytes);
            (pair as u32, f32::from_bits((pair >> 32) as u32))
        };
        Ok(self.field(8)?.as_chunks().0.iter().map(pair).collect())
    }

    /// Refuses what follows the last field.
    pub(crate) fn finish(self) -> Result<(), IndexError> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(IndexError::damaged("something follows its end"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAGIC: [u8; 8] = *b"FWTEST01";

    #[test]
    fn fields_come_back_and_lengths_are_checked() {
        let mut writer = Writer::new(MAGIC, 3);
        writer.number(7);
        writer.text("añb");
        writer.numbers(&[1, u32::MAX]);
        writer.words(&[u64::MAX]);
        writer.pairs(&[(5, -1.5)]);
        writer.floats(&[0.25]);
        writer.bytes(&[9]);
        let bytes = writer.finish();
        let read = |bytes: &[u8]| -> Result<(), IndexError> {
            let mut reader = Reader::new(bytes, MAGIC, 3)?;
            assert_eq!(reader.number()?, 7);
            assert_eq!(reader.text()?, "añb");
            assert_eq!(reader.numbers()?, [1, u32::MAX]);
            assert_eq!(reader.words()?, [u64::MAX]);
            assert_eq!(reader.pairs()?, [(5, -1.5)]);
            assert_eq!(reader.floats()?, [0.25]);
            assert_eq!(reader.bytes()?, [9]);
            reader.finish()
        };
        assert_eq!(read(&bytes), Ok(()));
        for end in 0..bytes.len() {
            assert!(read(&bytes[..end]).is_err(), "cut at {end}");
        }
        assert!(read(&[&bytes[..], &[0]].concat()).is_err());
        let version = Reader::new(&bytes, MAGIC, 2).err();
        assert_eq!(version, Some(IndexError::Version { found: 3, known: 2 }));
    }
}
