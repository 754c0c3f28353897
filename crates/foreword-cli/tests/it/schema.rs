//! `foreword schema`: what is published below `schemas/` is what the code reads and writes.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::{Scratch, strings};

fn published() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas"))
}

/// Every name that `foreword schema` lists in its hint, except those of the agent protocol.
fn names(scratch: &Scratch) -> Vec<String> {
    let run = scratch.run(&["schema", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"]);
    let list = run.fails(2).split("schemas: ").nth(1).unwrap().split(", protocol").next().unwrap();
    list.split(", ").map(|name| name.trim().to_owned()).collect()
}

/// Run with `UPDATE_SCHEMAS=1` to write the files.
#[test]
fn the_published_schemas_are_those_of_the_code() {
    let scratch = Scratch::new(&[]);
    let names = names(&scratch);
    assert!(
        names.contains(&"context".to_owned()) && names.contains(&"skill_decide.answer".to_owned())
    );
    let update = std::env::var_os("UPDATE_SCHEMAS").is_some();
    for name in &names {
        let schema = scratch.run(&["schema", name]).ok().stdout;
        let parsed: Value = serde_json::from_str(&schema).unwrap();
        assert_eq!(parsed["$schema"], "https://json-schema.org/draft/2020-12/schema", "{name}");
        let file = published().join(format!("{name}.json"));
        if update {
            std::fs::create_dir_all(published()).unwrap();
            std::fs::write(&file, &schema).unwrap();
        }
        let known = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(known == schema, "schemas/{name}.json is out of date; run with UPDATE_SCHEMAS=1");
    }
    let files: BTreeSet<String> = std::fs::read_dir(published())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".json").map(ToOwned::to_owned))
        .collect();
    assert_eq!(files, names.into_iter().collect(), "a file without a schema");
}

/// Every reference in a schema leads somewhere, and every field says what it is.
#[test]
fn schemas_are_complete_in_themselves() {
    let scratch = Scratch::new(&[]);
    for name in names(&scratch) {
        let schema = scratch.run(&["schema", &name]).ok().json();
        check(&name, &schema, &schema);
    }
}

fn check(name: &str, root: &Value, part: &Value) {
    match part {
        Value::Object(fields) => {
            if let Some(reference) = fields.get("$ref").and_then(Value::as_str) {
                let pointer = reference.strip_prefix('#').unwrap();
                assert!(root.pointer(pointer).is_some(), "{name}: {reference}");
            }
            fields.values().for_each(|value| check(name, root, value));
        }
        Value::Array(values) => values.iter().for_each(|value| check(name, root, value)),
        _ => {}
    }
}

#[test]
fn a_context_may_have_the_fields_of_its_schema_and_no_others() {
    let scratch = Scratch::new(&[]);
    let schema = scratch.run(&["schema", "context"]).ok().json();
    assert_eq!(schema["additionalProperties"], false);
    for (field, value) in schema["properties"].as_object().unwrap() {
        assert!(value["description"].is_string(), "{field} has no description");
        // What the schema calls null is read as absent.
        let nullable = value["type"].as_array().is_some_and(|kinds| kinds.contains(&"null".into()))
            || value["anyOf"]
                .as_array()
                .is_some_and(|any| any.iter().any(|one| one["type"] == "null"));
        let context = format!("{{\"{field}\": null}}");
        scratch.write("context.json", &context);
        let run = scratch.run(&["build", "--context", "context.json"]);
        assert_eq!(run.status == 0, nullable, "{field}: {value}: {}", run.stderr);
    }
}

#[test]
fn an_unknown_schema_is_refused_with_the_nearest_one() {
    let scratch = Scratch::new(&[]);
    let run = scratch.run(&["schema", "contxt"]);
    let said = run.fails(2);
    assert!(said.contains("unknown schema `contxt`") && said.contains("`context`"), "{said}");
    let protocol = scratch.run(&["schema", "protocol"]).ok().stdout;
    assert_eq!(protocol, scratch.run(&["schema"]).ok().stdout);
    let known = scratch.run(&["schema", "skill_read"]).ok().json();
    assert_eq!(strings(&known["required"]), ["name"]);
}
