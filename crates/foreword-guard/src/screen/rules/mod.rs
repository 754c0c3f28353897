//! The rules: one file each, or one per family, and one line here.

mod capabilities;
mod code_execution;
mod covert_action;
mod crypto_mining;
mod dangerous_import;
mod data_collection;
mod decode_and_run;
mod destructive_command;
mod encoding_evasion;
mod harmful_advice;
mod hidden_text;
mod instruction_override;
mod lowered_defences;
mod mentioned_danger;
mod network_access;
mod package_imitation;
mod passworded_archive;
mod persistence;
mod pipe_to_shell;
mod privilege_escalation;
mod remote_instructions;
mod reverse_shell;
mod secret_exfiltration;
mod shell_execution;
mod terminal_lure;
mod unlisted_command;

use crate::screen::page::Page;
use crate::screen::policy::Policy;
use crate::screen::report::Report;
use crate::screen::scan::Pattern;

/// One behaviour that the screener looks for.
pub(crate) struct Rule {
    /// In kebab-case, as shown to people.
    pub(crate) name: &'static str,
    /// The policies that have it.
    pub(crate) policies: &'static [Policy],
    /// Patterns of this rule only, in addition to the shared ones.
    pub(crate) patterns: &'static [Pattern],
    /// Judges a page.
    pub(crate) check: fn(&Page, &mut Report<'_>),
}

impl Rule {
    pub(crate) fn applies_to(&self, policy: Policy) -> bool {
        self.policies.contains(&policy)
    }
}

/// Rules for agent text.
const AGENT: &[Policy] = &[Policy::Agent];
/// Rules for whatever text.
pub(crate) const ALWAYS: &[Policy] = &[Policy::Agent, Policy::Import];

/// Every rule, in the order in which they run.
pub(crate) static RULES: &[&Rule] = &[
    &shell_execution::RULE,
    &code_execution::RULE,
    &encoding_evasion::RULE,
    &dangerous_import::RULE,
    &network_access::RULE,
    &mentioned_danger::RULE,
    &unlisted_command::RULE,
    &capabilities::FILESYSTEM_WRITE,
    &capabilities::ENVIRONMENT_ACCESS,
    &capabilities::PROCESS_CONTROL,
    &capabilities::CRYPTOGRAPHY,
    &pipe_to_shell::RULE,
    &decode_and_run::RULE,
    &hidden_text::RULE,
    &hidden_text::LOOKALIKES,
    &secret_exfiltration::RULE,
    &data_collection::RULE,
    &data_collection::STANDING_ORDER,
    &passworded_archive::RULE,
    &terminal_lure::RULE,
    &lowered_defences::RULE,
    &covert_action::RULE,
    &persistence::RULE,
    &reverse_shell::RULE,
    &privilege_escalation::RULE,
    &destructive_command::RULE,
    &crypto_mining::RULE,
    &remote_instructions::RULE,
    &instruction_override::RULE,
    &package_imitation::RULE,
    &harmful_advice::RULE,
];

/// The names of all rules, in order.
pub fn rule_names() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|rule| rule.name)
}
