//! Where a prompt came from, what changed, what is wrong with it: `explain`, `diff`, `lint`, the lock
//! and `--watch`; and what the command line says about itself.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

use crate::support::{Foreword, NOW, Scratch, command, example, keys};
use serde_json::{Value, json};

fn ferry() -> Scratch {
    Scratch::new(&[
        ("foreword.toml", "agent = \"ada\"\n"),
        ("agents/ada/AGENT.md", "---\nmodel: m-1\n---\nYou are Ada.\n\nYou keep the books.\n"),
        ("SOUL.md", "Calm.\n"),
        ("CONTEXT.md", "The service books ferries between two harbours.\n"),
    ])
}

#[test]
fn explain_shows_a_table_and_what_was_left_out() {
    let workspace = ferry();
    let run = workspace.run(&["explain", "--now", NOW, "Hello"]).ok();
    let lines: Vec<Vec<&str>> =
        run.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(
        lines[0],
        ["section", "authority", "volatility", "detail", "tokens", "share", "source"]
    );
    let row = |name: &str| lines.iter().find(|line| line.first() == Some(&name)).unwrap();
    assert_eq!(row("identity")[1..4], ["operator", "stable", "full"]);
    assert_eq!(row("identity")[7..], ["agents/ada/AGENT.md,", "SOUL.md"]);
    assert_eq!(row("context")[7..], ["CONTEXT.md"]);
    assert_eq!(row("taint")[1..4], ["runtime", "turn", "full"]);
    let shares: f64 =
        lines.iter().filter_map(|line| line.get(5)?.strip_suffix('%')?.parse::<f64>().ok()).sum();
    assert!((98.0..102.0).contains(&shares), "{shares}");
    assert!(!run.stdout.contains("omitted"));

    let run = workspace.run(&["explain", "--now", NOW, "--max-prompt-tokens", "760", "Hello"]).ok();
    let (_, left_out) = run.stdout.split_once("\nomitted\n").unwrap();
    assert!(left_out.lines().next().unwrap().contains(": over budget: "), "{}", run.stdout);

    // The same account as JSON is that of `build --json`, without the text.
    let mut account = workspace.build(&["Hello"]);
    for key in ["content", "system", "turnContext"] {
        account.as_object_mut().unwrap().remove(key);
    }
    let mut explained = workspace.run(&["explain", "--json", "--now", NOW, "Hello"]).ok().json();
    for manifest in [&mut account, &mut explained] {
        manifest["metadata"]["buildTimeMs"] = Value::Null;
    }
    assert_eq!(explained, account);
}

#[test]
fn explain_draws_bars_and_the_boundaries_of_the_prompt() {
    let workspace = ferry();
    let run = workspace.run(&["explain", "--now", NOW, "Hello"]).ok();
    let manifest = workspace.build(&["Hello"]);
    let sections = manifest["sections"].as_array().unwrap();
    let bar = |line: &str| line.matches(['█', '▏', '▎', '▍', '▌', '▋', '▊', '▉']).count();
    let largest = sections.iter().max_by_key(|section| section["tokens"].as_u64()).unwrap();
    for section in sections {
        let name = section["module"].as_str().unwrap();
        let line = run.stdout.lines().find(|line| line.starts_with(&format!("{name} "))).unwrap();
        let tokens = |section: &Value| section["tokens"].as_f64().unwrap();
        let share = tokens(section) / tokens(largest);
        assert!((bar(line) as f64 - share * 16.0).abs() <= 1.0, "{line}");
    }
    // No colour without a terminal.
    assert!(!run.stdout.contains('\u{1b}'));

    // Each boundary stands between the last section above it and the first one below.
    let place = |text: &str| run.stdout.lines().position(|line| line.starts_with(text)).unwrap();
    let first = |volatility: &str| {
        let first = sections.iter().find(|section| section["volatility"] == volatility).unwrap();
        format!("{} ", first["module"].as_str().unwrap())
    };
    let prefix = place("── cache prefix ends here: ");
    assert_eq!(place(&first("session")), prefix + 1, "{}", run.stdout);
    let turn = place("── turn context starts here");
    assert_eq!(place(&first("turn")), turn + 1, "{}", run.stdout);
    let stable: u64 = sections
        .iter()
        .filter(|section| section["volatility"] == "stable")
        .map(|section| section["tokens"].as_u64().unwrap())
        .sum();
    let line = run.stdout.lines().nth(prefix).unwrap();
    assert!(line.starts_with(&format!("── cache prefix ends here: {stable} tokens (")), "{line}");
}

