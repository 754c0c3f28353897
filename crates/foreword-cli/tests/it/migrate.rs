//! `foreword init --from` against the real binary: what is carried, mapped, left and lost, and that the
//! old setup is never changed. `migrate_run.rs` runs what was migrated.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Run, Scratch, strings};

/// An old setup made of files.
fn directory(files: &[(&str, &str)]) -> Scratch {
    Scratch::new(files)
}

fn utf8(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A directory of `tests/fixtures/migrate/`.
pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/migrate").join(name)
}

/// Every fixture, each with one layout or several.
pub(crate) const FIXTURES: [&str; 7] =
    ["claude-code", "agents-md", "codex", "cursor", "openclaw", "cosmonauts", "mixture"];

/// Every file below a directory, by path.
pub(crate) fn contents(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                open.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_path_buf();
                found.insert(name, fs::read(path).unwrap_or_default());
            }
        }
    }
    found
}

/// Runs `init --from` and gives its report.
pub(crate) fn migrate(to: &Scratch, from: &Path) -> Value {
    let run = to.run(&["init", "--json", "-w", ".", "--from", utf8(from)]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let report = run.json();
    assert_eq!(report["problems"], serde_json::json!([]), "{}", run.stderr);
    report
}

/// The row of a file or setting: its outcome, its target and its note.
pub(crate) fn row<'a>(report: &'a Value, source: &str) -> (&'a str, &'a str, &'a str) {
    let all = report["table"].as_array().unwrap();
    let found = all.iter().find(|row| row["source"] == source);
    let row = found.unwrap_or_else(|| panic!("{source} in {all:#?}"));
    let text = |key: &str| row[key].as_str().unwrap_or_default();
    (text("outcome"), text("to"), text("note"))
}

/// The sources of all rows with an outcome.
fn sources<'a>(report: &'a Value, outcome: &str) -> Vec<&'a str> {
    let all = report["table"].as_array().unwrap().iter();
    all.filter(|row| row["outcome"] == outcome).map(|row| row["source"].as_str().unwrap()).collect()
}

/// The prompt of a workspace, which has to be there.
/// The prompt once the person has accepted what was migrated: until then it is only quoted.
fn build(workspace: &Scratch, more: &[&str]) -> String {
    workspace.trust();
    let run = workspace.run(&[&["build", "--quiet", "Say hello."], more].concat());
    assert_eq!(run.status, 0, "{}", run.stderr);
    run.stdout
}

fn lint(workspace: &Scratch) -> Run {
    workspace.run(&["lint"])
}

#[test]
fn every_fixture_is_migrated_with_a_row_for_everything_and_nothing_of_it_changes() {
    for name in FIXTURES {
        let before = contents(&fixture(name));
        let to = Scratch::new(&[]);
        let report = migrate(&to, &fixture(name));
        assert_eq!(contents(&fixture(name)), before, "{name}");
        // Every file is in the table, by itself, by a part of it or by its folder.
        let table = report["table"].as_array().unwrap();
        let named: Vec<&str> = table.iter().map(|row| row["source"].as_str().unwrap()).collect();
        for path in before.keys() {
            let path = path.to_str().unwrap();
            let path = path.strip_prefix("workspace/").unwrap_or(path);
            let is_named = named.iter().any(|source| {
                let file = source.split_once(": ").map_or(*source, |(file, _)| file);
                path == file || path.starts_with(&format!("{}/", file.trim_end_matches('/')))
            });
            assert!(is_named, "{name}: no row for {path}");
        }
        // Lint fails exactly for the losses, and no more once they are accepted.
        let lost = sources(&report, "lost").len();
        let run = lint(&to);
        let found = run.stdout.matches("error [migration-loss]").count();
        let errors = run.stdout.matches(": error [").count();
        assert_eq!((found, errors), (lost, lost), "{name}: {}", run.stdout);
        assert_eq!(run.status, i32::from(lost > 0), "{name}: {}", run.stdout);
        let record = to.read("foreword-migration.toml");
        to.write("foreword-migration.toml", record.replace("accepted = false", "accepted = true"));
        assert_eq!(lint(&to).status, 0, "{name}");
        // A second run changes nothing, and keeps what was accepted.
        let written = contents(to.path());
        let again = migrate(&to, &fixture(name));
        assert_eq!(strings(&again["written"]), Vec::<&str>::new(), "{name}");
        assert_eq!(again["table"], report["table"], "{name}");
        assert_eq!(contents(to.path()), written, "{name}");
    }
}

