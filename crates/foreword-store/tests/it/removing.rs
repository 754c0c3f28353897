//! Sessions that are deleted leave nothing of what was said.

use crate::fixture::{Fixture, NOW_MS, new_session, session};
use foreword_store::{
    Content, Event, FinishedTurn, NewSession, NewTask, Outcome, Provenance, SessionId, Store,
    StoreError, TaskFilter, TurnEnd, TurnUsage,
};

const SECRET: &str = "purple elephants";

/// One turn in which the secret was said, in words long enough for pages of their own.
fn say(store: &Store, id: &SessionId) {
    let long = format!("{SECRET} {}", "and so on ".repeat(2000));
    let turn = store.write(NOW_MS, |w| w.turn_begin(id, SECRET, "host 1", NOW_MS)).unwrap();
    let finished = FinishedTurn {
        messages: serde_json::to_string(&[&long]).unwrap(),
        answer: long,
        usage: TurnUsage::default(),
        state: TurnEnd::Done,
        at: NOW_MS,
    };
    store
        .write(NOW_MS, |w| -> Result<(), StoreError> {
            w.turn_finish(id, turn, &finished)?;
            let content = Content {
                provenance: Provenance::External,
                source: SECRET.to_owned(),
                tokens: 5,
                external: true,
                at: NOW_MS,
            };
            w.content_add(id, Some(turn), &content)?;
            w.refusal_add(id, "skill_propose", &[0; 32], SECRET, SECRET, NOW_MS)?;
            w.audit(&Event::new("agent:a", "turn.finish", id.as_str(), Outcome::Done))?;
            Ok(())
        })
        .unwrap();
}

/// How often the secret is in the files of the database.
fn left(fixture: &Fixture) -> usize {
    let directory = fixture.database().parent().unwrap().to_owned();
    let files = std::fs::read_dir(directory).unwrap();
    let bytes = files.map(|file| std::fs::read(file.unwrap().path()).unwrap_or_default());
    bytes.map(|bytes| bytes.windows(SECRET.len()).filter(|w| *w == SECRET.as_bytes()).count()).sum()
}

#[test]
fn nothing_is_left_of_what_was_said() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let id = session(&store, "main");
    let child = NewSession { parent: Some(id.clone()), depth: 1, ..new_session("child") };
    store.write(NOW_MS, |w| w.session_create(&child, NOW_MS)).unwrap();
    (0..5).for_each(|_| say(&store, &id));
    say(&store, &child.id);
    let task = NewTask {
        title: "Buy milk".to_owned(),
        detail: None,
        assignee: None,
        by: "agent:a".to_owned(),
        session: Some(id.clone()),
        tainted: false,
    };
    store.write(NOW_MS, |w| w.task_create(&task, NOW_MS)).unwrap();
    assert!(left(&fixture) > 10);

    let removed = store.write(NOW_MS, |w| w.session_remove(&id)).unwrap();
    store.erase_deleted().unwrap();
    assert_eq!(removed.sessions, [id.clone(), child.id.clone()]);
    assert_eq!((removed.turns, removed.kept), (6, 1));
    assert_eq!(left(&fixture), 0);
    assert_eq!(store.session(&id).unwrap(), None);
    assert_eq!(store.session(&child.id).unwrap(), None);
    let tasks = store.task_list(&TaskFilter::default(), 10).unwrap();
    assert_eq!((tasks[0].title.as_str(), tasks[0].session.as_ref()), ("Buy milk", None));
    assert!(store.verify(&[]).unwrap().is_clean());
    let again = store.write(NOW_MS, |w| w.session_remove(&id)).unwrap_err();
    assert!(matches!(again, StoreError::NoSuchSession { .. }));
}

#[test]
fn a_session_with_a_running_turn_stays() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let id = session(&store, "main");
    let child = NewSession { parent: Some(id.clone()), depth: 1, ..new_session("child") };
    store.write(NOW_MS, |w| w.session_create(&child, NOW_MS)).unwrap();
    store.write(NOW_MS, |w| w.turn_begin(&child.id, "hi", "host 1", NOW_MS)).unwrap();
    let refused = store.write(NOW_MS, |w| w.session_remove(&id)).unwrap_err();
    assert!(matches!(refused, StoreError::TurnRunning { session, .. } if session == "child"));
    assert!(store.session(&id).unwrap().is_some());
}

#[test]
fn old_sessions_are_found_without_those_of_agents() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let id = session(&store, "main");
    let child = NewSession { parent: Some(id.clone()), depth: 1, ..new_session("child") };
    store.write(NOW_MS, |w| w.session_create(&child, NOW_MS)).unwrap();
    assert_eq!(store.sessions_before(NOW_MS + 1).unwrap(), [id]);
    assert_eq!(store.sessions_before(NOW_MS).unwrap(), []);
}
