//! Permissions: what is allowed, asked about and denied, with and without a person.

use crate::support::host::{KEY, done, on_host, on_record};
use crate::support::model::{Asked, ModelServer, text, tool};
use crate::support::{Foreword, Scratch};
use serde_json::json;

fn workspace(config: &str) -> Scratch {
    Scratch::new(&[
        ("foreword.toml", &format!("[model]\nname = 'claude-sonnet-4-20250514'\n{config}\n")),
        ("SOUL.md", "Calm.\n"),
        ("docs/a.md", "A\n"),
    ])
}

fn said(model: &ModelServer, at: usize) -> String {
    model.asked()[at].last_message()
}

#[test]
fn without_a_person_what_cannot_be_undone_is_refused_with_a_hint() {
    let scratch = workspace("");
    let model = ModelServer::saying(vec![
        tool("bash", json!({"command": "echo a && echo b | cat"})),
        tool("bash", json!({"command": "cd docs && git push origin main"})),
        tool("bash", json!({"command": "X=rm; $X -rf docs"})),
        tool("write", json!({"path": "new.txt", "content": "x"})),
        text("Done."),
    ]);
    done(&scratch, &model, &["-m", "push it"]);
    assert_eq!(said(&model, 1), "a\nb\n");
    assert_eq!(
        said(&model, 2),
        "`bash` needs permission (the rule `bash(git push*)` (default) asks about it) and nobody can be asked \
         here; a person can allow it with `foreword permissions allow 'bash(=cd docs && git push origin main)'`, \
         or answer in `foreword chat`"
    );
    assert!(
        said(&model, 3).contains("it does not say in plain words what it runs"),
        "{}",
        said(&model, 3)
    );
    assert!(scratch.join("docs/a.md").exists());
    assert_eq!(scratch.read("new.txt"), "x");
    assert!(on_record(&scratch, "permission.ask", "refused"));
}

#[test]
fn rules_of_the_workspace_and_the_person_count() {
    let scratch = workspace(
        "[permissions]\nallow = ['bash(git push*)']\nask = ['edit(docs/**)']\ndeny = ['write(secret/**)', 'Bash(rm:*)']",
    );
    scratch.write_settings("[permissions]\ndeny = ['todo_write']\n");
    let model = ModelServer::saying(vec![
        tool("bash", json!({"command": "git push --help >/dev/null; echo pushed"})),
        tool("bash", json!({"command": "git push --dry-run nowhere"})),
        tool("edit", json!({"path": "docs/a.md", "old": "A", "new": "B"})),
        tool("write", json!({"path": "secret/x", "content": "x"})),
        tool("bash", json!({"command": "rm docs/a.md"})),
        tool("todo_write", json!({"items": []})),
        text("Done."),
    ]);
    let run = on_host(&scratch, &model, &["run", "--trust", "-m", "go"]).run();
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(
        run.stderr.contains(
            "permissions.allow = [\"bash(git push*)\"]  (agents may do this without asking)"
        ),
        "{}",
        run.stderr
    );
    assert!(said(&model, 1).contains("needs permission"), "two commands: {}", said(&model, 1));
    assert!(!said(&model, 2).contains("needs permission"), "{}", said(&model, 2));
    assert!(
        said(&model, 3).contains("the rule `edit(docs/**)` (foreword.toml) asks about it"),
        "{}",
        said(&model, 3)
    );
    assert_eq!(
        said(&model, 4),
        "`write` is denied by the permission rule `write(secret/**)` (foreword.toml)"
    );
    assert_eq!(
        said(&model, 5),
        "`bash` is denied by the permission rule `bash(rm:*)` (foreword.toml)"
    );
    assert_eq!(
        said(&model, 6),
        "`todo_write` is denied by the permission rule `todo_write` (settings.toml)"
    );
    assert_eq!(scratch.read("docs/a.md"), "A\n");
}

