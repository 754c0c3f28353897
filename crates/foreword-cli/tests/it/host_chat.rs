//! `foreword chat`, `foreword run --heartbeat` and `foreword session` against a model on loopback.

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::support::host::make_due;
use crate::support::model::{Answer, ModelServer, text, tool};
use crate::support::{Foreword, Scratch};
use serde_json::json;

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
const KEY: &str = "sk-ant-test-key-of-the-host";

fn workspace() -> Scratch {
    Scratch::new(&[
        ("foreword.toml", "model = 'test-model'\nagent = 'clerk'\n"),
        ("SOUL.md", "Calm and exact.\n"),
        (
            "agents/clerk/AGENT.md",
            "---\nid: clerk\ndescription: Keeps the books.\ntools: [readonly, schedule]\n---\nKeep the books.\n",
        ),
    ])
}

fn foreword(scratch: &Scratch, model: &ModelServer, args: &[&str]) -> Foreword {
    scratch
        .command(args)
        .env("PATH", PATH)
        .env("ANTHROPIC_BASE_URL", &model.url)
        .env("ANTHROPIC_API_KEY", KEY)
}

/// A workspace whose clerk has scheduled something.
fn with_schedule(cron: &str) -> Scratch {
    let scratch = workspace();
    let model = ModelServer::saying(vec![
        tool("schedule_add", json!({"cron": cron, "prompt": "count the till"})),
        text("Scheduled."),
    ]);
    foreword(&scratch, &model, &["run", "-q", "--trust", "-m", "count the till every hour"])
        .run()
        .ok();
    make_due(&scratch);
    scratch
}

#[test]
fn a_conversation_without_a_terminal() {
    let scratch = workspace();
    let model = ModelServer::saying(vec![
        text("Good morning."),
        tool("list", json!({"path": "."})),
        text("Two files."),
    ]);
    let said = "/context\nhello \\\nclerk\n\n/taint\n/skils\n/etc/hosts and what else?\n\
                /session\n/approve\n/context\n/quit\nnever said\n";
    let run =
        foreword(&scratch, &model, &["chat", "--trust", "--session", "desk"]).stdin(said).run();
    assert_eq!(run.status, 0, "{}", run.stderr);
    let asked = model.asked();
    assert_eq!(asked.len(), 3, "{}", run.stderr);
    assert!(asked[0].last_message().ends_with("hello \nclerk"), "{}", asked[0].last_message());
    assert!(asked[1].last_message().ends_with("/etc/hosts and what else?"));
    assert!(asked[1].raw.contains("Good morning."), "the second turn knows the first");
    for shown in [
        "section ",
        "Good morning.\n",
        "taint 0%: 0 of ",
        "no external content since your last message",
        "user ",
        "Two files.\n",
        "session desk · agent clerk · native · 2 turns",
        "no pending decisions",
    ] {
        assert!(run.stdout.contains(shown), "{shown}: {}", run.stdout);
    }
    assert_eq!(run.stdout.matches("cache prefix ends here: ").count(), 2, "{}", run.stdout);
    assert_eq!(run.stderr.matches("there is no index").count(), 0, "{}", run.stderr);
    for shown in [
        "did you mean `/skills`?",
        "→ list .\n  │ ",
        "session desk · turn 1 · 11 in, 13 out (7 cache read, 5 cache write)",
        "session desk · turn 2 · ",
    ] {
        assert!(run.stderr.contains(shown), "{shown}: {}", run.stderr);
    }

    let list = scratch.run(&["session", "list", "--json"]).ok().json();
    assert_eq!((&list[0]["session"], &list[0]["turnCount"]), (&json!("desk"), &json!(2)));
    let shown = scratch.run(&["session", "show", "desk", "--json"]).ok();
    assert!(!shown.stdout.contains("CANARY"), "{}", shown.stdout);
    let shown = shown.json();
    assert_eq!(shown["taint"]["externalTokens"], 0);
    assert_eq!(shown["turns"][1]["state"], "done");
    assert_eq!(shown["turns"][1]["answer"], "Two files.");
    assert_eq!(shown["turns"][1]["usage"]["calls"], 2);
    let shown = scratch.run(&["session", "show", "desk"]).ok().stdout;
    assert!(shown.contains("answer:   Good morning."), "{shown}");
    scratch.run(&["session", "show", "nobody"]).fails(2);
}

