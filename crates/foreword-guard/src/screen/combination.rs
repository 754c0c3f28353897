//! Findings that each need review, and together are enough to refuse a skill.
//!
//! One sign has many honest explanations. Two independent ones hardly have: an instruction that reads
//! as harmful next to data that leaves, or something kept from the user next to something that stays.
//! Which pairs refuse was measured on honest skills (`docs/evaluation.md`).

use std::collections::BTreeSet;

use crate::scan::{HARMFUL_INSTRUCTION, HARMFUL_PROGRAM};
use crate::screen::verdict::{Finding, Verdict};

/// The rule that refuses.
const RULE: &str = "combined-signs";

/// What a finding is a sign of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// Reads as an instruction against the user.
    Harmful,
    /// Is kept from the user.
    Hidden,
    /// Data, secrets or the repository leave.
    Leaves,
    /// Stays on the machine, or changes what agents follow.
    Stays,
    /// Protections are weakened.
    Weakens,
    /// Runs what others decide.
    Foreign,
    /// The reader is told to do something every time.
    Ordered,
}

fn sign(finding: &Finding) -> Option<Sign> {
    Some(match finding.rule.as_str() {
        HARMFUL_INSTRUCTION | HARMFUL_PROGRAM => Sign::Harmful,
        "covert-action" => Sign::Hidden,
        "data-upload" | "secret-exfiltration" | "secret-access" | "data-collection" => Sign::Leaves,
        "standing-order" => Sign::Ordered,
        "persistence" | "agent-files" => Sign::Stays,
        "lowered-defences" | "privilege-escalation" | "destructive-command" => Sign::Weakens,
        "pipe-to-shell" | "decode-and-run" | "remote-instructions" | "package-source" => {
            Sign::Foreign
        }
        _ => return None,
    })
}

/// Whether both signs in one skill refuse it: words that say so and something that is done, two things that its
/// programs do, or something that a program does and the text orders to be run every time. Two kinds of words do
/// not: a text about attacks has both.
fn refuses((one, one_runs): (Sign, bool), (other, other_runs): (Sign, bool)) -> bool {
    let against = |sign| matches!(sign, Sign::Harmful | Sign::Hidden);
    let is_said = |sign| against(sign) || sign == Sign::Ordered;
    one != other
        && !is_said(other)
        && (against(one) || one_runs && other_runs || one == Sign::Ordered && other_runs)
}

/// How far from what a program does the table for programs may have read the same lines.
const SAME_PLACE: u32 = 12;

/// Whether two findings say two things. The table for programs also flags the line on which a program does
/// something that needs review anyway, and everywhere a program that reads secrets, as honest ones do.
fn is_independent((file, one): (usize, &Finding), (other_file, other): (usize, &Finding)) -> bool {
    let either = |rule: &str| one.rule == rule || other.rule == rule;
    let apart = file != other_file || one.line.abs_diff(other.line) > SAME_PLACE;
    !either(HARMFUL_PROGRAM) || apart && !either("secret-access")
}

/// A finding that refuses, if two of `findings` do together. It stands where the first of them does.
/// `is_program` says whether a file is one. The programs of a defensive skill handle attacks, so they resemble them.
pub(super) fn combined(
    findings: &[(usize, Finding)],
    defensive: bool,
    is_program: impl Fn(usize) -> bool,
) -> Option<(usize, Finding)> {
    if findings.iter().any(|(_, finding)| finding.verdict == Verdict::Reject) {
        return None;
    }
    // One of each kind says as much as all of them.
    let mut signs: Vec<(usize, &Finding, (Sign, bool))> = Vec::new();
    let counts = |f: &Finding| {
        f.verdict == Verdict::NeedsReview && !(defensive && f.rule == HARMFUL_PROGRAM)
    };
    for (file, finding) in findings.iter().filter(|(_, finding)| counts(finding)) {
        let Some(sign) = sign(finding).map(|sign| (sign, is_program(*file))) else { continue };
        if !signs.iter().any(|(_, _, known)| *known == sign) {
            signs.push((*file, finding, sign));
        }
    }
    signs.iter().find_map(|(file, finding, one)| {
        let (_, other, _) = signs.iter().find(|(other_file, beside, other)| {
            refuses(*one, *other) && is_independent((*file, finding), (*other_file, beside))
        })?;
        let message = format!(
            "Works against the user in more than one way ({} and {}).",
            finding.rule, other.rule
        );
        let rule = RULE.to_owned();
        let refused = Finding { rule, verdict: Verdict::Reject, message, ..(*finding).clone() };
        Some((*file, refused))
    })
}