#[test]
fn a_rule_that_cannot_be_read_stops_the_turn() {
    let scratch = workspace("[permissions]\ndeny = ['bash(rm']");
    let model = ModelServer::saying(vec![]);
    let run = on_host(&scratch, &model, &["run", "-q", "--trust", "-m", "go"]).run();
    assert!(
        run.fails(2).contains(
            "foreword.toml: invalid permission rule `bash(rm`: the parenthesis is not closed"
        ),
        "{}",
        run.stderr
    );
}

/// A turn at a terminal, at which somebody types.
fn at_terminal(scratch: &Scratch, command: &str, typed: &str) -> Option<(ModelServer, String)> {
    let command = command.to_owned();
    let model = ModelServer::start(move |number, _| match number {
        0 | 1 => tool("bash", json!({ "command": command })),
        _ => text("Done."),
    });
    scratch.trust();
    let run = scratch
        .command(&["run", "-m", "go"])
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("ANTHROPIC_BASE_URL", &model.url)
        .env("ANTHROPIC_API_KEY", KEY);
    let (status, shown) = run.at_terminal(typed)?;
    assert_eq!(status, 0, "{shown}");
    Some((model, shown))
}

#[test]
fn a_person_answers_once_for_the_session_always_or_no() {
    let push = "git push --dry-run nowhere";
    let scratch = workspace("");
    let Some((model, shown)) = at_terminal(&scratch, push, "n\ny\n") else { return };
    assert!(
        shown.contains(
            "The agent wants to call `bash`: the rule `bash(git push*)` (default) asks about it."
        ),
        "{shown}"
    );
    assert!(shown.contains("command: git push --dry-run nowhere"), "{shown}");
    assert!(shown.contains("[a] always (bash(git push:*))"), "{shown}");
    assert_eq!(said(&model, 1), "the person did not allow this call of `bash`");
    assert!(!said(&model, 2).contains("did not allow"), "{}", said(&model, 2));

    let scratch = workspace("");
    let Some((model, shown)) = at_terminal(&scratch, push, "s\n") else { return };
    assert_eq!(shown.matches("wants to call").count(), 1, "asked once: {shown}");
    assert!(!said(&model, 2).contains("permission"), "{}", said(&model, 2));
    let rules = scratch.run(&["permissions"]).ok().stdout;
    assert!(!rules.contains("answered"), "{rules}");

    let scratch = workspace("");
    let Some((_, shown)) = at_terminal(&scratch, push, "a\n") else { return };
    assert_eq!(shown.matches("wants to call").count(), 1, "{shown}");
    let rules = scratch.run(&["permissions"]).ok().stdout;
    assert!(rules.contains("allow  bash(git push:*)  (answered always)"), "{rules}");
    assert!(!scratch.read("foreword.toml").contains("push"), "never in the workspace");
    // From now on without a question, also where nobody could be asked.
    let model = ModelServer::saying(vec![tool("bash", json!({ "command": push })), text("Done.")]);
    done(&scratch, &model, &["-m", "go"]);
    assert!(!said(&model, 1).contains("permission"), "{}", said(&model, 1));
}

