//! Tests of [`diff`](super::diff), beside it because they are longer than it has room for.

use proptest::prelude::*;

use super::*;
use crate::Blueprint;
use crate::Context;

fn prompt(json: &str) -> Prompt {
    Blueprint::builtin("companion").unwrap().build(&Context::from_json(json).unwrap())
}

fn built(json: &str) -> Side {
    Side::of(&prompt(json))
}

/// A side of these sections, counted with the estimate.
fn side(sections: &[(&str, &str)]) -> Side {
    let mut content = String::new();
    let mut parts = Vec::new();
    for (module, text) in sections {
        if !content.is_empty() {
            content.push_str("\n\n");
        }
        let start = content.len();
        content.push_str(text);
        parts.push(Part {
            module: (*module).to_owned(),
            tokens: estimate(text),
            range: [start, content.len()],
        });
    }
    Side { tokens: estimate(&content), content, sections: parts }
}

fn kinds(difference: &Difference) -> Vec<(&str, ChangeKind)> {
    difference.changes.iter().map(|change| (change.module.as_str(), change.kind)).collect()
}

#[test]
fn identical() {
    let a = built(r#"{"identityFiles": {"agent": "You are Pickle."}}"#);
    let difference = diff(&a, &a);
    assert_eq!(
        difference,
        Difference {
            identical: true,
            first_byte: None,
            line: None,
            section: None,
            kept_bytes: a.content.len(),
            billed_again_tokens: 0,
            tokens_before: a.tokens,
            tokens_after: a.tokens,
            excerpt_before: None,
            excerpt_after: None,
            changes: Vec::new(),
        }
    );
}

#[test]
fn a_prefix() {
    let a = side(&[("identity", "You are Pickle.")]);
    let b = side(&[("identity", "You are Pickle."), ("soul", "Be kind.")]);
    let grown = diff(&a, &b);
    assert_eq!((grown.first_byte, grown.kept_bytes, grown.line), (Some(15), 15, Some(1)));
    assert_eq!(grown.section.as_deref(), Some("soul"));
    assert_eq!(grown.billed_again_tokens, estimate("Be kind."));
    assert_eq!(kinds(&grown), [("soul", ChangeKind::Added)]);

    let shrunk = diff(&b, &a);
    assert_eq!((shrunk.first_byte, shrunk.billed_again_tokens), (Some(15), 0));
    assert_eq!(shrunk.section.as_deref(), Some("soul"));
    assert_eq!(kinds(&shrunk), [("soul", ChangeKind::Removed)]);
    assert_eq!(shrunk.excerpt_before.as_deref(), Some("You are Pickle.\\n\\nBe kind."));
    assert_eq!(shrunk.excerpt_after.as_deref(), Some("You are Pickle."));
}

#[test]
fn a_change_in_the_middle() {
    let before = r#"{"identityFiles": {"agent": "You are Pickle.", "soul": "Be kind.\nBe brief."}, "model": "m"}"#;
    let (a, b) = (built(before), built(&before.replace("brief", "brisk")));
    let difference = diff(&a, &b);
    let at = a.content.find("ef.").unwrap();
    assert_eq!(difference.first_byte, Some(at));
    assert_eq!(difference.section.as_deref(), Some("soul"));
    let lines = a.content.get(..at).unwrap().lines().count();
    assert_eq!(difference.line, Some(u32::try_from(lines).unwrap()));
    assert_eq!(kinds(&difference), [("soul", ChangeKind::Changed)]);
    let runtime = b.sections.last().unwrap().tokens;
    assert!(difference.billed_again_tokens > runtime);
    assert!(difference.billed_again_tokens < difference.tokens_after);
    let excerpt = difference.excerpt_after.unwrap();
    assert!(excerpt.contains("Be kind.\\nBe brisk.\\n\\n"), "{excerpt}");
    assert!(excerpt.starts_with('…') && excerpt.ends_with('…'), "{excerpt}");
    assert!(difference.excerpt_before.unwrap().contains("Be brief."));
}

#[test]
fn a_change_in_the_first_byte_bills_everything() {
    let (a, b) = (side(&[("x", "one"), ("y", "two")]), side(&[("x", "One"), ("y", "two")]));
    let difference = diff(&a, &b);
    assert_eq!((difference.first_byte, difference.kept_bytes), (Some(0), 0));
    assert_eq!(difference.billed_again_tokens, difference.tokens_after);
}

#[test]
fn sections_that_come_go_and_move() {
    let a = side(&[("one", "# 1"), ("two", "# 2"), ("three", "# 3"), ("four", "# 4")]);
    let without = side(&[("one", "# 1"), ("three", "# 3"), ("four", "# 4")]);
    let removed = diff(&a, &without);
    assert_eq!(kinds(&removed), [("two", ChangeKind::Removed)]);
    assert_eq!(removed.section.as_deref(), Some("two"));
    let change = &removed.changes[0];
    assert_eq!((change.tokens_before, change.tokens_after), (estimate("# 2"), 0));

    let added = diff(&without, &a);
    assert_eq!(kinds(&added), [("two", ChangeKind::Added)]);
    assert_eq!(added.section.as_deref(), Some("two"));

    let turned = side(&[("four", "# 4"), ("one", "# 1"), ("two", "# 2"), ("three", "# 3")]);
    let moved = diff(&a, &turned);
    assert_eq!(kinds(&moved), [("four", ChangeKind::Moved)]);
    assert_eq!(moved.section.as_deref(), Some("four"));
}

#[test]
fn a_section_that_lost_its_end_is_the_cause() {
    let long = side(&[("one", "first words"), ("two", "second")]);
    let short = side(&[("one", "first"), ("two", "second")]);
    assert_eq!(diff(&long, &short).section.as_deref(), Some("one"));
    assert_eq!(diff(&short, &long).section.as_deref(), Some("one"));
}

#[test]
fn the_first_difference_is_on_a_character() {
    let (a, b) = (side(&[("x", "naïve é")]), side(&[("x", "naïve è")]));
    let difference = diff(&a, &b);
    assert_eq!(difference.first_byte, Some("naïve ".len()));
    assert_eq!(difference.excerpt_before.as_deref(), Some("naïve é"));
}

#[test]
fn a_saved_build_is_the_live_one() {
    let live = prompt(
        r#"{"identityFiles": {"agent": "You are Pickle — née Gurke.", "soul": "Be kind."}, "channel": "slack"}"#,
    );
    for manifest in [live.manifest(), live.manifest_with_digests()] {
        let json = serde_json::to_string_pretty(&manifest).unwrap();
        let saved = Side::from_saved(&json).unwrap();
        assert_eq!(saved, Side::of(&live));
        assert!(diff(&saved, &Side::of(&live)).identical);
        assert_eq!(saved.content(), live.text());
    }
}

#[test]
fn other_files_are_refused_and_say_why() {
    let why = |json: &str| Side::from_saved(json).unwrap_err().to_string();
    assert!(why("name = 'x'").starts_with("not JSON: "));
    assert!(why("").starts_with("not JSON: "));
    assert!(why("[1, 2]").starts_with("not a saved build: "));
    let context = why(r#"{"identityFiles": {"agent": "You are Pickle."}}"#);
    assert!(context.contains("missing field `content`"), "{context}");
    assert!(context.contains("create one with `foreword build --json`"), "{context}");
    let with = |range: &str| {
        why(&format!(
            r#"{{"content": "né", "metadata": {{"estimatedTokens": 1}},
                "sections": [{{"module": "identity", "tokens": 1, "range": {range}}}]}}"#
        ))
    };
    for range in ["[0, 9]", "[2, 1]", "[0, 2]"] {
        assert!(with(range).contains("section `identity` has the range"), "{range}");
    }
    assert!(with("[0]").starts_with("not a saved build: "));

    let live = prompt(r#"{"identityFiles": {"agent": "You are Pickle."}}"#);
    let json = serde_json::to_string(&live.manifest_with_digests()).unwrap();
    let altered = json.replace("Pickle", "Gurken");
    assert!(matches!(Side::from_saved(&altered), Err(DiffError::Altered)));
}

#[test]
fn it_prints_as_plain_json() {
    let difference = diff(&side(&[("x", "one")]), &side(&[("x", "one two")]));
    let json = serde_json::to_value(&difference).unwrap();
    assert_eq!(json["firstByte"], 3);
    assert_eq!(json["billedAgainTokens"], difference.billed_again_tokens);
    assert_eq!(json["changes"][0]["kind"], "changed");
    assert_eq!(json["excerptAfter"], "one two");
}

#[test]
fn hidden_characters_show_in_an_excerpt() {
    let difference = diff(&side(&[("x", "a\tb")]), &side(&[("x", "a\t\u{202e}b")]));
    assert_eq!(difference.excerpt_after.as_deref(), Some("a\\t\\u{202e}b"));
}

proptest! {
    #[test]
    fn both_sides_agree_up_to_the_first_difference(
        a in prop::collection::vec("[a-cé語\n]{0,8}", 0..6),
        b in prop::collection::vec("[a-cé語\n]{0,8}", 0..6),
    ) {
        let names = ["one", "two", "three", "four", "five", "six"];
        let sides = [a, b].map(|texts| {
            let sections: Vec<_> = names.into_iter().zip(texts.iter().map(String::as_str)).collect();
            side(&sections)
        });
        let [a, b] = &sides;
        let difference = diff(a, b);
        let at = difference.kept_bytes;
        prop_assert_eq!(difference.identical, a.content == b.content);
        prop_assert_eq!(a.content.get(..at), b.content.get(..at));
        prop_assert!(a.content.get(..at).is_some());
        prop_assert!(difference.billed_again_tokens <= difference.tokens_after);
        if !difference.identical {
            let next = |side: &Side| side.content.get(at..).and_then(|rest| rest.chars().next());
            prop_assert!(next(a) != next(b));
        }
        if a.content == b.content && a.sections == b.sections {
            prop_assert!(difference.changes.is_empty());
        }
    }
}
