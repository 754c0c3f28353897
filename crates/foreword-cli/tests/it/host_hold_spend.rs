//! Limits on spending, and sessions that are deleted for good.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::Scratch;
use crate::support::host::{audit, done, on_host, on_record, turn};
use crate::support::model::{Answer, ModelServer, text, tool};
use serde_json::{Value, json};

/// One call of the scripted model writes 13 tokens, which cost $0.013 by this table, and the host sets
/// aside $0.05 for it.
const PRICES: &str = "date = '2026-01-01'\n[[model]]\nprefix = 'priced'\ninput = 0\ncached = 0\n\
                      cache_write = 0\noutput = 1000\n";

fn workspace(limits: &str) -> Scratch {
    let scratch = Scratch::new(&[
        ("foreword.toml", "agent = 'a'\n[model]\nname = 'priced-1'\nmax_output_tokens = 50\n"),
        (
            "agents/a/AGENT.md",
            "---\ntools: [coding, memory, spawning, skills, session]\n---\nYou are A.\n",
        ),
        ("agents/b/AGENT.md", "---\ntools: [coding]\n---\nYou are B.\n"),
        ("AGENTS.md", "Work on the shop.\n"),
    ]);
    settings(&scratch, limits);
    scratch
}

/// Writes the person's own settings.
fn settings(scratch: &Scratch, limits: &str) {
    let directory = scratch.config_dir();
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("prices.toml"), PRICES).unwrap();
    let prices = directory.join("prices.toml");
    let text = format!("[limits]\nprices = '{}'\n{limits}\n", prices.display());
    std::fs::write(directory.join("settings.toml"), text).unwrap();
}

/// Says something and calls a tool, for ever.
fn never_done() -> ModelServer {
    ModelServer::start(|number, _| {
        let call = ("bash".to_owned(), json!({"command": format!("echo {number}")}));
        Answer::Tools("Working.".to_owned(), vec![call])
    })
}

