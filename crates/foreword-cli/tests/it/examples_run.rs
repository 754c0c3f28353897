//! The workspaces in `examples/`, run as agents against a model on loopback.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::Scratch;
use crate::support::host::{KEY, done, on_record};
use crate::support::model::{Asked, ModelServer, text, tool};

/// The workspaces in `examples/`.
fn examples() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(crate::support::example("")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = paths.filter(|p| p.join("foreword.toml").exists()).collect();
    found.sort();
    found
}

/// The agents of a workspace; the default one where it has none.
fn agents(example: &std::path::Path) -> Vec<Option<String>> {
    let Ok(entries) = std::fs::read_dir(example.join("agents")) else { return vec![None] };
    let mut ids: Vec<Option<String>> =
        entries.map(|entry| Some(entry.unwrap().file_name().into_string().unwrap())).collect();
    ids.sort();
    ids
}

fn offered(asked: &Asked) -> Vec<String> {
    let tools = asked.body["tools"].as_array().into_iter().flatten();
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// A call that a tool of the sandbox or of the host has to answer.
fn a_call(offered: &[String]) -> (&'static str, Value) {
    let has = |name: &str| offered.iter().any(|offered| offered == name);
    match () {
        () if has("read") => ("read", json!({"path": "foreword.toml"})),
        () if has("task_create") => ("task_create", json!({"title": "Try the example"})),
        () => ("audit_report", json!({"event": "tried the example"})),
    }
}

#[test]
fn every_agent_of_every_example_does_its_work() {
    let mut ran = 0;
    for path in examples() {
        for agent in agents(&path) {
            let scratch = Scratch::copy_of(&path);
            let model = ModelServer::start(|number, asked| match number {
                0 => {
                    let (name, input) = a_call(&offered(asked));
                    tool(name, input)
                }
                _ => text("It works."),
            });
            let what = format!("{} {agent:?}", path.display());
            let mut args = vec!["--model", "m", "--session", "a", "-m", "Try it out."];
            args.extend(agent.iter().flat_map(|agent| ["--agent", agent.as_str()]));
            let report = done(&scratch, &model, &args);
            assert_eq!(report["answer"], "It works.", "{what}: {report}");
            let asked = model.asked();
            assert_eq!(asked.len(), 2, "{what}");
            let (name, _) = a_call(&offered(&asked[0]));
            assert!(on_record_of(&scratch, name), "{what}: {name}");
            // What the prompt says can be called is offered.
            let system = asked[0].system().concat();
            assert!(system.len() > 200, "{what}: {system}");
            for action in foreword_protocol::actions().iter().filter(|action| action.is_tool()) {
                let told = system.contains(&format!("`{}`", action.name));
                assert!(
                    !told || offered(&asked[0]).iter().any(|name| name == action.name),
                    "{what}: the prompt names `{}`, which is not offered",
                    action.name
                );
            }
            ran += 1;
        }
    }
    assert!(ran >= 11, "{ran} agents in examples/");
}

/// Whether the call came through: actions of the host are on record, tools of the sandbox answered.
fn on_record_of(scratch: &Scratch, tool: &str) -> bool {
    tool == "read" || on_record(scratch, &format!("ipc.{tool}"), "done")
}

/// A tool that an example lists is one that its agents can call.
#[test]
fn no_example_lists_a_tool_that_cannot_be_called() {
    for path in examples() {
        let scratch = Scratch::copy_of(&path);
        let lint = scratch.run(&["lint"]);
        assert_eq!(lint.status, 0, "{}: {}{}", path.display(), lint.stdout, lint.stderr);
        assert!(!lint.stdout.contains("uncallable-tool"), "{}: {}", path.display(), lint.stdout);
    }
}

/// The programs of the examples do what their descriptions say.
#[test]
fn the_programs_of_examples_answer() {
    type Call = (&'static str, Value, &'static str);
    let cases: [(&str, Vec<Call>); 5] = [
        (
            "companion",
            vec![
                (
                    "calendar_add",
                    json!({"start": "2026-02-26T09:00", "end": "2026-02-26T10:00", "title": "Dentist\t; rm -rf ."}),
                    "Added.",
                ),
                (
                    "calendar_list",
                    json!({"from": "2026-02-26", "to": "2026-02-26"}),
                    "2026-02-26T09:00 to 2026-02-26T10:00: Dentist ; rm -rf .\n2026-02-26T16:45 to 2026-02-26T17:30: Swimming lesson, Mila (Westbad)\n",
                ),
                ("note_search", json!({"text": "boiler"}), "Herr Kaltenbach"),
                ("message_draft", json!({"to": "Jonas", "text": "Late."}), "Saved as a draft."),
            ],
        ),
        (
            "guarded",
            vec![
                ("mail_list", json!({"filter": "lease"}), "2026-02-25-bergman: Question"),
                (
                    "mail_read",
                    json!({"message": "2026-02-24-tingsratt"}),
                    "<external_content source=\"mail_read\"",
                ),
                ("mail_read", json!({"message": "../foreword.toml"}), "no such message"),
                ("document_read", json!({"matter": "2026-014", "document": ""}), "chronology.txt"),
            ],
        ),
        (
            "support-bot",
            vec![
                (
                    "order_lookup",
                    json!({"number": "F-10442", "email": "Jo@example.com"}),
                    "Order F-10442: Hand fork, ash",
                ),
                (
                    "order_lookup",
                    json!({"number": "F-10442", "email": "lena@example.com"}),
                    "No order with this number",
                ),
                ("article_search", json!({"text": "warranty"}), "two years for tools"),
            ],
        ),
        (
            "tideline",
            vec![
                (
                    "metric_query",
                    json!({"metric": "booking_p99_ms", "from": "2026-02-27T17", "to": "2026-02-27T19"}),
                    "3 values: least 412, mean 999.0, most 1930",
                ),
                (
                    "deploy_start",
                    json!({"version": "2026.8.2", "region": "faro"}),
                    "needs permission",
                ),
                ("incident_update", json!({"text": "Card time-outs."}), "Posted."),
            ],
        ),
        (
            "semantic",
            vec![("issue_read", json!({"number": "42"}), "parse_config accepts an empty file")],
        ),
    ];
    for (name, calls) in cases {
        let scratch = Scratch::copy_of(&crate::support::example(name));
        let mut answers: Vec<_> =
            calls.iter().map(|(called, input, _)| tool(called, input.clone())).collect();
        answers.push(text("Done."));
        let model = ModelServer::saying(answers);
        done(&scratch, &model, &["--model", "m", "-m", "Try it out."]);
        let asked = model.asked();
        for (at, (called, _, expected)) in calls.iter().enumerate() {
            let said = asked[at + 1].last_message();
            assert!(said.contains(expected), "{name} {called}: {said}");
        }
    }
}

/// No example names a model of one provider, so that each runs with the key a person has.
#[test]
fn every_example_runs_with_either_key() {
    for path in examples() {
        let agent = agents(&path).remove(0);
        for (variables, default) in [
            (["ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"], "claude-sonnet-5-5"),
            (["OPENAI_BASE_URL", "OPENAI_API_KEY"], "gpt-5.5"),
        ] {
            let scratch = Scratch::copy_of(&path);
            let model = ModelServer::saying(vec![text("It works.")]);
            let mut args = vec!["run", "-q", "--trust", "-m", "Try it out."];
            args.extend(agent.iter().flat_map(|agent| ["--agent", agent.as_str()]));
            let run = scratch.command(&args).env("PATH", "/usr/local/bin:/usr/bin:/bin");
            let run = run.env(variables[0], &model.url).env(variables[1], KEY).run();
            assert_eq!(run.status, 0, "{}: {}", path.display(), run.stderr);
            assert_eq!(model.asked()[0].body["model"], default, "{}", path.display());
        }
    }
}

/// What `init` writes must not look like an attack when an agent reads it.
#[test]
fn the_scanner_passes_every_file_that_init_writes() {
    for template in ["standard", "companion", "guarded", "roles", "semantic"] {
        let scratch = Scratch::new(&[]);
        scratch.run(&["init", "-q", "--template", template]).ok();
        let mut files = vec![scratch.path().to_owned()];
        let mut scanned = 0;
        while let Some(path) = files.pop() {
            if path.is_dir() {
                files.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
                continue;
            }
            let is_text = path.extension().is_some_and(|end| end == "md" || end == "toml");
            if is_text {
                let name = path.to_str().unwrap();
                let verdict = scratch.run(&["scan", "--json", name]).json()["verdict"].clone();
                assert_eq!(verdict, "PASS", "{name}");
                scanned += 1;
            }
        }
        assert!(scanned > 5, "{template}: {scanned} files");
    }
}