#[test]
fn explain_shows_a_tree_of_sections_and_their_files() {
    let workspace = ferry();
    let run = workspace.run(&["explain", "--now", NOW, "--tree", "Hello"]).ok();
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(lines[0].starts_with("system prompt  "), "{}", run.stdout);
    let at = lines.iter().position(|line| line.starts_with("├─ identity ")).unwrap();
    assert!(lines[at].ends_with("  operator, stable, full"), "{}", lines[at]);
    assert_eq!(lines[at + 1], "│  ├─ agents/ada/AGENT.md:4-6  33 bytes");
    assert_eq!(lines[at + 2], "│  └─ SOUL.md:1  5 bytes");
    let turn = lines.iter().position(|line| line.starts_with("turn context  ")).unwrap();
    assert!(lines[turn - 2].starts_with("└─ "), "{}", run.stdout);
    assert!(lines[turn..].iter().any(|line| line.contains(" task:1  5 bytes")), "{}", run.stdout);
    assert!(run.stdout.contains("\n── cache prefix ends here: "), "{}", run.stdout);

    let run = workspace.run(&["explain", "--tree", "--at", "3"]);
    assert!(run.fails(2).contains("cannot be used with"), "{}", run.stderr);
}

#[test]
fn explain_says_where_a_byte_came_from() {
    let workspace = ferry();
    let prompt = workspace.prompt(&["Hello"]);
    let at = |text: &str| prompt.find(text).unwrap().to_string();
    let explain =
        |byte: &str| workspace.run(&["explain", "--now", NOW, "--at", byte, "Hello"]).ok().stdout;
    // Line 6 of the file: the header counts.
    assert_eq!(
        explain(&at("keep the books")),
        "section identity, operator authority, from agents/ada/AGENT.md:6\n"
    );
    assert_eq!(
        explain(&at("two harbours")),
        "section context, operator authority, from CONTEXT.md:1\n"
    );
    assert_eq!(
        explain(&at("## Context")),
        "section context, operator authority, from the module itself\n"
    );
    let between = prompt.find("\n\n## Context").unwrap().to_string();
    assert_eq!(explain(&between), "between two sections\n");
    let json = workspace
        .run(&["explain", "--json", "--now", NOW, "--at", &at("two harbours"), "Hello"])
        .ok()
        .json();
    assert_eq!(
        json,
        json!({
            "schemaVersion": 1, "byte": at("two harbours").parse::<usize>().unwrap(),
            "section": "context",
            "authority": "operator",
            "volatility": "stable",
            "source": "CONTEXT.md",
            "line": 1,
        })
    );
}

#[test]
fn diff_names_the_first_byte_the_section_and_the_cost() {
    let before = ferry();
    let after = Scratch::copy_of(before.path());
    let (a, b) = (before.path().to_str().unwrap(), after.path().to_str().unwrap());
    let copy = before.run(&["diff", a, b]).ok();
    assert!(copy.stdout.starts_with("identical: "), "{}", copy.stdout);

    after.write("SOUL.md", "Calm and quick.\n");
    let run = before.run(&["diff", "-a", "ada", a, b]).ok();
    let first = before.prompt(&[]).find("Calm").unwrap() + "Calm".len();
    assert!(
        run.stdout.starts_with(&format!("first differing byte {first}, line ")),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains(", in section identity\n"), "{}", run.stdout);
    assert!(run.stdout.contains("  changed  identity: "), "{}", run.stdout);
    assert!(run.stdout.contains(" tokens are billed again\n"), "{}", run.stdout);

    let json = before.run(&["diff", "--json", a, b]).ok().json();
    assert_eq!(json["identical"], false);
    assert_eq!(json["firstByte"], first);
    assert_eq!(json["section"], "identity");
    assert!(json["billedAgainTokens"].as_u64().unwrap() > 500, "{json}");
}