#[test]
fn a_turn_ends_cleanly_at_its_limit() {
    let scratch = workspace("[limits.turn]\ncost = 0.07");
    let model = never_done();
    let run = turn(&scratch, &model, &["--session", "s", "-m", "go on"]).run();
    assert_eq!(run.status, 1, "{}", run.stderr);
    for part in [
        "the turn ended early: the limit of $0.0700 per turn would be exceeded: $0.0260 used, and the \
         next model call may need $0.0500",
        "raise `cost` under [limits.turn] in settings.toml",
    ] {
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
    let report = run.json();
    assert_eq!(report["state"], "done");
    assert_eq!(report["stopReason"], "spending_limit");
    assert_eq!(report["costUsd"], 0.026);
    assert_eq!(report["answer"], "Working.\n\nWorking.");
    assert_eq!(model.asked().len(), 2, "the third call was not sent");
    let entry = audit(&scratch).into_iter().find(|entry| entry["action"] == "limit.reached");
    let entry = entry.expect("it is on record");
    assert_eq!(
        (&entry["detail"]["period"], &entry["detail"]["used"]),
        (&json!("turn"), &json!(26000))
    );

    // The next message has a budget of its own, and the conversation goes on.
    let model = ModelServer::saying(vec![text("Done.")]);
    let report = done(&scratch, &model, &["--session", "s", "-m", "and now?"]);
    assert_eq!((&report["answer"], &report["turn"]), (&json!("Done."), &json!(2)));
    let past = model.asked()[0].body["messages"].to_string();
    assert!(past.contains("Working.") && past.contains("a spending limit was reached"), "{past}");
    assert!(!on_record(&scratch, "turn.fail", "failed"));
}

#[test]
fn sub_agents_spend_from_the_budget_of_the_message() {
    let scratch = workspace("[limits.turn]\ncost = 0.08");
    let model = ModelServer::start(|_, asked| {
        if asked.system().concat().contains("You are B.") {
            return tool("bash", json!({"command": "true"}));
        }
        tool("spawn_agent", json!({"role": "b", "cwd": ".", "prompt": "work"}))
    });
    let run = turn(&scratch, &model, &["-m", "go"]).run();
    assert_eq!(run.status, 1, "{}", run.stderr);
    let report = run.json();
    assert_eq!(report["stopReason"], "spending_limit", "{report}");
    assert_eq!(report["costUsd"], 0.039);
    assert_eq!(model.asked().len(), 3, "one call of A and two of B");
}

#[test]
fn a_day_and_a_session_have_limits_too() {
    let scratch = workspace("[limits.session]\ncost = 0.06");
    let model = ModelServer::saying(vec![text("Hello.")]);
    done(&scratch, &model, &["--session", "s", "-m", "hi"]);
    let run = turn(&scratch, &model, &["--session", "s", "-m", "hi"]).run();
    assert!(
        run.stderr.contains("the limit of $0.0600 per session would be exceeded"),
        "{}",
        run.stderr
    );
    assert_eq!(run.json()["answer"], "");
    done(&scratch, &model, &["--session", "t", "-m", "hi"]);
    assert_eq!(model.asked().len(), 2);

    settings(&scratch, "[limits.day]\ncost = 0.02");
    let run = turn(&scratch, &model, &["--session", "u", "-m", "hi"]).run();
    assert_eq!(run.status, 1);
    for part in ["the limit of $0.0200 per day is reached: $0.0260 used", "00:00 UTC"] {
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
    assert_eq!(model.asked().len(), 2, "the turn did not start");
    let listed = on_host(&scratch, &model, &["session", "list"]).run().ok();
    assert!(listed.stdout.contains("s  2 turns  $0.0130  agent a"), "{}", listed.stdout);
    let today = "spent today: $0.0260, 72 tokens (limit per day: $0.0200, 100000000 tokens)";
    assert!(listed.stdout.contains(today), "{}", listed.stdout);
    let sessions = on_host(&scratch, &model, &["session", "list", "--json"]).run().ok().json();
    assert_eq!(sessions.as_array().unwrap().len(), 2);
    assert_eq!(sessions[0]["spent"]["costUsd"], 0.013);
}

#[test]
fn without_a_price_tokens_and_time_are_still_limited() {
    let scratch = workspace("[limits.turn]\ntokens = 100000");
    let model = ModelServer::saying(vec![text("Hello.")]);
    let run = on_host(&scratch, &model, &["run", "--trust", "--model", "other", "-m", "hi"]).run();
    assert!(run.stderr.contains("cost unknown"), "{}", run.stderr);
    settings(&scratch, "[limits.turn]\nminutes = 0.05");
    let slow = ModelServer::start(|_, _| Answer::Silence(Duration::from_secs(60)));
    let since = Instant::now();
    let run = turn(&scratch, &slow, &["--model", "other", "-m", "hi"]).run();
    assert!(run.stderr.contains("minutes per turn is reached"), "{}", run.stderr);
    assert!(since.elapsed() < Duration::from_secs(40), "{:?}", since.elapsed());

    settings(&scratch, "[limits.turn]\ntokens = 100");
    let before = model.asked().len();
    let run = turn(&scratch, &model, &["--model", "other", "-m", "hi"]).run();
    assert!(
        run.stderr.contains("the limit of 100 tokens per turn would be exceeded"),
        "{}",
        run.stderr
    );
    assert_eq!(run.json()["costUsd"], 0.0, "nothing was sent, so it cost nothing");
    assert_eq!(model.asked().len(), before);
}

#[test]
fn a_workspace_lowers_limits_and_does_not_raise_them() {
    let scratch = workspace("[limits.turn]\ncost = 0.07");
    let config = scratch.read("foreword.toml");
    scratch.write("foreword.toml", format!("{config}[limits.turn]\ncost = 0.055\n"));
    let run = turn(&scratch, &never_done(), &["-m", "go"]).run();
    assert!(run.stderr.contains("the limit of $0.0550 per turn"), "{}", run.stderr);
    assert!(run.stderr.contains("in foreword.toml"), "{}", run.stderr);
    scratch.write("foreword.toml", format!("{config}[limits.turn]\ncost = 'unlimited'\n"));
    let run = turn(&scratch, &never_done(), &["-m", "go"]).run();
    assert!(run.stderr.contains("the limit of $0.0700 per turn"), "{}", run.stderr);
}

/// Files in a directory that contain a text.
fn files_with(directory: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, text));
        } else if let Ok(bytes) = std::fs::read(&path)
            && bytes.windows(text.len()).any(|window| window == text.as_bytes())
        {
            found.push(path.display().to_string());
        }
    }
    found
}

