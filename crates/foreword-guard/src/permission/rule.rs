//! One rule: a tool and a pattern.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;
use thiserror::Error;

use super::pattern::{CommandPattern, Pattern};
use super::shell::{ShellReading, is_harmless};
use super::{Permission, ToolUse};

const MAX_RULE_CHARS: usize = 4000;

/// A tool, and what it is called with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PermissionRule {
    /// The tool's name in Foreword; `*` at its end stands for anything.
    tool: String,
    pattern: Option<Pattern>,
    /// The pattern as one for commands.
    command: Option<CommandPattern>,
}

/// Why a text is not a rule.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("invalid permission rule `{rule}`: {reason}")]
pub struct InvalidRule {
    /// The rule as written.
    pub rule: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

/// Why a rule never applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadRule {
    pub reason: String,
    /// What to write instead.
    pub hint: Option<String>,
}

/// The names that Claude Code has for our tools.
const ALIASES: [(&str, &str); 13] = [
    ("Bash", "bash"),
    ("Read", "read"),
    ("NotebookRead", "read"),
    ("Write", "write"),
    ("Edit", "edit"),
    ("MultiEdit", "edit"),
    ("NotebookEdit", "edit"),
    ("Glob", "list"),
    ("LS", "list"),
    ("Grep", "search"),
    ("WebFetch", "web_fetch"),
    ("Task", "spawn_agent"),
    ("TodoWrite", "todo_write"),
];

/// The tool that a name stands for, in Foreword's words: Claude Code's names are those of our tools.
#[must_use]
pub fn tool_named(name: &str) -> &str {
    let name = name.strip_prefix(foreword::RunnerKind::MCP_PREFIX).unwrap_or(name);
    ALIASES.iter().find(|(known, _)| *known == name).map_or(name, |(_, own)| own)
}

