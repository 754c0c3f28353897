//! Sessions and their turns: kept, ended once, read within limits.

use crate::fixture::{Fixture, NOW_MS, new_session, session};
use foreword::Usage;
use foreword_store::{
    FinishedTurn, MAX_ANSWER_BYTES, MAX_CANARIES, MAX_CONTENT_TOKENS, MAX_MESSAGE_BYTES,
    MAX_TURN_BYTES, NewSession, Reader, SessionId, Store, StoreError, TurnEnd, TurnNumber,
    TurnRange, TurnState, TurnUsage,
};

const OWNER: &str = "pid 4711 since 99 boot 0f";

/// Four kinds of tokens in the ratio 1 to 4.
fn used(unit: u64, calls: u64) -> TurnUsage {
    let tokens = Usage {
        input_tokens: unit,
        output_tokens: 2 * unit,
        cache_read_tokens: 3 * unit,
        cache_write_tokens: 4 * unit,
    };
    TurnUsage { tokens, calls }
}

fn finished(answer: &str) -> FinishedTurn {
    FinishedTurn {
        messages: format!(r#"[{{"role":"assistant","content":"{answer}"}}]"#),
        answer: answer.to_owned(),
        usage: used(1, 5),
        state: TurnEnd::Done,
        at: NOW_MS + 50,
    }
}

fn begin(store: &Store, id: &SessionId, message: &str) -> Result<TurnNumber, StoreError> {
    store.write(NOW_MS, |w| w.turn_begin(id, message, OWNER, NOW_MS + 10))
}

fn finish(
    store: &Store,
    id: &SessionId,
    turn: TurnNumber,
    finished: &FinishedTurn,
) -> Result<(), StoreError> {
    store.write(NOW_MS, |w| w.turn_finish(id, turn, finished))
}

#[test]
fn a_session_is_read_back_as_it_was_stored() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let parent = session(&store, "parent");
    let new = NewSession {
        agent: None,
        user: None,
        parent: Some(parent.clone()),
        depth: 1,
        ..new_session("child")
    };
    store.write(NOW_MS, |w| w.session_create(&new, NOW_MS + 7)).unwrap();
    drop(store);

    let reader = Reader::open(&fixture.database()).unwrap();
    let found = reader.session(&new.id).unwrap().unwrap();
    assert_eq!((found.agent.as_deref(), found.user.as_deref()), (None, None));
    assert_eq!((found.parent.as_ref(), found.depth), (Some(&parent), 1));
    assert_eq!((found.runner.as_str(), found.channel.as_str()), ("native", "terminal"));
    assert_eq!((found.created_at, found.last_at, found.turns), (NOW_MS + 7, NOW_MS + 7, 0));
    assert_eq!(found.canary(), "CANARY-child");
    assert_eq!(reader.session(&SessionId::parse("other").unwrap()).unwrap(), None);
}

#[test]
fn a_session_that_cannot_be_is_refused() {
    let fixture = Fixture::new();
    let store = fixture.open();
    session(&store, "there");
    let refused = |new: &NewSession| {
        store.write(NOW_MS, |w| w.session_create(new, NOW_MS)).unwrap_err().to_string()
    };
    assert_eq!(refused(&new_session("there")), "session `there` already exists");
    let orphan =
        NewSession { parent: Some(SessionId::parse("gone").unwrap()), ..new_session("orphan") };
    assert_eq!(refused(&orphan), "there is no session `gone`");
    let canary = NewSession { canary: "two words".to_owned(), ..new_session("x") };
    assert_eq!(refused(&canary), "the canary must be ASCII characters without spaces");
    let long = NewSession { runner: "r".repeat(300), ..new_session("x") };
    assert_eq!(refused(&long), "the name of a runner is 300 bytes long; the limit is 256");
    assert_eq!(store.sessions(10).unwrap().len(), 1);
}

#[test]
fn earlier_canaries_are_still_known() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let id = session(&store, "main");
    for number in 0..10 {
        store.write(NOW_MS, |w| w.session_canary(&id, &format!("new-{number}"))).unwrap();
    }
    let found = store.session(&id).unwrap().unwrap();
    assert_eq!(found.canary(), "new-9");
    let expected: Vec<_> = (2..10).rev().map(|number| format!("new-{number}")).collect();
    assert_eq!(found.canaries(), expected);
    assert_eq!(found.canaries().len(), MAX_CANARIES);

    // One that comes back is there once.
    store.write(NOW_MS, |w| w.session_canary(&id, "new-5")).unwrap();
    let found = store.session(&id).unwrap().unwrap();
    assert_eq!(found.canary(), "new-5");
    assert_eq!(found.canaries().iter().filter(|canary| *canary == "new-5").count(), 1);

    let gone = SessionId::parse("gone").unwrap();
    let error = store.write(NOW_MS, |w| w.session_canary(&gone, "x")).unwrap_err();
    assert!(matches!(error, StoreError::NoSuchSession { .. }), "{error}");
}

