//! What must hold for any text that enters or leaves a session.
//!
//! The coverage-guided targets in this directory and the harness that runs with the tests
//! (`crates/foreword-guard/tests/it/fuzz_smoke.rs`) share these functions.

use std::sync::LazyLock;

use foreword_guard::{
    Canary, Detector, MAX_LEAK_FORM, OutputGuard, Trust, external_content, redact_with, whole,
};

/// The canary of the session that every check is in; texts that are tried may hold it.
static CANARY: LazyLock<Canary> = LazyLock::new(|| Canary::from_random(*b"0123456789abcdef"));
static DETECTOR: LazyLock<Detector> =
    LazyLock::new(|| Detector::new(std::slice::from_ref(&CANARY)));
/// The host's own credential.
const GIVEN: [&str; 2] = ["hunter2-hunter2", "ключ-секрет"];

/// A canary is found in any text, in whatever form it stands there.
pub(crate) fn canary(text: &str) {
    let token = CANARY.as_str();
    let reversed: String = token.chars().rev().collect();
    let hex: String = token.bytes().map(|b| format!("{b:02X}:")).collect();
    let spaced: String = reversed.to_uppercase().chars().flat_map(|c| [c, ' ']).collect();
    let middle = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
    let (before, after) = text.split_at(middle);
    for form in [token, &reversed, &hex, &spaced] {
        let text = format!("{before} {form} {after}");
        let leak = DETECTOR.find(&text).expect("a canary was overlooked");
        assert!(text.is_char_boundary(leak.start), "{leak:?}");
        assert!(!leak.to_string().contains(&token[3..]), "the message leaks");
    }
}

/// However a text is cut, what is shown is the same, and never anything of a canary.
pub(crate) fn output_guard(text: &str) {
    let expected = whole(text, std::slice::from_ref(&CANARY), &GIVEN);
    for size in [1, 2, 7, 64] {
        let mut guard = OutputGuard::with_detector(&DETECTOR, &GIVEN);
        let mut shown = String::new();
        let chars: Vec<char> = text.chars().collect();
        let mut leak = None;
        for piece in chars.chunks(size) {
            match guard.push(&piece.iter().collect::<String>()) {
                Ok(more) => shown.push_str(&more),
                Err(found) => {
                    leak = Some(found);
                    break;
                }
            }
            assert!(guard.held_bytes() <= 4 * MAX_LEAK_FORM + 4_300, "too much is held back");
        }
        let finished = leak.map_or_else(|| guard.finish(), Err);
        match (finished, &expected) {
            (Ok(finished), Ok(expected)) => {
                assert_eq!(shown + &finished.text, expected.text, "in pieces of {size}");
                assert_eq!(finished.redactions, expected.redactions, "in pieces of {size}");
            }
            (Err(leak), Err(expected)) => {
                assert_eq!(leak, *expected, "in pieces of {size}");
                let before = redact_with(&text[..leak.start], &GIVEN).text;
                assert!(before.starts_with(&shown), "{shown:?} was shown of {text:?}");
            }
            (finished, expected) => panic!("{finished:?} is not {expected:?}"),
        }
    }
}

/// Nothing but secrets is replaced, each by its note.
pub(crate) fn secrets(text: &str) {
    let redacted = redact_with(text, &GIVEN);
    let mut rebuilt = String::new();
    let mut end = 0;
    for secret in &redacted.found {
        assert!(secret.range.start < secret.range.end, "an empty secret");
        rebuilt.push_str(text.get(end..secret.range.start).expect("secrets in order"));
        rebuilt.push_str(&format!("[redacted: {}]", secret.kind));
        end = secret.range.end;
    }
    rebuilt.push_str(text.get(end..).expect("secrets in the text"));
    assert_eq!(rebuilt, redacted.text);
    for given in GIVEN {
        assert!(!redacted.text.contains(given), "a credential was shown");
    }
}

/// No text gets out of its frame.
pub(crate) fn external_fence(text: &str) {
    let framed = external_content(text, Trust::External, text);
    let lines: Vec<&str> = framed.split('\n').collect();
    let [first, body @ .., last] = lines.as_slice() else { panic!("no frame: {framed}") };
    assert!(first.starts_with("<external_content source=\""), "{framed}");
    assert!(first.ends_with("\" trust=\"external\">"), "{framed}");
    assert_eq!(first.matches(['"', '<', '>']).count(), 6, "{framed}");
    assert_eq!(*last, "</external_content>");
    assert!(body.iter().all(|line| *line == ">" || line.starts_with("> ")), "{framed}");
    let seen: String = body.concat().to_lowercase().split([' ', '\t']).collect();
    let name: String = seen.split(['_', '-']).collect();
    assert!(!seen.contains("</") && !name.contains("<externalcontent"), "{framed}");
}
