//! Listing, reading and proposing skills.

use foreword_guard::{Trust, external_content};
use foreword_protocol::{ErrorCode, Failure, SkillPropose, SkillRead};
use foreword_skills::{
    Approvals, ListedSkill, ProposalRequest, SkillError, SkillStore as _, Standing, TaintState,
};
use serde_json::{Value, json};

use super::{Review, to_json};
use crate::error::HostError;
use crate::turn::active_session::ActiveSession;

pub(super) fn list(active: &ActiveSession) -> Result<Value, Failure> {
    let store = active.host.skills()?;
    let approvals = store.approvals().unwrap_or_default();
    let listing = store.listing().map_err(HostError::from)?;
    let skills: Vec<Value> = listing
        .skills
        .iter()
        .map(|ListedSkill { meta, digest, .. }| {
            json!({
                "name": meta.name, "description": meta.description, "path": meta.path,
                "approved": is_approved(&approvals, &meta.path, digest),
            })
        })
        .collect();
    Ok(json!({ "skills": skills }))
}

/// A skill whose approval cannot be read counts as not approved.
fn is_approved(approvals: &Approvals, path: &str, digest: &[u8; 32]) -> bool {
    matches!(approvals.standing(path, digest), Standing::Approved { .. })
}

/// Reads a skill. One that is not approved is fenced as untrusted text.
pub(super) fn read(active: &ActiveSession, args: &SkillRead) -> Result<Value, Failure> {
    let store = active.host.skills()?;
    let mut skill = store.read(&args.name).map_err(|error| match error {
        error @ SkillError::NoSuchSkill { .. } => {
            Failure::new(ErrorCode::NotFound, error.to_string())
        }
        error => HostError::from(error).into(),
    })?;
    let approvals = store.approvals().unwrap_or_default();
    let digest = blake3::hash(skill.content.as_bytes());
    let approved = is_approved(&approvals, &skill.path, digest.as_bytes());
    if !approved {
        let source = format!("skill {} (not approved)", skill.name);
        skill.content = external_content(&source, Trust::Tool, &skill.content);
    }
    Ok(json!({
        "name": skill.name, "path": skill.path, "content": skill.content, "approved": approved,
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
        reason: args.reason,
        taint,
    };
    let act = active.host.act(&active.actor());
    let result = active.host.skills()?.propose(request, &act).map_err(HostError::from)?;
    to_json(result)
}
