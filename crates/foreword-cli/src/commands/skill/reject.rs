//! `skill reject`.

use std::path::Path;

use clap::Args;
use foreword_skills::{GitStore, SkillStore};
use serde_json::json;

use super::store;
use crate::error::CliError;
use crate::terminal::Terminal;
use crate::user_env::act;

/// Reject a proposal
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword skill reject 4k7tq --reason \"we deploy on Tuesdays only\"")]
pub(crate) struct RejectArgs {
    /// ID of the proposal, or its first characters
    id: String,
    /// Reason, for the log and the agent
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

pub(super) fn run(
    workspace: &Path,
    args: &RejectArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    one(&mut store(workspace)?, &args.id, args.reason.as_deref(), terminal)
}

/// Rejects one proposal.
pub(crate) fn one(
    store: &mut GitStore,
    id: &str,
    reason: Option<&str>,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let proposal = store.proposal(id)?;
    store.reject(proposal.id.as_str(), reason, &act())?;
    let (id, skill) = (proposal.id.as_str(), &proposal.skill);
    if terminal.json {
        return terminal.print_json(&json!({ "id": id, "skill": skill, "state": "rejected" }));
    }
    terminal.print(&format!("rejected {skill} (proposal {id})\n"))
}
