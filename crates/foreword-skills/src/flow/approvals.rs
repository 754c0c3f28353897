//! How far each skill on disk is approved: what a build needs to know of the store, read-only.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use foreword_store::{AuditKey, Reader, TrackedFile};
use foreword_workspace::Workspace;
use serde::Serialize;

use crate::error::SkillError;
use crate::flow::apply::digests;
use crate::git::history;
use crate::git::private_dir::PrivateDir;
use crate::git::repository::{BRANCH, Repository};

/// How a file of skills stands to the history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "status", rename_all = "camelCase")]
pub enum Standing {
    /// What is on disk is what a commit holds.
    Approved {
        /// The commit.
        commit: String,
        /// Who approved it.
        by: String,
        /// When, in milliseconds since 1970.
        at: i64,
        /// What the skill's files can do, as the newest commit of any of them says.
        #[serde(skip_serializing_if = "Option::is_none")]
        can_do: Option<String>,
    },
    /// A commit holds something else under this name.
    Modified {
        /// The commit.
        commit: String,
    },
    /// No commit has it.
    Local,
}

/// What the history holds, by path in the directory of skills.
#[derive(Debug, Clone, Default)]
pub struct Approvals {
    directory: String,
    files: BTreeMap<String, TrackedFile>,
}

impl Approvals {
    /// Reads what a workspace's history holds, and creates nothing.
    ///
    /// `config_dir` is where the audit key lies. Only what was approved with it counts: a workspace
    /// from elsewhere may bring a history along that says anything. Without the key nothing counts as
    /// approved.
    pub fn of(workspace: &Workspace, config_dir: Option<&Path>) -> Result<Self, SkillError> {
        let private = PrivateDir::of(workspace.root());
        let directory = clean(&workspace.config().skills.directory).to_owned();
        let Some(repository) = Repository::open(&private.repository())? else {
            return Ok(Self { directory, files: BTreeMap::new() });
        };
        let config_dir = config_dir.ok_or(SkillError::NoConfigDir)?;
        let key = AuditKey::load(config_dir)?;
        let head = repository.head()?.map(|id| id.to_string());
        let known = Reader::open(&private.database()).and_then(|reader| reader.tracked_with(&key));
        let files = match known {
            Ok(known) if known.head == head => known.files,
            _ => history::tracked(&repository, &key)?,
        };
        let files = files.into_iter().map(|file| (file.path.clone(), file)).collect();
        Ok(Self { directory, files })
    }

    /// The files one of which changes whenever an approval does, for whoever keeps approvals. The
    /// database is not among them: it only remembers what the history says of its newest commit.
    #[must_use]
    pub fn files(workspace: &Workspace, config_dir: Option<&Path>) -> Vec<PathBuf> {
        let repository = PrivateDir::of(workspace.root()).repository();
        let in_repository = ["HEAD", BRANCH, "packed-refs"].map(|name| repository.join(name));
        in_repository.into_iter().chain(config_dir.map(AuditKey::path)).collect()
    }

    /// Whether nothing was ever approved here.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// How a file stands, named as the workspace shows it (`skills/tea/SKILL.md`).
    #[must_use]
    pub fn standing(&self, shown: &str, digest: &[u8; 32]) -> Standing {
        let Some(path) = shown.strip_prefix(&self.directory).and_then(|p| p.strip_prefix('/'))
        else {
            return Standing::Local;
        };
        match self.files.get(path) {
            None => Standing::Local,
            Some(file) if !file.approved => Standing::Local,
            Some(file) if file.digest == *digest => Standing::Approved {
                commit: file.commit.clone(),
                by: file.by.clone(),
                at: file.at,
                can_do: self.can_do(path),
            },
            Some(file) => Standing::Modified { commit: file.commit.clone() },
        }
    }

    /// What a skill can do: every commit was screened with all files of its skill, so the newest knows.
    fn can_do(&self, main: &str) -> Option<String> {
        let Some((folder, _)) = main.rsplit_once('/') else {
            return self.files.get(main)?.can_do.clone();
        };
        let below = format!("{folder}/");
        let files = self.files.range(below.clone()..).take_while(|(p, _)| p.starts_with(&below));
        // Commits of one second count as one, and the longer list is the safer one to show.
        let newest = files.map(|(_, file)| file).filter(|file| file.approved);
        let age = |file: &&TrackedFile| (file.at, file.can_do.as_ref().map_or(0, String::len));
        newest.max_by_key(age)?.can_do.clone()
    }

    pub(crate) fn digests(&self) -> BTreeMap<String, [u8; 32]> {
        digests(self.files.values())
    }

    /// What a file is called in the repository.
    pub(crate) fn blob(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(|file| file.blob.as_str())
    }
}

/// The directory of skills without what does not change where it leads.
pub(crate) fn clean(directory: &str) -> &str {
    directory.trim_end_matches('/').trim_start_matches("./")
}