#[test]
fn diff_takes_contexts_and_saved_builds() {
    let scratch = Scratch::new(&[
        ("a.json", "{\"task\": \"Find the leak\", \"now\": \"2026-02-26T14:30:00Z\"}"),
        ("b.json", "{\"task\": \"Find the boat\", \"now\": \"2026-02-26T14:30:00Z\"}"),
    ]);
    let run = scratch.run(&["diff", "a.json", "b.json"]).ok();
    assert!(run.stdout.contains("in section task\n"), "{}", run.stdout);
    assert!(run.stdout.contains("Find the leak") && run.stdout.contains("Find the boat"));

    let saved = scratch.run(&["build", "--json", "--context", "a.json", "-o", "saved.json"]).ok();
    assert_eq!(saved.stdout, "");
    let run = scratch.run(&["diff", "saved.json", "a.json"]).ok();
    assert!(run.stdout.starts_with("identical: "), "{}", run.stdout);
    let run = scratch.run(&["diff", "--json", "saved.json", "b.json"]).ok();
    assert_eq!(run.json()["section"], "task");

    scratch.write("other.json", "{\"sections\": 3}");
    let run = scratch.run(&["diff", "a.json", "other.json"]);
    assert!(run.fails(2).contains("other.json: not a saved build"), "{}", run.stderr);
}

/// A rule, a workspace that breaks it, the file and line to look at, and how lint ends.
type Case<'c> = (&'c str, &'c [(&'c str, &'c str)], &'c str, u32, i32);

#[test]
fn lint_finds_each_fault_at_its_line() {
    let worker = "---\ntools: [readonly]\n---\n";
    let twice = "A paragraph that is long enough to be worth its own place in the prompt.";
    let long = "word ".repeat(5000);
    let cases: &[Case<'_>] = &[
        (
            "identity-bleed",
            &[
                ("agents/ada/AGENT.md", "---\ncapabilities: [own]\n---\nYou are Ada.\n"),
                ("prompts/capabilities/own.md", "Be brief.\n\nYou are Bob.\n"),
            ],
            "prompts/capabilities/own.md",
            3,
            1,
        ),
        (
            "order",
            &[
                (
                    "agents/ada/AGENT.md",
                    "---\nprompts:\n  - agents/coding/ada\n  - capabilities/own\n---\n",
                ),
                ("prompts/agents/coding/ada.md", "You are Ada.\n"),
                ("prompts/capabilities/own.md", "Be brief.\n"),
            ],
            "agents/ada/AGENT.md",
            4,
            1,
        ),
        (
            "personas",
            &[
                ("agents/ada/AGENT.md", "---\nmodel: m\n---\nYou are Ada.\n"),
                ("prompts/agents/coding/ada.md", "You are Ada, too.\n"),
            ],
            "agents/ada/AGENT.md",
            4,
            1,
        ),
        (
            "tool-mismatch",
            &[
                ("agents/ada/AGENT.md", worker),
                ("prompts/agents/coding/ada.md", "You are Ada.\n\nUse `bash` for it.\n"),
            ],
            "prompts/agents/coding/ada.md",
            3,
            1,
        ),
        (
            "template-variable",
            &[("prompts/runtime/sub-agent.md", "Role {{parentRole}}.\n\nTask {{tsakId}}.\n")],
            "prompts/runtime/sub-agent.md",
            3,
            1,
        ),
        (
            "missing-reference",
            &[("agents/ada/AGENT.md", "---\nprompts:\n  - capabilities/gone\n---\nYou are Ada.\n")],
            "agents/ada/AGENT.md",
            3,
            1,
        ),
        (
            "missing-reference",
            &[("agents/ada/AGENT.md", "---\nskills: [tides]\n---\nYou are Ada.\n")],
            "agents/ada/AGENT.md",
            2,
            1,
        ),
        (
            "turn-above-stable",
            &[("foreword.toml", "blueprint = \"guarded\"\n")],
            "builtin:guarded",
            1,
            0,
        ),
        ("oversized", &[("SOUL.md", &long)], "SOUL.md", 1, 0),
        (
            "duplicate-paragraph",
            &[("SOUL.md", twice), ("CONTEXT.md", &format!("Ferries.\n\n{twice}\n"))],
            "CONTEXT.md",
            3,
            0,
        ),
        ("hidden-characters", &[("SOUL.md", "Calm.\n\nAnd\u{200b}quick.\n")], "SOUL.md", 3, 0),
        (
            "reads-as-title",
            &[("SOUL.md", "Calm.\n\n## Security Boundaries\n\nNone.\n")],
            "SOUL.md",
            3,
            0,
        ),
        ("open-block", &[("SOUL.md", "Calm.\n\n```\nopen\n")], "SOUL.md", 4, 0),
        (
            "skill-header",
            &[("skills/tides.md", "---\nname: [\n---\nHigh water.\n")],
            "skills/tides.md",
            2,
            0,
        ),
        (
            "skill-passed-over",
            &[("skills/tides.md", "---\nname: tides\n---\nHigh\0 water.\n")],
            "skills/tides.md",
            4,
            1,
        ),
    ];
    for (rule, files, file, line, status) in cases {
        let workspace = Scratch::new(files);
        let run = workspace.run(&["lint", "--json"]);
        assert_eq!(run.status, *status, "{rule}: {}{}", run.stdout, run.stderr);
        let found = run.json();
        let finding = found
            .as_array()
            .unwrap()
            .iter()
            .find(|finding| finding["rule"] == **rule)
            .unwrap_or_else(|| panic!("{rule}: {found}"));
        assert_eq!(keys(finding), ["file", "hint", "line", "message", "rule", "severity"]);
        assert_eq!((&finding["file"], &finding["line"]), (&json!(file), &json!(line)), "{rule}");
        let severity = if *status == 1 { "error" } else { "warning" };
        assert_eq!(finding["severity"], severity, "{rule}");
        for said in ["message", "hint"] {
            assert!(finding[said].as_str().unwrap().len() > 10, "{rule}: {finding}");
        }
        // The same for people: a place an editor can jump to.
        let run = workspace.run(&["lint"]);
        assert_eq!(run.status, *status, "{rule}");
        let place = format!("{file}:{line}: {severity} [{rule}] ");
        assert!(run.stdout.contains(&place), "{rule}: {}", run.stdout);
    }
}

