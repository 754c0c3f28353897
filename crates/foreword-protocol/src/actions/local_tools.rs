//! Tools that work inside the sandbox, without the host: names, descriptions, schemas.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::model::ToolSpec;

/// A tool of the sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalTool {
    /// Reads a file.
    Read,
    /// Writes a file.
    Write,
    /// Replaces a passage of a file.
    Edit,
    /// Lists a directory.
    List,
    /// Searches the text of files.
    Search,
    /// Runs a command.
    Bash,
}

impl LocalTool {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Read, Self::Write, Self::Edit, Self::List, Self::Search, Self::Bash];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Edit => "edit",
            Self::List => "list",
            Self::Search => "search",
            Self::Bash => "bash",
        }
    }

    /// The tool of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// What the model is told about it.
    pub fn spec(self) -> ToolSpec {
        let path =
            json!({"type": "string", "description": "A path, relative to the working directory."});
        let text = |about: &str| json!({"type": "string", "description": about});
        let number = |about: &str| json!({"type": "integer", "minimum": 1, "description": about});
        let (description, properties, required): (&str, Value, &[&str]) = match self {
            Self::Read => (
                "Read a file, or a range of its lines.",
                json!({"path": path, "offset": number("The first line, from 1."), "limit": number("Maximum number of lines.")}),
                &["path"],
            ),
            Self::Write => (
                "Write a whole file.",
                json!({"path": path, "content": text("The whole new text.")}),
                &["path", "content"],
            ),
            Self::Edit => (
                "Replace a passage of a file. The old text must occur exactly once, unless `all` is set.",
                json!({"path": path, "old": text("The passage to replace, copied exactly."), "new": text("The replacement."), "all": {"type": "boolean", "description": "Replace every occurrence."}}),
                &["path", "old", "new"],
            ),
            Self::List => (
                "List the files of a directory, except those that .gitignore excludes.",
                json!({"path": path, "recursive": {"type": "boolean", "description": "Include subdirectories."}}),
                &[],
            ),
            Self::Search => (
                "Search the text of files, except those that .gitignore excludes.",
                json!({"pattern": text("A regular expression."), "path": path, "glob": text("Only files that match this glob, such as *.rs or src/**/*.{ts,tsx}."), "ignoreCase": {"type": "boolean", "description": "Ignore case."}}),
                &["pattern"],
            ),
            Self::Bash => (
                "Run a command in the sandbox.",
                json!({"command": text("The command, for bash."), "timeout": number("Time limit in seconds.")}),
                &["command"],
            ),
        };
        ToolSpec {
            name: self.name().to_owned(),
            description: description.to_owned(),
            input_schema: Arc::new(json!({
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            })),
        }
    }
}

/// All tools of the sandbox.
pub fn local_tools() -> impl Iterator<Item = ToolSpec> {
    LocalTool::ALL.into_iter().map(LocalTool::spec)
}
