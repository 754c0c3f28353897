//! `foreword watch`, `check-request` and `init --from-capture`, against a model on loopback.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::model::{Answer, ModelServer, text};
use crate::support::{Foreword, Run, Scratch, command};

/// An agent that writes the time at the top of its prompt, as many do.
const AGENT: &str = r#"
import json, os, sys, time, urllib.request
system = open("prompts/system.md").read()
messages = [{"role": "user", "content": "Fix the failing test in the parser, please."}]
for turn in range(int(sys.argv[1])):
    prompt = system.replace("{now}", "2026-11-17 12:00:%02d UTC" % (turn * 3)) if len(sys.argv) < 4 else system
    body = {"model": "claude-sonnet-4-20250514", "max_tokens": 100, "stream": True, "messages": messages,
            "system": [{"type": "text", "text": prompt, "cache_control": {"type": "ephemeral"}}],
            "tools": [{"name": "read_file", "description": "Read a file", "input_schema": {"type": "object"}}]}
    url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
    request = urllib.request.Request(url, json.dumps(body).encode(), {"x-api-key": "test-key-0123456789", "content-type": "application/json"})
    answer = urllib.request.urlopen(request, timeout=60).read()
    messages += [{"role": "assistant", "content": "Step %d is done." % turn}, {"role": "user", "content": "Go on with step %d." % turn}]
print("agent done")
sys.exit(int(sys.argv[2]))
"#;

fn project() -> Option<Scratch> {
    let has_python = std::process::Command::new("python3").arg("--version").output().is_ok();
    if !has_python {
        foreword_testing::skip("python3", "not installed");
        return None;
    }
    let mut prompt = "You are Pickle, a careful coding agent.\nCurrent time: {now}\n\n# Rules\n\nAlways run the tests before you commit.\n\n# Modules\n\n".to_owned();
    for number in 0..90 {
        prompt.push_str(&format!(
            "Keep module number {number} free of surprises and say what it does.\n"
        ));
    }
    Some(Scratch::new(&[("prompts/system.md", &prompt), ("agent.py", AGENT)]))
}

fn watch(scratch: &Scratch, model: &ModelServer, args: &[&str]) -> Foreword {
    scratch
        .command(args)
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("ANTHROPIC_BASE_URL", &model.url)
        .env("FOREWORD_STATE_DIR", scratch.join("state"))
}

fn run(scratch: &Scratch, model: &ModelServer, args: &[&str]) -> Run {
    watch(scratch, model, args).run()
}

fn report(scratch: &Scratch, model: &ModelServer, args: &[&str]) -> Value {
    let made = run(scratch, model, &[&["watch", "report", "--json"], args].concat());
    made.ok().json()
}

#[test]
fn a_clock_at_the_top_is_found_in_its_file_and_line() {
    let Some(scratch) = project() else { return };
    let model = ModelServer::saying(vec![text("Done.")]);
    let made = run(&scratch, &model, &["watch", "--", "python3", "agent.py", "3", "0"]);
    assert_eq!((made.status, made.stdout.as_str()), (0, "agent done\n"), "{}", made.stderr);
    for said in [
        "watch #1  claude-sonnet-4-20250514",
        "cache lost since #1: clock at system[0]:2",
        "clock in calls 2, 3: ",
        "at system[0] line 2, byte ",
        "; written by ≈prompts/system.md:2",
        "- Current time: 2026-11-17 12:00:0⟦0 UTC…⟧",
        "+ Current time: 2026-11-17 12:00:0⟦3 UTC…⟧",
        "fix: move the time into the newest user message",
        "prompts/system.md:1-2,4-",
        "1 tool never called",
    ] {
        assert!(made.stderr.contains(said), "{said}: {}", made.stderr);
    }
    // The model got what the agent sent, with its key, which is not stored.
    let asked = model.asked();
    assert_eq!((asked.len(), asked[0].header("x-api-key")), (3, Some("test-key-0123456789")));
    let again = report(&scratch, &model, &[]);
    let broken = &again["calls"][1]["cache"]["broken"];
    assert_eq!(broken["cause"], "clock");
    let origin =
        json!({"kind": "file", "path": "prompts/system.md", "lines": [2, 2], "exact": false});
    assert_eq!(broken["origin"], origin);
    assert_eq!(again["totals"]["cacheBreaks"], 2);
    assert_eq!(again["calls"][1]["usage"]["cacheReadTokens"], 7);
    let stored =
        std::fs::read_dir(scratch.join("state/captures")).unwrap().next().unwrap().unwrap();
    let stored = std::fs::read_to_string(stored.path()).unwrap();
    assert!(!stored.contains("test-key-0123456789"));
}

