//! MCP servers of a workspace: their tools are reviewed, called, bounded and counted as external.

use std::time::{Duration, Instant};

use crate::support::host::{done, on_host, on_record, turn};
use crate::support::model::{Asked, ModelServer, text, tool};
use crate::support::{Run, Scratch};
use serde_json::{Value, json};

const SERVER: &str = include_str!("../fixtures/mcp_server.py");

/// A workspace with one server, `t`; `None` where there is no Python.
fn workspace(server: &str) -> Option<Scratch> {
    if std::process::Command::new("/usr/bin/python3").arg("--version").output().is_err() {
        foreword_testing::skip("python3", "there is no /usr/bin/python3");
        return None;
    }
    Some(Scratch::new(&[
        (
            "foreword.toml",
            &format!(
                "[model]\nname = 'claude-sonnet-4-20250514'\n[mcp.servers.t]\n\
                 command = ['python3', 'server.py']\ncall_seconds = 3\n{server}\n"
            ),
        ),
        ("SOUL.md", "Calm.\n"),
        ("server.py", SERVER),
    ]))
}

/// Trusts everything, with programs of the system only.
fn trusted(scratch: &Scratch) {
    let run = scratch.command(&["trust", "--yes", "--quiet"]);
    run.env("PATH", "/usr/local/bin:/usr/bin:/bin").run().ok();
}

/// Trusts the workspace as if nobody had been asked about the tools of its servers.
fn trusted_without_review(scratch: &Scratch) {
    trusted(scratch);
    std::fs::remove_dir_all(scratch.config_dir().join("mcp")).unwrap();
}

