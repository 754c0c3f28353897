//! The governed paths of a workspace, looked up by name.
//!
//! No walk decides what is governed: the names are known, and so are the directories in which they
//! count, from the root of the workspace to the directory an agent works in. Files of these names
//! anywhere else are never opened for a prompt, so there is nothing to hide by flooding a tree.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use crate::config::CONFIG_FILE;
use crate::error::WorkspaceError;
use crate::governed::names::{LeadsTo, follow, inside, join};
use crate::governed::{Governed, GovernedGroup, GovernedLink, INSTRUCTIONS, LOCK_FILE, is_below};
use crate::mcp::json_file::MCP_FILE;
use crate::migration::MIGRATION_FILE;
use crate::private::PRIVATE_DIR;
use crate::rel_path::RelPath;
use crate::tools::TOOLS_FILE;
use crate::tree::{Tree, TreeEntryKind};
use crate::workspace::Workspace;

/// Entries that governed directories may have together.
pub(crate) const MAX_GOVERNED: usize = 50_000;

/// Files and folders at the root that speak to the model or change how.
pub(crate) const AT_THE_ROOT: [(&str, GovernedGroup); 17] = [
    (CONFIG_FILE, GovernedGroup::Settings),
    (TOOLS_FILE, GovernedGroup::Settings),
    (LOCK_FILE, GovernedGroup::Settings),
    (MIGRATION_FILE, GovernedGroup::Settings),
    (MCP_FILE, GovernedGroup::Settings),
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

/// What has been looked up so far.
pub(crate) struct Finder<'a> {
    workspace: &'a Workspace,
    root: PathBuf,
    paths: BTreeMap<String, GovernedGroup>,
    links: BTreeMap<String, GovernedLink>,
    absent: BTreeMap<String, GovernedGroup>,
    outside: Vec<PathBuf>,
    /// Governed directories whose links are yet to be looked at.
    unwalked: VecDeque<(String, GovernedGroup)>,
    entries: usize,
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
            unwalked: VecDeque::new(),
            entries: 0,
        }
    }

    pub(crate) fn find(mut self, cwd: Option<&Path>) -> Result<Governed, WorkspaceError> {
        for (name, group) in AT_THE_ROOT {
            self.take(name, group)?;
        }
        self.take(&format!("{PRIVATE_DIR}/layers"), GovernedGroup::Prompts)?;
        self.skills()?;
        self.blueprints()?;
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
        let Self { root, paths: all, mut links, mut absent, outside, .. } = self;
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
        Governed { root, paths, links, absent, outside }
    }

    fn skills(&mut self) -> Result<(), WorkspaceError> {
        let settings = &self.workspace.config().skills;
        if let Ok(own) = RelPath::parse(&settings.directory) {
            self.take(own.as_str(), GovernedGroup::Skills)?;
        }
        for root in &settings.roots {
            match inside(&self.root, &self.root.join(root)) {
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
        let links = &mut self.links;
        let leads_to = follow(&self.root, rel, |at, target| {
            links.entry(at).or_insert(GovernedLink { group, target });
        })?;
        match leads_to {
            LeadsTo::Elsewhere => {}
            LeadsTo::Nothing(path) => {
                self.absent.entry(path).or_insert(group);
            }
            // The workspace itself is not governed, whatever a link says.
            LeadsTo::There(path) if path.is_empty() || self.paths.contains_key(&path) => {}
            LeadsTo::There(path) => {
                if self.root.join(&path).is_dir() {
                    self.unwalked.push_back((path.clone(), group));
                }
                self.paths.insert(path, group);
            }
        }
        Ok(())
    }

    /// A link in a governed directory can lead to a file that is not in one.
    fn links_of_directories(&mut self) -> Result<(), WorkspaceError> {
        let tree = Tree::open_as(&self.root, "")?;
        while let Some((directory, group)) = self.unwalked.pop_front() {
            let too_many = |path| WorkspaceError::TooManyEntries { path, limit: MAX_GOVERNED };
            let left = MAX_GOVERNED.saturating_sub(self.entries);
            let listed = match tree.list(&directory, left) {
                Err(WorkspaceError::TooManyEntries { path, .. }) => return Err(too_many(path)),
                listed => listed?.unwrap_or_default(),
            };
            // Names that are not Unicode are no governed files: no reader takes them.
            for entry in listed.into_iter().filter(|entry| entry.is_unicode) {
                self.entries += 1;
                let path = join(&directory, &entry.name);
                match entry.kind {
                    TreeEntryKind::Directory => self.unwalked.push_back((path, group)),
                    TreeEntryKind::Link if !self.leads_around(&path) => self.take(&path, group)?,
                    _ => {}
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
        inside(&self.root, &directory.join(target))
            .is_some_and(|to| to.is_empty() || is_below(path, &to))
    }
}

fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter_map(|(at, _)| path.get(..at))
}
