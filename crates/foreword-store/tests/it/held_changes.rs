//! Held changes: bounded, found by their id, decided once.

use crate::fixture::{Fixture, NOW_MS};
use foreword_store::{
    FileVersion, HeldChangeId, HeldState, MAX_HELD_BYTES, MAX_PENDING_HELD, NewHeldChange,
    SessionId, Store, StoreError,
};

fn new(path: &str, content: &[u8]) -> NewHeldChange {
    NewHeldChange {
        path: path.to_owned(),
        read_by: "git".to_owned(),
        tainted: true,
        session: SessionId::parse("main").unwrap(),
        turn: 3,
        by: "agent:main".to_owned(),
        old: FileVersion::Absent,
        new: FileVersion::File { mode: 0o755, content: content.to_vec() },
    }
}

fn add(store: &Store, new: &NewHeldChange) -> Result<HeldChangeId, StoreError> {
    store.write(NOW_MS, |w| w.held_add(new, NOW_MS))
}

#[test]
fn a_change_is_decided_once_and_then_its_content_is_gone() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let hook = new(".husky/pre-commit", b"#!/bin/sh\n\xff");
    let id = add(&store, &hook).unwrap();
    let link = NewHeldChange {
        old: FileVersion::Link { target: b"a".to_vec() },
        new: FileVersion::Absent,
        ..new(".envrc", b"")
    };
    let other = add(&store, &link).unwrap();
    let found = store.held_change(&id.as_str()[..9]).unwrap();
    assert_eq!((found.state, found.tainted, found.turn), (HeldState::Pending, true, 3));
    assert_eq!(store.held_versions(&id).unwrap(), Some((hook.old, hook.new)));
    assert_eq!(store.held_versions(&other).unwrap(), Some((link.old, link.new)));
    let all = store.held_changes(Some(HeldState::Pending)).unwrap();
    assert_eq!(
        all.iter().map(|held| held.path.as_str()).collect::<Vec<_>>(),
        [".husky/pre-commit", ".envrc"]
    );

    let decide = |approve| {
        store.write(NOW_MS, |w| w.held_decide(id.as_str(), approve, "user:ada", Some("ok"), NOW_MS))
    };
    let decided = decide(true).unwrap();
    assert_eq!(
        (decided.state, decided.decision_reason.as_deref()),
        (HeldState::Approved, Some("ok"))
    );
    assert!(matches!(decide(false), Err(StoreError::Decided { found: "approved", .. })));
    assert_eq!(store.held_versions(&id).unwrap(), None);
}

#[test]
fn a_session_has_one_waiting_change_of_a_file_under_a_new_id() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let first = add(&store, &new(".envrc", b"one")).unwrap();
    let second = add(&store, &new(".envrc", b"two")).unwrap();
    assert_ne!(first, second);
    assert!(matches!(store.held_change(first.as_str()), Err(StoreError::NoSuch { .. })));
    let elsewhere =
        NewHeldChange { session: SessionId::parse("other").unwrap(), ..new(".envrc", b"three") };
    add(&store, &elsewhere).unwrap();
    assert_eq!(store.held_changes(None).unwrap().len(), 2);
}

#[test]
fn number_and_size_are_bounded() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let large = new(".envrc", &vec![0; MAX_HELD_BYTES + 1]);
    assert!(matches!(add(&store, &large), Err(StoreError::TooLong { .. })));
    store
        .write(NOW_MS, |w| {
            for number in 0..MAX_PENDING_HELD {
                w.held_add(&new(&format!(".husky/{number}"), b"x"), NOW_MS)?;
            }
            Ok::<_, StoreError>(())
        })
        .unwrap();
    assert!(matches!(add(&store, &new(".envrc", b"x")), Err(StoreError::TooMany { .. })));
    add(&store, &new(".husky/1", b"y")).unwrap();
}
