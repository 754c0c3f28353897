//! `skill import`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::{print_import, print_imports, screening_store};
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
    #[command(flatten)]
    source: SkillSource,
}

/// Where skills are brought from.
#[derive(Args, Debug)]
pub(super) struct SkillSource {
    /// Folder with a SKILL.md, or folder of such folders
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

impl SkillSource {
    pub(super) fn directory(&self) -> Result<&Path, CliError> {
        if self.directory.is_dir() {
            return Ok(&self.directory);
        }
        let path = self.directory.display();
        Err(CliError::usage(format!("{path} is not a directory"))
            .hint("pass a folder with a SKILL.md, or a folder of such folders"))
    }
}

pub(super) fn run(
    workspace: &Path,
    args: &ImportArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let store = screening_store(workspace)?;
    let directory = args.source.directory()?;
    let all = store.import(directory, &act(), &mut |one| print_import(one, terminal))?;
    print_imports(&all, terminal)
}