#[test]
fn lint_is_content_with_every_example() {
    for name in ["standard", "companion", "guarded", "roles", "semantic", "support-bot"] {
        let run = Foreword::new(&["lint", "--json"]).here(&example(name)).run();
        assert_eq!(run.status, 0, "{name}: {}{}", run.stdout, run.stderr);
    }
    let run = Foreword::new(&["lint"]).here(&example("roles")).run();
    assert_eq!((run.status, run.stdout.as_str()), (0, ""));
    assert_eq!(run.stderr, "no problems found\n");
    Foreword::new(&["lint", "--quiet"]).here(&example("roles")).run().ok();
}

#[test]
fn a_lock_holds_until_a_prompt_changes() {
    let workspace = Scratch::copy_of(&example("roles"));
    let run = workspace.run(&["lint", "--lock"]);
    assert!(run.fails(2).contains("foreword build --lock"), "{}", run.stderr);

    let run = workspace.run(&["build", "--lock", "--now", NOW]);
    assert_eq!((run.status, run.stderr.as_str()), (0, "foreword.lock: 5 prompts recorded\n"));
    assert_eq!(run.stdout, "", "only the lock was asked for");
    let run = workspace.run(&["build", "--lock", "-q", "--now", NOW, "Plan it."]);
    assert_eq!(run.stdout, workspace.prompt(&["Plan it."]));
    let lock: toml::Table = toml::from_str(&workspace.read("foreword.lock")).unwrap();
    let agents: Vec<&String> = lock["agents"].as_table().unwrap().keys().collect();
    assert_eq!(agents, ["coordinator", "cosmo", "planner", "task-manager", "worker"]);
    assert_eq!(workspace.run(&["lint", "--lock"]).stderr, "no problems found\n");

    // Another directory, another task, another time: the same lock.
    let elsewhere = Scratch::copy_of(workspace.path());
    assert_eq!(elsewhere.run(&["lint", "--lock"]).status, 0);
    elsewhere.run(&["build", "--lock", "--quiet", "-a", "planner", "Another task"]).ok();
    assert_eq!(elsewhere.read("foreword.lock"), workspace.read("foreword.lock"));

    // An edit of one persona is named, and only that.
    workspace.write("prompts/agents/coding/worker.md", "You are a Worker.\n");
    let run = workspace.run(&["lint", "--lock"]);
    assert_eq!(run.status, 1);
    assert_eq!(
        run.stdout.lines().next().unwrap(),
        "foreword.lock:1: error [lock] the prompt of `worker` differs from the lock: section persona changed"
    );
    assert_eq!(run.stdout.lines().count(), 2, "{}", run.stdout);
    let findings = workspace.run(&["lint", "--lock", "--json"]).json();
    assert_eq!(findings.as_array().unwrap().len(), 1);
    assert_eq!(findings[0]["rule"], "lock");

    let run = workspace.run(&["build", "--lock"]);
    assert_eq!(
        run.stderr,
        "foreword.lock: worker: section persona changed\nforeword.lock: 5 prompts recorded\n"
    );
    assert_eq!(workspace.run(&["lint", "--lock"]).status, 0);

    workspace.write("foreword.lock", "version = 9\n");
    let run = workspace.run(&["lint", "--lock"]);
    assert!(run.fails(2).contains("foreword.lock: unsupported lock version 9"), "{}", run.stderr);
}

