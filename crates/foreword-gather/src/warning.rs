//! What a person should know about a prompt that could still be built.

use std::collections::HashMap;
use std::fmt;
use std::mem::{Discriminant, discriminant};
use std::path::{Path, PathBuf};

use foreword::{Mode, visible_line};
use serde::{Serialize, Serializer};

/// Warnings of one kind that are shown one by one.
const MAX_OF_A_KIND: usize = 10;

/// Something about a workspace that does not keep its prompt from being built.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// A skill that cannot be read.
    Skill { problem: String },
    /// A directory of skills outside the workspace that the person did not allow.
    RootNotAllowed { problem: String },
    /// A skill whose folder cannot be read as a whole, so that nobody can have trusted it.
    SkillNotReviewable { skill: String, reason: String },
    /// Files were imported that the person has not trusted yet.
    ImportNotTrusted,
    /// More of the same kind as the warning before.
    Repeated { count: usize },
    /// An agent's list of skills names one that does not exist.
    SkillMissing { asked_by: Option<String>, name: String },
    /// A file of the repository cannot be read, so the prompt lacks what it would say.
    Git { problem: String },
    /// Approvals cannot be read, so every skill counts as not approved.
    ApprovalsUnreadable { reason: String },
    /// Memories cannot be read, so the prompt has none.
    MemoriesUnreadable { reason: String },
    /// Memories are scanned without vectors of known injections.
    KeywordScanOnly,
    /// Memories that only keywords can find.
    MemoriesWithoutVectors { count: usize },
    /// The database was made with an audit key that is not this person's.
    OtherAuditKey,
    /// The workspace names an embedding endpoint that the person did not agree to.
    EndpointNotTrusted { url: String },
    /// The index file cannot be read.
    IndexUnreadable { reason: String },
    /// The index was made by another embedder than the one in use.
    IndexOfOtherEmbedder { embedder: String },
    /// Texts that the index does not cover were embedded for this build.
    EmbeddedForBuild { index: IndexState, count: usize },
    /// Tools and skills were selected by keywords.
    KeywordSearchOnly { reason: String },
    /// Tools that nothing carries out, which a run leaves out.
    UncallableTools { names: Vec<String> },
    /// A server of `.mcp.json` that cannot be used.
    McpServer { problem: String },
    /// MCP servers whose tool lists the person has not reviewed, so that they are off.
    ServersNotReviewed { names: Vec<String> },
    /// A tool of an MCP server that an agent lists and that does not exist.
    ServerTool { name: String, problem: String },
    /// An MCP server on another machine that the person's settings do not name, so that it is off.
    ServerElsewhere { name: String, url: String, settings: PathBuf },
    /// An MCP server whose tools could not be read when the person reviewed them, so that it is off.
    ServerFailed { name: String, reason: String },
    /// An MCP server with a key in its definition, so that it is off.
    ServerKey { name: String, file: &'static str, line: usize, reason: String },
    /// `foreword.toml` names a tool or skill that the agent does not have.
    ModeItemMissing { mode: Mode, key: &'static str, name: String },
}

/// Why an index did not cover a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexState {
    Missing,
    Unusable,
    Stale,
}

impl Warning {
    /// Whether it is only about an index that was never made.
    pub fn is_missing_index(&self) -> bool {
        matches!(self, Self::EmbeddedForBuild { index: IndexState::Missing, .. })
    }

    /// Whether it is only about an index that something was added to since.
    pub fn is_stale_index(&self) -> bool {
        matches!(self, Self::EmbeddedForBuild { index: IndexState::Stale, .. })
    }
}

/// Why a server at a URL is off, and what turns it on.
pub fn server_elsewhere(url: &str, settings: &Path) -> String {
    format!(
        "{url} is on another machine and not in your settings.toml; add the lines `[[mcp.servers]]` and \
         `url = {}` to {}, then run `foreword trust`",
        toml_text(url),
        settings.display(),
    )
}

/// A text as TOML writes it, on one line.
fn toml_text(text: &str) -> String {
    if text.contains(['\'', '\n']) { format!("{text:?}") } else { format!("'{text}'") }
}