#[test]
fn sessions_are_listed_by_when_something_happened_last() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let ids: Vec<_> = (0..5).map(|number| session(&store, &format!("s{number}"))).collect();
    store.write(NOW_MS, |w| w.session_touch(&ids[1], NOW_MS + 100)).unwrap();
    // A clock that went back does not make it older.
    store.write(NOW_MS, |w| w.session_touch(&ids[1], NOW_MS - 100)).unwrap();
    begin(&store, &ids[3], "hello").unwrap();
    let listed = |limit| -> Vec<String> {
        let sessions = store.sessions(limit).unwrap();
        sessions.iter().map(|session| session.id.to_string()).collect()
    };
    assert_eq!(listed(usize::MAX), ["s1", "s3", "s4", "s2", "s0"]);
    assert_eq!(listed(2), ["s1", "s3"]);
    let gone = SessionId::parse("gone").unwrap();
    store.write(NOW_MS, |w| w.session_touch(&gone, NOW_MS)).unwrap_err();
}

#[test]
fn a_turn_ends_exactly_once() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let id = session(&store, "main");
    let turn = begin(&store, &id, "hello").unwrap();
    assert_eq!(turn, TurnNumber(1));
    let running = store.running_turns(None).unwrap();
    assert_eq!((running.len(), running[0].owner.as_str()), (1, OWNER));

    finish(&store, &id, turn, &finished("hi")).unwrap();
    let error = finish(&store, &id, turn, &finished("again")).unwrap_err();
    assert_eq!(error.to_string(), "turn 1 of session `main` is done, not running");
    let error = store
        .write(NOW_MS, |w| w.turn_fail(&id, turn, "late", TurnUsage::default(), NOW_MS))
        .unwrap_err();
    assert!(matches!(error, StoreError::TurnNotRunning { .. }), "{error}");
    let error = finish(&store, &id, TurnNumber(9), &finished("x")).unwrap_err();
    assert_eq!(error.to_string(), "turn 9 of session `main` does not exist");

    let turns = store.turns(&id, TurnRange::newest(10)).unwrap();
    assert_eq!(turns.len(), 1);
    let found = &turns[0];
    assert_eq!((found.number, found.state), (turn, TurnState::Done));
    assert_eq!((found.message.as_str(), found.answer.as_deref()), ("hello", Some("hi")));
    assert_eq!(found.usage, finished("hi").usage);
    assert_eq!((found.began_at, found.ended_at), (NOW_MS + 10, Some(NOW_MS + 50)));
    assert_eq!(store.turn_messages(&id, turn).unwrap(), Some(finished("hi").messages));
    assert_eq!(store.turn_messages(&id, TurnNumber(2)).unwrap(), None);
    assert_eq!(store.running_turns(None).unwrap(), []);
    assert_eq!(store.session(&id).unwrap().unwrap().last_at, NOW_MS + 50);
}

#[test]
fn a_session_does_one_turn_at_a_time_and_the_turn_of_a_dead_host_is_given_up() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let id = session(&store, "main");
    let other = session(&store, "other");
    let turn = begin(&store, &id, "first").unwrap();
    begin(&store, &other, "elsewhere").unwrap();
    let StoreError::TurnRunning { turn: running, owner, .. } =
        begin(&store, &id, "second").unwrap_err()
    else {
        panic!("two turns at once");
    };
    assert_eq!((running, owner.as_str()), (turn, OWNER));

    let abandon = |owner: &str| store.write(NOW_MS, |w| w.turns_abandon(&id, owner, NOW_MS + 90));
    assert_eq!(abandon("another host").unwrap(), 0);
    assert_eq!(abandon(OWNER).unwrap(), 1);
    assert_eq!(abandon(OWNER).unwrap(), 0);
    let turns = store.turns(&id, TurnRange::newest(10)).unwrap();
    assert_eq!((turns[0].state, turns[0].ended_at), (TurnState::Lost, Some(NOW_MS + 90)));
    assert_eq!(store.running_turns(Some(&other)).unwrap().len(), 1);

    // A host that was given up for dead and lives cannot end its turn over the next one.
    assert_eq!(begin(&store, &id, "second").unwrap(), TurnNumber(2));
    finish(&store, &id, turn, &finished("late")).unwrap_err();
    let spent = TurnUsage { tokens: Usage { input_tokens: 7, ..Usage::default() }, calls: 1 };
    store.write(NOW_MS, |w| w.turn_fail(&id, TurnNumber(2), "no\nmodel", spent, NOW_MS)).unwrap();
    let turns = store.turns(&id, TurnRange::newest(1)).unwrap();
    assert_eq!((turns[0].state, turns[0].reason.as_deref()), (TurnState::Failed, Some("no model")));
    assert_eq!(turns[0].usage, spent, "it cost what it cost");
    assert_eq!(store.history(&id, TurnRange::newest(10)).unwrap(), []);
}

