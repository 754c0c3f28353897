//! The commands of the chat itself.

use std::fmt::Write as _;

use foreword::Profile;
use foreword_host::Host;
use foreword_store::SessionId;
use serde_json::json;

use crate::commands::approve::ApproveArgs;
use crate::commands::{approve, explain, session, skill};
use crate::error::CliError;
use crate::terminal::{Terminal, plain_line};
use crate::turn_printer::LastPrompt;
use crate::user_env::format_time;

/// Ledger entries to show.
const MAX_ENTRIES: usize = 12;

/// A command of the chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slash {
    Help,
    Context,
    Skills,
    Taint,
    Approve,
    Reject,
    Session,
    Quit,
}

const ALL: [(&str, Slash, &str); 8] = [
    ("help", Slash::Help, "list these commands"),
    ("context", Slash::Context, "show the sections of the last prompt and their cost"),
    ("skills", Slash::Skills, "list the skills that you can ask for, and their approval"),
    ("taint", Slash::Taint, "show external content and its sources"),
    (
        "approve",
        Slash::Approve,
        "list pending decisions; with an ID, approve one (`--yes` skips the question)",
    ),
    ("reject", Slash::Reject, "reject a pending decision by its ID"),
    ("session", Slash::Session, "show turns, tokens and taint of this session"),
    ("quit", Slash::Quit, "end the conversation (or press Ctrl-D)"),
];

/// The command of a line, and its arguments. Anything else that starts with a slash, such as a path, is a
/// message.
pub(super) fn parse(line: &str) -> Option<Result<(Slash, &str), CliError>> {
    let rest = line.strip_prefix('/')?;
    let (name, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return None;
    }
    let found = ALL.iter().find(|(known, ..)| *known == name.to_ascii_lowercase());
    Some(match found {
        Some((_, slash, _)) => Ok((*slash, rest.trim())),
        None => {
            let error = CliError::usage(format!("unknown command `/{name}`"));
            let near = foreword::nearest(name, ALL.iter().map(|(known, ..)| *known));
            Err(error.hint(match near {
                Some(near) => format!("did you mean `/{near}`?"),
                None => {
                    "type `/help` for a list; start the line with a space to send it to the agent"
                        .to_owned()
                }
            }))
        }
    })
}

/// Whether `chat` has a command of this name, so that `/NAME` asks for no skill there.
pub(crate) fn is_command(name: &str) -> bool {
    ALL.iter().any(|(known, ..)| known.eq_ignore_ascii_case(name))
}

pub(super) fn help(terminal: &Terminal) -> Result<(), CliError> {
    let mut out = String::new();
    for (name, _, about) in ALL {
        let _ = writeln!(out, "/{name:<9} {about}");
    }
    out.push_str("/SKILL     ask for a skill by its name; what follows is passed to it\n");
    out.push_str("//SKILL    ask for a skill that has the name of one of these commands\n");
    out.push_str(
        "\nEnd a line with \\ to continue it on the next one. Ctrl-C cancels the current turn.\n",
    );
    terminal.print(&out)
}

pub(super) fn context(last: &LastPrompt, terminal: &Terminal) -> Result<(), CliError> {
    let manifest = last.prompt.manifest_with_digests();
    if terminal.json {
        return terminal.print_json(&explain::without_text(&manifest)?);
    }
    terminal.print(&explain::table(&manifest, &last.blueprint))
}

pub(super) fn skills(host: &Host, terminal: &Terminal) -> Result<(), CliError> {
    skill::list::list(&skill::store(host.root())?, |invocation| invocation.people, terminal)
}

pub(super) fn taint(
    host: &Host,
    id: &SessionId,
    last: &LastPrompt,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let threshold = last.threshold;
    let totals = host.reader().content_totals(id)?;
    let entries = host.reader().contents(id, MAX_ENTRIES)?;
    let ratio = totals.ratio();
    if terminal.json {
        return terminal.print_json(&json!({
            "taintRatio": ratio, "taintThreshold": threshold, "totals": totals, "latest": entries,
        }));
    }
    let mut out = format!(
        "taint {:.0}%: {} of {} tokens are external; sensitive actions are refused above {:.0}%\n",
        ratio * 100.0,
        totals.external_tokens,
        totals.total_tokens,
        threshold * 100.0
    );
    out.push_str(match (totals.external_since_person, last.profile) {
        (false, _) => "no external content since your last message\n",
        (true, Profile::Yolo) => "external content arrived since your last message\n",
        (true, _) => {
            "external content arrived since your last message; sensitive actions are refused until your next one\n"
        }
    });
    for entry in &entries {
        let content = &entry.content;
        let _ = writeln!(
            out,
            "  {}  {:<11} {:>7} tokens  {}{}",
            format_time(content.at),
            content.provenance.as_str(),
            content.tokens,
            plain_line(&content.source, 80),
            if content.external { "  (external)" } else { "" }
        );
    }
    terminal.print(&out)
}

pub(super) fn approve(
    host: &Host,
    id: &str,
    reject: bool,
    terminal: &Terminal,
) -> Result<(), CliError> {
    if id.is_empty() {
        return approve::list(host, terminal);
    }
    let (id, yes) = match id.strip_suffix("--yes") {
        Some(id) => (id.trim_end(), true),
        None => (id, false),
    };
    let args = ApproveArgs { what: None, session: None, reject, reason: None, yes };
    approve::decide(host, id, &args, terminal)
}

pub(super) fn session(host: &Host, id: &SessionId, terminal: &Terminal) -> Result<(), CliError> {
    match host.reader().session(id)? {
        None => terminal.print(&format!("session {id} starts with your first message\n")),
        Some(found) if terminal.json => {
            terminal.print_json(&session::summary(host.reader(), &found)?)
        }
        Some(found) => terminal.print(&session::summary_text(host.reader(), &found)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_what_only_looks_like_one() {
        let slash = |line| parse(line).map(|found| found.map_err(|error| error.hints));
        assert_eq!(slash("/taint"), Some(Ok((Slash::Taint, ""))));
        assert_eq!(slash("/approve  7k2m "), Some(Ok((Slash::Approve, "7k2m"))));
        assert_eq!(slash("/QUIT"), Some(Ok((Slash::Quit, ""))));
        assert_eq!(slash("/skils"), Some(Err(vec!["did you mean `/skills`?".to_owned()])));
        let hints = slash("/deploy now").unwrap().unwrap_err();
        assert!(hints.concat().contains("/help"), "{hints:?}");
        for message in ["hello", "/", "/etc/hosts is wrong", " /taint", "//", "/2 of it"] {
            assert_eq!(slash(message), None, "{message}");
        }
    }
}
