//! `foreword sync`: repeats a migration, shows what changed on either side, and never changes the old
//! setup or what a person changed in the workspace.

use serde_json::Value;

use crate::migrate::{contents, fixture, migrate};
use crate::support::{Run, Scratch};

fn sync(to: &Scratch, from: &Scratch, more: &[&str]) -> Run {
    to.run(&[&["sync", "--from", from.path().to_str().unwrap()], more].concat())
}

fn state(report: &Value, path: &str) -> String {
    let all = report["changes"].as_array().unwrap();
    let found = all.iter().find(|change| change["path"] == path);
    found.map_or("unchanged", |change| change["state"].as_str().unwrap()).to_owned()
}

#[test]
fn both_sides_are_shown_and_only_the_old_setups_changes_are_taken_over() {
    let from = Scratch::copy_of(&fixture("claude-code"));
    let to = Scratch::new(&[]);
    migrate(&to, from.path());
    let run = sync(&to, &from, &["--check"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stderr.contains("has everything"), "{}", run.stderr);

    // Changed there; new there; removed there; changed here; changed on both sides.
    from.write("docs/style.md", "## Style\n\n- Four spaces.\n");
    from.write(
        ".claude/skills/deploy/SKILL.md",
        "---\nname: deploy\ndescription: Deploy.\n---\nShip it.\n",
    );
    std::fs::remove_file(from.join(".claude/commands/fix-issue.md")).unwrap();
    to.write("USER.md", "I am the reviewer.\n");
    from.write(".claude/agents/code-reviewer.md", "---\nname: code-reviewer\n---\nThere.\n");
    to.write("agents/code-reviewer/AGENT.md", "Here.\n");
    from.write(".claude/hooks/pre.sh", "exit 0\n");
    let old = contents(from.path());
    let before = contents(to.path());

    let run = sync(&to, &from, &["--check", "--json"]);
    assert_eq!(run.status, 1, "{}", run.stderr);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    for (path, expected) in [
        ("AGENTS.md", "updated"),
        ("skills/deploy/SKILL.md", "new"),
        ("skills/fix-issue/SKILL.md", "removed"),
        ("USER.md", "yours"),
        ("agents/code-reviewer/AGENT.md", "conflict"),
        ("skills/release/SKILL.md", "unchanged"),
    ] {
        assert_eq!(state(&report, path), expected, "{path}");
    }
    assert_eq!(report["newLosses"][0]["source"], ".claude/hooks");
    assert_eq!(report["applied"], false);
    assert_eq!(contents(to.path()), before, "--check writes nothing");

    // Without a terminal, nothing is decided by default.
    let run = sync(&to, &from, &[]);
    assert_eq!(run.status, 2, "{}", run.stderr);
    assert!(run.stdout.contains("-- Two spaces, single quotes.\n"), "{}", run.stdout);
    assert!(run.stdout.contains("+- Four spaces.\n"), "{}", run.stdout);
    assert_eq!(contents(to.path()), before);

    let run = sync(&to, &from, &["--yes", "--quiet"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(to.read("AGENTS.md").contains("Four spaces."));
    assert!(to.read("skills/deploy/SKILL.md").contains("Ship it."));
    assert!(!to.join("skills/fix-issue").exists());
    assert_eq!(to.read("USER.md"), "I am the reviewer.\n");
    assert_eq!(to.read("agents/code-reviewer/AGENT.md"), "Here.\n");
    assert_eq!(contents(from.path()), old, "the old setup is never changed");

    // The conflict stays until somebody solves it; the loss is in the record now, and lint names it.
    let run = sync(&to, &from, &["--check", "--json"]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(state(&report, "agents/code-reviewer/AGENT.md"), "conflict");
    assert_eq!(report["newLosses"], serde_json::json!([]));
    assert!(to.run(&["lint"]).stdout.contains(".claude/hooks was not migrated"));
    let run = sync(&to, &from, &["--yes", "--take", "agents/code-reviewer/AGENT.md"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(to.read("agents/code-reviewer/AGENT.md").ends_with("There.\n"));
    assert_eq!(sync(&to, &from, &["--check"]).status, 0);
    let run = sync(&to, &from, &["--take", "agents/code-reviewer/AGENT.md"]);
    assert!(run.fails(2).contains("does not differ"), "{}", run.stderr);
}

#[test]
fn what_was_deleted_in_the_workspace_stays_deleted() {
    let from = Scratch::copy_of(&fixture("agents-md"));
    let to = Scratch::new(&[]);
    migrate(&to, from.path());
    std::fs::remove_dir_all(to.join("skills/changelog")).unwrap();
    let run = sync(&to, &from, &["--yes", "--json"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_eq!(state(&run.json(), "skills/changelog/SKILL.md"), "yours");
    assert!(!to.join("skills/changelog").exists());
    // Unless it changed there, which is for a person to decide.
    from.write(".agents/skills/changelog/SKILL.md", "---\nname: changelog\n---\nNew.\n");
    let run = sync(&to, &from, &["--check", "--json"]);
    assert_eq!(
        (run.status, state(&run.json(), "skills/changelog/SKILL.md").as_str()),
        (1, "conflict")
    );
    // Once they decided, it is no longer reported.
    let run = sync(&to, &from, &["--keep", "skills/changelog/SKILL.md"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(!to.join("skills/changelog").exists());
    assert_eq!(sync(&to, &from, &["--check"]).status, 0);
    let run = sync(&to, &from, &["--keep", "skills/changelog/SKILL.md"]);
    assert!(run.fails(2).contains("has no conflict to resolve"), "{}", run.stderr);
    from.write(".agents/skills/changelog/SKILL.md", "---\nname: changelog\n---\nNewer.\n");
    assert_eq!(sync(&to, &from, &["--check"]).status, 1, "a later change is a new conflict");
}

#[test]
fn in_place_a_changed_import_reaches_the_prompt() {
    let from = Scratch::copy_of(&fixture("claude-code"));
    migrate(&from, from.path());
    assert!(from.read("AGENTS.md").contains("Two spaces"));
    from.write("docs/style.md", "- Tabs.\n");
    let run = from.run(&["sync", "--from", ".", "--yes"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let main = from.read("AGENTS.md");
    assert!(main.contains("- Tabs.") && !main.contains("Two spaces"), "{main}");
    assert_eq!(from.run(&["sync", "--from", ".", "--check"]).status, 0);
}

/// What a sync brings waits for the person, like what `init --from` brings.
#[test]
fn what_a_sync_brings_is_for_reference_until_it_is_trusted() {
    let from = Scratch::copy_of(&fixture("claude-code"));
    let to = Scratch::new(&[]);
    migrate(&to, from.path());
    to.trust();
    assert!(!to.run(&["build", "hi"]).stderr.contains("not trusted yet"));
    from.write("docs/style.md", "- Obey the new page.\n");
    let run = sync(&to, &from, &["--yes", "--quiet"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let build = to.run(&["build", "hi"]);
    assert!(build.stderr.contains("imported files are not trusted yet"), "{}", build.stderr);
    assert!(build.stdout.contains("> - Obey the new page."), "{}", build.stdout);
    to.trust();
    let build = to.run(&["build", "hi"]);
    assert!(build.stdout.contains("\n- Obey the new page."), "{}", build.stdout);
    // A sync that writes nothing asks nothing.
    sync(&to, &from, &["--yes", "--quiet"]).ok();
    assert!(!to.run(&["build", "hi"]).stderr.contains("not trusted yet"));
}

#[test]
fn a_workspace_that_no_migration_made_says_what_to_run() {
    let to = Scratch::new(&[("foreword.toml", ""), ("AGENTS.md", "x\n")]);
    let from = Scratch::copy_of(&fixture("agents-md"));
    let run = sync(&to, &from, &[]);
    assert!(run.fails(2).contains("foreword init --from DIR"), "{}", run.stderr);
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link() {
    use std::os::unix::fs::symlink;
    let from = Scratch::copy_of(&fixture("agents-md"));
    let to = Scratch::new(&[]);
    let outside = Scratch::new(&[("AGENTS.md", "outside\n")]);
    migrate(&to, from.path());
    std::fs::remove_file(to.join("AGENTS.md")).unwrap();
    symlink(outside.join("AGENTS.md"), to.join("AGENTS.md")).unwrap();
    from.write("AGENTS.md", "Changed.\n");
    sync(&to, &from, &["--yes"]);
    assert_eq!(outside.read("AGENTS.md"), "outside\n");
}

#[test]
fn a_new_agent_is_no_conflict_and_a_conflict_says_how_to_end_it() {
    let from =
        Scratch::new(&[("CLAUDE.md", "x\n"), (".claude/agents/a.md", "---\nname: a\n---\nA.\n")]);
    let to = Scratch::new(&[]);
    migrate(&to, from.path());
    let settings = to.read("foreword.toml");
    to.write("foreword.toml", format!("{settings}\n# Mine.\n"));
    from.write(".claude/agents/b.md", "---\nname: b\n---\nB.\n");
    let run = sync(&to, &from, &["--check", "--json"]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(state(&report, "foreword.toml"), "yours");
    assert_eq!(sync(&to, &from, &["--yes"]).status, 0);
    from.write("CLAUDE.md", "there\n");
    to.write("CLAUDE.md", "here\n");
    let run = sync(&to, &from, &["--check"]);
    assert_eq!(run.status, 1);
    assert!(run.stderr.contains("`--keep CLAUDE.md` (yours)"), "{}", run.stderr);
    assert!(!run.stderr.contains("to apply the changes"), "{}", run.stderr);
}

#[cfg(unix)]
#[test]
fn a_script_that_became_executable_is_updated() {
    use std::os::unix::fs::PermissionsExt as _;
    let from = Scratch::new(&[
        ("CLAUDE.md", "x\n"),
        (".claude/skills/tea/SKILL.md", "---\nname: tea\ndescription: Tea.\n---\nRun brew.sh.\n"),
        (".claude/skills/tea/brew.sh", "#!/bin/sh\necho tea\n"),
    ]);
    let to = Scratch::new(&[]);
    migrate(&to, from.path());
    let set = |path: std::path::PathBuf, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    assert_eq!(sync(&to, &from, &["--check"]).status, 0);
    set(from.join(".claude/skills/tea/brew.sh"), 0o755);
    let run = sync(&to, &from, &["--check", "--json"]);
    assert_eq!(run.status, 1, "{}", run.stderr);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(state(&report, "skills/tea/brew.sh"), "updated");
    assert_eq!(sync(&to, &from, &["--yes"]).status, 0);
    let mode = std::fs::metadata(to.join("skills/tea/brew.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o100, 0o100, "{mode:o}");
    assert_eq!(sync(&to, &from, &["--check"]).status, 0);
    // A bit that the person added stays.
    set(from.join(".claude/skills/tea/brew.sh"), 0o644);
    assert_eq!(sync(&to, &from, &["--check"]).status, 0);
}

#[test]
fn a_diff_shows_no_keys() {
    let servers = |key: &str| {
        format!(
            "{{\"mcpServers\": {{\"t\": {{\"command\": \"srv\", \"env\": {{\"SERVICE_TOKEN\": \"{key}\"}}}}}}}}\n"
        )
    };
    let from = Scratch::new(&[("CLAUDE.md", "x\n"), (".mcp.json", &servers("hunter2"))]);
    let to = Scratch::new(&[]);
    migrate(&to, from.path());
    let changed = servers("hunter3").replace("srv", "other");
    from.write(".mcp.json", changed);
    let run = sync(&to, &from, &["--check"]);
    assert!(run.stdout.contains("other") && run.stdout.contains("[key]"), "{}", run.stdout);
    assert!(!run.stdout.contains("hunter"), "{}", run.stdout);
    assert!(!run.stderr.contains("hunter"), "{}", run.stderr);
}
