//! Finding the governed paths of a workspace. Links are read, never followed by the system.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::config::CONFIG_FILE;
use crate::error::WorkspaceError;
use crate::governed::{Governed, GovernedGroup, GovernedLink, INSTRUCTIONS, LOCK_FILE, is_below};
use crate::private::PRIVATE_DIR;
use crate::rel_path::RelPath;
use crate::tools::TOOLS_FILE;
use crate::workspace::Workspace;

/// Entries that governed directories may have together.
pub(crate) const MAX_GOVERNED: usize = 50_000;
/// Entries the search for nested instructions looks at before it stops.
const MAX_WALKED: usize = 100_000;
/// Links followed from one path, as the kernel does.
const MAX_LINK_HOPS: usize = 40;
/// Directories without instructions for anybody, and with very many entries.
const PASSED_OVER: [&str; 2] = ["node_modules", "target"];

const AT_THE_ROOT: [(&str, GovernedGroup); 15] = [
    (CONFIG_FILE, GovernedGroup::Settings),
    (TOOLS_FILE, GovernedGroup::Settings),
    (LOCK_FILE, GovernedGroup::Settings),
    ("AGENTS.md", GovernedGroup::Instructions),
    ("CLAUDE.md", GovernedGroup::Instructions),
    ("CONTEXT.md", GovernedGroup::Identity),
    ("SOUL.md", GovernedGroup::Identity),
    ("IDENTITY.md", GovernedGroup::Identity),
    ("USER.md", GovernedGroup::Identity),
    ("USER_BOOTSTRAP.md", GovernedGroup::Identity),
    ("TOOLS.md", GovernedGroup::Identity),
    ("HEARTBEAT.md", GovernedGroup::Identity),
    ("BOOTSTRAP.md", GovernedGroup::Identity),
    ("agents", GovernedGroup::Agents),
    ("prompts", GovernedGroup::Prompts),
];

/// The search, and what it has found.
pub(crate) struct Finder<'a> {
    workspace: &'a Workspace,
    root: PathBuf,
    paths: BTreeMap<String, GovernedGroup>,
    links: BTreeMap<String, GovernedLink>,
    absent: BTreeMap<String, GovernedGroup>,
    outside: Vec<PathBuf>,
    complete: bool,
    /// Governed directories whose links are yet to be looked at.
    unwalked: VecDeque<(String, GovernedGroup)>,
    entries: usize,
    most_governed: usize,
    most_walked: usize,
}

impl<'a> Finder<'a> {
    pub(crate) fn new(workspace: &'a Workspace) -> Self {
        Self {
            workspace,
            root: workspace.files.directory().to_path_buf(),
            paths: BTreeMap::new(),
            links: BTreeMap::new(),
            absent: BTreeMap::new(),
            outside: Vec::new(),
            complete: true,
            unwalked: VecDeque::new(),
            entries: 0,
            most_governed: MAX_GOVERNED,
            most_walked: MAX_WALKED,
        }
    }

    #[cfg(test)]
    pub(crate) fn within(self, most_governed: usize, most_walked: usize) -> Self {
        Self { most_governed, most_walked, ..self }
    }

    pub(crate) fn find(mut self, cwd: Option<&Path>) -> Result<Governed, WorkspaceError> {
        for (name, group) in AT_THE_ROOT {
            self.take(name, group)?;
        }
        self.take(&format!("{PRIVATE_DIR}/layers"), GovernedGroup::Prompts)?;
        self.skills()?;
        self.blueprints()?;
        self.links_of_directories()?;
        self.nested_instructions()?;
        if let Some(cwd) = cwd {
            for directory in self.workspace.files.directories_towards(cwd)? {
                for name in INSTRUCTIONS {
                    self.take(&format!("{directory}/{name}"), GovernedGroup::Instructions)?;
                }
            }
        }
        self.links_of_directories()?;
        Ok(self.finish())
    }

