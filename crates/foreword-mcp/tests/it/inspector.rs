//! The MCP inspector, a real client, against the server over standard input and output.

use std::process::Command;
use std::time::Duration;

use serde_json::Value;

/// What the inspector says, as JSON; or what it complains of.
fn inspect(program: &std::path::Path, words: &[&str]) -> Result<Value, String> {
    let mut command = Command::new(program);
    command
        .arg("--cli")
        .arg(crate::programs::serve_parts())
        .arg(crate::programs::workspace("tideline"));
    let output = crate::programs::run(command.arg("--method").args(words), Duration::from_secs(60));
    if output.status.success() {
        Ok(serde_json::from_slice(&output.stdout).unwrap())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap()).collect()
}

#[test]
fn the_inspector_finds_and_calls_tools() {
    let Some(inspector) = foreword_testing::npm_program("mcp-inspector") else { return };
    let tools = inspect(&inspector, &["tools/list"]).unwrap();
    assert!(names(&tools["tools"]).contains(&"prompt_build"));
    assert_eq!(tools["tools"][0]["annotations"]["readOnlyHint"], true);

    let call = ["tools/call", "--tool-name", "prompt_build", "--tool-arg", "agent=marlow"];
    let built = inspect(&inspector, &call).unwrap();
    assert_eq!(built["isError"], false);
    let text = built["structuredContent"]["text"].as_str().unwrap();
    assert!(text.contains("Marlow"));

    let failed =
        inspect(&inspector, &["tools/call", "--tool-name", "test_error_handling"]).unwrap();
    assert_eq!(failed["isError"], true);
    assert_eq!(failed["content"][0]["text"], "this tool always fails");

    let unknown = inspect(&inspector, &["tools/call", "--tool-name", "nope"]).unwrap_err();
    assert!(unknown.contains("-32602"), "{unknown}");
}

#[test]
fn the_inspector_reads_skills() {
    let Some(inspector) = foreword_testing::npm_program("mcp-inspector") else { return };
    let skills = inspect(&inspector, &["resources/list"]).unwrap();
    assert_eq!(names(&skills["resources"]), ["incident-triage", "postmortem", "safe-migration"]);
    let templates = inspect(&inspector, &["resources/templates/list"]).unwrap();
    assert_eq!(templates["resourceTemplates"][0]["uriTemplate"], "foreword://skills/{name}");

    let uri = skills["resources"][2]["uri"].as_str().unwrap();
    let skill = inspect(&inspector, &["resources/read", "--uri", uri]).unwrap();
    assert_eq!(skill["contents"][0]["mimeType"], "text/markdown");
    let file = crate::programs::workspace("tideline").join("skills/safe-migration/SKILL.md");
    assert_eq!(skill["contents"][0]["text"], std::fs::read_to_string(file).unwrap());

    let unknown = ["resources/read", "--uri", "foreword://skills/nope"];
    let unknown = inspect(&inspector, &unknown).unwrap_err();
    assert!(unknown.contains("-32002"), "{unknown}");
}

#[test]
fn the_inspector_gets_prompts() {
    let Some(inspector) = foreword_testing::npm_program("mcp-inspector") else { return };
    let prompts = inspect(&inspector, &["prompts/list"]).unwrap();
    assert!(names(&prompts["prompts"]).contains(&"marlow"));
    assert_eq!(prompts["prompts"][0]["arguments"][0]["name"], "task");

    let get = ["prompts/get", "--prompt-name", "marlow", "--prompt-args", "task=plan a release"];
    let prompt = inspect(&inspector, &get).unwrap();
    let text = prompt["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("Marlow") && text.contains("plan a release"));

    let unknown = inspect(&inspector, &["prompts/get", "--prompt-name", "nope"]).unwrap_err();
    assert!(unknown.contains("-32602"), "{unknown}");
}
