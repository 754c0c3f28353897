//! `foreword init`: creates a workspace from a template, or imports the files of another tool.
//!
//! It never overwrites a file, and it reports every file that it skips with the reason.

mod claude_code;
mod cosmonauts;
mod header;
mod import;
mod openclaw;
mod report;
mod settings;
mod source;
mod templates;
mod write;

use std::path::{Path, PathBuf};

use clap::Args;
use foreword_gather::{Indexing, Request, gather, index};
use foreword_workspace::{PRIVATE_DIR, PRIVATE_GITIGNORE, PRIVATE_README, Workspace};

use self::report::Report;
use self::templates::TemplateName;
use self::write::NewFile;
use crate::error::CliError;
use crate::terminal::Terminal;

/// Agents whose prompt is tried after writing, to bound the time.
const MAX_TRIED: usize = 50;

/// Create a workspace
///
/// Writes a template, or imports an existing OpenClaw, Claude Code or Cosmonauts directory. Existing files are never
/// overwritten.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword init -w my-agent
  foreword init -w my-agent --template companion
  foreword init -w my-agent --from ~/.openclaw/workspace")]
pub(crate) struct InitArgs {
    /// Template to start from
    #[arg(short, long, value_enum, default_value_t, conflicts_with = "from")]
    template: TemplateName,
    /// Import an OpenClaw, Claude Code or Cosmonauts directory
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
}

pub(crate) fn run(workspace: &Path, args: &InitArgs, terminal: &Terminal) -> Result<(), CliError> {
    write::check_root(workspace)?;
    let mut report = Report::new(workspace);
    let mut files = match &args.from {
        Some(from) => {
            let imported = import::import(from)?;
            report.imported(from, &imported);
            imported.files
        }
        None => {
            report.template(templates::name(args.template));
            templates::files(args.template)
        }
    };
    files.push(NewFile::text(format!("{PRIVATE_DIR}/.gitignore"), PRIVATE_GITIGNORE));
    files.push(NewFile::text(format!("{PRIVATE_DIR}/README.md"), PRIVATE_README));

    let plan = write::plan(workspace, files)?;
    let outcome = write::apply(workspace, plan)?;
    report.outcome(outcome);
    report.problems = problems(workspace);
    if report.problems.is_empty() {
        // A build works without an index, so an error here does not matter.
        let _ = index(workspace, &Request::default(), Indexing::Update, |_, _| {});
    }
    report.show(terminal)
}

/// Errors of the prompts of the workspace. Kept and imported files may not fit together, and the user
/// should know now.
fn problems(root: &Path) -> Vec<String> {
    let ids = match Workspace::open(root).and_then(|workspace| workspace.agent_ids()) {
        Ok(ids) => ids,
        Err(error) => return vec![format!("{error} ({})", error.hint())],
    };
    let agents = ids.into_iter().take(MAX_TRIED).map(Some);
    let mut problems: Vec<String> = std::iter::once(None)
        .chain(agents)
        .map(|agent| Request { agent, neutral: true, ..Request::default() })
        .filter_map(|request| gather(root, &request).err())
        .map(|error| match error.hint() {
            Some(hint) => format!("{error} ({hint})"),
            None => error.to_string(),
        })
        .collect();
    problems.sort();
    problems.dedup();
    problems
}
