//! Agent text that mentions forbidden actions without plainly forbidding them.
//!
//! Whether it is a warning or an order in the words of one is for a person to tell.

use super::dangerous_import::IMPORT;
use super::shell_execution::is_call;
use super::{AGENT, Rule};
use crate::screen::page::Page;
use crate::screen::report::Report;
use crate::screen::signals::execution::{
    DECODE, DECODE_AND_RUN, EVAL, FETCH_AND_RUN, PIPE_TO_SHELL, SHELL,
};
use crate::screen::signals::network::{NETWORK, SEND, SEND_FILE};
use crate::screen::verdict::Verdict;

pub(super) static RULE: Rule =
    Rule { name: "mentioned-danger", policies: AGENT, patterns: &[], check };

fn check(page: &Page, report: &mut Report<'_>) {
    let run = [SHELL, EVAL, PIPE_TO_SHELL, FETCH_AND_RUN, DECODE, DECODE_AND_RUN, IMPORT];
    for signal in run.into_iter().chain([NETWORK, SEND, SEND_FILE]) {
        for sighting in page.mentions(signal).filter(|s| is_call(page, s)) {
            report.add(
                Verdict::NeedsReview,
                sighting,
                "Mentions a forbidden action without clearly forbidding it.",
            );
        }
    }
}
