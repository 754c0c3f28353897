//! What a person may ask of the chat itself.

use std::fmt::Write as _;

use foreword_host::Host;
use foreword_store::SessionId;
use serde_json::json;

use crate::args::AllowArgs;
use crate::commands::{approve, explain, session, skill};
use crate::error::CliError;
use crate::person::shown_time;
use crate::screen::ShownPrompt;
use crate::terminal::{Terminal, plain_line};

/// So many entries of the ledger are shown.
const LATEST: usize = 12;

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
    ("help", Slash::Help, "what you can say here"),
    ("context", Slash::Context, "what stood in the last prompt, and what it cost"),
    ("skills", Slash::Skills, "the skills there are, and how far each is approved"),
    ("taint", Slash::Taint, "how much came from outside, and from where"),
    ("approve", Slash::Approve, "what waits for you; with an id, allow it once or take it in"),
    ("reject", Slash::Reject, "leave it at a refusal, by its id"),
    ("session", Slash::Session, "this session: turns, tokens, taint"),
    ("quit", Slash::Quit, "end the conversation; Ctrl-D does the same"),
];

/// The command a line asks for, with what follows it. A line that only looks like one, such as a path,
/// is for the agent.
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
            let error = CliError::usage(format!("there is no command `/{name}`"));
            let near = foreword::nearest(name, ALL.iter().map(|(known, ..)| *known));
            Err(error.hint(match near {
                Some(near) => format!("did you mean `/{near}`?"),
                None => "`/help` lists them; begin with a space to say it to the agent".to_owned(),
            }))
        }
    })
}

pub(super) fn help(terminal: &Terminal) -> Result<(), CliError> {
    let mut out = String::new();
    for (name, _, about) in ALL {
        let _ = writeln!(out, "/{name:<9} {about}");
    }
    out.push_str(
        "\nA line that ends with \\ goes on in the next one. Ctrl-C ends the turn under way.\n",
    );
    terminal.print(&out)
}

pub(super) fn context(shown: &ShownPrompt, terminal: &Terminal) -> Result<(), CliError> {
    let manifest = shown.prompt.manifest_with_digests();
    if terminal.json {
        return terminal.print_json(&explain::without_text(&manifest)?);
    }
    terminal.print(&explain::table(&manifest, &shown.blueprint))
}

pub(super) fn skills(host: &Host, terminal: &Terminal) -> Result<(), CliError> {
    skill::list::list(&skill::store(host.root())?, terminal)
}

pub(super) fn taint(
    host: &Host,
    id: &SessionId,
    threshold: f64,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let totals = host.reader().content_totals(id)?;
    let entries = host.reader().contents(id, LATEST)?;
    let ratio = totals.ratio();
    if terminal.json {
        return terminal.print_json(&json!({
            "taintRatio": ratio, "taintThreshold": threshold, "totals": totals, "latest": entries,
        }));
    }
    let mut out = format!(
        "{:.0}% from outside: {} of {} tokens; above {:.0}% sensitive actions are refused\n",
        ratio * 100.0,
        totals.external_tokens,
        totals.total_tokens,
        threshold * 100.0
    );
    out.push_str(if totals.external_since_person {
        "content from outside came since you last spoke: sensitive actions are refused until you do\n"
    } else {
        "nothing came from outside since you last spoke\n"
    });
    for entry in &entries {
        let content = &entry.content;
        let _ = writeln!(
            out,
            "  {}  {:<11} {:>7} tokens  {}{}",
            shown_time(content.at),
            content.provenance.as_str(),
            content.tokens,
            plain_line(&content.source, 80),
            if content.external { "  (outside)" } else { "" }
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
    let args = AllowArgs { what: None, session: None, reject, reason: None };
    approve::decide(host, id, &args, terminal)
}

pub(super) fn session(host: &Host, id: &SessionId, terminal: &Terminal) -> Result<(), CliError> {
    match host.reader().session(id)? {
        None => terminal.print(&format!("session {id} begins with your first message\n")),
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
