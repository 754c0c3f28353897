//! `foreword skill`: skills that agents propose and people approve.

pub(crate) mod approve;
mod import;
mod lint;
pub(crate) mod list;
mod log;
pub(crate) mod proposals;
mod propose;
mod read;
pub(crate) mod reject;
mod resubmit;
mod revert;
mod screen;

use std::fmt::Write as _;
use std::path::Path;

use clap::Subcommand;
use foreword::visible;
use foreword_guard::{Capabilities, Finding, UNDECLARED_CAPABILITY, Verdict};
use foreword_serve::skills;
use foreword_skills::{CommittedChange, GitStore, ImportOutcome, ImportState};
use serde_json::Value;

use crate::error::CliError;
use crate::terminal::{Terminal, paint, plain_line};
use crate::workspace_arg::WorkspaceArg;

/// Manage skills that agents propose and people approve
#[derive(Subcommand, Debug)]
pub(crate) enum SkillCommand {
    List(list::ListArgs),
    Read(read::ReadArgs),
    Propose(propose::ProposeArgs),
    Proposals(proposals::ProposalsArgs),
    Approve(approve::ApproveArgs),
    Reject(reject::RejectArgs),
    Revert(revert::RevertArgs),
    Log(log::LogArgs),
    Screen(screen::ScreenArgs),
    Import(import::ImportArgs),
    Lint(lint::LintArgs),
    Resubmit(resubmit::ResubmitArgs),
}

pub(crate) fn run(
    workspace: &WorkspaceArg,
    command: &SkillCommand,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let workspace = &*match command {
        // These look at files that the user names.
        SkillCommand::Screen(_) | SkillCommand::Lint(_) => workspace.find_or_here(),
        _ => workspace.find()?,
    };
    match command {
        SkillCommand::List(_) => list::list(&store(workspace)?, |_| true, terminal),
        SkillCommand::Read(args) => read::run(workspace, args, terminal),
        SkillCommand::Propose(args) => propose::run(workspace, args, terminal),
        SkillCommand::Proposals(args) => proposals::run(workspace, args, terminal),
        SkillCommand::Approve(args) => approve::run(workspace, args, terminal),
        SkillCommand::Reject(args) => reject::run(workspace, args, terminal),
        SkillCommand::Revert(args) => revert::run(workspace, args, terminal),
        SkillCommand::Log(args) => log::run(workspace, args, terminal),
        SkillCommand::Screen(args) => screen::run(workspace, args, terminal),
        SkillCommand::Import(args) => import::run(workspace, args, terminal),
        SkillCommand::Lint(args) => lint::run(args, terminal),
        SkillCommand::Resubmit(args) => resubmit::run(workspace, args, terminal),
    }
}

/// The governed skills of a workspace.
pub(crate) fn store(workspace: &Path) -> Result<GitStore, CliError> {
    Ok(skills::store(workspace)?)
}

/// The same for skills that are screened: with the model's opinion if the settings ask for it.
fn screening_store(workspace: &Path) -> Result<GitStore, CliError> {
    Ok(skills::screening_store(workspace)?)
}

/// A verdict in its colour.
fn paint_verdict(verdict: Verdict) -> String {
    let colour = match verdict {
        Verdict::AutoApprove => "32",
        Verdict::NeedsReview => "33",
        Verdict::Reject => "31",
    };
    paint(verdict.as_str(), colour)
}

/// Findings, one per line, the most serious first.
fn findings_text<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> String {
    let mut out = String::new();
    let mut findings: Vec<&Finding> = findings.into_iter().collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.verdict));
    for finding in findings {
        let Finding { rule, file, line, excerpt, message, .. } = finding;
        let message = plain_line(message, 300);
        let file = file.as_deref().map(|f| format!("{}, ", plain_line(f, 120))).unwrap_or_default();
        let _ = write!(out, "  {file}line {line}: [{rule}] {}", message.trim_end_matches('.'));
        if !message.contains(excerpt.as_str()) {
            let _ = write!(out, ": {}", plain_line(excerpt, 120));
        }
        out.push('\n');
    }
    out
}

