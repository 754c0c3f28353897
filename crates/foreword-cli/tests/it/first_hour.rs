//! The first hour with Foreword: what a new user types, and what they see.

use crate::support::host::{KEY, on_host};
use crate::support::model::{Answer, ModelServer, text};
use crate::support::{Foreword, Scratch};

/// A run in a directory below the scratch, with the person's settings of the scratch.
fn inside(scratch: &Scratch, directory: &str, args: &[&str]) -> Foreword {
    let directory = scratch.join(directory);
    std::fs::create_dir_all(&directory).unwrap();
    Foreword::new(args).here(&directory).env("FOREWORD_CONFIG_DIR", scratch.config_dir())
}

#[test]
fn a_new_workspace_answers_with_only_a_key() {
    for (variables, default) in [
        (["ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"], "claude-sonnet-5-5"),
        (["OPENAI_BASE_URL", "OPENAI_API_KEY"], "gpt-5.5"),
    ] {
        let scratch = Scratch::new(&[]);
        inside(&scratch, "agent", &["init", "--quiet"]).run().ok();
        let model = ModelServer::saying(vec![text("Hello yourself.")]);
        let run = inside(&scratch, "agent", &["run", "-m", "hello"])
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env(variables[0], &model.url)
            .env(variables[1], KEY)
            .run();
        assert_eq!((run.status, run.stdout.as_str()), (0, "Hello yourself.\n"), "{}", run.stderr);
        assert!(run.stderr.contains(&format!("using model {default}")), "{}", run.stderr);
        let asked = model.asked();
        assert_eq!(asked[0].body["model"], default);
        assert!(asked[0].system().concat().contains(default), "the prompt names it too");
    }
}

#[test]
fn the_default_model_is_in_the_prompt_that_build_shows() {
    let scratch = Scratch::new(&[("AGENTS.md", "Be brief.\n")]);
    scratch.trust();
    let model = ModelServer::saying(vec![text("Yes.")]);
    let run = on_host(&scratch, &model, &["run", "-q", "--session", "s", "-m", "hello"]).run();
    assert_eq!(run.status, 0, "{}", run.stderr);
    let shown = on_host(&scratch, &model, &["build", "-q", "--runner", "native", "hello"]).run();
    assert!(shown.stdout.contains("claude-sonnet-5-5"), "{}", shown.stdout);
    // A model that was named is not commented on.
    let model = ModelServer::saying(vec![text("Yes.")]);
    let run = on_host(&scratch, &model, &["run", "--model", "mine", "-m", "hello"]).run();
    assert_eq!(model.asked()[0].body["model"], "mine");
    assert!(!run.stderr.contains("using model"), "{}", run.stderr);
}

#[test]
fn without_a_key_one_screen_says_what_to_set_and_what_works() {
    let scratch = Scratch::new(&[]);
    inside(&scratch, "agent", &["init", "--quiet"]).run().ok();
    let run = inside(&scratch, "agent", &["run", "-m", "hello"]).run();
    let said = run.fails(2);
    for named in [
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "ANTHROPIC_BASE_URL",
        "OPENAI_BASE_URL",
        "foreword build",
        "foreword explain",
        "foreword scan",
        "--runner claude-code",
    ] {
        assert!(said.contains(named), "{named}: {said}");
    }
    assert!(said.lines().count() <= 24, "one screen: {said}");
    inside(&scratch, "agent", &["build", "--quiet", "hello"]).run().ok();
}

