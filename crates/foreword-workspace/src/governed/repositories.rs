//! The repositories in a workspace: the person's own git runs what their settings and hooks say, so an
//! agent that can write those is out.
//!
//! A repository is looked up by name: in every directory from the root to the one an agent works in, in
//! the directory around the workspace, where submodules and linked work trees are, and where one was
//! found before. A bounded walk adds repositories that lie elsewhere. A flood of files can cut the walk
//! short, which is reported; it cannot hide what was looked up.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::PRIVATE_DIR;
use crate::error::WorkspaceError;
use crate::governed::git_settings::{self, Named, PersonalGit};
use crate::governed::names::{LeadsTo, follow, inside};
use crate::tree::{Opened, Tree, TreeEntryKind};

/// What in a repository decides what git runs, or where it looks for that.
const RUN_BY_GIT: [&str; 15] = [
    "branches",
    "commondir",
    "config",
    "config.worktree",
    "gitdir",
    "hooks",
    "info",
    "modules",
    "objects/info/alternates",
    "objects/info/http-alternates",
    "rebase-apply",
    "rebase-merge",
    "remotes",
    "sequencer",
    "worktrees",
];
/// Hooks that git knows, for a directory of hooks that holds the work itself.
const HOOKS: [&str; 28] = [
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "p4-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
    "p4-prepare-changelist",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-receive",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "proc-receive",
    "push-to-checkout",
    "reference-transaction",
    "sendemail-validate",
    "update",
];
/// Entries of a workspace that are walked, the outermost first.
pub const MAX_ENTRIES: usize = 200_000;
/// Of so many repositories the parts are protected one by one, of further ones everything.
const MAX_COMPONENTS: usize = 100;
/// Directories that are looked at because settings name them as submodules.
const MAX_SUBMODULES: usize = 5_000;
/// Bytes of a `.git` file or a `commondir`.
const MAX_POINTER_BYTES: u64 = 8192;
/// Bytes of a `.gitmodules`.
const MAX_MODULES_BYTES: u64 = 1 << 20;

/// Where the repositories of a workspace are looked up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RepositoryLookup {
    /// The workspace, absolute and with all links resolved.
    pub root: PathBuf,
    /// The directory an agent works in, absolute and with all links resolved; the root if absent.
    pub cwd: Option<PathBuf>,
    /// Directories, relative to the root, that held a repository or a workspace before.
    pub known: BTreeSet<PathBuf>,
    /// The person's own settings.
    pub person: PersonalGit,
}

/// The settings and hooks of the repositories in a workspace, as far as they exist: git runs them when
/// the person works there. Add them to `SandboxSpec::governed`.
#[must_use]
pub fn run_by_host(workspace: &Path) -> Vec<PathBuf> {
    let root = workspace.to_path_buf();
    Repositories::find(&RepositoryLookup { root, ..RepositoryLookup::default() }).read_only()
}

/// What makes a directory a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mark {
    Directory,
    File,
    Link(PathBuf),
}

/// The repositories in a workspace. Paths are relative to it; links are not followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repositories {
    lookup: RepositoryLookup,
    /// Every `.git`, and the `HEAD` of directories that are repositories without that name.
    marks: BTreeMap<PathBuf, Mark>,
    /// Where their settings are.
    directories: BTreeSet<PathBuf>,
    /// Directories that were looked at by their names.
    by_name: BTreeSet<PathBuf>,
    /// Directories below the root that are workspaces of their own.
    nested: BTreeSet<PathBuf>,
    /// What their settings name, and what of that is not there.
    named: BTreeSet<PathBuf>,
    named_absent: BTreeSet<PathBuf>,
    /// Links where settings would be.
    links: BTreeMap<PathBuf, PathBuf>,
    /// Directories that could not be listed.
    closed: BTreeSet<PathBuf>,
    /// Everything less deep than this was walked; nothing if everything was.
    searched: Option<usize>,
    faults: Vec<String>,
}

impl Repositories {
    /// Looks them up, and walks the workspace for others.
    #[must_use]
    pub fn find(lookup: &RepositoryLookup) -> Self {
        Self::search(lookup, |path| fs::read_dir(path), MAX_ENTRIES)
    }

