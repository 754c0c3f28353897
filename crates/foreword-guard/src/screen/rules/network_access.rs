//! Text of an agent that reaches the network.

use super::shell_execution::is_call;
use super::{AGENT, Rule};
use crate::screen::page::Page;
use crate::screen::report::Report;
use crate::screen::signals::network::{DNS_LEAK, NETWORK, SEND, SEND_FILE};
use crate::screen::url::{Url, urls};
use crate::screen::verdict::Verdict;

pub(super) static RULE: Rule =
    Rule { name: "network-access", policies: AGENT, patterns: &[], check };

fn check(page: &Page, report: &mut Report<'_>) {
    for signal in [NETWORK, SEND, SEND_FILE, DNS_LEAK] {
        for sighting in page.uses(signal).filter(|s| is_call(page, s)) {
            let addresses = urls(page.unit_text(sighting));
            let local = !addresses.is_empty() && addresses.iter().all(Url::is_local);
            let verdict = if local { Verdict::NeedsReview } else { Verdict::Reject };
            report.add(verdict, sighting, "Reaches the network.");
        }
    }
}
