//! Many changes in one transaction: each stands alone, and the chain of entries stays whole.

use std::collections::BTreeSet;
use std::sync::mpsc;

use crate::fixture::{Fixture, NOW_MS, new_session, session};
use foreword_store::{
    Content, Event, GroupWriter, Head, LogFilter, NewSession, Options, Order, Outcome, Provenance,
    SessionId, StoreError, Transaction,
};

/// An error of a caller's own.
#[derive(Debug, thiserror::Error)]
enum Refused {
    #[error("no: {0}")]
    No(usize),
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn writer(fixture: &Fixture) -> GroupWriter {
    let options = Options::default();
    GroupWriter::start(&fixture.database(), fixture.key(), fixture.heads(), options).unwrap()
}

fn event(subject: &str) -> Event {
    Event::new("agent:main", "content.add", subject, Outcome::Done)
}

fn add(write: &mut Transaction<'_>, id: &SessionId, source: &str) -> Result<Head, StoreError> {
    let content = Content {
        provenance: Provenance::External,
        source: source.to_owned(),
        tokens: 1,
        external: true,
        at: NOW_MS,
    };
    write.content_add(id, None, &content)?;
    write.audit(&event(source))
}

fn subjects(fixture: &Fixture) -> Vec<String> {
    let action_prefix = Some("content.add".to_owned());
    let filter = LogFilter { order: Order::OldestFirst, action_prefix, ..LogFilter::default() };
    let entries = fixture.open().entries(&filter).unwrap();
    entries.into_iter().map(|entry| entry.subject).collect()
}

/// Keeps the writer busy until the sender is dropped, so that what follows comes into one batch.
fn hold(writer: &GroupWriter) -> mpsc::Sender<()> {
    let (release, held) = mpsc::channel::<()>();
    let (begun, wait) = mpsc::channel();
    drop(writer.submit(NOW_MS, move |_| {
        begun.send(()).unwrap();
        let _ = held.recv();
        Ok::<_, StoreError>(())
    }));
    wait.recv().unwrap();
    release
}

#[test]
fn one_that_fails_is_undone_alone() {
    let fixture = Fixture::new();
    let id = session(&fixture.open(), "main");
    let writer = writer(&fixture);
    let held = hold(&writer);
    let tickets: Vec<_> = (0..50)
        .map(|number: usize| {
            let id = id.clone();
            let change = move |write: &mut Transaction<'_>| -> Result<Head, Refused> {
                let head = add(write, &id, &number.to_string())?;
                // Some fail after they have put entries on record, some with an error of the
                // database.
                match number % 5 {
                    1 => Err(Refused::No(number)),
                    3 => {
                        add(write, &id, "more")?;
                        write.session_create(&new_session("main"), NOW_MS)?;
                        Ok(head)
                    }
                    _ => Ok(head),
                }
            };
            writer.submit(NOW_MS, change).unwrap()
        })
        .collect();
    drop(held);

    let mut seqs = Vec::new();
    for (number, ticket) in tickets.into_iter().enumerate() {
        match (number % 5, ticket.wait()) {
            (1, Err(Refused::No(found))) => assert_eq!(found, number),
            (3, Err(Refused::Store(StoreError::SessionExists { .. }))) => {}
            (0 | 2 | 4, Ok(head)) => seqs.push(head.seq),
            (_, other) => panic!("{number}: {other:?}"),
        }
    }
    // Each with the entry that vouches for the counters of the session.
    assert_eq!(seqs, (1..=30).map(|nth| 2 * nth).collect::<Vec<_>>());
    drop(writer);

    let store = fixture.open();
    let kept: Vec<_> =
        (0..50).filter(|n| !matches!(n % 5, 1 | 3)).map(|n: usize| n.to_string()).collect();
    assert_eq!(subjects(&fixture), kept);
    assert_eq!(store.content_totals(&id).unwrap().total_tokens, 30);
    let verification = store.verify(&[]).unwrap();
    assert!(verification.is_clean(), "{:?}", verification.faults);
    assert_eq!((verification.entries, verification.notes), (60, vec![]));
}

#[test]
fn a_batch_in_which_all_fail_leaves_no_entry_and_no_head() {
    let fixture = Fixture::new();
    let store = fixture.with_entries(2);
    let before = store.head().unwrap();
    let writer = writer(&fixture);
    let held = hold(&writer);
    let tickets: Vec<_> = (0..5)
        .map(|number| {
            writer
                .submit(NOW_MS, move |write| -> Result<(), Refused> {
                    write.audit(&event("x"))?;
                    Err(Refused::No(number))
                })
                .unwrap()
        })
        .collect();
    drop(held);
    for ticket in tickets {
        assert!(matches!(ticket.wait(), Err(Refused::No(_))));
    }
    assert_eq!(store.head().unwrap(), before);
    writer.write(NOW_MS, |write| write.audit(&event("after"))).unwrap();
    drop(writer);
    let verification = store.verify(&[]).unwrap();
    assert!(verification.is_clean(), "{:?}", verification.faults);
    assert_eq!((verification.entries, verification.notes), (3, vec![]));
}