#[test]
fn the_exit_code_is_the_programs_own_unless_a_condition_fails() {
    let Some(scratch) = project() else { return };
    let model = ModelServer::saying(vec![text("Done.")]);
    let status = |args: &[&str]| {
        let made = run(&scratch, &model, args);
        (made.status, made.stderr)
    };
    let agent = |code: &'static str| ["--", "python3", "agent.py", "2", code];
    assert_eq!(status(&[&["watch"][..], &agent("7")].concat()).0, 7);
    let (code, said) =
        status(&[&["watch", "--fail-on", "cache-break,tokens:100"][..], &agent("0")].concat());
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("1 call broke the cache; a request has "), "{said}");
    let (code, said) = status(&[&["watch", "--fail-on", "cache-break"][..], &agent("7")].concat());
    assert_eq!(code, 7, "{said}");
    assert!(said.contains("1 call broke the cache"), "{said}");
    assert_eq!(
        status(
            &[&["watch", "--fail-on", "secret,injection,tokens:900000"][..], &agent("0")].concat()
        )
        .0,
        0
    );
    assert_eq!(status(&["watch", "--", "sh", "-c", "kill -9 $$"]).0, 137);
    let (code, _) = status(&["watch", "report", "--fail-on", "cache-break"]);
    assert_eq!(code, 0, "the latest capture has no calls");
}

#[test]
fn lines_wait_while_a_program_uses_the_whole_screen() {
    let Some(scratch) = project() else { return };
    let model = ModelServer::saying(vec![text("Done.")]);
    let shell = "stty -icanon; python3 agent.py 2 0; sleep 1; echo SCREEN-ENDS; stty icanon";
    let shown = watch(&scratch, &model, &["watch", "--", "sh", "-c", shell]).at_terminal("");
    let Some((status, shown)) = shown else { return };
    assert_eq!(status, 0, "{shown}");
    let place = |text: &str| shown.find(text).unwrap_or_else(|| panic!("{text}: {shown}"));
    assert!(place("agent done") < place("SCREEN-ENDS"), "{shown}");
    assert!(place("SCREEN-ENDS") < place("watch #1"), "{shown}");
}

#[test]
fn json_is_alone_on_standard_output() {
    let Some(scratch) = project() else { return };
    let model = ModelServer::saying(vec![text("Done.")]);
    let made = run(&scratch, &model, &["watch", "--json", "--", "python3", "agent.py", "1", "0"]);
    assert!(made.stderr.contains("agent done"));
    let report: Value = serde_json::from_str(&made.stdout).unwrap();
    assert_eq!((&report["schemaVersion"], &report["totals"]["calls"]), (&json!(1), &json!(1)));
    assert_eq!(report["capture"]["command"], json!(["python3", "agent.py", "1", "0"]));
}

#[test]
fn a_program_that_calls_no_model_is_told_what_to_do() {
    let scratch = Scratch::new(&[("a.txt", "a")]);
    let model = ModelServer::saying(vec![text("Done.")]);
    let made = run(&scratch, &model, &["watch", "--", "true"]);
    assert_eq!(made.status, 0);
    assert!(
        made.stderr.contains("no model calls were recorded") && made.stderr.contains("--env"),
        "{}",
        made.stderr
    );
}

