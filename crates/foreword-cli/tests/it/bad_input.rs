//! Bad input: each case ends with exit 2 and a message that says what and where, and none panics.

use std::fs::File;

use crate::support::{Foreword, Run, Scratch};

/// The run failed as bad input does, and said all of this.
fn refused(run: &Run, case: &str, said: &[&str]) {
    assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{case}: {}", run.stderr);
    assert!(run.stderr.starts_with("error: "), "{case}: {}", run.stderr);
    for part in said {
        assert!(run.stderr.contains(part), "{case}: no `{part}` in: {}", run.stderr);
    }
    // One statement and its hints, not a page: nobody reads more.
    assert!(run.stderr.len() < 1200, "{case}: {} bytes: {}", run.stderr.len(), run.stderr);
}

#[test]
fn settings_and_tools() {
    for (file, text, said) in [
        (
            "foreword.toml",
            "bluprint = \"roles\"",
            &["foreword.toml:1: unknown key `bluprint`", "did you mean `blueprint`?"][..],
        ),
        (
            "foreword.toml",
            "\n[limits]\nmax_file_char = 1",
            &["foreword.toml:3: unknown key `max_file_char`", "`max_file_chars`"],
        ),
        ("foreword.toml", "[limit]\n", &["foreword.toml:1: unknown key `limit`", "`limits`"]),
        ("foreword.toml", "blueprint = ", &["foreword.toml:1: "]),
        ("foreword.toml", "blueprint = 3", &["foreword.toml:1: "]),
        (
            "foreword.toml",
            "blueprint = \"nope\"",
            &["foreword.toml:1: ", "no blueprint is called `nope`"],
        ),
        (
            "foreword.toml",
            "blueprint = \"gone.toml\"",
            &["gone.toml: file not found; foreword.toml:1 refers to it"],
        ),
        ("foreword.toml", "blueprint = \"../x.toml\"", &["foreword.toml:1: `../x.toml`"]),
        ("foreword.toml", "\nagent = \"zed\"", &["foreword.toml:2: ", "there is no agent `zed`"]),
        (
            "foreword.toml",
            "profile = \"wild\"",
            &["foreword.toml:1: ", "`paranoid`, `balanced`, `yolo`"],
        ),
        (
            "foreword.toml",
            "[limits]\ncontext_window = 0",
            &["foreword.toml:2: `limits.context_window` is 0"],
        ),
        ("foreword.toml", "[limits]\ncontext_window = -1", &["foreword.toml:2: ", "`-1`"]),
        ("foreword.toml", "[limits]\ncontext_window = nan", &["foreword.toml:2: "]),
        (
            "foreword.toml",
            "[limits]\ncontext_window = 99999999999999999999",
            &["foreword.toml:2: "],
        ),
        (
            "foreword.toml",
            "[limits]\noutput_reserve = 200000",
            &["foreword.toml:2: `limits.output_reserve`"],
        ),
        ("foreword.toml", "agent = \"a\"\nagent = \"b\"", &["foreword.toml:2: "]),
        (
            "tools.toml",
            "[[tool]]\nname = \"x\"\ndescripton = \"y\"",
            &["tools.toml:3: unknown key `descripton`", "`description`"],
        ),
        (
            "tools.toml",
            "[[tool]]\nname = \"x\"\n[[tool]]\nname = \"x\"",
            &["tools.toml:4: tool `x` is already defined in tools.toml:2"],
        ),
    ] {
        let workspace = Scratch::new(&[(file, text)]);
        for command in ["build", "explain", "lint"] {
            refused(&workspace.run(&[command]), &format!("{command}: {text}"), said);
        }
    }
}