#[test]
fn one_of_several_hosts_begins_the_turn() {
    let fixture = Fixture::new();
    let id = session(&fixture.open(), "main");
    let began: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..6)
            .map(|_| scope.spawn(|| usize::from(begin(&fixture.open(), &id, "mine").is_ok())))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(began, 1);
}

#[test]
fn turns_are_read_from_the_newest_back_within_limits() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let id = session(&store, "main");
    for number in 0..6 {
        let turn = begin(&store, &id, "hello").unwrap();
        let state = if number == 4 { TurnEnd::Held } else { TurnEnd::Done };
        let finished = FinishedTurn { state, ..finished(&"x".repeat(1000)) };
        finish(&store, &id, turn, &finished).unwrap();
    }
    begin(&store, &id, "running").unwrap();
    let numbers = |range| -> Vec<u64> {
        store.turns(&id, range).unwrap().iter().map(|turn| turn.number.0).collect()
    };
    assert_eq!(numbers(TurnRange::newest(100)), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(numbers(TurnRange::newest(2)), [6, 7]);
    assert_eq!(numbers(TurnRange::newest(0)), [0; 0]);
    assert_eq!(numbers(TurnRange { newest: 100, bytes: 2100 }), [5, 6, 7]);
    assert_eq!(numbers(TurnRange { newest: 100, bytes: 0 }), [7]);

    let history = |range| -> Vec<(u64, TurnState)> {
        let history = store.history(&id, range).unwrap();
        history.iter().map(|turn| (turn.number.0, turn.state)).collect()
    };
    assert_eq!(
        history(TurnRange::newest(3)),
        [(4, TurnState::Done), (5, TurnState::Held), (6, TurnState::Done)]
    );
    assert_eq!(history(TurnRange { newest: 100, bytes: 1 }), [(6, TurnState::Done)]);
    assert_eq!(store.session(&id).unwrap().unwrap().turns, 7);
}

#[test]
fn what_a_session_cost_is_the_sum_of_its_turns() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let (id, other) = (session(&store, "main"), session(&store, "other"));
    assert_eq!(store.session_usage(&id).unwrap(), TurnUsage::default());
    for session in [&id, &other, &id] {
        let turn = begin(&store, session, "hello").unwrap();
        finish(&store, session, turn, &finished("x")).unwrap();
    }
    let twice = used(2, 10);
    assert_eq!(store.session_usage(&id).unwrap(), twice);

    // What a model claims can still be added up.
    for _ in 0..3 {
        let turn = begin(&store, &id, "hello").unwrap();
        let usage =
            TurnUsage { tokens: Usage { input_tokens: u64::MAX, ..Usage::default() }, calls: 0 };
        finish(&store, &id, turn, &FinishedTurn { usage, ..finished("x") }).unwrap();
    }
    assert_eq!(store.session_usage(&id).unwrap().tokens.input_tokens, 2 + 3 * MAX_CONTENT_TOKENS);
}

#[test]
fn what_is_too_long_or_no_list_of_messages_is_refused_and_the_turn_goes_on() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let id = session(&store, "main");
    let error = begin(&store, &id, &"x".repeat(MAX_MESSAGE_BYTES + 1)).unwrap_err();
    assert_eq!(error.to_string(), "the message is 1048577 bytes long; the limit is 1048576");
    let turn = begin(&store, &id, &"x".repeat(MAX_MESSAGE_BYTES)).unwrap();
    assert_eq!(turn, TurnNumber(1));

    let answer = "x".repeat(MAX_ANSWER_BYTES + 1);
    let error = finish(&store, &id, turn, &finished(&answer)).unwrap_err();
    assert!(error.to_string().starts_with("the answer is"), "{error}");
    let messages = format!("[\"{}\"]", "x".repeat(MAX_TURN_BYTES));
    let error = finish(&store, &id, turn, &FinishedTurn { messages, ..finished("x") }).unwrap_err();
    assert!(error.to_string().starts_with("the list of messages"), "{error}");
    for messages in ["", "{}", "[", "[] []", "null"] {
        let messages = messages.to_owned();
        let error =
            finish(&store, &id, turn, &FinishedTurn { messages, ..finished("x") }).unwrap_err();
        assert_eq!(error.to_string(), "the list of messages of a turn must be a JSON array");
    }
    finish(&store, &id, turn, &finished("x")).unwrap();
    let gone = SessionId::parse("gone").unwrap();
    assert!(matches!(begin(&store, &gone, "x"), Err(StoreError::NoSuchSession { .. })));
}