#[test]
fn every_fixture_can_be_migrated_in_place_again_and_again() {
    for name in FIXTURES {
        let from = Scratch::copy_of(&fixture(name));
        // The workspace of an OpenClaw home is below it.
        if name == "openclaw" {
            continue;
        }
        let before = contents(from.path());
        let report = migrate(&from, from.path());
        let written = contents(from.path());
        assert!(before.iter().all(|(path, bytes)| written.get(path) == Some(bytes)), "{name}");
        let again = migrate(&from, from.path());
        assert_eq!(strings(&again["written"]), Vec::<&str>::new(), "{name}");
        assert_eq!(again["table"], report["table"], "{name}");
        assert_eq!(contents(from.path()), written, "{name}");
        let run = from.run(&["sync", "--from", ".", "--check"]);
        assert_eq!(run.status, 0, "{name}: {}{}", run.stdout, run.stderr);
        build(&from, &[]);
        // Another workspace gets the old setup, not what was made of it.
        let (other, first) = (Scratch::new(&[]), Scratch::new(&[]));
        let table = migrate(&other, from.path())["table"].clone();
        assert_eq!(table, migrate(&first, &fixture(name))["table"], "{name}");
    }
}

#[test]
fn a_claude_code_project_is_carried_over() {
    let to = Scratch::new(&[]);
    let report = migrate(&to, &fixture("claude-code"));
    assert_eq!(strings(&report["layouts"]), ["Claude Code"]);
    assert_eq!(report["blueprint"], "standard");
    assert_eq!(strings(&report["agents"]), ["code-reviewer", "test-runner"]);

    // Instructions with their imports, in their places.
    let main = to.read("AGENTS.md");
    let places = ["Use pnpm", "Two spaces", "Say \"basket\"", "Before a commit", "Rebase before"]
        .map(|text| main.find(text).unwrap_or_else(|| panic!("{text} in {main}")));
    assert!(places.is_sorted(), "{main}");
    assert_eq!(row(&report, "docs/wording.md").0, "mapped");
    let (outcome, _, why) = row(&report, "CLAUDE.md: @~/.claude/harbor.md");
    assert!(outcome == "lost" && why.contains("outside the project"), "{why}");
    assert_eq!(to.read("USER.md"), "My staging server is called `marlin`.\n");
    assert_eq!(row(&report, "packages/web/CLAUDE.md").0, "carried");
    let context = to.read("CONTEXT.md");
    for text in ["src/api/**/*.ts", "Validate every request", "failing test", "three sentences"] {
        assert!(context.contains(text), "{text} in {context}");
    }

    // Agents with the tools and models that Foreword knows.
    assert_eq!(
        to.read("agents/code-reviewer/AGENT.md"),
        "---\nid: \"code-reviewer\"\ndescription: \"Use it after every change: it reviews the \\\"diff\\\".\"\n\
         model: \"claude-sonnet-5-5\"\ntools:\n  - \"read\"\n  - \"search\"\n  - \"list\"\n  - \"bash\"\n---\n\n\
         You review diffs for correctness before style.\n"
    );
    let lost = ".claude/agents/code-reviewer.md: tool WebSearch";
    assert_eq!(row(&report, lost).0, "lost");
    let tester = to.read("agents/test-runner/AGENT.md");
    let without = "disallowed_tools:\n  - \"write\"\n  - \"edit\"\nskills:";
    assert!(tester.contains(without) && !tester.contains("\ntools:"), "{tester}");

    // Skills byte for byte, with scripts and binary files; commands as skills.
    let skills = contents(&to.join("skills/release"));
    assert_eq!(skills, contents(&fixture("claude-code").join(".claude/skills/release")));
    let mode = fs::metadata(to.join("skills/release/scripts/tag.sh")).unwrap();
    assert!(std::os::unix::fs::PermissionsExt::mode(&mode.permissions()) & 0o100 != 0);
    let command = to.read("skills/fix-issue/SKILL.md");
    assert!(command.contains("Look at issue $ARGUMENTS, write a failing test"), "{command}");
    assert_eq!(
        row(&report, ".claude/commands/frontend/component.md").1,
        "skills/frontend-component/"
    );

    // Servers without the one that was off; settings; and what has no equivalent.
    let servers: Value = serde_json::from_str(&to.read(".mcp.json")).unwrap();
    assert_eq!(servers["mcpServers"]["tickets"]["env"]["TICKETS_TOKEN"], "${TICKETS_TOKEN}");
    assert!(servers["mcpServers"].get("legacy").is_none());
    assert_eq!(row(&report, ".mcp.json: legacy").0, "left");
    let settings = to.read("foreword.toml");
    assert!(settings.contains("\nname = \"claude-opus-5-5\"\n"), "{settings}");
    assert!(settings.contains("\nweb_hosts = [\"docs.example.com\"]\n"), "{settings}");
    for lost in ["hooks.PostToolUse", "env", "permissions.defaultMode"] {
        assert_eq!(row(&report, &format!(".claude/settings.json: {lost}")).0, "lost");
    }
    assert_eq!(row(&report, ".claude/settings.json: statusLine").0, "left");
}