#[test]
fn agent_headers() {
    let deep_flow = format!("---\ntools: {}{}\n---\n", "[".repeat(10_000), "]".repeat(10_000));
    let deep_block: String = (0..300).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    let deep_block = format!("---\n{deep_block}---\n");
    let bomb = format!(
        "---\ntools: &a [x, x, x, x, x, x, x, x, x]\n{}---\n",
        (b'b'..b'k')
            .map(|c| {
                let (c, before) = (char::from(c), char::from(c - 1));
                format!("{c}: &{c} [{}]\n", vec![format!("*{before}"); 9].join(", "))
            })
            .collect::<String>()
    );
    for (text, said) in [
        ("---\ntols: coding\n---\n", &["agents/ada/AGENT.md:2: unknown key `tols`", "`tools`"][..]),
        ("---\ntools: [a\n---\n", &["agents/ada/AGENT.md:2: in the header: "]),
        (
            "---\ntools: coding\n",
            &["agents/ada/AGENT.md:1: the header starts here and is never closed"],
        ),
        ("---\nid: bob\n---\n", &["agents/ada/AGENT.md:2: ", "`id: bob`"]),
        ("---\nallow_skills: perhaps\n---\n", &["agents/ada/AGENT.md:2: in the header: "]),
        ("---\nmodel: m\nmodel: n\n---\n", &["agents/ada/AGENT.md:3: ", "twice"]),
        (
            "---\nprompts: [base, gone]\n---\n",
            &["prompts/base.md: file not found; agents/ada/AGENT.md:2"],
        ),
        ("---\nprompts: [../../etc/passwd]\n---\n", &["agents/ada/AGENT.md:2: `../../etc/passwd`"]),
        (
            "---\ncapabilities: [gone]\n---\n",
            &["agents/ada/AGENT.md:2: unknown capability pack `gone`"],
        ),
        (
            "---\nprompts: [a]\ncapabilities: [b]\n---\n",
            &["agents/ada/AGENT.md:3: ", "both `prompts` and `capabilities`"],
        ),
        (
            "---\nblueprint: nope\n---\n",
            &["agents/ada/AGENT.md:2: ", "no blueprint is called `nope`"],
        ),
        (&deep_flow, &["agents/ada/AGENT.md:2: in the header: recursion limit"]),
        (&deep_block, &["agents/ada/AGENT.md:"]),
        (&bomb, &["agents/ada/AGENT.md:"]),
    ] {
        let workspace = Scratch::new(&[("agents/ada/AGENT.md", text)]);
        let case: String = text.chars().take(60).collect();
        refused(&workspace.run(&["build", "-a", "ada"]), &case, said);
    }
}

#[test]
fn blueprints() {
    for (text, said) in [
        ("", &["own.toml:1: missing field `name`"][..]),
        ("name = \"x\"\n", &["own.toml:1: the blueprint has no modules"]),
        ("name = \"x\"\nextnds = \"standard\"\n", &["own.toml:2: ", "did you mean `extends`?"]),
        ("name = \"x\"\n[[module]]\nnme = \"soul\"\n", &["own.toml:3: ", "did you mean `name`?"]),
        ("name = \"x\"\n[[module]]\nname = \"sol\"\n", &["own.toml:3: ", "did you mean `soul`?"]),
        (
            "name = \"x\"\n[[module]]\nname = \"soul\"\npriority = 101\n",
            &["own.toml:4: `priority` is 101"],
        ),
        ("name = \"x\"\n[[module]]\nname = \"soul\"\nkeep = -1\n", &["own.toml:4: `keep` is -1"]),
        ("name = \"x\"\n[[module]]\nname = \"soul\"\npriority = \"high\"\n", &["own.toml:4: "]),
        (
            "name = \"x\"\n[[module]]\nname = \"soul\"\n[[module]]\nname = \"soul\"\n",
            &["own.toml:5: two modules are called `soul`"],
        ),
        (
            "name = \"x\"\n[[module]]\nname = \"a\"\nfile = \"a.md\"\nmax_chars = 0\n",
            &["own.toml:5: `max_chars` is 0"],
        ),
        (
            "name = \"x\"\n[[module]]\nname = \"a\"\nfile = \"gone.md\"\noptional = false\n",
            &["gone.md: file not found; own.toml"],
        ),
        (
            "name = \"x\"\n[[module]]\nname = \"a\"\nfile = \"/etc/passwd\"\n",
            &["own.toml: `/etc/passwd`"],
        ),
        ("name = \"x\"\n[[module]]\nname = \"a\"\nfile = \"../a.md\"\n", &["own.toml: `../a.md`"]),
        (
            "name = \"x\"\n[[module]]\nname = \"soul\"\nwhen = { mode = \"pln\" }\n",
            &["own.toml:4: `pln` is not a mode"],
        ),
        (
            "name = \"x\"\n[[module]]\nname = \"soul\"\nwhen = { chanel = \"x\" }\n",
            &["own.toml:4: ", "did you mean `channel`?"],
        ),
        ("name = \"x\"\nextends = \"own.toml\"\n", &["own.toml:2: `extends` is circular"]),
        ("name = \"x\"\nextends = \"other.toml\"\n", &["other.toml:2: `extends` is circular"]),
        ("name = \"x\"\nextends = \"gone.toml\"\n", &["own.toml:2: ", "gone.toml"]),
        ("name = \"x\"\nextends = \"standrd\"\n", &["own.toml:2: ", "did you mean `standard`?"]),
        (
            "name = \"x\"\nextends = \"standard\"\nremove = [\"clok\"]\n",
            &["own.toml:3: ", "did you mean `clock`?"],
        ),
    ] {
        let workspace = Scratch::new(&[
            ("own.toml", text),
            ("other.toml", "name = \"y\"\nextends = \"own.toml\"\n"),
        ]);
        refused(&workspace.run(&["build", "-b", "own.toml"]), text, said);
        workspace.write("foreword.toml", "blueprint = \"own.toml\"\n");
        refused(&workspace.run(&["build"]), text, said);
    }
}

