//! Proposing a change to an identity file, which a person approves or rejects.

use foreword_guard::{Policy, Verdict};
use foreword_protocol::{ErrorCode, Failure, IdentityPropose};
use foreword_skills::Screeners;
use foreword_store::NewIdentityProposal;
use serde_json::{Value, json};

use super::change;
use crate::error::HostError;
use crate::governance::identity;
use crate::turn::active_session::ActiveSession;

pub(super) fn propose(active: &ActiveSession, args: IdentityPropose) -> Result<Value, Failure> {
    let file = identity::target(&active.host.root, active.identity.agent.as_deref(), &args.file)
        .map_err(|reason| Failure::new(ErrorCode::Refused, reason))?;
    let screening = Screeners::default().screen(Policy::Agent, &args.content, &[]);
    if screening.verdict == Verdict::Reject {
        let reason = screening.findings.first().map_or("it is not safe", |found| &found.message);
        return Ok(json!({ "verdict": Verdict::Reject.as_str(), "reason": reason }));
    }
    let base = identity::digest(&active.host.root, &file).map_err(HostError::from)?;
    let (by, session) = (active.actor(), active.identity.session.clone());
    let shown = file.clone();
    let detail = json!({ "file": shown });
    let id = change(active, "identity_propose", move |write, now| {
        let new = NewIdentityProposal {
            file,
            content: args.content,
            base,
            reason: args.reason,
            by,
            session: Some(session),
        };
        Ok((write.identity_propose(&new, now)?, detail))
    })?;
    Ok(json!({
        "id": id.as_str(),
        "verdict": Verdict::NeedsReview.as_str(),
        "reason": format!("{shown} changes once a person approves it: `foreword approve {id}`"),
    }))
}
