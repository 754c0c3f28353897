//! `foreword init` against the real binary: templates, taking over other layouts, never overwriting.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

const TEMPLATES: [&str; 5] = ["standard", "companion", "guarded", "roles", "semantic"];

fn foreword(args: &[&str]) -> Output {
    // `init` trusts what it wrote, which must not reach the settings of whoever runs the tests.
    let config = concat!(env!("CARGO_TARGET_TMPDIR"), "/init-settings");
    let mut command = Command::new(env!("CARGO_BIN_EXE_foreword"));
    command.args(args).env("FOREWORD_CONFIG_DIR", config).output().unwrap()
}

fn utf8(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The prompt of a workspace, which has to be there.
fn build(workspace: &Path, more: &[&str]) -> String {
    let output = foreword(&[&["build", "-w", utf8(workspace), "Say hello."], more].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let lint = foreword(&["lint", "-w", utf8(workspace)]);
    assert!(lint.status.code() != Some(2) && lint.status.code() != Some(3), "{}", stderr(&lint));
    let prompt = String::from_utf8(output.stdout).unwrap();
    assert!(!prompt.trim().is_empty());
    prompt
}

/// Runs `init` with `--json` and gives its report.
fn init(workspace: &Path, more: &[&str]) -> Value {
    let output = foreword(&[&["init", "--json", "-w", utf8(workspace)], more].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["problems"], serde_json::json!([]), "{}", stderr(&output));
    report
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|item| item.as_str().unwrap()).collect()
}

/// Why a path was not taken.
fn reason<'a>(report: &'a Value, path: &str) -> &'a str {
    let all = report["notTaken"].as_array().unwrap();
    let found = all.iter().find(|item| item["path"] == path);
    found.unwrap_or_else(|| panic!("{path} in {all:?}"))["reason"].as_str().unwrap()
}

fn directory(files: &[(&str, &str)]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    directory
}

/// Every file below a directory, by path.
fn contents(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_path_buf();
                found.insert(name, fs::read(path).unwrap());
            }
        }
    }
    found
}

#[test]
fn every_template_is_its_example_and_builds_and_a_second_run_changes_nothing() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for template in TEMPLATES {
        let scratch = tempfile::tempdir().unwrap();
        let workspace = scratch.path().join("deep/er");
        let report = init(&workspace, &["--template", template]);
        assert_eq!(report["template"], template);
        assert_eq!(report["kept"], serde_json::json!([]));
        let first = contents(&workspace);
        for (path, bytes) in contents(&examples.join(template)) {
            if !path.starts_with(".foreword") {
                // The layers of `semantic` are kept from other agents' eyes.
                let private = path.strip_prefix("prompts").ok().filter(|_| template == "semantic");
                let path = private.map_or(path.clone(), |layer| Path::new(".foreword").join(layer));
                assert_eq!(first.get(&path), Some(&bytes), "{template}: {}", path.display());
            }
        }
        assert_eq!(first[Path::new(".foreword/.gitignore")], b"*\n");
        assert!(first.contains_key(Path::new(".foreword/README.md")));
        build(&workspace, &[]);

        let again = init(&workspace, &["--template", template]);
        assert_eq!(again["written"], serde_json::json!([]));
        assert_eq!(again["kept"], serde_json::json!([]));
        // The index is made, not written from the template.
        assert!(first.contains_key(Path::new(".foreword/index.bin")), "{template}");
        assert_eq!(strings(&again["unchanged"]).len(), first.len() - 1);
        assert_eq!(contents(&workspace), first);
    }
}

#[test]
fn the_default_template_is_standard_and_a_person_is_told_what_happened() {
    let scratch = tempfile::tempdir().unwrap();
    let workspace = scratch.path().join("my agent");
    let output = foreword(&["init", "-w", utf8(&workspace)]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stdout, b"");
    let said = stderr(&output);
    assert!(said.contains("wrote      SOUL.md\n"), "{said}");
    assert!(said.ends_with("my agent' -m \"hello\"\n"), "{said}");
    assert!(fs::read_to_string(workspace.join("foreword.toml")).unwrap().contains("\"standard\""));
    assert_eq!(stderr(&foreword(&["init", "--quiet", "-w", utf8(&workspace)])), "");
}

