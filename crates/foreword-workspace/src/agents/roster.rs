//! The agents of a workspace: who there is, and one by id.

use std::collections::BTreeSet;

use crate::agents::agent::Agent;
use crate::error::WorkspaceError;
use crate::read::{EntryKind, SourceFile};
use crate::rel_path::{PathFault, RelPath, check_component};
use crate::workspace::{MAX_DIRECTORY_ENTRIES, Workspace};
use foreword::nearest;

const AGENTS_DIR: &str = "agents";

impl Workspace {
    /// All agents, sorted by id.
    ///
    /// Fails on the first invalid agent. To report each, load every id of [`Workspace::agent_ids`]
    /// separately.
    pub fn agents(&self) -> Result<Vec<Agent>, WorkspaceError> {
        self.agent_ids()?.iter().map(|id| self.agent(id)).collect()
    }

    /// The ids of all agents, sorted, without reading their files.
    ///
    /// A folder without AGENT.md is not an agent, nor is a README.md or a hidden file.
    pub fn agent_ids(&self) -> Result<Vec<String>, WorkspaceError> {
        let mut ids = BTreeSet::new();
        for entry in self.files.list(AGENTS_DIR, MAX_DIRECTORY_ENTRIES)?.unwrap_or_default() {
            let id = match entry.kind {
                EntryKind::BadName => return Err(bad_id(&entry.name, PathFault::Character)),
                _ if entry.name.eq_ignore_ascii_case("README.md") => continue,
                _ => match entry.name.strip_suffix(".md") {
                    Some(id) if entry.kind != EntryKind::Directory => id.to_owned(),
                    _ if entry.kind == EntryKind::File => continue,
                    _ if self.files.exists(&in_folder(&entry.name))? => entry.name,
                    _ => continue,
                },
            };
            check_component(&id).map_err(|fault| bad_id(&id, fault))?;
            ids.insert(id);
        }
        Ok(ids.into_iter().collect())
    }

    /// One agent by id.
    ///
    /// The error for an unknown id lists the existing ids and suggests the closest.
    pub fn agent(&self, id: &str) -> Result<Agent, WorkspaceError> {
        check_component(id).map_err(|fault| bad_id(id, fault))?;
        let file = match (self.read(&in_folder(id))?, self.read(&flat(id))?) {
            (Some(file), None) | (None, Some(file)) => file,
            (Some(SourceFile { path: first, .. }), Some(SourceFile { path: second, .. })) => {
                return Err(WorkspaceError::Duplicate {
                    what: "agent",
                    name: id.to_owned(),
                    first,
                    second,
                });
            }
            (None, None) => {
                let known = self.agent_ids()?;
                let suggestion = nearest(id, known.iter().map(String::as_str)).map(str::to_owned);
                return Err(WorkspaceError::UnknownAgent { id: id.to_owned(), known, suggestion });
            }
        };
        Agent::parse(file, id, &self.config().namespace)
    }
}

fn in_folder(id: &str) -> RelPath {
    RelPath::listed(AGENTS_DIR, &format!("{id}/AGENT.md"))
}

fn flat(id: &str) -> RelPath {
    RelPath::listed(AGENTS_DIR, &format!("{id}.md"))
}

fn bad_id(id: &str, reason: PathFault) -> WorkspaceError {
    WorkspaceError::BadPath { given: id.to_owned(), reason, asked_by: None }
}

#[cfg(test)]
mod tests {
    use crate::testing::Scratch;

    #[test]
    fn agents_come_sorted_from_folders_and_flat_files() {
        let scratch = Scratch::new(&[
            ("agents/worker.md", "---\ntools: coding\n---\nYou work.\n"),
            ("agents/cosmo/AGENT.md", "\u{feff}---\r\nid: cosmo\r\n---\r\nYou lead.\r\n"),
            ("agents/overrides/SOUL.md", "no agent here"),
            ("agents/README.md", "about"),
            ("agents/notes.txt", "about"),
            ("agents/.hidden/AGENT.md", "hidden"),
        ]);
        let agents = scratch.open().agents().unwrap();
        let ids: Vec<_> = agents.iter().map(|a| (a.id.as_str(), a.file.as_str())).collect();
        assert_eq!(ids, [("cosmo", "agents/cosmo/AGENT.md"), ("worker", "agents/worker.md")]);
        assert_eq!((agents[0].body.text.as_str(), agents[0].body.first_line), ("You lead.\n", 4));
        assert_eq!(agents[1].dir, "agents/worker");
    }

    #[test]
    fn the_namespace_of_the_workspace_is_the_default() {
        let scratch =
            Scratch::new(&[("foreword.toml", "namespace = 'ops'"), ("agents/a.md", "You are A.")]);
        assert_eq!(scratch.open().agent("a").unwrap().namespace, "ops");
    }

    #[test]
    fn an_unknown_agent_is_told_who_there_is() {
        let scratch = Scratch::new(&[("agents/planner.md", ""), ("agents/worker.md", "")]);
        let error = scratch.open().agent("planer").unwrap_err();
        assert_eq!(error.to_string(), "there is no agent `planer`; known: planner, worker");
        assert_eq!(error.hint(), "did you mean `planner`?");
        let error = Scratch::new(&[]).open().agent("x").unwrap_err();
        assert_eq!(error.to_string(), "there is no agent `x`; the workspace has none");
        assert_eq!(error.hint(), "create agents/x/AGENT.md");
    }

    #[test]
    fn one_broken_agent_does_not_hide_another() {
        let scratch =
            Scratch::new(&[("agents/bad.md", "---\nx: 1\n---\n"), ("agents/good.md", "")]);
        let workspace = scratch.open();
        assert_eq!(workspace.agent_ids().unwrap(), ["bad", "good"]);
        assert!(workspace.agent("good").is_ok());
        assert!(workspace.agents().is_err());
    }

    #[test]
    fn an_agent_has_one_file() {
        let scratch = Scratch::new(&[("agents/a.md", ""), ("agents/a/AGENT.md", "")]);
        assert_eq!(
            scratch.open().agent("a").unwrap_err().to_string(),
            "agents/a.md: agent `a` is already defined in agents/a/AGENT.md"
        );
    }

    #[test]
    fn an_id_is_one_name() {
        let workspace = Scratch::new(&[]).open();
        for id in ["../a", "a/b", "", "..", "a\0", "nul"] {
            assert!(
                workspace.agent(id).unwrap_err().to_string().contains("cannot be used"),
                "{id}"
            );
        }
    }
}
