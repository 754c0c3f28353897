//! What a skill's files can do, said so that a person can agree to it or not.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::effect::{Act, Effect};
use super::value::{HOLE, Origin};
use crate::screen::url::urls;

/// Entries of one kind that are kept.
const MAX_ENTRIES: usize = 40;

/// What a skill can do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Capabilities {
    /// Hosts it connects to; `*` if the address is not constant.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub network: BTreeSet<String>,
    /// Secrets it reads: variables, files, stores.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub secrets: BTreeSet<String>,
    /// Programs it starts.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub runs: BTreeSet<String>,
    /// Files it writes outside its own folder.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub writes: BTreeSet<String>,
    /// Packages it installs.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub installs: BTreeSet<String>,
    /// What starts on its own: hooks, jobs, start-up files.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub starts: BTreeSet<String>,
    /// Files that cannot be read: binaries, archives, what is no text.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub unread: BTreeSet<String>,
}

impl Capabilities {
    /// Whether the files do nothing worth a word.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Capabilities that no declared tool covers.
    #[must_use]
    pub fn undeclared(&self, allowed_tools: &[String]) -> Vec<&'static str> {
        if allowed_tools.is_empty() {
            return Vec::new();
        }
        let has = |names: &[&str]| {
            allowed_tools.iter().any(|tool| {
                let tool = tool.to_ascii_lowercase();
                tool == "*" || names.iter().any(|name| tool.starts_with(name))
            })
        };
        let shell = has(&["bash", "shell", "exec", "terminal", "powershell", "run"]);
        let mut missing = Vec::new();
        if !self.network.is_empty() && !shell && !has(&["web", "fetch", "http", "network", "mcp"]) {
            missing.push("network");
        }
        if !self.runs.is_empty() && !shell {
            missing.push("programs");
        }
        if !self.writes.is_empty() && !shell && !has(&["write", "edit", "multiedit"]) {
            missing.push("writing files");
        }
        missing
    }

    pub(super) fn add(&mut self, effect: &Effect) {
        let target = shown(&effect.target);
        match effect.act {
            Act::Http
            | Act::Connect
            | Act::Copy
            | Act::Lookup
            | Act::Mail
            | Act::LoadRemote
            | Act::Flood => {
                let found = urls(&effect.target);
                let host =
                    found.iter().find(|url| !url.is_placeholder()).map(|url| url.host().to_owned());
                insert(&mut self.network, host.unwrap_or_else(|| "*".to_owned()));
            }
            Act::Program => {
                let name = target.split(' ').next().unwrap_or_default().to_owned();
                if !QUIET.contains(&name.as_str()) {
                    insert(&mut self.runs, name);
                }
            }
            Act::RemoteShell | Act::Evaluate | Act::Disguise => {
                insert(&mut self.runs, "code from elsewhere".to_owned());
            }
            Act::Write => {
                let path = effect.target.split(": ").next().unwrap_or_default();
                if path.starts_with(['/', '~']) || path.starts_with("..") {
                    insert(&mut self.writes, shown(path));
                }
            }
            Act::Persist => insert(&mut self.starts, target),
            Act::Install => insert(&mut self.installs, target),
            _ => {}
        }
        for mark in effect.marks.iter().chain(effect.proof.iter()) {
            if mark.origin.is_secret() {
                insert(&mut self.secrets, shown(&mark.detail));
            }
            if mark.origin == Origin::Fetched && effect.act == Act::Evaluate {
                insert(&mut self.runs, "downloaded code".to_owned());
            }
        }
    }
}

/// Programs that every script uses.
const QUIET: [&str; 30] = [
    "cd", "echo", "test", "[", "true", "false", "exit", "set", "local", "export", "return",
    "shift", "printf", "sleep", "cat", "grep", "mkdir", "dirname", "basename", "pwd", "date",
    "read", "head", "tail", "sort", "wc", "cut", "command", "trap", "",
];

fn insert(set: &mut BTreeSet<String>, entry: String) {
    if set.len() < MAX_ENTRIES && !entry.is_empty() {
        set.insert(entry);
    }
}

fn shown(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().replace(HOLE, "…");
    foreword::visible_line(&line.chars().take(80).collect::<String>())
}

impl fmt::Display for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let groups = [
            ("network", &self.network),
            ("secrets", &self.secrets),
            ("runs", &self.runs),
            ("writes", &self.writes),
            ("installs", &self.installs),
            ("starts on its own", &self.starts),
            ("unread files", &self.unread),
        ];
        let mut first = true;
        for (name, entries) in groups.into_iter().filter(|(_, entries)| !entries.is_empty()) {
            let some: Vec<&str> = entries.iter().map(String::as_str).take(6).collect();
            let more = entries.len().saturating_sub(some.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let separator = if first { "" } else { "; " };
            write!(f, "{separator}{name}: {}{more}", some.join(", "))?;
            first = false;
        }
        Ok(())
    }
}