    /// Drops what lies below a governed directory: that is governed with it.
    fn finish(self) -> Governed {
        let Self { root, paths: all, mut links, mut absent, outside, complete, .. } = self;
        let mut paths: BTreeMap<String, GovernedGroup> = BTreeMap::new();
        let covered = |paths: &BTreeMap<String, GovernedGroup>, path: &str| {
            ancestors(path).any(|outer| paths.contains_key(outer))
        };
        // A directory sorts before what lies in it, though not always right before it.
        for (path, group) in all {
            if !covered(&paths, &path) {
                paths.insert(path, group);
            }
        }
        links.retain(|path, _| !covered(&paths, path));
        absent.retain(|path, _| !covered(&paths, path));
        Governed { root, paths, links, absent, outside, complete }
    }

    fn skills(&mut self) -> Result<(), WorkspaceError> {
        let settings = &self.workspace.config().skills;
        if let Ok(own) = RelPath::parse(&settings.directory) {
            self.take(own.as_str(), GovernedGroup::Skills)?;
        }
        for root in &settings.roots {
            match self.inside(&self.root.join(root)) {
                Some(rel) if !rel.is_empty() => self.take(&rel, GovernedGroup::Skills)?,
                Some(_) => {}
                None => self.outside.push(self.root.join(root)),
            }
        }
        Ok(())
    }

    /// Blueprints of the workspace and its agents, those they extend, and the files they show.
    ///
    /// A blueprint or an agent that cannot be read names nothing: no prompt is made from it either.
    fn blueprints(&mut self) -> Result<(), WorkspaceError> {
        let mut names = vec![self.workspace.config().blueprint.clone()];
        for id in self.workspace.agent_ids().unwrap_or_default() {
            names.extend(self.workspace.agent(&id).ok().and_then(|agent| agent.blueprint));
        }
        let mut seen = BTreeSet::new();
        while let Some(name) = names.pop() {
            let is_file = name.ends_with(".toml") || name.contains('/');
            let Some(path) = RelPath::parse(&name).ok().filter(|_| is_file) else { continue };
            if !seen.insert(path.as_str().to_owned()) {
                continue;
            }
            self.take(path.as_str(), GovernedGroup::Settings)?;
            let Ok(Some(file)) = self.workspace.read(&path) else { continue };
            let Ok(table) = toml::from_str::<toml::Table>(&file.text) else { continue };
            names.extend(table.get("extends").and_then(toml::Value::as_str).map(str::to_owned));
            let modules = table.get("module").and_then(toml::Value::as_array);
            for module in modules.into_iter().flatten() {
                let shown = module.get("file").and_then(toml::Value::as_str);
                if let Some(Ok(shown)) = shown.map(RelPath::parse) {
                    self.take(shown.as_str(), GovernedGroup::Prompts)?;
                }
            }
        }
        Ok(())
    }

    /// Takes a path in, name by name; links on the way are noted and their targets taken in.
    fn take(&mut self, rel: &str, group: GovernedGroup) -> Result<(), WorkspaceError> {
        let mut rest: VecDeque<String> = rel.split('/').map(str::to_owned).collect();
        let mut walked = String::new();
        let mut hops = 0;
        while let Some(name) = rest.pop_front() {
            let at = join(&walked, &name);
            let meta = match fs::symlink_metadata(self.root.join(&at)) {
                Ok(meta) => meta,
                Err(error) if is_absence(&error) => {
                    let full = rest.iter().fold(at, |path, name| join(&path, name));
                    self.absent.entry(full).or_insert(group);
                    return Ok(());
                }
                Err(source) => return Err(WorkspaceError::Io { path: at, source }),
            };
            if !meta.is_symlink() {
                walked = at;
                continue;
            }
            let target = fs::read_link(self.root.join(&at))
                .map_err(|source| WorkspaceError::Io { path: at.clone(), source })?;
            let leads_to = self.inside(&self.root.join(&walked).join(&target));
            self.links.entry(at).or_insert(GovernedLink { group, target });
            hops += 1;
            let Some(leads_to) = leads_to.filter(|_| hops <= MAX_LINK_HOPS) else { return Ok(()) };
            for name in leads_to.rsplit('/').filter(|name| !name.is_empty()) {
                rest.push_front(name.to_owned());
            }
            walked.clear();
        }
        // The workspace itself is not governed, whatever a link says.
        if walked.is_empty() || self.paths.contains_key(&walked) {
            return Ok(());
        }
        if self.root.join(&walked).is_dir() {
            self.unwalked.push_back((walked.clone(), group));
        }
        self.paths.insert(walked, group);
        Ok(())
    }