/// The rules are mapped as soon as foreword.toml takes them, and lost with a reason until then. Either
/// way no rule is dropped silently.
#[test]
fn permission_rules_are_never_dropped_silently() {
    let to = Scratch::new(&[]);
    let report = migrate(&to, &fixture("claude-code"));
    let settings = to.read("foreword.toml");
    for (rule, pattern) in [
        ("allow Bash(pnpm test:*)", "bash(pnpm test:*)"),
        ("allow Edit(docs/**)", "edit(docs/**)"),
        ("ask Bash(git push:*)", "bash(git push:*)"),
        ("deny Read(./.env)", "read(.env)"),
    ] {
        let source = format!(".claude/settings.json: permissions.{rule}");
        match row(&report, &source) {
            ("mapped", to, note) => {
                let list = rule.split_once(' ').unwrap().0;
                assert!(
                    to == "foreword.toml" && note.starts_with(&format!("permissions.{list}: ")),
                    "{note}"
                );
                let line = settings.lines().find(|line| line.starts_with(&format!("{list} = ")));
                assert!(line.unwrap().contains(&format!("\"{pattern}\"")), "{settings}");
            }
            (outcome, _, note) => {
                assert!(outcome == "lost" && note.contains("permission rules"), "{rule}: {note}");
            }
        }
    }
}

#[test]
fn the_main_agent_stays_the_main_agent_and_can_start_the_others() {
    let from = directory(&[
        ("CLAUDE.md", "You are Harbor's assistant.\n"),
        (
            ".claude/agents/a.md",
            "---\nname: solo\ndescription: Does one thing.\n---\nYou are Solo.\n",
        ),
    ]);
    let to = Scratch::new(&[]);
    migrate(&to, from.path());
    assert!(!to.read("foreword.toml").contains("\nagent = "));
    let main = build(&to, &[]);
    assert!(main.contains("You are Harbor's assistant.") && !main.contains("You are Solo."));
    assert!(main.contains(
        "spawn_agent: Start another agent on a piece of work. Agents: solo (Does one thing.)"
    ));
    let solo = build(&to, &["--agent", "solo"]);
    assert!(solo.contains("You are Solo.") && solo.contains("You are Harbor's assistant."));

    // Also where only sub-agents are there.
    let from = directory(&[(".claude/agents/a.md", "---\nname: solo\n---\nYou are Solo.\n")]);
    let to = Scratch::new(&[]);
    migrate(&to, from.path());
    assert!(!build(&to, &[]).contains("You are Solo."));

    // Cosmonauts has a main agent by name.
    let to = Scratch::new(&[]);
    migrate(&to, &fixture("cosmonauts"));
    let main = build(&to, &[]);
    for text in ["You are Cosmo.", "compiler for star charts", "charts: Render a star chart."] {
        assert!(main.contains(text), "{text} in {main}");
    }
}

#[test]
fn codex_and_cursor_are_carried_over() {
    let to = Scratch::new(&[]);
    let report = migrate(&to, &fixture("codex"));
    assert_eq!(strings(&report["layouts"]), ["Codex"]);
    let settings = to.read("foreword.toml");
    assert!(
        settings.contains("\nname = \"gpt-5.5\"\n")
            && settings.contains("\nprovider = \"openai\"\n")
    );
    assert!(to.read("agents/explorer/AGENT.md").contains("disallowed_tools:\n  - \"write\"\n"));
    assert_eq!(to.read("CONTEXT.md"), "Prefer small pull requests.\n");
    let servers: Value = serde_json::from_str(&to.read(".mcp.json")).unwrap();
    assert_eq!(
        servers["mcpServers"]["search"]["headers"]["Authorization"],
        "Bearer ${SEARCH_TOKEN}"
    );
    assert_eq!(row(&report, ".codex/config.toml: mcp_servers.old").0, "left");
    assert_eq!(row(&report, ".codex/config.toml: notify").0, "lost");

    let to = Scratch::new(&[]);
    let report = migrate(&to, &fixture("cursor"));
    assert_eq!(strings(&report["layouts"]), ["Cursor"]);
    let main = to.read("AGENTS.md");
    for text in ["Go 1.24", "Never edit generated files", "migrations/*.sql"] {
        assert!(main.contains(text), "{text} in {main}");
    }
    assert_eq!(row(&report, ".cursor/rules/rpc.mdc").1, "skills/rpc/");
    assert!(to.read("agents/verifier/AGENT.md").contains("disallowed_tools:\n  - \"write\"\n"));
    assert_eq!(row(&report, ".cursor/hooks.json").0, "lost");
}

