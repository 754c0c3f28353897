//! Every text in a Context is in the prompt, or the manifest says that it is not.

use foreword::{Blueprint, Context, OmissionCause, Prompt};
use serde_json::{Value, json};

const MARK: &str = "Zanzibar";

/// Each place for text, with the name the manifest would give it.
fn places() -> Vec<(&'static str, Value)> {
    let file = |name: &str| json!({"identityFiles": {name: MARK}});
    vec![
        ("task", json!({"task": MARK})),
        ("skills", json!({"skills": [{"name": MARK, "description": "d", "body": "b"}]})),
        ("tools", json!({"tools": [MARK]})),
        ("memories", json!({"memories": [MARK]})),
        ("activity", json!({"activity": [MARK]})),
        ("capabilities", json!({"capabilities": [MARK]})),
        ("contextContent", json!({"contextContent": MARK})),
        ("persona", json!({"persona": MARK})),
        ("base", json!({"base": MARK})),
        ("constitution", json!({"constitution": MARK})),
        ("rules", json!({"rules": MARK})),
        ("identityFiles.agent", file("agent")),
        ("identityFiles.agent", file("agents")),
        ("identityFiles.soul", file("soul")),
        ("identityFiles.identity", file("identity")),
        ("identityFiles.user", file("user")),
        ("identityFiles.tools", file("tools")),
        ("identityFiles.heartbeat", file("heartbeat")),
        ("runtimeContext", json!({"runtimeContext": {"mode": "sub-agent", "objective": MARK}})),
    ]
}

/// The sections that show a text and may be left out as a whole.
fn sections_of(place: &str) -> &'static [&'static str] {
    match place {
        "contextContent" => &["context"],
        "skills" => &["skills"],
        "identityFiles.heartbeat" => &["heartbeat"],
        _ => &[],
    }
}

/// Is the text shown, named as filtered, or part of a section that the manifest lists as omitted? That
/// some other section is omitted does not count.
fn is_accounted_for(prompt: &Prompt, place: &str) -> bool {
    prompt.text().contains(MARK)
        || prompt.filtered().iter().any(|filtered| filtered.id == place)
        || prompt.omitted().iter().any(|omitted| sections_of(place).contains(&&*omitted.module))
}

fn check(blueprint: &Blueprint, place: &str, json: &Value) -> Prompt {
    let prompt = blueprint.build(&Context::from_json(&json.to_string()).unwrap());
    assert!(
        is_accounted_for(&prompt, place),
        "{}: {place} is in neither prompt nor manifest: {:?}, {:?}",
        blueprint.name(),
        prompt.filtered(),
        prompt.omitted()
    );
    prompt
}

#[test]
fn every_text_is_shown_or_named() {
    for blueprint in Blueprint::builtin_names().filter_map(Blueprint::builtin) {
        for (place, json) in places() {
            let prompt = check(&blueprint, place, &json);
            assert_eq!(prompt.omitted(), [], "{}: {place}", blueprint.name());
        }
    }
}

#[test]
fn also_when_the_bootstrap_text_takes_the_place_of_the_identity() {
    for blueprint in Blueprint::builtin_names().filter_map(Blueprint::builtin) {
        for (place, mut json) in places() {
            if place == "identityFiles.soul" {
                continue;
            }
            let files = json.as_object_mut().unwrap().entry("identityFiles").or_insert(json!({}));
            files["bootstrap"] = json!("Find out who you are.");
            let prompt = check(&blueprint, place, &json);
            assert!(prompt.omitted().iter().all(|o| o.cause == OmissionCause::Bootstrap));
        }
    }
}

#[test]
fn the_omission_of_another_section_is_no_excuse() {
    let blueprint = Blueprint::builtin("guarded").unwrap();
    let json = json!({"contextContent": "x", "identityFiles": {"bootstrap": "Find out."}});
    let prompt = blueprint.build(&Context::from_json(&json.to_string()).unwrap());
    assert!(prompt.omitted().iter().any(|omitted| omitted.module == "context"));
    assert!(is_accounted_for(&prompt, "contextContent"));
    for (place, _) in places().into_iter().filter(|(place, _)| *place != "contextContent") {
        assert!(!is_accounted_for(&prompt, place), "{place}");
    }
}

#[test]
fn skills_that_nobody_approved_are_reference() {
    let skill = |status: &str| json!({"name": "s", "body": "b", "provenance": status});
    for blueprint in ["guarded", "companion"] {
        let blueprint = Blueprint::builtin(blueprint).unwrap();
        let authority = |skills: Value| {
            let context = Context::from_json(&json!({"skills": skills}).to_string()).unwrap();
            let prompt = blueprint.build(&context);
            let manifest = prompt.manifest();
            manifest.sections.iter().find(|s| s.module == "skills").unwrap().authority.as_str()
        };
        assert_eq!(authority(json!([skill("unapproved")])), "reference");
        assert_eq!(authority(json!([skill("approved"), skill("unapproved")])), "skill");
        assert_eq!(authority(json!([skill("local")])), "skill");
    }
}

/// A prompt that leaks is noticed from the first session on.
#[test]
fn the_canary_stays_in_bootstrap_mode() {
    let json = json!({"canary": "fwc0123", "identityFiles": {"bootstrap": "Find out."}});
    let context = Context::from_json(&json.to_string()).unwrap();
    for blueprint in Blueprint::builtin_names().filter_map(Blueprint::builtin) {
        let prompt = blueprint.build(&context);
        assert!(prompt.text().contains("fwc0123"), "{}", blueprint.name());
    }
}

/// An identity that had to shrink says which files it left out, and keeps a short form of the soul.
#[test]
fn a_shrunken_identity_names_what_it_left_out() {
    let soul = format!("# Calm\n\nCalm and exact.\n\n{}", "Patient in all things.\n\n".repeat(80));
    let files = json!({"agent": "You are Alder.", "soul": soul, "identity": "Made of wood.",
                       "user": "Ada likes brevity."});
    for blueprint in ["guarded", "standard"] {
        let blueprint = Blueprint::builtin(blueprint).unwrap();
        let build = |limit: u32| {
            let json = json!({"identityFiles": files, "maxPromptTokens": limit});
            blueprint.build(&Context::from_json(&json.to_string()).unwrap())
        };
        let named = |prompt: &Prompt| -> Vec<String> {
            let files = prompt.filtered().iter().filter(|filtered| filtered.kind == "file");
            files.map(|filtered| filtered.id.clone()).collect()
        };
        let (short, full) = (build(1), build(100_000));
        assert!(named(&full).is_empty(), "{:?}", full.filtered());
        let left_out = named(&short);
        for file in ["IDENTITY.md", "USER.md"] {
            assert!(left_out.iter().any(|name| name == file), "{left_out:?}");
        }
        let text = short.text();
        assert!(text.contains("Calm and exact.") && text.contains("You are Alder."), "{text}");
        assert!(!text.contains("Made of wood.") && !text.contains("Ada likes"), "{text}");
        let soul = short.filtered().iter().find(|filtered| filtered.id.contains("SOUL.md"));
        assert!(soul.is_some(), "the cut is named: {:?}", short.filtered());
    }
}
