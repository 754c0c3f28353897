//! `skill resubmit`: brings back a rejected skill for review.

use std::path::Path;

use clap::Args;

use super::import::SkillSource;
use super::{print_import, print_imports, store};
use crate::error::CliError;
use crate::terminal::Terminal;
use crate::user_env::act;

/// Submit a rejected skill for review
///
/// Imports a skill folder as a proposal even if screening rejects it. The reason is recorded in the audit log. Agents
/// cannot do this: for them a rejection is final.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword skill resubmit ~/Downloads/port-scanner --reason \"scans our own hosts only\"")]
pub(crate) struct ResubmitArgs {
    #[command(flatten)]
    source: SkillSource,
    /// Reason for the review
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

pub(super) fn run(
    workspace: &Path,
    args: &ResubmitArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let store = store(workspace)?;
    let directory = args.source.directory()?;
    if args.reason.trim().is_empty() {
        return Err(
            CliError::usage("--reason is empty").hint("explain why the skill is safe to use")
        );
    }
    let mut each = |one: &foreword_skills::ImportOutcome| print_import(one, terminal);
    let all = store.resubmit(directory, &args.reason, &act(), &mut each)?;
    print_imports(&all, terminal)
}
