//! `skill proposals`, `approve`, `reject`, `revert`, `import`: what a person decides.

use std::fmt::Write as _;

use foreword::visible;
use foreword_guard::Finding;
use foreword_skills::{CommittedChange, GitStore, ImportOutcome, ImportState, SkillStore};
use foreword_store::{Proposal, ProposalSummary};
use serde_json::{Value, json};

use super::findings_text;
use super::propose::short;
use crate::args::{ApproveArgs, ImportArgs, RevertArgs};
use crate::error::CliError;
use crate::person::{act, shown_time};
use crate::terminal::{Terminal, paint, plain_line};

pub(crate) fn proposals(store: &GitStore, all: bool, terminal: &Terminal) -> Result<(), CliError> {
    let proposals = store.proposals(all)?;
    if terminal.json {
        let proposals: Vec<Value> = proposals.iter().map(summary).collect();
        return terminal.print_json(&proposals);
    }
    if proposals.is_empty() {
        terminal.say("no proposals");
    }
    let mut out = String::new();
    for proposal in &proposals {
        let _ = writeln!(
            out,
            "{}  {}  {:8} {:12} {}  by {}{}",
            proposal.id,
            shown_time(proposal.created_at),
            proposal.state,
            proposal.verdict,
            proposal.skill,
            plain_line(&proposal.proposed_by, 64),
            proposal
                .reason
                .as_deref()
                .map(|r| format!("  ({})", plain_line(r, 80)))
                .unwrap_or_default()
        );
    }
    terminal.print(&out)
}

pub(crate) fn show(store: &GitStore, id: &str, terminal: &Terminal) -> Result<(), CliError> {
    let proposal = store.proposal(id)?;
    let diff = store.diff(&proposal)?;
    if terminal.json {
        let mut value = summary(&proposal);
        add(&mut value, "diff", json!(diff));
        return terminal.print_json(&value);
    }
    terminal.print(&described(&proposal, &diff))
}

pub(crate) fn approve(
    store: &mut GitStore,
    args: &ApproveArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    for id in &args.ids {
        let proposal = store.proposal(id)?;
        let diff = store.diff(&proposal)?;
        if !terminal.json {
            terminal.print(&described(&proposal, &diff))?;
        }
        let question = format!("Take in {}?", proposal.skill);
        if !args.yes && !terminal.confirm(&question)? {
            terminal.say("left as it was");
            continue;
        }
        let done = store.approve(proposal.id.as_str(), &act())?;
        committed(&done, "is in", json!({ "diff": diff }), terminal)?;
    }
    Ok(())
}

pub(crate) fn reject(
    store: &mut GitStore,
    id: &str,
    reason: Option<&str>,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let proposal = store.proposal(id)?;
    store.reject(proposal.id.as_str(), reason, &act())?;
    if terminal.json {
        let (id, skill) = (proposal.id.as_str(), &proposal.skill);
        return terminal.print_json(&json!({ "id": id, "skill": skill, "state": "rejected" }));
    }
    terminal.print(&format!("{} is turned down (proposal {})\n", proposal.skill, proposal.id))
}

pub(crate) fn revert(
    store: &mut GitStore,
    args: &RevertArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let diff = store.commit_diff(&args.commit)?;
    if !terminal.json {
        terminal.print(&painted_diff(&diff))?;
    }
    if !args.yes && !terminal.confirm("Undo this?")? {
        terminal.say("left as it was");
        return Ok(());
    }
    let done = store.revert(&args.commit, &act())?;
    committed(&done, "is as it was before", json!({ "reverts": args.commit }), terminal)
}

pub(crate) fn import(
    store: &GitStore,
    args: &ImportArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    if !args.directory.is_dir() {
        let shown = args.directory.display();
        return Err(CliError::usage(format!("{shown}: is not a directory"))
            .hint("give a folder with a SKILL.md, or a folder of such folders"));
    }
    let all = store.import(&args.directory, &act(), &mut |one| say(one, terminal))?;
    taken(&all, terminal)
}

