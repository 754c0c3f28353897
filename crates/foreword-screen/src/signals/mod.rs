//! Facts that several rules combine: what reaches the network, what is secret, what runs code.

pub(crate) mod execution;
pub(crate) mod network;
pub(crate) mod secrets;

use crate::rules::RULES;
use crate::scan::Pattern;

/// Every pattern: the shared ones and those of each rule.
pub(crate) fn all() -> impl Iterator<Item = &'static Pattern> {
    let shared = [execution::PATTERNS, network::PATTERNS, secrets::PATTERNS];
    let own = RULES.iter().map(|rule| rule.patterns);
    shared.into_iter().chain(own).flatten()
}
