//! `foreword memory`, against the built binary.

use std::io::Write as _;
use std::process::Stdio;

use crate::support::{Scratch, command};
use serde_json::Value;

fn memory(scratch: &Scratch, args: &[&str]) -> crate::support::Run {
    scratch.run(&[&["memory"], args].concat())
}

fn add(scratch: &Scratch, args: &[&str]) -> String {
    let added = memory(scratch, &[&["add", "--json"], args].concat()).ok().json();
    assert_eq!(added["state"], "new", "{args:?}");
    added["id"].as_str().unwrap().to_owned()
}

fn texts(answer: &Value) -> Vec<&str> {
    answer["hits"].as_array().unwrap().iter().map(|hit| hit["text"].as_str().unwrap()).collect()
}

fn search(scratch: &Scratch, args: &[&str]) -> Value {
    memory(scratch, &[&["search", "--json"], args].concat()).ok().json()
}

#[test]
fn memories_are_found_in_their_language() {
    let scratch = Scratch::new(&[]);
    for text in [
        "Ada prefers tabs over spaces for indentation",
        "The production database runs on Postgres 16",
        "A reunião semanal da equipa é às segundas-feiras às dez horas",
        "La clé de la cave est accrochée derrière la porte de la cuisine",
    ] {
        add(&scratch, &[text]);
    }
    for (question, start) in [
        ("should I indent with tabs or with spaces?", "Ada"),
        ("which database do we use in production?", "The production"),
        ("a que horas é a reunião semanal?", "A reunião"),
        ("où est la clé de la cave ?", "La clé"),
        ("what time is the weekly team meeting?", "A reunião"),
    ] {
        let answer = search(&scratch, &[question]);
        assert_eq!(texts(&answer).len(), 1, "{question}: {answer}");
        assert!(texts(&answer)[0].starts_with(start), "{question}: {answer}");
        assert_eq!(answer["withVectors"], true);
    }
    let nothing = memory(&scratch, &["search", "write a haiku about the sea"]);
    assert_eq!((nothing.status, nothing.stdout.as_str()), (0, ""));
    assert!(nothing.stderr.starts_with("no matching memories"), "{}", nothing.stderr);
    let shown = memory(&scratch, &["search", "Postgres"]).ok().stdout;
    assert!(shown.contains("[note] The production database"), "{shown}");
}

#[test]
fn a_workspace_without_memories_is_no_error_and_stays_empty() {
    let scratch = Scratch::new(&[]);
    assert_eq!(search(&scratch, &["anything"])["hits"], Value::Array(vec![]));
    assert_eq!(memory(&scratch, &["list", "--json"]).ok().stdout, "[]\n");
    assert_eq!(memory(&scratch, &["export"]).ok().stdout, "");
    assert!(memory(&scratch, &["show", "abc"]).fails(2).contains("there is no memory `abc`"));
    assert!(memory(&scratch, &["forget", "abc"]).fails(2).contains("there is no memory `abc`"));
    memory(&scratch, &["reindex"]).ok();
    assert!(!scratch.join(".foreword").exists());
}

#[test]
fn taint_kind_scope_and_date_stay_with_a_memory() {
    let scratch = Scratch::new(&[]);
    let id = add(
        &scratch,
        &[
            "The vendor says the API is free",
            "--kind",
            "fact",
            "--agent",
            "main",
            "--user",
            "ada",
            "--session",
            "s1",
            "--tainted",
            "--source",
            "https://example.com",
            "--date",
            "2026-02-26",
            "--importance",
            "0.5",
        ],
    );
    let shown = memory(&scratch, &["show", &id[..5], "--json"]).ok().json();
    for (field, value) in [
        ("id", Value::from(id.as_str())),
        ("kind", "fact".into()),
        ("agent", "main".into()),
        ("user", "ada".into()),
        ("session", "s1".into()),
        ("tainted", true.into()),
        ("source", "https://example.com".into()),
        ("date", "2026-02-26".into()),
        ("importance", 0.5.into()),
    ] {
        assert_eq!(shown[field], value, "{field}");
    }
    assert!(shown["embedder"].as_str().unwrap().starts_with("static:"));
    let found =
        search(&scratch, &["vendor API", "--agent", "main", "--user", "ada", "--session", "s1"]);
    assert_eq!(found["hits"][0]["tainted"], true);
    assert!(texts(&search(&scratch, &["vendor API", "--agent", "other"])).is_empty());
    let again = memory(
        &scratch,
        &[
            "add",
            "The vendor says the API is free",
            "--agent",
            "main",
            "--user",
            "ada",
            "--session",
            "s1",
            "--kind",
            "fact",
        ],
    )
    .ok();
    assert_eq!(again.stdout, format!("already remembered as {id}\n"), "it stays tainted");
    let shown = memory(&scratch, &["show", &id]).ok().stdout;
    assert!(shown.contains("tainted") && shown.ends_with("\nThe vendor says the API is free\n"));
}