pub(crate) fn import_local_edits(
    store: &GitStore,
    args: &ApproveArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let diff = store.local_diff(&args.ids)?;
    if diff.is_empty() && args.ids.is_empty() {
        terminal.say("nothing to take in: the history holds all skills as they are");
        return if terminal.json { terminal.print_json(&json!([])) } else { Ok(()) };
    }
    if !terminal.json {
        terminal.print(&painted_diff(&diff))?;
    }
    if !args.yes && !diff.is_empty() && !terminal.confirm("Take this in?")? {
        terminal.say("left as it was");
        return Ok(());
    }
    let all = store.import_local_edits(&args.ids, &act(), &mut |one| say(one, terminal))?;
    taken(&all, terminal)
}

/// Says what became of a skill, as it happens: there may be many.
fn say(
    ImportOutcome { skill, state, reason, findings, commit, id, .. }: &ImportOutcome,
    terminal: &Terminal,
) {
    if terminal.json {
        return;
    }
    let (word, colour) = match state {
        ImportState::Committed => ("committed", "32"),
        ImportState::Pending => ("pending  ", "33"),
        ImportState::Refused => ("refused  ", "31"),
        ImportState::Failed => ("failed   ", "31"),
        ImportState::Unchanged => ("unchanged", "0"),
    };
    let detail = match (state, commit, id) {
        (ImportState::Committed, Some(commit), _) => format!("commit {}", short(commit)),
        (ImportState::Pending, _, Some(id)) => {
            format!("look at it with `foreword skill proposals {id}`")
        }
        _ => plain_line(reason, 300),
    };
    let mut out = format!("{}  {}  {detail}\n", paint(word, colour), plain_line(skill, 64));
    if matches!(state, ImportState::Pending | ImportState::Refused) {
        out.push_str(&findings_text(findings));
    }
    let _ = terminal.print(&out);
}

/// Fails if a skill was refused or could not be taken in.
fn taken(taken: &[ImportOutcome], terminal: &Terminal) -> Result<(), CliError> {
    if terminal.json {
        terminal.print_json(&taken)?;
    }
    let count = |state| taken.iter().filter(|taken| taken.state == state).count();
    let (refused, failed) = (count(ImportState::Refused), count(ImportState::Failed));
    if refused + failed == 0 {
        return Ok(());
    }
    Err(CliError::not_right(format!(
        "{} of {} skills were not taken in: {refused} refused by screening, {failed} that could not be",
        refused + failed,
        taken.len()
    )))
}

fn committed(
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
    terminal.print(&format!("{} {what}, as commit {}\n", done.skill, short(&done.commit)))
}

fn described(proposal: &Proposal, diff: &str) -> String {
    let mut out = format!(
        "proposal {} of {}, {} by {}, {}\n",
        proposal.id,
        shown_time(proposal.created_at),
        proposal.state,
        plain_line(&proposal.proposed_by, 64),
        proposal.verdict
    );
    if let Some(reason) = &proposal.reason {
        let _ = writeln!(out, "because: {}", plain_line(reason, 500));
    }
    out.push_str(&findings_text(&findings(proposal)));
    out.push('\n');
    out.push_str(&painted_diff(diff));
    out
}

fn painted_diff(diff: &str) -> String {
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

fn findings(proposal: &ProposalSummary) -> Vec<Finding> {
    serde_json::from_str(&proposal.findings_json).unwrap_or_default()
}

fn summary(proposal: &ProposalSummary) -> Value {
    let mut value = serde_json::to_value(proposal).unwrap_or_default();
    if let Some(fields) = value.as_object_mut() {
        fields.remove("findingsJson");
        fields.retain(|_, value| !value.is_null());
    }
    add(&mut value, "findings", json!(findings(proposal)));
    add(&mut value, "createdAt", json!(shown_time(proposal.created_at)));
    if let Some(at) = proposal.decided_at {
        add(&mut value, "decidedAt", json!(shown_time(at)));
    }
    value
}

fn add(value: &mut Value, key: &str, what: Value) {
    if let Some(fields) = value.as_object_mut() {
        fields.insert(key.to_owned(), what);
    }
}
