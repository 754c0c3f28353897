//! What a person gets to see of a turn, beside its answer and in it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    missing_docs
)]

mod support;

use serde_json::json;
use support::host::{KEY, on_host};
use support::model::{Answer, ModelServer, text, tool};
use support::{Foreword, Scratch};

fn workspace(config: &str) -> Scratch {
    Scratch::new(&[
        ("foreword.toml", &format!("[model]\nname = 'm'\n{config}")),
        ("SOUL.md", "Calm.\n"),
    ])
}

fn shown(scratch: &Scratch, model: &ModelServer, args: &[&str]) -> Foreword {
    on_host(scratch, model, &[&["run", "--trust", "--session", "s"], args].concat())
}

#[test]
fn a_turn_that_ran_out_of_steps_says_so() {
    let scratch = workspace("[host]\nmax_steps = 2\n");
    let model = ModelServer::saying(vec![tool("bash", json!({"command": "true"}))]);
    let run = shown(&scratch, &model, &["-m", "go on for ever", "--json"]).run();
    assert_eq!(model.asked().len(), 2);
    let said = "the agent stopped after 2 calls of the model (host.max_steps)";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    assert_eq!(run.json()["stopReason"], "max_steps");
}

#[test]
fn an_answer_that_is_empty_is_said_to_be() {
    let scratch = workspace("");
    let model = ModelServer::saying(vec![text(" ")]);
    let run = shown(&scratch, &model, &["-m", "say nothing", "--json"]).run();
    assert!(run.stderr.contains("the agent ended without an answer"), "{}", run.stderr);
    assert_eq!(run.json()["stopReason"], "end_turn");
}

#[test]
fn the_texts_of_steps_and_the_tools_between_them_are_in_order() {
    let scratch = workspace("");
    let call = |text: &str, command: &str| {
        Answer::Tools(text.to_owned(), vec![("bash".to_owned(), json!({"command": command}))])
    };
    let answers =
        || vec![call("Hm.", "true"), call("I'll look at 0123abcd", "false"), text("Fin.")];
    let model = ModelServer::saying(answers());
    let said = shown(&scratch, &model, &["-m", "look"]).together();
    let at = |part: &str| said.find(part).unwrap_or_else(|| panic!("{part}: {said}"));
    let places =
        [at("Hm."), at("\"true\""), at("I'll look at 0123abcd"), at("\"false\""), at("Fin.")];
    assert!(places.is_sorted(), "{said}");
    let model = ModelServer::saying(answers());
    let run = shown(&scratch, &model, &["-m", "look", "--json"]).run();
    assert_eq!(run.json()["answer"], "Hm.\n\nI'll look at 0123abcd\n\nFin.");
}

#[test]
fn keys_in_what_a_tool_is_called_with_are_neither_shown_nor_kept() {
    let scratch = workspace("");
    let key = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let command = json!({"command": format!("echo {key} {KEY}")});
    let model = ModelServer::saying(vec![tool("bash", command), text("Done."), text("Again.")]);
    let said = shown(&scratch, &model, &["-m", "use a key"]).together();
    assert!(said.contains("→ bash") && !said.contains(&key) && !said.contains(KEY), "{said}");
    shown(&scratch, &model, &["-m", "and now?"]).run();
    let raw = &model.asked()[2].raw;
    assert!(raw.contains("tool_use") && !raw.contains(&key) && !raw.contains(KEY), "{raw}");
}
