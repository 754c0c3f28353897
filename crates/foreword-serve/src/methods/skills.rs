//! Skills of a workspace: list, read, propose, review, decide.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use foreword::Profile;
use foreword_guard::{Capabilities, Finding};
use foreword_host::ModelOpinion;
use foreword_skills::{
    Approvals, GitStore, GitStoreOptions, ListedSkill, Opinion, ProposalRequest, ProposalResult,
    Screeners, SkillContent, SkillStore as _, Standing, TaintState, proposal_findings,
};
use foreword_store::ProposalSummary;
use foreword_workspace::Workspace;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::environment::{act, act_of, config_dir, format_time};
use crate::failure::Failure;
use crate::service::Service;

/// A workspace whose skills to list.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SkillListParams {
    /// The directory of the workspace.
    pub workspace: Option<PathBuf>,
}

/// A skill to read.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SkillReadParams {
    /// The directory of the workspace.
    pub workspace: Option<PathBuf>,
    /// The name of the skill.
    #[serde(alias = "skill")]
    pub name: String,
}

/// A skill to add or change.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SkillProposeParams {
    /// The directory of the workspace.
    pub workspace: Option<PathBuf>,
    /// The text of SKILL.md, header included.
    pub content: String,
    /// The name of the skill; that of its header where absent.
    pub name: Option<String>,
    /// The other files of the skill, by path.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// The reason for the proposal.
    pub reason: Option<String>,
    /// The agent that proposes.
    pub agent: Option<String>,
    /// The share of the session's tokens that came from external content, 0 to 1.
    #[serde(default)]
    pub taint_ratio: f64,
    /// The taint ratio above which the proposal is refused; that of the profile where absent.
    pub taint_threshold: Option<f64>,
    /// The security profile; that of the workspace where absent.
    pub profile: Option<Profile>,
}

/// Proposals to list, or one to show.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SkillProposalsParams {
    /// The directory of the workspace.
    pub workspace: Option<PathBuf>,
    /// Show only this proposal, with its diff: its ID, or the first characters.
    pub id: Option<String>,
    /// Include decided proposals.
    pub all: bool,
}

/// A person's decision on a proposal.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SkillDecideParams {
    /// The directory of the workspace.
    pub workspace: Option<PathBuf>,
    /// The ID of the proposal, or its first characters.
    pub id: String,
    /// The decision.
    pub decision: Decision,
    /// The reason for a rejection, for the log and the agent.
    pub reason: Option<String>,
}

/// What a person decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// Commit the proposal.
    Approve,
    /// Reject the proposal.
    Reject,
}

/// A skill, and how far it is approved.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "ListedSkill")]
#[serde(rename_all = "camelCase")]
pub struct SkillEntry {
    /// Its name.
    pub name: String,
    /// Its file.
    pub path: String,
    /// When to use it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// `approved`, or `local` for a file that differs from its commit or has none.
    pub status: &'static str,
    /// The commit that holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Who approved it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// When it was approved, in RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// What its code can do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub can_do: Option<String>,
}

/// A proposal.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProposalEntry {
    /// Its ID.
    pub id: String,
    /// What kind of change it is.
    pub kind: &'static str,
    /// The skill.
    pub skill: String,
    /// The main file of the skill.
    pub path: String,
    /// The commit that a revert undoes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reverts: Option<String>,
    /// Why it was proposed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who proposed it.
    pub proposed_by: String,
    /// The verdict of screening.
    pub verdict: String,
    /// The policy it was screened by.
    pub policy: String,
    /// Where it stands.
    pub state: &'static str,
    /// What screening found.
    pub findings: Vec<Finding>,
    /// What its code can do.
    #[serde(skip_serializing_if = "Capabilities::is_empty")]
    pub capabilities: Capabilities,
    /// When it was stored, in RFC 3339.
    pub created_at: String,
    /// When it was decided, in RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<String>,
    /// Who decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// Why it was decided so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision_reason: Option<String>,
    /// The commit that carried it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// What it changes, if one proposal was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// What became of a proposal.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Decided {
    /// Its ID.
    pub id: String,
    /// The skill.
    pub skill: String,
    /// `approved` or `rejected`.
    pub state: &'static str,
    /// The commit, if it was approved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The files that changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

pub(crate) fn skill_list(
    service: &Service,
    params: SkillListParams,
) -> Result<Vec<SkillEntry>, Failure> {
    let SkillListParams { workspace } = params;
    entries(&store(&service.root(workspace.as_deref())?)?)
}

pub(crate) fn skill_read(
    service: &Service,
    params: SkillReadParams,
) -> Result<SkillContent, Failure> {
    let SkillReadParams { workspace, name } = params;
    Ok(store(&service.root(workspace.as_deref())?)?.read(&name)?)
}

