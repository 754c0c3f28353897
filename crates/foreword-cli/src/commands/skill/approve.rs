//! `skill approve`: commit proposals, or the user's own edits.

use std::path::Path;

use clap::Args;
use foreword_skills::{GitStore, SkillStore};
use serde_json::json;

use super::proposals::described;
use super::{paint_diff, print_commit, print_import, print_imports, screening_store, store};
use crate::error::CliError;
use crate::terminal::Terminal;
use crate::user_env::act;

/// Approve proposals or your own edits, after showing the diff
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword skill approve 4k7tq
  foreword skill approve --local           Commit all your edits in skills/
  foreword skill approve --local deploy    Commit one edited skill")]
pub(crate) struct ApproveArgs {
    /// IDs of proposals or their first characters; with --local, names of skills
    #[arg(value_name = "ID", required_unless_present = "local")]
    ids: Vec<String>,
    /// Approve your own edits in the skills directory
    #[arg(long)]
    local: bool,
    /// Approve without asking
    #[arg(short, long)]
    yes: bool,
}

pub(super) fn run(
    workspace: &Path,
    args: &ApproveArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    if args.local {
        return local(&screening_store(workspace)?, args, terminal);
    }
    proposals(&mut store(workspace)?, args, terminal)
}

fn proposals(
    store: &mut GitStore,
    args: &ApproveArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    args.ids.iter().try_for_each(|id| one(store, id, args.yes, terminal))
}

/// Shows one proposal, and approves it if the user agrees.
pub(crate) fn one(
    store: &mut GitStore,
    id: &str,
    yes: bool,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let proposal = store.proposal(id)?;
    let diff = store.diff(&proposal)?;
    if !(yes && terminal.json) {
        terminal.show(&described(&proposal, &diff))?;
    }
    if !terminal.confirm(&format!("Approve {}?", proposal.skill), yes)? {
        terminal.say("nothing was changed");
        return Ok(());
    }
    let done = store.approve(proposal.id.as_str(), &act())?;
    print_commit(&done, "committed", json!({ "diff": diff }), terminal)
}

fn local(store: &GitStore, args: &ApproveArgs, terminal: &Terminal) -> Result<(), CliError> {
    let diff = store.local_diff(&args.ids)?;
    if diff.is_empty() && args.ids.is_empty() {
        terminal.say("no local edits: the history has all skills");
        return print_imports(&[], terminal);
    }
    if !(args.yes && terminal.json) {
        terminal.show(&paint_diff(&diff))?;
    }
    if !diff.is_empty() && !terminal.confirm("Approve these edits?", args.yes)? {
        terminal.say("nothing was changed");
        return Ok(());
    }
    let all =
        store.import_local_edits(&args.ids, &act(), &mut |one| print_import(one, terminal))?;
    print_imports(&all, terminal)
}