fn offered(asked: &Asked) -> Vec<String> {
    let tools = asked.body["tools"].as_array().into_iter().flatten();
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn said(model: &ModelServer, at: usize) -> String {
    model.asked()[at].last_message()
}

#[test]
fn a_server_is_reviewed_started_in_the_sandbox_and_its_results_are_external() {
    let Some(scratch) = workspace("env = { MODE = 'x', TOKEN = '${T0}' }") else { return };
    let model = ModelServer::saying(vec![
        tool("mcp__t__echo", json!({"text": "hello"})),
        tool("mcp__t__echo", json!({"txt": "hello"})),
        tool("mcp__t__around", json!({})),
        tool("mcp__t__write", json!({})),
        tool("mcp__t__fail", json!({})),
        text("Done."),
    ]);
    let run =
        on_host(&scratch, &model, &["run", "--trust", "--json", "--session", "a", "-m", "echo"]);
    let run = run.env("T0", "the-token").env("OTHER", "hidden").run();
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(
        run.stderr.contains(
            "t (foreword.toml): python3 server.py; gets your T0; sets MODE = x; sets TOKEN = ${T0}"
        ),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("It offers 10 tools (list "), "{}", run.stderr);
    assert!(run.stderr.contains("  echo: Echo a text."), "{}", run.stderr);
    let echoed = said(&model, 1);
    assert!(
        echoed.contains("<external_content source=\"mcp__t__echo\" trust=\"external\">"),
        "{echoed}"
    );
    assert!(echoed.contains("hello"), "{echoed}");
    assert!(run.json()["taintRatio"].as_f64().unwrap() > 0.0);
    assert!(
        said(&model, 2).contains("invalid call to `mcp__t__echo`: arguments: `text` is missing")
    );
    let around = said(&model, 3);
    assert!(
        around.contains("the-token") && around.contains("\\\"MODE\\\"")
            || around.contains("\"MODE\""),
        "{around}"
    );
    assert!(!around.contains("OTHER") && !around.contains("ANTHROPIC"), "{around}");
    assert!(around.contains("\"writable\": []"), "governed files stay as they are: {around}");
    assert_eq!(scratch.read("written.txt"), "by the server");
    assert!(said(&model, 5).contains("no such tool: fail"), "{}", said(&model, 5));
    assert!(on_record(&scratch, "ipc.tool_invoke", "done"));
    // The prompt lists what can be called, and says whose words they are.
    let asked = model.asked();
    assert!(offered(&asked[0]).contains(&"mcp__t__echo".to_owned()));
    let tools = asked[0].body["tools"].as_array().unwrap();
    let echo = tools.iter().find(|tool| tool["name"] == "mcp__t__echo").unwrap();
    assert!(echo["description"].as_str().unwrap().starts_with("[MCP server t; its own words"));
    assert!(asked[0].system().concat().contains("mcp__t__echo"));
}

#[test]
fn a_build_starts_no_server_and_shows_the_reviewed_tools() {
    let Some(scratch) = workspace("") else { return };
    let before = scratch.prompt(&["hello"]);
    assert!(!before.contains("mcp__t__echo"), "not reviewed yet");
    trusted(&scratch);
    // Whatever it does now, nothing runs it.
    scratch.write("server.py", "raise SystemExit(9)");
    let after = scratch.prompt(&["hello"]);
    assert!(after.contains("mcp__t__echo") && after.contains("Echo a text."), "{after}");
}

#[test]
fn what_is_wrong_in_another_programs_file_stops_nothing() {
    let scratch = Scratch::new(&[
        (".mcp.json", "{\"mcpServers\": {\"old\": {\"type\": \"sse\", \"url\": \"http://x\"}}}"),
        ("SOUL.md", "Calm.\n"),
    ]);
    assert!(scratch.prompt(&["hello"]).contains("Calm."));
    let lint = scratch.run(&["lint"]);
    assert_eq!(lint.status, 0, "{}", lint.stderr);
    let line = ".mcp.json:1: warning [mcp-server] the server `old` uses the transport `sse`";
    assert!(lint.stdout.contains(line), "{}", lint.stdout);
}

#[test]
fn without_a_review_a_server_is_off() {
    let Some(scratch) = workspace("") else { return };
    let model = ModelServer::saying(vec![tool("mcp__t__echo", json!({"text": "x"})), text("No.")]);
    trusted_without_review(&scratch);
    let run = on_host(&scratch, &model, &["run", "-m", "hello"]).run();
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(
        run.stderr
            .contains("MCP server `t` is off until you review the tools; run `foreword trust`"),
        "{}",
        run.stderr
    );
    assert!(!offered(&model.asked()[0]).iter().any(|name| name.starts_with("mcp__")));
    assert_eq!(said(&model, 1), "you have no tool `mcp__t__echo`");
}

/// One turn that calls `name` first, then `echo`, then ends. The turn goes on whatever the first does.
fn after(scratch: &Scratch, name: &str) -> (Vec<String>, Duration) {
    let model = ModelServer::saying(vec![
        tool(name, json!({})),
        tool("mcp__t__echo", json!({"text": "still here"})),
        text("Done."),
    ]);
    let start = Instant::now();
    done(scratch, &model, &["-m", "go"]);
    let asked = model.asked();
    (asked.iter().map(Asked::last_message).collect(), start.elapsed())
}

#[test]
fn a_hostile_server_costs_a_clear_error_and_no_more_than_its_limit() {
    for (name, error) in [
        ("mcp__t__hang", "MCP server `t`: it did not answer within 3 s"),
        ("mcp__t__crash", "MCP server `t`: it ended the connection (out of cheese)"),
        ("mcp__t__huge", "MCP server `t`: it sent a message of more than 1048576 bytes"),
        ("mcp__t__flood", "MCP server `t`: it sent more than 16777216 bytes without answering"),
    ] {
        let Some(scratch) = workspace("") else { return };
        let (said, took) = after(&scratch, name);
        assert!(said[1].contains(error), "{name}: {}", said[1]);
        // It is left alone for a moment, and says so.
        assert!(said[2].contains("it is paused after a failure (it "), "{name}: {}", said[2]);
        assert!(said[2].contains("try again in"), "{name}: {}", said[2]);
        assert!(took < Duration::from_secs(30), "{name}: {took:?}");
        // Another turn starts it again.
        let model =
            ModelServer::saying(vec![tool("mcp__t__echo", json!({"text": "back"})), text("Done.")]);
        done(&scratch, &model, &["-m", "go"]);
        assert!(model.asked()[1].last_message().contains("back"), "{name}");
    }
}

#[test]
fn what_a_server_answers_is_scanned_and_raises_the_gates() {
    let Some(scratch) = workspace("") else { return };
    let model = ModelServer::saying(vec![
        tool("mcp__t__attack", json!({})),
        tool("skill_propose", json!({"skill": "x", "content": "# X\n\nDo it.\n"})),
        text("I may not."),
    ]);
    done(&scratch, &model, &["-m", "go"]);
    let attack = said(&model, 1);
    assert!(attack.contains("this result looks like prompt injection"), "{attack}");
    assert!(said(&model, 2).contains("came from outside"), "{}", said(&model, 2));
}

#[test]
fn a_description_that_gives_orders_is_shown_to_the_person_and_withheld_from_the_model() {
    let Some(scratch) = workspace("env = { LIST = 'evil' }") else { return };
    let model = ModelServer::saying(vec![text("Hello.")]);
    let run = on_host(&scratch, &model, &["run", "--trust", "-m", "hello"]).run();
    assert!(
        run.stderr.contains("looks like prompt injection, withheld from agents"),
        "{}",
        run.stderr
    );
    let asked = &model.asked()[0];
    assert!(!asked.raw.contains("developer mode"), "{}", asked.raw);
    assert!(offered(asked).contains(&"mcp__t__evil".to_owned()));
}

#[test]
fn a_changed_list_is_asked_about_again() {
    let Some(scratch) = workspace("env = { LIST = '${KIND:-short}' }") else { return };
    let run = |kind: &str, model: &ModelServer, args: &[&str]| -> Run {
        on_host(&scratch, model, args).env("KIND", kind).run()
    };
    let model = ModelServer::saying(vec![text("Hello.")]);
    assert_eq!(run("short", &model, &["run", "--trust", "-q", "-m", "hello"]).status, 0);
    let model = ModelServer::saying(vec![tool("mcp__t__echo", json!({"text": "x"})), text("No.")]);
    let changed = run("other", &model, &["run", "-m", "hello"]);
    assert_eq!(changed.status, 0, "{}", changed.stderr);
    assert!(
        said(&model, 1).contains("its tools changed since they were reviewed"),
        "{}",
        said(&model, 1)
    );
    assert!(
        changed.stderr.contains("offers different tools than you reviewed"),
        "{}",
        changed.stderr
    );
    // Off until it is reviewed, with what differs.
    let model = ModelServer::saying(vec![text("Hello.")]);
    run("other", &model, &["run", "-q", "-m", "hello"]);
    assert!(!offered(&model.asked()[0]).iter().any(|name| name.starts_with("mcp__")));
    let reviewed = run("other", &model, &["trust", "--yes"]);
    assert!(
        reviewed.stderr.contains("It offers 11 tools now: 1 new, 0 changed, 0 gone"),
        "{}",
        reviewed.stderr
    );
    let model = ModelServer::saying(vec![
        tool("mcp__t__grow", json!({})),
        tool("mcp__t__echo", json!({"text": "x"})),
        text("No."),
    ]);
    run("other", &model, &["run", "-q", "-m", "hello"]);
    assert!(offered(&model.asked()[0]).contains(&"mcp__t__new".to_owned()));
    assert!(said(&model, 2).contains("x"), "the same list, announced again, is no change");
}

#[test]
fn a_list_that_changes_in_the_middle_of_a_turn_turns_the_server_off() {
    let Some(scratch) = workspace("") else { return };
    let (said, _) = after(&scratch, "mcp__t__grow");
    assert!(said[2].contains("its tools changed since they were reviewed"), "{}", said[2]);
}

#[test]
fn a_person_exempts_a_server_and_puts_it_outside_in_their_own_settings() {
    let Some(scratch) = workspace("") else { return };
    let elsewhere = Scratch::new(&[("server.py", SERVER)]);
    let program = elsewhere.join("server.py").display().to_string();
    let config = scratch.read("foreword.toml").replace("'server.py'", &format!("'{program}', '.'"));
    scratch.write("foreword.toml", config);
    scratch.write_settings(format!(
        "[[mcp.servers]]\ncommand = ['python3', '{program}', '.']\noutside = true\nexempt = true\n\
         env = {{ TOKEN = 'mine' }}\n[permissions]\nallow = ['mcp__t__around']\n",
    ));
    let model = ModelServer::saying(vec![
        tool("mcp__t__echo", json!({"text": "hello"})),
        tool("mcp__t__around", json!({})),
        text("Done."),
    ]);
    let report = turn(&scratch, &model, &["-m", "go"]).run();
    assert_eq!(report.status, 0, "{}", report.stderr);
    // Without a person, what has effects outside the sandbox is called only where they allowed it.
    let first = said(&model, 1);
    assert!(first.contains("needs permission") && !first.contains("hello"), "{first}");
    let around = said(&model, 2);
    assert!(around.contains("mine") && !around.contains("external_content"), "{around}");
}

/// Agents write in the workspace. What they wrote must not run with the person's rights.
#[test]
fn a_program_of_the_workspace_does_not_run_outside_the_sandbox() {
    let Some(scratch) = workspace("") else { return };
    scratch.write_settings(
        "[[mcp.servers]]\ncommand = ['python3', 'server.py']\noutside = true\n[permissions]\nallow = ['mcp__t']\n",
    );
    let run = scratch.command(&["trust", "--yes"]).env("PATH", "/usr/bin:/bin").run();
    let refused =
        "MCP server `t` is off: `server.py` is in the workspace, where agents can change it";
    assert!(run.stderr.contains(refused), "{}", run.stderr);
    // A list that was reviewed while it ran inside changes nothing about that.
    scratch.write_settings("");
    trusted(&scratch);
    scratch.write_settings(
        "[[mcp.servers]]\ncommand = ['python3', 'server.py']\noutside = true\n[permissions]\nallow = ['mcp__t']\n",
    );
    let model =
        ModelServer::saying(vec![tool("mcp__t__echo", json!({"text": "hello"})), text("No.")]);
    done(&scratch, &model, &["-m", "go"]);
    assert!(said(&model, 1).contains("where agents can change it"), "{}", said(&model, 1));
}

/// The canary must not reach a server, by either way of calling its tools.
#[test]
fn the_canary_does_not_leave_through_a_server() {
    let Some(scratch) = workspace("") else { return };
    let model = ModelServer::start(|number, asked| match number {
        0 => tool("mcp__t__echo", json!({"text": crate::host_canary::canary(asked)})),
        _ => text("Done."),
    });
    trusted(&scratch);
    let run = turn(&scratch, &model, &["--session", "a", "-m", "go"]).run();
    assert_eq!(run.status, 1, "{}", run.stderr);
    assert!(on_record(&scratch, "canary.leak", "refused"));
    assert!(!on_record(&scratch, "ipc.tool_invoke", "done"));
}

#[test]
fn keys_and_addresses_come_from_the_person() {
    let Some(scratch) = workspace("env = { KEY = 'ghp_0123456789abcdefghijABCDEFGHIJ012345' }")
    else {
        return;
    };
    let run = scratch.run(&["trust", "--yes"]);
    assert!(
        run.stderr
            .contains("MCP server `t` is off: a key is written out in `KEY`; write `${KEY}` there")
            && !run.stderr.contains("ghp_"),
        "{}",
        run.stderr
    );
    scratch.write("foreword.toml", "[mcp.servers.far]\nurl = 'https://mcp.example.org/mcp'\n");
    let run = scratch.run(&["trust", "--yes"]);
    assert!(
        run.stderr.contains(
            "https://mcp.example.org/mcp is on another machine and not in your settings.toml"
        ),
        "{}",
        run.stderr
    );
    scratch.write(
        "foreword.toml",
        "[mcp.servers.t]\ncommand = ['python3', 'server.py']\nenv = { A = '${GONE_42}' }\n",
    );
    let run = scratch.run(&["trust", "--yes"]);
    assert!(run.stderr.contains("the environment variable `GONE_42` is not set"), "{}", run.stderr);
    scratch.write("foreword.toml", "[mcp.servers.t]\ncommand = ['no-such-program-42']\n");
    let run = scratch.run(&["trust", "--yes"]);
    assert!(
        run.stderr.contains("the program `no-such-program-42` is not installed"),
        "{}",
        run.stderr
    );
}

/// Wherever a key is written out, the server is off: in the review, in a run that reviewed it before, and in the
/// prompt. The key is nowhere on the screen.
#[test]
fn a_server_with_a_key_written_out_is_not_started() {
    const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let Some(scratch) = workspace("") else { return };
    let start = "[model]\nname = 'claude-sonnet-4-20250514'\n";
    let touch = "command = ['sh', '-c', 'touch started'";
    for (server, place, variable) in [
        (format!("{touch}, '--token={TOKEN}']"), "`--token`", "TOKEN"),
        (format!("{touch}, '{TOKEN}']"), "argument 3", "TOKEN"),
        (format!("{touch}]\nenv = {{ API_KEY = 'a1b2c3d4e5f6g7' }}"), "`API_KEY`", "API_KEY"),
        (format!("{touch}]\nenv = {{ A = '${{B:-{TOKEN}}}' }}"), "`A`", "A"),
        (
            "url = 'http://127.0.0.1:9/mcp?api_key=abcdef'".to_owned(),
            "`api_key` in its URL",
            "API_KEY",
        ),
        (
            format!(
                "url = 'http://127.0.0.1:9/mcp'\nheaders = {{ Authorization = 'Bearer {TOKEN}' }}"
            ),
            "`Authorization`",
            "AUTHORIZATION",
        ),
    ] {
        scratch.write("foreword.toml", format!("{start}[mcp.servers.t]\n{server}\n"));
        let run = scratch.run(&["trust", "--yes"]);
        let off = format!(
            "MCP server `t` is off: a key is written out in {place}; write `${{{variable}}}` there"
        );
        assert!(run.status == 1 && run.stderr.contains(&off), "{}", run.stderr);
        let key = run.stderr.contains(TOKEN) || run.stderr.contains("a1b2c3");
        let is_masked = run.stderr.contains("[key]") || run.stderr.contains("[redacted");
        assert!(!key && is_masked, "{}", run.stderr);
        assert_eq!(scratch.run(&["lint"]).status, 1);
        let model = ModelServer::saying(vec![text("Hello.")]);
        let run = on_host(&scratch, &model, &["run", "-m", "hello"]).run();
        let off =
            format!("foreword.toml:3: MCP server `t` is off: a key is written out in {place}");
        assert!(run.status == 0 && run.stderr.contains(&off), "{}", run.stderr);
        assert!(!run.stderr.contains(TOKEN), "{}", run.stderr);
    }
    assert!(!scratch.join("started").exists());
    // In `.mcp.json` as well.
    scratch.write("foreword.toml", start);
    let json =
        json!({"mcpServers": {"t": {"command": "sh", "args": ["-c", "touch started", TOKEN]}}});
    scratch.write(".mcp.json", json.to_string());
    let run = scratch.run(&["trust", "--yes"]);
    assert!(run.stderr.contains("a key is written out in argument 3"), "{}", run.stderr);
    assert!(run.status == 1 && !scratch.join("started").exists());
}

/// A list that was reviewed while keys were not looked for does not turn the server on.
#[test]
fn tools_of_a_server_with_a_key_are_left_out_of_the_prompt() {
    let Some(scratch) = workspace("") else { return };
    trusted(&scratch);
    let lists = scratch.config_dir().join("mcp");
    let list = std::fs::read_dir(lists).unwrap().next().unwrap().unwrap().path();
    let kept = std::fs::read_to_string(&list).unwrap();
    let with_key = "[model]\nname = 'claude-sonnet-4-20250514'\n[mcp.servers.t]\n\
                    command = ['python3', 'server.py', '--token', 'ghp_0123456789abcdefghijABCDEFGHIJ012345']\n";
    scratch.write("foreword.toml", with_key);
    scratch.run(&["trust", "--yes", "--quiet"]);
    let digest = |text: &str| {
        let lists: Value = serde_json::from_str(text).unwrap();
        lists["t"]["server"].as_str().unwrap().to_owned()
    };
    let server = foreword_workspace::Workspace::open(scratch.path()).unwrap();
    let server = server.mcp_servers().unwrap().remove("t").unwrap().server.digest();
    std::fs::write(&list, kept.replace(&digest(&kept), &server)).unwrap();
    let model = ModelServer::saying(vec![text("Hello.")]);
    let run = on_host(&scratch, &model, &["run", "-m", "hello"]).run();
    assert!(
        run.status == 0 && run.stderr.contains("a key is written out in `--token`"),
        "{}",
        run.stderr
    );
    assert!(!offered(&model.asked()[0]).iter().any(|name| name.starts_with("mcp__")));
}

/// Without a person and without `--yes`, nothing is reviewed: the exit code says that a server is off.
#[test]
fn trust_fails_where_a_server_stays_off() {
    let Some(scratch) = workspace("") else { return };
    trusted_without_review(&scratch);
    let run = scratch.run(&["trust", "--json"]);
    assert_eq!((run.status, run.json()["serversOff"].clone()), (1, json!(["t"])), "{}", run.stderr);
    let run = scratch.command(&["trust", "--yes", "--json"]);
    let run = run.env("PATH", "/usr/local/bin:/usr/bin:/bin").run();
    assert_eq!((run.status, run.json()["serversOff"].clone()), (0, json!([])), "{}", run.stderr);
}

/// Servers are started side by side, and one that is not installed says so at once.
#[test]
fn a_slow_server_and_one_that_is_not_installed_cost_only_their_own_time() {
    let Some(scratch) = workspace("") else { return };
    let slow = "command = ['sh', '-c', 'sleep 4; exit 1']";
    scratch.write(
        "foreword.toml",
        format!(
            "[mcp.servers.a]\n{slow}\n[mcp.servers.b]\n{slow}\n[mcp.servers.c]\n{slow}\n\
             [mcp.servers.npx]\ncommand = ['./npx', '-y', '@scope/no-such-server@1.0.0']\n"
        ),
    );
    // What npx does without a network, if nothing tells it that there is none.
    scratch.write(
        "npx",
        "#!/bin/sh\n[ \"$npm_config_offline\" = true ] || sleep 30\necho 'npm error code ENOTCACHED' >&2\nexit 1\n",
    );
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(scratch.join("npx"), mode).unwrap();
    let began = Instant::now();
    // With the system's programs, so that bwrap is found.
    let run = scratch.command(&["trust", "--yes"]);
    let run = run.env("PATH", "/usr/local/bin:/usr/bin:/bin").run();
    let took = began.elapsed();
    if std::process::Command::new("bwrap").arg("--version").output().is_err() {
        // Elsewhere the network may be there, and what is not installed is downloaded.
        foreword_testing::skip("bwrap", "it is not installed");
        return;
    }
    assert!(took < Duration::from_secs(10), "{took:?}: {}", run.stderr);
    assert!(
        run.stderr.contains("ENOTCACHED")
            && run.stderr.contains("install it (`npm install -g @scope/no-such-server@1.0.0`)"),
        "{}",
        run.stderr
    );
}

/// Report 15, number 6: what the host says about a call is no server's text, and taints nothing.
#[test]
fn the_hosts_own_words_about_a_call_are_not_external() {
    let Some(scratch) = workspace("env = { TOKEN = '${T0}' }") else { return };
    scratch.write_settings("[permissions]\ndeny = ['mcp__t__write']\n");
    let trust = scratch.command(&["trust", "--yes", "--quiet"]).env("T0", "x");
    trust.env("PATH", "/usr/local/bin:/usr/bin:/bin").run().ok();
    let model = ModelServer::saying(vec![
        tool("mcp__t__echo", json!({"txt": "hello"})),
        tool("mcp__t__write", json!({})),
        tool("mcp__t__nothing", json!({})),
        tool("mcp__t__echo", json!({"text": "hello"})),
        tool("mcp__t__echo", json!({"text": "hello"})),
        text("Done."),
    ]);
    // Without its variable, the server does not start.
    let run = turn(&scratch, &model, &["--session", "a", "-m", "go"]).run().ok().json();
    for (at, words) in [
        "invalid call to `mcp__t__echo`: arguments: `text` is missing",
        "mcp__t__write",
        "you have no tool `mcp__t__nothing`",
        "the environment variable `T0` is not set",
        "it is paused after a failure",
    ]
    .into_iter()
    .enumerate()
    {
        let said = said(&model, at + 1);
        assert!(said.contains(words) && !said.contains("external_content"), "{at}: {said}");
    }
    assert_eq!(run["taintRatio"], 0.0, "{run}");
    // Number 23: a program that reads the report sees what was refused.
    let refused = run["refusedCalls"].as_array().unwrap();
    assert_eq!(refused.len(), 2, "{run}");
    assert_eq!(refused[1]["tool"], "mcp__t__write");
    assert!(run["warnings"].is_array() && run["compactions"] == json!([]), "{run}");
    // The server's own words about a failure stay external.
    let model = ModelServer::saying(vec![tool("mcp__t__fail", json!({})), text("Done.")]);
    let run = turn(&scratch, &model, &["--session", "b", "-m", "go"]).env("T0", "x").run();
    let said = said(&model, 1);
    assert!(said.contains("no such tool: fail") && said.contains("external_content"), "{said}");
    assert!(run.ok().json()["taintRatio"].as_f64().unwrap() > 0.0);
}

/// Report 15, number 7: the real reason, everywhere, with what to do about it.
#[test]
fn a_server_that_is_off_says_why_and_what_turns_it_on() {
    let Some(scratch) = workspace("") else { return };
    scratch.write(
        "foreword.toml",
        "[model]\nname = 'claude-sonnet-4-20250514'\n\
         [mcp.servers.far]\nurl = 'https://mcp.example.org/mcp'\n\
         [mcp.servers.broken]\ncommand = ['python3', 'broken.py']\n",
    );
    scratch.write("broken.py", "import no_such_module_42\n");
    let trust = scratch.command(&["trust", "--yes"]);
    let trust = trust.env("PATH", "/usr/local/bin:/usr/bin:/bin").run();
    assert_eq!(trust.status, 1, "{}", trust.stderr);
    let settings = scratch.config_dir().join("settings.toml").display().to_string();
    let far = format!(
        "MCP server `far` is off: https://mcp.example.org/mcp is on another machine and not in your \
         settings.toml; add the lines `[[mcp.servers]]` and `url = 'https://mcp.example.org/mcp'` to \
         {settings}, then run `foreword trust`"
    );
    assert!(trust.stderr.contains(&far), "{}", trust.stderr);
    assert!(
        trust.stderr.contains("MCP server `broken` is off: it ended before it was ready (")
            && trust.stderr.contains("No module named 'no_such_module_42'"),
        "{}",
        trust.stderr
    );
    let end = "workspace is trusted, but MCP servers `broken`, `far` are off";
    assert!(trust.stderr.contains(end), "{}", trust.stderr);
    let model = ModelServer::saying(vec![text("Hello.")]);
    let run = on_host(&scratch, &model, &["run", "-m", "hello"]).run();
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stderr.contains(&far), "{}", run.stderr);
    let broken =
        "MCP server `broken` is off, because its tools could not be read: it ended before it was";
    assert!(
        run.stderr.contains(broken)
            && run.stderr.contains("correct that and run `foreword trust`")
            && !run.stderr.contains("until you review"),
        "{}",
        run.stderr
    );
    let lint = scratch.run(&["lint"]);
    assert!(
        lint.stdout.contains(
            "foreword.toml:3: warning [mcp-server] the server `far` is on another machine"
        ),
        "{}",
        lint.stdout
    );
    assert!(lint.stdout.contains(broken), "{}", lint.stdout);
    // With the lines, it is a server like any other: reviewed, and reached in vain.
    scratch.write_settings("[[mcp.servers]]\nurl = 'https://mcp.example.org/mcp'\n");
    let model = ModelServer::saying(vec![text("Hello.")]);
    let run = on_host(&scratch, &model, &["run", "-m", "hello"]).run();
    assert!(
        run.stderr.contains("MCP server `far` is off until you review the tools"),
        "{}",
        run.stderr
    );
}

