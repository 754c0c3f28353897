//! `foreword approve`: pending decisions, and the user's answer.

use std::fmt::Write as _;

use clap::Args;
use foreword_host::{Host, HostError};
use foreword_protocol::ActionInfo;
use foreword_serve::skills::ProposalEntry;
use foreword_skills::SkillError;
use foreword_store::{
    FileVersion, HeldChange, HeldState, IdentityState, IdentityVerdict, ProposalSummary, Refusal,
    RefusalState, SessionId, StoreError,
};
use foreword_workspace::read_state;
use serde::Serialize;
use serde_json::{Value, json};

use crate::commands::skill;
use crate::error::CliError;
use crate::hosting;
use crate::review;
use crate::terminal::{Terminal, plain_line};
use crate::user_env::format_time;
use crate::workspace_arg::WorkspaceArg;

/// Bytes of a file that a proposal would replace.
const MAX_SHOWN_BYTES: u64 = 4 << 20;

/// How many refusals an error lists.
const MAX_LISTED: usize = 20;

/// List pending decisions, or decide one
///
/// Decisions are about refused actions, changes to identity files, changes to files that run on this machine, and skills.
/// Approving by ID allows exactly that call; approving by name allows the next call, whatever its arguments.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword approve                                List pending decisions
  foreword approve 7k2m                           Show one in full, then allow or apply it
  foreword approve 7k2m --reject                  Keep a refusal, or drop a change
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
    workspace: &WorkspaceArg,
    args: &ApproveArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let workspace = &*workspace.find()?;
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

