//! Reading commits and trees out of a repository with bounded reads through the hardened reader.
//!
//! Git's own way is to map packs into memory, and a file that is cut short under a map kills the process
//! that reads it. Agents can write these files, so they are read piece by piece instead.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt as _;

use foreword_workspace::Tree;
use gix_hash::ObjectId;
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;

use super::GitFault;

/// Bytes of one commit or tree.
const MAX_OBJECT: usize = 8 << 20;
/// Bytes of all objects that are read for one summary.
const MAX_BYTES: usize = 64 << 20;
/// Deltas on top of each other; git makes chains of 50.
const MAX_CHAIN: usize = 500;
/// Packs that are looked at.
const MAX_PACKS: usize = 1000;
const ID: usize = 20;
/// Where the identifiers start in the index of a pack: after the mark, the version and 256 counts.
const IDS_AT: u64 = 8 + 256 * 4;

/// The objects of a repository. Those of other repositories that it borrows are not read.
pub(super) struct Objects {
    directory: Tree,
    packs: Option<Vec<Pack>>,
    left: usize,
}

struct Pack {
    index: File,
    data: File,
    count: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Commit,
    Tree,
    Other,
}

/// An entry of a tree.
pub(super) struct TreeItem<'a> {
    pub(super) mode: u32,
    pub(super) name: &'a [u8],
    pub(super) id: ObjectId,
}

impl Objects {
    pub(super) fn of(common: &Tree) -> Result<Option<Self>, GitFault> {
        let directory = common.subtree("objects")?;
        Ok(directory.map(|directory| Self { directory, packs: None, left: MAX_BYTES }))
    }

    /// The tree of a commit; `None` if that cannot be told.
    pub(super) fn tree_of(&mut self, commit: ObjectId) -> Result<Option<ObjectId>, GitFault> {
        let Some((Kind::Commit, bytes)) = self.read(commit, 0)? else { return Ok(None) };
        let id = bytes.strip_prefix(b"tree ").and_then(|rest| rest.get(..2 * ID));
        Ok(id.and_then(|id| ObjectId::from_hex(id).ok()))
    }

    /// The bytes of a tree, for [`items`].
    pub(super) fn tree(&mut self, id: ObjectId) -> Result<Option<Vec<u8>>, GitFault> {
        Ok(self.read(id, 0)?.filter(|(kind, _)| *kind == Kind::Tree).map(|(_, bytes)| bytes))
    }

    fn read(&mut self, id: ObjectId, depth: usize) -> Result<Option<(Kind, Vec<u8>)>, GitFault> {
        let found = match self.loose(id)? {
            Some(found) => Some(found),
            None => self.packed(id, depth)?,
        };
        let Some((_, bytes)) = &found else { return Ok(None) };
        let Some(left) = self.left.checked_sub(bytes.len()) else { return Ok(None) };
        self.left = left;
        Ok(found)
    }

    fn loose(&self, id: ObjectId) -> Result<Option<(Kind, Vec<u8>)>, GitFault> {
        let hex = id.to_hex().to_string();
        let (folder, name) = hex.split_at_checked(2).unwrap_or_default();
        let limit = u64::try_from(MAX_OBJECT).unwrap_or(u64::MAX);
        let Some(bytes) = self.directory.read(format!("{folder}/{name}"), limit)? else {
            return Ok(None);
        };
        let Ok(bytes) = decompress_to_vec_zlib_with_limit(&bytes, MAX_OBJECT) else {
            return Ok(None);
        };
        let Some(end) = bytes.iter().take(64).position(|byte| *byte == 0) else { return Ok(None) };
        let kind = match bytes.get(..5) {
            Some(b"tree ") => Kind::Tree,
            Some(b"commi") => Kind::Commit,
            _ => Kind::Other,
        };
        Ok(bytes.get(end + 1..).map(|content| (kind, content.to_vec())))
    }

    fn packed(&mut self, id: ObjectId, depth: usize) -> Result<Option<(Kind, Vec<u8>)>, GitFault> {
        if self.packs.is_none() {
            self.packs = Some(self.open_packs()?);
        }
        let packs = self.packs.as_deref().unwrap_or_default();
        let Some((place, at)) = packs
            .iter()
            .enumerate()
            .find_map(|(place, pack)| pack.offset_of(id.as_slice()).map(|at| (place, at)))
        else {
            return Ok(None);
        };
        self.entry(place, at, depth)
    }