#[test]
fn a_folder_below_finds_its_workspace() {
    let scratch = Scratch::new(&[
        ("w/foreword.toml", "model = 'test-model'\n"),
        ("w/SOUL.md", "Calm and exact.\n"),
        ("w/src/AGENTS.md", "Sources only.\n"),
    ]);
    let below = inside(&scratch, "w/src/deep", &["build", "-q", "hello"]).run().ok().stdout;
    assert!(below.contains("Calm and exact.") && below.contains("Sources only."), "{below}");
    inside(&scratch, "w/src/deep", &["memory", "add", "Ships on Tuesdays"]).run().ok();
    assert!(scratch.join("w/.foreword/foreword.db").exists());
    assert!(!scratch.join("w/src/deep/.foreword").exists());
    let found = inside(&scratch, "w", &["memory", "list"]).run().ok().stdout;
    assert!(found.contains("Ships on Tuesdays"), "{found}");

    // The agent works where the person is.
    let model = ModelServer::saying(vec![text("Yes.")]);
    let run = inside(&scratch, "w/src/deep", &["run", "-q", "--trust", "-m", "hello"])
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("ANTHROPIC_BASE_URL", &model.url)
        .env("ANTHROPIC_API_KEY", KEY)
        .run();
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(model.asked()[0].raw.contains("Sources only."));
}

#[test]
fn without_a_workspace_there_is_a_message_and_no_trace() {
    let scratch = Scratch::new(&[("w/foreword.toml", ""), ("w/inner/foreword.toml", "")]);
    for args in [
        &["build", "hello"][..],
        &["explain"],
        &["lint"],
        &["memory", "add", "x"],
        &["skill", "list"],
        &["run", "-m", "hello"],
        &["trust", "--yes"],
        &["mcp"],
    ] {
        let run = inside(&scratch, "nowhere", args).run();
        let said = run.fails(2);
        assert!(said.contains("no workspace found in "), "{args:?}: {said}");
        assert!(said.contains("`foreword init`") && said.contains("`-w DIR`"), "{said}");
    }
    assert_eq!(std::fs::read_dir(scratch.join("nowhere")).unwrap().count(), 0);
    let nested = inside(&scratch, "w/inner", &["build", "hello"]).run();
    assert!(nested.fails(2).contains("is inside another workspace"), "{}", nested.stderr);
    inside(&scratch, "w/inner", &["build", "-q", "-w", ".", "hello"]).run().ok();
    let init = inside(&scratch, "w/deeper", &["init"]).run();
    assert!(init.stderr.contains("commands in it need `-w`"), "{}", init.stderr);
    // Commands that need no workspace work anywhere.
    inside(&scratch, "nowhere", &["scan", "--json"]).stdin("hello").run().ok();
    inside(&scratch, "nowhere", &["trust", "--list", "--quiet"]).run().ok();
    inside(&scratch, "nowhere", &["build", "--context", "-"]).stdin("{}").run().ok();
}

/// The error names the model, the provider, where it was set and what to do.
#[test]
fn a_model_that_the_provider_does_not_have_is_named() {
    let anthropic = r#"{"type":"error","error":{"type":"not_found_error","message":"model: m-9"}}"#;
    let openai = r#"{"error":{"message":"The model `m-9` does not exist or you do not have access to it.","type":"invalid_request_error","code":"model_not_found"}}"#;
    for (provider, variables, body) in [
        ("Anthropic", ["ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"], anthropic),
        ("OpenAI", ["OPENAI_BASE_URL", "OPENAI_API_KEY"], openai),
    ] {
        for (file, text, named) in [
            ("foreword.toml", "[model]\nname = 'm-9'\n", "set by foreword.toml:2"),
            ("foreword.toml", "model = 'm-9'\n", "set by foreword.toml:1"),
            (
                "agents/a/AGENT.md",
                "---\nmodel: m-9\n---\nYou are a.\n",
                "set by agents/a/AGENT.md:2",
            ),
            ("SOUL.md", "Calm.\n", "set by `--model`"),
        ] {
            let scratch = Scratch::new(&[(file, text)]);
            let model = ModelServer::start(move |_, _| {
                let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
                Answer::Raw(404, headers, body.to_owned())
            });
            let mut args = vec!["run", "-q", "--trust", "-m", "hi"];
            args.extend(if file.starts_with("agents") { ["--agent", "a"].as_slice() } else { &[] });
            args.extend(if file == "SOUL.md" { ["--model", "m-9"].as_slice() } else { &[] });
            let run = scratch
                .command(&args)
                .env("PATH", "/usr/local/bin:/usr/bin:/bin")
                .env(variables[0], &model.url)
                .env(variables[1], KEY)
                .run();
            let said = run.fails(1);
            let head = format!("{provider} ({}) does not have the model `m-9`", model.url);
            for part in [head.as_str(), named, "--model NAME"] {
                assert!(said.contains(part), "{part}: {said}");
            }
        }
    }
}