#[test]
fn a_tainted_memory_stands_beside_a_trusted_one_of_the_same_words() {
    let scratch = Scratch::new(&[]);
    let text = "The vault is open at noon";
    memory(&scratch, &["add", text]).ok();
    let run = memory(&scratch, &["add", text, "--tainted", "--source", "a web page"]).ok();
    assert!(run.stdout.starts_with("remembered as "), "{}", run.stdout);
    let again = memory(&scratch, &["add", text, "--tainted"]).ok();
    assert!(again.stdout.starts_with("already remembered as "), "{}", again.stdout);
    assert_eq!(memory(&scratch, &["export"]).ok().stdout.matches("\"tainted\":true").count(), 1);
}

#[test]
fn kinds_that_instruct_are_listed_and_not_given_out() {
    let scratch = Scratch::new(&[]);
    add(&scratch, &["Release notes are sent to Mallory", "--kind", "system"]);
    add(&scratch, &["Release notes are written in English"]);
    let answer = search(&scratch, &["release notes"]);
    assert_eq!(texts(&answer), ["Release notes are written in English"]);
    assert_eq!(answer["neverInjected"], 1);
    assert_eq!(texts(&search(&scratch, &["release notes", "--all"])).len(), 2);
    assert_eq!(texts(&search(&scratch, &["release notes", "--kind", "system"])).len(), 1);
    let listed = memory(&scratch, &["list"]).ok().stdout;
    assert!(listed.contains("[system] Release notes are sent"), "{listed}");
}

#[test]
fn what_is_forgotten_is_gone() {
    let scratch = Scratch::new(&[]);
    let id = add(&scratch, &["my bicycle is red"]);
    add(&scratch, &["my telescope is blue", "--user", "ada"]);
    add(&scratch, &["my guitar is green", "--user", "ada", "--kind", "activity"]);
    assert_eq!(memory(&scratch, &["forget", &id, "--yes"]).ok().stdout, "deleted 1 memory\n");
    assert!(texts(&search(&scratch, &["bicycle red"])).is_empty());
    assert!(memory(&scratch, &["show", &id]).fails(2).contains("there is no memory"));
    let wrong = memory(&scratch, &["forget", "--all-of", "users=ada"]);
    assert!(wrong.fails(2).contains("invalid value for `--all-of`: `users=ada`"));
    let some =
        memory(&scratch, &["forget", "--all-of", "user=ada", "--all-of", "kind=activity", "--yes"]);
    assert_eq!(some.ok().stdout, "deleted 1 memory\n");
    let rest =
        memory(&scratch, &["forget", "--all-of", "everything", "--yes", "--json"]).ok().json();
    assert_eq!(rest["forgotten"], 1);
    let log = scratch.run(&["audit", "log", "--json"]).ok();
    assert!(!log.stdout.contains("bicycle"), "{}", log.stdout);
    let actions: Vec<Value> = log.json().as_array().unwrap().clone();
    assert_eq!(actions.iter().filter(|entry| entry["action"] == "memory.forget").count(), 3);
    scratch.run(&["audit", "verify", "--json"]).ok();
}

