//! The index of a workspace as a file: vectors by the content they stand for, and word indexes by the
//! set of items they cover.
//!
//! A file is used only whole: its hash is checked when it is read. What does not match is as good as no
//! index, and says so; it is never half believed.
//!
//! ```text
//! "FWINDEX\0"  version u32  zero u32  blake3 of the body, 32 bytes
//! body: name, version (u32 length, bytes each)  dims u32
//!       count u32  count × 16 bytes of content hash  count × dims × f32
//!       sets u32   sets × (32 bytes of set hash, places: u32 count, u32 each,
//!                          background: u32 count, f32 each, words, names: u32 length, bytes each)
//! ```
//! All numbers are little-endian.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use foreword_workspace::{WorkspaceError, read_state};
use std::sync::Arc;

use foreword_embed::{EmbedderId, Vector};
use thiserror::Error;

const MAGIC: &[u8; 8] = b"FWINDEX\0";
const VERSION: u32 = 1;
const HEAD: usize = 48;
/// No index is larger: 50,000 tools take a tenth of it.
const MAX_INDEX_BYTES: u64 = 1 << 30;

/// The first half of the hash of a text.
pub(crate) type ContentHash = [u8; 16];

/// The hash of a text that was embedded.
pub(crate) fn content_hash(text: &str) -> ContentHash {
    let hash = blake3::hash(text.as_bytes());
    let mut half = [0; 16];
    half.iter_mut().zip(hash.as_bytes()).for_each(|(to, from)| *to = *from);
    half
}

/// Vectors and word indexes of a workspace.
#[derive(Debug, Clone)]
pub(crate) struct IndexFile {
    pub(crate) id: Arc<EmbedderId>,
    places: HashMap<ContentHash, u32>,
    values: Vec<f32>,
    sets: Vec<WordSet>,
}

/// The word and name indexes of a set of items, as bytes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WordSet {
    /// The hash of the items in their order.
    pub(crate) hash: [u8; 32],
    /// Where the vectors of the set's texts lie, in their order.
    pub(crate) places: Vec<u32>,
    /// How close each item is to everything, and last how close the closest is by chance.
    pub(crate) background: Vec<f32>,
    pub(crate) words: Vec<u8>,
    pub(crate) names: Vec<u8>,
}

/// Why an index cannot be used.
#[derive(Debug, Error)]
pub enum IndexError {
    /// The file cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// The file is not what it was when it was written.
    #[error("{path}: the index is damaged: {what}")]
    Damaged {
        /// The file.
        path: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A newer version of this program wrote it.
    #[error("{path}: the index has version {found}, this program reads version {VERSION}")]
    Newer {
        /// The file.
        path: String,
        /// The version of the file.
        found: u32,
    },
}

impl IndexFile {
    pub(crate) fn new(id: Arc<EmbedderId>) -> Self {
        Self { id, places: HashMap::new(), values: Vec::new(), sets: Vec::new() }
    }

    /// The vector of a content.
    pub(crate) fn vector(&self, hash: &ContentHash) -> Option<Vector> {
        self.at(self.place(hash)?)
    }

    /// Where the vector of a content lies.
    pub(crate) fn place(&self, hash: &ContentHash) -> Option<u32> {
        self.places.get(hash).copied()
    }

    /// The vector at a place.
    pub(crate) fn at(&self, place: u32) -> Option<Vector> {
        let start = (place as usize).checked_mul(self.id.dims)?;
        let values = self.values.get(start..start + self.id.dims)?;
        Vector::new(Arc::clone(&self.id), values.to_vec()).ok()
    }

