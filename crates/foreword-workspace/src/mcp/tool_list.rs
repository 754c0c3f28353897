//! The tool lists of MCP servers, as the person reviewed them.
//!
//! They are kept with the person's settings and never in a workspace, like trust: a list is what a
//! server may offer, and a server that offers another one is asked about again. They are also the cache
//! that builds read, so that no build starts a server.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::WorkspaceError;
use crate::mcp::server::McpServer;
use crate::own_file::{self, WorkspaceRecord};

const DIRECTORY: &str = "mcp";
const MAX_FILE_BYTES: u64 = 128 << 20;

/// A tool as its server describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerTool {
    /// Its name on the server.
    pub name: String,
    /// What it does, in the server's words.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub input_schema: Value,
    /// Why its texts are withheld from models; they look like prompt injection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<String>,
}

/// The tool list of one server, as it was reviewed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewedTools {
    /// The digest of the server's definition: another program has another list.
    pub server: String,
    /// The digest of the list.
    pub digest: String,
    /// The tools, by name.
    pub tools: Vec<ServerTool>,
    /// Whether the server offered another list since; it is off until a person reviews that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub changed: bool,
    /// Why the server could not be asked for its list when it was last reviewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

impl ReviewedTools {
    /// The list of a server. The order in which it names its tools does not count.
    #[must_use]
    pub fn new(server: String, mut tools: Vec<ServerTool>) -> Self {
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        tools.dedup_by(|a, b| a.name == b.name);
        let said: Vec<_> =
            tools.iter().map(|tool| (&tool.name, &tool.description, &tool.input_schema)).collect();
        let text = serde_json::to_vec(&said).unwrap_or_default();
        let digest = blake3::hash(&text).to_hex().to_string();
        Self { server, digest, tools, changed: false, fault: None }
    }

    /// Whether a person reviewed a list at all.
    #[must_use]
    pub fn is_reviewed(&self) -> bool {
        !self.digest.is_empty()
    }

    /// Whether this is the list of a server, and still what it offers.
    #[must_use]
    pub fn is_of(&self, server: &McpServer) -> bool {
        !self.changed && self.server == server.digest()
    }

    /// Names that are new, changed and gone since an earlier list.
    #[must_use]
    pub fn changes_since<'a>(
        &'a self,
        before: &'a Self,
    ) -> (Vec<&'a str>, Vec<&'a str>, Vec<&'a str>) {
        let of = |list: &'_ Self| -> BTreeMap<String, (String, Value)> {
            let tools = list.tools.iter();
            tools
                .map(|tool| {
                    (tool.name.clone(), (tool.description.clone(), tool.input_schema.clone()))
                })
                .collect()
        };
        let (old, now) = (of(before), of(self));
        let names = self.tools.iter().map(|tool| tool.name.as_str());
        let added = names.clone().filter(|name| !old.contains_key(*name)).collect();
        let changed = names
            .filter(|name| old.get(*name).is_some_and(|known| now.get(*name) != Some(known)))
            .collect();
        let gone = before.tools.iter().map(|tool| tool.name.as_str());
        (added, changed, gone.filter(|name| !now.contains_key(*name)).collect())
    }
}

/// The reviewed tool lists of one workspace.
#[derive(Debug, Clone)]
pub struct ToolLists {
    file: PathBuf,
}

impl ToolLists {
    /// Locates the lists of a workspace. Reads nothing yet.
    pub fn open(config_dir: &Path, workspace: &Path) -> Result<Self, WorkspaceError> {
        let WorkspaceRecord { file, .. } =
            WorkspaceRecord::locate(config_dir, DIRECTORY, workspace)?;
        Ok(Self { file })
    }

    /// The lists by server; none if nothing was reviewed.
    pub fn load(&self) -> Result<BTreeMap<String, ReviewedTools>, WorkspaceError> {
        let Some(text) = own_file::read_text(&self.file, MAX_FILE_BYTES)? else {
            return Ok(BTreeMap::new());
        };
        // One that cannot be read is reviewed again.
        Ok(serde_json::from_str(&text).unwrap_or_default())
    }

    /// Keeps a list that the person accepted.
    pub fn accept(&self, server: &str, list: ReviewedTools) -> Result<(), WorkspaceError> {
        self.change(|lists| _ = lists.insert(server.to_owned(), list))
    }

    /// Notes why a server could not be asked for its list. What was reviewed before stays.
    pub fn note_fault(
        &self,
        server: &McpServer,
        name: &str,
        fault: &str,
    ) -> Result<(), WorkspaceError> {
        let digest = server.digest();
        self.change(|lists| {
            let none = || ReviewedTools {
                server: digest.clone(),
                digest: String::new(),
                tools: Vec::new(),
                changed: true,
                fault: None,
            };
            let list = lists.entry(name.to_owned()).or_insert_with(none);
            // A list of another program is of no use any more.
            if list.server != digest {
                *list = none();
            }
            list.fault = Some(fault.to_owned());
        })
    }

    /// Notes that a server offers another list now.
    pub fn mark_changed(&self, server: &str) -> Result<(), WorkspaceError> {
        self.change(|lists| {
            if let Some(list) = lists.get_mut(server) {
                list.changed = true;
            }
        })
    }

    /// The file of the lists, whether it exists or not.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Forgets a list; the server is off until it is reviewed again.
    pub fn forget(&self, server: &str) -> Result<(), WorkspaceError> {
        self.change(|lists| _ = lists.remove(server))
    }

    fn change(
        &self,
        change: impl FnOnce(&mut BTreeMap<String, ReviewedTools>),
    ) -> Result<(), WorkspaceError> {
        let failed =
            |source| WorkspaceError::NotMade { path: self.file.display().to_string(), source };
        if let Some(directory) = self.file.parent() {
            own_file::make_directory(directory).map_err(failed)?;
        }
        let mut lists = self.load().unwrap_or_default();
        change(&mut lists);
        let text = serde_json::to_vec(&lists).map_err(|error| failed(error.into()))?;
        own_file::replace(&self.file, &text).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tool(name: &str, description: &str) -> ServerTool {
        ServerTool {
            name: name.into(),
            description: description.into(),
            input_schema: json!({"type": "object"}),
            withheld: None,
        }
    }

    #[test]
    fn a_list_is_kept_by_server_and_compared_by_content() {
        let (config, workspace) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let lists = ToolLists::open(config.path(), workspace.path()).unwrap();
        assert!(lists.load().unwrap().is_empty());
        let first = ReviewedTools::new("s".into(), vec![tool("b", "B"), tool("a", "A")]);
        lists.accept("git", first.clone()).unwrap();
        assert_eq!(lists.load().unwrap()["git"], first);
        let same = ReviewedTools::new("s".into(), vec![tool("a", "A"), tool("b", "B")]);
        assert_eq!(same.digest, first.digest);
        let other = ReviewedTools::new("s".into(), vec![tool("a", "A!"), tool("c", "C")]);
        assert_ne!(other.digest, first.digest);
        assert_eq!(other.changes_since(&first), (vec!["c"], vec!["a"], vec!["b"]));
        lists.forget("git").unwrap();
        assert!(lists.load().unwrap().is_empty());
    }
}
