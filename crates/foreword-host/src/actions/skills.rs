//! Listing, reading and proposing skills.

use std::cell::LazyCell;
use std::collections::BTreeMap;

use foreword::{SCREENING, estimate};
use foreword_guard::{Provenance, ScanVerdict, Trust, Verdict, external_content, scan_input};
use foreword_protocol::{ErrorCode, Failure, SkillPropose, SkillRead};
use foreword_skills::{
    Approvals, GitStore, ListedSkill, ProposalRequest, SkillError, SkillStore as _, Standing,
    TaintState,
};
use foreword_workspace::GovernedFile;
use serde_json::{Value, json};

use super::{Review, to_json};
use crate::error::HostError;
use crate::turn::active_session::ActiveSession;
use crate::turn::warning::Warning;

pub(super) fn list(active: &ActiveSession) -> Result<Value, Failure> {
    let store = active.host.skills()?;
    let known = Known::of(active, &store);
    let listing = store.listing().map_err(HostError::from)?;
    let skills: Vec<Value> = listing
        .skills
        .iter()
        .map(|skill| {
            let (meta, approval) = (&skill.meta, known.approval(skill, &skill.digest));
            json!({
                "name": meta.name, "description": meta.description, "path": meta.path,
                "approved": approval.is_approved(), "approval": approval.as_str(),
            })
        })
        .collect();
    Ok(json!({ "skills": skills }))
}

/// Who stands for a skill.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Approval {
    Person,
    Screening,
    /// The person trusted it with the workspace.
    Trusted,
    None,
}

impl Approval {
    fn is_approved(self) -> bool {
        matches!(self, Self::Person | Self::Screening)
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Person => "approved by a person",
            Self::Screening => "approved by screening",
            Self::Trusted => "trusted with the workspace",
            Self::None => "not approved",
        }
    }
}

/// What the person and screening have accepted. What cannot be read counts as not accepted.
struct Known<'s> {
    store: &'s GitStore,
    approvals: Approvals,
    trusted: BTreeMap<String, GovernedFile>,
}

impl Known<'_> {
    fn of<'s>(active: &ActiveSession, store: &'s GitStore) -> Known<'s> {
        let approvals = store.approvals().unwrap_or_default();
        Known { store, approvals, trusted: active.host.trusted_skills() }
    }

    /// Who stands for a skill whose own file has this digest, with all files of its folder.
    fn approval(&self, skill: &ListedSkill, digest: &[u8; 32]) -> Approval {
        let beside = LazyCell::new(|| match &skill.dir {
            Some(dir) => self.store.workspace().skill_digests(&skill.root, dir).ok(),
            None => Some(BTreeMap::new()),
        });
        let path = &skill.meta.path;
        let accepted = |path: &String, digest: &[u8; 32]| {
            self.trusted.get(path).is_some_and(|file| file.digest == *digest)
        };
        let is_trusted = || {
            let folder =
                || beside.as_ref().is_some_and(|all| all.iter().all(|(p, d)| accepted(p, d)));
            accepted(path, digest) && folder()
        };
        match self.approvals.standing(path, digest, || beside.clone()) {
            Standing::Approved { by, .. } if by == SCREENING => Approval::Screening,
            Standing::Approved { .. } => Approval::Person,
            _ if is_trusted() => Approval::Trusted,
            _ => Approval::None,
        }
    }
}

/// Reads a skill. One that nobody approved or trusted is fenced and counted as untrusted text. One that only
/// screening approved is scanned like the result of any tool. What a person stands for is not scanned: rules
/// for agents read like orders to an agent.
pub(super) fn read(active: &ActiveSession, args: &SkillRead) -> Result<Value, Failure> {
    let store = active.host.skills()?;
    let mut skill = store.read(&args.name).map_err(|error| match error {
        error @ SkillError::NoSuchSkill { .. } => {
            Failure::new(ErrorCode::NotFound, error.to_string())
        }
        error => HostError::from(error).into(),
    })?;
    let digest = blake3::hash(skill.content.as_bytes());
    let listing = store.listing().map_err(HostError::from)?;
    let listed = listing.skills.iter().find(|listed| listed.meta.path == skill.path);
    let known = Known::of(active, &store);
    let approval =
        listed.map_or(Approval::None, |listed| known.approval(listed, digest.as_bytes()));
    let verdict = match approval {
        Approval::Person | Approval::Trusted | Approval::None => ScanVerdict::Pass,
        Approval::Screening => {
            let scanner = active.host.scanner()?;
            scan_input(scanner, &skill.content, Provenance::ToolResult).verdict
        }
    };
    let is_external = approval == Approval::None || verdict == ScanVerdict::Block;
    let tokens = u64::from(estimate(&skill.content));
    if is_external || verdict != ScanVerdict::Pass {
        let source = format!("skill {} ({})", skill.name, approval.as_str());
        skill.content = external_content(&source, Trust::Tool, &skill.content);
    }
    active.add_content(Provenance::ToolResult, "skill_read", tokens, is_external)?;
    let prompt = active.prompt.context.skills.iter();
    let mut known = prompt.filter(|known| known.name.inspect() == skill.name);
    let folder = known.find_map(|known| known.folder.as_ref()).map(foreword::Line::inspect);
    Ok(json!({
        "name": skill.name, "path": skill.path, "content": skill.content, "folder": folder,
        "approved": approval.is_approved(), "approval": approval.as_str(),
    }))
}

/// The taint gate has been passed by now, possibly with a grant, so the store must not refuse again.
/// What a tainted session proposes waits for a person, unless one has approved exactly this call.
pub(super) fn propose(
    active: &ActiveSession,
    args: SkillPropose,
    review: Review,
) -> Result<Value, Failure> {
    let taint = match review {
        Review::Approved => TaintState::default(),
        Review::None => TaintState { ratio: active.taint()?.ratio(), threshold: 1.0 },
    };
    let request = ProposalRequest {
        name: Some(args.skill),
        file: None,
        content: args.content,
        files: args.files.into_iter().map(|(path, text)| (path, text.into_bytes())).collect(),
        reason: args.reason,
        taint,
    };
    let act = active.host.act(&active.actor());
    let result =
        active.host.skills_with_opinion()?.propose(request, &act).map_err(HostError::from)?;
    let (skill, by) = (result.skill.clone(), active.actor());
    match (result.verdict, &result.commit) {
        (_, Some(commit)) => {
            let commit = commit.clone();
            active.host.warn_later(Warning::SkillApprovedByScreening { skill, by, commit });
        }
        (Verdict::Reject, None) => {}
        (_, None) => {
            active.host.warn_later(Warning::SkillWaits { skill, by, id: result.id.clone() });
        }
    }
    to_json(result)
}
