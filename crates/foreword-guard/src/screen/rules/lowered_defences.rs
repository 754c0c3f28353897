//! Turns off what protects the user: sandboxes, scanners, verification, confirmation.

use super::{ALWAYS, Rule};
use crate::screen::document::Place;
use crate::screen::page::Page;
use crate::screen::report::Report;
use crate::screen::scan::{Pattern, Signal};
use crate::screen::verdict::Verdict;

/// Turns off a protection of the system.
const DISARM: Signal = Signal("disarm");
/// Weakens a protection, as some honest instructions do too.
const WEAKEN: Signal = Signal("weaken");
/// In words: turn off, get round.
const DISARM_ORDER: Signal = Signal("disarm-order");
/// In words: act without asking.
const NO_QUESTIONS: Signal = Signal("no-questions");

pub(super) static RULE: Rule = Rule {
    name: "lowered-defences",
    policies: ALWAYS,
    patterns: &[
        Pattern {
            signal: DISARM,
            needs: &[],
            cues: &[
                "spctl",
                "set-mppreference",
                "add-mppreference",
                "setenforce",
                "csrutil",
                "disablerealtime",
                "ufw disable",
                "iptables -f",
                "netsh advfirewall",
                "tccutil",
                "stop windefend",
                "auditctl",
                "unset histfile",
                "histfile=/dev",
                "history -c",
                "clear-eventlog",
                "wevtutil",
            ],
            regex: r"\bspctl\s+--(?:master|global)-disable|\b(?:Set|Add)-MpPreference\b[^\n]*?(?:Disable\w+|Exclusion\w+)|\bsetenforce\s+0|\bcsrutil\s+disable|\bufw\s+disable|\biptables\s+-F|\bnetsh\s+advfirewall\s+set\s+\w+\s+state\s+off|\bsc\s+stop\s+windefend|\bauditctl\s+-e\s*0|\bunset\s+HISTFILE|HISTFILE=/dev/null|\bhistory\s+-c\b|\bClear-EventLog\b|\bwevtutil\s+cl\b",
        },
        Pattern {
            signal: WEAKEN,
            needs: &[],
            cues: &[
                "dangerously-skip-permissions",
                "com.apple.quarantine",
                "xattr",
                "executionpolicy",
                "node_tls_reject",
                "sslverify",
                "--yolo",
                "dangerously-bypass",
                "skip-permissions",
                "bypasspermissions",
                "pythonhttpsverify",
            ],
            regex: r"--dangerously-(?:skip-permissions|bypass\S*)|\bxattr\s+-\w*[dcr]\w*\s|\bbypassPermissions\b|NODE_TLS_REJECT_UNAUTHORIZED\s*=\s*['\x22]?0|\bhttp\.sslVerify\s+false|PYTHONHTTPSVERIFY\s*=\s*0|\bExecutionPolicy\s+(?:Bypass|Unrestricted)",
        },
        Pattern {
            signal: DISARM_ORDER,
            needs: &[],
            cues: &[
                "disabl",
                "turn off",
                "bypass",
                "circumvent",
                "deactivat",
                "switch off",
                "evade",
                "get around",
                "suppress",
            ],
            regex: r"\b(?:disable|disabling|turn(?:ing)? off|bypass(?:es|ing)?|circumvent\w*|deactivat\w+|switch(?:ing)? off|evad\w+|get(?:ting)? around|suppress\w*)\b.*?\b(?:sandbox(?:ing)?|anti-?virus|defender|gatekeeper|firewalls?|selinux|security (?:checks?|controls?|software|measures?|scans?|polic\w+|warnings?|features?|filters?|tools?)|safety (?:checks?|guidelines?|measures?|filters?|protocols?|features?|rules?)|guardrails?|content (?:filters?|polic\w+|restrictions?)|(?:permission|approval|confirmation) (?:prompts?|checks?|dialogs?|requests?|steps?)|audit (?:logs?|logging|trail)|(?:certificate|tls|ssl|signature) (?:verification|validation|checks?)|monitoring|endpoint protection|edr|real-?time protection|smartscreen|windows security|user account control)\b",
        },
        Pattern {
            signal: NO_QUESTIONS,
            needs: &[],
            cues: &[
                "without asking",
                "without confirm",
                "without user",
                "without the user",
                "without prompt",
                "without verif",
                "without review",
                "skip confirm",
                "skip all",
                "skip any",
                "skip permission",
                "skip approval",
                "bypass permission",
                "bypass approval",
                "bypass confirm",
                "skip the confirm",
                "skip verif",
                "do not ask",
                "don't ask",
                "never ask",
                "without approval",
                "without permission",
                "no confirmation",
                "without any confirm",
                "without seeking",
                "without requir",
                "without explicit",
                "auto-approve",
                "automatically approve",
            ],
            regex: r"\b(?:run|runs|execute\w*|install\w*|delete\w*|remov\w+|send\w*|upload\w*|transfer\w*|approve\w*|modif\w+|overwrit\w+|push\w*|download\w*|pay\w*|purchase\w*|sign\w*|commit\w*|grant\w*)\b.*?\bwithout (?:\w+ ){0,3}?(?:asking|confirm\w*|verif\w+|review\w*|approval|permission|prompting|consent|(?:the )?user'?s? (?:confirmation|consent|approval|knowledge|permission|input))|\b(?:skip|bypass|omit)\b.{0,25}\b(?:confirmations?|approvals?|verification|permission (?:prompts?|checks?))\b|\b(?:do not|don't|never) ask (?:the user )?(?:for )?(?:\w+ )?(?:confirmation|permission|approval)\b",
        },
    ],
    check,
};

fn check(page: &Page, report: &mut Report<'_>) {
    for sighting in page.uses(DISARM) {
        report.add(Verdict::Reject, sighting, "Turns off system protection or logging.");
    }
    for sighting in page.uses(WEAKEN) {
        let command = page.unit_text(sighting);
        let other = !command.contains("quarantine") && !command.contains("-c");
        if page.matched(sighting).starts_with("xattr") && other {
            continue;
        }
        report.add(
            Verdict::NeedsReview,
            sighting,
            "Weakens a protection; make sure that is intended.",
        );
    }
    for sighting in page.uses(DISARM_ORDER).filter(|s| page.in_text(s)) {
        // "Users can bypass it" states a limit.
        let before = page.before(sighting).trim_end().to_ascii_lowercase();
        if ["can", "could", "may", "might", "cannot"].iter().any(|word| before.ends_with(word)) {
            continue;
        }
        report.add(Verdict::NeedsReview, sighting, "Tells the reader to bypass a protection.");
    }
    for sighting in page.uses(NO_QUESTIONS).filter(|s| page.in_text(s)) {
        let before = page.before(sighting).to_ascii_lowercase();
        let denied =
            ["never ", "don't ", "do not ", "must not "].iter().any(|no| before.ends_with(no));
        let option = sighting.place == Place::Table && page.unit_text(sighting).contains("`--");
        let sentence = page.unit_text(sighting).to_ascii_lowercase();
        let asked = sentence.contains("if the user");
        // Nothing is changed by reading.
        let only_reads = ["read-only", "read only"].iter().any(|it| sentence.contains(it));
        if !denied && !option && !asked && !only_reads {
            report.add(Verdict::NeedsReview, sighting, "Acts without asking the user.");
        }
    }
}
