//! Appending from many threads, and reading the log.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use crate::fixture::{Fixture, NOW_MS};
use foreword_store::{
    Event, GroupWriter, Head, LogFilter, Note, Options, Order, Outcome, StoreError, Ticket,
};

fn writer(fixture: &Fixture) -> GroupWriter {
    let options = Options::default();
    GroupWriter::start(&fixture.database(), fixture.key(), fixture.heads(), options).unwrap()
}

fn event(subject: &str) -> Event {
    Event::new("agent:main", "skill.propose", subject, Outcome::Pending)
}

fn submit(writer: &GroupWriter, subject: &str) -> Ticket<Head, StoreError> {
    let event = event(subject);
    writer.submit(NOW_MS, move |w| w.audit(&event)).unwrap()
}

#[test]
fn every_acknowledged_entry_is_in_the_log_once() {
    let fixture = Fixture::new();
    let writer = writer(&fixture);
    let acknowledged: BTreeSet<i64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|number| {
                let writer = &writer;
                scope.spawn(move || {
                    let append = |_| submit(writer, &number.to_string()).wait().unwrap().seq;
                    (0..100).map(append).collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(acknowledged, (1..=800).collect());
    drop(writer);
    let verification = fixture.open().verify(&[]).unwrap();
    assert!(verification.is_clean());
    assert_eq!((verification.entries, verification.notes), (800, vec![]));
}

#[test]
fn what_was_handed_over_is_written_before_the_writer_stops() {
    let fixture = Fixture::new();
    let writer = writer(&fixture);
    for _ in 0..500 {
        // Nobody waits for these.
        drop(submit(&writer, "x"));
    }
    drop(writer);
    assert_eq!(fixture.open().head().unwrap().seq, 500);
}

#[test]
fn a_failed_batch_is_told_to_everyone_in_it() {
    let fixture = Fixture::new();
    let writer = writer(&fixture);
    submit(&writer, "x").wait().unwrap();
    fixture
        .sql()
        .execute_batch("DROP TRIGGER audit_keeps; DELETE FROM audit; DELETE FROM meta")
        .unwrap();
    let tickets: Vec<_> = (0..3).map(|_| submit(&writer, "x")).collect();
    for ticket in tickets {
        let error = ticket.wait().unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
        assert!(error.to_string().contains("is damaged"), "{error}");
        assert!(error.hint().is_some());
    }
}

#[test]
fn stores_and_writers_share_one_log() {
    let fixture = Fixture::new();
    let writer = writer(&fixture);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| crate::fixture::append(&fixture.open(), 1, 50));
            scope.spawn(|| (0..50).all(|_| submit(&writer, "x").wait().is_ok()));
        }
    });
    drop(writer);
    let verification = fixture.open().verify(&[]).unwrap();
    assert!(verification.is_clean(), "{:?}", verification.faults);
    assert_eq!(verification.entries, 300);
}

#[test]
fn the_log_is_read_in_parts() {
    let fixture = Fixture::new();
    let store = fixture.with_entries(9);
    let seqs = |filter: LogFilter| -> Vec<i64> {
        let entries = store.entries(&filter).unwrap();
        entries.iter().map(|entry| entry.seq).collect()
    };
    let all = LogFilter::default;
    assert_eq!(seqs(all()), [9, 8, 7, 6, 5, 4, 3, 2, 1]);
    assert_eq!(seqs(LogFilter { limit: Some(2), before: Some(5), ..all() }), [4, 3]);
    assert_eq!(
        seqs(LogFilter { since: Some(NOW_MS + 7), order: Order::OldestFirst, ..all() }),
        [7, 8, 9]
    );
    let acts = |prefix: &str| LogFilter { action_prefix: Some(prefix.to_owned()), ..all() };
    assert_eq!(seqs(acts("skill.act1")), [7, 4, 1]);
    assert_eq!(seqs(acts("skill.")).len(), 9);
    assert_eq!(seqs(acts("SKILL.")).len(), 0);
    assert_eq!(seqs(acts("%")).len(), 0);

    let mut read = 0;
    store
        .log(&all(), |_| {
            read += 1;
            if read == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
    assert_eq!(read, 3);

    let entry = store.entries(&LogFilter { limit: Some(1), ..all() }).unwrap().remove(0);
    assert_eq!(entry.hash, store.head().unwrap().hash.to_string());
    assert_eq!(
        serde_json::to_value(&entry).unwrap(),
        serde_json::json!({
            "seq": 9, "at": NOW_MS + 9, "actor": "user:ada", "action": "skill.act0",
            "subject": "skill-9", "outcome": "done", "detail": { "number": 9 }, "hash": entry.hash,
        })
    );
}

#[test]
fn the_database_itself_refuses_to_forget() {
    let fixture = Fixture::new();
    drop(fixture.with_entries(2));
    for statement in ["DELETE FROM audit", "UPDATE audit SET actor = 'x'"] {
        let error = fixture.sql().execute(statement, []).unwrap_err();
        assert_eq!(error.to_string(), "the audit log only grows");
    }
}

#[test]
fn nothing_is_written_before_the_head_was_compared() {
    let fixture = Fixture::new();
    let store = fixture.with_entries(1);
    let heads = fixture.config().join("heads");
    std::fs::remove_dir_all(&heads).unwrap();
    std::fs::write(&heads, "not a directory").unwrap();
    store.write(NOW_MS, |w| w.audit(&event("x"))).unwrap_err();
    assert_eq!(store.head().unwrap().seq, 1);
}

#[test]
fn a_head_that_cannot_be_written_down_does_not_undo_the_change() {
    let fixture = Fixture::new();
    let store = fixture.with_entries(1);
    let lock = fixture.config().join("heads/lock");
    std::fs::remove_file(&lock).unwrap();
    std::fs::create_dir(&lock).unwrap();
    store.write(NOW_MS, |w| w.audit(&event("x"))).unwrap();
    assert_eq!(store.head().unwrap().seq, 2);
    let problem = store.head_problem().unwrap();
    assert!(problem.starts_with("could not open"), "{problem}");
    let verification = store.verify(&[]).unwrap();
    assert!(verification.is_clean());
    assert_eq!(verification.notes, [Note::HeadBehind { entries: 1 }]);

    std::fs::remove_dir(&lock).unwrap();
    store.write(NOW_MS, |w| w.audit(&event("x"))).unwrap();
    assert_eq!(store.head_problem(), None);
    assert_eq!(store.verify(&[]).unwrap().notes, []);
}
