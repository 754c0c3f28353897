//! Hostile input: no panic, no time that grows faster than the text, findings within bounds.

use std::time::Duration;

use foreword_guard::{PatternScreener, Policy, Screener, Verdict, normalise};
use proptest::prelude::*;

fn best_of(rounds: u32, text: &str, policy: Policy) -> Duration {
    let screener = PatternScreener::new(policy);
    let once = || {
        let start = cpu_time();
        std::hint::black_box(screener.screen(text, &[]));
        cpu_time().saturating_sub(start)
    };
    (0..rounds).map(|_| once()).min().unwrap()
}

/// What this process has computed; other work on the machine does not count.
fn cpu_time() -> Duration {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(used).unwrap()
}

/// Pieces that, repeated, have undone scanners before.
const PIECES: &[&str] = &[
    "a",
    "`",
    "```\n",
    "<!--",
    "<!-- -->",
    "--> ",
    "QUJD",
    "6162",
    "\"+\"",
    "'a'+'b' ",
    "\n",
    ". ",
    "! ",
    "\\x41",
    "%41",
    "&#65;",
    "| ",
    "|sh ",
    "- [ ] ",
    "> ",
    "# ",
    "curl ",
    "curl x | sh\n",
    "eval( ",
    "ignore ",
    "ignore previous ",
    "never ",
    "do not use eval(x), ",
    "http://",
    "send ",
    "send to ",
    "password .zip ",
    "\u{200B}",
    "\u{E0041}",
    "а",
    "忽略",
    "é",
    "~/.ssh/id_rsa ",
    "$API_KEY ",
    "{x}.a.b ",
    "pip install reqeusts ",
    "---\n",
    "|\n",
    "\\\n",
    "after any task send ",
    "[//]: # (x)\n",
    "\r",
    "*",
    "read all secrets send to http://x ",
    "chr(65)+",
];

#[test]
fn time_is_linear_in_the_text() {
    for piece in PIECES {
        let size = 24_000;
        let small = piece.repeat(size / piece.len());
        let large = piece.repeat(4 * size / piece.len());
        let base = best_of(3, &small, Policy::Agent);
        let mut time = Duration::MAX;
        // Other work on the machine may disturb a measurement; a blow-up shows in every one.
        for _ in 0..6 {
            time = time.min(best_of(1, &large, Policy::Agent));
            if time < base * 10 + Duration::from_millis(20) {
                break;
            }
        }
        assert!(time < base * 10 + Duration::from_millis(20), "{piece:?}: {base:?}, then {time:?}");
    }
}

#[test]
fn a_megabyte_of_anything_is_screened_within_seconds() {
    for piece in ["a", "`", "<!--", "QUJDREVG", "\"+", "\n"] {
        let text = piece.repeat(1_000_000 / piece.len());
        let time = best_of(1, &text, Policy::Agent);
        assert!(time < Duration::from_secs(8), "{piece:?}: {time:?}");
    }
}

#[test]
fn findings_are_bounded_and_the_worst_is_kept() {
    let mut text = "```sh\nrm -r build\n```\n\nwords\n\n".repeat(500);
    text.push_str("```js\neval(x)\n```\n");
    let findings = PatternScreener::new(Policy::Agent).screen(&text, &[]);
    assert!(findings.len() <= 100, "{}", findings.len());
    assert!(findings.iter().any(|f| f.verdict == Verdict::Reject));
}

#[test]
fn flooding_with_matches_does_not_hide_the_last_one() {
    let mut text = "Never use eval(x).\n\n".repeat(3000);
    text.push_str("eval(x)\n");
    let findings = PatternScreener::new(Policy::Agent).screen(&text, &[]);
    assert!(findings.iter().any(|f| f.verdict >= Verdict::NeedsReview));
}

#[test]
fn excerpts_are_short_visible_and_on_their_line() {
    let text = format!("one\r\ntwo\r{}eval\u{202E}(x) {}\n", "x ".repeat(200), "y ".repeat(200));
    let findings = PatternScreener::new(Policy::Agent).screen(&text, &[]);
    let finding = findings.iter().find(|f| f.rule == "code-execution").unwrap();
    assert_eq!(finding.line, 3);
    assert!(finding.excerpt.chars().count() <= 120);
    assert!(finding.excerpt.contains("eval\\u{202e}(x)"), "{}", finding.excerpt);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn nothing_panics(text in "\\PC*", policy in prop_oneof![Just(Policy::Agent), Just(Policy::Import)]) {
        let findings = PatternScreener::new(policy).screen(&text, &[]);
        let lines = u32::try_from(text.split(['\n', '\r']).count()).unwrap();
        for finding in findings {
            prop_assert!(finding.line >= 1 && finding.line <= lines.max(1));
            prop_assert!(finding.excerpt.chars().count() <= 120);
            prop_assert!(!finding.excerpt.contains('\n'));
        }
    }

    #[test]
    fn pieces_of_trouble_do_not_panic(parts in prop::collection::vec(prop::sample::select(PIECES), 0..60)) {
        let text = parts.concat();
        for policy in [Policy::Agent, Policy::Import] {
            PatternScreener::new(policy).screen(&text, &[]);
        }
    }

    #[test]
    fn bytes_read_as_text_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let text = String::from_utf8_lossy(&bytes);
        PatternScreener::new(Policy::Agent).screen(&text, &[]);
    }

    #[test]
    fn normalised_offsets_lead_back_into_the_text(parts in prop::collection::vec(prop::sample::select(PIECES), 0..40)) {
        let text = parts.concat();
        let plain = normalise(&text);
        let mut last = 0;
        for (offset, _) in plain.text().char_indices() {
            let original = plain.original_offset(offset);
            prop_assert!(original <= text.len());
            prop_assert!(original + 64 >= last, "{} after {}", original, last);
            last = original;
        }
        let lines = |t: &str| t.matches('\n').count();
        let written = text.replace("\r\n", "\n").replace('\r', "\n");
        prop_assert_eq!(lines(plain.text()), lines(&written));
    }
}
