//! `.foreword/`: where the store keeps its repository, its database and its lock.

use std::path::{Path, PathBuf};

use foreword_workspace::{DATABASE_FILE, PRIVATE_DIR, make_private_dir};

use crate::error::SkillError;
use crate::listing::LIST_CACHE;

/// The places below `.foreword/`.
#[derive(Debug, Clone)]
pub(crate) struct PrivateDir {
    pub(crate) directory: PathBuf,
}

impl PrivateDir {
    pub(crate) fn of(root: &Path) -> Self {
        Self { directory: root.join(PRIVATE_DIR) }
    }

    pub(crate) fn repository(&self) -> PathBuf {
        self.directory.join("skills.git")
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.directory.join(DATABASE_FILE)
    }

    pub(crate) fn skill_cache(&self) -> PathBuf {
        self.directory.join(LIST_CACHE)
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.directory.join("skills.lock")
    }

    /// Makes the folder.
    pub(crate) fn ensure(&self) -> Result<(), SkillError> {
        let root = self.directory.parent().unwrap_or(Path::new("."));
        make_private_dir(root)?;
        Ok(())
    }
}