    /// What lies in the workspace of an absolute path, `..` taken away; links are not looked at.
    fn inside(&self, path: &Path) -> Option<String> {
        let mut plain = PathBuf::new();
        for component in path.components() {
            match component {
                Component::ParentDir => {
                    plain.pop();
                }
                Component::CurDir => {}
                other => plain.push(other),
            }
        }
        let below = plain.strip_prefix(&self.root).ok()?;
        let names: Option<Vec<&str>> = below.components().map(|c| c.as_os_str().to_str()).collect();
        Some(names?.join("/"))
    }

    /// A link in a governed directory can lead to a file that is not in one.
    fn links_of_directories(&mut self) -> Result<(), WorkspaceError> {
        while let Some((directory, group)) = self.unwalked.pop_front() {
            for entry in self.list(&directory)? {
                self.entries += 1;
                if self.entries > self.most_governed {
                    return Err(WorkspaceError::TooManyEntries {
                        path: directory,
                        limit: self.most_governed,
                    });
                }
                let path = join(&directory, &entry.name);
                if entry.is_dir {
                    self.unwalked.push_back((path, group));
                } else if entry.is_link && !self.leads_around(&path) {
                    self.take(&path, group)?;
                }
            }
        }
        Ok(())
    }

    /// Whether a link leads to a directory around it: following it would govern half the workspace.
    fn leads_around(&self, path: &str) -> bool {
        let link = self.root.join(path);
        let target = fs::read_link(&link).unwrap_or_default();
        let directory = link.parent().unwrap_or(&self.root);
        self.inside(&directory.join(target)).is_some_and(|to| to.is_empty() || is_below(path, &to))
    }

    fn nested_instructions(&mut self) -> Result<(), WorkspaceError> {
        let mut directories = VecDeque::from([String::new()]);
        let mut entries = 0;
        while let Some(directory) = directories.pop_front() {
            // What cannot be listed cannot be read by a session either.
            let Ok(listed) = self.list(&directory) else { continue };
            for entry in listed {
                entries += 1;
                if entries > self.most_walked {
                    self.complete = false;
                    return Ok(());
                }
                let path = join(&directory, &entry.name);
                if INSTRUCTIONS.contains(&entry.name.as_str()) {
                    self.take(&path, GovernedGroup::Instructions)?;
                } else if entry.is_dir
                    && !entry.name.starts_with('.')
                    && !PASSED_OVER.contains(&entry.name.as_str())
                    && !self.paths.contains_key(&path)
                {
                    directories.push_back(path);
                }
            }
        }
        Ok(())
    }

    /// The entries of a directory. Names that are not Unicode are nobody's: no reader takes them.
    fn list(&self, directory: &str) -> Result<Vec<Listed>, WorkspaceError> {
        let io = |source| WorkspaceError::Io { path: directory.to_owned(), source };
        let mut listed = Vec::new();
        for entry in fs::read_dir(self.root.join(directory)).map_err(io)? {
            let entry = entry.map_err(io)?;
            let kind = entry.file_type().map_err(io)?;
            if let Ok(name) = entry.file_name().into_string() {
                listed.push(Listed { name, is_dir: kind.is_dir(), is_link: kind.is_symlink() });
            }
            if listed.len() > MAX_WALKED {
                break;
            }
        }
        listed.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(listed)
    }
}

struct Listed {
    name: String,
    is_dir: bool,
    is_link: bool,
}

fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}

fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter_map(|(at, _)| path.get(..at))
}

/// Nothing there, or a file where a directory would have to be.
fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
