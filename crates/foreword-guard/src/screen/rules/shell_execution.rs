//! Text of an agent that starts processes or hands commands to a shell.

use super::{AGENT, Rule};
use crate::screen::document::Place;
use crate::screen::page::{Page, Sighting};
use crate::screen::report::Report;
use crate::screen::signals::execution::{FETCH_AND_RUN, PIPE_TO_SHELL, SHELL};
use crate::screen::verdict::Verdict;

pub(super) static RULE: Rule =
    Rule { name: "shell-execution", policies: AGENT, patterns: &[], check };

fn check(page: &Page, report: &mut Report<'_>) {
    for sighting in page.uses(SHELL).filter(|s| is_call(page, s)) {
        let harmless = starts_harmless(page.unit_text(sighting));
        let verdict = if harmless { Verdict::NeedsReview } else { Verdict::Reject };
        report.add(verdict, sighting, "Starts a process or runs a shell command.");
    }
    for signal in [PIPE_TO_SHELL, FETCH_AND_RUN] {
        for sighting in page.uses(signal).filter(|s| s.place != Place::Table || page.is_quoted(s)) {
            report.add(Verdict::Reject, sighting, "Pipes input into a shell.");
        }
    }
    backticks(page, report);
}

/// `subprocess.run(["ls"])`: a fixed program that only looks, without a shell.
fn starts_harmless(code: &str) -> bool {
    let Some((_, call)) = code.split_once("subprocess.") else { return false };
    let Some((_, list)) = call.split_once("([") else { return false };
    let Some((list, rest)) = list.split_once(']') else { return false };
    let program = list.split(',').next().unwrap_or_default().trim().trim_matches(['"', '\'']);
    ["ls", "pwd", "date", "echo", "which", "uname"].contains(&program)
        && !rest.contains("shell")
        && code.matches("subprocess.").count() == 1
}

/// In running text a word before a parenthesis is a call only when nothing stands between.
pub(super) fn is_call(page: &Page, sighting: &Sighting) -> bool {
    let in_text = matches!(
        sighting.place,
        Place::Prose | Place::ListItem | Place::Heading | Place::Header | Place::Table
    );
    !in_text || page.is_quoted(sighting) || !page.matched(sighting).ends_with(" (")
}

/// Ruby, Perl and PHP run what stands between backticks.
fn backticks(page: &Page, report: &mut Report<'_>) {
    for (unit, language) in page.code_units() {
        if !matches!(language, "ruby" | "rb" | "perl" | "pl" | "php") {
            continue;
        }
        let text = page.text().get(unit.start..unit.end).unwrap_or_default();
        let code = text.split('#').next().unwrap_or_default();
        if code.matches('`').count() >= 2 {
            report.add_line(Verdict::Reject, unit.line, "Runs a command between backticks.");
        }
    }
}