#[test]
fn a_failed_turn_does_not_end_the_chat() {
    let scratch = workspace();
    let error = json!({"type": "error", "error": {"type": "invalid_request_error", "message": "the call is odd"}});
    let model = ModelServer::saying(vec![
        Answer::Raw(
            400,
            vec![("content-type".into(), "application/json".into())],
            error.to_string(),
        ),
        text("Here I am."),
    ]);
    let mut said = b"one\n\xff\xfe\ntwo\n".to_vec();
    said.extend(vec![b'x'; (1 << 20) + 5]);
    said.extend(b"\n");
    let run = foreword(&scratch, &model, &["chat", "--trust", "--session", "s"]).stdin(said).run();
    assert_eq!(run.status, 1, "{}", run.stderr);
    assert_eq!(run.stdout, "Here I am.\n");
    assert_eq!(model.asked().len(), 2);
    for shown in
        ["the call is odd", "not UTF-8", "longer than 1 MiB", "3 of 4 messages got no answer"]
    {
        assert!(run.stderr.contains(shown), "{shown}: {}", run.stderr);
    }
}

#[test]
fn a_governed_file_that_changes_is_shown_before_it_takes_effect() {
    let scratch = workspace();
    let soul = scratch.join("SOUL.md");
    let model = ModelServer::start(move |_, _| {
        std::fs::write(&soul, "Loud and rash.\n").unwrap();
        text("Yes.")
    });
    let chat = |said: &str, args: &[&str]| {
        foreword(&scratch, &model, &[&["chat", "--session", "s"], args].concat()).stdin(said).run()
    };
    let run = chat("one\ntwo\n", &["--trust"]);
    assert_eq!((run.status, run.stdout.as_str()), (1, "Yes.\n"), "{}", run.stderr);
    assert!(run.stderr.contains("-Calm and exact.\n+Loud and rash.\n"), "{}", run.stderr);
    assert_eq!(model.asked().len(), 1, "nothing was said with the changed soul");
    let run = chat("two\n", &["--trust"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(model.asked()[1].system().concat().contains("Loud and rash."));
}

#[test]
fn what_is_due_runs_before_the_next_message() {
    let scratch = with_schedule("@hourly");
    let model = ModelServer::saying(vec![text("The till is right."), text("Good day.")]);
    let run = foreword(&scratch, &model, &["chat"]).stdin("hello\n").run();
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_eq!(run.stdout, "The till is right.\nGood day.\n");
    assert!(run.stderr.contains("running 1 due schedule first"), "{}", run.stderr);
    assert!(run.stderr.contains("by agent:clerk, due 1970-01-01T00:00:01Z: count the till"));
    let asked = model.asked();
    assert!(asked[0].last_message().ends_with("count the till"));
    assert!(!asked[1].raw.contains("count the till"), "a schedule has a session of its own");
}

#[test]
fn a_heartbeat_runs_what_is_due_once_and_then_the_list() {
    let scratch = with_schedule("@hourly");
    let model = ModelServer::start(|_, asked| {
        if asked.last_message().contains("This is a heartbeat") {
            text("All quiet.")
        } else {
            text("The till is right.")
        }
    });
    let beat = || foreword(&scratch, &model, &["run", "--heartbeat", "--quiet", "--json"]);
    // Nobody said what to look after yet, and two hosts see the same schedule.
    let both: Vec<_> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..2).map(|_| scope.spawn(|| beat().run().ok().json())).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    let reports: Vec<_> = both.iter().flat_map(|run| run.as_array().unwrap()).collect();
    assert_eq!(reports.len(), 1, "{both:?}");
    let id = reports[0]["schedule"].as_str().unwrap();
    assert_eq!(reports[0]["session"], format!("schedule-{id}"));
    assert_eq!((&reports[0]["agent"], &reports[0]["state"]), (&json!("clerk"), &json!("done")));
    assert!(reports[0]["next"].as_str().unwrap() > "2026", "{}", reports[0]);

    scratch.write("HEARTBEAT.md", "1. Is the till locked?\n");
    let refused = beat().run();
    assert_eq!(refused.status, 1, "HEARTBEAT.md is governed: {}", refused.stderr);
    make_due(&scratch);
    let run = foreword(&scratch, &model, &["run", "--heartbeat", "--quiet", "--json", "--trust"])
        .run()
        .ok()
        .json();
    let answers: Vec<&str> =
        run.as_array().unwrap().iter().map(|run| run["answer"].as_str().unwrap()).collect();
    assert_eq!(answers, ["The till is right.", "All quiet."]);
    assert_eq!(run[1]["scanned"]["input"], "PASS", "the host's own words");
    assert_eq!((&run[0]["turn"], &run[1]["session"]), (&json!(2), &json!("heartbeat")));
    let asked = model.asked();
    assert_eq!(asked.len(), 3, "years of missed hours are one run");
    let woken = asked[2].last_message();
    assert!(woken.contains("heartbeat, at 2") && !woken.contains("{{"), "{woken}");
    assert!(woken.contains("Is the till locked?"), "the list is in the message: {woken}");
    let log = scratch.run(&["audit", "log", "--action", "schedule.run", "--json"]).ok();
    let made_due = log.stdout.matches("\"next\":1000}").count();
    let runs = log.stdout.matches("\"schedule.run\"").count() - made_due;
    assert_eq!(runs, 2, "{}", log.stdout);
}

#[test]
fn what_cannot_run_stays_due() {
    let scratch = with_schedule("@daily");
    let beat = |args: &[&str]| {
        scratch.command(&[&["run", "--heartbeat"], args].concat()).env("PATH", PATH)
    };
    let run = beat(&[]).run();
    assert!(run.fails(2).contains("ANTHROPIC_API_KEY"), "{}", run.stderr);
    let model = ModelServer::saying(vec![text("Done.")]);
    let run = beat(&[]).env("ANTHROPIC_BASE_URL", &model.url).env("ANTHROPIC_API_KEY", KEY).run();
    assert_eq!((run.status, run.stdout.as_str()), (0, "Done.\n"), "{}", run.stderr);
    beat(&["-m", "hello"]).run().fails(2);
}

/// A chat on a terminal of its own.
struct Typed {
    child: Child,
    shown: Arc<Mutex<String>>,
    seen: usize,
}

impl Typed {
    fn start(scratch: &Scratch, model: &ModelServer) -> Self {
        let command = format!("exec {} chat --session typed", env!("CARGO_BIN_EXE_foreword"));
        let mut child = Command::new("script")
            .args(["-qefc", &command, "/dev/null"])
            .env_clear()
            .envs([("PATH", PATH), ("TERM", "xterm"), ("HOME", "/nonexistent")])
            .envs([("ANTHROPIC_BASE_URL", model.url.as_str()), ("ANTHROPIC_API_KEY", KEY)])
            .env("FOREWORD_CONFIG_DIR", scratch.config_dir())
            .current_dir(scratch.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let shown: Arc<Mutex<String>> = Arc::default();
        let (mut out, writes) = (child.stdout.take().unwrap(), Arc::clone(&shown));
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = out.read(&mut buffer) {
                writes.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..read]));
            }
        });
        Self { child, shown, seen: 0 }
    }

    fn keys(&mut self, keys: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(keys.as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    /// Waits until something is shown, after what was waited for before.
    fn wait_for(&mut self, text: &str) {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            let shown = self.shown.lock().unwrap().clone();
            if let Some(at) = shown[self.seen..].find(text) {
                self.seen += at + text.len();
                return;
            }
            assert!(Instant::now() < end, "{text:?} was not shown: {shown:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Typed {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_person_at_a_terminal() {
    if Command::new("script").arg("--version").output().is_err() {
        foreword_testing::skip("script", "not installed; it is part of util-linux");
        return;
    }
    let scratch = workspace();
    let model = ModelServer::start(|number, _| match number {
        1 => Answer::Silence(Duration::from_secs(60)),
        2 => text("\u{1b}]0;mine\u{7}Here."),
        _ => text("Good day."),
    });
    let mut chat = Typed::start(&scratch, &model);
    chat.wait_for("Trust this workspace? [y/N]");
    chat.keys("y\n");
    chat.wait_for("> ");
    // The left arrow, then a letter that was forgotten.
    chat.keys("helo\u{1b}[Dl\r");
    chat.wait_for("Good day.");
    chat.wait_for("turn 1");
    chat.wait_for("> ");
    chat.keys("wait for me\r");
    let asked = Instant::now();
    while model.asked().len() < 2 {
        assert!(asked.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
    let cancelled = Instant::now();
    chat.keys("\u{3}");
    chat.wait_for("turn interrupted; what was said and done so far is kept");
    assert!(cancelled.elapsed() < Duration::from_secs(20));
    chat.wait_for("> ");
    // Ctrl-C at the prompt takes back what was typed; the up arrow twice brings the first line.
    chat.keys("never said\u{3}");
    chat.wait_for("> ");
    chat.keys("\u{1b}[A\u{1b}[A again\r");
    chat.wait_for("Here.");
    chat.wait_for("turn 3");
    chat.wait_for("> ");
    chat.keys("\u{4}");
    chat.wait_for("continue with `foreword chat --session typed`");
    // Waiting would close the terminal under it.
    let status = loop {
        if let Some(status) = chat.child.try_wait().unwrap() {
            break status;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(status.code(), Some(0), "{}", chat.shown.lock().unwrap());
    let asked = model.asked();
    let said = |number: usize| asked[number].last_message();
    assert!(said(0).ends_with("hello"), "{}", said(0));
    assert!(said(2).ends_with("hello again"), "{}", said(2));
    assert!(!chat.shown.lock().unwrap().contains("\u{1b}]0;mine"), "a terminal acts on nothing");
    let shown = scratch.run(&["session", "show", "typed", "--json"]).ok().json();
    let turns = shown["turns"].as_array().unwrap();
    let states: Vec<&str> = turns.iter().map(|turn| turn["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["done", "interrupted", "done"]);
}

#[test]
fn a_refused_action_is_allowed_from_the_chat_once() {
    let scratch = workspace();
    scratch.write("mail.txt", "The shop opens at nine on Sundays from now on. ".repeat(20));
    let add = || tool("schedule_add", json!({"cron": "@daily", "prompt": "open the shop"}));
    let model = ModelServer::saying(vec![
        add(),
        text("Refused."),
        add(),
        text("Done."),
        add(),
        text("No."),
    ]);
    let external = ["--external", "mail=mail.txt", "-m", "what does it say?"];
    foreword(
        &scratch,
        &model,
        &[&["run", "-q", "--trust", "--session", "s"], &external[..]].concat(),
    )
    .run()
    .ok();
    let waiting = scratch.run(&["approve", "--json"]).ok().json();
    let id = waiting["refusals"][0]["id"].as_str().unwrap();
    let said = format!("/taint\n/approve\n/approve {id} --yes\ndo it\nand again\n");
    let run = foreword(&scratch, &model, &["chat", "--session", "s"]).stdin(said).run();
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stdout.contains("mail  (external)"), "{}", run.stdout);
    assert!(run.stdout.contains("external content arrived since your last message"));
    assert!(run.stdout.contains("schedule_add in session s"), "{}", run.stdout);
    assert!(run.stderr.contains("`schedule_add` is allowed once in session s"), "{}", run.stderr);
    let asked = model.asked();
    let answered = |number: usize| asked[number].last_message();
    assert!(answered(1).contains("was not done"), "{}", answered(1));
    assert!(answered(3).contains("\"next\""), "{}", answered(3));
    assert!(answered(5).contains("was not done"), "{}", answered(5));
}

#[test]
fn a_person_sees_what_is_scheduled_and_takes_it_off() {
    let scratch = with_schedule("@daily");
    let list = scratch.run(&["schedule", "list", "--json"]).ok().json();
    assert_eq!(list[0]["prompt"], "count the till");
    assert_eq!((&list[0]["tainted"], &list[0]["by"]), (&json!(false), &json!("agent:clerk")));
    let id = list[0]["id"].as_str().unwrap();
    let shown = scratch.run(&["schedule", "list"]).ok().stdout;
    assert!(
        shown.starts_with(id) && shown.contains("@daily  agent:clerk: count the till"),
        "{shown}"
    );
    let removed = scratch.run(&["schedule", "remove", id, "--json"]).ok().json();
    assert_eq!(removed["id"], id);
    let again = scratch.run(&["schedule", "remove", id]);
    assert!(again.fails(2).contains("`foreword schedule list`"), "{}", again.stderr);
    assert_eq!(scratch.run(&["schedule", "list", "--json"]).ok().json(), json!([]));
    let log = scratch.run(&["audit", "log", "--action", "schedule.remove", "--json"]).ok().json();
    assert_eq!(log[0]["subject"], id);
}