/// Report 15, number 14.
#[test]
fn names_of_server_tools_in_a_list_stand_for_tools_or_say_why_not() {
    let Some(scratch) = workspace("") else { return };
    let agent = |tools: &str| format!("---\nid: a\ntools: [{tools}]\n---\nWork.\n");
    scratch.write("agents/a/AGENT.md", agent("read, mcp__t__*"));
    // While the server is off, that is the reason, and nothing else is said of its tools.
    trusted_without_review(&scratch);
    let model = ModelServer::saying(vec![text("Hello.")]);
    let run = on_host(&scratch, &model, &["run", "--agent", "a", "-m", "hello"]).run();
    assert!(run.stderr.contains("MCP server `t` is off until you review"), "{}", run.stderr);
    assert!(!run.stderr.contains("no implementation"), "{}", run.stderr);
    trusted(&scratch);
    let model = ModelServer::saying(vec![text("Hello.")]);
    done(&scratch, &model, &["--agent", "a", "-m", "hello"]);
    let sent = offered(&model.asked()[0]);
    assert!(sent.contains(&"mcp__t__echo".to_owned()) && sent.contains(&"mcp__t__grow".to_owned()));
    scratch.write("agents/a/AGENT.md", agent("read, mcp__t__h*, mcp__t__gone, mcp__tt__x"));
    trusted(&scratch);
    let model = ModelServer::saying(vec![text("Hello.")]);
    let run = on_host(&scratch, &model, &["run", "--agent", "a", "-m", "hello"]).run();
    let sent = offered(&model.asked()[0]);
    let of_server: Vec<&String> = sent.iter().filter(|name| name.starts_with("mcp__")).collect();
    assert_eq!(of_server, ["mcp__t__hang", "mcp__t__huge"]);
    for line in [
        "left out `mcp__t__gone`: MCP server `t` offers no such tool",
        "left out `mcp__tt__x`: there is no MCP server `tt`; did you mean `t`?",
    ] {
        assert!(run.stderr.contains(line), "{}", run.stderr);
    }
    let lint = scratch.run(&["lint"]);
    assert!(
        lint.stdout.contains("`tools` lists `mcp__tt__x`, but there is no MCP server `tt`"),
        "{}",
        lint.stdout
    );
}