    pub(crate) fn has(&self, hash: &ContentHash) -> bool {
        self.places.contains_key(hash)
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Keeps a vector; whether it was new.
    pub(crate) fn insert(&mut self, hash: ContentHash, vector: &Vector) -> bool {
        if **vector.id() != *self.id || self.has(&hash) {
            return false;
        }
        let Ok(place) = u32::try_from(self.places.len()) else { return false };
        self.places.insert(hash, place);
        self.values.extend_from_slice(vector.values());
        true
    }

    /// The word index of a set of items.
    pub(crate) fn set(&self, hash: &[u8; 32]) -> Option<&WordSet> {
        self.sets.iter().find(|set| set.hash == *hash)
    }

    /// Keeps the word index of a set of items.
    pub(crate) fn add_set(&mut self, set: WordSet) {
        self.sets.push(set);
    }

    /// Reads a file; nothing if there is none.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, IndexError> {
        let bytes = match read_state(path, MAX_INDEX_BYTES) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Ok(None),
            Err(WorkspaceError::Io { path, source }) => {
                return Err(IndexError::Io { path, source });
            }
            Err(error) => {
                let (path, source) = (path.display().to_string(), io::Error::other(error));
                return Err(IndexError::Io { path, source });
            }
        };
        Self::parse(&bytes).map(Some).map_err(|fault| match fault {
            Fault::Newer(found) => IndexError::Newer { path: path.display().to_string(), found },
            Fault::Damaged(what) => IndexError::Damaged { path: path.display().to_string(), what },
        })
    }

    /// Writes the file beside its place and then into it: whoever reads sees the old index or the new one,
    /// and a full disk loses nothing.
    pub(crate) fn write(&self, path: &Path) -> Result<(), IndexError> {
        let io = |source| IndexError::Io { path: path.display().to_string(), source };
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}.new", std::process::id()));
        let beside = Path::new(&name);
        let write = || {
            let mut file = File::create(beside)?;
            file.write_all(&self.to_bytes())?;
            file.sync_all()?;
            fs::rename(beside, path)
        };
        write().map_err(|error| {
            // Nothing is lost if this fails too.
            let _ = fs::remove_file(beside);
            io(error)
        })
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(self.values.len() * 4 + 1024);
        let number = |body: &mut Vec<u8>, n: usize| {
            body.extend(u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes());
        };
        for text in [&self.id.name, &self.id.version] {
            number(&mut body, text.len());
            body.extend(text.as_bytes());
        }
        number(&mut body, self.id.dims);
        number(&mut body, self.places.len());
        let mut hashes: Vec<_> = self.places.iter().collect();
        hashes.sort_unstable_by_key(|(_, place)| **place);
        hashes.iter().for_each(|(hash, _)| body.extend(*hash));
        self.values.iter().for_each(|value| body.extend(value.to_le_bytes()));
        number(&mut body, self.sets.len());
        for WordSet { hash, places, background, words, names } in &self.sets {
            body.extend(hash);
            number(&mut body, places.len());
            places.iter().for_each(|place| body.extend(place.to_le_bytes()));
            number(&mut body, background.len());
            background.iter().for_each(|value| body.extend(value.to_le_bytes()));
            for bytes in [words, names] {
                number(&mut body, bytes.len());
                body.extend(bytes);
            }
        }
        let digest = blake3::hash(&body);
        [MAGIC, &VERSION.to_le_bytes()[..], &[0; 4], digest.as_bytes(), &body].concat()
    }

    fn parse(bytes: &[u8]) -> Result<Self, Fault> {
        let (head, body) =
            bytes.split_at_checked(HEAD).ok_or(Fault::Damaged("it ends too early"))?;
        let mut head = Reader { rest: head };
        if head.take(8)? != MAGIC {
            return Err(Fault::Damaged("it does not begin as an index does"));
        }
        match head.number()? {
            VERSION => {}
            found if found > VERSION => return Err(Fault::Newer(found)),
            _ => return Err(Fault::Damaged("its version is none")),
        }
        head.take(4)?;
        if head.rest != blake3::hash(body).as_bytes() {
            return Err(Fault::Damaged("its hash does not match"));
        }
        let mut body = Reader { rest: body };
        let (name, version) = (body.text()?, body.text()?);
        let dims = body.length()?;
        let count = body.length()?;
        let mut places = HashMap::with_capacity(count.min(1 << 20));
        for place in 0..u32::try_from(count).unwrap_or(u32::MAX) {
            places.insert(body.array()?, place);
        }
        let numbers = count.checked_mul(dims).and_then(|n| n.checked_mul(4));
        let values = body.take(numbers.ok_or(Fault::Damaged("its sizes make no sense"))?)?;
        let values = values.as_chunks().0.iter().map(|x| f32::from_le_bytes(*x)).collect();
        let mut sets = Vec::new();
        for _ in 0..body.length()? {
            let hash = body.array()?;
            let places = body.numbers()?.map(u32::from_le_bytes).collect();
            let background = body.numbers()?.map(f32::from_le_bytes).collect();
            let (words, names) = (body.bytes()?.to_vec(), body.bytes()?.to_vec());
            sets.push(WordSet { hash, places, background, words, names });
        }
        if places.len() != count || !body.rest.is_empty() {
            return Err(Fault::Damaged("it holds something twice or too much"));
        }
        Ok(Self { id: Arc::new(EmbedderId::new(name, version, dims)), places, values, sets })
    }
}

