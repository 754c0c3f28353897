//! `skill proposals`: pending proposals, or one with its findings and diff.

use std::fmt::Write as _;
use std::path::Path;

use clap::Args;
use foreword_serve::skills::{ProposalEntry, with_diff};
use foreword_skills::{GitStore, proposal_findings};
use foreword_store::Proposal;

use super::{capabilities_text, findings_text, paint_diff, store};
use crate::error::CliError;
use crate::terminal::{Terminal, plain_line};
use crate::user_env::format_time;

/// List pending proposals, or show one with its diff
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword skill proposals
  foreword skill proposals 4k7tq
  foreword skill proposals --all --json | jq -r '.[].state'")]
pub(crate) struct ProposalsArgs {
    /// ID of the proposal to show, or its first characters
    id: Option<String>,
    /// Include decided proposals
    #[arg(long, conflicts_with = "id")]
    all: bool,
}

pub(super) fn run(
    workspace: &Path,
    args: &ProposalsArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let store = store(workspace)?;
    match &args.id {
        Some(id) => show(&store, id, terminal),
        None => list(&store, args.all, terminal),
    }
}

fn list(store: &GitStore, all: bool, terminal: &Terminal) -> Result<(), CliError> {
    let proposals = store.proposals(all)?;
    if terminal.json {
        let proposals: Vec<ProposalEntry> = proposals.iter().map(ProposalEntry::from).collect();
        return terminal.print_json_list(&proposals);
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
            format_time(proposal.created_at),
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

fn show(store: &GitStore, id: &str, terminal: &Terminal) -> Result<(), CliError> {
    if terminal.json {
        return terminal.print_json(&with_diff(store, id)?);
    }
    let proposal = store.proposal(id)?;
    let diff = store.diff(&proposal)?;
    terminal.print(&described(&proposal, &diff))
}

/// A proposal with its findings and diff.
pub(super) fn described(proposal: &Proposal, diff: &str) -> String {
    let mut out = format!(
        "proposal {} from {}, {} by {}, {}\n",
        proposal.id,
        format_time(proposal.created_at),
        proposal.state,
        plain_line(&proposal.proposed_by, 64),
        proposal.verdict
    );
    if let Some(reason) = &proposal.reason {
        let _ = writeln!(out, "reason: {}", plain_line(reason, 500));
    }
    let (findings, capabilities) = proposal_findings(proposal);
    out.push_str(&findings_text(&findings));
    out.push_str(&capabilities_text(&capabilities));
    out.push('\n');
    out.push_str(&paint_diff(diff));
    out
}
