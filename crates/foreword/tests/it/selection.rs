//! A selection brings detail into the turn part and hides nothing: what was not selected stays in the
//! index by name, and the manifest tells what was chosen and why.

use foreword::{Blueprint, Context, Prompt};
use serde_json::{Value, json};

fn context(selection: &Value) -> Context {
    let context = json!({
        "task": "ship it",
        "tools": [
            {"name": "git", "description": "Commits and branches."},
            {"name": "deploy", "description": "Ships a release."},
            {"name": "audit", "description": "Reads the log.", "modes": ["review"]},
        ],
        "skills": [
            {"name": "release", "description": "How to release", "body": "Tag, then push."},
            {"name": "cooking", "description": "Recipes", "body": "Boil the water."},
        ],
        "selection": selection,
    });
    Context::from_value(context).unwrap()
}

fn build(blueprint: &str, selection: &Value) -> Prompt {
    Blueprint::builtin(blueprint).unwrap().build(&context(selection))
}

fn chosen() -> Value {
    json!({
        "tools": [{"name": "deploy", "score": 0.61, "reasons": ["score"]}],
        "skills": [{"name": "release", "score": 0.4, "reasons": ["named", "score"]}],
        "embedder": "static:1:256", "minScore": 0.18, "embeddingCalls": 1,
        "filtered": [{"kind": "memory", "id": "m1", "reason": "injection 0.97"}],
    })
}

#[test]
fn standard_shows_what_was_selected_and_keeps_the_rest_in_the_index() {
    let prompt = build("standard", &chosen());
    let turn = prompt.turn_context();
    assert!(turn.contains("## Tools for This Turn"), "{turn}");
    assert!(turn.contains("Ships a release.") && !turn.contains("Commits and branches."), "{turn}");
    assert!(turn.contains("> Tag, then push.") && !turn.contains("Boil the water."), "{turn}");
    let index = prompt.section("index").unwrap();
    for name in ["git", "deploy", "release", "cooking"] {
        assert!(index.contains(name), "{name}");
    }
    let notes: Vec<_> = prompt.filtered().iter().map(|f| (&*f.id, &*f.reason)).collect();
    assert!(notes.contains(&("m1", "injection 0.97")), "{notes:?}");
    assert!(notes.contains(&("skills", "1 not selected: bodies left out")), "{notes:?}");
}

#[test]
fn selecting_changes_no_byte_of_the_system_prompt() {
    let other = json!({"tools": [{"name": "git"}], "skills": [{"name": "cooking"}]});
    let (a, b) = (build("standard", &chosen()), build("standard", &other));
    assert_eq!(a.system(), b.system());
    assert_ne!(a.turn_context(), b.turn_context());
}

#[test]
fn semantic_names_what_was_not_selected() {
    let prompt = build("semantic", &chosen());
    let layer = prompt.section("capabilities").unwrap();
    assert!(layer.contains("- deploy: Ships a release."), "{layer}");
    assert!(layer.contains("Other tools: git"), "{layer}");
    assert!(layer.contains("Other skills: cooking"), "{layer}");
    assert!(!layer.contains("audit"), "it is not offered in act mode: {layer}");
    assert!(!layer.contains("Boil the water."), "{layer}");
}

#[test]
fn an_empty_selection_shows_no_body_and_no_selection_shows_all() {
    let none = build("standard", &json!({"tools": [], "skills": [], "abstained": ["skills"]}));
    assert!(!none.text().contains("Tag, then push."));
    assert!(none.section("selection").is_none());
    let all = build("standard", &Value::Null);
    assert!(all.text().contains("Tag, then push.") && all.text().contains("Boil the water."));
}

#[test]
fn the_manifest_tells_scores_and_reasons() {
    let prompt = build("standard", &chosen());
    let manifest = serde_json::to_value(prompt.manifest()).unwrap();
    assert_eq!(manifest["selection"], context(&chosen()).selection.map(|s| json!(s)).unwrap());
    assert_eq!(manifest["selection"]["skills"][0]["reasons"], json!(["named", "score"]));
    assert!(
        serde_json::to_value(build("standard", &Value::Null).manifest()).unwrap()["selection"]
            .is_null()
    );
}

#[test]
fn a_blueprint_without_a_place_for_it_says_so() {
    let prompt = build("guarded", &chosen());
    assert!(prompt.filtered().iter().any(|f| f.kind == "context" && f.id == "selection"));
    assert!(prompt.text().contains("Boil the water."), "guarded shows every skill");
}
