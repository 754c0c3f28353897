//! Bodies of skills that do not all fit: as many as there is room for, and the others by name.

use foreword::{Blueprint, Context};
use serde_json::json;

fn context(window: u64) -> Context {
    let body = |words: usize| "word ".repeat(words);
    Context::from_value(json!({
        "contextWindow": window, "outputReserve": 0, "task": "go",
        "skills": [
            { "name": "first", "description": "One.", "body": body(300) },
            { "name": "huge", "description": "Two.", "body": body(9000) },
            { "name": "last", "description": "Three.", "body": body(200) },
        ],
    }))
    .unwrap()
}

#[test]
fn each_body_that_fits_is_there_and_the_rest_is_named() {
    let standard = Blueprint::builtin("standard").unwrap();
    let roomy = standard.build(&context(200_000));
    assert!(roomy.manifest().filtered.is_empty());
    let whole = standard.build(&context(200_000)).metadata().estimated_tokens;
    let tight = standard.build(&context(u64::from(whole) - 8000));
    let manifest = tight.manifest();
    let text = tight.text();
    assert!(text.contains("Skill: first\n") && text.contains("Skill: last\n"), "{text}");
    assert!(!text.contains("Skill: huge\n"));
    assert!(text.contains("- huge: Two."), "it stays in the index");
    let left_out: Vec<_> =
        manifest.filtered.iter().map(|note| (note.kind.as_str(), note.id.as_str())).collect();
    assert_eq!(left_out, [("skill", "huge")]);
    assert!(manifest.omitted.is_empty(), "{:?}", manifest.omitted);
    assert!(tight.metadata().estimated_tokens <= whole - 8000);
    assert!(!tight.metadata().over_budget);
}

#[test]
fn where_no_body_fits_every_one_of_them_is_named() {
    let standard = Blueprint::builtin("standard").unwrap();
    let whole = standard.build(&context(200_000)).metadata().estimated_tokens;
    let none = standard.build(&context(u64::from(whole) - 9800));
    let manifest = none.manifest();
    assert!(!none.text().contains("## Skills for This Turn"));
    let names: Vec<_> = manifest.filtered.iter().map(|note| note.id.as_str()).collect();
    assert_eq!(names, ["first", "huge", "last"]);
    assert_eq!(manifest.omitted[0].module, "selection");
}