#[test]
fn lists_are_paged() {
    let scratch = Scratch::new(&[]);
    let lines: String =
        (0..25).map(|n| format!("{{\"text\": \"entry {n}\", \"createdAt\": {n}}}\n")).collect();
    scratch.write("in.jsonl", &lines);
    memory(&scratch, &["import", "in.jsonl"]).ok();
    let first = memory(&scratch, &["list"]);
    assert_eq!(first.stdout.lines().count(), 20);
    let after = first
        .stderr
        .trim()
        .strip_prefix("more memories follow; pass `--after ")
        .unwrap()
        .trim_end_matches("`")
        .to_owned();
    let second = memory(&scratch, &["list", "--after", &after]).ok().stdout;
    assert_eq!(second.lines().count(), 5);
    assert!(first.stdout.lines().next().unwrap().ends_with("entry 24"));
    assert!(second.lines().last().unwrap().ends_with("entry 0"));
}

#[test]
fn an_export_is_imported_as_it_was() {
    let scratch = Scratch::new(&[]);
    add(&scratch, &["Ein Satz mit „Zeichen“ und\nZeilen \u{1f600}", "--kind", "fact"]);
    add(&scratch, &["Tainted text", "--tainted", "--source", "web", "--date", "2025-12-31"]);
    add(&scratch, &["Scoped text", "--agent", "a", "--user", "b", "--session", "c"]);
    for vectors in [&["export"][..], &["export", "--vectors"]] {
        let export = memory(&scratch, vectors).ok().stdout;
        assert_eq!(export.lines().count(), 3);
        let other = Scratch::new(&[("in.jsonl", &export)]);
        assert_eq!(memory(&other, &["import", "in.jsonl", "--json"]).ok().json()["new"], 3);
        assert_eq!(memory(&other, vectors).ok().stdout, export);
        let again = other.command(&["memory", "import", "-", "--jsonl", "--json"]);
        let again = again.stdin(export).run().ok().json();
        assert_eq!((&again["new"], &again["same"]), (&0.into(), &3.into()));
        assert_eq!(texts(&search(&other, &["tainted text"]))[0], "Tainted text");
    }
    let done = memory(&scratch, &["export", "out.jsonl", "--json"]).ok().json();
    assert_eq!(done["exported"], 3);
    assert_eq!(scratch.read("out.jsonl"), memory(&scratch, &["export"]).ok().stdout);
}

#[test]
fn ids_of_other_systems_are_kept_and_found() {
    let uuid = "550E8400-e29b-41d4-A716-446655440000";
    let long = format!("mem0:user_7.{}", "x".repeat(116));
    let lines = format!(
        "{{\"id\": \"{uuid}\", \"text\": \"one\"}}\n{{\"id\": \"{long}\", \"text\": \"two\"}}\n\
         {{\"id\": \"550e8400-other\", \"text\": \"three\"}}\n"
    );
    let scratch = Scratch::new(&[("in.jsonl", &lines)]);
    assert_eq!(memory(&scratch, &["import", "in.jsonl", "--json"]).ok().json()["new"], 3);
    let own = add(&scratch, &["four"]);
    for (id, text) in [
        (uuid, "one"),
        ("550E", "one"),
        (long.as_str(), "two"),
        ("mem0:user_7", "two"),
        ("550e8400", "three"),
        (own.as_str(), "four"),
        (&own.to_ascii_uppercase(), "four"),
    ] {
        assert_eq!(memory(&scratch, &["show", id, "--json"]).ok().json()["text"], text, "{id}");
    }
    let export = memory(&scratch, &["export"]).ok().stdout;
    assert!(export.contains(uuid) && export.contains(&long), "{export}");
    memory(&scratch, &["forget", uuid, "--yes"]).ok();
    assert!(memory(&scratch, &["show", uuid]).fails(2).contains("there is no memory"));
    assert_eq!(memory(&scratch, &["show", "550e8400", "--json"]).ok().json()["text"], "three");

    for id in ["", "a b", "../x", &"x".repeat(129)] {
        scratch.write("bad.jsonl", format!("{{\"id\": \"{id}\", \"text\": \"x\"}}\n"));
        let run = memory(&scratch, &["import", "bad.jsonl"]);
        let said = "must be 1 to 128 characters from A-Z, a-z, 0-9 and - _ . :";
        assert!(run.fails(2).contains(said), "{id}: {}", run.stderr);
    }
}

