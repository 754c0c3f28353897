//! `foreword init` against the real binary: templates, never overwriting. `migrate.rs` has `--from`.

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

/// Why a file could not be written.
fn blocked<'a>(report: &'a Value, path: &str) -> &'a str {
    let all = report["blocked"].as_array().unwrap();
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
    assert!(said.ends_with("my agent' \"hello\"\n"), "{said}");
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
    assert!(blocked(&report, "skills/brainstorming/SKILL.md").contains("symbolic link"));
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
