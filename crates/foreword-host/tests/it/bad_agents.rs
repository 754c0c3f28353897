//! Agents that are silent, write nonsense, end at once or never: the turn fails with a reason, is on
//! record, and the next one works.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support::{DONE, World};
use foreword_host::{Host, HostError, Observer, PreparedTurn, TurnRequest};
use foreword_store::{SessionId, TurnRange, TurnState};

/// A turn of an agent that is this script while a file `bad` lies in the workspace, and well otherwise.
fn fails(settings: &str, script: &str) -> String {
    let script = format!("if [ -e bad ]; then\n{script}\nexit 0\nfi\n{DONE}");
    let world = World::with_agent(settings, &script);
    let bad = world.workspace().join("bad");
    std::fs::write(&bad, "").unwrap();
    let session = SessionId::parse("s").unwrap();
    let request = TurnRequest {
        message: "hello".to_owned(),
        session: Some(session.clone()),
        ..TurnRequest::default()
    };
    let began = Instant::now();
    let error = world.host.turn(&request, &mut ()).unwrap_err().to_string();
    assert!(began.elapsed() < Duration::from_secs(45), "{:?}: {error}", began.elapsed());
    let turns = || world.host.reader().turns(&session, TurnRange::newest(9)).unwrap();
    assert_eq!(turns().iter().map(|turn| turn.state).collect::<Vec<_>>(), [TurnState::Failed]);
    assert_eq!(turns()[0].reason.as_deref(), Some(error.as_str()));
    assert_eq!(world.run_dirs(), 0);
    std::fs::remove_file(bad).unwrap();
    let report = world.host.turn(&request, &mut ()).unwrap();
    assert_eq!((report.answer.as_str(), report.turn), ("Hello.", 2));
    error
}

#[test]
fn a_silent_agent() {
    let error = fails("silent_seconds = 1", "sleep 60");
    assert_eq!(error, "the agent was silent for 1 s (host.silent_seconds)");
}

#[test]
fn an_agent_that_never_ends() {
    let error = fails(
        "turn_seconds = 1\nsilent_seconds = 1",
        "while :; do sleep 0.2; echo '{\"type\":\"text\",\"text\":\"more \"}'; done",
    );
    assert_eq!(error, "the turn took longer than 1 s (host.turn_seconds)");
}

#[test]
fn an_agent_that_never_stops_talking() {
    let script = "while :; do echo '{\"type\":\"text\",\"text\":\"more \"}'; done";
    let error = fails("turn_seconds = 1", script);
    assert_eq!(error, "the turn took longer than 1 s (host.turn_seconds)");
}

#[test]
fn an_agent_that_says_too_much() {
    let script = "m=$(head -c 1000000 /dev/zero | tr '\\0' x)\nwhile :; do printf '{\"type\":\"text\",\"text\":\"%s\"}\\n' \"$m\"; done";
    let error = fails("", script);
    assert_eq!(error, "the agent wrote more than 4194304 bytes in one turn");
}

#[test]
fn an_agent_that_writes_nonsense() {
    let error = fails("", "echo 'Segmentation fault (core dumped)'; sleep 60");
    assert_eq!(error, "invalid output from the agent: Segmentation fault (core dumped)");
    let error = fails("", "head -c 20000000 /dev/zero; sleep 60");
    assert_eq!(error, "invalid output from the agent: a line is longer than 16777216 bytes");
    let error = fails("", "printf '{\"type\":\"surprise\"}\\n'; sleep 60");
    assert!(error.contains("from the agent: {\"type\":\"surprise\"}"), "{error}");
}

#[test]
fn an_agent_that_ends_at_once() {
    let error = fails("", "exit 7");
    assert_eq!(error, "the agent exited without an answer (exit status: 7)");
    let error = fails("", "echo 'no such library' >&2; exit 1");
    assert_eq!(error, "the agent exited without an answer (exit status: 1): no such library");
    let error = fails("", "kill -9 $$");
    assert!(error.starts_with("the agent exited without an answer"), "{error}");
    let error = fails("", "printf '{\"type\":\"text\",'");
    assert!(error.starts_with("the agent exited without an answer"), "{error}");
}

#[test]
fn an_agent_that_does_not_end_after_its_last_word_is_ended() {
    let world = World::with_agent("", &format!("{DONE}\nsleep 60"));
    let request = TurnRequest { message: "hello".to_owned(), ..TurnRequest::default() };
    let began = Instant::now();
    let report = world.host.turn(&request, &mut ()).unwrap();
    assert_eq!(report.answer, "Hello.");
    assert!(began.elapsed() < Duration::from_secs(10));
}

/// Runs a turn of its own as soon as another one is prepared.
struct Faster<'h>(&'h Arc<Host>, &'h TurnRequest);

impl Observer for Faster<'_> {
    fn prepared(&mut self, _: &PreparedTurn) {
        self.0.turn(self.1, &mut ()).unwrap();
    }
}

#[test]
fn a_turn_that_was_prepared_too_early_does_not_begin() {
    let world = World::with_agent("", DONE);
    let request = TurnRequest {
        message: "hello".to_owned(),
        session: Some(SessionId::parse("s").unwrap()),
        ..TurnRequest::default()
    };
    world.host.turn(&request, &mut ()).unwrap();
    let error = world.host.turn(&request, &mut Faster(&world.host, &request)).unwrap_err();
    assert!(matches!(error, HostError::SessionChanged { .. }), "{error}");
    assert_eq!(world.host.turn(&request, &mut ()).unwrap().turn, 3);
}
