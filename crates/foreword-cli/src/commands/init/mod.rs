//! `foreword init`: starts a workspace from a template, or takes over the layout of another tool.
//!
//! Nothing that exists is ever overwritten, and whatever is passed over is said, with the reason.

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

use std::path::Path;

use foreword_gather::{Indexing, Request, gather, index};
use foreword_workspace::{PRIVATE_DIR, PRIVATE_GITIGNORE, PRIVATE_README, Workspace};

use self::report::Report;
use self::write::NewFile;
use crate::args::InitArgs;
use crate::error::CliError;
use crate::terminal::Terminal;

/// Agents whose prompt is tried after writing; more would take longer than anyone waits.
const MOST_TRIED: usize = 50;

pub(crate) fn run(workspace: &Path, args: &InitArgs, terminal: &Terminal) -> Result<(), CliError> {
    write::check_root(workspace)?;
    let mut report = Report::new(workspace);
    let mut files = match &args.from {
        Some(from) => {
            let taken = import::take_over(from)?;
            report.from(from, &taken);
            taken.files
        }
        None => {
            report.template(templates::name(args.template));
            templates::files(args.template)
        }
    };
    files.push(NewFile::text(format!("{PRIVATE_DIR}/.gitignore"), PRIVATE_GITIGNORE));
    files.push(NewFile::text(format!("{PRIVATE_DIR}/README.md"), PRIVATE_README));

    let plan = write::plan(workspace, files)?;
    let outcome = write::carry_out(workspace, plan)?;
    report.outcome(outcome);
    report.problems = problems(workspace);
    if report.problems.is_empty() {
        // Without an index a build makes its vectors itself: that is no reason to fail here.
        let _ = index(workspace, &Request::default(), Indexing::Update, |_, _| {});
    }
    report.show(terminal)
}

/// What keeps the prompts of the workspace from being built: kept files and taken ones may not fit
/// together, and the person should hear of it now.
fn problems(root: &Path) -> Vec<String> {
    let ids = match Workspace::open(root).and_then(|workspace| workspace.agent_ids()) {
        Ok(ids) => ids,
        Err(error) => return vec![format!("{error} ({})", error.hint())],
    };
    let agents = ids.into_iter().take(MOST_TRIED).map(Some);
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
