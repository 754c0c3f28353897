//! `foreword skill`: skills that agents may write and people govern.

mod decide;
pub(crate) mod list;
mod propose;
mod screen;

use std::fmt::Write as _;
use std::path::Path;

use foreword_guard::{Finding, Verdict};
use foreword_skills::{GitStore, GitStoreOptions, Screeners};
use foreword_workspace::Workspace;

pub(crate) use screen::policy;

use crate::args::SkillCommand;
use crate::error::CliError;
use crate::person::config_dir;
use crate::terminal::{Terminal, paint, plain_line};

pub(crate) fn run(
    workspace: &Path,
    command: &SkillCommand,
    terminal: &Terminal,
) -> Result<(), CliError> {
    match command {
        SkillCommand::Screen(args) => screen::run(args, terminal),
        SkillCommand::List => list::list(&store(workspace)?, terminal),
        SkillCommand::Read { name } => list::read(&store(workspace)?, name, terminal),
        SkillCommand::Log { name, limit } => {
            list::log(&store(workspace)?, name.as_deref(), *limit, terminal)
        }
        SkillCommand::Propose(args) => propose::run(&mut store(workspace)?, args, terminal),
        SkillCommand::Proposals { id: None, all } => {
            decide::proposals(&store(workspace)?, *all, terminal)
        }
        SkillCommand::Proposals { id: Some(id), .. } => {
            decide::show(&store(workspace)?, id, terminal)
        }
        SkillCommand::Approve(args) if args.local => {
            decide::import_local_edits(&store(workspace)?, args, terminal)
        }
        SkillCommand::Approve(args) => decide::approve(&mut store(workspace)?, args, terminal),
        SkillCommand::Reject { id, reason } => {
            decide::reject(&mut store(workspace)?, id, reason.as_deref(), terminal)
        }
        SkillCommand::Revert(args) => decide::revert(&mut store(workspace)?, args, terminal),
        SkillCommand::Import(args) => decide::import(&store(workspace)?, args, terminal),
    }
}

/// The governed skills of a workspace.
pub(crate) fn store(workspace: &Path) -> Result<GitStore, CliError> {
    let options = GitStoreOptions { config_dir: config_dir()?, screeners: Screeners::default() };
    Ok(GitStore::new(Workspace::open(workspace)?, options))
}

/// A verdict in the colour of how bad it is.
pub(crate) fn painted(verdict: Verdict) -> String {
    let colour = match verdict {
        Verdict::AutoApprove => "32",
        Verdict::NeedsReview => "33",
        Verdict::Reject => "31",
    };
    paint(verdict.as_str(), colour)
}

/// Findings, one a line.
pub(crate) fn findings_text(findings: &[Finding]) -> String {
    let mut out = String::new();
    for finding in findings {
        let Finding { rule, line, excerpt, message, .. } = finding;
        let message = plain_line(message, 300);
        let _ = write!(out, "  line {line}: [{rule}] {}", message.trim_end_matches('.'));
        if !excerpt.is_empty() {
            let _ = write!(out, ": {}", plain_line(excerpt, 120));
        }
        out.push('\n');
    }
    out
}
