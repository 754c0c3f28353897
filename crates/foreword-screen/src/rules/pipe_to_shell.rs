//! Fetches something from the network and runs it unseen.
//!
//! Documented installers of well-known tools do this too, so the source decides.

use super::{ALWAYS, Rule};
use crate::document::Place;
use crate::page::{Origin, Page, Sighting};
use crate::report::Report;
use crate::scan::{Pattern, Signal};
use crate::signals::execution::{FETCH_AND_RUN, RUN_FILE, SHELL};
use crate::url::urls;
use crate::verdict::Verdict;

/// Downloads to a file.
const DOWNLOAD: Signal = Signal("download-to-file");

pub(super) static RULE: Rule = Rule {
    name: "pipe-to-shell",
    policies: ALWAYS,
    patterns: &[Pattern {
        signal: DOWNLOAD,
        cues: &["curl", "wget", "invoke-webrequest", "iwr ", "urlretrieve"],
        regex: r"\bcurl\b[^\n]{0,200}?\s(?-i:-o|-O|--output|--remote-name|-[a-zA-Z]*[oO])\b[^\n]{0,200}|\bcurl\b[^\n]{0,200}>\s*\S+|\bwget\b[^\n]{0,200}https?://[^\n]{0,200}|\b(?:Invoke-WebRequest|iwr)\b[^\n]{0,200}-OutFile[^\n]{0,100}|\burlretrieve\s?\([^\n]{0,200}",
    }],
    check,
};

fn check(page: &Page, report: &mut Report<'_>) {
    for sighting in page.uses(FETCH_AND_RUN) {
        if sighting.place == Place::Table && !page.is_quoted(sighting) {
            continue;
        }
        judge(page, report, sighting);
    }
    for sighting in page.uses(DOWNLOAD) {
        let doubt = urls(page.matched(sighting)).iter().find_map(crate::url::Url::doubt);
        let run = page.uses(RUN_FILE).find(|r| {
            r.line >= sighting.line && r.line - sighting.line <= 4 && r.place == sighting.place
        });
        if let (Some(doubt), Some(_)) = (doubt, run) {
            let message = format!("Downloads a program from {} and runs it.", doubt.reason());
            report.add(Verdict::Reject, sighting, &message);
        }
    }
}

fn judge(page: &Page, report: &mut Report<'_>, sighting: &Sighting) {
    let command = page.unit_text(sighting);
    let addresses = urls(command);
    if let Some(doubt) = addresses.iter().find_map(crate::url::Url::doubt) {
        let message = format!("Runs what it fetches from {}.", doubt.reason());
        report.add(Verdict::Reject, sighting, &message);
    } else if sighting.origin != Origin::Written || sighting.place == Place::Comment {
        report.add(Verdict::Reject, sighting, "Runs what it fetches, and hides that it does.");
    } else if page.beside(sighting, SHELL).is_some() && command.contains("system(") {
        report.add(Verdict::Reject, sighting, "Code that runs what it fetches.");
    } else if is_quiet(command) {
        report.add(Verdict::Reject, sighting, "Runs what it fetches, in the background.");
    } else if addresses.is_empty() || !addresses.iter().all(crate::url::Url::is_known_installer) {
        report.add(
            Verdict::NeedsReview,
            sighting,
            "Runs what it fetches: look at the source before you trust it.",
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
    hides && (detached || command.contains("sh >")) || command.contains("nohup ") && hides
}
