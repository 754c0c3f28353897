//! How far each skill on disk is approved: what a build needs to know of the store, read-only.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use foreword::SCREENING;
use foreword_store::{AuditKey, Reader, TrackedFile};
use foreword_workspace::{Skill, Workspace};
use serde::Serialize;

use crate::error::SkillError;
use crate::flow::apply::digests;
use crate::git::history;
use crate::git::private_dir::PrivateDir;
use crate::git::repository::{BRANCH, Repository};
use crate::listing::ListedSkill;

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

    /// How a skill of a workspace stands, with all files of its folder.
    #[must_use]
    pub fn of_skill(&self, workspace: &Workspace, skill: &Skill) -> Standing {
        let Skill { body, digest, root, dir, .. } = skill;
        self.standing(&body.path, digest, || beside(workspace, root, dir.as_deref()))
    }

    /// The same for a skill in a list.
    #[must_use]
    pub fn of_listed(&self, workspace: &Workspace, skill: &ListedSkill) -> Standing {
        let ListedSkill { meta, digest, root, dir, .. } = skill;
        self.standing(&meta.path, digest, || beside(workspace, root, dir.as_deref()))
    }

    /// How a skill stands, named as the workspace shows it (`skills/tea/SKILL.md`).
    ///
    /// `beside` gives the digests of the other files in its folder, and nothing if they cannot be read. They
    /// are asked for only if the skill's own file is approved: an approval is for the whole folder, and ends
    /// when a script changes, is added or is gone.
    #[must_use]
    pub fn standing(
        &self,
        shown: &str,
        digest: &[u8; 32],
        beside: impl FnOnce() -> Option<BTreeMap<String, [u8; 32]>>,
    ) -> Standing {
        let Some(path) = self.below(shown) else { return Standing::Local };
        match self.files.get(path) {
            None => Standing::Local,
            Some(file) if !file.approved => Standing::Local,
            Some(file) if file.digest == *digest && self.covers_folder(path, beside) => {
                Standing::Approved {
                    commit: file.commit.clone(),
                    by: self.approved_by(path, file),
                    at: file.at,
                    can_do: self.can_do(path),
                }
            }
            Some(file) => Standing::Modified { commit: file.commit.clone() },
        }
    }

    /// Whether the history holds a file, named as the workspace shows it.
    #[must_use]
    pub fn has(&self, shown: &str) -> bool {
        self.below(shown).is_some_and(|path| self.files.contains_key(path))
    }

    /// Whether a person, and not only screening, approved these bytes of one file.
    #[must_use]
    pub fn is_approved_by_person(&self, shown: &str, digest: &[u8; 32]) -> bool {
        let file = self.below(shown).and_then(|path| self.files.get(path));
        file.is_some_and(|file| file.approved && file.by != SCREENING && file.digest == *digest)
    }

    fn below<'p>(&self, shown: &'p str) -> Option<&'p str> {
        shown.strip_prefix(&self.directory)?.strip_prefix('/')
    }

    /// The tracked files of the folder that a skill's own file is in; only itself, if it is in none.
    fn in_folder<'a>(&'a self, main: &str) -> impl Iterator<Item = (&'a str, &'a TrackedFile)> {
        let start =
            main.rsplit_once('/').map_or_else(|| main.to_owned(), |(dir, _)| format!("{dir}/"));
        let files = self.files.range(start.clone()..);
        files.take_while(move |(p, _)| p.starts_with(&start)).map(|(p, file)| (p.as_str(), file))
    }

    /// Whether the files beside a skill's own are those that were approved with it.
    fn covers_folder(
        &self,
        main: &str,
        beside: impl FnOnce() -> Option<BTreeMap<String, [u8; 32]>>,
    ) -> bool {
        if !main.contains('/') {
            return true;
        }
        let Some(found) = beside() else { return false };
        let found: BTreeMap<&str, &[u8; 32]> = found
            .iter()
            .map(|(shown, digest)| (self.below(shown).unwrap_or(shown), digest))
            .collect();
        let mut known = self.in_folder(main).filter(|(path, _)| *path != main);
        let mut count = 0;
        known.all(|(path, file)| {
            count += 1;
            file.approved && found.get(path).is_some_and(|digest| **digest == file.digest)
        }) && count == found.len()
    }

    /// Who approved a skill: screening, if no person saw one of its files.
    fn approved_by(&self, main: &str, own: &TrackedFile) -> String {
        let mut files = self.in_folder(main).filter(|_| main.contains('/'));
        let unseen = files.find(|(_, file)| file.by == SCREENING);
        unseen.map_or_else(|| own.by.clone(), |(_, file)| file.by.clone())
    }

    /// What a skill can do: every commit was screened with all files of its skill, so the newest knows.
    fn can_do(&self, main: &str) -> Option<String> {
        if !main.contains('/') {
            return self.files.get(main)?.can_do.clone();
        }
        // Commits of one second count as one, and the longer list is the safer one to show.
        let newest = self.in_folder(main).map(|(_, file)| file).filter(|file| file.approved);
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

/// The files beside a skill's own; nothing if they cannot be read.
fn beside(
    workspace: &Workspace,
    root: &str,
    dir: Option<&str>,
) -> Option<BTreeMap<String, [u8; 32]>> {
    dir.map_or_else(|| Some(BTreeMap::new()), |dir| workspace.skill_digests(root, dir).ok())
}

/// The directory of skills without what does not change where it leads.
pub(crate) fn clean(directory: &str) -> &str {
    directory.trim_end_matches('/').trim_start_matches("./")
}