    /// Reads an entry of a pack and applies the deltas it is made of.
    fn entry(
        &mut self,
        place: usize,
        at: u64,
        depth: usize,
    ) -> Result<Option<(Kind, Vec<u8>)>, GitFault> {
        let (mut at, mut deltas) = (at, Vec::new());
        let mut held = 0;
        loop {
            if depth + deltas.len() > MAX_CHAIN || held > self.left {
                return Ok(None);
            }
            let Some(pack) = self.packs.as_deref().unwrap_or_default().get(place) else {
                return Ok(None);
            };
            let Some(entry) = pack.entry(at) else { return Ok(None) };
            held += entry.content.len();
            let base = match entry.made_of {
                MadeOf::Itself(kind) => Some((kind, entry.content)),
                MadeOf::EntryAt(base) => {
                    deltas.push(entry.content);
                    at = base;
                    continue;
                }
                MadeOf::Object(base) => {
                    deltas.push(entry.content);
                    self.read(base, depth + deltas.len())?
                }
            };
            let Some((kind, mut content)) = base else { return Ok(None) };
            for delta in deltas.iter().rev() {
                let Some(next) = apply(&content, delta) else { return Ok(None) };
                content = next;
            }
            return Ok(Some((kind, content)));
        }
    }

    fn open_packs(&self) -> Result<Vec<Pack>, GitFault> {
        let mut names: BTreeMap<String, ()> = BTreeMap::new();
        for entry in self.directory.list("pack", 8 * MAX_PACKS)?.unwrap_or_default() {
            if let Some(name) = entry.name.strip_suffix(".idx") {
                names.insert(name.to_owned(), ());
            }
        }
        let mut packs = Vec::new();
        for name in names.keys().take(MAX_PACKS) {
            let index = self.directory.file(format!("pack/{name}.idx"))?;
            let data = self.directory.file(format!("pack/{name}.pack"))?;
            if let (Some((index, _)), Some((data, _))) = (index, data) {
                packs.extend(Pack::open(index, data));
            }
        }
        Ok(packs)
    }
}

/// What an entry of a pack is made of.
enum MadeOf {
    Itself(Kind),
    /// A delta on the entry at this offset.
    EntryAt(u64),
    /// A delta on this object.
    Object(ObjectId),
}

struct PackEntry {
    made_of: MadeOf,
    content: Vec<u8>,
}

impl Pack {
    fn open(index: File, data: File) -> Option<Self> {
        let mut start = [0; 8];
        index.read_exact_at(&mut start, 0).ok()?;
        if start != *b"\xfftOc\0\0\0\x02" {
            return None;
        }
        let count = u64::from(u32_at(&index, IDS_AT - 4)?);
        Some(Self { index, data, count })
    }

