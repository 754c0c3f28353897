//! Destroys data outside its task.

use super::{ALWAYS, Rule};
use crate::screen::document::Place;
use crate::screen::page::Page;
use crate::screen::report::Report;
use crate::screen::scan::{Pattern, Signal};
use crate::screen::verdict::Verdict;

const WIPE: Signal = Signal("wipe");
const WIDE_DELETE: Signal = Signal("wide-delete");

pub(super) static RULE: Rule = Rule {
    name: "destructive-command",
    policies: ALWAYS,
    patterns: &[
        Pattern {
            signal: WIPE,
            needs: &[],
            cues: &[
                "rm -",
                "rm --",
                "mkfs",
                "of=/dev/",
                "format-volume",
                "del /",
                "rd /s",
                "rmtree(",
                "find / ",
                "> /dev/sd",
                "shred ",
                "remove-item",
            ],
            regex: r"\brm\s+(?:-\w+\s+|--\S+\s+)*['\x22]?(?:/|~/?|\$HOME/?|\$\{HOME\}/?|/\*|~/\*|/(?:etc|usr|var|home|boot|bin|root|Users)/?\*?|\.\./\.\.\S*)['\x22]?\s*(?:$|[\n;&|`'\x22#)])|--no-preserve-root|\bmkfs(?:\.\w+)?\s+(?:-\S+\s+)*/dev/|\bdd\b[^\n]*?\bof=/dev/(?:sd|nvme|hd|disk|vd)|\bFormat-Volume\b|\bdel\s+/[sfq]\b[^\n]{0,20}[a-z]:\\|\brd\s+/s\s+/q\s+[a-z]:\\|\brmtree\s?\(\s*['\x22](?:/|~)['\x22]|rmtree\s?\(\s*(?:os\.path\.expanduser\(['\x22]~['\x22]\)|Path\.home\(\))|\bfind\s+(?:/|~)\s[^\n]*?-delete|>\s*/dev/(?:sd|nvme|hd)[a-z0-9]|\bRemove-Item\b[^\n]*?[a-z]:\\\*?['\x22]?\s",
        },
        Pattern {
            signal: WIPE,
            needs: &[],
            cues: &["os.fork", "while true"],
            regex: r"\bwhile\s+(?:True|1)\s*:\s*os\.fork\(|\bwhile true; do\b[^\n]*?&\s*done",
        },
        Pattern {
            signal: WIDE_DELETE,
            needs: &[],
            cues: &["rm ", "del "],
            regex: r"\brm\s+(?:-\w+\s+)*['\x22]?(?:\$\(|`)|\brm\s+(?:-\w+\s+)*[^\n;&|]*?(?:\s|^)(?:\./)?\*\s*(?:$|[\n;&|`])|\brm\s+-\w*r\w*\s[^\n;&|]*?\.\./\*|\bxargs\s+(?:-\S+\s+)*rm\s+-\w*r",
        },
    ],
    check,
};

fn check(page: &Page, report: &mut Report<'_>) {
    for sighting in page.uses(WIPE) {
        report.add(Verdict::Reject, sighting, "Wipes a disk, a system or a home directory.");
    }
    for (unit, _) in page.code_units() {
        let line: String =
            page.text().get(unit.start..unit.end).unwrap_or_default().split_whitespace().collect();
        if line.contains(":(){:|:&};:") {
            report.add_line(Verdict::Reject, unit.line, "Starts processes without limit.");
        }
    }
    for sighting in page.uses(WIDE_DELETE) {
        if sighting.place == Place::Code || page.is_quoted(sighting) {
            report.add(Verdict::NeedsReview, sighting, "Deletes more than the command shows.");
        }
    }
}
