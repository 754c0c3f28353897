//! An archive whose password is given along with it: a scanner cannot look inside, the user runs it.

use super::{ALWAYS, Rule};
use crate::screen::document::Place;
use crate::screen::page::Page;
use crate::screen::report::Report;
use crate::screen::scan::{Pattern, Signal};
use crate::screen::verdict::Verdict;

const ARCHIVE: Signal = Signal("archive");
const PASSWORD: Signal = Signal("archive-password");
const EXTRACT: Signal = Signal("extract");
const FETCH: Signal = Signal("archive-fetch");

pub(super) static RULE: Rule = Rule {
    name: "passworded-archive",
    policies: ALWAYS,
    patterns: &[
        Pattern {
            signal: ARCHIVE,
            needs: &[],
            cues: &[".zip", ".rar", ".7z", "archive", ".dmg", ".iso", ".tar"],
            regex: r"\.(?:zip|rar|7z|dmg|iso|tar\.gz|tgz)\b|\b(?:zip|rar|7z|compressed|encrypted|protected) (?:file|archive|folder|package)\b|\barchive\b",
        },
        Pattern {
            signal: PASSWORD,
            needs: &[ARCHIVE],
            cues: &["pass"],
            regex: r"\b(?:password|passwd|passphrase|passcode|pass|pwd)\b\s*(?:is|for|:|=|-|to (?:extract|unzip|open))?\s*(?:the )?(?:\w+ )?(?:is |: ?|= ?)?[`\x22'*:]{1,4}\s*[\w@#$!%.-]{2,}|\bunzip\s+-P\s*\S+|\b7z\s+(?:x|e)\b[^\n]*?\s-p\S+|\bunrar\s+x\b[^\n]*?\s-p\S+|\bpassword[- ]protected\b|\bpassword is \S+|\b(?:using|with|enter|use) (?:the )?(?:following )?pass(?:word)?\b",
        },
        Pattern {
            signal: EXTRACT,
            needs: &[PASSWORD],
            cues: &[
                "extract",
                "unzip",
                "unpack",
                "unrar",
                "7z ",
                "decompress",
                "open the",
                "mount",
                "run ",
                "launch",
                "execut",
                "install",
                "double-click",
                "exe",
                ".exe",
            ],
            regex: r"\b(?:extract|unzip|unpack|unrar|decompress|mount|launch|install|double-click)(?:s|ing|ed)?\b|\brun (?:the|it|setup|\S+\.exe|installer)|\bexecutable\b|\.exe\b|\b7z\s+[xe]\b",
        },
        Pattern {
            signal: FETCH,
            needs: &[PASSWORD],
            cues: &[
                "download",
                "curl",
                "wget",
                "http",
                "https",
                "releases/download",
                "get the",
                "release",
                "releases",
                "exe",
                ".exe",
                ".msi",
            ],
            regex: r"\bdownload\w*\b|\b(?:curl|wget)\b|\breleases? page\b|\b[\w.-]+\.(?:exe|msi|scr)\b|https?://\S+\.(?:zip|rar|7z|dmg|iso|exe|msi|pkg|tgz|tar\.gz)\b|\breleases/download/",
        },
    ],
    check,
};

fn check(page: &Page, report: &mut Report<'_>) {
    for password in page.all(PASSWORD) {
        let near =
            |signal, lines| page.all(signal).any(|s| s.line.abs_diff(password.line) <= lines);
        if !near(ARCHIVE, 3) || !near(EXTRACT, 4) || password.place == Place::Table {
            continue;
        }
        // A fetch makes it a delivery; without one it is a skill about archives.
        if near(FETCH, 5) {
            report.add(
                Verdict::Reject,
                password,
                "Downloads a password-protected archive and runs its content.",
            );
        }
    }
}
