//! Just enough of ZIP and NPY to read the full model from its Python package.

use miniz_oxide::inflate::decompress_to_vec_with_limit;

/// Why an archive cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// It is not an archive, or cut off.
    Archive,
    /// It has no entry of the name.
    Missing,
    /// The entry does not unpack to its declared size.
    Entry,
}

/// An archive in memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Archive<'a> {
    bytes: &'a [u8],
    directory: &'a [u8],
}

impl<'a> Archive<'a> {
    /// Finds the directory, which precedes the last record.
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self, Unreadable> {
        const RECORD: usize = 22;
        let last = bytes.len().checked_sub(RECORD).ok_or(Unreadable::Archive)?;
        let tail = bytes.get(last.saturating_sub(0xFFFF)..).unwrap_or_default();
        let record = tail.windows(RECORD).rev().find(|window| window.starts_with(b"PK\x05\x06"));
        let record = record.ok_or(Unreadable::Archive)?;
        let (size, start) = (number::<4>(record, 12), number::<4>(record, 16));
        let (Some(size), Some(start)) = (size, start) else { return Err(Unreadable::Archive) };
        let directory = bytes.get(start..start.saturating_add(size)).ok_or(Unreadable::Archive)?;
        Ok(Self { bytes, directory })
    }

    /// Unpacks an entry of at most `limit` bytes.
    pub(crate) fn read(&self, name: &str, limit: usize) -> Result<Vec<u8>, Unreadable> {
        let mut rest = self.directory;
        while rest.starts_with(b"PK\x01\x02") {
            let field = |at| number::<2>(rest, at).ok_or(Unreadable::Archive);
            let long = |at| number::<4>(rest, at).ok_or(Unreadable::Archive);
            let (method, name_length) = (field(10)?, field(28)?);
            let (packed, unpacked, start) = (long(20)?, long(24)?, long(42)?);
            if rest.get(46..46 + name_length) == Some(name.as_bytes()) {
                return self.unpack(start, packed, method, unpacked, limit);
            }
            rest = rest.get(46 + name_length + field(30)? + field(32)?..).unwrap_or_default();
        }
        Err(Unreadable::Missing)
    }

    fn unpack(
        &self,
        start: usize,
        packed: usize,
        method: usize,
        unpacked: usize,
        limit: usize,
    ) -> Result<Vec<u8>, Unreadable> {
        let entry = self.bytes.get(start..).ok_or(Unreadable::Entry)?;
        let field = |at| number::<2>(entry, at).ok_or(Unreadable::Entry);
        let data = 30 + field(26)? + field(28)?;
        let data = entry.get(data..data.saturating_add(packed)).ok_or(Unreadable::Entry)?;
        let content = match method {
            0 => data.to_vec(),
            8 => decompress_to_vec_with_limit(data, limit).map_err(|_| Unreadable::Entry)?,
            _ => return Err(Unreadable::Entry),
        };
        if content.len() == unpacked && unpacked <= limit {
            Ok(content)
        } else {
            Err(Unreadable::Entry)
        }
    }
}

/// A little-endian number of `N` bytes.
fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..)?.first_chunk::<N>()?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
}

/// The type and the data of an NPY file of version 1: `("<f4", bytes)`.
pub(crate) fn array(npy: &[u8]) -> Option<(&str, &[u8])> {
    let rest = npy.strip_prefix(b"\x93NUMPY\x01\x00")?;
    let length = number::<2>(rest, 0)?;
    let header = std::str::from_utf8(rest.get(2..2 + length)?).ok()?;
    let kind = header.split_once("'descr': '")?.1.split_once('\'')?.0;
    header.contains("'fortran_order': False").then_some((kind, rest.get(2 + length..)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An archive of one packed entry, without checksums.
    pub(crate) fn archive(name: &str, content: &[u8]) -> Vec<u8> {
        let packed = miniz_oxide::deflate::compress_to_vec(content, 6);
        let long = |x: usize| (x as u32).to_le_bytes();
        let short = |x: usize| (x as u16).to_le_bytes();
        let sizes = [[0; 4], long(packed.len()), long(content.len())].concat();
        let mut bytes = [&b"PK\x03\x04\x14\0\0\0\x08\0\0\0\0\0"[..], &sizes].concat();
        bytes.extend([short(name.len()), short(0)].concat());
        bytes.extend(name.as_bytes());
        bytes.extend(&packed);
        let start = bytes.len();
        bytes.extend(b"PK\x01\x02\x14\0\x14\0\0\0\x08\0\0\0\0\0");
        bytes.extend(&sizes);
        bytes.extend([short(name.len()), short(0), short(0), short(0), short(0)].concat());
        bytes.extend([long(0), long(0)].concat());
        bytes.extend(name.as_bytes());
        let size = bytes.len() - start;
        bytes.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
        bytes.extend([&long(size)[..], &long(start), &short(0)].concat());
        bytes
    }

    #[test]
    fn an_entry_comes_out_as_it_went_in() {
        let content = b"abc".repeat(1000);
        let bytes = archive("a/b.txt", &content);
        let archive = Archive::new(&bytes).unwrap();
        assert_eq!(archive.read("a/b.txt", 3000), Ok(content));
        assert_eq!(archive.read("a/b.txt", 2999), Err(Unreadable::Entry), "no more than the limit");
        assert_eq!(archive.read("a/c.txt", 3000), Err(Unreadable::Missing));
        assert_eq!(Archive::new(&bytes[..40]).err(), Some(Unreadable::Archive));
    }

    #[test]
    fn arrays_are_read() {
        let mut npy = b"\x93NUMPY\x01\x00".to_vec();
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n";
        npy.extend((header.len() as u16).to_le_bytes());
        npy.extend(header.as_bytes());
        npy.extend(1.5_f32.to_le_bytes());
        assert_eq!(array(&npy), Some(("<f4", &1.5_f32.to_le_bytes()[..])));
        assert_eq!(array(b"\x93NUMPY"), None);
    }

    proptest! {
        #[test]
        fn damage_never_panics(changes in prop::collection::vec((0_usize..400, any::<u8>()), 0..10)) {
            let mut bytes = archive("x", b"some content that is packed");
            for (at, byte) in changes {
                let at = at % bytes.len();
                bytes[at] = byte;
            }
            if let Ok(archive) = Archive::new(&bytes) {
                let _ = archive.read("x", 1000);
            }
            let _ = array(&bytes);
        }
    }
}
