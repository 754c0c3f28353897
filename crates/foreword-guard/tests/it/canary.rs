//! A canary is found in every form, wherever it stands; other text is left alone.

use crate::forms::{canary, forms, prose};
use foreword_guard::{Canary, Detector, Encoding, MAX_LEAK_GAP, Spelling};
use proptest::prelude::*;

#[test]
fn every_form_is_found_and_named() {
    for seed in 0..8u8 {
        let canary = Canary::from_random(std::array::from_fn(|at| {
            (seed + 1).wrapping_mul(37).wrapping_add(u8::try_from(at).unwrap().wrapping_mul(101))
        }));
        let other = Canary::from_random([seed; 16]);
        let detector = Detector::new(&[other, canary.clone()]);
        for offset in 0..4 {
            for form in forms(&canary, offset) {
                let leak = detector.find(&form.text).unwrap_or_else(|| panic!("{form:?}"));
                assert_eq!(leak.canary, 1, "{form:?}");
                if !form.name.starts_with("reversed") {
                    assert_eq!(leak.form.spelling, form.spelling, "{form:?} {leak:?}");
                }
                let escapes =
                    (form.encoding, leak.form.encoding) == (Encoding::Hex, Encoding::Escaped);
                assert!(leak.form.encoding == form.encoding || escapes, "{form:?} {leak:?}");
            }
        }
    }
}

/// Found by an attack: `- f`, a line break and `- w` in a command were `- f\\n- w` in the arguments of its tool.
#[test]
fn every_form_is_found_in_the_strings_of_json() {
    let canary = Canary::from_random(*b"fedcba9876543210");
    let detector = Detector::new(std::slice::from_ref(&canary));
    for form in forms(&canary, 0) {
        let command = format!("echo '{}' > \"out.txt\"", form.text);
        let args = serde_json::json!({"timeout": 9, "command": command, "why": ["none"]});
        assert!(detector.find_in_json(&args.to_string()).is_some(), "{form:?}");
    }
    let halves = serde_json::json!({"a\n": canary.as_str()[..12], "b": "\n"});
    assert_eq!(detector.find_in_json(&halves.to_string()), None);
}

#[test]
fn fifteen_characters_are_no_leak_and_sixteen_are() {
    let canary = Canary::from_random(*b"0123456789abcdef");
    let detector = Detector::new(std::slice::from_ref(&canary));
    for from in 0..=canary.as_str().len() - 16 {
        let part = &canary.as_str()[from..from + 16];
        assert_eq!(detector.find(&part[1..]), None);
        let leak = detector.find(&format!("漢字: {part}!")).unwrap();
        assert_eq!((leak.start, leak.form.spelling), (8, Spelling::Forward));
    }
}

#[test]
fn a_gap_has_an_end() {
    let canary = Canary::from_random(*b"0123456789abcdef");
    let detector = Detector::new(std::slice::from_ref(&canary));
    let with = |gap: usize| {
        canary.as_str().chars().flat_map(|c| [String::from(c), " ".repeat(gap)]).collect::<String>()
    };
    assert!(detector.find(&with(MAX_LEAK_GAP)).is_some());
    assert_eq!(detector.find(&with(MAX_LEAK_GAP + 1)), None);
}

#[test]
fn without_canaries_nothing_is_found() {
    let canary = Canary::from_random([3; 16]);
    assert_eq!(Detector::new(&[]).find(canary.as_str()), None);
    let other = Detector::new(&[Canary::from_random([4; 16])]);
    assert_eq!(other.find(canary.as_str()), None);
}

#[test]
fn a_leak_does_not_leak() {
    let canary = Canary::from_random(*b"0123456789abcdef");
    let leak = Detector::new(std::slice::from_ref(&canary)).find(canary.as_str()).unwrap();
    let said = format!("{leak} {leak:?} {canary:?}");
    assert!(!said.contains(&canary.as_str()[3..8]), "{said}");
    assert!(said.contains("as letters"), "{said}");
}

/// A long text takes time in proportion to its length: ten times the text, not a hundred times the
/// work. Counted in time, with much room.
#[test]
fn long_texts_are_read_in_linear_time() {
    let canary = Canary::from_random(*b"0123456789abcdef");
    let detector = Detector::new(std::slice::from_ref(&canary));
    let nearly = format!("{} ", &canary.as_str()[..15]);
    let text = nearly.repeat(200_000);
    let start = std::time::Instant::now();
    assert_eq!(detector.find(&text), None);
    let took = start.elapsed();
    assert!(took.as_secs() < 20, "{} bytes took {took:?}", text.len());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn every_form_is_found_in_any_text(
        canary in canary(),
        before in prose(),
        after in prose(),
        offset in 0..4usize,
        pick in any::<prop::sample::Index>(),
    ) {
        let detector = Detector::new(std::slice::from_ref(&canary));
        let forms = forms(&canary, offset);
        for form in forms.iter().skip(pick.index(17)).step_by(17) {
            let text = format!("{before} {} {after}", form.text);
            prop_assert!(detector.find(&text).is_some(), "{:?} in {:?}", form, text);
        }
    }

    #[test]
    fn other_text_is_left_alone(canary in canary(), text in prose(), other in any::<String>()) {
        let detector = Detector::new(std::slice::from_ref(&canary));
        prop_assert_eq!(detector.find(&text), None);
        prop_assert_eq!(detector.find(&other), None);
    }
}
