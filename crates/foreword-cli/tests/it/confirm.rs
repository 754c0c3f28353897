//! Without a terminal and without `--yes`, nothing is decided.

use crate::skill::CAPABLE;
use crate::support::Scratch;

const NEEDS_TERMINAL: &str = "error: confirmation needs a terminal; pass `--yes` to proceed";

/// A workspace with one skill in the history and one that needs review; gives the commit and the proposal.
fn workspace() -> (Scratch, String, String) {
    let ws = Scratch::new(&[("tea.md", "# Tea\n\nBoil water.\n"), ("env.md", CAPABLE)]);
    let tea = ws.run(&["skill", "propose", "tea.md", "--json"]).ok().json();
    let env = ws.run(&["skill", "propose", "env.md", "--json"]).ok().json();
    assert_eq!(env["verdict"], "NEEDS_REVIEW", "{env}");
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    (ws, text(&tea["commit"]), text(&env["id"]))
}

/// The command fails with either kind of standard input, an empty one and a pipe that says yes.
fn refuses(ws: &Scratch, args: &[&str]) {
    for stdin in ["", "y\n"] {
        for json in [false, true] {
            let args = if json { [args, &["--json"]].concat() } else { args.to_vec() };
            let run = ws.command(&args).stdin(stdin).run();
            assert_eq!(run.status, 2, "{args:?}: {}", run.stderr);
            assert!(run.stderr.contains(NEEDS_TERMINAL), "{args:?}: {}", run.stderr);
        }
    }
}

#[test]
fn skills_are_not_approved_or_reverted_without_a_terminal() {
    let (ws, commit, id) = workspace();
    ws.write("skills/own/SKILL.md", "# Own\n\nMine.\n");
    let log = |ws: &Scratch| ws.run(&["skill", "log", "--json"]).ok().json();
    let before = log(&ws);
    refuses(&ws, &["skill", "approve", &id]);
    refuses(&ws, &["skill", "approve", "--local"]);
    refuses(&ws, &["skill", "revert", &commit]);
    assert_eq!(log(&ws), before);
    let proposals = ws.run(&["skill", "proposals", "--json"]).ok().json();
    assert_eq!(proposals[0]["state"], "pending");

    ws.run(&["skill", "approve", &id, "--yes"]).ok();
    ws.run(&["skill", "approve", "--local", "--yes"]).ok();
    ws.run(&["skill", "revert", &commit, "-y"]).ok();
    assert_ne!(log(&ws), before);
}

#[test]
fn memories_are_not_deleted_without_a_terminal() {
    let ws = Scratch::new(&[]);
    let id = ws.run(&["memory", "add", "Ada likes tea", "--json"]).ok().json();
    let id = id["id"].as_str().unwrap();
    refuses(&ws, &["memory", "forget", id]);
    refuses(&ws, &["memory", "forget", "--all-of", "everything"]);
    assert_eq!(ws.run(&["memory", "list"]).ok().stdout.lines().count(), 1);
    ws.run(&["memory", "forget", id, "--yes"]).ok();
    assert_eq!(ws.run(&["memory", "list"]).stdout, "");
}

#[test]
fn a_backup_is_not_restored_without_a_terminal() {
    let ws = Scratch::new(&[]);
    let backup = ws.join("copy.db");
    let backup = backup.to_str().unwrap();
    ws.run(&["backup", backup]).fails(2);
    ws.run(&["memory", "add", "Ada likes tea"]).ok();
    ws.run(&["backup", backup]).ok();
    ws.run(&["backup", backup]).fails(2);
    ws.run(&["backup", backup, "--force"]).ok();
    ws.run(&["memory", "add", "Ada likes coffee"]).ok();
    refuses(&ws, &["restore", backup]);
    assert_eq!(ws.run(&["memory", "list"]).ok().stdout.lines().count(), 2);
    let run = ws.run(&["restore", backup, "--yes"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stderr.contains("entry 2 of the audit log is not in the backup"), "{}", run.stderr);
    assert!(run.stdout.contains("the old database is "), "{}", run.stdout);
    assert_eq!(ws.run(&["memory", "list"]).ok().stdout.lines().count(), 1);
}

#[test]
fn actions_are_not_granted_and_workspaces_not_trusted_without_a_terminal() {
    let ws = Scratch::new(&[("SOUL.md", "Be kind.\n")]);
    refuses(&ws, &["approve", "spawn_agent", "--session", "ops"]);
    refuses(&ws, &["trust"]);
    let log = ws.run(&["audit", "log", "--json"]).ok().json();
    let granted = log.as_array().unwrap().iter().any(|entry| entry["action"] == "taint.grant");
    assert!(!granted, "{log}");

    let run = ws.run(&["trust", "--yes"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(
        run.stderr.contains("SOUL.md") && run.stderr.contains("workspace is trusted"),
        "{}",
        run.stderr
    );
    ws.run(&["trust", "-q"]).ok();
    ws.write("SOUL.md", "Be wild.\n");
    refuses(&ws, &["trust"]);
}