enum Fault {
    Newer(u32),
    Damaged(&'static str),
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Fault> {
        let (taken, rest) =
            self.rest.split_at_checked(count).ok_or(Fault::Damaged("it ends too early"))?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        self.take(N)?.try_into().map_err(|_| Fault::Damaged("it ends too early"))
    }

    fn number(&mut self) -> Result<u32, Fault> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn length(&mut self) -> Result<usize, Fault> {
        Ok(self.number()? as usize)
    }

    fn bytes(&mut self) -> Result<&'a [u8], Fault> {
        let length = self.length()?;
        self.take(length)
    }

    /// A count, and as many groups of four bytes.
    fn numbers(&mut self) -> Result<impl Iterator<Item = [u8; 4]> + use<'a>, Fault> {
        let length = self.length()?.checked_mul(4);
        let bytes = self.take(length.ok_or(Fault::Damaged("its sizes make no sense"))?)?;
        Ok(bytes.as_chunks().0.iter().copied())
    }

    fn text(&mut self) -> Result<String, Fault> {
        String::from_utf8(self.bytes()?.to_vec())
            .map_err(|_| Fault::Damaged("a name in it is not text"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set() -> WordSet {
        WordSet {
            hash: [7; 32],
            places: vec![1, 0],
            background: vec![0.5],
            words: b"words".to_vec(),
            names: b"names".to_vec(),
        }
    }

    fn index() -> IndexFile {
        let id = Arc::new(EmbedderId::new("test", "1", 3));
        let mut index = IndexFile::new(Arc::clone(&id));
        for (text, values) in [("a", [1.0, 0.0, 0.0]), ("b", [0.0, 0.6, 0.8])] {
            let vector = Vector::new(Arc::clone(&id), values.to_vec()).unwrap();
            assert!(index.insert(content_hash(text), &vector));
            assert!(!index.insert(content_hash(text), &vector), "once is enough");
        }
        index.add_set(set());
        index
    }

    #[test]
    fn what_is_written_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("index");
        assert!(IndexFile::read(&path).unwrap().is_none());
        index().write(&path).unwrap();
        let read = IndexFile::read(&path).unwrap().unwrap();
        assert_eq!(read.len(), 2);
        assert_eq!(read.vector(&content_hash("b")).unwrap().values(), [0.0, 0.6, 0.8]);
        assert!(read.vector(&content_hash("c")).is_none());
        assert_eq!(read.set(&[7; 32]), Some(&set()));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn damage_is_told_and_never_believed() {
        let good = index().to_bytes();
        for length in 0..good.len() {
            assert!(IndexFile::parse(&good[..length]).is_err(), "cut to {length}");
        }
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 0x40;
            // The four bytes after the version mean nothing.
            assert!((12..16).contains(&at) || IndexFile::parse(&bad).is_err(), "byte {at}");
        }
        let mut newer = good;
        newer[8] = 2;
        assert!(matches!(IndexFile::parse(&newer), Err(Fault::Newer(2))));
    }

    #[test]
    fn an_index_that_cannot_be_written_leaves_the_old_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("index");
        index().write(&path).unwrap();
        let nowhere = dir.path().join("gone/index");
        assert!(matches!(index().write(&nowhere), Err(IndexError::Io { .. })));
        assert!(IndexFile::read(&path).unwrap().is_some());
    }
}