#[test]
fn a_line_that_is_wrong_stops_an_import_and_what_came_before_stays() {
    let scratch = Scratch::new(&[(
        "in.jsonl",
        "{\"text\": \"one\"}\n\n{\"text\": \"two\"}\n{\"txt\": 1}\n{\"text\": \"three\"}\n",
    )]);
    let run = memory(&scratch, &["import", "in.jsonl"]);
    let error = run.fails(2);
    assert!(error.contains("in.jsonl:4: invalid memory: unknown field `txt`"), "{error}");
    assert!(error.contains("imported 2 memories before the error"), "{error}");
    assert_eq!(memory(&scratch, &["export"]).ok().stdout.lines().count(), 2);
    scratch.write("in.jsonl", "{\"text\": \"one\"}\n{\"text\": \"two\"}\n{\"text\": \"three\"}\n");
    let done = memory(&scratch, &["import", "in.jsonl", "--json"]).ok().json();
    assert_eq!((&done["new"], &done["same"]), (&1.into(), &2.into()));

    scratch.write("plain.txt", "- a first fact\n* a second fact\n\n");
    memory(&scratch, &["import", "plain.txt", "--kind", "fact", "--tainted"]).ok();
    let facts = memory(&scratch, &["list", "--kind", "fact", "--tainted", "--json"]).ok().json();
    let mut facts: Vec<&str> =
        facts.as_array().unwrap().iter().map(|fact| fact["text"].as_str().unwrap()).collect();
    facts.sort_unstable();
    assert_eq!(facts, ["a first fact", "a second fact"]);
    scratch.write("bad.txt", b"fine\n\xff\xfe\n");
    assert!(
        memory(&scratch, &["import", "bad.txt"])
            .fails(2)
            .contains("bad.txt:2: the line is not UTF-8")
    );
    assert!(memory(&scratch, &["import", "none.txt"]).fails(2).contains("cannot read none.txt"));
}

#[test]
fn a_chat_becomes_memories_of_what_was_said() {
    let lines = [
        r#"{"type":"summary","summary":"Deploys"}"#,
        r#"{"type":"user","sessionId":"s1","timestamp":"2026-01-20T11:57:17Z","message":{"role":"user","content":"Deploys of the shop happen on Tuesdays"}}"#,
        r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Read","input":{}}]}}"#,
        r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"the page"}]}}"#,
        r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"The release checklist is in the wiki."}]}}"#,
        r#"{"type":"user","message":{"role":"user","content":"ok, thanks"}}"#,
    ];
    let scratch = Scratch::new(&[("chat.jsonl", &lines.join("\n"))]);
    let done = memory(&scratch, &["import", "chat.jsonl", "--json"]).ok().json();
    let counts = ["new", "same", "messages", "skippedLines"].map(|name| done[name].as_u64());
    assert_eq!(counts, [Some(2), Some(0), Some(2), Some(4)], "{done:#}");
    let again = memory(&scratch, &["import", "chat.jsonl"]).ok();
    let said =
        "imported 0 memories, skipped 2 duplicates; read 2 messages, left out 4 other lines\n";
    assert_eq!(again.stdout, said);
    let list = memory(&scratch, &["list", "--json"]).ok().json();
    let found = |text: &str| {
        let all = list.as_array().unwrap();
        all.iter().find(|one| one["text"] == text).unwrap_or_else(|| panic!("{list:#}"))
    };
    let said = found("User: Deploys of the shop happen on Tuesdays");
    assert_eq!(
        (&said["createdAt"], &said["source"]),
        (&"2026-01-20T11:57:17Z".into(), &"chat s1".into())
    );
    assert_eq!(said["tainted"], false);
    assert_eq!(found("Assistant: The release checklist is in the wiki.")["tainted"], true);
    scratch.write(
        "bad.jsonl",
        "{\"role\": \"user\", \"text\": \"fine words\"}\n{\"text\": \"whose?\"}\n",
    );
    let run = memory(&scratch, &["import", "bad.jsonl"]);
    let said = run.fails(2);
    assert!(said.contains("bad.jsonl:2: a message needs a `role`"), "{said}");
}