#[test]
fn a_mixture_loses_none_of_its_parts() {
    let to = Scratch::new(&[]);
    let report = migrate(&to, &fixture("mixture"));
    assert_eq!(strings(&report["layouts"]), ["Claude Code", "Codex", "Cursor"]);
    let prompt = build(&to, &[]);
    for text in [
        "Keel is a build tool.",
        "cite files",
        "Public functions have doc comments.",
        "bisect: Find",
    ] {
        assert!(prompt.contains(text), "{text} in {prompt}");
    }
    assert!(to.read("agents/planner/AGENT.md").contains("mode: \"plan\""));
    assert!(row(&report, ".agents/skills/bisect").2.contains("same text as .claude/skills/bisect"));
    assert!(row(&report, ".codex/config.toml: mcp_servers: ci").2.contains("another server"));
    let servers: Value = serde_json::from_str(&to.read(".mcp.json")).unwrap();
    assert_eq!(servers["mcpServers"]["ci"]["args"][0], "--json");
}

#[test]
fn the_table_ends_the_output_and_losses_come_last() {
    let to = Scratch::new(&[]);
    let run = to.run(&["init", "-w", ".", "--from", utf8(&fixture("claude-code"))]);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""));
    let lines: Vec<&str> = run.stderr.lines().collect();
    let order = ["carried", "mapped", "left", "lost"];
    let mut places: Vec<usize> = lines
        .iter()
        .filter_map(|line| order.iter().position(|word| line.starts_with(&format!("{word} "))))
        .collect();
    assert!(places.is_sorted(), "{}", run.stderr);
    places.dedup();
    assert_eq!(places, [0, 1, 2, 3], "{}", run.stderr);
    assert!(run.stderr.contains("`foreword lint` fails until"), "{}", run.stderr);
    assert!(lines.last().unwrap().starts_with("next: foreword trust"), "{}", run.stderr);
}

#[test]
fn at_a_terminal_a_migration_ends_with_the_trust_question() {
    let to = Scratch::new(&[]);
    let from = fixture("agents-md");
    let command = to.command(&["init", "-w", ".", "--from", utf8(&from)]).env("NO_COLOR", "1");
    let Some((status, shown)) = command.at_terminal("y\n") else { return };
    assert_eq!(status, 0, "{shown}");
    let table = shown.find("carried  AGENTS.md").unwrap();
    let question = shown.find("Trust this workspace?").unwrap();
    assert!(table < question, "{shown}");
    assert!(shown.contains("changelog (skills/changelog/SKILL.md"), "{shown}");
    let trusted = to.run(&["trust", "--json"]);
    assert_eq!(trusted.status, 0, "{}", trusted.stderr);
}

#[test]
fn a_file_of_the_workspace_that_differs_is_kept_and_the_loss_is_named() {
    let to = Scratch::new(&[("AGENTS.md", "Mine.\n")]);
    let report = migrate(&to, &fixture("claude-code"));
    assert_eq!(to.read("AGENTS.md"), "Mine.\n");
    let (outcome, _, why) = row(&report, "docs/style.md");
    assert!(outcome == "lost" && why.contains("AGENTS.md exists in the workspace"), "{why}");
    assert_eq!(lint(&to).status, 1);
}

#[test]
fn long_instructions_are_not_cut() {
    let long =
        format!("Start.\n\n{}The end of the rules.\n", "A rule that matters.\n\n".repeat(2_000));
    let from = directory(&[("CLAUDE.md", &long)]);
    let to = Scratch::new(&[]);
    migrate(&to, from.path());
    assert!(build(&to, &[]).contains("The end of the rules."));
}

#[test]
fn an_openclaw_workspace_is_carried_over() {
    let from = directory(&[
        ("AGENTS.md", "Follow the house rules.\n"),
        ("SOUL.md", "Curious as an otter.\n"),
        ("TOOLS.md", "Prefer the calendar.\n"),
        ("USER.md", "Ada.\n"),
        ("MEMORY.md", "Ada likes tea.\n"),
        ("memory/2026-01-01.md", "Tea.\n"),
        ("skills/brew/SKILL.md", "---\nname: brew\ndescription: Brew tea.\n---\nBoil water.\n"),
        ("skills/brew/scripts/run.sh", "#!/bin/sh\n"),
        ("skills/brew/.env", "TOKEN=1\n"),
        ("skills/empty/notes.md", "x"),
    ]);
    from.write("skills/brew/logo.png", b"\x89PNG\0\0");
    let to = Scratch::new(&[]);
    let report = migrate(&to, from.path());
    assert_eq!(
        (&report["layouts"][0], &report["blueprint"]),
        (&"OpenClaw".into(), &"companion".into())
    );
    let written = strings(&report["written"]);
    for path in ["skills/brew/scripts/run.sh", "skills/brew/logo.png"] {
        assert!(written.contains(&path), "{path}");
    }
    for path in ["MEMORY.md", "memory"] {
        let (outcome, _, why) = row(&report, path);
        assert!(outcome == "lost" && why.contains("foreword memory import"), "{why}");
    }
    assert!(row(&report, "skills/brew/.env").2.contains("may hold keys"));
    assert!(row(&report, "skills/empty").2.contains("SKILL.md"));
    let prompt = build(&to, &[]);
    for text in ["house rules", "Curious as an otter.", "Prefer the calendar.", "Brew tea."] {
        assert!(prompt.contains(text), "{text} in {prompt}");
    }

    // A whole home, whose documents need more sections than `companion` has.
    let to = Scratch::new(&[]);
    let report = migrate(&to, &fixture("openclaw"));
    assert_eq!(report["blueprint"], "standard");
    assert!(to.read("foreword.toml").contains("\nname = \"claude-opus-4-6\"\n"));
    let prompt = build(&to, &[]);
    for text in ["Curious as an otter", "Pilot", "Ada", "inky", "tide table", "Ask before you send"]
    {
        assert!(prompt.contains(text), "{text} in {prompt}");
    }
    assert_eq!(row(&report, "openclaw.json: channels").0, "lost");
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
    let to = Scratch::new(&[]);
    let report = migrate(&to, from.path());
    assert_eq!(strings(&report["agents"]), ["pip"]);
    assert_eq!(row(&report, "agents/pip/AGENT.md: voice").0, "lost");
    assert!(row(&report, "agents/pip/sessions").2.contains("not used"));
    assert!(row(&report, "agents/none").2.contains("no AGENT.md"));
    assert_eq!(
        to.read("agents/pip/AGENT.md"),
        "---\nid: \"pip\"\nmodel: m-1\n---\n\nYou are Pip.\n"
    );
    let prompt = build(&to, &["--agent", "pip"]);
    assert!(prompt.contains("You are Pip.") && prompt.contains("Brisk.") && prompt.contains("m-1"));
    assert!(build(&to, &[]).contains("Warm."));
}