#[test]
fn trust_says_what_it_covers_and_ends_for_what_is_gone() {
    let scratch = Scratch::new(&[
        ("w/SOUL.md", "Calm.\n"),
        ("w/skills/tea.md", "---\nname: tea\ndescription: Tea\n---\nBoil.\n"),
    ]);
    let trust = |args: &[&str]| {
        let run = inside(&scratch, ".", &[&["trust"], args].concat()).run();
        assert_eq!(run.status, 0, "{}", run.stderr);
        (run.stdout, run.stderr)
    };
    trust(&["--yes", "-q", "-w", "w"]);
    let (_, shown) = trust(&["-w", "w"]);
    assert!(shown.contains("tea (skills/tea.md, trusted, screening: "), "{shown}");
    assert!(!shown.contains("not approved yet"), "{shown}");
    std::fs::remove_dir_all(scratch.join("w")).unwrap();
    assert!(trust(&["--list"]).0.contains("(no longer exists)"));
    assert_eq!(trust(&["--revoke", "-w", "w"]).1, "workspace is no longer trusted\n");
    assert_eq!(trust(&["--list"]).0, "");
    assert_eq!(trust(&["--revoke", "-w", "w"]).1, "workspace was not trusted\n");
}

#[test]
fn init_takes_its_directory_like_other_programs_do() {
    let scratch = Scratch::new(&[]);
    let run = inside(&scratch, ".", &["init", "my-agent"]).run();
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(scratch.join("my-agent/foreword.toml").exists());
    assert!(run.stderr.contains("foreword run -w my-agent"), "{}", run.stderr);
    let run = inside(&scratch, ".", &["init", "a", "-w", "b"]).run();
    assert_eq!(run.status, 2, "{}", run.stderr);
    assert!(!scratch.join("a").exists() && !scratch.join("b").exists());
}

/// A file that was there before `init` was never trusted, so it did not change since.
#[test]
fn init_over_an_existing_file_says_that_it_is_not_trusted_yet() {
    let scratch = Scratch::new(&[("AGENTS.md", "Be brief.\n")]);
    scratch.run(&["init", "-q"]).ok();
    let model = ModelServer::saying(vec![text("Yes.")]);
    let run = on_host(&scratch, &model, &["run", "-m", "hello"]).run();
    assert_eq!(run.status, 1);
    let said = run.stderr;
    assert!(said.contains("You have not trusted these files yet:"), "{said}");
    assert!(
        said.contains("workspace has files or settings that you have not trusted yet"),
        "{said}"
    );
    assert!(!said.contains("changed since"), "{said}");
}

#[test]
fn a_wrong_word_gets_a_hint_that_helps() {
    let scratch = Scratch::new(&[("w/foreword.toml", ""), ("w/SOUL.md", "Calm.\n")]);
    for (args, hint) in [
        (&["lint", "x"][..], "name an agent with `--agent x`, or a workspace with `-w x`"),
        (&["trust", "list"], "did you mean `--list`?"),
        (&["trust", "revoke"], "did you mean `--revoke`?"),
        (&["audit", "show"], "hint: did you mean `foreword audit log`?"),
        (&["memory", "remove", "x"], "hint: did you mean `foreword memory forget`?"),
        (&["skill", "undo", "x"], "hint: did you mean `foreword skill revert`?"),
        (&["audit", "frob"], "hint: the commands of `foreword audit` are log, verify, accept"),
        (&["delete"], "error: unrecognized subcommand 'delete'"),
        (&["build", "-w", "w/SOUL.md"], "pass the directory of a workspace with `-w`"),
    ] {
        let run = inside(&scratch, ".", args).run();
        let said = run.fails(2);
        assert!(said.contains(hint), "{args:?}: {said}");
        assert!(!said.contains("in quotes"), "{args:?}: {said}");
    }
}
