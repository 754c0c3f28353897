//! What was read of skills the last time, in one file that loads in a few milliseconds.
//!
//! A line that names the format, a digest of the rest, then a record per file. Numbers are little
//! endian. Write access to the cache allows changing what a list shows; it lies where the database
//! does, and what a prompt is made of is never taken from it.

use std::cell::Cell;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use foreword_workspace::{FileStamp, Invocation, KnownHead, KnownHeads, SkillHead, read_state};

const FORMAT: &[u8] = b"foreword skills 3\n";
const DIGEST: usize = 32;
/// No cache is larger: 20,000 skills with the longest descriptions the format allows.
const MAX_CACHE_BYTES: u64 = 64 << 20;
/// The length of a description that is not there.
const NONE: u32 = u32::MAX;
/// File systems that keep whole seconds, or two of them, need this long to tell two changes apart.
const COARSE: i64 = 2_000_000_000;
/// Those that keep fractions set them a few milliseconds apart.
const FINE: i64 = 50_000_000;

/// The records of a cache, by the paths of their files.
#[derive(Debug, Default)]
pub(crate) struct Cache<'a> {
    records: HashMap<&'a str, Record<'a>>,
    /// How many of them were found to hold still.
    hits: Cell<usize>,
}

#[derive(Debug)]
struct Record<'a> {
    stamp: FileStamp,
    digest: [u8; DIGEST],
    invocation: Invocation,
    name: &'a str,
    description: Option<&'a str>,
}

impl KnownHeads for Cache<'_> {
    fn get(&self, path: &str, stamp: &FileStamp) -> Option<KnownHead> {
        let record = self.records.get(path).filter(|record| record.stamp == *stamp)?;
        self.hits.set(self.hits.get() + 1);
        Some(KnownHead {
            name: record.name.to_owned(),
            description: record.description.map(str::to_owned),
            invocation: record.invocation,
            digest: record.digest,
        })
    }
}

impl<'a> Cache<'a> {
    /// The bytes of a cache, if there is one of a sensible size.
    pub(crate) fn read(path: &Path) -> Option<Vec<u8>> {
        read_state(path, MAX_CACHE_BYTES).ok().flatten()
    }

    /// The records in these bytes; `None` unless every one of them is whole.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(FORMAT)?;
        let (digest, rest) = rest.split_first_chunk::<DIGEST>()?;
        if blake3::hash(rest) != *digest {
            return None;
        }
        let mut cursor = Cursor(rest);
        let count = usize::try_from(cursor.u32()?).ok()?;
        // A count that lies reserves no more than there are bytes for.
        let mut records = HashMap::with_capacity(count.min(rest.len() / DIGEST));
        for _ in 0..count {
            let lengths = [cursor.u32()?, cursor.u32()?, cursor.u32()?];
            let stamp = FileStamp {
                size: u64::from_le_bytes(cursor.array()?),
                modified: i64::from_le_bytes(cursor.array()?),
                changed: i64::from_le_bytes(cursor.array()?),
                file: u64::from_le_bytes(cursor.array()?),
                device: u64::from_le_bytes(cursor.array()?),
            };
            let digest = cursor.array()?;
            let [flags] = cursor.array()?;
            let invocation = Invocation { model: flags & 1 != 0, people: flags & 2 != 0 };
            let [path, name, description] = lengths;
            let path = cursor.text(path)?;
            let name = cursor.text(name)?;
            let description =
                if description == NONE { None } else { Some(cursor.text(description)?) };
            records.insert(path, Record { stamp, digest, invocation, name, description });
        }
        cursor.0.is_empty().then(|| Self { records, hits: Cell::new(0) })
    }

    /// Writes the cache anew if it no longer says what these heads say. That it cannot be written
    /// is no reason for anyone to worry.
    pub(crate) fn update<'h, I: Iterator<Item = &'h SkillHead>>(
        &self,
        path: &Path,
        heads: impl Fn() -> I,
        now: SystemTime,
    ) {
        let now = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        let now = i64::try_from(now).unwrap_or(i64::MAX);
        let settled = || heads().filter(|head| is_settled(&head.stamp, now));
        let hits = self.hits.get();
        if hits != self.records.len() || hits != settled().count() {
            let _ = write(path, &encode(settled()));
        }
    }
}

/// Whether a file that changes from now on cannot keep its stamp.
fn is_settled(stamp: &FileStamp, now: i64) -> bool {
    let last = if stamp.changed == 0 { stamp.modified } else { stamp.changed };
    let apart = if last % 1_000_000 == 0 { COARSE } else { FINE };
    last.saturating_add(apart) < now
}

fn encode<'h>(heads: impl Iterator<Item = &'h SkillHead>) -> Vec<u8> {
    let mut records = Vec::new();
    let mut count = 0_u32;
    for head in heads {
        let description = head.description.as_deref();
        let lengths =
            [length(&head.path), length(&head.name), description.map_or(Some(NONE), length)];
        // A text of 4 GiB is in no header.
        let [Some(path), Some(name), Some(text)] = lengths else { continue };
        for length in [path, name, text] {
            records.extend_from_slice(&length.to_le_bytes());
        }
        let FileStamp { size, modified, changed, file, device } = head.stamp;
        for number in [size, modified.cast_unsigned(), changed.cast_unsigned(), file, device] {
            records.extend_from_slice(&number.to_le_bytes());
        }
        records.extend_from_slice(&head.digest);
        let Invocation { model, people } = head.invocation;
        records.push(u8::from(model) | u8::from(people) << 1);
        for text in [&head.path, &head.name, description.unwrap_or_default()] {
            records.extend_from_slice(text.as_bytes());
        }
        count += 1;
    }
    let mut body = count.to_le_bytes().to_vec();
    body.append(&mut records);
    let digest = blake3::hash(&body);
    [FORMAT, digest.as_bytes(), &body].concat()
}

fn length(text: &str) -> Option<u32> {
    u32::try_from(text.len()).ok().filter(|length| *length != NONE)
}

/// Puts the bytes in place of what is there, all at once.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    static COUNTER: AtomicUsize = AtomicUsize::new(0);
    if let Some(directory) = path.parent().filter(|directory| !directory.exists()) {
        fs::create_dir(directory)?;
    }
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    let temporary = path.with_extension(format!("{}-{number}.tmp", std::process::id()));
    // Not through whatever may lie there: a leftover, or a link.
    let written = File::create_new(&temporary)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Bytes that are taken from the front.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*array)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn text(&mut self, length: u32) -> Option<&'a str> {
        let (text, rest) = self.0.split_at_checked(usize::try_from(length).ok()?)?;
        self.0 = rest;
        std::str::from_utf8(text).ok()
    }
}

#[cfg(test)]
#[path = "listing_cache_tests.rs"]
mod tests;