    /// Finds them again. Directories that have been closed since are opened, for nothing may hide there.
    #[must_use]
    pub fn find_again(&self) -> Self {
        let list = |path: &Path| match fs::read_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let known =
                    path.strip_prefix(&self.lookup.root).is_ok_and(|at| self.closed.contains(at));
                if known {
                    return Err(error);
                }
                fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
                fs::read_dir(path)
            }
            listed => listed,
        };
        Self::search(&self.lookup, list, MAX_ENTRIES)
    }

    fn search(
        lookup: &RepositoryLookup,
        list: impl Fn(&Path) -> io::Result<fs::ReadDir>,
        most: usize,
    ) -> Self {
        let mut found = Self {
            lookup: lookup.clone(),
            marks: BTreeMap::new(),
            directories: BTreeSet::new(),
            by_name: BTreeSet::new(),
            nested: BTreeSet::new(),
            named: BTreeSet::new(),
            named_absent: BTreeSet::new(),
            links: BTreeMap::new(),
            closed: BTreeSet::new(),
            searched: None,
            faults: Vec::new(),
        };
        for directory in found.way_to_cwd().into_iter().chain(lookup.known.iter().cloned()) {
            found.look_in(directory);
        }
        found.walk(list, most);
        found.submodules();
        found.read_settings();
        for path in found.parts() {
            if let Ok(target) = fs::read_link(found.lookup.root.join(&path)) {
                found.links.insert(path, target);
            }
        }
        found
    }

    /// The root, and every directory from it to the one an agent works in.
    fn way_to_cwd(&self) -> Vec<PathBuf> {
        let cwd = self.lookup.cwd.as_deref().unwrap_or(&self.lookup.root);
        let below = cwd.strip_prefix(&self.lookup.root).unwrap_or(Path::new(""));
        below.ancestors().map(Path::to_path_buf).collect()
    }

    /// Looks whether a directory is a repository or the work tree of one.
    fn look_in(&mut self, directory: PathBuf) {
        let at = self.lookup.root.join(&directory);
        let kind = |name: &str| fs::symlink_metadata(at.join(name)).map(|meta| meta.file_type());
        if directory.starts_with(PRIVATE_DIR) || !self.by_name.insert(directory.clone()) {
            return;
        }
        if let Ok(kind) = kind(".git") {
            self.take(directory.join(".git"), kind);
        }
        if !directory.as_os_str().is_empty() && kind(PRIVATE_DIR).is_ok_and(|kind| kind.is_dir()) {
            self.nested.insert(directory.clone());
        }
        let there = |name: &str| kind(name).is_ok();
        if there("HEAD") && (there("objects") && there("refs") || there("commondir")) {
            self.take_bare(directory);
        }
    }

    fn walk(&mut self, list: impl Fn(&Path) -> io::Result<fs::ReadDir>, most: usize) {
        let (mut level, mut depth, mut entries) = (vec![PathBuf::new()], 0, 0);
        while !level.is_empty() {
            let mut next = Vec::new();
            for directory in level {
                let Ok(listed) = list(&self.lookup.root.join(&directory)) else {
                    self.closed.insert(directory);
                    continue;
                };
                let mut parts =
                    [("HEAD", false), ("objects", false), ("refs", false), ("commondir", false)];
                for entry in listed.flatten() {
                    entries += 1;
                    if entries > most {
                        self.searched = Some(depth);
                        return;
                    }
                    let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
                    let path = directory.join(&name);
                    if name.eq_ignore_ascii_case(".git") {
                        self.take(path, kind);
                        continue;
                    }
                    if name == PRIVATE_DIR {
                        if kind.is_dir() && !directory.as_os_str().is_empty() {
                            self.nested.insert(directory.clone());
                        }
                        continue;
                    }
                    for (part, there) in &mut parts {
                        *there |= name == *part;
                    }
                    if kind.is_dir() {
                        next.push(path);
                    }
                }
                let [(_, head), (_, objects), (_, refs), (_, elsewhere)] = parts;
                if head && (objects && refs || elsewhere) {
                    self.take_bare(directory);
                }
            }
            level = next;
            depth += 1;
        }
    }

    fn take(&mut self, path: PathBuf, kind: fs::FileType) {
        let mark = if kind.is_symlink() {
            Mark::Link(fs::read_link(self.lookup.root.join(&path)).unwrap_or_default())
        } else if kind.is_dir() {
            self.directories.insert(path.clone());
            Mark::Directory
        } else {
            Mark::File
        };
        self.marks.insert(path, mark);
    }

    fn take_bare(&mut self, directory: PathBuf) {
        self.marks.insert(directory.join("HEAD"), Mark::File);
        self.directories.insert(directory);
    }

    /// Looks where `.gitmodules` and the settings of modules say that submodules are.
    fn submodules(&mut self) {
        let Ok(tree) = Tree::open_as(&self.lookup.root, "") else { return };
        let mut unread: Vec<PathBuf> = self.marks.keys().cloned().collect();
        let mut looked_at = 0;
        while let Some(mark) = unread.pop() {
            let work_tree = mark.parent().unwrap_or(Path::new("")).to_path_buf();
            let modules = match tree.read(work_tree.join(".gitmodules"), MAX_MODULES_BYTES) {
                Ok(modules) => modules.unwrap_or_default(),
                Err(fault) => {
                    self.faults.push(fault.to_string());
                    continue;
                }
            };
            let paths = git_settings::parse(&modules).into_iter().filter(|setting| {
                setting.section == "submodule" && setting.key == "path" && !setting.value.is_empty()
            });
            let at = self.lookup.root.join(&work_tree);
            let named = paths.map(|setting| at.join(setting.value));
            for path in named.chain(module_work_trees(&tree, &mark)) {
                looked_at += 1;
                if looked_at > MAX_SUBMODULES {
                    let fault = WorkspaceError::TooManyEntries {
                        path: work_tree.join(".gitmodules").display().to_string(),
                        limit: MAX_SUBMODULES,
                    };
                    self.faults.push(fault.to_string());
                    return;
                }
                let Some(below) = inside(&self.lookup.root, &path) else { continue };
                let before = self.marks.len();
                self.look_in(PathBuf::from(&below));
                if self.marks.len() > before {
                    unread.push(Path::new(&below).join(".git"));
                }
            }
        }
    }

    /// Reads the settings of every repository, and of the one around the workspace.
    fn read_settings(&mut self) {
        let root = self.lookup.root.clone();
        let around = root.ancestors().skip(1).map(|outer| outer.join(".git"));
        let around = around.filter(|mark| fs::symlink_metadata(mark).is_ok()).take(1);
        let marks: Vec<PathBuf> =
            self.marks.keys().map(|mark| root.join(mark)).chain(around).collect();
        // Personal settings name files relative to a work tree; without a repository there is none.
        for mark in marks {
            let Some(work_tree) = mark.parent() else { continue };
            let is_bare = mark.file_name().is_some_and(|name| name == "HEAD");
            let Some(git_dir) =
                (if is_bare { Some(work_tree.to_path_buf()) } else { git_dir(&mark) })
            else {
                continue;
            };
            if let Some(below) = inside(&root, &git_dir).filter(|below| !below.is_empty()) {
                self.directories.insert(PathBuf::from(below));
            }
            let common = pointer(&git_dir.join("commondir"), "").map(|to| git_dir.join(to));
            let mut files = vec![git_dir.join("config"), git_dir.join("config.worktree")];
            files.extend(common.map(|common| common.join("config")));
            let named = Named::by(files, work_tree, &self.lookup.person);
            self.faults.extend(named.faults.iter().map(ToString::to_string));
            for file in &named.files {
                self.name(file, false);
            }
            for hooks in &named.hooks {
                let work = self.lookup.cwd.as_ref().unwrap_or(&root);
                let below = inside(&root, hooks).map(|below| root.join(below));
                if below.is_some_and(|hooks| !work.starts_with(hooks)) {
                    self.name(hooks, true);
                } else {
                    // Making the work itself read-only would leave nothing to work on.
                    HOOKS.iter().for_each(|hook| self.name(&hooks.join(hook), false));
                }
            }
        }
        self.faults.sort();
        self.faults.dedup();
    }

    /// Takes in a path that settings name, if it lies in the workspace.
    fn name(&mut self, path: &Path, directories_count: bool) {
        let root = &self.lookup.root;
        let Some(below) = inside(root, path).filter(|below| !below.is_empty()) else { return };
        let links = &mut self.links;
        let leads_to = follow(root, &below, |at, target| {
            links.insert(PathBuf::from(at), target);
        });
        match leads_to {
            Ok(LeadsTo::There(at)) if at.is_empty() || Path::new(&at).starts_with(PRIVATE_DIR) => {}
            Ok(LeadsTo::There(at)) => {
                if directories_count || !root.join(&at).is_dir() {
                    self.named.insert(PathBuf::from(at));
                }
            }
            Ok(LeadsTo::Nothing(at)) => {
                self.named_absent.insert(PathBuf::from(at));
            }
            Ok(LeadsTo::Elsewhere) => {}
            Err(fault) => self.faults.push(fault.to_string()),
        }
    }

    fn parts(&self) -> Vec<PathBuf> {
        let parts = |directory: &PathBuf| RUN_BY_GIT.map(|name| directory.join(name));
        self.directories.iter().flat_map(parts).collect()
    }

    /// What there is of settings, hooks and whatever they name, as absolute paths, that of links
    /// included.
    #[must_use]
    pub fn read_only(&self) -> Vec<PathBuf> {
        let root = &self.lookup.root;
        let mut found = BTreeSet::new();
        let mut directories: Vec<&PathBuf> = self.directories.iter().collect();
        directories.sort_by_key(|directory| directory.components().count());
        for (count, directory) in directories.into_iter().enumerate() {
            if count >= MAX_COMPONENTS && !directory.as_os_str().is_empty() {
                found.insert(root.join(directory));
                continue;
            }
            for name in RUN_BY_GIT {
                found.extend(fs::canonicalize(root.join(directory).join(name)));
            }
        }
        let files = self.marks.iter().filter(|(path, mark)| {
            **mark == Mark::File && path.file_name().is_some_and(|name| name != "HEAD")
        });
        found.extend(files.map(|(path, _)| root.join(path)));
        found.extend(self.named.iter().map(|path| root.join(path)));
        found.retain(|path| path.starts_with(root) && path != root);
        found.into_iter().collect()
    }

    /// Settings and hooks that are not there.
    #[must_use]
    pub fn absent(&self) -> Vec<PathBuf> {
        let nothing = |path: &PathBuf| fs::symlink_metadata(self.lookup.root.join(path)).is_err();
        let named = self.named_absent.iter().cloned();
        self.parts().into_iter().chain(named).filter(nothing).collect()
    }

    /// Links where settings are, or repositories.
    pub fn links(&self) -> impl Iterator<Item = (&Path, &Path)> {
        let marks = self.marks.iter().filter_map(|(path, mark)| match mark {
            Mark::Link(target) => Some((path, target)),
            _ => None,
        });
        self.links.iter().chain(marks).map(|(path, target)| (path.as_path(), target.as_path()))
    }

    /// What of another search was not there in this one. Where this one did not get, nobody can tell.
    #[must_use]
    pub fn appeared_in(&self, now: &Self) -> Vec<PathBuf> {
        let looked_at = |path: &Path| {
            let directory = path.parent().unwrap_or(Path::new(""));
            let depth = path.components().count().saturating_sub(1);
            self.searched.is_none_or(|searched| depth < searched)
                || self.by_name.contains(directory)
        };
        let new = now.marks.iter().filter(|(path, mark)| {
            self.marks.get(*path) != Some(*mark) && looked_at(path.as_path())
        });
        new.map(|(path, _)| path.clone()).collect()
    }

    /// The directories that hold a repository or a workspace, for [`RepositoryLookup::known`] of the
    /// next search.
    #[must_use]
    pub fn places(&self) -> BTreeSet<PathBuf> {
        let holding = self.marks.keys().filter_map(|mark| mark.parent());
        holding.chain(self.nested_workspaces()).map(Path::to_path_buf).collect()
    }

    /// The directories below the root that are workspaces of their own: they have a private directory.
    pub fn nested_workspaces(&self) -> impl Iterator<Item = &Path> {
        self.nested.iter().map(PathBuf::as_path)
    }

    /// Settings that could not be read, in words.
    #[must_use]
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    /// Whether the walk got everywhere. What is looked up by name does not depend on it.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.searched.is_none()
    }
}

