//! Text of an agent that turns strings into running code.

use super::shell_execution::is_call;
use super::{AGENT, Rule};
use crate::page::Page;
use crate::report::Report;
use crate::signals::execution::EVAL;
use crate::verdict::Verdict;

pub(super) static RULE: Rule =
    Rule { name: "code-execution", policies: AGENT, patterns: &[], check };

fn check(page: &Page, report: &mut Report<'_>) {
    for sighting in page.uses(EVAL).filter(|s| is_call(page, s)) {
        report.add(Verdict::Reject, sighting, "Turns text into running code.");
    }
}