/// A thousand tools of five servers.
fn a_thousand() -> Option<Scratch> {
    let scratch = workspace("enabled = false")?;
    let names = ["acme", "globex", "initech", "umbrella", "hooli"];
    let servers: String = names
        .iter()
        .map(|name| {
            format!(
                "[mcp.servers.{name}]\ncommand = ['python3', 'server.py']\n\
                 env = {{ LIST = 'many', PREFIX = '{name}' }}\n"
            )
        })
        .collect();
    scratch
        .write("foreword.toml", format!("[model]\nname = 'claude-sonnet-4-20250514'\n{servers}"));
    trusted(&scratch);
    Some(scratch)
}

#[test]
fn of_a_thousand_tools_few_are_sent_and_the_others_are_found() {
    let Some(scratch) = a_thousand() else { return };
    let model = ModelServer::start(|number, asked| match number {
        0 => tool("tool_search", json!({"need": "delete a playlist"})),
        1 => {
            let found = asked.last_message();
            assert!(
                found.contains("mcp__acme__delete_playlist")
                    || found.contains("mcp__hooli__delete_playlist"),
                "{found}"
            );
            assert!(found.contains("arguments: {"), "{found}");
            tool(
                "tool_call",
                json!({"name": "mcp__acme__delete_playlist", "arguments": {"id": "p1"}}),
            )
        }
        2 => tool(
            "tool_call",
            json!({"name": "mcp__acme__delete_playlist", "arguments": {"idd": "p1"}}),
        ),
        3 => tool("tool_call", json!({"name": "mcp__acme__delet_playlist", "arguments": {}})),
        4 => tool("tool_call", json!({"name": "session_status", "arguments": {}})),
        5 => tool("mcp__acme__delete_playlist", json!({"id": "p2"})),
        6 => tool("tool_call", json!({"name": "tool_call", "arguments": {}})),
        7 => tool(
            "tool_call",
            json!({"name": "mcp__acme__delete_playlist", "arguments": "{\"id\": \"p3\"}"}),
        ),
        8 => tool("tool_call", json!({"name": "mcp__acme__delete_playlist", "arguments": 5})),
        _ => text("Done."),
    });
    done(&scratch, &model, &["--session", "a", "-m", "archive the invoice of May"]);
    // Report 15, number 21: each mistake is told with the call that works.
    assert_eq!(
        said(&model, 6),
        "`mcp__acme__delete_playlist` is not called by its own name; call tool_call with \
         {\"arguments\":{\"id\":\"p2\"},\"name\":\"mcp__acme__delete_playlist\"}"
    );
    assert_eq!(
        said(&model, 7),
        "`tool_call` cannot call itself; name a tool that tool_search found"
    );
    assert!(said(&model, 8).contains("p3"), "{}", said(&model, 8));
    assert_eq!(
        said(&model, 9),
        "invalid call to `tool_call`: `arguments` must be a JSON object, such as {\"text\": \"hello\"}"
    );
    assert!(
        said(&model, 2).contains("delete_playlist: {\"id\": \"p1\"}")
            || said(&model, 2).contains("\\\"id\\\": \\\"p1\\\""),
        "{}",
        said(&model, 2)
    );
    assert!(
        said(&model, 2).contains("<external_content source=\"mcp__acme__delete_playlist\""),
        "{}",
        said(&model, 2)
    );
    assert!(said(&model, 3).contains("`id` is missing"), "{}", said(&model, 3));
    assert!(
        said(&model, 4).contains("did you mean `mcp__acme__delete_playlist`?"),
        "{}",
        said(&model, 4)
    );
    assert!(said(&model, 5).contains("taint"), "{}", said(&model, 5));
    let first = &model.asked()[0];
    let sent = offered(first);
    assert!(sent.len() < 60, "{sent:?}");
    assert!(sent.iter().any(|name| name.ends_with("archive_invoice")), "{sent:?}");
    assert!(sent.contains(&"tool_search".to_owned()) && sent.contains(&"bash".to_owned()));
    // The whole request against the schemas of all tools.
    let all: usize = scratch_tools_tokens(&scratch);
    let request = estimate(&first.raw);
    assert!(request * 100 <= all * 15, "{request} tokens of {all}");
    eprintln!(
        "request {request} tokens, all schemas {all} tokens, {:.1} %",
        request as f64 * 100.0 / all as f64
    );
}

