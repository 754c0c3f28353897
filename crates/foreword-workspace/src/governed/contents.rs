//! What governed files hold: digests to compare, and short texts to show what changed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::Read as _;

use serde::{Deserialize, Serialize};

use crate::error::WorkspaceError;
use crate::governed::find::MAX_GOVERNED;
use crate::governed::{Governed, GovernedGroup};
use crate::tree::{Tree, TreeEntryKind};

/// Bytes of all governed files together.
const MAX_GOVERNED_BYTES: u64 = 256 << 20;
/// Bytes of a text that is kept to show what changed in it.
pub const MAX_KEPT_TEXT: usize = 256 << 10;
/// Bytes of all texts kept together.
pub(crate) const MAX_KEPT_BYTES: usize = 16 << 20;

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
    /// The paths that were looked up, whether something was there or not. Of other paths this says
    /// nothing: another working directory has other instructions.
    #[serde(skip)]
    scope: BTreeSet<String>,
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

    /// How this differs from what was before. A path that was not looked up now is not missing.
    #[must_use]
    pub fn changes_since(&self, before: &Self) -> GovernedChanges {
        let mut changes = GovernedChanges::between(&before.digests(), &self.digests());
        changes.removed.retain(|path| self.was_looked_up(path));
        changes
    }

    /// Adds what was known before of paths that were not looked up now.
    #[must_use]
    pub fn with_others_of(mut self, before: &Self) -> Self {
        for (path, file) in &before.files {
            if !self.was_looked_up(path) {
                self.files.insert(path.clone(), file.clone());
            }
        }
        self
    }

    fn was_looked_up(&self, path: &str) -> bool {
        let outer = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
        outer.chain([path]).any(|outer| self.scope.contains(outer))
    }

    pub(crate) fn read(
        governed: &Governed,
        groups: &[GovernedGroup],
    ) -> Result<Self, WorkspaceError> {
        let tree = Tree::open_as(&governed.root, "")?;
        let mut reading = Reading { tree, contents: Self::default(), bytes: 0, kept: 0 };
        let links = governed.links.keys().chain(governed.absent.keys());
        reading.contents.scope = governed.paths.keys().chain(links).cloned().collect();
        for (path, link) in &governed.links {
            if groups.contains(&link.group) {
                reading.link(path, link.group)?;
            }
        }
        for (path, group) in governed.paths.iter().filter(|(_, group)| groups.contains(group)) {
            reading.path(path, *group)?;
        }
        Ok(reading.contents)
    }
}

struct Reading {
    tree: Tree,
    contents: GovernedContents,
    bytes: u64,
    kept: usize,
}

impl Reading {
    fn path(&mut self, top: &str, group: GovernedGroup) -> Result<(), WorkspaceError> {
        let mut paths = VecDeque::from([top.to_owned()]);
        while let Some(path) = paths.pop_front() {
            match self.tree.stat(&path)?.map(|(kind, _)| kind) {
                // It was there a moment ago.
                None => {}
                Some(TreeEntryKind::Link) => self.link(&path, group)?,
                Some(TreeEntryKind::File) => self.file(&path, group)?,
                Some(TreeEntryKind::Directory) => {
                    let known = paths.len() + self.contents.files.len();
                    let left = MAX_GOVERNED.saturating_sub(known);
                    let listed = match self.tree.list(&path, left) {
                        Err(WorkspaceError::TooManyEntries { path, .. }) => {
                            let limit = MAX_GOVERNED;
                            return Err(WorkspaceError::TooManyEntries { path, limit });
                        }
                        listed => listed?.unwrap_or_default(),
                    };
                    // A name that is not Unicode is no governed file: no reader takes it.
                    let names = listed.into_iter().filter(|entry| entry.is_unicode);
                    paths.extend(names.map(|entry| format!("{path}/{}", entry.name)));
                }
                Some(TreeEntryKind::Special) => return Err(WorkspaceError::NotRegular { path }),
            }
        }
        Ok(())
    }

    fn link(&mut self, path: &str, group: GovernedGroup) -> Result<(), WorkspaceError> {
        let Some(target) = self.tree.link(path)? else { return Ok(()) };
        let says = format!("link to {}\n", target.display());
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"link\0").update(target.as_os_str().as_encoded_bytes());
        let digest = hasher.finalize().into();
        self.insert(path, GovernedFile { group, digest, text: Some(says) });
        Ok(())
    }

    fn file(&mut self, path: &str, group: GovernedGroup) -> Result<(), WorkspaceError> {
        let io = |source| WorkspaceError::Io { path: path.to_owned(), source };
        let Some((mut file, size)) = self.tree.file(path)? else { return Ok(()) };
        let too_large = |size| {
            let (path, limit) = (path.to_owned(), MAX_GOVERNED_BYTES);
            WorkspaceError::GovernedTooLarge { path, size, limit }
        };
        // Nobody waits for gigabytes to be read before they are refused.
        if self.bytes.saturating_add(size) > MAX_GOVERNED_BYTES {
            return Err(too_large(self.bytes.saturating_add(size)));
        }
        let mut hasher = blake3::Hasher::new();
        let mut start = Vec::new();
        let mut buffer = vec![0; 64 << 10];
        loop {
            let read = file.read(&mut buffer).map_err(io)?;
            let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
            self.bytes += u64::try_from(read).unwrap_or(u64::MAX);
            if self.bytes > MAX_GOVERNED_BYTES {
                return Err(too_large(self.bytes));
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
