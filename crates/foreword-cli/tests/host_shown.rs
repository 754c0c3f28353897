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
use support::host::on_host;
use support::model::{ModelServer, text, tool};
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