#[test]
fn the_older_cosmonauts_layout_is_moved_into_layers() {
    let from = directory(&[
        ("prompts/base/coding.md", "You are Cosmo. Write good code.\n"),
        ("prompts/roles/worker.md", "You are the worker.\n"),
        ("prompts/roles/extra.txt", "x"),
    ]);
    let to = Scratch::new(&[]);
    let report = migrate(&to, from.path());
    assert_eq!(strings(&report["layouts"]), ["Cosmonauts"]);
    assert!(strings(&report["notes"])[0].contains("foreword lint"));
    assert!(row(&report, "prompts/roles/extra.txt").2.contains("not part of"));
    assert_eq!(row(&report, "prompts/base/coding.md").1, "prompts/base.md");
    let prompt = build(&to, &[]);
    assert!(prompt.contains("Write good code.") && prompt.contains("You are the worker."));
}

#[test]
fn in_place_skills_and_servers_stay_where_they_are() {
    let from = Scratch::copy_of(&fixture("mixture"));
    from.write("CLAUDE.md", "@AGENTS.md\r\nShort answers.\r\n");
    let report = migrate(&from, from.path());
    assert!(from.read("foreword.toml").contains("\nroots = [\".claude/skills\"]\n"));
    assert!(!from.join("skills/bisect").exists());
    assert_eq!(row(&report, ".claude/skills/bisect/").1, ".claude/skills/bisect/");
    assert_eq!(row(&report, ".mcp.json: wiki").0, "carried");
    assert!(build(&from, &[]).contains("bisect: Find the commit"));
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
        ("CLAUDE.md", "@leak.md\n@docs/rules.md\n"),
    ]);
    symlink("docs/rules.md", from.join("AGENTS.md")).unwrap();
    symlink(outside.join("secret.md"), from.join("USER.md")).unwrap();
    symlink(outside.join("secret.md"), from.join("leak.md")).unwrap();
    symlink(outside.path(), from.join("skills/b")).unwrap();
    symlink(outside.path(), from.join("packages")).unwrap();
    symlink("..", from.join("skills/a/loop")).unwrap();
    symlink(".", from.join("skills/a/self")).unwrap();
    let to = Scratch::new(&[]);
    let report = migrate(&to, from.path());
    assert_eq!(to.read("AGENTS.md"), "The rules.\n");
    assert!(row(&report, "USER.md").2.contains("to outside the directory"));
    assert_eq!(row(&report, "CLAUDE.md: @leak.md").0, "lost");
    assert!(row(&report, "skills/a/self").2.contains("parent directory"));
    assert!(contents(to.path()).values().all(|bytes| !bytes.starts_with(b"secret")));
}

