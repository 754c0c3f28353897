//! A migration gives no agent more than it had, and drops nothing without a row. Each test is a defect that a
//! tester found.

use std::fs;

use serde_json::Value;

use crate::migrate::{migrate, row};
use crate::support::host::KEY;
use crate::support::{Scratch, strings};

const SERVER: &str = include_str!("../fixtures/mcp_server.py");

fn outcomes(report: &Value, outcome: &str) -> Vec<String> {
    let all = report["table"].as_array().unwrap().iter();
    let found = all.filter(|row| row["outcome"] == outcome);
    found.map(|row| row["source"].as_str().unwrap().to_owned()).collect()
}

fn agent(header: &str) -> String {
    format!("---\nname: x\ndescription: d\n{header}\n---\nDo.\n")
}

#[test]
fn disallowed_tools_are_taken_away_and_no_others() {
    let files = [
        ("a1", "disallowedTools: mcp__t__echo"),
        ("a2", "disallowedTools: WebFetch, Task"),
        ("a3", "disallowedTools: Bash(rm:*)"),
        ("a4", "disallowedTools: Write"),
        ("a8", "tools: []"),
        ("b2", "disallowedTools: Skill"),
    ];
    let from = Scratch::new(&[("CLAUDE.md", "x\n")]);
    for (name, header) in files {
        let text = agent(header).replace("name: x", &format!("name: {name}"));
        from.write(&format!(".claude/agents/{name}.md"), text);
    }
    from.write(".claude/skills/s/SKILL.md", "---\nname: s\ndescription: Some skill.\n---\nS.\n");
    from.write(
        ".claude/settings.json",
        r#"{"permissions": {"allow": ["WebFetch(domain:docs.rs)"]}}"#,
    );
    from.write(
        ".mcp.json",
        r#"{"mcpServers": {"t": {"command": "python3", "args": ["tools/srv.py"]}}}"#,
    );
    let to = Scratch::new(&[("tools/srv.py", SERVER)]);
    let report = migrate(&to, from.path());
    let header = |name: &str| to.read(&format!("agents/{name}/AGENT.md"));
    assert!(header("a1").contains("disallowed_tools:\n  - \"mcp__t__echo\"\n"));
    assert!(!header("a4").contains("\ntools:") && header("a4").contains("  - \"write\"\n"));
    assert!(header("a8").contains("\ntools:\n  - \"session\"\n"));
    assert!(header("b2").contains("allow_skills: false\n"));
    assert_eq!(
        row(&report, ".claude/agents/a3.md: disallowedTools Bash(rm:*)"),
        ("mapped", "foreword.toml", "permissions.deny: bash(rm:*); counts for every agent")
    );
    // What a run offers.
    let run = |args: &[&str]| {
        let command = to.command(args).env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command.env("ANTHROPIC_API_KEY", KEY).run()
    };
    assert_eq!(run(&["trust", "--yes", "--quiet"]).status, 0);
    let tools = |name: &str| {
        let run = run(&["run", "--agent", name, "--dry-run=body", "hi"]);
        let body: Value = serde_json::from_str(&run.stdout)
            .unwrap_or_else(|_| panic!("{}{}", run.stdout, run.stderr));
        let list = body["tools"].as_array().unwrap().iter();
        list.map(|tool| tool["name"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    let (a2, a3, a4, a8, b2) = (tools("a2"), tools("a3"), tools("a4"), tools("a8"), tools("b2"));
    let has = |tools: &[String], name: &str| tools.iter().any(|tool| tool == name);
    for name in ["web_fetch", "spawn_agent", "chain_run"] {
        assert!(!has(&a2, name) && has(&a4, name), "{name}: {a2:?} {a4:?}");
    }
    assert!(has(&a3, "bash") && has(&a4, "edit") && !has(&a4, "write"), "{a3:?} {a4:?}");
    assert!(!has(&a8, "read") && has(&a8, "session_status"), "{a8:?}");
    assert!(!b2.iter().any(|tool| tool.starts_with("skill_")) && has(&b2, "read"), "{b2:?}");
    let prompt = to.run(&["build", "--quiet", "--agent", "b2", "hi"]).stdout;
    assert!(!prompt.contains("Some skill."), "{prompt}");
    assert_eq!(to.run(&["lint"]).status, 0, "{}", to.run(&["lint"]).stdout);
    if std::path::Path::new("/usr/bin/python3").exists() {
        let a1 = tools("a1");
        assert!(!has(&a1, "mcp__t__echo") && has(&a1, "mcp__t__grow"), "{a1:?}");
        assert!(has(&a3, "mcp__t__echo") && has(&a4, "mcp__t__echo"), "{a3:?} {a4:?}");
    } else {
        foreword_testing::skip("python3", "there is no /usr/bin/python3");
    }
}

#[test]
fn an_agent_that_delegates_passes_lint() {
    let from = Scratch::new(&[
        ("CLAUDE.md", "x\n"),
        (".claude/agents/lead.md", &agent("tools: Read, Task")),
    ]);
    let to = Scratch::new(&[]);
    migrate(&to, from.path());
    let run = to.run(&["lint"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{}", run.stderr);
}

#[test]
fn imports_of_agents_md_and_of_rules_are_followed() {
    let files = [
        ("CLAUDE.md", "@AGENTS.md\n"),
        ("AGENTS.md", "Main.\n@docs/b.md\nSee @docs for more.\n"),
        ("docs/b.md", "From b.\n@c.md#part\n"),
        ("docs/c.md", "From c.\n"),
        (".claude/rules/r.md", "Rule.\n@../../docs/d.md\n"),
        ("docs/d.md", "From d.\n"),
        (".cursor/rules/q.mdc", "---\nalwaysApply: true\n---\nUse @docs/e.ts here.\n"),
        ("docs/e.ts", "export const e = 1;\n"),
        ("pkg/CLAUDE.md", "@AGENTS.md\n"),
        ("pkg/AGENTS.md", "Package.\n@more.md\n"),
        ("pkg/more.md", "From more.\n"),
    ];
    let from = Scratch::new(&files);
    let to = Scratch::new(&[]);
    let report = migrate(&to, from.path());
    let context = to.read("CONTEXT.md");
    for text in ["From b.", "From c.", "From d.", "export const e = 1;"] {
        assert_eq!(context.matches(text).count(), 1, "{text} in {context}");
    }
    for path in ["docs/b.md", "docs/c.md", "docs/d.md", "docs/e.ts"] {
        assert_eq!(row(&report, path).0, "mapped", "{path}");
    }
    assert_eq!(row(&report, "AGENTS.md: @docs").0, "left");
    assert_eq!(to.read("pkg/AGENTS.md"), "Package.\nFrom more.\n");
    // In place, the files of the old setup stay as they are.
    let report = migrate(&from, from.path());
    assert!(from.read("CONTEXT.md").contains("From b."));
    assert_eq!(from.read("pkg/AGENTS.md"), files[9].1);
    assert_eq!(row(&report, "pkg/AGENTS.md: @pkg/more.md").0, "lost");
}

#[cfg(unix)]
#[test]
fn a_claude_md_that_links_to_agents_md_imports_what_that_does() {
    let from = Scratch::new(&[("AGENTS.md", "Main.\n@docs/b.md\n"), ("docs/b.md", "From b.\n")]);
    std::os::unix::fs::symlink("AGENTS.md", from.join("CLAUDE.md")).unwrap();
    let to = Scratch::new(&[]);
    let report = migrate(&to, from.path());
    assert_eq!(row(&report, "docs/b.md").0, "mapped");
    assert!(to.read("CONTEXT.md").contains("From b."));
}

#[test]
fn a_skill_for_people_only_is_not_offered_to_agents_and_what_skills_rely_on_is_listed() {
    let skill = "---\nname: sk\ndescription: Ship to production.\ndisable-model-invocation: true\ncontext: fork\nmodel: haiku\n---\n\
                 !`git status` $ARGUMENTS ${CLAUDE_SKILL_DIR}\n";
    let command =
        "---\ndescription: Drop the tables.\ndisable-model-invocation: true\n---\nDrop.\n";
    let from = Scratch::new(&[
        ("CLAUDE.md", "x\n"),
        (".claude/skills/sk/SKILL.md", skill),
        (".claude/commands/drop.md", command),
    ]);
    for in_place in [false, true] {
        let other = Scratch::new(&[]);
        let to = if in_place { &from } else { &other };
        let report = migrate(to, from.path());
        let lost = outcomes(&report, "lost");
        for what in ["context", "model", "!`command`", "${CLAUDE_SKILL_DIR}"] {
            let source = format!(".claude/skills/sk/SKILL.md: {what}");
            assert!(lost.contains(&source), "{source} in {lost:?}");
        }
        assert!(!lost.iter().any(|it| it.contains("disable-model") || it.contains("$ARGUMENTS")));
        assert_eq!(to.run(&["trust", "--yes", "--quiet"]).status, 0);
        let prompt = to.run(&["build", "--quiet", "ship it"]).stdout;
        assert!(
            !prompt.contains("Ship to production") && !prompt.contains("Drop the tables"),
            "{prompt}"
        );
        let list = to.run(&["skill", "list"]).stdout;
        assert!(list.contains("(only on request: /sk) Ship to production."), "{list}");
    }
}

#[test]
fn settings_of_codex_servers_become_rules_or_rows() {
    let config = "[mcp_servers.a]\ncommand = 'srv'\ncwd = '/x'\ndisabled_tools = ['drop']\nstartup_timeout_sec = 60\ntool_timeout_sec = 30\n\
                  [mcp_servers.b]\ncommand = 'srv'\nenabled_tools = ['get']\n[features]\nweb_search_request = true\nother = true\n";
    let from = Scratch::new(&[("AGENTS.md", "x\n"), (".codex/config.toml", config)]);
    let to = Scratch::new(&[]);
    let report = migrate(&to, from.path());
    let at = |key: &str| row(&report, &format!(".codex/config.toml: {key}"));
    assert_eq!(at("mcp_servers: a: cwd").0, "lost");
    assert!(at("mcp_servers: a: startup_timeout_sec").2.contains("`start_seconds = 60`"));
    assert_eq!(at("mcp_servers: a: tool_timeout_sec").0, "left");
    assert_eq!(at("mcp_servers: a: disabled_tools drop").2, "permissions.deny: mcp__a__drop");
    assert_eq!(at("mcp_servers: b: enabled_tools").2, "permissions.ask: mcp__b");
    assert_eq!(at("mcp_servers: b: enabled_tools (the other tools)").0, "lost");
    assert_eq!(at("features.web_search_request").0, "lost");
    assert_eq!(at("features.other").0, "left");
    let servers: Value = serde_json::from_str(&to.read(".mcp.json")).unwrap();
    assert_eq!(servers["mcpServers"]["a"], serde_json::json!({"command": "srv"}));
}

#[test]
fn a_server_on_another_machine_says_what_to_write() {
    let servers =
        r#"{"mcpServers": {"gh": {"type": "http", "url": "https://api.githubcopilot.com/mcp/"}}}"#;
    let from = Scratch::new(&[("CLAUDE.md", "x\n"), (".mcp.json", servers)]);
    let to = Scratch::new(&[]);
    let report = migrate(&to, from.path());
    let lines =
        "add `[[mcp.servers]]` and below it `url = \"https://api.githubcopilot.com/mcp/\"` to";
    assert!(row(&report, ".mcp.json: gh").2.contains(lines), "{report}");
    let run = to.run(&["lint"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stdout.contains("[mcp-server]") && run.stdout.contains(lines), "{}", run.stdout);
}

#[test]
fn a_key_in_arguments_or_a_url_is_reported_and_fails_lint() {
    let key = format!("ghp_{}", "aB3dE5fG7h".repeat(4).get(..36).unwrap());
    let servers = serde_json::json!({"mcpServers": {
        "a": {"command": "srv", "args": [format!("--token={key}")]},
        "b": {"type": "http", "url": "http://127.0.0.1:9/mcp?api_key=abc"},
    }});
    let from = Scratch::new(&[("CLAUDE.md", "x\n"), (".mcp.json", &servers.to_string())]);
    let to = Scratch::new(&[]);
    let notes = strings(&migrate(&to, from.path())["notes"]).join("\n");
    assert!(notes.contains("a key in `--token`; write ${TOKEN} there"), "{notes}");
    assert!(notes.contains("a key in `api_key` in its URL; write ${API_KEY} there"), "{notes}");
    let run = to.run(&["lint"]);
    assert_eq!(
        (run.status, run.stdout.matches("error [mcp-server]").count()),
        (1, 2),
        "{}",
        run.stdout
    );
    assert!(!notes.contains(&key) && !run.stdout.contains(&key));
}

#[test]
fn json5_with_keys_without_quotes_is_read() {
    let from = Scratch::new(&[
        (
            "openclaw.json",
            "// mine\n{ agents: { defaults: { model: 'anthropic/claude-opus-4-6' } }, tools: { deny: ['exec', 'browser'] } }\n",
        ),
        ("workspace/SOUL.md", "Calm.\n"),
    ]);
    let to = Scratch::new(&[]);
    let report = migrate(&to, from.path());
    assert_eq!(row(&report, "openclaw.json: agents.defaults.model").0, "mapped");
    assert_eq!(row(&report, "openclaw.json: tools.deny exec").2, "permissions.deny: bash");
    assert_eq!(row(&report, "openclaw.json: tools.deny browser").0, "left");
}

#[test]
fn servers_that_a_person_has_everywhere_are_migrated_with_their_own_directory() {
    let home = Scratch::new(&[(".claude/CLAUDE.md", "Be brief.\n")]);
    let state = r#"{"oauthAccount": {"x": 1}, "mcpServers": {"mine": {"command": "srv"}},
        "projects": {"/p": {"mcpServers": {"one": {"command": "y"}}}}}"#;
    home.write(".claude.json", state);
    let to = Scratch::new(&[]);
    let report = migrate(&to, &home.join(".claude"));
    assert_eq!(row(&report, "../.claude.json: mine").0, "mapped");
    assert_eq!(row(&report, "../.claude.json: projects./p: one").0, "left");
    let written = fs::read_to_string(to.join(".mcp.json")).unwrap();
    assert!(written.contains("\"mine\"") && !written.contains("oauth"), "{written}");
}

#[test]
fn rules_that_cannot_match_are_lost_and_those_outside_are_left() {
    let settings = r#"{"permissions": {
        "allow": ["Bash(cd x && npm test)", "Bash(git commit -m \"fix\":*)"],
        "deny": ["Read(~/.ssh/**)", "Read(//etc/**)", "Bash(echo \"topsecret\")", "NotebookEdit"]}}"#;
    let from = Scratch::new(&[("CLAUDE.md", "x\n"), (".claude/settings.json", settings)]);
    let to = Scratch::new(&[]);
    let report = migrate(&to, from.path());
    let at = |rule: &str| row(&report, &format!(".claude/settings.json: permissions.{rule}"));
    assert_eq!(at("allow Bash(cd x && npm test)").0, "lost");
    assert!(at("allow Bash(git commit -m \"fix\":*)").2.contains("bash(git commit -m fix:*)"));
    assert_eq!(at("deny Read(~/.ssh/**)").0, "left");
    assert_eq!(at("deny Read(//etc/**)").2, "permissions.deny: read(/etc/**), search(/etc/**)");
    assert_eq!(at("deny Bash(echo \"topsecret\")").2, "permissions.deny: bash(echo topsecret)");
    assert_eq!(at("deny NotebookEdit").0, "mapped");
}

#[test]
fn imports_of_commands_and_agents_and_links_of_cursor_are_carried() {
    let from = Scratch::new(&[
        ("CLAUDE.md", "x\n"),
        ("docs/style.md", "Four spaces.\n"),
        ("docs/api.md", "Version every route.\n"),
        (
            ".claude/commands/review.md",
            "Review $1 by this:\n\n@docs/style.md\n\nSee @docs/gone.md first.\n",
        ),
        (".claude/agents/a.md", "---\nname: a\ndescription: d\n---\nFollow @docs/api.md always.\n"),
        (
            ".cursor/rules/api.mdc",
            "---\nalwaysApply: true\n---\nSee [api](mdc:docs/api.md), [x](mdc:src/x.ts).\n",
        ),
    ]);
    let to = Scratch::new(&[]);
    let report = migrate(&to, from.path());
    let command = to.read("skills/review/SKILL.md");
    assert!(command.contains("Four spaces.") && !command.contains("@docs/style.md"), "{command}");
    let agent = to.read("agents/a/AGENT.md");
    assert!(agent.contains("## docs/api.md\n\nVersion every route."), "{agent}");
    assert_eq!(row(&report, "docs/style.md").0, "mapped");
    assert_eq!(row(&report, ".claude/commands/review.md: @docs/gone.md").2, "no such file");
    let rule = to.read("CONTEXT.md");
    assert!(rule.contains("[api](docs/api.md)") && rule.contains("Version every route."), "{rule}");
    assert_eq!(row(&report, ".cursor/rules/api.mdc: @src/x.ts").2, "no such file");
}

#[test]
fn files_that_a_tool_must_not_read_are_denied() {
    let from = Scratch::new(&[
        (".cursorrules", "Be brief.\n"),
        (".cursorignore", "# Keys\n.env\nsecrets/\n!secrets/readme.md\n"),
        (".claudeignore", "/dumps/*.sql\n"),
        ("web/.cursor/rules/r.mdc", "---\nalwaysApply: true\n---\nR.\n"),
        ("web/.cursorignore", "*.key\n"),
    ]);
    let to = Scratch::new(&[]);
    let report = migrate(&to, from.path());
    let settings = to.read("foreword.toml");
    for rule in ["**/.env", "**/secrets/**", "dumps/*.sql", "web/**/*.key"] {
        assert!(settings.contains(&format!("\"read({rule})\"")), "{rule}: {settings}");
    }
    assert_eq!(row(&report, ".cursorignore: secrets/").0, "mapped");
    assert_eq!(outcomes(&report, "lost"), [".cursorignore: !secrets/readme.md"]);
}

#[test]
fn named_placeholders_of_codex_have_a_row_and_commands_of_chat_a_way() {
    let from = Scratch::new(&[
        ("AGENTS.md", "x\n"),
        (".codex/prompts/help.md", "Explain $FILE for $ARGUMENTS.\n"),
        (".claude/commands/env.md", "Print $HOME.\n"),
    ]);
    let to = Scratch::new(&[]);
    let report = migrate(&to, from.path());
    let text = to.read("skills/help/SKILL.md");
    assert!(text.contains("`$FILE` stands for what the person wrote as `FILE=…`."), "{text}");
    let (outcome, _, note) = row(&report, ".codex/prompts/help.md: $NAME");
    assert!(outcome == "lost" && note.starts_with("$FILE is not filled in"), "{note}");
    assert!(row(&report, ".codex/prompts/help.md").2.ends_with("//help"));
    assert_eq!(outcomes(&report, "lost").len(), 1, "`$HOME` is a variable of the shell");
}

#[test]
fn a_skill_that_is_off_in_openclaw_stays_off() {
    let skill = |name: &str| format!("---\nname: {name}\ndescription: D.\n---\nDo.\n");
    let settings = r#"{"env": {"A_KEY": "s3cr3t"}, "skills": {"entries": {
        "tea": {"enabled": false}, "mail": {"enabled": true, "env": {"MAIL_USER": "me"}}}}}"#;
    let from = Scratch::new(&[
        ("openclaw.json", settings),
        ("workspace/SOUL.md", "Calm.\n"),
        ("workspace/skills/brew/SKILL.md", &skill("tea")),
        ("workspace/skills/mail/SKILL.md", &skill("mail")),
    ]);
    let to = Scratch::new(&[]);
    let report = migrate(&to, from.path());
    assert!(!to.join("skills/brew").exists() && to.join("skills/mail/SKILL.md").exists());
    assert_eq!(row(&report, "skills/brew").0, "left");
    for (at, name) in [("env", "A_KEY"), ("skills.entries.mail.env", "MAIL_USER")] {
        let (outcome, _, note) = row(&report, &format!("openclaw.json: {at}"));
        assert!(outcome == "lost" && note.contains(name) && !note.contains("s3cr3t"), "{note}");
    }
}

#[test]
fn a_server_with_a_key_is_off_until_the_key_is_moved() {
    let servers =
        r#"{"mcpServers": {"t": {"command": "srv", "env": {"API_KEY": "a1b2c3d4e5f6g7"}}}}"#;
    let from = Scratch::new(&[("CLAUDE.md", "x\n"), (".mcp.json", servers)]);
    let to = Scratch::new(&[]);
    let report = migrate(&to, from.path());
    let note = row(&report, ".mcp.json: t").2;
    assert!(note.starts_with("off until you move the key in `API_KEY`"), "{note}");
}