impl PermissionRule {
    /// Reads `tool` or `tool(pattern)`.
    pub fn parse(text: &str) -> Result<Self, InvalidRule> {
        let text = text.trim();
        let wrong = |reason| {
            let rule = text.chars().take(200).collect();
            Err(InvalidRule { rule, reason })
        };
        if text.chars().count() > MAX_RULE_CHARS {
            return wrong("it is too long");
        }
        let (tool, pattern) = match text.split_once('(') {
            Some((tool, rest)) => match rest.strip_suffix(')') {
                Some(pattern) => (tool, Some(pattern)),
                None => return wrong("the parenthesis is not closed"),
            },
            None => (text, None),
        };
        let tool = tool.trim();
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '*' | '.');
        if tool.is_empty() || !tool.chars().all(is_part) {
            return wrong("it must begin with the name of a tool");
        }
        if tool.contains('*') && !tool.ends_with('*') {
            return wrong("`*` may stand only at the end of a tool's name");
        }
        let pattern = match pattern.map(str::trim) {
            None | Some("" | "*") => None,
            Some(pattern) => Some(match (pattern.strip_prefix('='), pattern.strip_suffix(":*")) {
                (Some(exact), _) => Pattern::Exact(exact.to_owned()),
                (None, Some(prefix)) => Pattern::Prefix(prefix.to_owned()),
                (None, None) => Pattern::Glob(pattern.to_owned()),
            }),
        };
        let command = pattern.as_ref().and_then(CommandPattern::of);
        Ok(Self { tool: tool_named(tool).to_owned(), pattern, command })
    }

    /// The rule for one call and no other.
    #[must_use]
    pub fn exactly(tool: &str, text: &str) -> Self {
        let pattern = Some(Pattern::Exact(text.to_owned()));
        Self { tool: tool.to_owned(), pattern, command: None }
    }

    /// The tool's name.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The pattern as it is written, without parentheses.
    #[must_use]
    pub fn pattern(&self) -> Option<String> {
        Some(match self.pattern.as_ref()? {
            Pattern::Glob(text) => text.clone(),
            Pattern::Prefix(text) => format!("{text}:*"),
            Pattern::Exact(text) => format!("={text}"),
        })
    }

    /// Whether this rule is about a tool.
    #[must_use]
    pub fn names(&self, tool: &str) -> bool {
        match self.tool.strip_suffix('*') {
            Some(start) => tool.starts_with(start),
            // `mcp__server` stands for all tools of the server.
            None => {
                tool == self.tool
                    || (self.tool.starts_with("mcp__")
                        && tool.strip_prefix(&self.tool).is_some_and(|r| r.starts_with("__")))
            }
        }
    }

    /// Why it never applies, where these are all tools, with `mcp__NAME` for each server.
    #[must_use]
    pub fn dead_end(&self, known: &BTreeSet<String>) -> Option<DeadRule> {
        let is_of = |known: &String| {
            self.names(known)
                || (known.starts_with("mcp__")
                    && self.tool.strip_prefix(known).is_some_and(|rest| rest.starts_with("__")))
        };
        if !matches!(self.tool.as_str(), "*" | "mcp__*") && !known.iter().any(is_of) {
            let near = foreword::nearest(&self.tool, known.iter().map(String::as_str));
            return Some(DeadRule {
                reason: format!("`{}` is not a tool", self.tool),
                hint: near.map(|near| format!("did you mean `{near}`?")),
            });
        }
        self.never_fits().map(|reason| DeadRule {
            reason: format!("its pattern never matches: {reason}"),
            hint: Some("write a rule for each command".to_owned()),
        })
    }

    /// Why its pattern never fits a call, if that can be seen.
    pub(super) fn never_fits(&self) -> Option<&'static str> {
        if !self.names("bash") {
            return None;
        }
        let (Pattern::Glob(text) | Pattern::Prefix(text)) = self.pattern.as_ref()? else {
            return None;
        };
        let operators = ["&&", "||", ";", "|", "$(", "`"];
        operators
            .iter()
            .any(|operator| outside_quotes(text).contains(operator))
            .then_some("a `bash` pattern is compared with one simple command at a time")
    }

    /// Whether this rule is about a call.
    pub(super) fn covers(
        &self,
        call: &ToolUse<'_>,
        shell: Option<&ShellReading>,
        permission: Permission,
    ) -> bool {
        if permission != Permission::Allow
            && (self.guards_reading(call, shell) || self.guards_writing(call, shell))
        {
            return true;
        }
        if !self.names(call.tool) {
            return false;
        }
        let Some(pattern) = &self.pattern else { return true };
        if let Some(shell) = shell {
            let Some(command) = &self.command else {
                return matches!(pattern, Pattern::Exact(text) if shell.text == *text);
            };
            return match permission {
                Permission::Allow => shell.is_plain(call) && shell.is_first(command),
                Permission::Ask | Permission::Deny => shell.any(command),
            };
        }
        if let Some(path) = path_of(call) {
            return pattern.fits_path(&path);
        }
        if call.tool == "web_fetch" {
            let url = call.arguments.get("url").and_then(Value::as_str).unwrap_or_default();
            return pattern.fits_url(url);
        }
        let texts = texts_of(call.arguments);
        match permission {
            // One text that fits says nothing of the others.
            Permission::Allow => !texts.is_empty() && texts.iter().all(|text| pattern.fits(text)),
            Permission::Ask | Permission::Deny => texts.iter().any(|text| pattern.fits(text)),
        }
    }

    /// Whether a rule for `read` is about a file that another tool would show.
    fn guards_reading(&self, call: &ToolUse<'_>, shell: Option<&ShellReading>) -> bool {
        if !self.names("read") {
            return false;
        }
        match (call.tool, shell) {
            ("search" | "list", _) => self.fits_path_of(call),
            (_, Some(shell)) => self.fits_any_file(&shell.reads(call)),
            _ => false,
        }
    }

    /// Whether a rule for `write` or `edit` is about a file that the other one, or a command, would change.
    fn guards_writing(&self, call: &ToolUse<'_>, shell: Option<&ShellReading>) -> bool {
        if !(self.names("write") || self.names("edit")) {
            return false;
        }
        match (call.tool, shell) {
            ("write" | "edit", _) => self.fits_path_of(call),
            (_, Some(shell)) => {
                self.fits_any_file(&shell.writes(call))
                    || self.pattern.as_ref().is_some_and(|pattern| {
                        shell.erases(call).iter().any(|it| pattern.lies_in(it, call.root))
                    })
            }
            _ => false,
        }
    }

    fn fits_path_of(&self, call: &ToolUse<'_>) -> bool {
        let Some(pattern) = &self.pattern else { return true };
        path_of(call).is_some_and(|path| pattern.fits_path(&path))
    }

    /// Whether it is about one of the files that a command names. Without a pattern, that is any file: what
    /// everybody may use is none, and a number is the value of an option.
    fn fits_any_file(&self, paths: &[String]) -> bool {
        let Some(pattern) = &self.pattern else {
            let is_file = |path: &String| {
                let name = path.rsplit('/').next().unwrap_or_default();
                // An empty path is the workspace itself.
                let is_number = !name.is_empty() && name.chars().all(|c| c.is_ascii_digit());
                !is_harmless(path) && !is_number
            };
            return paths.iter().any(is_file);
        };
        paths.iter().any(|path| {
            let is_expanded = path.contains(['*', '?', '[', '{']);
            // A directory stands for what is in it.
            pattern.fits_path(path)
                || pattern.fits_path(&format!("{path}/…"))
                || (is_expanded && pattern.may_be_among(path))
        })
    }

    /// Whether a walk of `search` or `list` may not show a file, by this rule.
    pub(super) fn covers_walked(&self, tool: &str, path: &str) -> bool {
        let tools: &[&str] =
            if tool == "search" { &["read", "search", "list"] } else { &["read", "list"] };
        tools.iter().any(|tool| self.names(tool))
            && self.pattern.as_ref().is_some_and(|pattern| pattern.fits_path(path))
    }

    /// Whether this rule has a pattern on files that may be read.
    pub(super) fn is_on_files(&self) -> bool {
        self.pattern.is_some() && ["read", "search", "list"].iter().any(|tool| self.names(tool))
    }
}