#[test]
fn a_deleted_session_is_gone_from_every_file() {
    let scratch = workspace("");
    let said = |session: &str| format!("purple elephants of {session}");
    let model = ModelServer::start(|_, asked| {
        let last = asked.last_message();
        if last.contains("purple") && !asked.raw.contains("tool_result") {
            let calls = vec![
                ("bash".to_owned(), json!({"command": "echo crimson walruses"})),
                (
                    "audit_report".to_owned(),
                    json!({"event": "Saw ochre badgers", "detail": "and maroon weasels"}),
                ),
                ("skill_read".to_owned(), json!({"name": "beige-tapirs"})),
            ];
            return Answer::Tools("Amber giraffes. ".to_owned(), calls);
        }
        text(&format!("Teal octopuses {}.", "in a long answer ".repeat(2000)))
    });
    let texts = [
        "purple elephants of",
        "crimson walruses",
        "Amber giraffes",
        "Teal octopuses",
        "ochre badgers",
        "maroon weasels",
        "beige-tapirs",
    ];
    for session in ["old", "kept"] {
        for _ in 0..3 {
            done(&scratch, &model, &["--session", session, "-m", &said(session)]);
        }
    }
    scratch.run(&["memory", "add", "Remember the green herons"]).ok();
    let private = scratch.join(".foreword");
    for text in texts {
        assert!(!files_with(&private, text).is_empty(), "{text}");
    }
    let reports = |scratch: &Scratch| -> Vec<Value> {
        let all = audit(scratch).into_iter();
        all.filter(|entry| entry["action"] == "ipc.audit_report").collect()
    };
    assert_eq!(reports(&scratch)[0]["detail"]["event"], "Saw ochre badgers");
    let unasked = scratch.run(&["session", "rm", "old"]);
    assert_eq!(unasked.status, 2);
    assert!(unasked.stderr.contains("pass `--yes`"), "{}", unasked.stderr);
    let missing = scratch.run(&["session", "rm", "--yes", "nobody"]);
    assert!(missing.stderr.contains("session `nobody` not found"), "{}", missing.stderr);

    let removed = scratch.run(&["session", "rm", "--yes", "old"]);
    assert_eq!(removed.stdout, "deleted session old with 3 turns\n");
    assert!(
        removed.stderr.contains("memories from deleted sessions are kept"),
        "{}",
        removed.stderr
    );
    assert_eq!(files_with(&private, &said("old")), [""; 0]);
    assert!(!files_with(&private, &said("kept")).is_empty());
    assert_eq!(scratch.run(&["session", "show", "old"]).status, 2);
    assert!(on_record(&scratch, "session.remove", "done"));

    scratch.run(&["session", "rm", "--quiet", "--yes", "kept"]).ok();
    for text in texts {
        assert_eq!(files_with(&private, text), [""; 0], "{text}");
    }
    // The chain is whole, and keeps digests of what is gone.
    scratch.run(&["audit", "verify"]).ok();
    for report in reports(&scratch) {
        assert!(report["detail"]["textDigest"].is_string(), "{report}");
        assert!(report["detail"]["event"].is_null(), "{report}");
    }
    let memories = scratch.run(&["memory", "list"]).ok().stdout;
    assert!(memories.contains("green herons"), "{memories}");
    // A new session of the same name starts from nothing.
    let before = model.asked().len();
    done(&scratch, &model, &["--session", "old", "-m", "hello"]);
    assert!(!model.asked()[before].raw.contains("elephants"));
}

#[test]
fn old_sessions_are_deleted_by_age_and_by_the_settings() {
    let scratch = workspace("");
    let model = ModelServer::saying(vec![text("Hello.")]);
    done(&scratch, &model, &["--session", "s", "-m", "hi"]);
    let none = scratch.run(&["session", "rm", "--yes", "--older-than", "30d"]);
    assert_eq!(none.status, 0);
    assert!(none.stderr.contains("no session is that old"), "{}", none.stderr);
    let wrong = scratch.run(&["session", "rm", "--older-than", "soon"]);
    assert!(wrong.status == 2 && wrong.stderr.contains("30d"), "{}", wrong.stderr);

    settings(&scratch, "[host]\nretention = '1h'");
    done(&scratch, &model, &["--session", "t", "-m", "hi"]);
    let ids = |scratch: &Scratch| -> Vec<Value> {
        let list = scratch.run(&["session", "list", "--json"]).ok().json();
        list.as_array().unwrap().iter().map(|session| session["session"].clone()).collect()
    };
    assert_eq!(ids(&scratch), ["t", "s"], "neither is an hour old");
    age(&scratch, "s", 2 * 3_600_000);
    let run = on_host(&scratch, &model, &["run", "--trust", "--session", "u", "-m", "hi"]).run();
    assert!(
        run.stderr.contains("deleted session s with 1 turn (host.retention)"),
        "{}",
        run.stderr
    );
    assert_eq!(ids(&scratch), ["u", "t"]);
}

/// Makes a session look as if nothing had happened in it for so many milliseconds.
fn age(scratch: &Scratch, session: &str, millis: i64) {
    let database = rusqlite::Connection::open(scratch.join(".foreword/foreword.db")).unwrap();
    let changed = database
        .execute("UPDATE sessions SET last_at = last_at - ?2 WHERE id = ?1", (session, millis))
        .unwrap();
    assert_eq!(changed, 1);
}
