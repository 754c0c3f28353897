//! One rule: a tool and a pattern.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;
use thiserror::Error;

use super::shell::ShellReading;
use super::{Permission, ToolUse};

const MAX_RULE_CHARS: usize = 4000;

/// A tool, and what it is called with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PermissionRule {
    /// The tool's name in Foreword; `*` at its end stands for anything.
    tool: String,
    pattern: Option<Pattern>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Pattern {
    /// `*` stands for anything.
    Glob(String),
    /// Claude Code's `text:*`: the text, alone or followed by a space.
    Prefix(String),
    /// This and nothing else, written `=text`.
    Exact(String),
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

/// The names that Claude Code has for our tools.
const ALIASES: [(&str, &str); 9] = [
    ("Bash", "bash"),
    ("Read", "read"),
    ("Write", "write"),
    ("Edit", "edit"),
    ("MultiEdit", "edit"),
    ("Glob", "list"),
    ("LS", "list"),
    ("Grep", "search"),
    ("WebFetch", "web_fetch"),
];

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
        let tool = tool.strip_prefix(foreword::RunnerKind::MCP_PREFIX).unwrap_or(tool);
        let alias = ALIASES.iter().find(|(known, _)| *known == tool).map(|(_, own)| *own);
        let pattern = match pattern.map(str::trim) {
            None | Some("" | "*") => None,
            Some(pattern) => Some(match (pattern.strip_prefix('='), pattern.strip_suffix(":*")) {
                (Some(exact), _) => Pattern::Exact(exact.to_owned()),
                (None, Some(prefix)) => Pattern::Prefix(prefix.to_owned()),
                (None, None) => Pattern::Glob(pattern.to_owned()),
            }),
        };
        Ok(Self { tool: alias.unwrap_or(tool).to_owned(), pattern })
    }

    /// The rule for one call and no other.
    #[must_use]
    pub fn exactly(tool: &str, text: &str) -> Self {
        Self { tool: tool.to_owned(), pattern: Some(Pattern::Exact(text.to_owned())) }
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

    /// Whether this rule is about a call.
    pub(super) fn covers(
        &self,
        call: &ToolUse<'_>,
        shell: Option<&ShellReading>,
        permission: Permission,
    ) -> bool {
        let is_tool = match self.tool.strip_suffix('*') {
            Some(start) => call.tool.starts_with(start),
            // `mcp__server` stands for all tools of the server.
            None => {
                call.tool == self.tool
                    || (self.tool.starts_with("mcp__")
                        && call.tool.strip_prefix(&self.tool).is_some_and(|r| r.starts_with("__")))
            }
        };
        if !is_tool {
            return false;
        }
        let Some(pattern) = &self.pattern else { return true };
        if let Some(shell) = shell {
            if let Pattern::Exact(text) = pattern {
                return shell.text == *text;
            }
            return match permission {
                Permission::Allow => {
                    shell.is_plain(call) && shell.is_first(|text| pattern.fits(text))
                }
                Permission::Ask | Permission::Deny => {
                    shell.any(|text| pattern.fits(text), |at| pattern.name_at(at))
                }
            };
        }
        if let Some(path) = path_of(call) {
            return pattern.fits_path(&path);
        }
        if call.tool == "web_fetch" {
            let url = call.arguments.get("url").and_then(Value::as_str).unwrap_or_default();
            return pattern.fits_url(url);
        }
        let values = call.arguments.as_object().into_iter().flat_map(|fields| fields.values());
        values.filter_map(Value::as_str).any(|text| pattern.fits(text))
    }
}

impl fmt::Display for PermissionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pattern() {
            Some(pattern) => write!(f, "{}({pattern})", self.tool),
            None => f.write_str(&self.tool),
        }
    }
}