#[test]
fn permissions_are_printed_checked_given_and_taken_back() {
    let scratch = workspace("[permissions]\ndeny = ['bash(terraform*)']");
    let table = scratch.run(&["permissions"]).ok().stdout;
    assert!(
        table.starts_with("deny   bash(terraform*)  (foreword.toml)\nask    bash(git push*)\n"),
        "{table}"
    );
    assert!(
        table.contains("\nallow  read\n") && table.ends_with("ask    everything else\n"),
        "{table}"
    );
    let check =
        |tool: &str, call: &str| scratch.run(&["permissions", "check", tool, call]).ok().stdout;
    assert_eq!(check("bash", "ls -l"), "allow: by bash (default)\n");
    assert_eq!(check("bash", "ls; git push"), "ask: by bash(git push*) (default)\n");
    assert_eq!(check("bash", "terraform plan"), "deny: by bash(terraform*) (foreword.toml)\n");
    assert_eq!(check("deploy", "{}"), "ask: no rule names it\n");
    // Claude Code's names, and the tool behind another one.
    assert_eq!(check("Bash", "terraform plan"), "deny: by bash(terraform*) (foreword.toml)\n");
    assert_eq!(
        check("tool_call", r#"{"name": "bash", "arguments": {"command": "terraform plan"}}"#),
        "deny: by bash(terraform*) (foreword.toml)\n"
    );
    let run = scratch.run(&["permissions", "allow", "Bash(git push:*)"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, "rule added\n"));
    assert_eq!(check("bash", "git push"), "allow: by bash(git push:*) (answered always)\n");
    let json = scratch.run(&["permissions", "--json"]).ok().json();
    assert!(json.as_array().unwrap().iter().any(|it| it["source"] == "answered always"), "{json}");
    assert_eq!(scratch.run(&["permissions", "forget", "bash(git push:*)"]).status, 0);
    assert_eq!(check("bash", "git push"), "ask: by bash(git push*) (default)\n");
    assert!(
        scratch
            .run(&["permissions", "forget", "bash(git push:*)"])
            .fails(1)
            .contains("you did not allow")
    );
    assert!(
        scratch.run(&["permissions", "allow", "(x)"]).fails(2).contains("invalid permission rule")
    );
}

#[test]
fn a_rule_that_names_no_tool_is_said() {
    let scratch = workspace(
        "[permissions]\nallow = ['read']\ndeny = ['bsh(rm*)', 'WebSearch', 'bash(a && b)']",
    );
    let lint = scratch.run(&["lint"]);
    for text in [
        "foreword.toml:5: warning [permission-rule] the rule `bsh(rm*)` under `deny` has no effect: `bsh` is not a tool",
        "did you mean `bash`?",
        "`WebSearch` is not a tool",
        "its pattern never matches: a `bash` pattern is compared with one simple command at a time",
    ] {
        assert!(lint.stdout.contains(text), "{text}: {}", lint.stdout);
    }
    let run = scratch.run(&["permissions", "allow", "bsh(x)"]);
    assert_eq!(run.status, 0);
    assert!(
        run.stderr.contains("the rule has no effect: `bsh` is not a tool; did you mean `bash`?"),
        "{}",
        run.stderr
    );
}

#[test]
fn files_that_may_not_be_read_are_not_found_either() {
    let scratch = workspace("[permissions]\ndeny = ['read(**/.env)', 'read(secrets/**)']");
    scratch.write(".env", "TOPSECRET=1\n");
    scratch.write("secrets/key", "TOPSECRET=2\n");
    scratch.write("docs/b.md", "TOPSECRET is elsewhere\n");
    let model = ModelServer::saying(vec![
        tool("search", json!({"pattern": "TOPSECRET"})),
        tool("search", json!({"pattern": "TOPSECRET", "path": ".env"})),
        tool("bash", json!({"command": "cat .env"})),
        tool("bash", json!({"command": "cd secrets; base64 < key"})),
        tool("list", json!({"path": "secrets"})),
        text("Done."),
    ]);
    done(&scratch, &model, &["-m", "find it"]);
    let found = said(&model, 1);
    assert!(found.contains("docs/b.md:1: ") && !found.contains("TOPSECRET="), "{found}");
    assert!(found.contains("[Left out by permission rules: 2.]"), "{found}");
    let denied = |tool: &str, rule: &str| {
        format!("`{tool}` is denied by the permission rule `{rule}` (foreword.toml)")
    };
    assert_eq!(said(&model, 2), denied("search", "read(**/.env)"));
    assert_eq!(said(&model, 3), denied("bash", "read(**/.env)"));
    assert_eq!(said(&model, 4), denied("bash", "read(secrets/**)"));
    assert!(said(&model, 5).contains("[Left out by permission rules: 1.]"), "{}", said(&model, 5));
}

/// The programs of others refuse what is asked about, since nobody can be asked.
#[test]
fn the_defaults_need_no_workspace() {
    let scratch = Scratch::new(&[]);
    let run = Foreword::new(&["permissions"]).here(scratch.path()).run();
    let said = (run.status, run.stderr.as_str());
    assert_eq!(said, (0, "no workspace found: these are the defaults\n"));
    assert!(run.stdout.starts_with("ask    bash(git push*)\n"), "{}", run.stdout);
}

fn in_another_loop(runner: &str, program: &str, bash: &'static str, refused: &str) {
    if foreword_testing::npm_program(program).is_none() {
        return;
    }
    let scratch = workspace("[permissions]\ndeny = ['bash(touch*)']");
    let model = ModelServer::start(move |number, _| match number {
        0 => tool(bash, json!({"command": "touch made.txt", "description": "make a file"})),
        1 => tool(bash, json!({"command": "echo fine", "description": "say fine"})),
        _ => text("Done."),
    });
    let path = foreword_testing::npm_path().into_string().unwrap();
    let args = ["run", "-q", "--trust", "--json", "--runner", runner, "-m", "go"];
    let run = on_host(&scratch, &model, &args).env("PATH", &path).run();
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(!scratch.join("made.txt").exists());
    let body = |at: usize| model.asked()[at].body["messages"].to_string();
    assert!(body(1).contains(refused), "{}", body(1));
    assert!(body(2).contains("fine"), "{}", body(2));
}

#[test]
fn claude_code_refuses_what_a_rule_denies() {
    in_another_loop("claude-code", "claude", "Bash", "ermission");
}

#[test]
fn pi_asks_the_host_about_its_own_tools() {
    in_another_loop("pi", "pi", "bash", "is denied by the permission rule");
}

/// The id of the first tool call of a conversation.
fn first_call(asked: &Asked) -> String {
    let messages = asked.body["messages"].as_array().unwrap();
    let blocks = messages.iter().filter_map(|message| message["content"].as_array()).flatten();
    let mut calls = blocks.filter(|block| block["type"] == "tool_use");
    calls.next().unwrap()["id"].as_str().unwrap().to_owned()
}

/// A rule for `read` without a pattern: no tool and no command shows a file, also not one that was read before.
#[test]
fn what_may_not_be_read_is_shown_by_no_sibling() {
    let scratch = workspace("[host]\ncompact_at = 80\n");
    let model = ModelServer::start(|number, asked| match number {
        0 => tool("read", json!({"path": "docs/a.md"})),
        1 => text("A."),
        2 => tool("search", json!({"pattern": "A", "path": "."})),
        3 => tool("list", json!({"path": "."})),
        4 => tool("bash", json!({"command": "cd docs; cat a.md"})),
        5 => tool("result_read", json!({"turn": 1, "id": first_call(asked)})),
        6 => tool("edit", json!({"path": "docs/a.md", "old": "A", "new": "B"})),
        7 => tool("bash", json!({"command": "echo B > docs/a.md"})),
        8 => tool("history", json!({})),
        9 => tool("version", json!({})),
        10 => tool("bash", json!({"command": "ls docs"})),
        _ => text("Done."),
    });
    done(&scratch, &model, &["--session", "s", "-m", "read it"]);
    scratch.write_settings("[permissions]\ndeny = ['read', 'write', 'bash(git log*)']\n");
    scratch.write(
        "tools.toml",
        "[[tool]]\nname = 'history'\ndescription = 'Commits.'\ncommand = ['git', 'log', '--oneline']\n\
         [[tool]]\nname = 'version'\ndescription = 'Version.'\ncommand = ['echo', '1.0']\n",
    );
    done(&scratch, &model, &["--session", "s", "-m", "go on"]);
    for (at, rule) in
        ["read", "read", "read", "read", "write", "write", "bash(git log*)"].into_iter().enumerate()
    {
        let said = said(&model, at + 3);
        let denied = format!("denied by the permission rule `{rule}` (settings.toml)");
        assert!(said.contains(&denied), "{at}: {said}");
    }
    assert!(said(&model, 10).contains("1.0"), "{}", said(&model, 10));
    assert_eq!(said(&model, 11), "a.md\n");
    assert_eq!(scratch.read("docs/a.md"), "A\n");
}
