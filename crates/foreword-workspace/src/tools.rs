//! `tools.toml`: the tools offered to agents.

pub(crate) mod command;

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use crate::config::toml_text;
use crate::error::WorkspaceError;
use crate::read::{SourceFile, line_of};
use crate::tools::command::{RawCommand, ToolCommand};

/// The file of tools.
pub const TOOLS_FILE: &str = "tools.toml";

/// One tool as `tools.toml` describes it, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolEntry {
    /// The name by which an agent calls it.
    pub name: String,
    /// What it does, for selection and for the prompt.
    pub description: String,
    /// The modes in which it is offered; empty for all.
    pub modes: Vec<ToolMode>,
    /// The capability pack that says how to use it.
    pub capability: Option<String>,
    /// The program that carries it out; without one it is built in, or nobody can call it.
    pub command: Option<ToolCommand>,
    /// Its line in `tools.toml`.
    pub line: usize,
}

/// A mode in which a tool or a skill is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolMode {
    /// Exploring and planning.
    Plan,
    /// Changing things.
    Act,
    /// Checking what was changed.
    Review,
    /// Every mode.
    Any,
}

impl ToolMode {
    /// All of them.
    pub(crate) const ALL: [Self; 4] = [Self::Plan, Self::Act, Self::Review, Self::Any];

    /// The name as written in files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Act => "act",
            Self::Review => "review",
            Self::Any => "any",
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ToolsFile {
    tool: Vec<RawTool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTool {
    name: Spanned<String>,
    #[serde(default)]
    description: String,
    #[serde(default)]
    modes: Vec<ToolMode>,
    capability: Option<String>,
    command: Option<Vec<String>>,
    parameters: Option<serde_json::Value>,
    timeout: Option<u64>,
    max_output: Option<u64>,
}

pub(crate) fn parse(file: &SourceFile) -> Result<Vec<ToolEntry>, WorkspaceError> {
    let raw: ToolsFile = toml_text::parse(file)?;
    let mut first_lines: BTreeMap<String, usize> = BTreeMap::new();
    let mut tools = Vec::with_capacity(raw.tool.len());
    // Tools stand in the order of the file: lines are counted on from the one before.
    let (mut line, mut counted) = (1, 0);
    for tool in raw.tool {
        let start = tool.name.span().start;
        line += line_of(
            file.text.as_bytes().get(counted..).unwrap_or_default(),
            start.saturating_sub(counted),
        ) - 1;
        counted = start;
        let name = tool.name.into_inner();
        if name.trim().is_empty() || name.chars().any(char::is_control) {
            return Err(WorkspaceError::BadValue {
                path: file.path.clone(),
                line,
                key: "tool.name".into(),
                message: format!("is `{}`, it must be a name on one line", name.escape_debug()),
            });
        }
        if let Some(first) = first_lines.insert(name.clone(), line) {
            return Err(WorkspaceError::Duplicate {
                what: "tool",
                first: format!("{}:{first}", file.path),
                second: format!("{}:{line}", file.path),
                name,
            });
        }
        let raw = RawCommand {
            command: tool.command,
            parameters: tool.parameters,
            timeout: tool.timeout,
            max_output: tool.max_output,
        };
        let command = raw.check(&name).map_err(|fault| WorkspaceError::BadValue {
            path: file.path.clone(),
            line,
            key: format!("tool.{}", fault.key),
            message: fault.message,
        })?;
        tools.push(ToolEntry {
            command,
            name,
            description: tool.description,
            modes: tool.modes,
            capability: tool.capability,
            line,
        });
    }
    Ok(tools)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<ToolEntry>, WorkspaceError> {
        parse(&SourceFile { path: TOOLS_FILE.into(), text: text.into(), first_line: 1 })
    }

    #[test]
    fn tools_keep_the_order_of_the_file() {
        let tools = read(
            "[[tool]]\nname = 'write'\ndescription = 'Writes'\nmodes = ['act', 'any']\n\
             capability = 'coding-readwrite'\n\n[[tool]]\nname = 'read'\n",
        )
        .unwrap();
        assert_eq!(
            tools,
            [
                ToolEntry {
                    name: "write".into(),
                    description: "Writes".into(),
                    modes: vec![ToolMode::Act, ToolMode::Any],
                    capability: Some("coding-readwrite".into()),
                    command: None,
                    line: 2,
                },
                ToolEntry {
                    name: "read".into(),
                    description: String::new(),
                    modes: Vec::new(),
                    capability: None,
                    command: None,
                    line: 8,
                },
            ]
        );
        assert_eq!(tools[0].modes[0].as_str(), "act");
        assert!(read("").unwrap().is_empty());
    }

    #[test]
    fn slips_have_line_and_suggestion() {
        let error = read("[[tool]]\nname = 'a'\ndescripton = 'x'\n").unwrap_err();
        assert_eq!(error.to_string(), "tools.toml:3: unknown key `descripton`");
        assert_eq!(error.hint(), "did you mean `description`?");
        let error = read("[[tools]]\nname = 'a'\n").unwrap_err();
        assert_eq!(error.hint(), "did you mean `tool`?");
        let error = read("[[tool]]\nname = 'a'\nmodes = ['fast']\n").unwrap_err();
        assert_eq!(error.line(), Some(3));
        let error = read("[[tool]]\ndescription = 'nameless'\n").unwrap_err();
        assert_eq!(error.to_string(), "tools.toml:1: missing field `name`");
        let error = read("[[tool]]\nname = ''\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "tools.toml:2: `tool.name` is ``, it must be a name on one line"
        );
    }

    #[test]
    fn a_tool_is_defined_once() {
        let error = read("[[tool]]\nname = 'a'\n[[tool]]\nname = 'a'\n").unwrap_err();
        assert_eq!(error.to_string(), "tools.toml:4: tool `a` is already defined in tools.toml:2");
    }
}