fn estimate(text: &str) -> usize {
    foreword::estimate(text) as usize
}

/// What all schemas would cost, as servers send them.
fn scratch_tools_tokens(scratch: &Scratch) -> usize {
    let folder = scratch.config_dir().join("mcp");
    let file = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let lists: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let lists = lists.as_object().unwrap().values();
    let tools: Vec<&Value> = lists.flat_map(|list| list["tools"].as_array().unwrap()).collect();
    assert_eq!(tools.len(), 1000);
    tools.iter().map(|tool| estimate(&tool.to_string())).sum()
}

/// The names and the schemas in the answer of a search.
fn found(answer: &str) -> (Vec<String>, Vec<String>) {
    let (shown, named) = answer.split_once("More matches").expect("more matches");
    let name = |line: &str| line.split(':').next().unwrap_or_default().to_owned();
    let of = |text: &str| text.lines().filter(|x| x.starts_with("mcp__")).map(name).collect();
    (of(shown), of(named))
}

#[test]
fn a_search_shows_ten_schemas_and_names_forty_more_tools() {
    let Some(scratch) = a_thousand() else { return };
    let only_named = std::sync::Mutex::new(String::new());
    let model = ModelServer::start(move |number, asked| match number {
        0 => tool("tool_search", json!({"need": "delete a playlist"})),
        // A tool that was only named is called, first with a mistake.
        1 => {
            let (_, named) = found(&asked.last_message());
            let last = named.last().unwrap().clone();
            only_named.lock().unwrap().clone_from(&last);
            tool("tool_call", json!({"name": last, "arguments": {"idd": "p1"}}))
        }
        2 => {
            let name = only_named.lock().unwrap().clone();
            tool("tool_call", json!({"name": name, "arguments": {"id": "p1"}}))
        }
        3 => tool("tool_search", json!({"need": "`mcp__initech__export_survey`"})),
        _ => text("Done."),
    });
    done(&scratch, &model, &["--session", "a", "-m", "archive the invoice of May"]);
    let answer = said(&model, 1);
    let (shown, named) = found(&answer);
    assert_eq!((shown.len(), named.len()), (10, 40), "{answer}");
    let tokens = estimate(&answer);
    assert!(tokens < 5000, "{tokens} tokens");
    eprintln!("a search is {tokens} tokens, {} of them before the names", {
        estimate(answer.split_once("More matches").unwrap().0)
    });
    assert!(!named.iter().any(|name| shown.contains(name)), "{answer}");
    assert!(said(&model, 2).contains("`id` is missing"), "{}", said(&model, 2));
    assert!(said(&model, 2).contains("its arguments: {"), "{}", said(&model, 2));
    assert!(said(&model, 3).contains("<external_content source=\"mcp__"), "{}", said(&model, 3));
    let by_name = said(&model, 4);
    assert_eq!(by_name.matches("arguments: {").count(), 1, "{by_name}");
    assert!(by_name.contains("mcp__initech__export_survey\n  [MCP server initech"), "{by_name}");
}