/// What a skill's code can do, in one line; nothing if it does nothing worth a word.
fn capabilities_text(capabilities: &Capabilities) -> String {
    if capabilities.is_empty() {
        return String::new();
    }
    format!("  can do: {}\n", plain_line(&capabilities.to_string(), 600))
}

/// A diff with colours and escaped control characters.
fn paint_diff(diff: &str) -> String {
    let mut out = String::new();
    for line in diff.lines() {
        let line = visible(line);
        out.push_str(&match line.as_bytes().first() {
            Some(b'+') => paint(&line, "32"),
            Some(b'-') => paint(&line, "31"),
            Some(b'@') => paint(&line, "36"),
            _ => line,
        });
        out.push('\n');
    }
    out
}

/// Prints the outcome of one imported skill, as it happens.
fn print_import(
    ImportOutcome {
        skill, state, reason, findings, capabilities, commit, id, renamed_from, ..
    }: &ImportOutcome,
    terminal: &Terminal,
) {
    if terminal.json {
        return;
    }
    let (word, colour) = match state {
        ImportState::Committed => ("committed", "32"),
        ImportState::Pending => ("pending  ", "33"),
        ImportState::Refused => ("rejected ", "31"),
        ImportState::Failed => ("failed   ", "31"),
        ImportState::Unchanged => ("unchanged", "0"),
    };
    let detail = match (state, commit, id) {
        (ImportState::Committed, Some(commit), _) => format!("commit {}", short_hash(commit)),
        (ImportState::Pending, _, Some(id)) => {
            format!("review it with `foreword skill proposals {id}`")
        }
        _ => plain_line(reason, 300),
    };
    let renamed = renamed_from
        .as_deref()
        .map(|name| format!(" (named `{}` in its header)", plain_line(name, 64)))
        .unwrap_or_default();
    let mut out =
        format!("{}  {}{renamed}  {detail}\n", paint(word, colour), plain_line(skill, 64));
    let is_shown = |finding: &&Finding| match state {
        ImportState::Pending | ImportState::Refused => true,
        ImportState::Committed => finding.rule == UNDECLARED_CAPABILITY,
        ImportState::Failed | ImportState::Unchanged => false,
    };
    out.push_str(&findings_text(findings.iter().filter(is_shown)));
    if !matches!(state, ImportState::Unchanged) {
        out.push_str(&capabilities_text(capabilities));
    }
    let _ = terminal.print(&out);
}

/// Prints the outcomes as JSON, and fails if a skill was rejected or failed.
fn print_imports(taken: &[ImportOutcome], terminal: &Terminal) -> Result<(), CliError> {
    if terminal.json {
        terminal.print_json_list(taken)?;
    }
    let count = |state| taken.iter().filter(|taken| taken.state == state).count();
    let (refused, failed) = (count(ImportState::Refused), count(ImportState::Failed));
    if refused + failed == 0 {
        return Ok(());
    }
    Err(CliError::failed(format!(
        "{} of {} skills were not imported: {refused} rejected by screening, {failed} failed",
        refused + failed,
        taken.len()
    )))
}

/// Prints a new commit.
fn print_commit(
    done: &CommittedChange,
    what: &str,
    more: Value,
    terminal: &Terminal,
) -> Result<(), CliError> {
    if terminal.json {
        let mut value = serde_json::to_value(done)?;
        if let (Some(fields), Value::Object(more)) = (value.as_object_mut(), more) {
            fields.extend(more);
        }
        return terminal.print_json_line(&value);
    }
    terminal.print(&format!("{what} {} as {}\n", done.skill, short_hash(&done.commit)))
}

fn short_hash(commit: &str) -> String {
    commit.chars().take(12).collect()
}