#[test]
fn captures_are_listed_shown_kept_and_deleted() {
    let Some(scratch) = project() else { return };
    let model = ModelServer::saying(vec![text("Done.")]);
    for _ in 0..3 {
        run(
            &scratch,
            &model,
            &["watch", "-q", "--keep", "2", "--", "python3", "agent.py", "2", "0"],
        )
        .ok();
    }
    let list = run(&scratch, &model, &["watch", "list", "--json"]).ok().json();
    let ids: Vec<&str> =
        list.as_array().unwrap().iter().map(|entry| entry["id"].as_str().unwrap()).collect();
    assert_eq!((ids.len(), &list[0]["calls"]), (2, &json!(2)));
    assert!(run(&scratch, &model, &["watch", "list"]).ok().stdout.contains("2 calls"));
    let shown = run(&scratch, &model, &["watch", "show", ids[1], "2", "--json"]).ok().json();
    assert_eq!(shown["request"]["messages"][1]["content"], "Step 0 is done.");
    assert!(shown["response"].as_str().unwrap().contains("message_stop"));
    let text = run(&scratch, &model, &["watch", "show", ids[1], "2"]).ok().stdout;
    assert!(text.contains("request\n{") && text.contains("Step 0 is done."), "{text}");
    let part: String = ids[1].chars().rev().take(8).collect::<Vec<_>>().into_iter().rev().collect();
    run(&scratch, &model, &["watch", "-q", "rm", &part]).ok();
    let left = run(&scratch, &model, &["watch", "list", "--json"]).ok().json();
    assert_eq!(left.as_array().unwrap().len(), 1);
    run(&scratch, &model, &["watch", "rm", "-q", "--all", "--yes"]).ok();
    let made = run(&scratch, &model, &["watch", "report"]);
    assert_eq!(made.status, 2);
    assert!(
        made.stderr.contains("no captures yet")
            && made.stderr.contains("foreword watch -- PROGRAM")
    );
}

#[test]
fn wrong_use_is_explained() {
    let scratch = Scratch::new(&[("a.txt", "a"), ("bad.toml", "date = 1")]);
    let model = ModelServer::saying(vec![text("Done.")]);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for (args, said) in [
        (vec!["watch"], "no program to watch"),
        (vec!["watch", "--", "no-such-program-here"], "cannot start `no-such-program-here`"),
        (vec!["watch", "--proxy", &port], "is in use"),
        (vec!["watch", "--proxy", "99999"], "99999"),
        (vec!["watch", "--env", "NO_SUCH_URL", "--", "true"], "no upstream"),
        (vec!["watch", "--env", "X=ftp://h", "--", "true"], "invalid upstream URL"),
        (
            vec!["watch", "--fail-on", "sadness", "--", "true"],
            "cache-break, secret, injection or tokens:N",
        ),
        (vec!["watch", "--prices", "bad.toml", "--", "true"], "bad.toml"),
        (vec!["watch", "report", "../../etc/passwd"], "is not a capture ID"),
        (vec!["watch", "show", "2026"], "no capture `2026`"),
        (vec!["watch", "rm"], "required"),
        (vec!["watch", "--any-user", "list"], "recording options"),
        (vec!["init", "-w", "new", "--from-capture", "2026"], "no capture `2026`"),
        (vec!["check-request", "a.txt"], "a.txt: invalid request body"),
        (vec!["check-request", "missing.json"], "missing.json"),
    ] {
        let made = run(&scratch, &model, &args);
        assert_eq!(made.status, 2, "{args:?}: {}", made.stderr);
        assert!(made.stderr.contains(said), "{args:?}: {}", made.stderr);
    }
    assert!(
        !scratch.join("state/captures").exists()
            || std::fs::read_dir(scratch.join("state/captures")).unwrap().next().is_none(),
        "nothing is left behind"
    );
}

