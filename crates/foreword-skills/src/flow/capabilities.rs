//! What a skill can do, kept with its proposal and in its commit.

use foreword_guard::{Capabilities, Finding, Screening, Verdict};
use foreword_store::ProposalSummary;

/// The rule of the finding that carries the capabilities of a proposal.
const RULE: &str = "capabilities";

/// The findings of a screening as a proposal keeps them, with the capabilities among them.
pub(crate) fn recorded(screening: &Screening) -> String {
    let Screening { findings, capabilities, .. } = screening;
    let note = (!capabilities.is_empty()).then(|| Finding {
        rule: RULE.into(),
        verdict: Verdict::AutoApprove,
        file: None,
        line: 1,
        excerpt: String::new(),
        message: serde_json::to_string(capabilities).unwrap_or_default(),
    });
    let findings: Vec<&Finding> = findings.iter().chain(&note).collect();
    serde_json::to_string(&findings).unwrap_or_default()
}

/// What was found in a proposal, and what its files can do.
#[must_use]
pub fn proposal_findings(proposal: &ProposalSummary) -> (Vec<Finding>, Capabilities) {
    let mut findings: Vec<Finding> =
        serde_json::from_str(&proposal.findings_json).unwrap_or_default();
    let note = findings.iter().position(|finding| finding.rule == RULE);
    let note = note.map(|at| findings.remove(at).message);
    let capabilities = note.and_then(|note| serde_json::from_str(&note).ok());
    (findings, capabilities.unwrap_or_default())
}
