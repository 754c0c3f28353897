//! Fetches something from the network and runs it unseen.
//!
//! Documented installers of well-known tools do this too, so the source decides.

use super::{ALWAYS, Rule};
use crate::screen::document::{Place, Unit};
use crate::screen::page::{Origin, Page, Sighting};
use crate::screen::report::Report;
use crate::screen::scan::{Pattern, Signal};
use crate::screen::signals::execution::{EVAL, FETCH_AND_RUN, SHELL};
use crate::screen::signals::network::NETWORK;
use crate::screen::url::{Url, urls};
use crate::screen::verdict::Verdict;

/// Runs code from a file that the reader does not see.
const RUN_READ: Signal = Signal("run-read");
/// Downloads to a file.
const DOWNLOAD: Signal = Signal("download-to-file");

pub(super) static RULE: Rule = Rule {
    name: "pipe-to-shell",
    policies: ALWAYS,
    patterns: &[
        Pattern {
            signal: RUN_READ,
            needs: &[],
            cues: &["eval(", "exec(", "loads("],
            regex: r"\b(?:eval|exec)\s?\(\s*(?:compile\s?\(\s*)?(?:open|Path|fs\.readFileSync|readFileSync|io\.open|codecs\.open)\s?\(|\b(?:pickle|marshal|dill)\.loads?\s?\([^\n]*?(?:urlopen|requests\.|\.content\b)",
        },
        Pattern {
            signal: DOWNLOAD,
            needs: &[NETWORK],
            cues: &["curl", "wget", "invoke-webrequest", "iwr ", "urlretrieve"],
            regex: r"\bcurl\b[^\n]*?\s(?-i:-o|-O|--output|--remote-name|-[a-zA-Z]*[oO])\b|\bcurl\b[^\n]*?>\s*\S+|\bwget\b[^\n]*?https?://|\b(?:Invoke-WebRequest|iwr)\b[^\n]*?-OutFile|\burlretrieve\s?\(",
        },
    ],
    check,
};

fn check(page: &Page, report: &mut Report<'_>) {
    for sighting in page.uses(FETCH_AND_RUN) {
        if sighting.place == Place::Table && !page.is_quoted(sighting) {
            continue;
        }
        judge(page, report, sighting);
    }
    // Code that fetches something and runs it a few lines later.
    for run in page.uses(EVAL).filter(|s| s.place == Place::Code) {
        let fetched =
            page.in_block(run, NETWORK).filter(|n| n.line <= run.line && run.line - n.line <= 6);
        if fetched.is_some() {
            report.add(Verdict::Reject, run, "Runs code that it downloads.");
        }
    }
    for run in page
        .uses(SHELL)
        .filter(|s| s.place == Place::Code && page.matched(s).trim().ends_with("exec("))
    {
        let fetched =
            page.in_block(run, NETWORK).filter(|n| n.line <= run.line && run.line - n.line <= 6);
        if fetched.is_some() {
            report.add(Verdict::NeedsReview, run, "May run code that it downloads.");
        }
    }
    for sighting in page.uses(RUN_READ) {
        let code = page.unit_text(sighting);
        let hidden = ["/tmp/", "/.", "temp", "/dev/shm"].iter().any(|p| code.contains(p));
        let verdict = if hidden { Verdict::Reject } else { Verdict::NeedsReview };
        report.add(verdict, sighting, "Runs code that it reads from another file.");
    }
    for sighting in page.uses(DOWNLOAD) {
        let doubt = urls(page.unit_text(sighting)).iter().find_map(Url::doubt);
        if let Some(doubt) = doubt
            && runs_soon(page, sighting)
        {
            let message = format!("Downloads a program from {} and runs it.", doubt.reason());
            report.add(Verdict::Reject, sighting, &message);
        } else if runs_download(page, sighting) {
            let hidden = page.unit_text(sighting).contains("/.");
            let verdict = if hidden { Verdict::Reject } else { Verdict::NeedsReview };
            report.add(verdict, sighting, "Downloads and runs code in one command.");
        }
    }
}

/// Whether a file is run on the line of a download or on one of the next few.
fn runs_soon(page: &Page, sighting: &Sighting) -> bool {
    let soon = |u: &&Unit| u.line >= sighting.line && u.line - sighting.line <= 4;
    let mut lines = page.units().iter().filter(soon);
    lines.any(|u| page.text().get(u.start..u.end).is_some_and(runs_a_file))
}

/// A command that runs a file, at the start of a line or after another command.
fn runs_a_file(line: &str) -> bool {
    line.split(['&', ';', '|', '\n', '`']).any(|part| {
        let part = part.trim_start().trim_start_matches("$ ");
        let part = part.strip_prefix("sudo ").unwrap_or(part);
        let starts = [
            "./",
            "/tmp/",
            "bash ",
            "sh ",
            "zsh ",
            "source ",
            "python /tmp",
            "python3 /tmp",
            "start ",
            "open ",
        ];
        starts.iter().any(|how| part.starts_with(how))
            || part.starts_with("chmod ") && (part.contains("+x") || part.contains(" 7"))
    })
}

/// `curl -O … && bash …`: the script is never looked at.
fn runs_download(page: &Page, sighting: &Sighting) -> bool {
    let command = page.unit_text(sighting);
    let Some((fetch, run)) = command.split_once("&&").or_else(|| command.split_once(';')) else {
        return false;
    };
    let addresses = urls(fetch);
    let known = !addresses.is_empty() && addresses.iter().all(Url::is_known_installer);
    let runs =
        runs_a_file(run.trim_start_matches('&')) && !run.contains("chmod +x") || runs_own(run);
    runs && !known
}

/// `chmod +x x && ./x`, and the like: made runnable and run at once.
fn runs_own(commands: &str) -> bool {
    let mut parts = commands.split("&&").map(str::trim_start);
    parts.any(|part| {
        part.starts_with("./") || part.starts_with("/tmp/") || part.starts_with("sudo ./")
    })
}

fn judge(page: &Page, report: &mut Report<'_>, sighting: &Sighting) {
    let command = page.unit_text(sighting);
    let addresses = urls(command);
    if let Some(doubt) = addresses.iter().find_map(Url::doubt) {
        let message = format!("Runs code downloaded from {}.", doubt.reason());
        report.add(Verdict::Reject, sighting, &message);
    } else if sighting.origin != Origin::Written || sighting.place == Place::Comment {
        report.add(Verdict::Reject, sighting, "Runs downloaded code and hides it.");
    } else if page.beside(sighting, SHELL).is_some() && command.contains("system(") {
        report.add(Verdict::Reject, sighting, "Runs code that it downloads.");
    } else if is_quiet(command) {
        report.add(Verdict::Reject, sighting, "Runs downloaded code in the background.");
    } else if addresses.is_empty() && sighting.place != Place::Code && !page.is_quoted(sighting) {
        // Describes the practice without a command to run.
    } else if addresses.is_empty() || !addresses.iter().all(Url::is_known_installer) {
        report.add(
            Verdict::NeedsReview,
            sighting,
            "Runs downloaded code; review the source before you trust it.",
        );
    }
}

/// Hides its output and goes on behind the user's back.
fn is_quiet(command: &str) -> bool {
    let hides = command.contains("/dev/null 2>&1")
        || command.contains("&>/dev/null")
        || command.contains("&> /dev/null");
    let detached = command.trim_end().ends_with('&')
        || command.contains("nohup ")
        || command.contains("disown");
    hides && (detached || command.contains("sh >"))
}