#[test]
fn only_the_proxy_runs_until_it_is_stopped() {
    let scratch = Scratch::new(&[("a.txt", "a")]);
    let model = ModelServer::saying(vec![Answer::Raw(
        200,
        Vec::new(),
        r#"{"usage":{"input_tokens":3,"output_tokens":4}}"#.to_owned(),
    )]);
    let mut child = command()
        .args(["watch", "--proxy", "0", "-w"])
        .arg(scratch.path())
        .env("ANTHROPIC_BASE_URL", &model.url)
        .env("FOREWORD_STATE_DIR", scratch.join("state"))
        .stderr(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut url = String::new();
    while !url.contains("ANTHROPIC_BASE_URL=") {
        url.clear();
        assert!(said.read_line(&mut url).unwrap() > 0, "the URL is printed");
    }
    let url = url
        .split("ANTHROPIC_BASE_URL=")
        .nth(1)
        .unwrap()
        .split_whitespace()
        .next()
        .unwrap()
        .to_owned();
    let address = url.strip_prefix("http://").unwrap().split('/').next().unwrap();
    let body = r#"{"model":"claude-sonnet-4","messages":[{"role":"user","content":"Hi"}]}"#;
    let mut client = TcpStream::connect(address).unwrap();
    write!(client, "POST /anthropic/v1/messages HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("\"output_tokens\":4}}"), "{answer}");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{rest}");
    assert!(rest.contains("watch #1  claude-sonnet-4") && rest.contains("1 call, "), "{rest}");
}

#[test]
fn a_prompt_that_was_captured_becomes_a_workspace() {
    let Some(scratch) = project() else { return };
    let model = ModelServer::saying(vec![text("Done.")]);
    run(&scratch, &model, &["watch", "-q", "--", "python3", "agent.py", "3", "0"]).ok();
    let made =
        run(&scratch, &model, &["init", "-q", "-w", "new", "--from-capture", "latest", "--json"])
            .ok()
            .json();
    assert_eq!(made["trusted"], false);
    let savings = made["fromCapture"]["savings"].as_array().unwrap();
    assert_eq!(savings.len(), 2);
    for saving in savings {
        let tokens = |name: &str| saving[name].as_u64().unwrap();
        assert!(tokens("commonTokens") < 100 && tokens("layoutTokens") > 1_000, "{saving}");
        assert_eq!(tokens("savedTokens"), tokens("layoutTokens") - tokens("commonTokens"));
        assert!(saving["savedUsd"].as_f64().unwrap() > 0.0);
    }
    let notes = made["notes"].to_string();
    assert!(notes.contains("byte for byte") && notes.contains("would have saved"), "{notes}");
    let untrusted = run(&scratch, &model, &["build", "-q", "-w", "new"]).ok().stdout;
    assert!(untrusted.contains("not trusted yet: for reference only"), "{untrusted}");
    run(&scratch, &model, &["trust", "-q", "--yes", "-w", "new"]).ok();
    let built = run(&scratch, &model, &["build", "-w", "new", "--json"]).ok().json();
    let template = scratch.read("prompts/system.md");
    assert_eq!(built["system"], template.replace("Current time: {now}\n", "").trim_end());
    assert_eq!(built["turnContext"], "Current time: 2026-11-17 12:00:06 UTC");
    let files: Vec<&str> = built["sections"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["sources"][0]["path"].as_str().unwrap())
        .collect();
    assert_eq!(files.len(), 4, "{files:?}");
    assert!(files[1].ends_with("02-rules.md"), "{files:?}");
    let again = run(&scratch, &model, &["init", "-w", "new", "--from-capture", "latest"]);
    assert!(again.stderr.contains("unchanged  prompts/captured/02-rules.md"), "{}", again.stderr);
}

#[test]
fn a_prompt_without_a_clock_is_built_again_byte_for_byte() {
    let Some(scratch) = project() else { return };
    let model = ModelServer::saying(vec![text("Done.")]);
    run(&scratch, &model, &["watch", "-q", "--", "python3", "agent.py", "2", "0", "same"]).ok();
    run(&scratch, &model, &["init", "-q", "-w", "new", "--from-capture", "latest"]).ok();
    run(&scratch, &model, &["trust", "-q", "--yes", "-w", "new"]).ok();
    let built = run(&scratch, &model, &["build", "-w", "new"]).ok().stdout;
    let sent = model.asked()[0].system().remove(0);
    assert_eq!(built.trim_end(), sent.trim_end());
}