#[test]
fn watch_prints_what_changed() {
    let workspace = ferry();
    let mut child = command()
        .args(["build", "--watch", "-o", "prompt.txt"])
        .current_dir(workspace.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (send, lines) = mpsc::channel();
    let streams: [Box<dyn BufRead + Send>; 2] = [
        Box::new(BufReader::new(child.stderr.take().unwrap())),
        Box::new(BufReader::new(child.stdout.take().unwrap())),
    ];
    for stream in streams {
        let send = send.clone();
        std::thread::spawn(move || {
            for line in stream.lines().map_while(Result::ok) {
                let _ = send.send(line);
            }
        });
    }
    let next =
        || lines.recv_timeout(Duration::from_secs(20)).unwrap_or_else(|_| "(nothing)".into());
    let started = next();
    workspace.write("SOUL.md", "Calm and quick.\n");
    let changed: Vec<String> = (0..5).map(|_| next()).collect();
    // A workspace that is broken for a moment is said, and the watch goes on.
    workspace.write("foreword.toml", "agnt = \"ada\"\n");
    let broken = next();
    child.kill().unwrap();
    child.wait().unwrap();

    assert!(started.starts_with("watching .: "), "{started}");
    assert!(changed[0].starts_with("first differing byte "), "{changed:?}");
    assert!(changed[0].ends_with("in section identity"), "{changed:?}");
    assert!(changed[3].starts_with("  changed  identity: "), "{changed:?}");
    assert!(changed[4].ends_with("tokens are billed again"), "{changed:?}");
    assert_eq!(broken, "error: foreword.toml:1: unknown key `agnt`");
    assert!(workspace.read("prompt.txt").contains("Calm and quick."));
}

#[test]
fn completions_and_man_pages_cover_every_command() {
    let scratch = Scratch::new(&[]);
    let commands = ["init", "build", "explain", "diff", "lint", "eval", "serve"];
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = scratch.run(&["completions", shell]).ok().stdout;
        for command in commands {
            assert!(script.contains(command), "{shell}: {command}");
        }
        assert!(script.contains("max-prompt-tokens"), "{shell}");
    }
    let run = scratch.run(&["man", "pages", "--quiet"]).ok();
    assert_eq!(run.stdout, "");
    for command in commands {
        let page = scratch.read(&format!("pages/foreword-{command}.1"));
        assert!(page.contains(".TH"), "{command}");
    }
    assert!(scratch.read("pages/foreword.1").contains("ompile system prompts"));
}

#[test]
fn help_and_version_go_to_standard_output() {
    let scratch = Scratch::new(&[]);
    for args in [&["--help"][..], &["build", "--help"], &["help", "lint"], &["--version"]] {
        assert!(!scratch.run(args).ok().stdout.is_empty(), "{args:?}");
    }
    let bare = scratch.run(&[] as &[&str]);
    assert_eq!((bare.status, bare.stdout.as_str()), (2, ""));
    assert!(bare.stderr.contains("Usage: foreword"), "{}", bare.stderr);
}

#[test]
fn eval_speed_prints_one_line_of_figures() {
    let context = example("contexts/integration.json");
    let context = context.to_str().unwrap();
    let args = ["eval", "speed", "--context", context, "--blueprint", "guarded", "--builds", "50"];
    let run = Foreword::new(&[&args[..], &["--json"]].concat()).run().ok();
    assert_eq!(run.stdout.lines().count(), 1);
    let figures = run.json();
    assert_eq!(keys(&figures), ["builds", "bytes", "medianInterval", "medianUs", "minUs"]);
    assert_eq!(figures["builds"], 50);
    let (min, median) = (figures["minUs"].as_f64().unwrap(), figures["medianUs"].as_f64().unwrap());
    assert!(0.0 < min && min <= median, "{figures}");
    let prompt = Foreword::new(&["build", "-b", "guarded", "--context", context]).run().ok().stdout;
    assert_eq!(figures["bytes"], prompt.len());
    let run = Foreword::new(&["eval", "speed", "--context", context, "--builds", "0"]).run();
    assert!(run.fails(2).contains("--builds"), "{}", run.stderr);
}