/// Sixty links to the folder they lie in would be sixty to the fourth folders.
#[cfg(unix)]
#[test]
fn links_in_circles_below_agents_commands_and_rules_end() {
    use std::os::unix::fs::symlink;
    let from = directory(&[
        ("CLAUDE.md", "x\n"),
        (".claude/agents/a.md", "---\nname: a\n---\nA.\n"),
        (".claude/commands/b.md", "B.\n"),
        (".claude/rules/c.md", "C.\n"),
        (".cursor/rules/d.mdc", "D.\n"),
    ]);
    for folder in [".claude/agents", ".claude/commands", ".claude/rules", ".cursor/rules"] {
        for number in 0..60 {
            symlink(".", from.join(&format!("{folder}/link-{number}"))).unwrap();
        }
    }
    let began = std::time::Instant::now();
    let report = migrate(&Scratch::new(&[]), from.path());
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
    for path in [".claude/agents/link-7", ".cursor/rules/link-59"] {
        assert!(row(&report, path).2.contains("parent directory"));
    }
    for path in [".claude/agents/a.md", ".claude/commands/b.md", ".claude/rules/c.md"] {
        assert_eq!(row(&report, path).0, "mapped", "{path}");
    }
}

#[test]
fn broken_files_are_named_and_the_rest_is_migrated() {
    let from = directory(&[
        ("CLAUDE.md", "Be kind.\n"),
        (".claude/settings.json", "{ not json"),
        (".mcp.json", "[1, 2]"),
        (".claude/agents/open.md", "---\nname: open\n"),
        (".claude/commands/open.md", "---\ndescription: x\n"),
        (
            ".cursor/mcp.json",
            "{\"mcpServers\": {\"a\": 7, \"b\": {\"command\": \"b\", \"args\": \"-x\"}, \"c\": {\"command\": \"c\"}}}",
        ),
        (".codex/config.toml", "model = "),
    ]);
    from.write(".claude/skills/bad/SKILL.md", b"\xff\xfe");
    let to = Scratch::new(&[]);
    let report = migrate(&to, from.path());
    for (path, why) in [
        (".claude/settings.json", "not valid JSON"),
        (".claude/agents/open.md", "its header has no end"),
        (".claude/commands/open.md", "its header has no end"),
        (".cursor/mcp.json: a", "not the settings of an MCP server"),
        (".cursor/mcp.json: b", "expected a sequence"),
        (".codex/config.toml", "not valid TOML"),
    ] {
        let (outcome, _, note) = row(&report, path);
        assert!(outcome == "lost" && note.contains(why), "{path}: {outcome} {note}");
    }
    assert_eq!(row(&report, ".cursor/mcp.json: c").0, "mapped");
    assert!(build(&to, &[]).contains("Be kind."));
}

/// File names are other people's words, also in the output of lint.
#[cfg(unix)]
#[test]
fn a_file_name_cannot_write_to_the_terminal() {
    let from = directory(&[
        ("CLAUDE.md", "Be kind.\n"),
        (".claude/agents/a\u{1b}[2J\nb.md", "---\nname: open\n"),
    ]);
    let to = Scratch::new(&[]);
    migrate(&to, from.path());
    let lint = lint(&to);
    assert_eq!(lint.status, 1, "{}", lint.stdout);
    assert!(
        !lint.stdout.contains('\u{1b}') && lint.stdout.contains("\\u{a}b.md"),
        "{}",
        lint.stdout
    );
}

#[test]
fn an_unknown_layout_says_what_was_looked_for() {
    let from = directory(&[("main.py", "print()")]);
    let to = Scratch::new(&[]);
    let run = to.run(&["init", "-w", "new", "--from", utf8(from.path())]);
    for text in ["unknown layout", "SOUL.md", "CLAUDE.md", ".cursor/", "prompts/cosmonauts.md"] {
        assert!(run.fails(2).contains(text), "{}", run.stderr);
    }
    assert!(!to.join("new").exists());
    let run = to.run(&["init", "-w", "new", "--from", "gone"]);
    assert!(run.fails(2).contains("gone"));
}

#[cfg(unix)]
#[test]
fn one_file_under_two_names_is_one_file() {
    use std::os::unix::fs::symlink;
    for (file, link) in [("CLAUDE.md", "AGENTS.md"), ("AGENTS.md", "CLAUDE.md")] {
        let from = directory(&[
            (file, "Be kind.\n"),
            (".agents/skills/tea/SKILL.md", "---\nname: tea\ndescription: Brew tea.\n---\nBoil.\n"),
            (".claude/settings.json", "{}"),
        ]);
        symlink(file, from.join(link)).unwrap();
        symlink("../.agents/skills", from.join(".claude/skills")).unwrap();
        let to = Scratch::new(&[]);
        let report = migrate(&to, from.path());
        assert_eq!(sources(&report, "lost"), Vec::<&str>::new(), "{file}");
        assert_eq!(build(&to, &[]).matches("Be kind.").count(), 1);
        // In place, too.
        let report = migrate(&from, from.path());
        assert_eq!(sources(&report, "lost"), Vec::<&str>::new(), "{file}");
        let prompt = build(&from, &[]);
        assert!(
            prompt.matches("Be kind.").count() == 1 && prompt.contains("tea: Brew tea."),
            "{prompt}"
        );
        assert_eq!(from.run(&["sync", "--from", ".", "--check"]).status, 0);
        assert_eq!(lint(&from).status, 0, "{}", lint(&from).stdout);
        // What was made there is not part of the old setup for another workspace either.
        assert_eq!(
            from.run(&["sync", "-w", to.path().to_str().unwrap(), "--from", ".", "--check"]).status,
            0
        );
    }
}

