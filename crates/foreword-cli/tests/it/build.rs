//! `foreword build` as a user meets it: what is on standard output, what the manifest says about it,
//! and what the options do.

use crate::support::{Foreword, NOW, Scratch, command, entry, example, keys, section, strings};
use serde_json::Value;

fn workspace() -> Scratch {
    Scratch::new(&[
        ("SOUL.md", "Calm and brief.\n"),
        ("CONTEXT.md", "The service books ferries.\n"),
        ("TOOLS.md", "Look before you write.\n"),
        ("agents/ada/AGENT.md", "---\ntools: [readonly]\n---\nYou are Ada, who keeps the books.\n"),
        (
            "skills/tides/SKILL.md",
            "---\nname: tides\ndescription: Read a tide table.\n---\n\nHigh water first.\n",
        ),
        ("foreword.toml", "agent = \"ada\"\n"),
    ])
}

#[test]
fn standard_output_is_exactly_the_prompt() {
    let workspace = workspace();
    let manifest = workspace.build(&["When is high water?"]);
    let prompt = workspace.prompt(&["When is high water?"]);
    assert_eq!(prompt, manifest["content"].as_str().unwrap());
    assert!(prompt.contains("You are Ada, who keeps the books."));
    assert!(prompt.ends_with("## Task\n\nWhen is high water?"));
}

#[test]
fn the_manifest_has_exactly_the_keys_of_the_contract() {
    let manifest = workspace().build(&["--max-prompt-tokens", "1500", "When is high water?"]);
    let all = [
        "content",
        "digest",
        "filtered",
        "inactive",
        "metadata",
        "omitted",
        "sections",
        "selection",
        "skills",
        "stablePrefixBytes",
        "system",
        "turnContext",
    ];
    assert_eq!(keys(&manifest), all);
    let metadata = [
        "buildTimeMs",
        "contextWindow",
        "estimatedTokens",
        "historyTokens",
        "moduleCount",
        "modules",
        "outputReserve",
        "overBudget",
        "percentRemaining",
        "tokensByModule",
    ];
    assert_eq!(keys(&manifest["metadata"]), metadata);
    for section in manifest["sections"].as_array().unwrap() {
        let of_a_section =
            ["authority", "detail", "module", "range", "sources", "tokens", "volatility"];
        assert_eq!(keys(section), of_a_section);
        for source in section["sources"].as_array().unwrap() {
            // `range` is beyond the contract's example: the bytes of the prompt the source fills.
            assert_eq!(keys(source), ["digest", "lines", "path", "range"]);
        }
    }
    // A budget for all but the workspace's own context leaves an account of what is missing.
    let tight = workspace().build(&["--max-prompt-tokens", "900", "When is high water?"]);
    let omitted = tight["omitted"].as_array().unwrap();
    assert!(!omitted.is_empty());
    for left_out in omitted {
        assert_eq!(keys(left_out), ["module", "reason"]);
        let reason = left_out["reason"].as_str().unwrap();
        assert!(reason.starts_with("over budget: ") && reason.ends_with(" left"), "{reason}");
    }
}

