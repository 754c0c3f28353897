//! Skills: listed, read, proposed.

use foreword_ipc::{ErrorCode, Failure, SkillPropose, SkillRead};
use foreword_skills::{ProposalRequest, SkillError, SkillStore as _, TaintState};
use serde_json::{Value, json};

use super::to_json;
use crate::error::HostError;
use crate::live::Live;

pub(super) fn list(live: &Live) -> Result<Value, Failure> {
    let skills = live.host.skills()?.list().map_err(HostError::from)?;
    let skills: Vec<Value> = skills
        .iter()
        .map(|skill| {
            json!({ "name": skill.name, "description": skill.description, "path": skill.path })
        })
        .collect();
    Ok(json!({ "skills": skills }))
}

pub(super) fn read(live: &Live, args: &SkillRead) -> Result<Value, Failure> {
    let content = live.host.skills()?.read(&args.name).map_err(|error| match error {
        error @ SkillError::NoSuchSkill { .. } => {
            Failure::new(ErrorCode::NotFound, error.to_string())
        }
        error => HostError::from(error).into(),
    })?;
    to_json(content)
}

/// The gate was passed before: the store does not ask again what a person may have allowed.
pub(super) fn propose(live: &Live, args: SkillPropose) -> Result<Value, Failure> {
    let request = ProposalRequest {
        name: Some(args.skill),
        file: None,
        content: args.content,
        reason: args.reason,
        taint: TaintState::default(),
    };
    let act = live.host.act(&live.actor());
    let result = live.host.skills()?.propose(request, &act).map_err(HostError::from)?;
    to_json(result)
}