#[test]
fn what_is_there_is_kept_byte_for_byte() {
    let existing = b"my own\r\n\xff soul";
    let scratch = directory(&[("agents/pickle/AGENT.md/inside", "x")]);
    fs::write(scratch.path().join("SOUL.md"), existing).unwrap();
    let output = foreword(&["init", "--json", "-w", utf8(scratch.path()), "-t", "companion"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(strings(&report["kept"]), ["SOUL.md", "agents/pickle/AGENT.md"]);
    assert_eq!(fs::read(scratch.path().join("SOUL.md")).unwrap(), existing);
    assert!(stderr(&output).contains("kept       SOUL.md"));
    // The kept files do not make a workspace, and that is said.
    assert!(!report["problems"].as_array().unwrap().is_empty());
}

#[cfg(unix)]
#[test]
fn links_are_kept_and_nothing_is_written_through_them() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    symlink(outside.path().join("gone.md"), scratch.path().join("USER.md")).unwrap();
    symlink(outside.path(), scratch.path().join("skills")).unwrap();
    let output = foreword(&["init", "--json", "-w", utf8(scratch.path()), "-t", "companion"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(strings(&report["kept"]), ["USER.md"]);
    assert!(reason(&report, "skills/brainstorming/SKILL.md").contains("symbolic link"));
    assert!(contents(outside.path()).is_empty());
}

#[test]
fn a_file_is_no_workspace() {
    let scratch = directory(&[("file", "x")]);
    let output = foreword(&["init", "-w", utf8(&scratch.path().join("file"))]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("file is a file; a workspace is a directory"));
    let output = foreword(&["init", "-w", utf8(&scratch.path().join("file/below"))]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("below"), "{}", stderr(&output));
    assert_eq!(fs::read(scratch.path().join("file")).unwrap(), b"x");
}

#[cfg(unix)]
#[test]
fn a_directory_that_cannot_be_written_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = tempfile::tempdir().unwrap();
    fs::set_permissions(scratch.path(), fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(scratch.path().join("probe"), "").is_ok() {
        return; // Nothing is forbidden to this user.
    }
    let output = foreword(&["init", "-w", utf8(scratch.path())]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains(utf8(scratch.path())), "{}", stderr(&output));
}

#[test]
fn an_openclaw_workspace_is_taken_over() {
    let from = directory(&[
        ("AGENTS.md", "Follow the house rules.\n"),
        ("SOUL.md", "Curious as an otter.\n"),
        ("TOOLS.md", "Prefer the calendar.\n"),
        ("USER.md", "Ada.\n"),
        ("MEMORY.md", "Ada likes tea.\n"),
        ("memory/2026-01-01.md", "Tea.\n"),
        ("skills/brew/SKILL.md", "---\nname: brew\ndescription: Brew tea.\n---\nBoil water.\n"),
        ("skills/brew/scripts/run.sh", "#!/bin/sh\n"),
        ("skills/empty/notes.md", "x"),
    ]);
    fs::write(from.path().join("skills/brew/logo.png"), b"\x89PNG\0\0").unwrap();
    let before = contents(from.path());
    let to = tempfile::tempdir().unwrap();
    let report = init(to.path(), &["--from", utf8(from.path())]);
    assert_eq!(
        (&report["layout"], &report["blueprint"]),
        (&"OpenClaw".into(), &"companion".into())
    );
    assert_eq!(report["from"], utf8(from.path()));
    assert!(report.get("template").is_none());
    assert!(strings(&report["written"]).contains(&"skills/brew/scripts/run.sh"));
    assert!(reason(&report, "MEMORY.md").contains("foreword memory import"));
    assert!(reason(&report, "memory").contains("foreword memory import"));
    assert!(reason(&report, "skills/brew/logo.png").contains("not UTF-8"));
    assert!(reason(&report, "skills/empty").contains("SKILL.md"));
    let prompt = build(to.path(), &[]);
    for text in ["house rules", "Curious as an otter.", "Prefer the calendar.", "Brew tea."] {
        assert!(prompt.contains(text), "{text} in {prompt}");
    }
    assert_eq!(contents(from.path()), before);
}

#[test]
fn agents_of_openclaw_lose_only_what_is_not_known() {
    let from = directory(&[
        ("SOUL.md", "Warm.\n"),
        ("agents/pip/AGENT.md", "---\nname: Pip\nmodel: m-1\nvoice: low\n---\nYou are Pip.\n"),
        ("agents/pip/SOUL.md", "Brisk.\n"),
        ("agents/pip/users/ada/USER.md", "Ada.\n"),
        ("agents/pip/sessions/1.jsonl", "{}"),
        ("agents/none/cache.bin", "x"),
    ]);
    let to = tempfile::tempdir().unwrap();
    let report = init(to.path(), &["--from", utf8(from.path())]);
    assert_eq!(strings(&report["agents"]), ["pip"]);
    assert!(reason(&report, "agents/pip/AGENT.md").contains("`voice`"));
    assert!(reason(&report, "agents/pip/sessions").contains("not used"));
    assert!(reason(&report, "agents/none").contains("no AGENT.md"));
    let agent = fs::read_to_string(to.path().join("agents/pip/AGENT.md")).unwrap();
    assert_eq!(agent, "---\nid: \"pip\"\nmodel: m-1\n---\n\nYou are Pip.\n");
    let prompt = build(to.path(), &[]);
    assert!(prompt.contains("You are Pip.") && prompt.contains("Brisk.") && prompt.contains("m-1"));
}

#[test]
fn agents_md_alone_is_standard() {
    let from = directory(&[("AGENTS.md", "Run the tests first.\n")]);
    let to = tempfile::tempdir().unwrap();
    let report = init(to.path(), &["--from", utf8(from.path())]);
    assert_eq!((&report["layout"], &report["blueprint"]), (&"OpenClaw".into(), &"standard".into()));
    assert!(build(to.path(), &[]).contains("Run the tests first."));
}

#[test]
fn a_claude_code_project_is_taken_over() {
    let from = directory(&[
        ("CLAUDE.md", "Use pnpm, never npm.\n\n@docs/style.md\n"),
        (
            ".claude/agents/reviewer.md",
            "---\nname: code-reviewer\ndescription: Use it: after \"every\" change.\ntools: Read, Grep, Bash(git diff:*)\nmodel: inherit\ncolor: red\n---\n\nYou review diffs.\n",
        ),
        (".claude/agents/team/fixer.md", "---\nname: fixer\nmodel: sonnet\n---\nYou fix.\n"),
        (".claude/agents/notes.md", "just notes"),
        (
            ".claude/skills/release/SKILL.md",
            "---\nname: release\ndescription: Cut a release.\n---\nTag it.\n",
        ),
        (".claude/commands/fix.md", "Fix it"),
        (".claude/settings.json", "{}"),
        (".claude/hooks/pre.sh", "exit 0"),
        ("src/main.rs", "fn main() {}"),
    ]);
    let to = tempfile::tempdir().unwrap();
    let report = init(to.path(), &["--from", utf8(from.path())]);
    assert_eq!(
        (&report["layout"], &report["blueprint"]),
        (&"Claude Code".into(), &"standard".into())
    );
    assert_eq!(strings(&report["agents"]), ["code-reviewer", "fixer"]);
    for path in [".claude/commands", ".claude/settings.json", ".claude/hooks", "docs/style.md"] {
        assert!(!reason(&report, path).is_empty());
    }
    assert!(reason(&report, ".claude/agents/notes.md").contains("no header"));
    assert!(reason(&report, ".claude/agents/reviewer.md").contains("git diff"));
    assert!(!to.path().join("src").exists());
    assert_eq!(
        fs::read_to_string(to.path().join("agents/code-reviewer/AGENT.md")).unwrap(),
        "---\nid: \"code-reviewer\"\ndescription: \"Use it: after \\\"every\\\" change.\"\ntools:\n  - \"Read\"\n  - \"Grep\"\n  - \"Bash\"\n---\n\nYou review diffs.\n"
    );
    let fixer = fs::read_to_string(to.path().join("agents/fixer/AGENT.md")).unwrap();
    assert!(fixer.contains("model: \"sonnet\"\n"));
    let prompt = build(to.path(), &["--agent", "code-reviewer"]);
    for text in ["Use pnpm, never npm.", "You review diffs.", "release", "Grep"] {
        assert!(prompt.contains(text), "{text} in {prompt}");
    }
    assert!(build(to.path(), &[]).contains("Use pnpm, never npm."));
}

#[test]
fn a_single_agent_becomes_the_default() {
    let from = directory(&[(".claude/agents/a.md", "---\nname: solo\n---\nYou are Solo.\n")]);
    let to = tempfile::tempdir().unwrap();
    init(to.path(), &["--from", utf8(from.path())]);
    assert!(
        fs::read_to_string(to.path().join("foreword.toml"))
            .unwrap()
            .contains("\nagent = \"solo\"\n")
    );
    assert!(build(to.path(), &[]).contains("You are Solo."));
}

#[test]
fn a_cosmonauts_project_is_taken_over() {
    let from = directory(&[
        ("prompts/cosmonauts.md", "Be brief, crew.\n"),
        ("prompts/capabilities/core.md", "Quality first.\n"),
        ("prompts/capabilities/coding-readonly.md", "Read, do not write.\n"),
        ("prompts/capabilities/tasks.md", "Use the board.\n"),
        ("prompts/agents/coding/planner.md", "You are the planner.\n"),
        ("prompts/agents/coding/worker.md", "You are the worker.\n"),
        ("prompts/agents/ops/pilot.md", "You are the pilot.\n"),
        ("prompts/runtime/sub-agent.md", "Started by {{parentRole}}.\n"),
        ("CLAUDE.md", "For developers.\n"),
    ]);
    let to = tempfile::tempdir().unwrap();
    let report = init(to.path(), &["--from", utf8(from.path())]);
    assert_eq!((&report["layout"], &report["blueprint"]), (&"Cosmonauts".into(), &"roles".into()));
    assert_eq!(strings(&report["agents"]), ["pilot", "planner", "worker"]);
    assert!(reason(&report, "CLAUDE.md").contains("roles"));
    let agent = |id| fs::read_to_string(to.path().join(format!("agents/{id}/AGENT.md"))).unwrap();
    assert_eq!(
        agent("planner"),
        "---\nid: \"planner\"\nnamespace: \"coding\"\ntools: [readonly]\nprompts:\n  - \"cosmonauts\"\n  - \"capabilities/core\"\n  - \"capabilities/coding-readonly\"\n  - \"agents/coding/planner\"\n---\n"
    );
    assert!(agent("worker").contains("tools: [tasks]\n"));
    assert!(agent("pilot").contains("  - \"capabilities/core\"\n  - \"agents/ops/pilot\"\n"));
    let prompt = build(to.path(), &["--agent", "planner"]);
    let places =
        ["Be brief, crew.", "Quality first.", "Read, do not write.", "You are the planner."]
            .map(|text| prompt.find(text).unwrap());
    assert!(places.is_sorted(), "{prompt}");
    assert!(!prompt.contains("Use the board."));
    build(to.path(), &["--agent", "pilot"]);
}

#[test]
fn the_older_cosmonauts_layout_is_moved_into_layers() {
    let from = directory(&[
        ("prompts/base/coding.md", "You are Cosmo. Write good code.\n"),
        ("prompts/roles/worker.md", "You are the worker.\n"),
        ("prompts/roles/extra.txt", "x"),
    ]);
    let to = tempfile::tempdir().unwrap();
    let report = init(to.path(), &["--from", utf8(from.path())]);
    assert_eq!(report["layout"], "Cosmonauts");
    assert!(strings(&report["notes"])[0].contains("foreword lint"));
    assert!(reason(&report, "prompts/roles/extra.txt").contains("not part of"));
    let written = strings(&report["written"]);
    assert!(
        written.contains(&"prompts/base.md")
            && written.contains(&"prompts/agents/coding/worker.md")
    );
    let prompt = build(to.path(), &[]);
    assert!(prompt.contains("Write good code.") && prompt.contains("You are the worker."));
}

#[test]
fn taking_a_directory_over_in_place_only_adds() {
    let scratch = directory(&[
        ("CLAUDE.md", "Use pnpm.\r\n"),
        (".claude/agents/a.md", "---\nname: a\n---\nYou are A.\n"),
        ("foreword.toml", "blueprint = \"guarded\"\n"),
    ]);
    let before = contents(scratch.path());
    let report = init(scratch.path(), &["--from", utf8(scratch.path())]);
    assert_eq!(strings(&report["kept"]), ["foreword.toml"]);
    assert_eq!(strings(&report["unchanged"]), ["CLAUDE.md"]);
    let after = contents(scratch.path());
    assert!(before.iter().all(|(path, bytes)| after.get(path) == Some(bytes)));
    assert!(build(scratch.path(), &["--agent", "a"]).contains("You are A."));
}

#[cfg(unix)]
#[test]
fn links_are_followed_inside_the_source_and_never_out_of_it() {
    use std::os::unix::fs::symlink;
    let outside = directory(&[("secret.md", "secret"), ("SKILL.md", "secret")]);
    let from = directory(&[
        ("SOUL.md", "Calm.\n"),
        ("docs/rules.md", "The rules.\n"),
        ("skills/a/SKILL.md", "Do a.\n"),
    ]);
    symlink("docs/rules.md", from.path().join("AGENTS.md")).unwrap();
    symlink(outside.path().join("secret.md"), from.path().join("USER.md")).unwrap();
    symlink(outside.path(), from.path().join("skills/b")).unwrap();
    symlink("..", from.path().join("skills/a/loop")).unwrap();
    symlink(".", from.path().join("skills/a/self")).unwrap();
    let to = tempfile::tempdir().unwrap();
    let report = init(to.path(), &["--from", utf8(from.path())]);
    assert_eq!(fs::read_to_string(to.path().join("AGENTS.md")).unwrap(), "The rules.\n");
    assert!(reason(&report, "USER.md").contains("to outside the directory"));
    assert!(reason(&report, "skills/a/self").contains("parent directory"));
    assert!(contents(to.path()).values().all(|bytes| bytes != b"secret"));
}

#[test]
fn an_unknown_layout_says_what_was_looked_for() {
    let from = directory(&[("main.py", "print()")]);
    let to = tempfile::tempdir().unwrap();
    let workspace = to.path().join("new");
    let output = foreword(&["init", "-w", utf8(&workspace), "--from", utf8(from.path())]);
    assert_eq!(output.status.code(), Some(2));
    for text in ["unknown layout", "SOUL.md", "CLAUDE.md", "prompts/cosmonauts.md"] {
        assert!(stderr(&output).contains(text), "{}", stderr(&output));
    }
    assert!(!workspace.exists());
    let output =
        foreword(&["init", "-w", utf8(&workspace), "--from", utf8(&from.path().join("gone"))]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("gone"));
}
