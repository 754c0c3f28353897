//! Lures: paste this into a terminal, download that tool first.

use super::{ALWAYS, Rule};
use crate::screen::page::{Page, Sighting};
use crate::screen::report::Report;
use crate::screen::scan::{Pattern, Signal};
use crate::screen::signals::execution::{DECODE, DECODE_AND_RUN, FETCH_AND_RUN};
use crate::screen::url::{Url, urls};
use crate::screen::verdict::Verdict;

const PASTE: Signal = Signal("paste-into-terminal");
const MUST_HAVE: Signal = Signal("must-have");
const DOWNLOAD_LINK: Signal = Signal("download-link");
const RUN_IT: Signal = Signal("run-it");

/// A page that anybody can put up in a minute, as the place to get a program from.
const FREE_PAGE: Signal = Signal("free-page");

pub(super) static RULE: Rule = Rule {
    name: "terminal-lure",
    policies: ALWAYS,
    patterns: &[
        Pattern {
            signal: FREE_PAGE,
            needs: &[],
            cues: &["download", "install", "get it", "installer", "setup"],
            regex: r"\b(?:download|install|installer|get it|set ?up)\w*\b.*?https?://[\w.-]+\.(?:vercel\.app|netlify\.app|pages\.dev|web\.app|onrender\.com|github\.io|glitch\.me|workers\.dev|surge\.sh|repl\.co|blogspot\.com|weebly\.com|wixsite\.com|firebaseapp\.com|sites\.google\.com)\b",
        },
        Pattern {
            signal: PASTE,
            needs: &[],
            cues: &[
                "terminal",
                "powershell",
                "command prompt",
                "console",
                "run dialog",
                "win+r",
                "shell",
                "windows + r",
                "cmd",
            ],
            regex: r"\b(?:copy|paste|copying|pasting)\b.*?\b(?:into|in|to|inside|within)\b.{0,30}?\b(?:terminal|powershell|command prompt|command line|console|run dialog|shell|cmd)\b|\bopen\b.{0,30}\b(?:terminal|powershell|command prompt|run dialog|cmd)\b.*?\b(?:paste|enter|type)\b|\bwin(?:dows)?(?: key)? ?\+ ?r\b",
        },
        Pattern {
            signal: MUST_HAVE,
            needs: &[DOWNLOAD_LINK, FREE_PAGE],
            cues: &[
                "require",
                "prerequisite",
                "must ",
                "before ",
                "need",
                "mandatory",
                "necessary",
                "essential",
                "will not work",
                "won't work",
                "first",
            ],
            regex: r"\b(?:pre-?requisites?|required|requires|mandatory|must (?:be )?(?:first )?(?:install\w*|download\w*|run\w*|have|launch\w*)|necessary|essential|(?:will not|won't|cannot|can't|does not) (?:work|function|run|operate)|before (?:using|you|first|proceeding|continuing|starting)|need to (?:first )?(?:install|download|run)|needed)\b",
        },
        Pattern {
            signal: DOWNLOAD_LINK,
            needs: &[],
            cues: &[
                "releases/download",
                ".zip",
                ".exe",
                ".dmg",
                ".msi",
                ".pkg",
                ".rar",
                ".7z",
                ".scr",
                ".bat",
                ".iso",
                "download",
                "glot.io",
                "pastebin",
                "rentry",
                "releases/latest",
            ],
            regex: r"https?://[^\s)\x22'<>]+?(?:releases/(?:download|latest)/?[^\s)\x22'<>]*|\.(?:zip|exe|dmg|msi|pkg|rar|7z|scr|bat|iso|ps1)\b)|https?://(?:www\.)?(?:glot\.io|pastebin\.com|rentry\.(?:co|org)|paste\.\w+|[\w.-]*transfer\.sh|mega\.nz|gofile\.io|www\.mediafire\.com|mediafire\.com|cdn\.discordapp\.com)/[^\s)\x22'<>]*",
        },
        Pattern {
            signal: RUN_IT,
            needs: &[DOWNLOAD_LINK, FREE_PAGE],
            cues: &[
                "run ",
                "execut",
                "launch",
                "double-click",
                "start ",
                "open ",
                "paste",
                "keep",
                "install",
            ],
            regex: r"\b(?:run|execute|launch|double-click|start|open|paste|install)(?:s|ning|ning)?\b.*?\b(?:it|the (?:\w+ )?(?:file|executable|installer|script|command|program|tool|binary|agent|app|package|archive)|\S+\.(?:exe|dmg|msi|pkg|bat|ps1|sh))\b|\bkeep (?:it|the \w+) running\b",
        },
    ],
    check,
};

fn check(page: &Page, report: &mut Report<'_>) {
    free_pages(page, report);
    for paste in page.uses(PASTE).filter(|s| page.in_text(s)) {
        let command = [DECODE_AND_RUN, FETCH_AND_RUN, DECODE]
            .into_iter()
            .find_map(|s| page.near(paste, s, 8));
        if let Some(command) = command {
            if !known(page, command) {
                report.add(
                    Verdict::Reject,
                    paste,
                    "Asks the user to paste a command that runs downloaded or decoded code.",
                );
            }
            continue;
        }
        let link = page.near(paste, DOWNLOAD_LINK, 4);
        if let Some(link) = link {
            let doubtful = urls(page.matched(link)).iter().any(|u| u.doubt().is_some());
            let verdict = if doubtful { Verdict::Reject } else { Verdict::NeedsReview };
            report.add(
                verdict,
                paste,
                "Asks the user to paste commands from a web page into a terminal.",
            );
        }
    }
    for link in page.uses(DOWNLOAD_LINK).filter(|s| page.in_text(s)) {
        let addresses = urls(page.matched(link));
        let doubtful = addresses.iter().any(|u| u.doubt().is_some());
        let lured = page.near(link, MUST_HAVE, 6).is_some();
        let run = page.near(link, RUN_IT, 4).is_some();
        if doubtful && (lured || run) {
            report.add(
                Verdict::Reject,
                link,
                "A prerequisite to fetch from a place that cannot be trusted, and run.",
            );
        } else if lured && run && is_program(page, link) {
            report.add(
                Verdict::NeedsReview,
                link,
                "Requires a downloaded program instead of a package.",
            );
        }
    }
}

/// A tool that must be installed, from a page that anybody can put up.
fn free_pages(page: &Page, report: &mut Report<'_>) {
    for link in page.uses(FREE_PAGE).filter(|s| page.in_text(s)) {
        if page.near(link, MUST_HAVE, 6).is_some() {
            report.add(
                Verdict::NeedsReview,
                link,
                "A prerequisite to install from a page that anybody can put up.",
            );
        }
    }
}

fn known(page: &Page, command: &Sighting) -> bool {
    let addresses = urls(page.unit_text(command));
    !addresses.is_empty() && addresses.iter().all(Url::is_known_installer)
}

/// Archives and executables, not a page that lists releases.
fn is_program(page: &Page, link: &Sighting) -> bool {
    let lower = page.matched(link).to_ascii_lowercase();
    [".zip", ".exe", ".dmg", ".msi", ".pkg", ".rar", ".7z", ".scr", ".bat", ".iso", ".ps1"]
        .iter()
        .any(|end| lower.contains(end))
}
