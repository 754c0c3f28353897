use super::*;
use crate::wire::read_request;

fn part(system: &str) -> RequestPart {
    let body = serde_json::json!({"system": system, "messages": []});
    read_request(None, "", &body.to_string()).unwrap().parts.remove(0)
}

fn files(files: &[(&str, &str)]) -> ProjectFiles {
    let mut all = ProjectFiles::default();
    for (path, text) in files {
        all.add(path, text);
    }
    all
}

fn shown(part: &RequestPart, files: &ProjectFiles) -> Vec<String> {
    let stretches = stretches(part, Some(files));
    let mut end = 0;
    for stretch in &stretches {
        assert_eq!(stretch.range[0], end, "no gaps: {stretches:?}");
        end = stretch.range[1];
    }
    assert_eq!(end, part.text.len());
    stretches.iter().map(|stretch| format!("{} {}", stretch.line, stretch.origin.name())).collect()
}

#[test]
fn lines_are_found_in_files_and_the_rest_is_the_vendors() {
    let files = files(&[
        ("CLAUDE.md", "# Rules\n\nAlways run the tests first.\n  Use tabs, never spaces.\n"),
        ("notes/other.md", "Use tabs, never spaces.\nSomething else entirely, for once.\n"),
    ]);
    let text = "You are an agent.\n\n# Rules\nAlways run the tests first.\n\nUse tabs, never spaces.\nEnd of it.";
    assert_eq!(shown(&part(text), &files), ["1 vendor", "3 CLAUDE.md:1-4", "7 vendor"]);
}

#[test]
fn a_clock_is_found_in_its_template() {
    let files = files(&[
        (
            "README.md",
            "The current time is shown at the top of the prompt, see prompts/system.md.\n",
        ),
        (
            "prompts/system.md",
            "You are Pickle, a careful agent.\nCurrent time: {{now}}\n\nBe brief and kind to people.\n",
        ),
        (
            "agent.py",
            "import time\nSYSTEM = f\"Today's run is {run_id}.\\nFinish what you start.\"\n",
        ),
    ]);
    let text = "You are Pickle, a careful agent.\nCurrent time: 2026-11-17 12:00:01 UTC\n\nBe brief and kind to people.\nToday's run is 77.\nFinish what you start.\n";
    assert_eq!(
        shown(&part(text), &files),
        [
            "1 prompts/system.md:1",
            "2 ≈prompts/system.md:2",
            "4 prompts/system.md:4",
            "5 ≈agent.py:2",
            "6 ≈agent.py:2",
        ]
    );
}

#[test]
fn files_that_tools_read_are_found_behind_line_numbers() {
    let files = files(&[("src/main.rs", "fn main() {\n    println!(\"hello, world\");\n}\n")]);
    let body = serde_json::json!({"model": "claude", "messages": [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "Read", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1",
            "content": "     1→fn main() {\n     2→    println!(\"hello, world\");\n     3→}\nend"}]}]});
    let request = read_request(None, "", &body.to_string()).unwrap();
    assert_eq!(shown(&request.parts[1], &files), ["1 src/main.rs:1-3", "4 result of Read"]);
    assert_eq!(without_number("12: x"), "x");
    assert_eq!(without_number("12 apples"), "12 apples");
}

#[test]
fn tools_come_from_servers_and_reminders_from_the_program() {
    let files = files(&[("tools.toml", "description = \"Look up a city in the atlas\"\n")]);
    let body = serde_json::json!({"model": "claude", "tools": [
        {"name": "mcp__maps__route", "description": "Plan a route between places", "input_schema": {}},
        {"name": "city", "description": "Look up a city in the atlas", "input_schema": {}},
        {"name": "Read", "description": "Reads", "input_schema": {}}],
        "messages": [{"role": "user", "content": "<system-reminder>\nBe careful\n</system-reminder>\nFix it"}]});
    let request = read_request(None, "", &body.to_string()).unwrap();
    let all: Vec<String> = request.parts.iter().flat_map(|part| shown(part, &files)).collect();
    assert_eq!(all, ["1 MCP server maps", "1 ≈tools.toml:1", "1 vendor", "1 vendor", "4 user"]);
    assert_eq!(stretches(&part("x"), None)[0].origin, Origin::Unknown);
    assert!(stretches(&part(""), None).is_empty());
}

#[test]
fn large_texts_are_attributed_in_linear_time() {
    let line = "The same line over and over again\n";
    let files = files(&[("a.md", &line.repeat(20_000)), ("b.md", &line.repeat(20_000))]);
    let started = std::time::Instant::now();
    let found = stretches(&part(&line.repeat(20_000)), Some(&files));
    assert!(!found.is_empty());
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

#[test]
fn what_foreword_wrote_is_no_source() {
    use foreword_page::Page;

    let line = "Always run the tests first.";
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
    let mut page = Page::new("Capture", "");
    page.paragraph(line);
    // Sorted before the file that the line comes from.
    write("a-report.html", &page.finish("foreword watch report --html"));
    let prompt = serde_json::json!({"schemaVersion": 1, "stablePrefixBytes": 9, "sections": [], "content": line});
    write("b-prompt.json", &serde_json::to_string_pretty(&prompt).unwrap());
    let report =
        serde_json::json!({"schemaVersion": 1, "conversations": [{"text": line}], "sources": []});
    write("c-report.json", &serde_json::to_string_pretty(&report).unwrap());
    write("settings.json", "{\"schemaVersion\": 1, \"rule\": \"Use tabs, never spaces.\"}");
    write("system.md", line);
    let files = ProjectFiles::read(directory.path(), None).unwrap();
    let paths: Vec<&str> = files.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["settings.json", "system.md"]);
    assert_eq!(shown(&part(line), &files), ["1 system.md:1"]);
}
