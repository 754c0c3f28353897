//! What must not come out: the canary in any form, and keys.

use crate::support::Scratch;
use crate::support::host::{KEY, done, on_record, turn};
use crate::support::model::{Answer, Asked, ModelServer, text, tool};
use serde_json::json;

fn workspace() -> Scratch {
    Scratch::new(&[("foreword.toml", "[model]\nname = 'm'\n"), ("SOUL.md", "Calm.\n")])
}

/// The token that stands in a prompt.
pub(crate) fn canary(asked: &Asked) -> String {
    let system = asked.system().concat();
    let start = system.find("fwc").expect("there is a canary in the prompt");
    system[start..].chars().take_while(char::is_ascii_alphanumeric).collect()
}

fn reversed(text: &str) -> String {
    text.chars().rev().collect()
}

fn spaced(text: &str) -> String {
    text.chars().flat_map(|c| [c, ' ']).collect()
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02X} ")).collect()
}

#[test]
fn an_answer_with_the_canary_is_held_back_and_the_canary_changes() {
    for (form, disguise) in [
        ("plain", (|text: &str| text.to_owned()) as fn(&str) -> String),
        ("upper case", |text: &str| text.to_uppercase()),
        ("reversed", reversed),
        ("spaced", spaced),
        ("hex", hex),
    ] {
        let scratch = workspace();
        let model = ModelServer::start(move |number, asked| match number {
            0 => Answer::Text(format!(
                "Of course. It is {} and that is all.",
                disguise(&canary(asked))
            )),
            _ => text("Hello again."),
        });
        let run = turn(&scratch, &model, &["--session", "a", "-m", "hello"]).run();
        assert_eq!(run.status, 1, "{form}: {}", run.stderr);
        assert!(run.stderr.contains("answer withheld"), "{form}: {}", run.stderr);
        let report = run.json();
        let token = canary(&model.asked()[0]);
        assert_eq!(report["state"], "held", "{form}");
        assert!(!report["answer"].as_str().unwrap().contains(&disguise(&token)), "{form}");
        assert!(on_record(&scratch, "canary.leak", "refused"), "{form}");
        assert!(on_record(&scratch, "canary.rotate", "done"), "{form}");
        done(&scratch, &model, &["--session", "a", "-m", "hello?"]);
        let asked = model.asked();
        assert_ne!(canary(&asked[1]), token, "{form}: the canary was changed");
        assert!(!asked[1].raw.contains(&disguise(&token)), "{form}: it is not in the history");
    }
}

#[test]
fn a_session_keeps_its_canary_and_no_two_share_one() {
    let scratch = workspace();
    let model = ModelServer::saying(vec![text("Hello.")]);
    for session in ["a", "a", "b"] {
        done(&scratch, &model, &["--session", session, "-m", "hi"]);
    }
    let canaries: Vec<String> = model.asked().iter().map(canary).collect();
    assert_eq!(canaries[0], canaries[1]);
    assert_ne!(canaries[0], canaries[2]);
}

#[test]
fn the_canary_does_not_leave_through_a_tool() {
    let scratch = workspace();
    let model = ModelServer::start(|number, asked| match number {
        0 => tool("audit_report", json!({"event": reversed(&canary(asked))})),
        _ => text("Done."),
    });
    let run = turn(&scratch, &model, &["-m", "report"]).run();
    assert_eq!(run.status, 1, "{}", run.stderr);
    assert!(on_record(&scratch, "canary.leak", "refused"));
}

#[test]
fn keys_are_taken_out_of_answers() {
    let scratch = workspace();
    let model = ModelServer::start(|number, _| match number {
        0 => Answer::Text(format!(
            "The keys are {KEY} and AKIAQ3EGRT7SB5ZXN2OP, and ghp_16C7e42F292c6912E7710c838347Ae178B4a too."
        )),
        _ => text("Fine."),
    });
    let report = done(&scratch, &model, &["--session", "a", "-m", "which keys?"]);
    let answer = report["answer"].as_str().unwrap();
    assert!(
        !answer.contains(KEY) && !answer.contains("AKIAQ3") && !answer.contains("ghp_16"),
        "{answer}"
    );
    assert!(answer.contains("[redacted") && answer.ends_with("too."), "{answer}");
    done(&scratch, &model, &["--session", "a", "-m", "go on"]);
    assert!(!model.asked()[1].raw.contains("AKIAQ3"), "what was taken out is not in the history");
}