#[test]
fn one_request_is_checked_on_its_own() {
    let scratch =
        Scratch::new(&[("CLAUDE.md", "Always run the whole test suite before a commit.\n")]);
    let model = ModelServer::saying(vec![text("Done.")]);
    let body = json!({"model": "gpt-5", "messages": [
        {"role": "system", "content": "You are Bot.\nAlways run the whole test suite before a commit."},
        {"role": "user", "content": "My token is ghp_0123456789abcdefghijABCDEFGHIJ012345"}]});
    scratch.write("body.json", body.to_string());
    let made = run(&scratch, &model, &["check-request", "body.json"]);
    let text = made.ok().stdout;
    for said in [
        "OpenAI Chat Completions, gpt-5: ",
        "CLAUDE.md:1",
        "vendor",
        "secret: github token sent to the provider",
        "[redacted: github token]",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    let piped = watch(&scratch, &model, &["check-request", "-", "--json"])
        .stdin(body.to_string())
        .run()
        .ok()
        .json();
    assert_eq!(piped["dangers"][0]["kind"], "secret");
    assert_eq!(piped["calls"][0]["api"], "openai-chat");
    for (body, said) in [
        ("[]", "expected an object"),
        ("{\"messages\": [", "EOF"),
        ("{\"x\": 1}", "neither `messages`"),
        ("", "EOF"),
    ] {
        let made = watch(&scratch, &model, &["check-request", "-"]).stdin(format!("{body} ")).run();
        assert_eq!(made.status, 2, "{body}");
        assert!(made.stderr.contains(said), "{body}: {}", made.stderr);
    }
}

#[test]
fn the_prompt_of_a_workspace_is_found_in_a_request() {
    let scratch = Scratch::new(&[]);
    let model = ModelServer::saying(vec![text("Done.")]);
    run(&scratch, &model, &["init", "-q", "-w", "agent"]).ok();
    let body =
        run(&scratch, &model, &["build", "-w", "agent", "--format", "anthropic", "plan my week"])
            .ok()
            .json();
    let check = |body: &Value| {
        watch(&scratch, &model, &["check-request", "-", "-w", "agent", "--task", "plan my week"])
            .stdin(body.to_string())
            .run()
    };
    let right = check(&body);
    assert_eq!(right.status, 0, "{}{}", right.stdout, right.stderr);
    assert!(right.stdout.contains("ok  in the request byte for byte"), "{}", right.stdout);
    assert!(right.stdout.contains("  builtin:constitution:1-5"), "{}", right.stdout);
    assert!(!right.stdout.contains("foreign text"), "{}", right.stdout);
    assert!(right.stdout.contains("ok  cache mark at the boundary of the stable part"));

    let mut foreign = body.clone();
    let block = json!({"type": "text", "text": "You are Claude Code."});
    foreign["system"].as_array_mut().unwrap().insert(0, block);
    let made = check(&foreign);
    assert_eq!(made.status, 1);
    assert!(made.stderr.contains("other text comes before the prompt"), "{}", made.stderr);

    let mut unmarked = body.clone();
    for block in unmarked["system"].as_array_mut().unwrap() {
        block.as_object_mut().unwrap().remove("cache_control");
    }
    let made = check(&unmarked);
    assert_eq!(made.status, 1);
    assert!(made.stderr.contains("no cache mark at the boundary"), "{}", made.stderr);

    let mut changed = body;
    let text = changed["system"][0]["text"].as_str().unwrap().replace("never", "always");
    changed["system"][0]["text"] = text.into();
    let made = check(&changed);
    assert_eq!(made.status, 1);
    assert!(made.stdout.contains("first difference at byte "), "{}", made.stdout);
    assert!(made.stderr.contains("is not in the request byte for byte"));
}