/// Shows the first few warnings of each kind and counts the others, in the order in which they came.
pub(crate) fn summed(warnings: Vec<Warning>) -> Vec<Warning> {
    let mut totals: HashMap<Discriminant<Warning>, usize> = HashMap::new();
    for warning in &warnings {
        *totals.entry(discriminant(warning)).or_default() += 1;
    }
    let mut seen: HashMap<Discriminant<Warning>, usize> = HashMap::new();
    let mut summed = Vec::new();
    for warning in warnings {
        let kind = discriminant(&warning);
        let number = seen.entry(kind).or_default();
        *number += 1;
        if *number <= MAX_OF_A_KIND || matches!(warning, Warning::Repeated { .. }) {
            summed.push(warning);
        }
        let total = totals.get(&kind).copied().unwrap_or_default();
        if *number == MAX_OF_A_KIND && total > MAX_OF_A_KIND {
            summed.push(Warning::Repeated { count: total - MAX_OF_A_KIND });
        }
    }
    summed
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Skill { problem }
            | Self::RootNotAllowed { problem }
            | Self::McpServer { problem } => f.write_str(problem),
            Self::SkillNotReviewable { skill, reason } => write!(
                f,
                "skill `{skill}` counts as not approved because its folder cannot be reviewed: {reason}"
            ),
            Self::ImportNotTrusted => f.write_str(
                "the imported files are not trusted yet: the prompt quotes them for reference only, and no \
                 agent runs here; review them with `foreword trust`",
            ),
            Self::Repeated { count } => write!(f, "… and {count} more like the last one"),
            Self::SkillMissing { asked_by, name } => {
                if let Some(asked_by) = asked_by {
                    write!(f, "{asked_by}: ")?;
                }
                write!(f, "the list of skills contains `{name}`, which does not exist")
            }
            Self::Git { problem } => write!(f, "git facts left out: {problem}"),
            Self::ApprovalsUnreadable { reason } => {
                write!(f, "cannot read approvals, so no skill counts as approved: {reason}")
            }
            Self::MemoriesUnreadable { reason } => write!(f, "no memories recalled: {reason}"),
            Self::KeywordScanOnly => f.write_str(
                "memories are scanned for known injections by keywords only; run `foreword index` \
                 to add embeddings",
            ),
            Self::MemoriesWithoutVectors { count } => write!(
                f,
                "{count} memories have no embeddings and are found by keywords only; run \
                 `foreword memory reindex` to add them"
            ),
            Self::OtherAuditKey => f.write_str(
                "the database of this workspace was made with another audit key, so its memories may not be \
                 yours; run `foreword audit verify` to check it",
            ),
            Self::EndpointNotTrusted { url } => write!(
                f,
                "foreword.toml asks for embeddings from {url}; using the built-in ones until you allow it \
                 with `foreword trust`"
            ),
            Self::IndexUnreadable { reason } => {
                write!(f, "{reason}; run `foreword index` to rebuild it")
            }
            Self::IndexOfOtherEmbedder { embedder } => {
                write!(f, "the index was made by {embedder}, which is not in use here")
            }
            Self::EmbeddedForBuild { index, count } => {
                let state = match index {
                    IndexState::Missing => "there is no index",
                    IndexState::Unusable => "the index cannot be used",
                    IndexState::Stale => "the index is stale",
                };
                let texts = if *count == 1 { "text was" } else { "texts were" };
                write!(
                    f,
                    "{state}: {count} {texts} embedded for this build; run `foreword index` to keep them"
                )
            }
            Self::KeywordSearchOnly { reason } => {
                write!(f, "embeddings unavailable, using keyword search: {reason}")
            }
            Self::UncallableTools { names } => {
                let mut named: Vec<String> =
                    names.iter().take(MAX_OF_A_KIND).map(|name| format!("`{name}`")).collect();
                if names.len() > MAX_OF_A_KIND {
                    named.push(format!("{} more", names.len() - MAX_OF_A_KIND));
                }
                let (what, have) = if names.len() == 1 { ("tool", "has") } else { ("tools", "have") };
                write!(
                    f,
                    "left out {what} that {have} no implementation: {}; add a `command` in tools.toml \
                     or run `foreword lint` for details",
                    named.join(", ")
                )
            }
            Self::ServersNotReviewed { names } => {
                let named: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                let (what, are) = if names.len() == 1 { ("server", "is") } else { ("servers", "are") };
                write!(
                    f,
                    "MCP {what} {} {are} off until you review the tools; run `foreword trust`",
                    named.join(", ")
                )
            }
            Self::ServerTool { name, problem } => {
                write!(f, "left out `{}`: {}", visible_line(name), visible_line(problem))
            }
            Self::ServerElsewhere { name, url, settings } => {
                let reason = server_elsewhere(url, settings);
                write!(f, "MCP server `{}` is off: {reason}", visible_line(name))
            }
            Self::ServerFailed { name, reason } => write!(
                f,
                "MCP server `{}` is off, because its tools could not be read: {}; correct that and run \
                 `foreword trust`",
                visible_line(name),
                visible_line(reason)
            ),
            Self::ServerKey { name, file, line, reason } => {
                write!(f, "{file}:{line}: MCP server `{}` is off: {reason}", visible_line(name))
            }
            Self::ModeItemMissing { mode, key, name } => write!(
                f,
                "foreword.toml: `modes.{}.{key}` lists `{name}`, which this agent does not have",
                mode.as_str()
            ),
        }
    }
}

impl Serialize for Warning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_warnings_of_one_kind_are_summed_up() {
        let skill = |number: usize| Warning::Skill { problem: format!("skill {number}") };
        let mut all: Vec<Warning> = (0..20_000).map(skill).collect();
        all.insert(5, Warning::KeywordScanOnly);
        let shown = summed(all);
        assert_eq!(shown.len(), 12);
        assert_eq!(shown[5], Warning::KeywordScanOnly);
        assert_eq!(shown[10], skill(9));
        assert_eq!(shown[11].to_string(), "… and 19990 more like the last one");
        assert_eq!(summed(shown.clone()), shown, "what was summed up stays so");
        let few: Vec<Warning> = (0..MAX_OF_A_KIND).map(skill).collect();
        assert_eq!(summed(few.clone()), few);
    }
}