#[test]
fn each_change_has_its_own_time() {
    let fixture = Fixture::new();
    let writer = writer(&fixture);
    let held = hold(&writer);
    let tickets: Vec<_> = (1..=5)
        .map(|number| writer.submit(NOW_MS + number, |w| w.audit(&event("x"))).unwrap())
        .collect();
    drop(held);
    for ticket in tickets {
        ticket.wait().unwrap();
    }
    let filter = LogFilter { order: Order::OldestFirst, ..LogFilter::default() };
    let entries = fixture.open().entries(&filter).unwrap();
    let times: Vec<_> = entries.iter().map(|entry| entry.at - NOW_MS).collect();
    assert_eq!(times, [1, 2, 3, 4, 5]);
}

#[test]
fn writers_stores_and_threads_share_one_log() {
    let fixture = Fixture::new();
    let id = session(&fixture.open(), "main");
    let writers = [writer(&fixture), writer(&fixture)];
    let seqs: Vec<i64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|number| {
                let (writer, id) = (&writers[number % 2], &id);
                scope.spawn(move || {
                    let write = |_| {
                        let id = id.clone();
                        writer.write(NOW_MS, move |w| add(w, &id, "x")).unwrap().seq
                    };
                    (0..50).map(write).collect::<Vec<_>>()
                })
            })
            .collect();
        scope.spawn(|| crate::fixture::append(&fixture.open(), 1, 50));
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(seqs.iter().collect::<BTreeSet<_>>().len(), 400);
    drop(writers);
    let store = fixture.open();
    let verification = store.verify(&[]).unwrap();
    assert!(verification.is_clean(), "{:?}", verification.faults);
    assert_eq!(verification.entries, 850, "two for each content");
    assert_eq!(store.content_totals(&id).unwrap().total_tokens, 400);
}

#[test]
fn what_was_handed_over_is_done_before_the_writer_stops() {
    let fixture = Fixture::new();
    let writer = writer(&fixture);
    for _ in 0..2000 {
        // Nobody waits for these.
        drop(writer.submit(NOW_MS, |w| w.audit(&event("x"))).unwrap());
    }
    drop(writer);
    assert_eq!(fixture.open().head().unwrap().seq, 2000);
}

#[test]
fn whoever_brings_too_much_has_to_wait() {
    let fixture = Fixture::new();
    let writer = writer(&fixture);
    let held = hold(&writer);
    let (count, counted) = mpsc::channel();
    std::thread::scope(|scope| {
        let writer = &writer;
        scope.spawn(move || {
            for number in 0..3000 {
                drop(writer.submit(NOW_MS, |w| w.audit(&event("x"))).unwrap());
                count.send(number).unwrap();
            }
        });
        let patience = std::time::Duration::from_millis(300);
        let mut taken = 0;
        while counted.recv_timeout(patience).is_ok() {
            taken += 1;
        }
        assert_eq!(taken, 1024, "the queue has a bound");
        drop(held);
    });
    drop(writer);
    assert_eq!(fixture.open().head().unwrap().seq, 3000);
}

#[test]
fn a_commit_that_fails_is_told_to_everyone_whose_change_it_carried() {
    let fixture = Fixture::new();
    let writer = writer(&fixture);
    let lock = fixture.sql();
    let held = hold(&writer);
    let good = writer.submit(NOW_MS, |w| w.audit(&event("x"))).unwrap();
    let bad = writer
        .submit(NOW_MS, |w| {
            w.audit(&event("x"))?;
            Err::<(), _>(Refused::No(7))
        })
        .unwrap();
    drop(held);
    good.wait().unwrap();
    assert!(matches!(bad.wait(), Err(Refused::No(7))));

    lock.execute_batch("DROP TRIGGER audit_keeps; DELETE FROM audit; DELETE FROM meta").unwrap();
    let error = writer.write(NOW_MS, |w| w.audit(&event("x"))).unwrap_err();
    assert!(error.to_string().contains("is damaged"), "{error}");
    // Nor can a sealed row be written. Others still can: that is for `audit verify` to find.
    let new = NewSession { agent: None, ..new_session("x") };
    writer.write(NOW_MS, move |w| w.session_create(&new, NOW_MS)).unwrap_err();
    writer.write(NOW_MS, move |w| w.sandbox_used("{}")).unwrap();
}

#[test]
fn a_head_that_cannot_be_written_down_is_told() {
    let fixture = Fixture::new();
    drop(fixture.with_entries(1));
    let writer = writer(&fixture);
    let lock = fixture.config().join("heads/lock");
    std::fs::remove_file(&lock).unwrap();
    std::fs::create_dir(&lock).unwrap();
    writer.write(NOW_MS, |w| w.audit(&event("x"))).unwrap();
    assert!(writer.head_problem().unwrap().starts_with("could not open"));
    std::fs::remove_dir(&lock).unwrap();
    writer.write(NOW_MS, |w| w.audit(&event("x"))).unwrap();
    assert_eq!(writer.head_problem(), None);
}
