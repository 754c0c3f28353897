//! Skills about attacks, and samples of them: what is shown there is no order to do it.

/// Rules about what a command does, whoever wrote it and for whom.
const DEEDS: [&str; 4] =
    ["secret-exfiltration", "pipe-to-shell", "reverse-shell", "decode-and-run"];

/// The commands in a document that are there to be run, as the first and the last line of each fence.
#[derive(Debug, Default)]
pub(super) struct Commands(Vec<(u32, u32)>);

impl Commands {
    /// Those of the fences that hold one of `deeds`, the lines on which parsed code was found to do
    /// something grave, and that are not labelled as an attack.
    pub(super) fn of(document: &str, is_main: bool, deeds: &[u32]) -> Self {
        let mut fences: Vec<(u32, u32)> = Vec::new();
        // The headings above, the least first, and the last lines.
        let (mut headings, mut above): (Vec<(usize, &str)>, _) = (Vec::new(), [""; 2]);
        let mut open: Option<(&str, u32, bool)> = None;
        for (number, line) in (1..).zip(document.lines()) {
            let text = line.trim();
            let sign = ["```", "~~~"].into_iter().find(|sign| text.starts_with(sign));
            match (&mut open, sign) {
                (Some((own, start, shown)), Some(sign)) if *own == sign => {
                    fences.extend((!*shown).then_some((*start, number)));
                    open = None;
                    above = [""; 2];
                }
                (Some((_, _, shown)), _) => {
                    let comment = ["#", "//", "--", "::"].iter().any(|sign| text.starts_with(sign));
                    *shown |= comment && says_bad(text);
                }
                (None, Some(sign)) => {
                    // The title of a skill says what the skill is about, not what the fence is.
                    let labels = headings.iter().filter(|(level, _)| *level > 1 || !is_main);
                    let shown = labels.clone().any(|(_, label)| is_about_attacks(label))
                        || above.iter().any(|label| says_bad(label));
                    open = Some((sign, number, shown));
                }
                (None, None) if text.starts_with('#') => {
                    let level = text.bytes().take_while(|b| *b == b'#').count();
                    headings.retain(|(other, _)| *other < level);
                    headings.push((level, text));
                    above = [""; 2];
                }
                (None, None) if !text.is_empty() => {
                    let [_, last] = above;
                    above = [last, text];
                }
                (None, None) => {}
            }
        }
        fences.extend(open.and_then(|(_, start, shown)| (!shown).then_some((start, u32::MAX))));
        fences.retain(|(start, end)| deeds.iter().any(|line| (start..=end).contains(&line)));
        Self(fences)
    }

    /// Whether a finding is about such a command.
    pub(super) fn hold(&self, line: u32) -> bool {
        let at = self.0.partition_point(|(start, _)| *start <= line);
        at.checked_sub(1).and_then(|at| self.0.get(at)).is_some_and(|(_, end)| line <= *end)
    }
}

/// Whether a rule is about what a command does, not about words.
pub(super) fn is_deed(rule: &str) -> bool {
    DEEDS.contains(&rule)
}

fn is_about_attacks(heading: &str) -> bool {
    let lower = heading.to_lowercase();
    says_bad(heading)
        || ["threat", "exfiltration", "injection", "malware", "reverse shell"]
            .iter()
            .any(|word| lower.contains(word))
}

/// Whether the last lines above a fence say that it shows something bad.
pub(super) fn is_bad_example(above: &str) -> bool {
    let lines: Vec<&str> =
        above.lines().rev().skip(1).filter(|l| !l.trim().is_empty()).take(2).collect();
    says_bad(&lines.join(" "))
}

/// Whether a label says that what it stands above is something bad.
fn says_bad(label: &str) -> bool {
    let words = [
        "bad",
        "never",
        "don't",
        "do not",
        "avoid",
        "vulnerable",
        "malicious",
        "attack",
        "attacker",
        "insecure",
        "wrong",
        "dangerous",
        "unsafe",
        "exploit",
        "payload",
        "detect",
        "\u{274c}",
        "red flag",
        "anti-pattern",
        "suspicious",
        "looks like",
        "forbidden",
    ];
    let text = label.to_lowercase();
    // Whole words, or their plural: a badge is not bad.
    let is_whole = |at: usize, word: &str| {
        let ends = |side: Option<char>| !side.is_some_and(char::is_alphanumeric);
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + word.len()..).unwrap_or_default();
        ends(before) && ends(after.strip_prefix('s').unwrap_or(after).chars().next())
    };
    words.iter().any(|word| text.match_indices(word).any(|(at, _)| is_whole(at, word)))
}

/// Whether a skill says of itself that it is about attacks: it teaches, scans or tests for them.
pub(super) fn is_defensive(content: &[u8]) -> bool {
    let text = String::from_utf8_lossy(content);
    let head: String = text.chars().take(1500).collect::<String>().to_lowercase();
    let words = [
        "security audit",
        "security scan",
        "vulnerabilit",
        "malware",
        "penetration",
        "pentest",
        "threat",
        "red team",
        "red-team",
        "prompt injection",
        "exploit",
        "security review",
        "hardening",
        "incident response",
        "forensic",
        "supply chain attack",
        "skill audit",
        "skill scanner",
        "secure code",
        "security best practices",
        "detects",
        "security analysis",
        "bug bounty",
        "ctf",
        "attack surface",
        "guardrail",
        "intrusion",
        "security tool",
        "security check",
        "security skill",
        "skill-auditor",
        "security-audit",
        "ransomware",
        "phishing",
        "red flag",
        "incident runbook",
    ];
    let starts_word = |at: usize| {
        !head
            .get(..at)
            .and_then(|before| before.chars().next_back())
            .is_some_and(char::is_alphanumeric)
    };
    words.iter().any(|word| head.match_indices(word).any(|(at, _)| starts_word(at)))
}

/// Files that hold samples for tests.
pub(super) fn is_sample(path: &str) -> bool {
    let lower = format!("/{}", path.to_ascii_lowercase());
    // Test programs load these on their own, whatever the tests are.
    if ["/conftest.py", "/package.json", "/setup.py"].iter().any(|name| lower.ends_with(name)) {
        return false;
    }
    [
        "/tests/",
        "/test/",
        "/fixtures/",
        "/testdata/",
        "/__tests__/",
        "/test_",
        "_test.",
        ".test.",
        ".spec.",
    ]
    .iter()
    .any(|part| lower.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_a_whole_word() {
        for label in
            ["Bad:", "Attacks look like this", "❌ so", "Never do this:", "Malicious payload"]
        {
            assert!(says_bad(label), "{label}");
        }
        for label in ["Run this block:", "Start the blockchain node:", "Badges", "Attackless"] {
            assert!(!says_bad(label), "{label}");
        }
    }

    #[test]
    fn only_a_labelled_command_is_an_exhibit() {
        let text = "# Audit\n\nRun:\n\n```sh\ncurl x | sh\n```\n\nThis is malicious:\n\n```sh\ncurl y | sh\n```\n\n## Attack patterns\n\nOne:\n\n```\nnc -e sh\n```\n\n## Use\n\n~~~\n# exploit\ncurl z | sh\n";
        let deeds = [6, 12, 20, 27];
        let commands = Commands::of(text, true, &deeds);
        let held: Vec<u32> = [3, 6, 12, 20, 27].into_iter().filter(|l| commands.hold(*l)).collect();
        assert_eq!(held, [6]);
        let quoted = Commands::of(text, true, &[]);
        assert!(!quoted.hold(6), "what the parser does not see run");
    }
}
