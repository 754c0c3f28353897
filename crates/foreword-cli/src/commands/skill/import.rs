//! `skill import`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::{print_import, print_imports, store};
use crate::error::CliError;
use crate::terminal::Terminal;
use crate::user_env::act;

/// Import a skill folder, or a folder of skill folders
///
/// Screens each skill and commits it. A skill that needs review becomes a proposal; a rejected skill is skipped. For the
/// workspace's own skills directory, it commits your edits.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword skill import ~/Downloads/pdf-tools
  foreword skill import ~/.claude/skills
  foreword skill import skills")]
pub(crate) struct ImportArgs {
    /// Folder with a SKILL.md, or folder of such folders
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

pub(super) fn run(
    workspace: &Path,
    args: &ImportArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let store = store(workspace)?;
    if !args.directory.is_dir() {
        let path = args.directory.display();
        return Err(CliError::usage(format!("{path} is not a directory"))
            .hint("pass a folder with a SKILL.md, or a folder of such folders"));
    }
    let all = store.import(&args.directory, &act(), &mut |one| print_import(one, terminal))?;
    print_imports(&all, terminal)
}
