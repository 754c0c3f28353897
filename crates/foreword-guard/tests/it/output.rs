//! What the guard shows, however the text is cut into pieces.

use crate::forms::{canary, forms, prose};
use foreword_guard::{Canary, MAX_LEAK_FORM, OutputGuard, redact, redact_with, whole};
use proptest::prelude::*;

/// Cuts a text at the given places.
fn pieces(text: &str, cuts: &[prop::sample::Index]) -> Vec<String> {
    let mut places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    places.push(text.len());
    let mut at: Vec<usize> = cuts.iter().map(|cut| places[cut.index(places.len())]).collect();
    at.extend([0, text.len()]);
    at.sort_unstable();
    at.windows(2).map(|pair| text[pair[0]..pair[1]].to_owned()).collect()
}

fn cuts() -> impl Strategy<Value = Vec<prop::sample::Index>> {
    prop_oneof![
        prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        prop::collection::vec(any::<prop::sample::Index>(), 100..400),
    ]
}

/// Prose with secrets and starts of secrets in it.
fn secretive() -> impl Strategy<Value = String> {
    let key = "[A-Za-z0-9]{36}";
    let piece = prop_oneof![
        2 => prose(),
        2 => key,
        1 => "[A-Za-z0-9_-]{60,90}",
        4 => prop::sample::select(&[
            "sk-ant-api03-", "sk-", "ghp_", "AKIA", "eyJ", ".eyJ", "eyJhbGciOiJIUzI1NiJ9.eyJ", "SG.", "://", "://u:", "p4ss@h",
            "Authorization: ", "Bearer ", "aws_secret_access_key", " = ", "-----BEGIN RSA PRIVATE KEY-----", "\n", "\\n", "\n\n",
            "-----END RSA PRIVATE KEY-----", "-----END", "-----", "MIIEpAIBAAKCAQEA1234", "QyE5", "Proc-Type: 4\n", ";Password=", "ä", ".",
            "hunter2-hunter2", "hunter2", " ", "\"", "\\",
        ][..]).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

#[test]
fn an_answer_at_once() {
    let canary = Canary::from_random([9; 16]);
    let canaries = [canary.clone()];
    let finished = whole("The key is hunter2-hunter2.", &canaries, &["hunter2-hunter2"]).unwrap();
    assert_eq!(finished.text, "The key is [redacted: credential].");
    assert_eq!(finished.redactions.len(), 1);
    assert!(whole(&format!("It is {}.", canary.as_str()), &canaries, &[]).is_err());
}

#[test]
fn after_a_leak_nothing_more_is_said() {
    let canary = Canary::from_random([9; 16]);
    let mut guard = OutputGuard::new(std::slice::from_ref(&canary), &[]);
    let leak = guard.push(canary.as_str()).unwrap_err();
    assert_eq!(guard.push("and now for something else"), Err(leak));
    assert_eq!(guard.finish(), Err(leak));
}

#[test]
fn a_canary_that_goes_on_in_the_next_step_is_found() {
    let canary = Canary::from_random(*b"0123456789abcdef");
    let (first, rest) = canary.as_str().split_at(14);
    let mut guard = OutputGuard::new(std::slice::from_ref(&canary), &["hunter2-hunter2"]);
    let mut shown = guard.push(&format!("One: {first}")).unwrap();
    shown.push_str(&guard.end_step().unwrap().text);
    assert_eq!(shown, format!("One: {first}"));
    guard.push(rest).unwrap_err();
    guard.end_step().unwrap_err();

    // A step is a text of its own for everything else.
    let mut guard = OutputGuard::new(std::slice::from_ref(&canary), &["hunter2-hunter2"]);
    guard.push("abc").unwrap();
    guard.end_step().unwrap();
    let mut shown = guard.push("hunter2-hunter2 it is").unwrap();
    shown.push_str(&guard.end_step().unwrap().text);
    assert_eq!(shown, "[redacted: credential] it is");
}

#[test]
fn prose_is_shown_nearly_as_it_comes() {
    let mut guard = OutputGuard::new(&[Canary::from_random(*b"0123456789abcdef")], &[]);
    let text = "The deploy checklist has four steps: build, test, tag, and tell the others.\n";
    let (mut most, mut sum, mut count) = (0, 0, 0);
    for c in text.repeat(50).chars() {
        guard.push(&c.to_string()).unwrap();
        most = most.max(guard.held_bytes());
        sum += guard.held_bytes();
        count += 1;
    }
    assert!(most <= 80, "{most} bytes were held back");
    assert!(sum / count <= 32, "{} bytes were held back as a rule", sum / count);
}

#[test]
fn endless_text_takes_bounded_memory() {
    let canary = Canary::from_random(*b"0123456789abcdef");
    let nearly: String =
        canary.as_str()[..15].chars().flat_map(|c| [c.to_string(), "漢".repeat(64)]).collect();
    let starts = [
        "",
        "f",
        "0",
        "12",
        "%",
        "%6",
        "\\",
        "\\u{",
        "&#",
        "&",
        "Zn",
        "eyJ",
        "eyJhbGciOiJI.",
        "sk-ant-",
        "hunter2-",
        "Authorization: ",
        "Authorization: Bearer ",
        "-----BEGIN ",
        "-----BEGIN RSA PRIVATE KEY-----",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA1234",
        "://",
        "://u:",
        ";pwd=",
        &nearly,
    ];
    let pieces = [
        "f",
        " ",
        "0",
        "1",
        "\\",
        "漢",
        "\u{200b}",
        "é",
        "e\u{301}",
        "eyJ",
        "eyJ.",
        "A",
        "%",
        "&#",
        "\n",
        "> ",
        "-",
        ".",
        "-----BEGIN PRIVATE KEY-----\n",
        "MIIEpAIBAAKCAQEA1234\n",
        "://",
        "s",
        &nearly,
    ];
    for start in starts {
        for piece in pieces {
            let mut guard = OutputGuard::new(std::slice::from_ref(&canary), &["hunter2-hunter2"]);
            let piece = piece.repeat(64usize.div_ceil(piece.len()));
            guard.push(start).unwrap();
            let mut most = 0;
            for _ in 0..10_000 / piece.len() {
                // A piece may go on with what was nearly a canary.
                let Ok(_) = guard.push(&piece) else { break };
                most = most.max(guard.held_bytes());
            }
            let bound = 4 * MAX_LEAK_FORM + 4_300;
            assert!(most <= bound, "{start:?}, {piece:?}: {most} bytes were held back");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(96) })]

    #[test]
    fn nothing_of_a_canary_is_shown(
        canary in canary(),
        before in prose(),
        after in prose(),
        offset in 0..4usize,
        pick in any::<prop::sample::Index>(),
        cuts in cuts(),
    ) {
        prop_assume!(redact(&before).found.is_empty());
        let forms = forms(&canary, offset);
        for form in forms.iter().skip(pick.index(29)).step_by(29) {
            // Nothing that could be read as part of the form.
            let before = format!("{before}{}", "!".repeat(70));
            let text = format!("{before}{}{after}", form.text);
            let mut guard = OutputGuard::new(std::slice::from_ref(&canary), &[]);
            let mut shown = String::new();
            let mut leak = None;
            for piece in pieces(&text, &cuts) {
                match guard.push(&piece) {
                    Ok(more) => shown.push_str(&more),
                    Err(found) => {
                        leak = Some(found);
                        break;
                    }
                }
            }
            let leak = leak.or_else(|| guard.finish().err());
            prop_assert!(leak.is_some(), "{:?}", form);
            let harmless = &text[..before.len() + form.lead];
            prop_assert!(harmless.starts_with(&shown), "{:?} was shown as {:?}", form, shown);
            prop_assert!(leak.unwrap().start >= before.len());
        }
    }

    #[test]
    fn clean_text_comes_out_as_redacted_whole(text in secretive(), cuts in cuts(), canary in canary()) {
        let given = ["hunter2-hunter2"];
        let expected = redact_with(&text, &given);
        let mut guard = OutputGuard::new(&[canary], &given);
        let mut shown = String::new();
        for piece in pieces(&text, &cuts) {
            shown.push_str(&guard.push(&piece).unwrap());
        }
        let finished = guard.finish().unwrap();
        shown.push_str(&finished.text);
        prop_assert_eq!(shown, expected.text);
        prop_assert_eq!(&finished.redactions, &expected.found);
        let mut end = 0;
        for secret in &finished.redactions {
            prop_assert!(secret.range.start >= end && text.get(secret.range.clone()).is_some());
            end = secret.range.end;
        }
    }
}