#[test]
fn contexts() {
    let deep_array = format!("{{\"skills\": {}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    let deep_object = format!("{}1{}", "{\"git\":".repeat(10_000), "}".repeat(10_000));
    for (text, said) in [
        ("", &["EOF"][..]),
        ("   \n", &["EOF"]),
        ("nonsense", &["context.json:1"]),
        ("{\n  \"task\": \"x\",\n}", &["context.json:3"]),
        ("null", &["context.json:1"]),
        ("{} {}", &["context.json:1", "trailing"]),
        ("{\n\"tsk\": \"x\"}", &["context.json:2", "`tsk`", "did you mean `task`?"]),
        (
            "{\"identityFiles\": {\"hartbeat\": \"x\"}}",
            &["context.json:1", "did you mean `heartbeat`?"],
        ),
        ("{\"task\": 3}", &["context.json:1"]),
        ("{\"task\": \"a\", \"task\": \"b\"}", &["context.json:1", "duplicate field `task`"]),
        ("{\"taintRatio\": NaN}", &["context.json:1"]),
        ("{\"taintRatio\": -0.1}", &["context.json", "`taintRatio` is -0.1"]),
        ("{\"taintRatio\": 1e400}", &["context.json:1", "number out of range"]),
        ("{\"taintThreshold\": 1.01}", &["context.json", "`taintThreshold` is 1.01"]),
        ("{\"contextWindow\": 0}", &["context.json", "`contextWindow` is 0"]),
        ("{\"contextWindow\": 18446744073709551616}", &["context.json:1"]),
        ("{\"historyTokens\": -1}", &["context.json:1"]),
        ("{\"historyTokens\": 1.5}", &["context.json:1"]),
        ("{\"maxPromptTokens\": 0}", &["context.json", "`maxPromptTokens` is 0"]),
        ("{\"mode\": \"full\"}", &["context.json:1", "`full`"]),
        ("{\"profile\": \"wild\"}", &["context.json:1", "`wild`"]),
        ("{\"now\": \"yesterday\"}", &["context.json:1", "RFC 3339"]),
        ("{\"skills\": [7]}", &["context.json:1", "a skill"]),
        (
            "{\"identityFiles\": {\"agent\": \"a\", \"agents\": \"b\"}}",
            &["`identityFiles.agent` and `identityFiles.agents`"],
        ),
        (&deep_array, &["context.json:1"]),
        (&deep_object, &["context.json:1"]),
    ] {
        let scratch = Scratch::new(&[("context.json", text)]);
        let case: String = text.chars().take(60).collect();
        let run = scratch.run(&["build", "--context", "context.json"]);
        refused(&run, &case, &[&["error: context.json"], said].concat());
        if !text.is_empty() {
            let run = Foreword::new(&["build", "--context", "-"]).stdin(text).run();
            refused(&run, &case, &["error: standard input"]);
        }
    }
}

#[test]
fn numbers_at_the_edge_are_no_trouble() {
    let most = u64::MAX.to_string();
    let scratch = Scratch::new(&[(
        "context.json",
        &format!(
            "{{\"contextWindow\": {most}, \"historyTokens\": {most}, \"reservedTokens\": {most}, \"outputReserve\": {most}, \"maxPromptTokens\": {most}}}"
        ),
    )]);
    let run = scratch.run(&["build", "--context", "context.json", "--json"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_eq!(run.json()["metadata"]["overBudget"], true);
    let run = scratch.run(&["build", "--context-window", &most]);
    assert_eq!(run.status, 0, "{}", run.stderr);
}

#[test]
fn options() {
    let empty = Scratch::new(&[]);
    empty.write("not-utf8.json", b"{\"task\": \"\xff\"}");
    File::create(empty.join("huge.json")).unwrap().set_len(100 << 20).unwrap();
    for (args, said) in [
        (
            &["build", "--now", "yesterday"][..],
            &["`--now`: `yesterday`", "2026-02-26T14:30:00Z"][..],
        ),
        (&["build", "--now", "2026-02-30T00:00:00Z"], &["--now"]),
        (&["build", "--profile", "wild"], &["'wild'", "paranoid, balanced, yolo"]),
        (&["build", "--taint-ratio", "nan"], &["`taintRatio` is NaN"]),
        (&["build", "--taint-ratio=-0.5"], &["`taintRatio` is -0.5"]),
        (&["build", "--taint-threshold", "2"], &["`taintThreshold` is 2"]),
        (&["build", "--context-window", "0"], &["`contextWindow` is 0"]),
        (&["build", "--context-window=-1"], &["'-1'"]),
        (&["build", "--max-prompt-tokens", "0"], &["`maxPromptTokens` is 0"]),
        (&["build", "--tokenizer", "gpt5"], &["'gpt5'"]),
        (&["build", "--format", "yaml"], &["'yaml'"]),
        (&["build", "-w", "gone"], &["gone: directory not found", "foreword init"]),
        (&["build", "-w", "huge.json"], &["huge.json: is a file, not a workspace", "-w"]),
        (&["build", "-b", "gone.toml"], &["gone.toml"]),
        (&["build", "-a", "../x"], &["`../x`"]),
        (&["build", "-a", ""], &["``"]),
        (&["build", "--context", "gone.json"], &["gone.json: file not found"]),
        (&["build", "--context", "."], &[".: is a directory", "-w"]),
        (&["build", "--context", "huge.json"], &["huge.json: is 104857600 bytes", "67108864"]),
        (&["build", "--context", "not-utf8.json"], &["not-utf8.json:1: is not UTF-8"]),
        (&["build", "--payload", "gone.json"], &["gone.json: file not found"]),
        (&["build", "--payload", "x", "--context", "y"], &["--payload", "--context"]),
        (&["build", "--context", "x", "--cwd", "."], &["--context", "--cwd"]),
        (&["build", "--watch", "--lock"], &["--watch", "--lock"]),
        (&["explain", "--at", "99999999"], &["byte 99999999 is past the end of the prompt"]),
        (&["diff", "gone-1", "gone-2"], &["gone-1: file not found"]),
        (&["eval", "speed", "--context", "gone.json"], &["gone.json: file not found"]),
        (&["lint", "--lock"], &["foreword.lock: file not found", "foreword build --lock"]),
        (&["bild"], &["'build'"]),
    ] {
        refused(&empty.run(args), &args.join(" "), said);
    }
    // A limit that is not the workspace's has no hint at the workspace's settings.
    assert!(!empty.run(&["build", "--context", "huge.json"]).stderr.contains("max_file_bytes"));
}

#[test]
fn payloads() {
    for (payload, said) in [
        (
            &b"{\"message\": \"x\", \"taintRatio\": \"high\"}"[..],
            &["standard input: invalid payload"][..],
        ),
        (b"{\"message\": \"x\", \"taintRatio\": 7}", &["`taintRatio` is 7"]),
        (b"{\"message\": \"x\", \"taintThreshold\": -1}", &["`taintThreshold` is -1"]),
        (b"{\"message\": \"x\", \"profile\": \"wild\"}", &["standard input: ", "`wild`"]),
        (b"{\"message\": \"x\", \"history\": 7}", &["standard input: "]),
        (b"\xff", &["standard input is not UTF-8"]),
    ] {
        let empty = Scratch::new(&[]);
        let run = Foreword::new(&["build", "-w", ".", "--payload", "-"])
            .here(empty.path())
            .stdin(payload)
            .run();
        refused(&run, &String::from_utf8_lossy(payload), said);
    }
}

#[cfg(unix)]
#[test]
fn a_directory_nobody_may_read() {
    use std::os::unix::fs::PermissionsExt;
    let workspace = Scratch::new(&[("closed/SOUL.md", "Calm.\n"), ("skills/a/SKILL.md", "# A\n")]);
    let closed = workspace.join("closed");
    let allow = |mode| std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(mode));
    allow(0o000).unwrap();
    // Root may read everything: then there is nothing to see here.
    if std::fs::read_dir(&closed).is_err() {
        let run = workspace.run(&["build", "-w", "closed"]);
        refused(&run, "a closed workspace", &["cannot be read"]);
    }
    allow(0o700).unwrap();
}
