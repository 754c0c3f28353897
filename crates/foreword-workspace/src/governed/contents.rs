//! What governed files hold: digests to compare, and short texts to show what changed.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, File};
use std::io::Read;

use serde::{Deserialize, Serialize};

use crate::error::WorkspaceError;
use crate::governed::find::MAX_GOVERNED;
use crate::governed::{Governed, GovernedGroup};

/// Bytes of all governed files together.
const MAX_GOVERNED_BYTES: u64 = 256 << 20;
/// Bytes of a text that is kept to show what changed in it.
pub const MAX_KEPT_TEXT: usize = 256 << 10;
/// Bytes of all texts kept together.
const MAX_KEPT_BYTES: usize = 16 << 20;

/// A blake3 digest.
pub type Digest = [u8; 32];

/// One governed file as it lies there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GovernedFile {
    /// What it is about.
    pub group: GovernedGroup,
    /// The digest of its bytes; of a link, of what the link says.
    pub digest: Digest,
    /// Its text, if it is UTF-8 and short enough to keep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// The governed files of a workspace by path.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GovernedContents {
    /// By relative path; a link has an entry of its own beside that of its target.
    pub files: BTreeMap<String, GovernedFile>,
}

/// How governed files differ from what they were; paths, sorted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GovernedChanges {
    /// There now, and not before.
    pub added: Vec<String>,
    /// There both times, and not the same.
    pub changed: Vec<String>,
    /// There before, and not now.
    pub removed: Vec<String>,
}

impl GovernedChanges {
    /// Whether nothing differs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }

    /// Compares two sets of digests.
    #[must_use]
    pub fn between(before: &BTreeMap<String, Digest>, now: &BTreeMap<String, Digest>) -> Self {
        let keys = |keep: &dyn Fn(&str, &Digest) -> bool, of: &BTreeMap<String, Digest>| {
            of.iter().filter(|(path, d)| keep(path, d)).map(|(path, _)| path.clone()).collect()
        };
        Self {
            added: keys(&|path, _| !before.contains_key(path), now),
            changed: keys(&|path, d| before.get(path).is_some_and(|was| was != d), now),
            removed: keys(&|path, _| !now.contains_key(path), before),
        }
    }
}

impl GovernedContents {
    /// The digests alone.
    #[must_use]
    pub fn digests(&self) -> BTreeMap<String, Digest> {
        self.files.iter().map(|(path, file)| (path.clone(), file.digest)).collect()
    }

    /// How this differs from what was before.
    #[must_use]
    pub fn changes_since(&self, before: &Self) -> GovernedChanges {
        GovernedChanges::between(&before.digests(), &self.digests())
    }

    pub(crate) fn read(
        governed: &Governed,
        groups: &[GovernedGroup],
    ) -> Result<Self, WorkspaceError> {
        let mut reading = Reading { governed, contents: Self::default(), bytes: 0, kept: 0 };
        for (path, link) in &governed.links {
            if groups.contains(&link.group) {
                reading.link(path, link.group)?;
            }
        }
        for (path, group) in governed.paths.iter().filter(|(_, group)| groups.contains(group)) {
            reading.tree(path, *group)?;
        }
        Ok(reading.contents)
    }
}

struct Reading<'a> {
    governed: &'a Governed,
    contents: GovernedContents,
    bytes: u64,
    kept: usize,
}

impl Reading<'_> {
    fn tree(&mut self, top: &str, group: GovernedGroup) -> Result<(), WorkspaceError> {
        let mut paths = VecDeque::from([top.to_owned()]);
        while let Some(path) = paths.pop_front() {
            let io = |source| WorkspaceError::Io { path: path.clone(), source };
            let at = self.governed.root.join(&path);
            let kind = fs::symlink_metadata(&at).map_err(io)?.file_type();
            if kind.is_symlink() {
                self.link(&path, group)?;
            } else if kind.is_file() {
                self.file(&path, group)?;
            } else if kind.is_dir() {
                for entry in fs::read_dir(&at).map_err(io)? {
                    // A name that is not Unicode is no governed file: no reader takes it.
                    if let Ok(name) = entry.map_err(io)?.file_name().into_string() {
                        paths.push_back(format!("{path}/{name}"));
                    }
                    if paths.len() + self.contents.files.len() > MAX_GOVERNED {
                        return Err(WorkspaceError::TooManyEntries { path, limit: MAX_GOVERNED });
                    }
                }
            } else {
                return Err(WorkspaceError::NotRegular { path });
            }
        }
        Ok(())
    }

    fn link(&mut self, path: &str, group: GovernedGroup) -> Result<(), WorkspaceError> {
        let target = fs::read_link(self.governed.root.join(path))
            .map_err(|source| WorkspaceError::Io { path: path.to_owned(), source })?;
        let says = format!("link to {}\n", target.display());
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"link\0").update(target.as_os_str().as_encoded_bytes());
        let digest = hasher.finalize().into();
        self.insert(path, GovernedFile { group, digest, text: Some(says) });
        Ok(())
    }

    fn file(&mut self, path: &str, group: GovernedGroup) -> Result<(), WorkspaceError> {
        let io = |source| WorkspaceError::Io { path: path.to_owned(), source };
        let mut file = File::open(self.governed.root.join(path)).map_err(io)?;
        let mut hasher = blake3::Hasher::new();
        let mut start = Vec::new();
        let mut buffer = vec![0; 64 << 10];
        loop {
            let read = file.read(&mut buffer).map_err(io)?;
            let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
            self.bytes += u64::try_from(read).unwrap_or(u64::MAX);
            if self.bytes > MAX_GOVERNED_BYTES {
                let (size, limit) = (self.bytes, MAX_GOVERNED_BYTES);
                return Err(WorkspaceError::GovernedTooLarge {
                    path: path.to_owned(),
                    size,
                    limit,
                });
            }
            hasher.update(bytes);
            if start.len() <= MAX_KEPT_TEXT {
                start.extend_from_slice(bytes);
            }
        }
        let fits = start.len() <= MAX_KEPT_TEXT && self.kept + start.len() <= MAX_KEPT_BYTES;
        let text = if fits { String::from_utf8(start).ok() } else { None };
        self.insert(path, GovernedFile { group, digest: hasher.finalize().into(), text });
        Ok(())
    }

    fn insert(&mut self, path: &str, file: GovernedFile) {
        self.kept += file.text.as_ref().map_or(0, String::len);
        self.contents.files.insert(path.to_owned(), file);
    }
}