/// All texts that a tool is called with, those inside lists and objects too.
fn texts_of(arguments: &Value) -> Vec<&str> {
    let mut texts = Vec::new();
    let mut waiting: Vec<&Value> = match arguments {
        Value::Object(fields) => fields.values().collect(),
        other => vec![other],
    };
    while let Some(value) = waiting.pop() {
        match value {
            Value::String(text) => texts.push(text.as_str()),
            Value::Array(items) => waiting.extend(items),
            Value::Object(fields) => {
                texts.extend(fields.keys().map(String::as_str));
                waiting.extend(fields.values());
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    texts
}

/// A pattern without what stands in quotes.
fn outside_quotes(text: &str) -> String {
    let mut quote = None;
    let mut out = String::new();
    for c in text.chars() {
        match (quote, c) {
            (Some(end), c) if c == end => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, c) => out.push(c),
        }
    }
    out
}

impl fmt::Display for PermissionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pattern() {
            Some(pattern) => write!(f, "{}({pattern})", self.tool),
            None => f.write_str(&self.tool),
        }
    }
}

/// The file or directory that a call is about, from the root of the workspace; absolute outside it.
pub(super) fn path_of(call: &ToolUse<'_>) -> Option<String> {
    if !matches!(call.tool, "read" | "write" | "edit" | "list" | "search") {
        return None;
    }
    let path = ["path", "file_path", "notebook_path"]
        .iter()
        .find_map(|key| call.arguments.get(key)?.as_str());
    let path = path.unwrap_or(".");
    Some(relative(path, call.cwd, call.root))
}

/// A path from the root of the workspace, without `.` and `..`; absolute outside it.
pub(super) fn relative(path: &str, cwd: &Path, root: &Path) -> String {
    let mut plain = PathBuf::new();
    for part in cwd.join(path).components() {
        match part {
            Component::ParentDir => _ = plain.pop(),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    let inside = plain.strip_prefix(root).map(Path::to_path_buf);
    inside.unwrap_or(plain).display().to_string()
}