pub(crate) fn skill_propose(
    service: &Service,
    params: SkillProposeParams,
) -> Result<ProposalResult, Failure> {
    let ratio = |field: &str, value: f64| {
        if (0.0..=1.0).contains(&value) {
            return Ok(value);
        }
        Err(Failure::usage(format!("`{field}` is {value}: it must be a ratio from 0 to 1")))
    };
    let mut store = screening_store(&service.root(params.workspace.as_deref())?)?;
    let profile = params.profile.unwrap_or(store.workspace().config().profile);
    let taint = TaintState {
        ratio: ratio("taintRatio", params.taint_ratio)?,
        threshold: match params.taint_threshold {
            Some(threshold) => ratio("taintThreshold", threshold)?,
            None => profile.threshold(),
        },
    };
    let files = params.files.into_iter().map(|(path, text)| (path, text.into_bytes())).collect();
    let request = ProposalRequest {
        name: params.name,
        file: None,
        content: params.content,
        files,
        reason: params.reason,
        taint,
    };
    Ok(store.propose(request, &act_of(params.agent.as_deref()))?)
}

pub(crate) fn skill_proposals(
    service: &Service,
    params: SkillProposalsParams,
) -> Result<Vec<ProposalEntry>, Failure> {
    let SkillProposalsParams { workspace, id, all } = params;
    let store = store(&service.root(workspace.as_deref())?)?;
    match &id {
        Some(id) => Ok(vec![with_diff(&store, id)?]),
        None => Ok(store.proposals(all)?.iter().map(ProposalEntry::from).collect()),
    }
}

pub(crate) fn skill_decide(
    service: &Service,
    params: SkillDecideParams,
) -> Result<Decided, Failure> {
    let SkillDecideParams { workspace, id, decision, reason } = params;
    let mut store = store(&service.root(workspace.as_deref())?)?;
    let proposal = store.proposal(&id)?;
    let id = proposal.id.to_string();
    match decision {
        Decision::Approve => {
            let done = store.approve(&id, &act())?;
            Ok(Decided {
                id,
                skill: done.skill,
                state: "approved",
                commit: Some(done.commit),
                files: done.files,
            })
        }
        Decision::Reject => {
            store.reject(&id, reason.as_deref(), &act())?;
            let skill = proposal.skill.clone();
            Ok(Decided { id, skill, state: "rejected", commit: None, files: Vec::new() })
        }
    }
}

/// The governed skills of a workspace.
pub fn store(workspace: &Path) -> Result<GitStore, Failure> {
    let options = GitStoreOptions { config_dir: config_dir()?, screeners: Screeners::default() };
    Ok(GitStore::new(Workspace::open_for(workspace, Some(&options.config_dir))?, options))
}

/// The same for skills that are screened: with the model's opinion if the settings ask for it.
pub fn screening_store(workspace: &Path) -> Result<GitStore, Failure> {
    let mut store = store(workspace)?;
    if let Some(opinion) = opinion(store.workspace())? {
        store.ask(opinion);
    }
    Ok(store)
}

/// The model of a workspace, if it is to be asked about skills.
pub fn opinion(workspace: &Workspace) -> Result<Option<Opinion>, Failure> {
    let environment = |name: &str| std::env::var(name).ok();
    let opinion = ModelOpinion::of(workspace, &config_dir()?, &environment);
    Ok(opinion.map(|opinion| Box::new(opinion) as Opinion))
}

/// The skills with their approvals.
pub fn entries(store: &GitStore) -> Result<Vec<SkillEntry>, Failure> {
    let approvals = store.approvals().unwrap_or_default();
    Ok(store.listing()?.skills.iter().map(|skill| entry(skill, store, &approvals)).collect())
}

fn entry(skill: &ListedSkill, store: &GitStore, approvals: &Approvals) -> SkillEntry {
    let mut entry = SkillEntry {
        name: skill.meta.name.clone(),
        path: skill.meta.path.clone(),
        description: skill.meta.description.clone(),
        status: "local",
        commit: None,
        by: None,
        at: None,
        can_do: None,
    };
    match approvals.of_listed(store.workspace(), skill) {
        Standing::Approved { commit, by, at, can_do } => {
            entry.status = "approved";
            entry.commit = Some(commit);
            entry.by = Some(by);
            entry.at = Some(format_time(at));
            entry.can_do = can_do;
        }
        Standing::Modified { commit } => entry.commit = Some(commit),
        Standing::Local => {}
    }
    entry
}

/// One proposal with what it changes.
pub fn with_diff(store: &GitStore, id: &str) -> Result<ProposalEntry, Failure> {
    let proposal = store.proposal(id)?;
    let diff = store.diff(&proposal)?;
    Ok(ProposalEntry { diff: Some(diff), ..ProposalEntry::from(&proposal.summary) })
}

impl From<&ProposalSummary> for ProposalEntry {
    fn from(proposal: &ProposalSummary) -> Self {
        let (findings, capabilities) = proposal_findings(proposal);
        let of = proposal.clone();
        Self {
            id: of.id.to_string(),
            kind: of.kind.as_str(),
            skill: of.skill,
            path: of.path,
            reverts: of.reverts,
            reason: of.reason,
            proposed_by: of.proposed_by,
            verdict: of.verdict,
            policy: of.policy,
            state: of.state.as_str(),
            findings,
            capabilities,
            created_at: format_time(of.created_at),
            decided_at: of.decided_at.map(format_time),
            decided_by: of.decided_by,
            decision_reason: of.decision_reason,
            commit: of.commit,
            diff: None,
        }
    }
}