/// The directory a `.git` leads to; `None` if it leads nowhere.
fn git_dir(mark: &Path) -> Option<PathBuf> {
    let meta = fs::metadata(mark).ok()?;
    if meta.is_dir() {
        return fs::canonicalize(mark).ok();
    }
    let to = pointer(mark, "gitdir:")?;
    Some(mark.parent()?.join(to))
}

/// What a file of one line says after a word.
fn pointer(file: &Path, word: &str) -> Option<PathBuf> {
    let bytes = Opened::named(file).ok()?.read("", MAX_POINTER_BYTES).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let says = text.lines().next()?.strip_prefix(word)?.trim();
    (!says.is_empty()).then(|| PathBuf::from(says))
}

/// The work trees that the modules of a repository say they have, absolute.
fn module_work_trees(tree: &Tree, mark: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = MAX_SUBMODULES;
    let mut directories = vec![mark.join("modules")];
    while let Some(directory) = directories.pop() {
        let Ok(Some(listed)) = tree.list(&directory, left) else { continue };
        left = left.saturating_sub(listed.len());
        if listed.iter().any(|entry| entry.name == "HEAD") {
            let config = tree.read(directory.join("config"), MAX_MODULES_BYTES);
            let settings = git_settings::parse(&config.ok().flatten().unwrap_or_default());
            let work_trees = settings.into_iter().filter(|setting| setting.key == "worktree");
            let at = tree.path().join(&directory);
            found.extend(work_trees.map(|setting| at.join(setting.value)));
            directories.push(directory.join("modules"));
        } else {
            let inner = listed.into_iter().filter(|entry| entry.kind == TreeEntryKind::Directory);
            directories.extend(inner.map(|entry| directory.join(entry.name)));
        }
    }
    found
}

#[cfg(test)]
#[path = "repositories_tests.rs"]
mod tests;
