//! The links of the audit chain: what is hashed, and with which key.

use std::fmt;
use std::str::FromStr;

use crate::audit::key::AuditKey;
use crate::error::StoreError;

/// A keyed hash: one link of the chain.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hash(pub [u8; 32]);

/// The random name of a log, by which a fresh one in its place is told apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LogId(pub [u8; 16]);

/// The end of a log at some moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Which log.
    pub log_id: LogId,
    /// The number of its last entry; 0 when it has none.
    pub seq: i64,
    /// The hash of that entry.
    pub hash: Hash,
}

/// A head that was written down elsewhere, such as in a commit of the skill repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// Which log, where that was written down too.
    pub log_id: Option<LogId>,
    /// The number of the entry.
    pub seq: i64,
    /// Its hash.
    pub hash: Hash,
    /// Where it was found, for the report: `commit 4f0c…`.
    pub place: String,
}

/// Not the hexadecimal digits of a hash or a log id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not {} hexadecimal digits", .0)]
pub struct BadHex(usize);

pub(crate) fn to_hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

pub(crate) fn from_hex<const N: usize>(text: &str) -> Result<[u8; N], BadHex> {
    let mut bytes = [0; N];
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return Err(BadHex(2 * N));
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        for digit in pair {
            let value = match digit {
                b'0'..=b'9' => digit - b'0',
                b'a'..=b'f' => digit - b'a' + 10,
                b'A'..=b'F' => digit - b'A' + 10,
                _ => return Err(BadHex(2 * N)),
            };
            *byte = *byte << 4 | value;
        }
    }
    Ok(bytes)
}

macro_rules! shown_as_hex {
    ($name:ident) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                to_hex(&self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                to_hex(&self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = BadHex;

            fn from_str(text: &str) -> Result<Self, BadHex> {
                from_hex(text).map(Self)
            }
        }
    };
}

shown_as_hex!(Hash);
shown_as_hex!(LogId);

impl LogId {
    pub(crate) fn random() -> Result<Self, StoreError> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)
            .map_err(|error| StoreError::Random { detail: error.to_string() })?;
        Ok(Self(bytes))
    }
}

/// The fields of an entry as bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields<'a> {
    pub(crate) seq: i64,
    pub(crate) at: i64,
    /// Actor, action, subject, outcome, detail.
    pub(crate) texts: [&'a [u8]; 5],
}

/// Computes links; keeps one buffer for all of them.
#[derive(Debug)]
pub(crate) struct Linker<'k> {
    key: &'k AuditKey,
    buffer: Vec<u8>,
}

impl<'k> Linker<'k> {
    pub(crate) fn new(key: &'k AuditKey) -> Self {
        Self { key, buffer: Vec::with_capacity(1024) }
    }

    /// The link before the first entry.
    pub(crate) fn genesis(&self, log_id: LogId) -> Hash {
        self.key.check_hash(b"genesis", &log_id.0)
    }

    /// The value by which a wrong key is told apart from an altered log.
    pub(crate) fn key_check(&self, log_id: LogId) -> Hash {
        self.key.check_hash(b"key check", &log_id.0)
    }

    /// The link of an entry: over the link before it and every field, each with its length.
    pub(crate) fn link(&mut self, previous: &Hash, fields: &Fields<'_>) -> Hash {
        self.buffer.clear();
        self.buffer.extend_from_slice(&previous.0);
        self.buffer.extend_from_slice(&fields.seq.to_le_bytes());
        self.buffer.extend_from_slice(&fields.at.to_le_bytes());
        for text in fields.texts {
            let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
            self.buffer.extend_from_slice(&length.to_le_bytes());
            self.buffer.extend_from_slice(text);
        }
        self.key.entry_hash(&self.buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_moved_from_one_field_to_the_next_changes_the_link() {
        let key = AuditKey::from_bytes([7; 32]);
        let mut linker = Linker::new(&key);
        let previous = Hash([0; 32]);
        let fields = |texts| Fields { seq: 1, at: 2, texts };
        let one = linker.link(&previous, &fields([b"ab", b"c", b"", b"", b""]));
        let other = linker.link(&previous, &fields([b"a", b"bc", b"", b"", b""]));
        assert_ne!(one, other);
    }

    #[test]
    fn hexadecimal_digits_are_read_back() {
        let id = LogId([0x0f, 0xa0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 255]);
        assert_eq!(id.to_string().parse(), Ok(id));
        assert!("0fa".parse::<LogId>().is_err());
        assert!("zz000000000000000000000000000000".parse::<LogId>().is_err());
    }
}