    /// Where an object starts in the pack.
    fn offset_of(&self, id: &[u8]) -> Option<u64> {
        let first = u64::from(*id.first()?);
        let count_to = |byte: u64| u32_at(&self.index, 8 + 4 * byte).map(u64::from);
        let (mut low, mut high) =
            (if first == 0 { 0 } else { count_to(first - 1)? }, count_to(first)?);
        while low < high {
            let middle = low + (high - low) / 2;
            let mut known = [0; ID];
            self.index.read_exact_at(&mut known, IDS_AT + middle * 20).ok()?;
            match known.as_slice().cmp(id) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return self.offset_number(middle),
            }
        }
        None
    }

    fn offset_number(&self, number: u64) -> Option<u64> {
        let offsets = IDS_AT + self.count * 24;
        let short = u32_at(&self.index, offsets + number * 4)?;
        if short & 0x8000_0000 == 0 {
            return Some(u64::from(short));
        }
        let mut long = [0; 8];
        let at = offsets + self.count * 4 + u64::from(short & 0x7fff_ffff) * 8;
        self.index.read_exact_at(&mut long, at).ok()?;
        Some(u64::from_be_bytes(long))
    }

    fn entry(&self, at: u64) -> Option<PackEntry> {
        let mut start = [0; 64];
        let read = self.data.read_at(&mut start, at).ok()?;
        let mut head = start.get(..read)?.iter().copied();
        let mut used: u64 = 1;
        let mut byte = head.next()?;
        let kind = (byte >> 4) & 7;
        let (mut size, mut shift) = (u64::from(byte & 15), 4);
        while byte & 0x80 != 0 {
            byte = head.next()?;
            used += 1;
            size |= u64::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
        }
        let made_of = match kind {
            1 => MadeOf::Itself(Kind::Commit),
            2 => MadeOf::Itself(Kind::Tree),
            3 | 4 => MadeOf::Itself(Kind::Other),
            6 => {
                let mut byte = head.next()?;
                used += 1;
                let mut back = u64::from(byte & 0x7f);
                while byte & 0x80 != 0 {
                    byte = head.next()?;
                    used += 1;
                    back = back.checked_add(1)?.checked_mul(128)? | u64::from(byte & 0x7f);
                }
                // A delta on itself would never end.
                MadeOf::EntryAt(at.checked_sub(back).filter(|_| back > 0)?)
            }
            7 => {
                let id: Vec<u8> = head.by_ref().take(ID).collect();
                used += 20;
                MadeOf::Object(ObjectId::try_from(id.as_slice()).ok()?)
            }
            _ => return None,
        };
        let size = usize::try_from(size).ok().filter(|size| *size <= MAX_OBJECT)?;
        // What does not shrink grows by a few bytes for every block.
        let mut packed = vec![0; size + size / 64 + 1024];
        let mut filled = 0;
        while let Some(free) = packed.get_mut(filled..).filter(|free| !free.is_empty()) {
            let from = at.checked_add(used)?.checked_add(u64::try_from(filled).ok()?)?;
            match self.data.read_at(free, from).ok()? {
                0 => break,
                read => filled += read,
            }
        }
        let content = decompress_to_vec_zlib_with_limit(packed.get(..filled)?, size).ok()?;
        (content.len() == size).then_some(PackEntry { made_of, content })
    }
}

fn u32_at(file: &File, at: u64) -> Option<u32> {
    let mut bytes = [0; 4];
    file.read_exact_at(&mut bytes, at).ok()?;
    Some(u32::from_be_bytes(bytes))
}

/// Applies a delta: copies of parts of the base, and new bytes.
fn apply(base: &[u8], delta: &[u8]) -> Option<Vec<u8>> {
    let mut rest = delta.iter().copied();
    let mut number = || {
        let (mut number, mut shift) = (0_usize, 0);
        loop {
            let byte = rest.next()?;
            number |= usize::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
    };
    let (from, to) = (number()?, number()?);
    if from != base.len() || to > MAX_OBJECT {
        return None;
    }
    let mut made = Vec::with_capacity(to);
    while let Some(step) = rest.next() {
        if step & 0x80 == 0 {
            let count = usize::from(step);
            made.extend(rest.by_ref().take(count));
            if step == 0 {
                return None;
            }
        } else {
            let mut part = |bits: std::ops::Range<u32>, first: u32| {
                let mut value = 0_usize;
                for (place, bit) in bits.enumerate() {
                    if step & (1 << (first + bit)) != 0 {
                        value |= usize::from(rest.next()?) << (8 * place);
                    }
                }
                Some(value)
            };
            let start = part(0..4, 0)?;
            let count = match part(0..3, 4)? {
                0 => 0x10000,
                count => count,
            };
            made.extend_from_slice(base.get(start..start.checked_add(count)?)?);
        }
        if made.len() > to {
            return None;
        }
    }
    (made.len() == to).then_some(made)
}

/// The entries of a tree; stops at what is none.
pub(super) fn items(tree: &[u8]) -> impl Iterator<Item = TreeItem<'_>> {
    let mut rest = tree;
    std::iter::from_fn(move || {
        let blank = rest.iter().take(8).position(|byte| *byte == b' ')?;
        let mode = std::str::from_utf8(rest.get(..blank)?).ok()?;
        let mode = u32::from_str_radix(mode, 8).ok()?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        let name = rest.get(blank + 1..end)?;
        let id = ObjectId::try_from(rest.get(end + 1..end + 1 + ID)?).ok()?;
        rest = rest.get(end + 1 + ID..)?;
        Some(TreeItem { mode, name, id })
    })
}
