//! What built-in texts tell an agent to call is there to be called.

use std::collections::BTreeSet;
use std::path::Path;

use foreword_gather::surfaces;
use foreword_protocol::{LocalTool, action_schema, actions};
use serde_json::Value;

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

/// The schema of a tool, whoever runs it.
fn schema(tool: &str) -> Value {
    match LocalTool::named(tool) {
        Some(local) => Value::clone(&local.spec().input_schema),
        None => action_schema(actions().iter().find(|action| action.name == tool).unwrap()),
    }
}

/// What a schema says of a field, found by its path; `[]` stands for the items of a list.
fn field<'s>(schema: &'s Value, path: &str) -> Option<&'s Value> {
    path.split('.').try_fold(schema, |schema, name| match name.strip_suffix("[]") {
        Some(name) => property(schema, name)?.get("items"),
        None => property(schema, name),
    })
}

fn property<'s>(schema: &'s Value, name: &str) -> Option<&'s Value> {
    let alternatives = schema.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    std::iter::once(schema).chain(alternatives).find_map(|schema| schema["properties"].get(name))
}

/// Words of a pack, and the tool and field that take what they ask for, with the value that the field has
/// to know where the pack names one.
type Request = (&'static str, &'static str, &'static str, &'static str);

/// What each pack tells agents to do or to write.
const ASKED_FOR: [(&str, &[Request]); 6] = [
    ("core", &[]),
    (
        "coding-readwrite",
        &[
            ("Find the place with `search`", "search", "pattern", ""),
            ("then `read` the file", "read", "path", ""),
            ("`edit` for existing files", "edit", "old", ""),
            ("a complete rewrite", "write", "content", ""),
            ("bound anything that could run for long", "bash", "timeout", ""),
        ],
    ),
    (
        "coding-readonly",
        &[
            ("Start wide with `list`", "list", "recursive", ""),
            ("narrow down with `search`", "search", "glob", ""),
            ("`read` the parts", "read", "offset", ""),
        ],
    ),
    (
        "tasks",
        &[
            ("title that states the outcome", "task_create", "title", ""),
            ("the context needed to start cold", "task_create", "description", ""),
            ("acceptance criteria", "task_create", "acceptanceCriteria", ""),
            ("the tasks it depends on", "task_create", "dependencies", ""),
            ("when work starts", "task_update", "state", "doing"),
            ("the task is blocked", "task_update", "state", "blocked"),
            ("A task is done", "task_update", "state", "done"),
            ("A note says", "task_update", "note", ""),
            ("belong to the current assignment", "task_list", "assignee", ""),
        ],
    ),
    (
        "spawning",
        &[
            (
                "runtimeContext.mode=\"sub-agent\"",
                "spawn_agent",
                "runtimeContext.mode",
                "sub-agent",
            ),
            ("`parentRole`", "spawn_agent", "runtimeContext.parentRole", ""),
            ("`objective`", "spawn_agent", "runtimeContext.objective", ""),
            ("`taskId`", "spawn_agent", "runtimeContext.taskId", ""),
            ("knows only what it is given", "spawn_agent", "prompt", ""),
            ("a fixed sequence of roles", "chain_run", "stages[].role", ""),
        ],
    ),
    (
        "todo",
        &[
            ("Word each item", "todo_write", "items[].text", ""),
            ("item in progress", "todo_write", "items[].state", "in_progress"),
            ("Mark it finished", "todo_write", "items[].state", "completed"),
        ],
    ),
];

/// What a pack tells agents to write has a field to write it to, in every pack.
#[test]
fn every_pack_asks_only_for_what_the_schemas_take() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = crates.join("foreword-gather/src/collect/builtin/capabilities");
    let count = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(ASKED_FOR.len(), count, "a pack is not in the table");
    for (pack, asked_for) in ASKED_FOR {
        let text = std::fs::read_to_string(folder.join(format!("{pack}.md"))).unwrap();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let surface = surfaces().iter().find(|surface| surface.pack == Some(pack));
        let own: Vec<&str> =
            surface.into_iter().flat_map(|surface| surface.tools).map(|(name, _)| *name).collect();
        assert!(surface.is_some() || pack == "core", "no surface brings {pack}");
        for tool in &own {
            assert!(text.contains(&format!("`{tool}`")), "{pack} does not say what {tool} is for");
        }
        for (words, tool, path, value) in asked_for {
            assert!(text.contains(words), "{pack} no longer says: {words}");
            assert!(own.contains(tool), "{pack} needs {tool}, which its surface does not bring");
            let schema = schema(tool);
            let field = field(&schema, path).unwrap_or_else(|| panic!("{tool} has no {path}"));
            let known = field.to_string();
            assert!(known.contains(&format!("\"{value}\"")) || value.is_empty(), "{tool}: {known}");
        }
    }
}

/// The packs that `init -t roles` writes ask for the same.
#[test]
fn the_packs_of_the_template_name_only_tools_of_their_surface() {
    let all: Vec<&str> = surfaces().iter().flat_map(|s| s.tools).map(|(name, _)| *name).collect();
    for surface in surfaces() {
        let Some(pack) = surface.pack else { continue };
        let file = crate::support::example("roles").join(format!("prompts/capabilities/{pack}.md"));
        let text = std::fs::read_to_string(file).unwrap();
        for tool in named(&text).filter(|name| all.contains(name)) {
            assert!(surface.tools.iter().any(|(name, _)| *name == tool), "{pack} names {tool}");
        }
    }
}
