//! `foreword approve`: what waits for a person, and their decision.

use std::fmt::Write as _;
use std::path::Path;

use foreword_host::{Host, HostError};
use foreword_protocol::ActionInfo;
use foreword_skills::unified;
use foreword_store::{
    IdentityState, IdentityVerdict, Refusal, RefusalState, SessionId, StoreError,
};
use serde_json::json;

use crate::args::AllowArgs;
use crate::error::CliError;
use crate::hosting;
use crate::person::shown_time;
use crate::terminal::{Terminal, plain_line};

/// So many refusals are named where one has to be chosen.
const MOST_NAMED: usize = 20;

pub(crate) fn run(workspace: &Path, args: &AllowArgs, terminal: &Terminal) -> Result<(), CliError> {
    let host = hosting::open(workspace)?;
    let Some(what) = &args.what else {
        if args.reject {
            return Err(CliError::usage("say what is to stay refused, by its id")
                .hint("`foreword approve` lists what waits for you"));
        }
        return list(&host, terminal);
    };
    if ActionInfo::named(what).is_some() {
        return by_action(&host, what, args, terminal);
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
        let _ = writeln!(out, "{}", line(refusal));
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

/// A refusal in one line.
fn line(refusal: &Refusal) -> String {
    format!(
        "{}  {}  {} in session {}: {} ({})",
        refusal.id,
        shown_time(refusal.at),
        refusal.action,
        refusal.session,
        plain_line(&refusal.summary, 120),
        plain_line(&refusal.reason, 120),
    )
}

/// Decides about an action by its name: the one refusal of it, or, in a session that is named, leave
/// before it is asked for.
fn by_action(
    host: &Host,
    action: &str,
    args: &AllowArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    if !ActionInfo::named(action).is_some_and(ActionInfo::is_sensitive) {
        return Err(CliError::usage(format!("`{action}` needs no leave")));
    }
    let session = args.session.as_deref().map(SessionId::parse).transpose()?;
    let mut waiting = host.reader().refusals(session.as_ref(), Some(RefusalState::Open))?;
    waiting.retain(|refusal| refusal.action == action);
    match (session, waiting.as_slice()) {
        (Some(session), _) if !args.reject => {
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
            Err(CliError::usage(format!("no refusal of `{action}` is open in session {session}"))
                .hint("`foreword approve` lists what waits for you"))
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
            terminal.say(&format!("`{action}` stays refused in session {session}"));
            Ok(())
        }
        (None, [refusal]) => decide(host, refusal.id.as_str(), args, terminal),
        (None, []) => Err(CliError::usage(format!("`{action}` was not refused anywhere"))
            .hint("name the session it is to be allowed in with --session")),
        (None, refusals) => Err(refusals.iter().take(MOST_NAMED).fold(
            CliError::usage(format!("`{action}` was refused {} times", refusals.len()))
                .hint("name one of them by its id:"),
            |error, refusal| error.hint(line(refusal)),
        )),
    }
}

/// Decides about something by its id.
pub(crate) fn decide(
    host: &Host,
    id: &str,
    args: &AllowArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    match host.reader().refusal(id) {
        Ok(found) => return decide_refusal(host, &found, args, terminal),
        Err(StoreError::NoSuch { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let (proposal, content) = match host.identity_proposal(id) {
        Ok(found) => found,
        Err(HostError::Store(StoreError::NoSuch { .. })) => return Err(nothing(id)),
        Err(error) => return Err(error.into()),
    };
    if proposal.state != IdentityState::Pending {
        let what = format!("the change of {}", proposal.file);
        let word = proposal.state.as_str();
        return Err(decided_before(&what, word, proposal.decided_by, proposal.decided_at));
    }
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

fn decide_refusal(
    host: &Host,
    found: &Refusal,
    args: &AllowArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    if found.state != RefusalState::Open {
        let what = format!("`{}` in session {}", found.action, found.session);
        let (word, by) = (found.state.as_str(), found.decided_by.clone());
        return Err(decided_before(&what, word, by, found.decided_at));
    }
    if !args.reject && !terminal.quiet && !terminal.json {
        let summary = plain_line(&found.summary, usize::MAX);
        terminal.print(&format!("{} in session {}: {summary}\n", found.action, found.session))?;
        if !terminal.confirm("Allow this once?")? {
            return Err(CliError::not_right("nothing was decided"));
        }
    }
    let decided = host.decide_refusal(found.id.as_str(), !args.reject)?;
    if terminal.json {
        return terminal.print_json(&decided);
    }
    let word = if args.reject { "stays refused" } else { "is allowed once" };
    terminal.say(&format!("`{}` {word} in session {}", decided.action, decided.session));
    Ok(())
}

fn nothing(id: &str) -> CliError {
    let id = plain_line(id, 40);
    CliError::usage(format!("`{id}` is no refused action and no proposal for an identity file"))
        .hint("`foreword approve` lists what waits for you, with ids")
        .hint("a skill is approved with `foreword skill approve ID`")
}

fn decided_before(what: &str, word: &str, by: Option<String>, at: Option<i64>) -> CliError {
    let by = by.map(|by| format!(" by {}", plain_line(&by, 60))).unwrap_or_default();
    let at = at.map(|at| format!(" at {}", shown_time(at))).unwrap_or_default();
    CliError::not_right(format!("{what} is decided already: {word}{by}{at}"))
}
