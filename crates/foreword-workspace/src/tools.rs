//! `tools.toml`: the tools offered to agents.

pub(crate) mod command;

use std::collections::BTreeMap;

use serde::de::{Error as _, IgnoredAny};
use serde::{Deserialize, Deserializer};
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
    #[serde(default, deserialize_with = "words")]
    command: Option<Vec<String>>,
    parameters: Option<serde_json::Value>,
    #[serde(default, deserialize_with = "seconds")]
    timeout: Option<u64>,
    #[serde(default, deserialize_with = "bytes")]
    max_output: Option<u64>,
}

/// A list of words; whoever writes one line, as for a shell, is told how it is written here.
fn words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Given {
        Words(Vec<String>),
        Line(String),
        Other(IgnoredAny),
    }
    let must = "`command` must be a list of texts, the program and its arguments";
    match Given::deserialize(deserializer)? {
        Given::Words(words) => Ok(Some(words)),
        Given::Line(line) => {
            let words: Vec<String> =
                line.split_whitespace().take(20).map(|word| format!("{word:?}")).collect();
            Err(D::Error::custom(format!("{must}, such as [{}]", words.join(", "))))
        }
        Given::Other(_) => Err(D::Error::custom(must)),
    }
}

fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    number(deserializer, "`timeout` must be a whole number of seconds, such as 20")
}

fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    number(deserializer, "`max_output` must be a whole number of bytes, such as 65536")
}

fn number<'de, D: Deserializer<'de>>(
    deserializer: D,
    must: &'static str,
) -> Result<Option<u64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Given {
        Number(u64),
        Other(IgnoredAny),
    }
    match Given::deserialize(deserializer)? {
        Given::Number(number) => Ok(Some(number)),
        Given::Other(_) => Err(D::Error::custom(must)),
    }
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

    /// Report 15, number 22: the words of the parser said nothing about what to write.
    #[test]
    fn a_key_of_another_kind_says_what_to_write() {
        for (line, expected) in [
            (
                "command = './x.sh --to y'",
                r#"`command` must be a list of texts, the program and its arguments, such as ["./x.sh", "--to", "y"]"#,
            ),
            ("command = [1]", "`command` must be a list of texts"),
            (
                "command = ['x']\ntimeout = '20s'",
                "`timeout` must be a whole number of seconds, such as 20",
            ),
            ("command = ['x']\nmax_output = -1", "`max_output` must be a whole number of bytes"),
        ] {
            let error = read(&format!("[[tool]]\nname = 'a'\n{line}\n")).unwrap_err();
            assert!(error.to_string().contains(expected), "{line}: {error}");
        }
        let error = read("[[tool]]\nname = 'a b'\ncommand = ['x']\n").unwrap_err();
        assert_eq!(error.hint(), "correct the value");
        let error = read("[[tool]]\nname = 'a'\ncommand = ['x']\ntimeout = 0\n").unwrap_err();
        assert_eq!(error.hint(), "correct the value, or remove the key for its default");
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
