use super::*;
use proptest::prelude::*;
use std::path::{Component, Path};

fn refused(given: &str) -> String {
    SkillName::new(given).unwrap_err().to_string()
}

#[test]
fn plain_names_are_fine() {
    for given in ["a", "7", "brew-tea", "a-1-b", "console", "git", "skill", "com10", "x0"] {
        assert_eq!(SkillName::new(given).unwrap().as_str(), given);
    }
    assert!(SkillName::new(&"a".repeat(64)).is_ok());
}

#[test]
fn every_danger_has_a_message_of_its_own() {
    for (given, message) in [
        ("", "the skill name is empty"),
        ("../x", "the name `../x` leaves the skills directory with `..`"),
        ("..", "the name `..` leaves the skills directory with `..`"),
        ("a\\..\\b", "the name `a\\..\\b` leaves the skills directory with `..`"),
        ("/etc/x", "the name `/etc/x` is an absolute path; a skill name is one plain word"),
        ("C:\\x", "the name `C:\\x` is an absolute path; a skill name is one plain word"),
        ("c:x", "the name `c:x` is an absolute path; a skill name is one plain word"),
        ("\\\\s\\x", "the name `\\\\s\\x` is an absolute path; a skill name is one plain word"),
        ("a/b", "the name `a/b` contains a path separator; a skill name is one plain word"),
        ("a\0b", "the name `a\\u{0}b` contains the control character U+0000"),
        ("a\nb", "the name `a\\u{a}b` contains the control character U+000A"),
        (".git", "the name `.git` is reserved by git"),
        (".GIT.", "the name `.GIT.` is reserved by git"),
        ("con", "the name `con` is a device name on Windows, with or without an extension"),
        ("NUL.md", "the name `NUL.md` is a device name on Windows, with or without an extension"),
        ("lpt1", "the name `lpt1` is a device name on Windows, with or without an extension"),
        ("tea.", "the name `tea.` ends in a dot or a space, which Windows drops"),
        ("tea ", "the name `tea ` ends in a dot or a space, which Windows drops"),
        (" tea", "the name ` tea` contains ` `: use lower-case letters, digits and hyphens"),
        ("Tea", "the name `Tea` is not in lower case: write `tea`"),
        ("a_b", "the name `a_b` contains `_`: use lower-case letters, digits and hyphens"),
        ("-a", "the name `-a` starts or ends with a hyphen"),
        ("a--b", "the name `a--b` has two hyphens in a row"),
        (
            "pаypal",
            "the name `pаypal` contains `а` (U+0430), which can look like another letter: \
             use a-z, 0-9 and hyphens",
        ),
    ] {
        assert_eq!(refused(given), message);
    }
    assert!(refused(&"a".repeat(65)).ends_with("…` is 65 characters long, more than 64"));
}

#[test]
fn a_long_or_hostile_name_stays_short_in_its_message() {
    assert!(refused(&"\u{1b}[2J".repeat(100_000)).len() < 800);
    assert!(!refused("\u{202e}evil").contains('\u{202e}'));
}

#[test]
fn the_format_allows_what_is_not_portable() {
    for name in ["tee-kännchen", "泡茶", "con", " tea ", "ﬁx"] {
        assert_eq!(name_faults(name), [], "{name}");
    }
    assert!(matches!(
        name_faults("Tea--")[..],
        [NameError::UpperCase { .. }, NameError::EdgeHyphen { .. }, NameError::DoubleHyphen { .. }]
    ));
    assert!(is_same_name("ﬁx ", "fix"));
    assert!(!is_same_name("fix", "fix "));
}

#[test]
fn a_suggested_name_is_one_that_the_format_allows() {
    for (given, expected) in [
        ("Tea_Order", "tea-order"),
        ("My  Tea!", "my-tea"),
        ("-Tea--", "tea"),
        ("TEE-Kännchen", "tee-kännchen"),
    ] {
        let faults = name_faults(given);
        let Some(NameError::UpperCase { suggestion, .. }) = faults.first() else {
            panic!("{given}: {faults:?}");
        };
        assert_eq!(suggestion, expected);
        assert_eq!(name_faults(suggestion), [], "{given}");
    }
}

#[test]
fn a_name_is_checked_when_it_is_deserialised() {
    assert!(serde_json::from_str::<SkillName>("\"tea\"").is_ok());
    let error = serde_json::from_str::<SkillName>("\"../tea\"").unwrap_err();
    assert!(error.to_string().contains("leaves the skills directory"), "{error}");
}

proptest! {
    #[test]
    fn an_accepted_name_is_one_plain_file_name(given in "(\\PC|[a-z0-9./\\\\:\0 -]|nul|com1|\\.git){0,12}") {
        if let Ok(name) = SkillName::new(&given) {
            prop_assert_eq!(name_faults(name.as_str()), []);
            let parts: Vec<_> = Path::new(name.as_str()).components().collect();
            prop_assert!(matches!(parts[..], [Component::Normal(_)]));
            prop_assert_eq!(name.as_str().to_ascii_lowercase(), name.as_str());
        }
    }
}

#[test]
fn an_error_stays_short_whatever_the_name_is_made_of() {
    for name in ["\u{11}".repeat(60), "\u{e0041}".repeat(500), "x".repeat(5000)] {
        let error = SkillName::new(&name).unwrap_err().to_string();
        assert!(error.chars().count() < 200, "{error}");
    }
}
