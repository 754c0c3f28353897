//! Decodes something and runs it, or carries a payload that does something when decoded.

use super::{ALWAYS, Rule};
use crate::screen::document::Place;
use crate::screen::injection::OVERRIDE;
use crate::screen::page::{Origin, Page};
use crate::screen::report::Report;
use crate::screen::scan::{Pattern, Signal};
use crate::screen::signals::execution::{
    DECODE, DECODE_AND_RUN, EVAL, FETCH_AND_RUN, PIPE_TO_SHELL, SHELL,
};
use crate::screen::signals::network::{NETWORK, SEND};
use crate::screen::verdict::Verdict;

/// A long run of escapes or character codes.
const OBFUSCATED: Signal = Signal("obfuscated");

pub(super) static RULE: Rule = Rule {
    name: "decode-and-run",
    policies: ALWAYS,
    patterns: &[Pattern {
        signal: OBFUSCATED,
        needs: &[],
        cues: &["\\x2", "\\x3", "\\x4", "\\x5", "\\x6", "\\x7", "fromcharcode", "chr(", "\\u00"],
        regex: r"(?:\\x[0-9a-f]{2}){8,}|(?:\\u00[0-9a-f]{2}){8,}|fromCharCode\s?\((?:\s*(?:0x)?[0-9a-f]+\s*,){7,}|(?:chr\(\d+\)\s*[+.]\s*){5,}",
    }],
    check,
};

/// Content that a payload must not have.
const ACTIVE: [Signal; 7] = [SHELL, EVAL, PIPE_TO_SHELL, FETCH_AND_RUN, NETWORK, SEND, OVERRIDE];

fn check(page: &Page, report: &mut Report<'_>) {
    for sighting in page.uses(DECODE_AND_RUN) {
        report.add(
            Verdict::Reject,
            sighting,
            "Decodes data that a reviewer cannot read, and runs it.",
        );
    }
    for sighting in page.in_hidden_text() {
        if sighting.origin == Origin::Decoded && ACTIVE.contains(&sighting.signal) {
            report.add(Verdict::Reject, sighting, "Carries a command or an order");
        }
    }
    // Obfuscation next to something that runs it, or something disguised that runs.
    for sighting in page.uses(OBFUSCATED) {
        let runs = [EVAL, SHELL].into_iter().any(|signal| page.near(sighting, signal, 3).is_some());
        let verdict = if runs { Verdict::Reject } else { Verdict::NeedsReview };
        report.add(verdict, sighting, "Writes text as character codes.");
    }
    for signal in [SHELL, EVAL, FETCH_AND_RUN, PIPE_TO_SHELL] {
        let disguised = page.uses(signal).filter(|s| s.origin == Origin::Undisguised);
        for sighting in disguised.filter(|s| s.place == Place::Code) {
            report.add(Verdict::NeedsReview, sighting, "Disguises code that runs something");
        }
    }
    // Decoding a few lines away from running, in one fence.
    for decode in page.uses(DECODE).filter(|s| s.place == Place::Code) {
        let runs = [EVAL, PIPE_TO_SHELL].into_iter().find_map(|signal| {
            page.in_block(decode, signal).filter(|r| r.line.abs_diff(decode.line) <= 6)
        });
        if runs.is_some() {
            report.add(Verdict::Reject, decode, "Decodes data and runs it a few lines later.");
        }
    }
}
