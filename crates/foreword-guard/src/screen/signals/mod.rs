//! Facts that several rules combine: network access, secrets, code execution.

pub(crate) mod execution;
pub(crate) mod network;
pub(crate) mod secrets;

use crate::screen::policy::Policy;
use crate::screen::rules::{ALWAYS, RULES};
use crate::screen::scan::Pattern;

/// Every pattern, the shared ones and those of each rule, with the policies that use it.
pub(crate) fn all() -> impl Iterator<Item = (&'static Pattern, &'static [Policy])> {
    let shared = [execution::PATTERNS, network::PATTERNS, secrets::PATTERNS];
    let shared = shared.into_iter().flatten().map(|pattern| (pattern, ALWAYS));
    let own = RULES.iter().flat_map(|rule| rule.patterns.iter().map(|p| (p, rule.policies)));
    shared.chain(own)
}
