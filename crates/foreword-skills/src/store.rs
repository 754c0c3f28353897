//! What a store of skills can do, whatever keeps them.

use std::collections::BTreeMap;

use foreword_guard::{Capabilities, Finding, Verdict};
use serde::Serialize;

use crate::error::SkillError;
use crate::flow::taint::TaintState;
use crate::listing::SkillMeta;

/// Who does something, and when: stores read neither clock nor environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Act {
    /// Milliseconds since 1970.
    pub at: i64,
    /// Such as `user:ada` or `agent:cosmo`.
    pub by: String,
}

/// A skill to add or change.
#[derive(Debug, Clone, Default)]
pub struct ProposalRequest {
    /// The name asked for; else the header's, else the stem of `file`.
    pub name: Option<String>,
    /// The file the text came from, for its stem and for messages.
    pub file: Option<String>,
    /// The text, header and all.
    pub content: String,
    /// Files beside `SKILL.md`, by path below the skill's folder. Files that are not named here stay as
    /// they are.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Why.
    pub reason: Option<String>,
    /// What the session has taken in from outside.
    pub taint: TaintState,
}

/// What became of a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ProposalResult {
    /// The proposal, for `approve` and `reject`, and in the audit log.
    pub id: String,
    /// What screening says.
    pub verdict: Verdict,
    /// Why.
    pub reason: String,
    /// What was found.
    pub findings: Vec<Finding>,
    /// What its files can do.
    #[serde(skip_serializing_if = "Capabilities::is_empty")]
    pub capabilities: Capabilities,
    /// The skill.
    pub skill: String,
    /// The commit that holds it, once it is approved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// A skill's whole text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SkillContent {
    /// Its name.
    pub name: String,
    /// Its file.
    pub path: String,
    /// The text as it lies on disk, header and all.
    pub content: String,
}

/// A change that is in the history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CommittedChange {
    /// The commit.
    pub commit: String,
    /// The proposal it came from.
    pub id: String,
    /// The skill.
    pub skill: String,
    /// The files that changed.
    pub files: Vec<String>,
}

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LogEntry {
    /// Milliseconds since 1970.
    pub at: i64,
    /// Such as `approve`, `reject`, `revert`.
    pub action: String,
    /// How it ended, such as `done` or `refused`.
    pub outcome: String,
    /// The skill.
    pub skill: String,
    /// Who.
    pub by: String,
    /// The proposal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The commit, if it changed a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Which part of the log.
#[derive(Debug, Clone, Default)]
pub struct LogOptions {
    /// Only this skill.
    pub skill: Option<String>,
    /// The maximum number of entries, newest first.
    pub limit: Option<usize>,
}

/// A store of skills.
///
/// Names and ids come from agents: every implementation checks them before it touches a file.
pub trait SkillStore {
    /// The skills there are, by name.
    fn list(&self) -> Result<Vec<SkillMeta>, SkillError>;

    /// The whole text of a skill.
    fn read(&self, name: &str) -> Result<SkillContent, SkillError>;

    /// Screens a skill: refused, kept for a person to decide, or taken in at once.
    fn propose(
        &mut self,
        request: ProposalRequest,
        act: &Act,
    ) -> Result<ProposalResult, SkillError>;

    /// Takes in a proposal, after screening it once more.
    fn approve(&mut self, id: &str, act: &Act) -> Result<CommittedChange, SkillError>;

    /// Turns a proposal down.
    fn reject(&mut self, id: &str, reason: Option<&str>, act: &Act) -> Result<(), SkillError>;

    /// Undoes a commit with another one.
    fn revert(&mut self, commit: &str, act: &Act) -> Result<CommittedChange, SkillError>;

    /// What happened, newest first.
    fn log(&self, options: &LogOptions) -> Result<Vec<LogEntry>, SkillError>;
}
