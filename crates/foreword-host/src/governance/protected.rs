//! What a sandbox makes read-only and what it hides, for an agent that works in one directory.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use foreword_workspace::{
    Governed, PRIVATE_DIR, PersonalGit, Repositories, RepositoryLookup, Tree, TrustStore, Workspace,
};

use crate::error::HostError;
use crate::host::Host;

/// In the private directory: where repositories and workspaces were found inside this one.
const PLACES_FILE: &str = "places";
const MAX_PLACES_BYTES: u64 = 1 << 20;
/// Of so many workspaces inside this one the governed files are protected one by one, of further ones
/// everything.
const MAX_NESTED: usize = 50;

/// Paths of a workspace that an agent must not write, or not see.
#[derive(Debug)]
pub(crate) struct ProtectedPaths {
    pub(crate) governed: Governed,
    pub(crate) repositories: Repositories,
    /// Absolute, existing, links resolved.
    pub(crate) read_only: Vec<PathBuf>,
    /// The private directories of this workspace and of those inside it.
    pub(crate) private: Vec<PathBuf>,
}

impl Host {
    /// Looks up what is to be protected from an agent that works in `cwd`.
    pub(crate) fn protected_paths(&self, cwd: &Path) -> Result<ProtectedPaths, HostError> {
        let governed = self.governed(Some(cwd))?;
        let lookup = RepositoryLookup {
            root: self.root.clone(),
            cwd: Some(cwd.to_path_buf()),
            known: self.known_places(),
            person: self.personal_git(),
        };
        let repositories = Repositories::find(&lookup);
        self.keep_places(&lookup.known, &repositories.places());
        let mut read_only: BTreeSet<PathBuf> = governed.read_only().into_iter().collect();
        read_only.extend(repositories.read_only());
        let mut private = vec![governed.private()];
        for (count, nested) in self.nested_workspaces(&repositories).into_iter().enumerate() {
            let own = nested.join(PRIVATE_DIR);
            if fs::symlink_metadata(&own).is_ok_and(|meta| meta.is_dir()) {
                private.push(own);
            }
            match Workspace::open(&nested).and_then(|workspace| workspace.governed()) {
                Ok(governed) if count < MAX_NESTED => read_only.extend(governed.read_only()),
                // What cannot be told apart is protected as a whole, unless the agent works in it.
                _ if !cwd.starts_with(&nested) => {
                    read_only.insert(nested);
                }
                _ => {}
            }
        }
        let read_only = read_only.into_iter().collect();
        Ok(ProtectedPaths { governed, repositories, read_only, private })
    }

    /// The workspaces inside this one: those that were trusted, and those that were met.
    fn nested_workspaces(&self, repositories: &Repositories) -> BTreeSet<PathBuf> {
        let known = TrustStore::workspaces_inside(&self.options.config_dir, &self.root);
        let met = repositories.nested_workspaces().map(|nested| self.root.join(nested));
        // A path with a link in it is not where anything would be mounted.
        let plain = |path: &PathBuf| path.canonicalize().is_ok_and(|found| found == *path);
        known.into_iter().chain(met).filter(plain).collect()
    }

    /// The person's own settings of git, which apply in every repository.
    fn personal_git(&self) -> PersonalGit {
        let path = |name: &str| (self.options.environment)(name).map(PathBuf::from);
        PersonalGit::of(
            self.options.home.as_deref(),
            path("XDG_CONFIG_HOME").as_deref(),
            path("GIT_CONFIG_GLOBAL").as_deref(),
        )
    }

    /// Where repositories were found before. Agents cannot see this file, so a flood that cuts the
    /// search short hides none of them.
    fn known_places(&self) -> BTreeSet<PathBuf> {
        let file = Path::new(PRIVATE_DIR).join(PLACES_FILE);
        let read = Tree::open(&self.root).and_then(|tree| tree.read(file, MAX_PLACES_BYTES));
        let text = read.ok().flatten().and_then(|bytes| String::from_utf8(bytes).ok());
        let is_plain =
            |path: &PathBuf| path.components().all(|part| matches!(part, Component::Normal(_)));
        text.unwrap_or_default().lines().map(PathBuf::from).filter(is_plain).collect()
    }

    /// Writes down where they are now. Without this file the search still finds what it can.
    fn keep_places(&self, known: &BTreeSet<PathBuf>, now: &BTreeSet<PathBuf>) {
        if known == now {
            return;
        }
        let lines = now.iter().filter_map(|path| path.to_str()).filter(|path| !path.contains('\n'));
        let text: String = lines.map(|line| format!("{line}\n")).collect();
        let directory = self.root.join(PRIVATE_DIR);
        let part = directory.join(format!("{PLACES_FILE}.{}", std::process::id()));
        let kept =
            fs::write(&part, text).and_then(|()| fs::rename(&part, directory.join(PLACES_FILE)));
        if let Err(error) = kept {
            tracing::warn!("cannot write {}: {error}", directory.join(PLACES_FILE).display());
        }
    }
}
