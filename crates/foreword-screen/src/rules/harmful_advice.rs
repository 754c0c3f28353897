//! Advice that hurts people: poisons in recipes, crimes hidden in contracts.

use super::{ALWAYS, Rule};
use crate::document::Place;
use crate::page::Page;
use crate::report::Report;
use crate::scan::{Pattern, Signal};
use crate::verdict::Verdict;

const POISON: Signal = Signal("poison");
const HUSHED: Signal = Signal("hushed");

pub(super) static RULE: Rule = Rule {
    name: "harmful-advice",
    policies: ALWAYS,
    patterns: &[
        Pattern {
            signal: POISON,
            cues: &[
                "cyanide",
                "arsenic",
                "ricin",
                "strychnine",
                "antifreeze",
                "bleach",
                "thallium",
                "polonium",
                "rat poison",
                "methanol",
                "drain cleaner",
                "ammonia",
            ],
            regex: r"\b(?:add|mix|sprinkle|include|use|pour|put|season|stir|dash|pinch|drink|swallow|inject|inhale|combine)(?:s|ing)?\b.{0,60}\b(?:cyanide|arsenic|ricin|strychnine|antifreeze|thallium|polonium|rat poison|methanol|drain cleaner|bleach (?:and|with) ammonia)\b",
        },
        Pattern {
            signal: HUSHED,
            cues: &["illegal activit", "illegal act", "whistleblow", "crimes", "evidence", "fraud"],
            regex: r"\b(?:prevent|prohibit|forbid|discourage|stop|block|penali[sz]e)(?:s|ing)?\b.{0,40}\b(?:reporting|disclosing|disclosure of|whistleblowing)\b.{0,30}\b(?:illegal|crimes?|fraud|violations?|misconduct|authorities)\b|\b(?:conceal|cover up|destroy|hide)\b.{0,30}\b(?:evidence|fraud|crimes?|illegal activit\w+)\b",
        },
    ],
    check,
};

fn check(page: &Page, report: &mut Report<'_>) {
    for sighting in page.uses(POISON).filter(|s| s.place != Place::Code) {
        report.add(Verdict::NeedsReview, sighting, "Advice that can kill.");
    }
    // "Add provisions that prevent reporting" is no prohibition of what it prevents.
    for sighting in page.all(HUSHED).filter(|s| s.place != Place::Code) {
        report.add(Verdict::NeedsReview, sighting, "Advice to keep a crime from being reported.");
    }
}