#[test]
fn a_workspace_inside_the_old_project_is_not_part_of_it() {
    let from = Scratch::copy_of(&fixture("claude-code"));
    for _ in 0..2 {
        let run = from.run(&["init", "--json", "-w", "agent", "--from", "."]);
        assert_eq!(run.status, 0, "{}", run.stderr);
        let report = run.json();
        let table = report["table"].as_array().unwrap();
        assert!(table.iter().all(|row| !row["source"].as_str().unwrap().starts_with("agent/")));
    }
    let run = from.run(&["sync", "-w", "agent", "--from", ".", "--check"]);
    assert_eq!(run.status, 0, "{}{}", run.stdout, run.stderr);
}

#[test]
fn a_persons_own_directory_of_a_tool_is_a_layout() {
    let home = directory(&[
        (".claude/CLAUDE.md", "I like short answers.\n"),
        (".claude/agents/helper.md", "---\nname: helper\n---\nYou help.\n"),
        (".claude/commands/tidy.md", "Tidy up.\n"),
        (".claude/projects/x/CLAUDE.md", "Not mine.\n"),
        (".claude/.credentials.json", "{}"),
        (".codex/config.toml", "model = \"gpt-5.5\"\n"),
        (".codex/AGENTS.md", "I like tests.\n"),
        (".codex/auth.json", "{}"),
    ]);
    let to = Scratch::new(&[]);
    let report = migrate(&to, &home.join(".claude"));
    assert_eq!(strings(&report["agents"]), ["helper"]);
    assert_eq!(row(&report, "commands/tidy.md").1, "skills/tidy/");
    assert_eq!(row(&report, ".credentials.json").0, "left");
    let prompt = build(&to, &[]);
    assert!(prompt.contains("I like short answers.") && !prompt.contains("Not mine."));
    let to = Scratch::new(&[]);
    let report = migrate(&to, &home.join(".codex"));
    assert_eq!(row(&report, "auth.json").0, "left");
    assert!(build(&to, &[]).contains("I like tests."));
    assert!(contents(to.path()).keys().all(|path| !path.ends_with("auth.json")));
}

#[test]
fn a_key_that_is_written_out_is_reported() {
    let key = format!("ghp_{}", "aB3dE5fG7h".repeat(4).get(..36).unwrap());
    let servers = format!(
        "{{\"mcpServers\": {{\"gh\": {{\"command\": \"gh\", \"env\": {{\"TOKEN\": \"{key}\"}}}}}}}}"
    );
    let from = directory(&[("CLAUDE.md", "x\n"), (".mcp.json", &servers)]);
    let to = Scratch::new(&[]);
    let report = migrate(&to, from.path());
    let notes = strings(&report["notes"]).join("\n");
    assert!(
        notes.contains("server `gh` contains a key in `TOKEN`; write ${TOKEN} there"),
        "{notes}"
    );
    assert!(!notes.contains(&key));
}

/// A workspace elsewhere does not have the programs of the old project.
#[test]
fn a_server_that_starts_a_file_of_the_project_is_reported() {
    let servers =
        r#"{"mcpServers": {"db": {"command": "python3", "args": ["./tools/db.py", "gone.py"]}}}"#;
    let from =
        directory(&[("CLAUDE.md", "x\n"), (".mcp.json", servers), ("tools/db.py", "print()")]);
    let note = "server `db` starts `tools/db.py` of the old project; copy it to the same place";
    let notes = strings(&migrate(&Scratch::new(&[]), from.path())["notes"]).join("\n");
    assert!(notes.contains(note) && !notes.contains("gone.py"), "{notes}");
    let notes = strings(&migrate(&from, from.path())["notes"]).join("\n");
    assert!(!notes.contains("tools/db.py"), "{notes}");
}

#[test]
fn a_plugin_of_claude_code_is_a_layout() {
    let from = directory(&[
        (".claude-plugin/plugin.json", "{\"name\": \"p\"}"),
        ("skills/a/SKILL.md", "---\nname: a\ndescription: Do a.\n---\nA.\n"),
        ("agents/helper.md", "---\nname: helper\ntools: Read\n---\nYou help.\n"),
        ("commands/go.md", "Go!\n"),
        ("hooks/hooks.json", "{}"),
        ("src/main.ts", "x"),
    ]);
    let to = Scratch::new(&[]);
    let report = migrate(&to, from.path());
    assert_eq!(row(&report, "agents/helper.md").1, "agents/helper/AGENT.md");
    assert_eq!(row(&report, "commands/go.md").1, "skills/go/");
    assert_eq!(row(&report, "skills/a/").0, "carried");
    assert_eq!(row(&report, "hooks").0, "lost");
    let table = report["table"].as_array().unwrap();
    assert_eq!(table.len(), 5, "{table:#?}");
}