#[test]
fn the_manifest_agrees_with_the_prompt_it_describes() {
    for (directory, blueprint) in
        [("standard", "standard"), ("companion", "companion"), ("guarded", "guarded")]
    {
        let args =
            ["build", "--json", "--now", NOW, "-b", blueprint, "--history-tokens", "5000", "Hello"];
        let manifest = Foreword::new(&args).here(&example(directory)).run().ok().json();
        let text = |key: &str| manifest[key].as_str().unwrap();
        let content = text("content");
        let metadata = &manifest["metadata"];

        match text("turnContext") {
            "" => assert_eq!(text("system"), content, "{blueprint}"),
            turn => assert_eq!(format!("{}\n\n{turn}", text("system")), content, "{blueprint}"),
        }
        assert_eq!(
            text("digest"),
            format!("blake3:{}", blake3::hash(content.as_bytes()).to_hex()),
            "{blueprint}"
        );

        let modules = strings(&metadata["modules"]);
        let sections = manifest["sections"].as_array().unwrap();
        assert_eq!(metadata["moduleCount"], modules.len(), "{blueprint}");
        let of_sections: Vec<&str> =
            sections.iter().map(|section| section["module"].as_str().unwrap()).collect();
        assert_eq!(modules, of_sections, "{blueprint}");
        // Sections stand one after another with a blank line between them, and nothing else.
        let texts: Vec<&str> =
            modules.iter().map(|module| section(&manifest, module).unwrap()).collect();
        assert_eq!(texts.join("\n\n"), content, "{blueprint}");

        let mut sum = 0;
        for section in sections {
            assert_eq!(
                metadata["tokensByModule"][section["module"].as_str().unwrap()],
                section["tokens"]
            );
            sum += section["tokens"].as_u64().unwrap();
            for source in section["sources"].as_array().unwrap() {
                let at = |index: usize| source["range"][index].as_u64().unwrap();
                assert!(section["range"][0].as_u64().unwrap() <= at(0));
                assert!(at(1) <= section["range"][1].as_u64().unwrap());
                let bytes = &content.as_bytes()
                    [usize::try_from(at(0)).unwrap()..usize::try_from(at(1)).unwrap()];
                assert_eq!(source["digest"], format!("blake3:{}", blake3::hash(bytes).to_hex()));
            }
        }
        let total = metadata["estimatedTokens"].as_u64().unwrap();
        assert!(total.abs_diff(sum) <= modules.len() as u64 * 2, "{blueprint}: {total} and {sum}");
        assert_eq!(metadata["historyTokens"], 5000);
        #[expect(clippy::cast_precision_loss, reason = "a few thousand tokens")]
        let left = ((200_000 - 5000 - total) as f64 / 2000.0 * 10.0).round() / 10.0;
        assert_eq!(metadata["percentRemaining"].as_f64().unwrap(), left, "{blueprint}");
        assert!(metadata["buildTimeMs"].as_f64().unwrap() > 0.0);

        let stable = manifest["stablePrefixBytes"].as_u64().unwrap();
        for section in sections {
            let end = section["range"][1].as_u64().unwrap();
            assert!(end > stable || section["volatility"] == "stable", "{blueprint}: {section}");
        }
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let workspace = workspace();
    assert_eq!(workspace.prompt(&["x"]), workspace.prompt(&["x"]));
    let without_time = || {
        let mut manifest = workspace.build(&["x"]);
        manifest["metadata"]["buildTimeMs"] = Value::Null;
        manifest
    };
    assert_eq!(without_time(), without_time());
    // Another task changes nothing of the system prompt.
    assert_eq!(workspace.build(&["x"])["system"], workspace.build(&["y z"])["system"]);
}

#[test]
fn provider_formats_mark_the_cache_boundary() {
    let workspace = workspace();
    let manifest = workspace.build(&["Hello"]);
    let system = manifest["system"].as_str().unwrap();
    let turn = manifest["turnContext"].as_str().unwrap();
    let stable = usize::try_from(manifest["stablePrefixBytes"].as_u64().unwrap()).unwrap();

    let body =
        workspace.run(&["build", "--now", NOW, "--format", "anthropic", "Hello"]).ok().json();
    assert_eq!(keys(&body), ["messages", "system"]);
    let blocks = body["system"].as_array().unwrap();
    let texts: Vec<&str> = blocks.iter().map(|block| block["text"].as_str().unwrap()).collect();
    assert_eq!(texts, [&system[..stable], &system[stable..]]);
    for block in blocks {
        assert_eq!(keys(block), ["cache_control", "text", "type"]);
        assert_eq!(block["type"], "text");
        assert_eq!(block["cache_control"], serde_json::json!({"type": "ephemeral"}));
    }
    let message =
        serde_json::json!([{"role": "user", "content": [{"type": "text", "text": turn}]}]);
    assert_eq!(body["messages"], message);

    let body = workspace.run(&["build", "--now", NOW, "--format", "openai", "Hello"]).ok().json();
    assert_eq!(keys(&body), ["messages", "prompt_cache_key"]);
    let messages = serde_json::json!([
        {"role": "system", "content": system},
        {"role": "user", "content": turn},
    ]);
    assert_eq!(body["messages"], messages);
    let key = blake3::hash(&system.as_bytes()[..stable]).to_hex();
    assert_eq!(body["prompt_cache_key"], key[..32]);
}

#[test]
fn a_task_without_a_section_becomes_the_users_message() {
    let args = ["build", "-b", "guarded", "--context", "-", "--format"];
    let context = r#"{"identityFiles": {"soul": "Calm."}, "task": "Greet me"}"#;
    let run =
        |format| Foreword::new(&[&args[..], &[format]].concat()).stdin(context).run().ok().json();
    let text = serde_json::json!([{"type": "text", "text": "Greet me"}]);
    assert_eq!(
        run("anthropic")["messages"],
        serde_json::json!([{"role": "user", "content": text}])
    );
    assert_eq!(
        run("openai")["messages"][1],
        serde_json::json!({"role": "user", "content": "Greet me"})
    );
}

#[test]
fn a_context_is_read_and_no_other_file() {
    let empty = Scratch::new(&[]);
    let context = example("contexts/integration.json");
    let file = context.to_str().unwrap();
    let args = ["build", "-w", "nowhere", "-b", "guarded", "--context"];
    let from_file = empty.run(&[&args[..], &[file]].concat()).ok();
    let from_stdin = Foreword::new(&[&args[..], &["-"]].concat())
        .here(empty.path())
        .stdin(std::fs::read(&context).unwrap())
        .run()
        .ok();
    assert_eq!(from_file.stdout, from_stdin.stdout);
    assert!(from_file.stdout.starts_with("You are Manon"));
    assert!(from_file.stdout.contains("15.0%"));
    assert_eq!(std::fs::read_dir(empty.path()).unwrap().count(), 0, "nothing was written");

    // A workspace beside it makes no difference: not its settings, not its files.
    let beside = Scratch::new(&[("foreword.toml", "not even TOML"), ("SOUL.md", "Loud.")]);
    assert_eq!(
        beside.run(&["build", "-b", "guarded", "--context", file]).ok().stdout,
        from_file.stdout
    );

    // Options win over the Context.
    let manifest = empty
        .run(&["build", "--json", "--context", file, "--max-prompt-tokens", "700", "Another"])
        .ok()
        .json();
    assert!(manifest["metadata"]["estimatedTokens"].as_u64().unwrap() <= 700);
    assert!(manifest["content"].as_str().unwrap().ends_with("## Task\n\nAnother"));
}

/// The three cases of seed 000, task 10, seen in the prompt that `guarded` makes of them.
#[test]
fn a_payload_brings_message_and_taint() {
    let workspace = Scratch::new(&[("foreword.toml", "blueprint = \"guarded\"\n")]);
    let build = |payload: &str, blueprint: &str| {
        Foreword::new(&["build", "--json", "--now", NOW, "-b", blueprint, "--payload", "-"])
            .here(workspace.path())
            .stdin(payload)
            .run()
            .ok()
            .json()
    };
    let text = |manifest: &Value| manifest["content"].as_str().unwrap().to_owned();

    // Extracts taint state from the payload.
    let full = r#"{"message":"hello","history":[],"taintRatio":0.15,"taintThreshold":0.10,"profile":"paranoid","sandboxType":"nsjail"}"#;
    let guarded = text(&build(full, "guarded"));
    for part in ["15.0%", "10%", "ELEVATED", "nsjail", "paranoid"] {
        assert!(guarded.contains(part), "{part}: {guarded}");
    }
    assert!(text(&build(full, "standard")).ends_with("## Task\n\nhello"));
    assert_eq!(build(full, "guarded")["metadata"]["historyTokens"], 0);

    // Defaults taint state when absent: ratio 0, threshold 1, balanced, subprocess.
    let bare = text(&build(r#"{"message":"hello","history":[]}"#, "guarded"));
    for part in ["0.0%", "100%", "subprocess", "balanced"] {
        assert!(bare.contains(part), "{part}: {bare}");
    }
    assert!(!bare.contains("ELEVATED"));

    // Plain text falls back to a message.
    let plain = text(&build("just text", "standard"));
    assert!(plain.ends_with("## Task\n\njust text"));
    assert!(plain.contains("0.0%"));

    // A profile without a threshold brings its own, and history costs what it is serialised as.
    let told = build(
        r#"{"message":"x","profile":"yolo","history":[{"role":"user","content":"How are you today?"}]}"#,
        "guarded",
    );
    assert!(text(&told).contains("60%"));
    let tokens = told["metadata"]["historyTokens"].as_u64().unwrap();
    assert!((8..30).contains(&tokens), "{tokens}");
}

#[test]
fn the_message_of_a_payload_and_a_task_are_not_given_together() {
    let workspace = workspace();
    let run = Foreword::new(&["build", "--payload", "-", "a task"])
        .here(workspace.path())
        .stdin("a message")
        .run();
    assert!(run.fails(2).contains("--payload"), "{}", run.stderr);
}

#[test]
fn over_budget_is_a_warning_and_under_strict_a_failure() {
    let workspace = workspace();
    let lax = workspace.run(&["build", "--now", NOW, "--max-prompt-tokens", "50"]);
    assert_eq!(lax.status, 0);
    assert!(lax.stderr.contains("warning: the prompt needs "), "{}", lax.stderr);
    assert!(lax.stderr.contains("only 50 are available"), "{}", lax.stderr);

    let strict = workspace.run(&["build", "--now", NOW, "--strict", "--max-prompt-tokens", "50"]);
    assert_eq!(strict.status, 1);
    assert_eq!(strict.stdout, lax.stdout, "the prompt is built all the same");
    assert!(strict.stderr.contains("error: the prompt needs "), "{}", strict.stderr);

    let fits = workspace.run(&["build", "--strict", "--max-prompt-tokens", "3000"]).ok();
    assert!(!fits.stdout.is_empty());
    let quiet = workspace.run(&["build", "--quiet", "--max-prompt-tokens", "50"]).ok();
    assert!(!quiet.stdout.is_empty());
}

#[test]
fn what_was_shortened_or_left_out_is_said() {
    let long = format!("# Ferries\n\n{}", "They leave at noon from the old pier.\n\n".repeat(80));
    let workspace = Scratch::new(&[("SOUL.md", "Calm.\n"), ("CONTEXT.md", &long)]);
    workspace.run(&["build", "--strict", "hello"]).ok();
    let tight = ["build", "--now", NOW, "--max-prompt-tokens", "900", "hello"];
    let run = workspace.run(&tight);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stderr.contains("warning: section context "), "{}", run.stderr);
    let strict = workspace.run(&[&tight[..], &["--strict"]].concat());
    assert_eq!((strict.status, &strict.stdout), (1, &run.stdout), "{}", strict.stderr);
    assert!(strict.stderr.contains("error: the prompt is incomplete: "), "{}", strict.stderr);
    // A limit on a file counts as well.
    workspace.write("foreword.toml", "[limits]\nmax_file_chars = 500\n");
    let run = workspace.run(&["build", "--strict", "hello"]);
    assert_eq!(run.status, 1, "{}", run.stderr);
    assert!(
        run.stderr.contains("warning: file CONTEXT.md: cut to 500 characters"),
        "{}",
        run.stderr
    );
    workspace.run(&["build", "--quiet", "hello"]).ok();
}

#[test]
fn limits_and_reserves_bound_the_prompt() {
    let workspace = workspace();
    let tokens = |manifest: &Value| manifest["metadata"]["estimatedTokens"].as_u64().unwrap();
    let free = workspace.build(&["Hello"]);
    assert_eq!(free["omitted"], Value::Array(Vec::new()));

    let limited = workspace.build(&["--max-prompt-tokens", "1000", "Hello"]);
    assert!(tokens(&limited) <= 1000 && tokens(&limited) < tokens(&free));
    assert_eq!(limited["metadata"]["overBudget"], false);
    assert_ne!(limited["omitted"], Value::Array(Vec::new()));

    // The same room, left by a window, a history and two reserves.
    let reserved = workspace.build(&[
        "--context-window",
        "10000",
        "--history-tokens",
        "3000",
        "--reserved-tokens",
        "5000",
        "--output-reserve",
        "1000",
        "Hello",
    ]);
    assert_eq!(reserved["content"], limited["content"]);
    assert_eq!(reserved["metadata"]["outputReserve"], 1000);
    assert_eq!(reserved["metadata"]["historyTokens"], 3000);
}

#[test]
fn exact_tokenizers_count_differently() {
    let empty = Scratch::new(&[]);
    let task = "Überprüfe bitte 数据库连接, danke 🚢";
    let count = |tokenizer: &str| {
        let manifest = empty.build(&["--tokenizer", tokenizer, task]);
        (
            manifest["metadata"]["estimatedTokens"].as_u64().unwrap(),
            entry(&manifest, "task").unwrap()["tokens"].as_u64().unwrap(),
            manifest["content"].clone(),
        )
    };
    let (estimate, o200k, cl100k) = (count("estimate"), count("o200k"), count("cl100k"));
    assert_eq!(o200k.2, cl100k.2, "counting changes no byte");
    assert_eq!(estimate.2, o200k.2);
    assert_ne!(o200k.0, cl100k.0);
    assert!(o200k.1 < cl100k.1, "o200k has more of these scripts: {o200k:?} {cl100k:?}");
    let off = estimate.0.abs_diff(o200k.0) * 100 / o200k.0;
    assert!(off <= 15, "the estimate is {off}% off: {} and {}", estimate.0, o200k.0);
}

#[test]
fn output_goes_to_a_file() {
    let workspace = workspace();
    let run = workspace.run(&["build", "--now", NOW, "-o", "prompt.txt", "Hello"]).ok();
    assert_eq!(run.stdout, "");
    assert_eq!(workspace.read("prompt.txt"), workspace.prompt(&["Hello"]));
    let run = workspace.run(&["build", "-o", "no/such/directory/prompt.txt"]);
    assert!(run.fails(2).contains("no/such/directory/prompt.txt"), "{}", run.stderr);
}

#[test]
fn mode_takes_the_values_of_either_mode() {
    let workspace = workspace();
    let plan = workspace.build(&["--mode", "plan", "Hello"]);
    assert!(section(&plan, "rules").unwrap().starts_with("## Rules: plan mode"));
    assert!(section(&plan, "context").is_some());

    let minimal = workspace.build(&["--mode", "minimal", "Hello"]);
    assert!(section(&minimal, "identity").is_some() && section(&minimal, "tools").is_some());
    assert_eq!(section(&minimal, "context"), None);

    let both = workspace.build(&["--mode", "plan", "--mode", "minimal", "Hello"]);
    assert!(section(&both, "rules").unwrap().starts_with("## Rules: plan mode"));
    assert_eq!(section(&both, "context"), None);

    let twice = workspace.run(&["build", "--mode", "plan", "--mode", "act"]);
    assert!(
        twice.fails(2).contains("`--mode` sets the same kind of mode twice"),
        "{}",
        twice.stderr
    );
    let unknown = workspace.run(&["build", "--mode", "pln"]);
    assert!(unknown.fails(2).contains("expected plan, act, review or auto"), "{}", unknown.stderr);
}

#[test]
fn verbose_shows_the_event_and_leaves_the_prompt_alone() {
    let workspace = workspace();
    let run = workspace.run(&["build", "--now", NOW, "-v", "Hello"]);
    assert_eq!((run.status, &run.stdout), (0, &workspace.prompt(&["Hello"])));
    let event = run.stderr.lines().find(|line| line.contains("prompt_built")).unwrap();
    for field in ["blueprint=\"standard\"", "module_count=", "estimated_tokens=", "build_time_ms="]
    {
        assert!(event.contains(field), "{event}");
    }
}

#[cfg(unix)]
#[test]
fn a_reader_that_stops_is_no_error() {
    use std::io::Read;
    use std::process::Stdio;
    // More than a pipe holds, so that the writer meets the closed end.
    let soul = "All work and no play. ".repeat(800);
    let workspace = Scratch::new(&[("SOUL.md", &soul)]);
    workspace.write("foreword.toml", "[limits]\nmax_file_chars = 400000\n");
    workspace.write("CONTEXT.md", "Nothing here. ".repeat(20_000));
    let mut child = command()
        .args(["build", "hello"])
        .current_dir(workspace.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 10];
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut first).unwrap();
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    assert_eq!(&first, b"# Constitu");
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert!(output.status.success());
}

#[test]
fn unknown_names_come_with_a_suggestion() {
    let workspace = workspace();
    for (args, message) in [
        (["-b", "gaurded"], "error: no blueprint is called `gaurded`: did you mean `guarded`?\n"),
        (
            ["-a", "adda"],
            "error: there is no agent `adda`; known: ada\nhint: did you mean `ada`?\n",
        ),
    ] {
        let run = workspace.run(&[&["build"], &args[..]].concat());
        assert_eq!(run.fails(2), message);
    }
}

#[test]
fn a_payload_without_a_threshold_does_not_loosen_a_strict_workspace() {
    let workspace = Scratch::new(&[("foreword.toml", "profile = \"paranoid\"\n")]);
    let run = Foreword::new(&["build", "--payload", "-"])
        .here(workspace.path())
        .stdin(r#"{"message": "hello", "taintRatio": 0.2}"#)
        .run()
        .ok();
    assert!(run.stdout.contains("20.0% of this session (threshold: 10%)"), "{}", run.stdout);
}

#[test]
fn a_directory_where_a_task_belongs_is_noticed() {
    let scratch = Scratch::new(&[("bot/SOUL.md", "Calm.\n")]);
    let run = scratch.run(&["build", "bot"]);
    assert_eq!(run.status, 0);
    assert_eq!(
        run.stderr,
        "warning: `bot` is a directory but is used as the task; pass a workspace with `-w bot`\n"
    );
    assert_eq!(scratch.run(&["build", "-w", "bot", "bot"]).ok().status, 0);
    let run = scratch.run(&["lint", "bot"]);
    assert!(run.fails(2).ends_with("hint: select a workspace with -w: `-w bot`\n"));
    let run = scratch.run(&["build", "plan", "my", "week"]);
    assert!(run.fails(2).ends_with("hint: put a task of several words in quotes\n"));
}

/// What a shell makes of `--context <(command)`.
#[cfg(unix)]
#[test]
fn a_context_may_come_through_a_named_pipe() {
    let empty = Scratch::new(&[]);
    let run = Foreword::new(&["build", "--context", "/dev/stdin"])
        .here(empty.path())
        .stdin("{\"task\": \"Hello\"}")
        .run()
        .ok();
    assert!(run.stdout.ends_with("## Task\n\nHello"), "{}", run.stdout);
    let run = empty.run(&["build", "--context", "/dev/zero"]);
    assert_eq!(run.fails(2), "error: /dev/zero is larger than the limit of 64 MiB\n");
}
