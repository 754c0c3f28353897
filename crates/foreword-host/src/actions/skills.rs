//! Listing, reading and proposing skills.

use foreword::estimate;
use foreword_guard::{Provenance, ScanVerdict, Trust, Verdict, external_content, scan_input};
use foreword_protocol::{ErrorCode, Failure, SkillPropose, SkillRead};
use foreword_skills::{ListedSkill, ProposalRequest, SkillError, SkillStore as _, TaintState};
use serde_json::{Value, json};

use super::{Review, to_json};
use crate::error::HostError;
use crate::governance::skill_approval::{KnownSkills, SkillApproval};
use crate::turn::active_session::ActiveSession;
use crate::turn::warning::Warning;

pub(super) fn list(active: &ActiveSession) -> Result<Value, Failure> {
    let store = active.host.skills()?;
    let known = KnownSkills::of(&active.host, &store);
    let listing = store.listing().map_err(HostError::from)?;
    let skills: Vec<Value> = listing
        .skills
        .iter()
        .filter(|skill| skill.invocation.model)
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

/// Reads a skill. One that nobody approved or trusted is fenced and counted as untrusted text. One that only
/// screening approved is scanned like the result of any tool. What a person stands for is not scanned: rules
/// for agents read like orders to an agent.
pub(super) fn read(active: &ActiveSession, args: &SkillRead) -> Result<Value, Failure> {
    let store = active.host.skills()?;
    let listing = store.listing().map_err(HostError::from)?;
    // What only a person may ask for, a model cannot read by its name.
    let is_hidden = |skill: &ListedSkill| skill.meta.name == args.name && !skill.invocation.model;
    if listing.skills.iter().any(is_hidden) {
        let message = format!("only a person may ask for the skill `{}`", args.name);
        return Err(Failure::new(ErrorCode::NotFound, message));
    }
    let mut skill = store.read(&args.name).map_err(|error| match error {
        error @ SkillError::NoSuchSkill { .. } => {
            Failure::new(ErrorCode::NotFound, error.to_string())
        }
        error => HostError::from(error).into(),
    })?;
    let digest = blake3::hash(skill.content.as_bytes());
    let listed = listing.skills.iter().find(|listed| listed.meta.path == skill.path);
    let known = KnownSkills::of(&active.host, &store);
    let approval =
        listed.map_or(SkillApproval::None, |listed| known.approval(listed, digest.as_bytes()));
    let verdict = match approval {
        SkillApproval::Person | SkillApproval::Trusted | SkillApproval::None => ScanVerdict::Pass,
        SkillApproval::Screening => {
            let scanner = active.host.scanner()?;
            scan_input(scanner, &skill.content, Provenance::ToolResult).verdict
        }
    };
    let is_external = approval == SkillApproval::None || verdict == ScanVerdict::Block;
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