#[test]
fn values_of_the_wrong_type_are_named() {
    let settings = r#"{"permissions": {"allow": "Bash", "deny": [1], "x": 1}, "hooks": [], "model": 7, "foo": 1}"#;
    let from = directory(&[(".claude/settings.json", settings)]);
    let to = Scratch::new(&[]);
    let report = migrate(&to, from.path());
    let at = |key: &str| row(&report, &format!(".claude/settings.json: {key}")).0;
    assert_eq!(at("permissions.allow"), "lost");
    assert_eq!(at("permissions.deny 1"), "lost");
    assert_eq!(at("permissions.x"), "lost");
    assert_eq!(at("foo"), "lost");
    assert_eq!(at("model"), "left");
}

#[test]
fn servers_that_cannot_be_used_are_named_and_the_others_stay() {
    let servers = r#"{"mcpServers": {"old": {"type": "sse", "url": "https://x.example.com"}, "My Files": {"command": "files"}, "none": {}}}"#;
    let from = directory(&[("CLAUDE.md", "x\n"), (".mcp.json", servers)]);
    let to = Scratch::new(&[]);
    let report = migrate(&to, from.path());
    assert!(row(&report, ".mcp.json: old").2.contains("sse"));
    assert!(row(&report, ".mcp.json: none").2.contains("neither a command nor a URL"));
    let written: Value = serde_json::from_str(&to.read(".mcp.json")).unwrap();
    assert_eq!(written, serde_json::json!({"mcpServers": {"My-Files": {"command": "files"}}}));
    assert!(strings(&report["notes"])[0].contains("`My Files` is called `My-Files` now"));
    // In place, the file stays, and what to change in it is said.
    let report = migrate(&from, from.path());
    assert_eq!(from.read(".mcp.json"), servers);
    assert!(row(&report, ".mcp.json: My Files").2.contains("rename it to `My-Files`"));
}

#[test]
fn what_lies_deeper_or_is_written_another_way_is_not_dropped_silently() {
    let servers = r#"{"mcpServers": {"db": {"command": "x", "args": ["${env:TOKEN}", "${workspaceFolder}/y"],
        "cwd": "/srv", "envFile": ".env"}}}"#;
    let from = directory(&[
        (".cursor/rules/a/RULE.md", "---\ndescription: A\n---\nDo a.\n"),
        (".cursor/rules/b/RULE.md", "---\ndescription: B\n---\nDo b.\n"),
        ("backend/.cursor/rules/db.mdc", "---\nalwaysApply: true\n---\nUse transactions.\n"),
        ("backend/.cursor/rules/sql.mdc", "---\nglobs: q/*.sql\n---\nUpper case.\n"),
        (".cursor/mcp.json", servers),
        (".cursor/agents/quick.md", "---\nname: quick\ndescription: d\nmodel: fast\n---\nHurry.\n"),
        (".codex/config.toml", "[agents.rev]\ndescription = 'd'\nconfig_file = 'rev.toml'\n"),
        ("sub/AGENTS.md", "Old.\n"),
        ("sub/AGENTS.override.md", "New.\n"),
    ]);
    let to = Scratch::new(&[]);
    let report = migrate(&to, from.path());
    assert_eq!(row(&report, ".cursor/rules/a/RULE.md").1, "skills/a/");
    assert_eq!(row(&report, ".cursor/rules/b/RULE.md").1, "skills/b/");
    assert_eq!(row(&report, "backend/.cursor/rules/db.mdc").2, "as an instruction for backend/**");
    assert_eq!(
        row(&report, "backend/.cursor/rules/sql.mdc").2,
        "as an instruction for q/*.sql (in backend/**)"
    );
    assert!(to.read("AGENTS.md").contains("Use transactions."));
    let written: Value = serde_json::from_str(&to.read(".mcp.json")).unwrap();
    assert_eq!(written["mcpServers"]["db"]["args"], serde_json::json!(["${TOKEN}", "./y"]));
    for key in ["cwd", "envFile"] {
        assert_eq!(row(&report, &format!(".cursor/mcp.json: db: {key}")).0, "lost");
    }
    assert!(!to.read("agents/quick/AGENT.md").contains("model:"));
    assert_eq!(row(&report, ".codex/config.toml: agents.rev").0, "lost");
    assert_eq!(to.read("sub/AGENTS.md"), "New.\n");
    assert_eq!(row(&report, "sub/AGENTS.md").0, "left");
    // Settings of OpenClaw in the workspace instead of beside it.
    let from = directory(&[("SOUL.md", "Calm.\n"), ("openclaw.json", "{agents: {}}")]);
    let report = migrate(&Scratch::new(&[]), from.path());
    assert_eq!(row(&report, "openclaw.json").0, "lost");
}
