//! `.foreword/`: where the store keeps its repository, its database and its lock.

use std::fs;
use std::path::{Path, PathBuf};

use foreword_workspace::{PRIVATE_DIR, PRIVATE_GITIGNORE, PRIVATE_README};

use crate::error::SkillError;
use crate::listing::LIST_CACHE;

/// The places below `.foreword/`.
#[derive(Debug, Clone)]
pub(crate) struct Private {
    pub(crate) directory: PathBuf,
}

impl Private {
    pub(crate) fn of(root: &Path) -> Self {
        Self { directory: root.join(PRIVATE_DIR) }
    }

    pub(crate) fn repository(&self) -> PathBuf {
        self.directory.join("skills.git")
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.directory.join("foreword.db")
    }

    pub(crate) fn skill_cache(&self) -> PathBuf {
        self.directory.join(LIST_CACHE)
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.directory.join("skills.lock")
    }

    /// Makes the folder, with what keeps it out of the user's own repository and other agents out of
    /// it.
    pub(crate) fn ensure(&self) -> Result<(), SkillError> {
        let io = |path: &Path, source| SkillError::io(path, source);
        fs::create_dir_all(&self.directory).map_err(|e| io(&self.directory, e))?;
        for (name, text) in [(".gitignore", PRIVATE_GITIGNORE), ("README.md", PRIVATE_README)] {
            let path = self.directory.join(name);
            if !path.exists() {
                fs::write(&path, text).map_err(|e| io(&path, e))?;
            }
        }
        Ok(())
    }
}
