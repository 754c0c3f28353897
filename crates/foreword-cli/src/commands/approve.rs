//! `foreword approve`: pending decisions, and the user's answer.

use std::fmt::Write as _;
use std::path::Path;

use clap::Args;
use foreword_host::{Host, HostError};
use foreword_protocol::ActionInfo;
use foreword_skills::unified;
use foreword_store::{
    IdentityState, IdentityVerdict, Refusal, RefusalState, SessionId, StoreError,
};
use foreword_workspace::read_state;
use serde_json::json;

use crate::error::CliError;
use crate::hosting;
use crate::terminal::{Terminal, plain_line};
use crate::user_env::format_time;

/// Bytes of a file that a proposal would replace.
const MAX_SHOWN_BYTES: u64 = 4 << 20;

/// How many refusals an error lists.
const MAX_LISTED: usize = 20;

/// List pending decisions, or allow a refused action
///
/// Approving by ID allows exactly that call; approving by name allows the next call, whatever its arguments.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword approve                                List pending decisions
  foreword approve 7k2m                           Allow a refused call once, or apply an identity file
  foreword approve skill_propose --session ops    Allow the next call of an action")]
pub(crate) struct ApproveArgs {
    /// ID of a decision, or the name of an action; omit it to list pending decisions
    pub(crate) what: Option<String>,
    /// Session, when approving an action by name
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Reject instead of approving
    #[arg(long)]
    pub(crate) reject: bool,
    /// Reason, for the audit log
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// Approve without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
}

pub(crate) fn run(
    workspace: &Path,
    args: &ApproveArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let host = hosting::open(workspace)?;
    let Some(what) = &args.what else {
        if args.reject {
            return Err(CliError::usage("`--reject` needs an ID")
                .hint("run `foreword approve` to list pending decisions"));
        }
        return list(&host, terminal);
    };
    if ActionInfo::named(what).is_some() {
        return by_action(&host, what, args, terminal);
    }
    decide(&host, what, args, terminal)
}

/// Pending decisions: refused actions, and identity files.
pub(crate) fn list(host: &Host, terminal: &Terminal) -> Result<(), CliError> {
    let refusals = host.reader().refusals(None, Some(RefusalState::Open))?;
    let files = host.reader().identity_proposals(Some(IdentityState::Pending))?;
    if terminal.json {
        return terminal.print_json(&json!({ "refusals": refusals, "identity": files }));
    }
    let mut out = String::new();
    for refusal in &refusals {
        let _ = writeln!(out, "{}", line(refusal));
    }
    for file in &files {
        let reason = file.reason.as_deref().unwrap_or("no reason given");
        let _ = writeln!(
            out,
            "{}  {}  {} by {}: {}",
            file.id,
            format_time(file.created_at),
            file.file,
            plain_line(&file.by, 60),
            plain_line(reason, 120),
        );
    }
    if out.is_empty() {
        out.push_str("no pending decisions\n");
    }
    terminal.print(&out)
}

/// A refusal on one line.
fn line(refusal: &Refusal) -> String {
    format!(
        "{}  {}  {} in session {}: {} ({})",
        refusal.id,
        format_time(refusal.at),
        refusal.action,
        refusal.session,
        plain_line(&refusal.summary, 120),
        plain_line(&refusal.reason, 120),
    )
}

/// Decides about an action by its name: the only open refusal of it or, in a given session, a grant for
/// the next call.
fn by_action(
    host: &Host,
    action: &str,
    args: &ApproveArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    if !ActionInfo::named(action).is_some_and(ActionInfo::is_sensitive) {
        return Err(CliError::usage(format!("`{action}` needs no approval")));
    }
    let session = args.session.as_deref().map(SessionId::parse).transpose()?;
    let mut waiting = host.reader().refusals(session.as_ref(), Some(RefusalState::Open))?;
    waiting.retain(|refusal| refusal.action == action);
    match (session, waiting.as_slice()) {
        (Some(session), _) if !args.reject => {
            let question = format!("Allow the next `{action}` in session {session}?");
            if !terminal.confirm(&question, args.yes)? {
                return Err(undecided());
            }
            let grant = host.grant(&session, action)?;
            if terminal.json {
                return terminal.print_json(&json!({
                    "action": action, "session": session.as_str(), "grant": grant.as_str(),
                }));
            }
            terminal.say(&format!("`{action}` is allowed once in session {session}"));
            Ok(())
        }
        (Some(session), []) => {
            Err(CliError::usage(format!("session {session} has no open refusal of `{action}`"))
                .hint("run `foreword approve` to list pending decisions"))
        }
        (Some(session), refusals) => {
            let decided: Result<Vec<_>, _> = refusals
                .iter()
                .map(|refusal| host.decide_refusal(refusal.id.as_str(), false))
                .collect();
            let decided = decided?;
            if terminal.json {
                return terminal.print_json(&json!({ "refusals": decided }));
            }
            terminal.say(&format!("`{action}` remains refused in session {session}"));
            Ok(())
        }
        (None, [refusal]) => decide(host, refusal.id.as_str(), args, terminal),
        (None, []) => Err(CliError::usage(format!("`{action}` has no open refusal"))
            .hint("pass `--session ID` to allow its next call in a session")),
        (None, refusals) => Err(refusals.iter().take(MAX_LISTED).fold(
            CliError::usage(format!("`{action}` has {} open refusals", refusals.len()))
                .hint("pass the ID of one of them:"),
            |error, refusal| error.hint(line(refusal)),
        )),
    }
}