#[test]
fn ten_turns_send_the_same_tools_and_the_same_system_prompt() {
    let Some(scratch) = a_thousand() else { return };
    let model = ModelServer::start(|number, _| match number % 3 {
        0 => tool("tool_search", json!({"need": "export a survey"})),
        1 => tool(
            "tool_call",
            json!({"name": "mcp__globex__export_survey", "arguments": {"id": "1"}}),
        ),
        _ => text("Done."),
    });
    let tasks = [
        "archive an invoice",
        "delete a photo",
        "share a recipe",
        "book a flight",
        "merge contacts",
        "list tickets",
        "search a mailbox",
        "update a payment",
        "create a campaign",
        "import a backup",
    ];
    let mut first: Option<(String, Vec<String>)> = None;
    for task in tasks {
        let before = model.asked().len();
        done(&scratch, &model, &["--session", "a", "-m", task]);
        for asked in &model.asked()[before..] {
            let now = (asked.body["tools"].to_string(), asked.system());
            let first = first.get_or_insert_with(|| now.clone());
            assert_eq!(now.0, first.0, "{task}");
            assert_eq!(now.1, first.1, "{task}");
        }
    }
}

/// A server from npm or PyPI by the name of its program; `None` where it is not installed.
fn real(program: &str) -> Option<String> {
    let places = ["FOREWORD_TEST_NPM", "FOREWORD_TEST_VENV"].map(std::env::var_os);
    let files = places.into_iter().flatten().flat_map(|place| {
        let place = std::path::PathBuf::from(place);
        [place.join("node_modules/.bin").join(program), place.join("bin").join(program)]
    });
    let found = files.filter(|file| file.exists()).map(|file| file.display().to_string()).next();
    if found.is_none() {
        foreword_testing::skip(program, "it is not installed");
    }
    found
}

