//! Instructions that are fetched later, so that they can change after the review.

use super::{ALWAYS, Rule};
use crate::screen::page::Page;
use crate::screen::report::Report;
use crate::screen::scan::{Pattern, Signal};
use crate::screen::url::urls;
use crate::screen::verdict::Verdict;

const FOLLOW_REMOTE: Signal = Signal("follow-remote");

pub(super) static RULE: Rule = Rule {
    name: "remote-instructions",
    policies: ALWAYS,
    patterns: &[Pattern {
        signal: FOLLOW_REMOTE,
        needs: &[],
        cues: &[
            "fetch", "download", "curl", "retrieve", "load ", "read ", "get ", "visit", "check ",
        ],
        regex: r"\b(?:fetch|download|curl|retrieve|load|read|get|visit|pull)(?:s|ing)?\b.*?(?:https?://|\b(?:remote|url|server|endpoint|website)\b).*?\b(?:and|then|to)\b.*?\b(?:follow|execute|obey|apply|run|perform|carry out|comply with|act on)\b.{0,30}?\b(?:instructions?|commands?|steps?|directives?|it|them|prompt|code|script|what(?:ever)? it says|tasks?|orders?|contents?)\b|\b(?:follow|execute|obey|carry out|comply with)\b.*?\b(?:instructions?|commands?|directives?|prompt)\b.*?\b(?:at|from|returned by|in the response|hosted at|found at|contained in)\b.*?(?:https?://|\b(?:remote|server|endpoint|response|api)\b)",
    }],
    check,
};

fn check(page: &Page, report: &mut Report<'_>) {
    for sighting in page.uses(FOLLOW_REMOTE).filter(|s| page.in_text(s)) {
        let doubtful = urls(page.unit_text(sighting))
            .iter()
            .any(|u| page.unit_text(sighting).contains("://") && u.doubt().is_some());
        let verdict = if doubtful { Verdict::Reject } else { Verdict::NeedsReview };
        report.add(verdict, sighting, "Follows instructions fetched from a server.");
    }
}