#[test]
fn what_cannot_be_a_memory_is_refused() {
    let scratch = Scratch::new(&[]);
    for (args, said) in [
        (&["add", " "][..], "the text of a memory must be some text"),
        (&["add", &"x".repeat(20_000)], "the limit is 16384"),
        (&["add", "x", "--kind", "Two Words"], "the kind of a memory must be a lower-case word"),
        (&["add", "x", "--date", "2026-02-30"], "the date of a memory must be a day"),
        (&["add", "x", "--importance", "7"], "the importance of a memory must be a number"),
        (&["search", "x", "--min-score", "7"], "expected a number from 0 to 1"),
    ] {
        let run = memory(&scratch, args);
        assert!(run.fails(2).contains(said), "{}", run.stderr);
    }
    assert!(!scratch.join(".foreword").exists());
}

#[test]
fn a_killed_import_leaves_whole_memories() {
    let scratch = Scratch::new(&[]);
    add(&scratch, &["before the import"]);
    let mut child = command()
        .args(["memory", "import", "-", "--jsonl"])
        .current_dir(scratch.path())
        .env("FOREWORD_CONFIG_DIR", scratch.config_dir())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let database = scratch.join(".foreword/foreword.db");
    let before = std::fs::metadata(&database).unwrap().len();
    let mut killed = false;
    for number in 0..200_000 {
        let line = format!("{{\"text\": \"sentence {number} of a long import\"}}\n");
        if input.write_all(line.as_bytes()).is_err() {
            break;
        }
        if number % 500 == 0 && std::fs::metadata(&database).unwrap().len() > before {
            // A batch is in, and the next one under way.
            child.kill().unwrap();
            killed = true;
            break;
        }
    }
    assert!(killed);
    child.wait().unwrap();
    scratch.run(&["audit", "verify"]);
    let export = memory(&scratch, &["export"]).ok().stdout;
    let count = export.lines().count();
    assert_eq!((count - 1) % 4096, 0, "{count}");
    let answer = search(&scratch, &["before the import"]);
    assert_eq!(texts(&answer)[0], "before the import");
    assert_eq!(answer["visible"], count);
    assert_eq!(add(&scratch, &["after the import"]).len(), 10);
}

#[test]
fn a_database_of_a_newer_version_is_refused() {
    let scratch = Scratch::new(&[]);
    add(&scratch, &["something"]);
    let database = scratch.join(".foreword/foreword.db");
    let sql = rusqlite::Connection::open(&database).unwrap();
    sql.pragma_update(None, "user_version", 99).unwrap();
    for args in [&["add", "x"][..], &["search", "x"], &["list"], &["export"], &["reindex"]] {
        assert!(memory(&scratch, args).fails(2).contains("made by a newer foreword"), "{args:?}");
    }
}

#[test]
fn a_damaged_vector_is_told_and_made_anew() {
    let scratch = Scratch::new(&[]);
    let id = add(&scratch, &["Ada prefers tabs over spaces"]);
    let sql = rusqlite::Connection::open(scratch.join(".foreword/foreword.db")).unwrap();
    sql.execute_batch("UPDATE memory_vectors SET vector = zeroblob(length(vector))").unwrap();
    let run = memory(&scratch, &["search", "tabs"]);
    assert!(run.fails(2).contains("foreword memory reindex --all"), "{}", run.stderr);
    assert!(memory(&scratch, &["show", &id]).ok().stdout.contains("Ada prefers"));
    let made = memory(&scratch, &["reindex", "--all", "--json"]).ok().json();
    assert_eq!(made["done"], 1);
    assert_eq!(texts(&search(&scratch, &["tabs"])).len(), 1);
}

#[test]
fn help_has_examples_and_two_can_write_at_once() {
    let help = crate::support::Foreword::new(&["memory", "import", "--help"]).run().ok().stdout;
    assert!(help.contains("Examples:") && help.contains("foreword memory import memories.jsonl"));
    let scratch = Scratch::new(&[]);
    add(&scratch, &["first"]);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let scratch = &scratch;
            scope.spawn(move || {
                for number in 0..5 {
                    add(scratch, &[&format!("text {number} of thread {thread}")]);
                }
            });
        }
    });
    let all = memory(&scratch, &["list", "-n", "100", "--json"]).ok().json();
    let ids: std::collections::BTreeSet<&str> =
        all.as_array().unwrap().iter().map(|entry| entry["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 21);
}