/// Pending decisions: refused actions, identity files, held changes, and proposed skills.
pub(crate) fn list(host: &Host, terminal: &Terminal) -> Result<(), CliError> {
    let refusals = host.reader().refusals(None, Some(RefusalState::Open))?;
    let files = host.reader().identity_proposals(Some(IdentityState::Pending))?;
    let held = host.reader().held_changes(Some(HeldState::Pending))?;
    let skills = skill::store(host.root())?.proposals(false)?;
    if terminal.json {
        let refusals: Result<Vec<Value>, CliError> =
            refusals.iter().map(|refusal| with_args(host, refusal)).collect();
        let skills: Vec<ProposalEntry> = skills.iter().map(ProposalEntry::from).collect();
        return terminal.print_json(&json!({
            "refusals": refusals?, "identity": files, "held": held, "skills": skills,
        }));
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
    for change in &held {
        let _ = writeln!(
            out,
            "{}  {}  change to {} ({}) by {} in session {}{}",
            change.id,
            format_time(change.held_at),
            plain_line(&change.path, 200),
            change.read_by,
            plain_line(&change.by, 60),
            change.session,
            if change.tainted { ", tainted" } else { "" },
        );
    }
    for proposal in &skills {
        let _ = writeln!(
            out,
            "{}  {}  skill {} by {}: {}, {}",
            proposal.id,
            format_time(proposal.created_at),
            plain_line(&proposal.skill, 80),
            plain_line(&proposal.proposed_by, 60),
            proposal.verdict,
            plain_line(proposal.reason.as_deref().unwrap_or("no reason given"), 120),
        );
    }
    if out.is_empty() {
        out.push_str("no pending decisions\n");
    }
    terminal.print(&out)
}

/// A refusal with the arguments of its action.
fn with_args(host: &Host, refusal: &Refusal) -> Result<Value, CliError> {
    let mut value = serde_json::to_value(refusal).unwrap_or_default();
    let args = host.reader().refusal_args(&refusal.id)?;
    let args = args.and_then(|args| serde_json::from_str(&args).ok());
    if let (Some(fields), Some(args)) = (value.as_object_mut(), args) {
        fields.insert("args".to_owned(), args);
    }
    Ok(value)
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

/// How many decisions wait for the user.
pub(crate) fn pending(host: &Host) -> Result<usize, CliError> {
    let refusals = host.reader().refusals(None, Some(RefusalState::Open))?.len();
    let files = host.reader().identity_proposals(Some(IdentityState::Pending))?.len();
    let held = host.reader().held_changes(Some(HeldState::Pending))?.len();
    Ok(refusals + files + held + skill::store(host.root())?.proposals(false)?.len())
}

/// Decides about a refusal, an identity file, a held change or a skill by its ID.
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
    match host.held_change(id) {
        Ok((held, versions)) => return decide_held(host, &held, versions, args, terminal),
        Err(HostError::Store(StoreError::NoSuch { .. })) => {}
        Err(error) => return Err(error.into()),
    }
    let (proposal, content) = match host.identity_proposal(id) {
        Ok(found) => found,
        Err(HostError::Store(StoreError::NoSuch { .. })) => {
            return decide_skill(host, id, args, terminal);
        }
        Err(error) => return Err(error.into()),
    };
    if proposal.state != IdentityState::Pending {
        let what = format!("the change to {}", proposal.file);
        let word = proposal.state.as_str();
        return Err(decided_before(&what, word, proposal.decided_by, proposal.decided_at));
    }
    confirm(&format!("Apply this change to {}?", proposal.file), args, terminal, || {
        let old = read_state(&host.root().join(&proposal.file), MAX_SHOWN_BYTES)?;
        let new = content.as_deref().map(str::as_bytes);
        Ok(review::diff(&proposal.file, old.as_deref(), new))
    })?;
    let verdict = if args.reject { IdentityVerdict::Reject } else { IdentityVerdict::Approve };
    let decided = host.decide_identity(proposal.id.as_str(), verdict, args.reason.as_deref())?;
    let word = if args.reject { "rejected" } else { "applied" };
    report(&decided, &format!("the change to {} was {word}", decided.file), terminal)
}

/// Shows what an approval allows, and asks. A rejection needs neither.
fn confirm(
    question: &str,
    args: &ApproveArgs,
    terminal: &Terminal,
    shown: impl FnOnce() -> Result<String, CliError>,
) -> Result<(), CliError> {
    if args.reject {
        return Ok(());
    }
    let is_shown = !(args.yes && (terminal.quiet || terminal.json));
    if is_shown && !terminal.page(&shown()?)? || !terminal.confirm(question, args.yes)? {
        return Err(undecided());
    }
    Ok(())
}

fn report(decided: &impl Serialize, said: &str, terminal: &Terminal) -> Result<(), CliError> {
    if terminal.json {
        return terminal.print_json(decided);
    }
    terminal.say(said);
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
    confirm("Allow this call once?", args, terminal, || {
        let reason = plain_line(&found.reason, usize::MAX);
        let mut text =
            format!("{} in session {}, refused: {reason}\n", found.action, found.session);
        match host.reader().refusal_args(&found.id)? {
            // Only a session with external content is refused anything.
            Some(args) => text.push_str(&review::arguments(&args, true)),
            None => text.push_str(&format!("  {}\n", plain_line(&found.summary, usize::MAX))),
        }
        Ok(text)
    })?;
    let decided = host.decide_refusal(found.id.as_str(), !args.reject)?;
    let word = if args.reject { "remains refused" } else { "is allowed once" };
    let said = format!("`{}` {word} in session {}", decided.action, decided.session);
    report(&decided, &said, terminal)
}

fn decide_held(
    host: &Host,
    held: &HeldChange,
    versions: Option<(FileVersion, FileVersion)>,
    args: &ApproveArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let path = plain_line(&held.path, usize::MAX);
    let Some((old, new)) = versions else {
        let (word, by) = (held.state.as_str(), held.decided_by.clone());
        return Err(decided_before(&format!("the change to {path}"), word, by, held.decided_at));
    };
    confirm(&format!("Apply this change to {path}?"), args, terminal, || {
        let mut text = format!(
            "change to {path} (run by {}) by {} in session {}\n",
            held.read_by,
            plain_line(&held.by, 60),
            held.session
        );
        if held.tainted {
            text.push_str("tainted: external content had entered the session\n");
        }
        text.push_str(&review::file_change(&held.path, &old, &new));
        Ok(text)
    })?;
    let decided = host.decide_held(held.id.as_str(), !args.reject, args.reason.as_deref())?;
    let word = if args.reject { "dropped" } else { "applied" };
    report(&decided, &format!("the change to {path} was {word}"), terminal)
}

fn decide_skill(
    host: &Host,
    id: &str,
    args: &ApproveArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let mut store = skill::store(host.root())?;
    // A person who reads "skill tea" may type its name.
    let named: Vec<ProposalSummary> =
        store.proposals(false)?.into_iter().filter(|proposal| proposal.skill == id).collect();
    let id = match named.as_slice() {
        [] => id,
        [one] => one.id.as_str(),
        several => {
            let error = CliError::usage(format!("skill `{id}` has {} proposals", several.len()));
            return Err(several
                .iter()
                .take(MAX_LISTED)
                .fold(error.hint("pass the ID of one of them:"), |error, one| {
                    error.hint(format!("{}  {}", one.id, format_time(one.created_at)))
                }));
        }
    };
    match store.proposal(id) {
        Ok(_) if args.reject => {
            skill::reject::one(&mut store, id, args.reason.as_deref(), terminal)
        }
        Ok(_) => skill::approve::one(&mut store, id, args.yes, terminal),
        Err(SkillError::Store(StoreError::NoSuchProposal { .. })) => Err(not_found(id)),
        Err(error) => Err(error.into()),
    }
}

fn undecided() -> CliError {
    CliError::failed("nothing was decided")
}

fn not_found(id: &str) -> CliError {
    let id = plain_line(id, 40);
    CliError::usage(format!("no refused action, proposed change or skill has the ID `{id}`"))
        .hint("run `foreword approve` to list pending decisions")
}

fn decided_before(what: &str, word: &str, by: Option<String>, at: Option<i64>) -> CliError {
    let by = by.map(|by| format!(" by {}", plain_line(&by, 60))).unwrap_or_default();
    let at = at.map(|at| format!(" at {}", format_time(at))).unwrap_or_default();
    CliError::failed(format!("{what} is already decided: {word}{by}{at}"))
}