fn with_real(program: &str, args: &str, calls: Vec<(&'static str, Value)>) -> Option<Vec<String>> {
    let program = real(program)?;
    let scratch = Scratch::new(&[
        ("foreword.toml", "[model]\nname = 'claude-sonnet-4-20250514'\n"),
        (
            ".mcp.json",
            &format!(
                "{{\"mcpServers\": {{\"r\": {{\"command\": \"{program}\", \"args\": [{args}]}}}}}}"
            ),
        ),
        ("SOUL.md", "Calm.\n"),
        ("notes.txt", "The parcel arrives on Monday.\n"),
    ]);
    let mut answers: Vec<_> = calls.into_iter().map(|(name, input)| tool(name, input)).collect();
    answers.push(text("Done."));
    let model = ModelServer::saying(answers);
    let run = on_host(&scratch, &model, &["run", "--trust", "-m", "go"]).run();
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stderr.contains("r (.mcp.json)"), "{}", run.stderr);
    Some(model.asked().iter().skip(1).map(Asked::last_message).collect())
}

#[test]
fn the_server_everything_of_npm_is_called() {
    let calls = vec![("mcp__r__echo", json!({"message": "hello there"}))];
    let Some(said) = with_real("mcp-server-everything", "", calls) else { return };
    assert!(said[0].contains("hello there"), "{said:?}");
}

