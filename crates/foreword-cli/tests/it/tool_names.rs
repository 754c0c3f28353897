//! What built-in texts tell an agent to call is there to be called.

use std::collections::BTreeSet;
use std::path::Path;

use foreword_protocol::{LocalTool, action_schema, actions};

/// Names in backticks that could be tools.
fn named(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .filter(|name| !name.is_empty())
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'))
}

#[test]
fn packs_and_the_heartbeat_name_only_tools_that_exist() {
    let tools: BTreeSet<&str> = actions()
        .iter()
        .filter(|action| action.is_tool())
        .map(|action| action.name)
        .chain(LocalTool::ALL.map(LocalTool::name))
        .collect();
    // A field of an action may stand in backticks too, such as `objective`.
    let schemas: String =
        actions().iter().map(|action| action_schema(action).to_string()).collect();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let packs =
        std::fs::read_dir(crates.join("foreword-gather/src/collect/builtin/capabilities")).unwrap();
    let mut files: Vec<_> = packs.map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 6);
    files.push(crates.join("foreword/src/modules/heartbeat.rs"));
    files.push(crates.join("foreword-host/src/schedule/heartbeat.md"));
    let mut used = BTreeSet::new();
    for file in files {
        let mut text = std::fs::read_to_string(&file).unwrap();
        let is_code = file.ends_with("heartbeat.rs");
        if is_code {
            // Its tools stand in string literals.
            text = text.replace('"', "`");
        }
        for name in named(&text).filter(|name| name.contains('_') || !is_code) {
            if tools.contains(name) {
                used.insert(name.to_owned());
            } else {
                let field = !name.contains('_') && schemas.contains(&format!("\"{name}\":"));
                assert!(field, "{} names `{name}`", file.display());
            }
        }
    }
    for name in ["read", "bash", "task_update", "spawn_agent", "todo_write", "schedule_add"] {
        assert!(used.contains(name), "{name} is not among {used:?}");
    }
}

/// What the pack on tasks tells agents to write has a field to write it to.
#[test]
fn the_schemas_of_tasks_have_the_fields_that_the_pack_asks_for() {
    let pack = include_str!("../../../foreword-gather/src/collect/builtin/capabilities/tasks.md");
    let schema = |name: &str| {
        let action = actions().iter().find(|action| action.name == name).unwrap();
        action_schema(action).to_string()
    };
    for (asked_for, action, field) in [
        ("title that states the outcome", "task_create", "title"),
        ("the context needed to start cold", "task_create", "description"),
        ("acceptance criteria", "task_create", "acceptanceCriteria"),
        ("the tasks it depends on", "task_create", "dependencies"),
        ("A note says", "task_update", "note"),
    ] {
        assert!(pack.contains(asked_for), "{asked_for}");
        assert!(schema(action).contains(&format!("\"{field}\":")), "{action} has no {field}");
    }
}
