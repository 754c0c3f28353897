//! Which paths of a workspace are governed: read by people and hosts, never written by an agent.
//!
//! This is the one list, looked up by name and never searched for. A sandbox makes these paths read-only, trust remembers their digests, and
//! whatever an agent creates under one of their names is put aside.

pub(crate) mod autorun;
pub(crate) mod contents;
pub(crate) mod find;
pub(crate) mod git_settings;
pub(crate) mod names;
pub(crate) mod repositories;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::WorkspaceError;
use crate::governed::contents::GovernedContents;
use crate::governed::find::Finder;
use crate::private::PRIVATE_DIR;
use crate::workspace::Workspace;

/// The file with the digests of every agent's prompt.
pub const LOCK_FILE: &str = "foreword.lock";

/// Files that count in every directory from the root to the working directory.
pub(crate) const INSTRUCTIONS: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// What a governed path is about. Skills have approvals of their own, so they are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GovernedGroup {
    /// `foreword.toml`, `tools.toml`, `foreword.lock`, `foreword-migration.toml` and blueprints.
    Settings,
    /// AGENTS.md and CLAUDE.md from the root to the working directory.
    Instructions,
    /// SOUL.md, IDENTITY.md, USER.md and the like.
    Identity,
    /// `agents/`.
    Agents,
    /// `prompts/`, the private layers, and files that blueprints name.
    Prompts,
    /// The directory of skills and further roots inside the workspace.
    Skills,
}

impl GovernedGroup {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Settings,
        Self::Instructions,
        Self::Identity,
        Self::Agents,
        Self::Prompts,
        Self::Skills,
    ];

    /// All but skills: what a person trusts as a whole.
    pub const TRUSTED: [Self; 5] =
        [Self::Settings, Self::Instructions, Self::Identity, Self::Agents, Self::Prompts];

    /// The name as written in files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Settings => "settings",
            Self::Instructions => "instructions",
            Self::Identity => "identity",
            Self::Agents => "agents",
            Self::Prompts => "prompts",
            Self::Skills => "skills",
        }
    }
}

impl fmt::Display for GovernedGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A link under a governed name. Nothing can be mounted over a link, so it has to be checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GovernedLink {
    /// What it is about.
    pub group: GovernedGroup,
    /// What the link says, as it is written.
    pub target: PathBuf,
}

/// Every governed path of a workspace. Paths are relative, with forward slashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Governed {
    pub(crate) root: PathBuf,
    pub(crate) paths: BTreeMap<String, GovernedGroup>,
    pub(crate) links: BTreeMap<String, GovernedLink>,
    pub(crate) absent: BTreeMap<String, GovernedGroup>,
    pub(crate) outside: Vec<PathBuf>,
}

impl Workspace {
    /// Every governed path there is, and the governed names that nothing has yet, for an agent that
    /// works at the root.
    pub fn governed(&self) -> Result<Governed, WorkspaceError> {
        self.governed_at(None)
    }

    /// The same for an agent that works in `cwd`: with the instructions of every directory from the
    /// root to it, hidden ones included. These are the instructions that
    /// [`Workspace::instructions`] reads, and there are no others.
    pub fn governed_at(&self, cwd: Option<&Path>) -> Result<Governed, WorkspaceError> {
        Finder::new(self).find(cwd)
    }
}

impl Governed {
    /// The workspace, with all links resolved.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The files and directories there are, none below another, none a link.
    #[must_use]
    pub fn paths(&self) -> &BTreeMap<String, GovernedGroup> {
        &self.paths
    }

    /// Links under governed names. Where they lead to inside the workspace is among the paths.
    #[must_use]
    pub fn links(&self) -> &BTreeMap<String, GovernedLink> {
        &self.links
    }

    /// Governed names at which there is nothing: what appears there was made by somebody since.
    #[must_use]
    pub fn absent(&self) -> &BTreeMap<String, GovernedGroup> {
        &self.absent
    }

    /// Further roots of skills that lie outside the workspace.
    #[must_use]
    pub fn outside(&self) -> &[PathBuf] {
        &self.outside
    }

    /// The absolute paths a sandbox has to make read-only; those in the private directory are not
    /// among them, because a sandbox does not show it at all.
    #[must_use]
    pub fn read_only(&self) -> Vec<PathBuf> {
        let visible = self.paths.keys().filter(|path| !is_below(path, PRIVATE_DIR));
        visible.map(|path| self.root.join(path)).collect()
    }

    /// The private directory, whether it exists or not.
    #[must_use]
    pub fn private(&self) -> PathBuf {
        self.root.join(PRIVATE_DIR)
    }

    /// The group of a relative path that is governed, or would be if it existed.
    #[must_use]
    pub fn group_of(&self, rel: &str) -> Option<GovernedGroup> {
        let mut outer = Some(rel);
        while let Some(path) = outer {
            let link = self.links.get(path).map(|link| &link.group);
            let known = self.paths.get(path).or_else(|| self.absent.get(path)).or(link);
            if let Some(group) = known {
                return Some(*group);
            }
            outer = path.rsplit_once('/').map(|(directory, _)| directory);
        }
        None
    }

    /// Reads the governed files of some groups: their digests and, if short, their texts.
    pub fn read(&self, groups: &[GovernedGroup]) -> Result<GovernedContents, WorkspaceError> {
        GovernedContents::read(self, groups)
    }
}

/// Whether a path is a directory or lies below it.
pub(crate) fn is_below(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
#[path = "governed_tests.rs"]
mod tests;
