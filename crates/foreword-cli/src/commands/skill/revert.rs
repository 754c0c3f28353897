//! `skill revert`.

use std::path::Path;

use clap::Args;
use foreword_skills::SkillStore;
use serde_json::json;

use super::{paint_diff, print_commit, store};
use crate::error::CliError;
use crate::terminal::Terminal;
use crate::user_env::act;

/// Revert a commit in the skill history with a new commit
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword skill revert 1a2b3c4d")]
pub(crate) struct RevertArgs {
    /// Commit, as listed by `foreword skill log`
    commit: String,
    /// Revert without asking
    #[arg(short, long)]
    yes: bool,
}

pub(super) fn run(
    workspace: &Path,
    args: &RevertArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let mut store = store(workspace)?;
    let diff = store.commit_diff(&args.commit)?;
    if !(args.yes && terminal.json) {
        terminal.show(&paint_diff(&diff))?;
    }
    if !terminal.confirm("Undo this commit?", args.yes)? {
        terminal.say("nothing was changed");
        return Ok(());
    }
    let done = store.revert(&args.commit, &act())?;
    print_commit(&done, "reverted", json!({ "reverts": args.commit }), terminal)
}
