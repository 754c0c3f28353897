//! `skill read`.

use std::path::Path;

use clap::Args;
use foreword::visible;
use foreword_skills::SkillStore;

use super::store;
use crate::error::CliError;
use crate::terminal::{Terminal, is_terminal_output};

/// Print a skill
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword skill read deploy-checklist")]
pub(crate) struct ReadArgs {
    /// Name of the skill
    name: String,
}

pub(super) fn run(workspace: &Path, args: &ReadArgs, terminal: &Terminal) -> Result<(), CliError> {
    let skill = store(workspace)?.read(&args.name)?;
    if terminal.json {
        return terminal.print_json(&skill);
    }
    // A pipe gets the exact bytes, a terminal gets escaped control characters.
    terminal.print(&if is_terminal_output() { visible(&skill.content) } else { skill.content })
}
