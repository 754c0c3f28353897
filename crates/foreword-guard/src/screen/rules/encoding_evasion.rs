//! Agent text that decodes content a reader cannot read.

use super::{AGENT, Rule};
use crate::screen::page::Page;
use crate::screen::report::Report;
use crate::screen::signals::execution::{DECODE, DECODE_AND_RUN};
use crate::screen::verdict::Verdict;

pub(super) static RULE: Rule =
    Rule { name: "encoding-evasion", policies: AGENT, patterns: &[], check };

fn check(page: &Page, report: &mut Report<'_>) {
    for signal in [DECODE, DECODE_AND_RUN] {
        for sighting in page.uses(signal) {
            report.add(Verdict::Reject, sighting, "Decodes data that a reviewer cannot read.");
        }
    }
}
