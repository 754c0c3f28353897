//! The skills without their texts: what a list shows, and a stamp that tells whether it still holds.

use std::sync::Arc;

use crate::error::WorkspaceError;
use crate::found_file::FileStamp;
use crate::skills::scan::{Found, Scanned};
use crate::skills::{Invocation, Skill, SkillProblem};
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
    pub root: Arc<str>,
    /// The folder of the files it brings along; `None` for a single file.
    pub dir: Option<String>,
    /// Who may ask for it.
    pub invocation: Invocation,
    /// The blake3 digest of the file's bytes as they lie on disk.
    pub digest: [u8; 32],
    /// What the file system said about the file when it was read.
    pub stamp: FileStamp,
}

/// What is known of a file from before: the parts of a [`SkillHead`] that come out of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownHead {
    /// The name.
    pub name: String,
    /// The description.
    pub description: Option<String>,
    /// Who may ask for it.
    pub invocation: Invocation,
    /// The digest.
    pub digest: [u8; 32],
}

/// Knows files from before, so that they need not be read again.
pub trait KnownHeads {
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
    pub fn skill_heads(&self, known: &dyn KnownHeads) -> Result<HeadScan, WorkspaceError> {
        let scan = self.scan_skills(
            |candidate, stamp| known.get(&candidate.path, stamp),
            |candidate, bytes| {
                let Skill { name, description, invocation, digest, .. } =
                    Skill::read(candidate, bytes)?;
                Ok(KnownHead { name, description, invocation, digest })
            },
            |candidate, stamp, known| SkillHead {
                name: known.name,
                description: known.description,
                invocation: known.invocation,
                dir: candidate.dir(),
                path: candidate.path,
                root: candidate.configured,
                digest: known.digest,
                stamp,
            },
        )?;
        let Scanned { found, hidden, problems, read } = scan;
        Ok(HeadScan { heads: found, hidden, problems, read })
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
