//! The skills without their texts: what a list shows, and a stamp that tells whether it still holds.

use std::fs::Metadata;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::WorkspaceError;
use crate::skill_scan::Found;
use crate::skills::{Skill, SkillProblem};
use crate::workspace::Workspace;

/// What a list shows of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillHead {
    /// The name its header gives, or that of its folder or file.
    pub name: String,
    /// When to use it, as its header says.
    pub description: Option<String>,
    /// Its file, relative to the workspace, with forward slashes.
    pub path: String,
    /// The root it was found in, as the settings name it.
    pub root: String,
    /// The folder of the files it brings along; `None` for a single file.
    pub dir: Option<String>,
    /// The blake3 digest of the file's bytes as they lie on disk.
    pub digest: [u8; 32],
    /// What the file system said about the file when it was read.
    pub stamp: FileStamp,
}

/// What changes when a file does, as far as a file system tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileStamp {
    /// The size in bytes.
    pub size: u64,
    /// When its content changed, in nanoseconds since 1970.
    pub modified: i64,
    /// When anything about it changed, which no program can set; 0 where that is not known.
    pub changed: i64,
    /// Its number in the file system; 0 where that is not known.
    pub file: u64,
    /// The device it lies on; 0 where that is not known.
    pub device: u64,
}

/// What is known of a file from before: the parts of a [`SkillHead`] that come out of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownHead {
    /// The name.
    pub name: String,
    /// The description.
    pub description: Option<String>,
    /// The digest.
    pub digest: [u8; 32],
}

/// Knows files from before, so that they need not be read again.
pub trait KnownHeads: Sync {
    /// What a file says, if it was read when it had this very stamp.
    fn get(&self, path: &str, stamp: &FileStamp) -> Option<KnownHead>;
}

/// Knows nothing: every file is read.
impl KnownHeads for () {
    fn get(&self, _: &str, _: &FileStamp) -> Option<KnownHead> {
        None
    }
}

/// All skills of a workspace without their texts, and what was passed over.
#[derive(Debug, Default)]
pub struct HeadScan {
    /// Sorted by name; no name twice.
    pub heads: Vec<SkillHead>,
    /// Those that one of the others hides, to be known next time.
    pub hidden: Vec<SkillHead>,
    /// In the order in which they were met.
    pub problems: Vec<SkillProblem>,
    /// How many files had to be read.
    pub read: usize,
}

impl Workspace {
    /// The same skills and problems as [`Workspace::skills`], without the texts. A file that `known`
    /// knows is not opened.
    ///
    /// # Errors
    ///
    /// As [`Workspace::skills`].
    pub fn skill_heads(&self, known: &dyn KnownHeads) -> Result<HeadScan, WorkspaceError> {
        let read = AtomicUsize::new(0);
        let scan = self.scan_skills(|candidate, located, limit| {
            let stamp = FileStamp::of(&located.meta);
            let known = match known.get(&candidate.path, &stamp) {
                Some(known) => known,
                None => {
                    read.fetch_add(1, Ordering::Relaxed);
                    let skill = Skill::read(candidate, located.bytes(&candidate.path, limit)?)?;
                    let Skill { name, description, digest, .. } = skill;
                    KnownHead { name, description, digest }
                }
            };
            Ok(SkillHead {
                name: known.name,
                description: known.description,
                path: candidate.path.clone(),
                root: candidate.configured.clone(),
                dir: candidate.dir.clone(),
                digest: known.digest,
                stamp,
            })
        })?;
        let read = read.into_inner();
        Ok(HeadScan { heads: scan.found, hidden: scan.hidden, problems: scan.problems, read })
    }
}

impl FileStamp {
    #[cfg(unix)]
    fn of(meta: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        let nanoseconds =
            |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        Self {
            size: meta.len(),
            modified: nanoseconds(meta.mtime(), meta.mtime_nsec()),
            changed: nanoseconds(meta.ctime(), meta.ctime_nsec()),
            file: meta.ino(),
            device: meta.dev(),
        }
    }

    #[cfg(not(unix))]
    fn of(meta: &Metadata) -> Self {
        let modified = meta.modified().ok();
        let since = modified.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        let modified = since.and_then(|since| i64::try_from(since.as_nanos()).ok());
        Self { size: meta.len(), modified: modified.unwrap_or_default(), ..Self::default() }
    }
}

impl Found for SkillHead {
    fn name(&self) -> &str {
        &self.name
    }

    fn path(&self) -> &str {
        &self.path
    }

    fn root(&self) -> &str {
        &self.root
    }
}