/// Decides about a refusal or an identity file by its ID.
pub(crate) fn decide(
    host: &Host,
    id: &str,
    args: &ApproveArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    match host.reader().refusal(id) {
        Ok(found) => return decide_refusal(host, &found, args, terminal),
        Err(StoreError::NoSuch { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let (proposal, content) = match host.identity_proposal(id) {
        Ok(found) => found,
        Err(HostError::Store(StoreError::NoSuch { .. })) => return Err(not_found(id)),
        Err(error) => return Err(error.into()),
    };
    if proposal.state != IdentityState::Pending {
        let what = format!("the change to {}", proposal.file);
        let word = proposal.state.as_str();
        return Err(decided_before(&what, word, proposal.decided_by, proposal.decided_at));
    }
    if !args.reject {
        if !(args.yes && (terminal.quiet || terminal.json)) {
            let old = read_state(&host.root().join(&proposal.file), MAX_SHOWN_BYTES)?;
            let new = content.as_deref().map(str::as_bytes);
            terminal.show(&unified(&proposal.file, old.as_deref(), new))?;
        }
        if !terminal.confirm(&format!("Apply this change to {}?", proposal.file), args.yes)? {
            return Err(undecided());
        }
    }
    let verdict = if args.reject { IdentityVerdict::Reject } else { IdentityVerdict::Approve };
    let decided = host.decide_identity(proposal.id.as_str(), verdict, args.reason.as_deref())?;
    if terminal.json {
        return terminal.print_json(&decided);
    }
    let word = if args.reject { "rejected" } else { "applied" };
    terminal.say(&format!("the change to {} was {word}", decided.file));
    Ok(())
}

fn decide_refusal(
    host: &Host,
    found: &Refusal,
    args: &ApproveArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    if found.state != RefusalState::Open {
        let what = format!("`{}` in session {}", found.action, found.session);
        let (word, by) = (found.state.as_str(), found.decided_by.clone());
        return Err(decided_before(&what, word, by, found.decided_at));
    }
    if !args.reject {
        if !(args.yes && (terminal.quiet || terminal.json)) {
            let summary = plain_line(&found.summary, usize::MAX);
            terminal
                .show(&format!("{} in session {}: {summary}\n", found.action, found.session))?;
        }
        if !terminal.confirm("Allow this call once?", args.yes)? {
            return Err(undecided());
        }
    }
    let decided = host.decide_refusal(found.id.as_str(), !args.reject)?;
    if terminal.json {
        return terminal.print_json(&decided);
    }
    let word = if args.reject { "remains refused" } else { "is allowed once" };
    terminal.say(&format!("`{}` {word} in session {}", decided.action, decided.session));
    Ok(())
}

fn undecided() -> CliError {
    CliError::failed("nothing was decided")
}

fn not_found(id: &str) -> CliError {
    let id = plain_line(id, 40);
    CliError::usage(format!("no refused action or identity file proposal has the ID `{id}`"))
        .hint("run `foreword approve` to list pending decisions")
        .hint("run `foreword skill approve ID` to approve a skill")
}

fn decided_before(what: &str, word: &str, by: Option<String>, at: Option<i64>) -> CliError {
    let by = by.map(|by| format!(" by {}", plain_line(&by, 60))).unwrap_or_default();
    let at = at.map(|at| format!(" at {}", format_time(at))).unwrap_or_default();
    CliError::failed(format!("{what} is already decided: {word}{by}{at}"))
}