/// Leaves out what the table says of a place in a program where another finding says what is done.
pub(super) fn without_repetitions(mut findings: Vec<(usize, Finding)>) -> Vec<(usize, Finding)> {
    let told: BTreeSet<(usize, u32)> = findings
        .iter()
        .filter(|(_, f)| f.rule != HARMFUL_PROGRAM && f.verdict >= Verdict::NeedsReview)
        .map(|(file, finding)| (*file, finding.line))
        .collect();
    findings.retain(|(file, finding)| {
        let first = (*file, finding.line.saturating_sub(SAME_PLACE));
        let last = (*file, finding.line.saturating_add(SAME_PLACE));
        finding.rule != HARMFUL_PROGRAM || told.range(first..=last).next().is_none()
    });
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(rule: &str, verdict: Verdict) -> (usize, Finding) {
        let (excerpt, message) = (String::new(), String::new());
        (0, Finding { rule: rule.to_owned(), verdict, file: None, line: 3, excerpt, message })
    }

    #[test]
    fn two_independent_signs_refuse() {
        let document = |_| false;
        let harmful = finding(HARMFUL_INSTRUCTION, Verdict::NeedsReview);
        let upload = finding("data-upload", Verdict::NeedsReview);
        let (_, found) = combined(&[upload.clone(), harmful.clone()], false, document).unwrap();
        assert_eq!((found.rule.as_str(), found.verdict, found.line), (RULE, Verdict::Reject, 3));
        assert!(found.message.contains("harmful-instruction and data-upload"), "{found:?}");
        for alone in [&harmful, &upload] {
            assert_eq!(
                combined(&[alone.clone(), alone.clone()], false, document),
                None,
                "one sign, twice"
            );
        }
        for said in ["covert-action", "standing-order"] {
            let said = finding(said, Verdict::NeedsReview);
            assert_eq!(
                combined(&[harmful.clone(), said], false, document),
                None,
                "two kinds of words"
            );
        }
    }

    #[test]
    fn the_table_for_programs_counts_beside_another_place() {
        let harmful = finding(HARMFUL_PROGRAM, Verdict::NeedsReview);
        let mut upload = finding("data-upload", Verdict::NeedsReview);
        let both = |upload: &(usize, Finding), defensive| {
            combined(&[harmful.clone(), upload.clone()], defensive, |_| true).is_some()
        };
        assert!(!both(&upload, false), "it read the same lines");
        upload.1.line += SAME_PLACE + 1;
        assert!(both(&upload, false));
        let reading = (0, Finding { rule: "secret-access".to_owned(), ..upload.1.clone() });
        assert!(!both(&reading, false), "nothing has left yet");
        assert!(!both(&upload, true), "a scanner resembles what it looks for");
    }

    #[test]
    fn a_place_is_reported_once() {
        let table = finding(HARMFUL_PROGRAM, Verdict::NeedsReview);
        let mut upload = finding("data-upload", Verdict::NeedsReview);
        let left = |other: &(usize, Finding)| {
            without_repetitions(vec![table.clone(), other.clone()]).len() == 1
        };
        assert!(left(&upload), "the upload says more");
        upload.1.verdict = Verdict::AutoApprove;
        assert!(!left(&upload), "a note alone asks for no review");
        upload.1.verdict = Verdict::Reject;
        upload.1.line += SAME_PLACE + 1;
        assert!(!left(&upload), "another place");
        upload.1.line = table.1.line;
        upload.0 = 1;
        assert!(!left(&upload), "another file");
    }

    #[test]
    fn two_deeds_refuse_only_in_programs() {
        let upload = finding("data-upload", Verdict::NeedsReview);
        let stays = finding("persistence", Verdict::NeedsReview);
        assert_eq!(combined(&[upload.clone(), stays.clone()], false, |_| false), None);
        assert!(combined(&[upload, stays], false, |_| true).is_some());
    }

    #[test]
    fn an_order_to_run_what_leaves_refuses_only_with_a_program() {
        let (order, mut upload) = (
            finding("standing-order", Verdict::NeedsReview),
            finding("data-upload", Verdict::NeedsReview),
        );
        upload.0 = 1;
        assert!(combined(&[order.clone(), upload.clone()], false, |file| file == 1).is_some());
        assert_eq!(combined(&[order, upload], false, |_| false), None, "two kinds of words");
    }

    #[test]
    fn what_is_refused_already_or_only_noted_does_not_count() {
        let harmful = finding(HARMFUL_INSTRUCTION, Verdict::NeedsReview);
        let noted = finding("data-upload", Verdict::AutoApprove);
        assert_eq!(combined(&[harmful.clone(), noted], false, |_| false), None);
        let refused = finding("data-upload", Verdict::Reject);
        assert_eq!(combined(&[harmful, refused], false, |_| false), None);
    }
}
