//! Gives more rights than the work needs, to everybody or for good.

use super::{ALWAYS, Rule};
use crate::screen::page::Page;
use crate::screen::report::Report;
use crate::screen::scan::{Pattern, Signal};
use crate::screen::verdict::Verdict;

const ROOT_FOR_GOOD: Signal = Signal("root-for-good");
const OPEN_TO_ALL: Signal = Signal("open-to-all");

pub(super) static RULE: Rule = Rule {
    name: "privilege-escalation",
    policies: ALWAYS,
    patterns: &[
        Pattern {
            signal: ROOT_FOR_GOOD,
            needs: &[],
            cues: &[
                "nopasswd",
                "sudoers",
                "chmod u+s",
                "chmod +s",
                "chmod 4",
                "chmod g+s",
                "setcap",
                "setuid(0",
                "/etc/passwd",
                "/etc/shadow",
            ],
            regex: r"NOPASSWD\s*:\s*ALL|>>?\s*/etc/sudoers|\btee\b[^\n]{0,30}/etc/sudoers|\bchmod\s+(?:-\w+\s+)?(?:[ugo]*\+s\b|[4267][0-7]{3}\b)|\bsetcap\s+cap_(?:setuid|sys_admin|dac_override)|\bos\.set(?:e)?uid\s?\(\s*0|>>?\s*/etc/(?:passwd|shadow)\b",
        },
        Pattern {
            signal: OPEN_TO_ALL,
            needs: &[],
            cues: &["chmod", "--privileged", "usermod", "chown", "docker.sock", "-v /:"],
            regex: r"\bchmod\s+(?:-\w+\s+)*(?:0?777|a\+rwx|ugo\+rwx|o\+w)\b|\busermod\b[^\n]{0,20}-a?G\s*(?:sudo|wheel|admin|root)\b|\bdocker\s+run\b[^\n]*?(?:--privileged[^\n]*?-v\s+/:|-v\s+/:/)|\bchown\s+(?:-R\s+)?root:root\s+/\S*",
        },
    ],
    check,
};

fn check(page: &Page, report: &mut Report<'_>) {
    for sighting in page.uses(ROOT_FOR_GOOD) {
        let matched = page.matched(sighting);
        // The sticky directories of a system have four digits too.
        if matched.contains("chmod") && matched.contains(" 1") {
            continue;
        }
        let shell =
            ["bash", "/sh", "python", "/tmp"].iter().any(|w| page.unit_text(sighting).contains(w));
        let verdict = if matched.contains("chmod") && !shell {
            Verdict::NeedsReview
        } else {
            Verdict::Reject
        };
        report.add(verdict, sighting, "Grants administrator rights permanently.");
    }
    for sighting in page.uses(OPEN_TO_ALL) {
        report.add(
            Verdict::NeedsReview,
            sighting,
            "Gives everyone access to files or the machine.",
        );
    }
}
