//! `foreword approve`: what waits for a person, and their decision.

use std::fmt::Write as _;
use std::path::Path;

use foreword_host::Host;
use foreword_skills::unified;
use foreword_store::{IdentityState, IdentityVerdict, RefusalState, SessionId};
use serde_json::json;

use crate::args::AllowArgs;
use crate::error::CliError;
use crate::hosting;
use crate::person::shown_time;
use crate::terminal::{Terminal, plain_line};

pub(crate) fn run(workspace: &Path, args: &AllowArgs, terminal: &Terminal) -> Result<(), CliError> {
    let host = hosting::open(workspace)?;
    let Some(what) = &args.what else { return list(&host, terminal) };
    if foreword_ipc::actions().iter().any(|action| action.name == what) {
        return allow_action(&host, what, args, terminal);
    }
    decide(&host, what, args, terminal)
}

/// What waits: refused actions, and identity files.
pub(crate) fn list(host: &Host, terminal: &Terminal) -> Result<(), CliError> {
    let refusals = host.reader().refusals(None, Some(RefusalState::Open))?;
    let files = host.reader().identity_proposals(Some(IdentityState::Pending))?;
    if terminal.json {
        return terminal.print_json(&json!({ "refusals": refusals, "identity": files }));
    }
    let mut out = String::new();
    for refusal in &refusals {
        let _ = writeln!(
            out,
            "{}  {}  {} in session {}: {} ({})",
            refusal.id,
            shown_time(refusal.at),
            refusal.action,
            refusal.session,
            plain_line(&refusal.summary, 120),
            plain_line(&refusal.reason, 120),
        );
    }
    for file in &files {
        let reason = file.reason.as_deref().unwrap_or("no reason given");
        let _ = writeln!(
            out,
            "{}  {}  {} by {}: {}",
            file.id,
            shown_time(file.created_at),
            file.file,
            plain_line(&file.by, 60),
            plain_line(reason, 120),
        );
    }
    if out.is_empty() {
        out.push_str("nothing waits for you\n");
    }
    terminal.print(&out)
}

/// Allows an action in a session before it is asked for.
fn allow_action(
    host: &Host,
    action: &str,
    args: &AllowArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let sensitive =
        foreword_ipc::actions().iter().any(|info| info.name == action && info.sensitive);
    if !sensitive {
        return Err(CliError::usage(format!("`{action}` needs no leave")));
    }
    let waiting = host.reader().refusals(None, Some(RefusalState::Open))?;
    let session = match &args.session {
        Some(session) => SessionId::parse(session)?,
        None => match waiting.iter().find(|refusal| refusal.action == action) {
            Some(refusal) => return decide(host, refusal.id.as_str(), args, terminal),
            None => {
                return Err(CliError::usage(format!("`{action}` was not refused anywhere"))
                    .hint("name the session it is to be allowed in with --session"));
            }
        },
    };
    host.grant(&session, action)?;
    terminal.say(&format!("`{action}` is allowed once in session {session}"));
    Ok(())
}

/// Decides about something by its id.
pub(crate) fn decide(
    host: &Host,
    id: &str,
    args: &AllowArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    match host.reader().refusal(id) {
        Ok(found) => {
            let decided = host.decide_refusal(found.id.as_str(), !args.reject)?;
            if terminal.json {
                return terminal.print_json(&decided);
            }
            let word = if args.reject { "stays refused" } else { "is allowed once" };
            terminal.say(&format!("`{}` {word} in session {}", decided.action, decided.session));
            return Ok(());
        }
        Err(foreword_store::StoreError::NoSuch { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let (proposal, content) = host.identity_proposal(id).map_err(|error| {
        CliError::from(error).hint("`foreword approve` lists what waits for you")
    })?;
    if !args.reject && !terminal.quiet && !terminal.json {
        let old = std::fs::read(host.root().join(&proposal.file)).ok();
        let new = content.as_deref().map(str::as_bytes);
        terminal.print(&unified(&proposal.file, old.as_deref(), new))?;
        if !terminal.confirm(&format!("Take this into {}?", proposal.file))? {
            return Err(CliError::not_right("nothing was decided"));
        }
    }
    let verdict = if args.reject { IdentityVerdict::Reject } else { IdentityVerdict::Approve };
    let decided = host.decide_identity(proposal.id.as_str(), verdict, args.reason.as_deref())?;
    if terminal.json {
        return terminal.print_json(&decided);
    }
    let word = if args.reject { "was turned down" } else { "was taken in" };
    terminal.say(&format!("the change of {} {word}", decided.file));
    Ok(())
}
