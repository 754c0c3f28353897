//! `foreword audit`, against the built binary.

use crate::support::{Scratch, keys};
use serde_json::json;

fn used() -> Scratch {
    let ws = Scratch::new(&[
        ("deploy.md", "# Deploy\n\nHow we ship.\n"),
        ("tea.md", "# Tea\n\nBrew.\n"),
        ("evil.md", "# Run\n\nRuns.\n\n```js\neval(input)\n```\n"),
    ]);
    ws.run(&["skill", "propose", "deploy.md"]).ok();
    assert_eq!(ws.run(&["skill", "propose", "evil.md"]).status, 1);
    ws.run(&["skill", "propose", "tea.md"]).ok();
    ws
}

#[test]
fn every_action_is_in_the_log() {
    let ws = used();
    let log = ws.run(&["audit", "log", "--json"]).ok().json();
    let entries = log.as_array().unwrap();
    assert_eq!(
        keys(&entries[0]),
        ["action", "actor", "at", "detail", "hash", "outcome", "seq", "subject"]
    );
    let lines: Vec<String> = entries
        .iter()
        .map(|e| format!("{} {} {}", e["action"], e["subject"], e["outcome"]).replace('"', ""))
        .collect();
    assert_eq!(
        lines,
        [
            "skill.propose deploy pending",
            "skill.approve deploy done",
            "skill.propose evil refused",
            "skill.propose tea pending",
            "skill.approve tea done",
        ]
    );
    assert!(ws.run(&["audit", "log", "--since", "2h", "-n", "2"]).ok().stdout.contains("tea"));
    let later = ws.run(&["audit", "log", "--since", "2999-01-01", "--json"]).ok();
    assert_eq!(later.stdout, "[]\n");
    ws.run(&["audit", "log", "--since", "soon"]).fails(2);
    let ok = ws.run(&["audit", "verify", "--json"]).ok().json();
    assert_eq!(
        (ok["ok"].as_bool(), ok["entries"].as_u64(), ok["anchors"].as_u64()),
        (Some(true), Some(5), Some(2))
    );
}

#[test]
fn nothing_recorded_is_nothing_wrong() {
    let ws = Scratch::new(&[]);
    assert_eq!(ws.run(&["audit", "log", "--json"]).stdout, "[]\n");
    assert_eq!(ws.run(&["audit", "verify"]).status, 0);
    assert!(!ws.join(".foreword").exists() && !ws.config_dir().exists());
}

#[test]
fn a_log_that_is_gone_or_replaced_is_found() {
    let ws = used();
    let files = ["foreword.db", "foreword.db-wal", "foreword.db-shm"];
    for file in files {
        let _ = std::fs::remove_file(ws.join(&format!(".foreword/{file}")));
    }
    let gone = ws.run(&["audit", "verify"]);
    assert!(gone.fails(1).contains("the audit log is missing"), "{}", gone.stderr);
    // Nor does it help to take the whole folder away, with the history and its anchors.
    std::fs::remove_dir_all(ws.join(".foreword")).unwrap();
    let gone = ws.run(&["audit", "verify"]);
    assert!(gone.fails(1).contains("the audit log is missing"), "{}", gone.stderr);
    // Going on hides nothing, and a person can say that it was them.
    ws.write("more.md", "# More\n\nMore.\n");
    ws.run(&["skill", "propose", "more.md"]).ok();
    let replaced = ws.run(&["audit", "verify"]);
    assert_eq!(replaced.status, 1);
    assert!(replaced.stdout.contains("this log replaced another"), "{}", replaced.stdout);
    ws.run(&["audit", "accept", "--reason", "new disk"]).ok();
    assert_eq!(ws.run(&["audit", "verify"]).status, 0);
}

/// The anchors that are left all hold; what tells is the log, which names the commits.
#[test]
fn a_history_that_was_set_back_is_noticed() {
    let ws = used();
    assert_eq!(ws.run(&["audit", "verify", "--json"]).ok().json()["lostCommits"], json!([]));
    let branch = ".foreword/skills.git/refs/heads/main";
    let newest = ws.read(branch);
    let commits = ws.run(&["skill", "log", "deploy", "-n", "1", "--json"]).ok().json();
    ws.write(branch, format!("{}\n", commits[0]["commit"].as_str().unwrap()));
    let run = ws.run(&["audit", "verify"]);
    assert_eq!(run.status, 0);
    let said = format!(
        "warning: the skill history lacks 1 commit that the log records, the newest {}",
        newest.trim()
    );
    assert!(run.stderr.starts_with(&said), "{}", run.stderr);
    let value = ws.run(&["audit", "verify", "--json"]).json();
    assert_eq!(value["lostCommits"], json!([newest.trim()]));
}

#[cfg(unix)]
#[test]
fn the_key_is_the_persons_alone_and_outside_the_workspace() {
    use std::os::unix::fs::PermissionsExt;
    let ws = used();
    let key = ws.config_dir().join("audit.key");
    let mode = std::fs::metadata(&key).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let exposed = ws.run(&["skill", "propose", "deploy.md", "--name", "x"]);
    assert!(exposed.fails(2).contains("chmod 600"), "{}", exposed.stderr);
    let inside = ws
        .command(&["skill", "propose", "deploy.md", "--name", "x"])
        .env("FOREWORD_CONFIG_DIR", ws.join("config"))
        .run();
    assert!(inside.fails(2).contains("hint: "), "{}", inside.stderr);
    assert!(!ws.join("config").exists());
}