impl Pattern {
    fn fits(&self, text: &str) -> bool {
        match self {
            Self::Glob(pattern) => glob(pattern, text, true),
            Self::Prefix(prefix) => text
                .strip_prefix(prefix.as_str())
                .is_some_and(|r| r.is_empty() || r.starts_with(' ')),
            Self::Exact(exact) => exact == text,
        }
    }

    /// The word at a place of a command that fits, if the pattern has a name there and no option.
    fn name_at(&self, at: usize) -> Option<String> {
        let (Self::Glob(text) | Self::Prefix(text) | Self::Exact(text)) = self;
        let word = text.split(' ').nth(at)?.split('*').next()?;
        word.starts_with(|c: char| c.is_ascii_alphanumeric()).then(|| word.to_owned())
    }

    fn fits_path(&self, path: &str) -> bool {
        match self {
            Self::Glob(pattern) => {
                let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
                // A name alone stands for files of that name anywhere, as in .gitignore.
                let name = path.rsplit('/').next().unwrap_or(path);
                glob(pattern, path, false) || (!pattern.contains('/') && glob(pattern, name, false))
            }
            Self::Prefix(prefix) => path.starts_with(prefix.as_str()),
            Self::Exact(exact) => exact == path,
        }
    }

    fn fits_url(&self, url: &str) -> bool {
        let domain = match self {
            Self::Glob(pattern) => pattern.strip_prefix("domain:"),
            Self::Prefix(_) | Self::Exact(_) => None,
        };
        match domain {
            Some(domain) => crate::HttpUrl::parse(url).is_ok_and(|url| {
                let host = url.host().name();
                host == domain || host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
            }),
            None => self.fits(url),
        }
    }
}

/// The file or directory that a call is about, from the root of the workspace; absolute outside it.
pub(super) fn path_of(call: &ToolUse<'_>) -> Option<String> {
    if !matches!(call.tool, "read" | "write" | "edit" | "list" | "search") {
        return None;
    }
    let path = call.arguments.get("path").and_then(Value::as_str).unwrap_or(".");
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

/// Whether a text fits a pattern. `*` stands for anything; in paths, not for a slash unless doubled.
/// Takes time proportional to the product of both lengths at most.
fn glob(pattern: &str, text: &str, across: bool) -> bool {
    // Most texts differ in what stands before the first star, which costs nothing to see.
    let start = pattern.split(['*', '?']).next().unwrap_or_default();
    if !text.starts_with(start) {
        return false;
    }
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    // For each length of a beginning of the text, whether the pattern so far fits it.
    let mut fits = vec![false; text.len() + 1];
    if let Some(first) = fits.first_mut() {
        *first = true;
    }
    let mut at = 0;
    while let Some(c) = pattern.get(at) {
        let mut next = vec![false; text.len() + 1];
        if *c == '*' {
            let is_double = pattern.get(at + 1) == Some(&'*');
            // `**/` also stands for no directory at all.
            let slash = is_double && !across && pattern.get(at + 2) == Some(&'/');
            let crosses = across || is_double;
            let mut reached = false;
            for (place, fits_here) in fits.iter().enumerate() {
                let stopped = place > 0 && !crosses && text.get(place - 1) == Some(&'/');
                reached = *fits_here || (reached && !stopped);
                if let Some(slot) = next.get_mut(place) {
                    // After `**/`, only where a directory ended, or at once.
                    let at_slash = place > 0 && text.get(place - 1) == Some(&'/');
                    *slot = reached && (!slash || *fits_here || at_slash);
                }
            }
            at += if slash {
                3
            } else if is_double {
                2
            } else {
                1
            };
        } else {
            for (place, fits_here) in fits.iter().enumerate() {
                let same = text.get(place).is_some_and(|t| t == c || (*c == '?' && *t != '/'));
                if *fits_here
                    && same
                    && let Some(slot) = next.get_mut(place + 1)
                {
                    *slot = true;
                }
            }
            at += 1;
        }
        fits = next;
    }
    fits.last().copied().unwrap_or(false)
}