#[test]
fn the_server_filesystem_of_npm_reads_the_workspace_and_nothing_else() {
    let calls = vec![
        ("mcp__r__read_text_file", json!({"path": "notes.txt"})),
        ("mcp__r__read_text_file", json!({"path": "/etc/passwd"})),
        ("mcp__r__write_file", json!({"path": "SOUL.md", "content": "Evil."})),
    ];
    let Some(said) = with_real("mcp-server-filesystem", "\".\"", calls) else { return };
    assert!(said[0].contains("The parcel arrives"), "{said:?}");
    assert!(said[1].contains("denied") || said[1].contains("outside"), "{said:?}");
    assert!(
        said[2].to_lowercase().contains("read-only")
            || said[2].contains("EROFS")
            || said[2].contains("EBUSY"),
        "{said:?}"
    );
}

#[test]
#[ignore = "needs mcp-server-git from PyPI in the virtual environment FOREWORD_TEST_VENV"]
fn the_server_git_of_pypi_is_called() {
    let calls = vec![("mcp__r__git_status", json!({"repo_path": "."}))];
    let Some(said) = with_real("mcp-server-git", "", calls) else { return };
    // No repository here: its own words, as an error.
    assert!(!said[0].is_empty(), "{said:?}");
}

/// Claude Code and pi reach the same server through the host.
fn in_another_loop(runner: &str, program: &str, name: &'static str) {
    if foreword_testing::npm_program(program).is_none() {
        return;
    }
    let Some(scratch) = workspace("") else { return };
    let model = ModelServer::start(move |number, _| match number {
        0 => tool(name, json!({"text": "through the host"})),
        _ => text("Done."),
    });
    let path = foreword_testing::npm_path().into_string().unwrap();
    let args = ["run", "-q", "--trust", "--json", "--runner", runner, "-m", "echo"];
    let run = on_host(&scratch, &model, &args).env("PATH", format!("/usr/bin:{path}")).run();
    assert_eq!(run.status, 0, "{}", run.stderr);
    let body = model.asked()[1].body["messages"].to_string();
    assert!(body.contains("through the host"), "{body}");
    assert!(body.contains("<external_content source="), "{body}");
    assert!(run.json()["taintRatio"].as_f64().unwrap() > 0.0);
}

#[test]
fn claude_code_calls_a_tool_of_a_server() {
    in_another_loop("claude-code", "claude", "mcp__foreword__mcp__t__echo");
}

#[test]
fn pi_calls_a_tool_of_a_server() {
    in_another_loop("pi", "pi", "mcp__t__echo");
}
