//! Processes that are killed at random points leave whole transactions behind, and nothing else.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    missing_docs
)]

mod fixture;

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use fixture::{Fixture, NOW_MS, proposal};
use foreword_store::{
    AuditKey, AuditWriter, Decision, Event, Heads, LogFilter, Options, Order, Outcome, State,
    Store, StoreError,
};

const DATABASE: &str = "FOREWORD_TEST_CRASH_DATABASE";
const CONFIG: &str = "FOREWORD_TEST_CRASH_CONFIG";
const ROUNDS: usize = 24;

fn started_as_child() -> Option<(PathBuf, PathBuf)> {
    let path = |name| std::env::var_os(name).map(PathBuf::from);
    Some((path(DATABASE)?, path(CONFIG)?))
}

/// Says on standard output that everything up to this entry was acknowledged.
fn acknowledged(seq: i64) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "acknowledged {seq}").unwrap();
    out.flush().unwrap();
}

/// Not a test of its own: what the processes do until they are killed.
#[test]
fn child_changes_proposals() {
    let Some((database, config)) = started_as_child() else {
        return;
    };
    let key = AuditKey::load_or_create(&config).unwrap();
    let store = Store::open(&database, key, Heads::new(&config)).unwrap();
    loop {
        let (id, _) = store
            .write(NOW_MS, |w| -> Result<_, StoreError> {
                let id = w.insert_proposal(&proposal("notes", &[b'x'; 3000]))?;
                let event = Event::new("agent", "crash.propose", id.as_str(), Outcome::Pending);
                Ok((id, w.audit(&event)?))
            })
            .unwrap();
        let head = store
            .write(NOW_MS, |w| {
                w.set_state(&id, State::Pending, State::Done, &Decision::default())?;
                w.audit(&Event::new("user", "crash.done", id.as_str(), Outcome::Done))
            })
            .unwrap();
        acknowledged(head.seq);
    }
}

/// Not a test of its own: what the other processes do until they are killed.
#[test]
fn child_appends_from_many_threads() {
    let Some((database, config)) = started_as_child() else {
        return;
    };
    let key = AuditKey::load_or_create(&config).unwrap();
    let writer =
        AuditWriter::start(&database, key, Heads::new(&config), Options::default()).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let event = Event::new("agent", "crash.append", "many", Outcome::Done);
                    acknowledged(writer.append(NOW_MS, event).unwrap().seq);
                }
            });
        }
    });
}

fn start(fixture: &Fixture, what: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", what, "--nocapture", "--test-threads=1"])
        .env(DATABASE, fixture.database())
        .env(CONFIG, fixture.config())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Kills the child; gives the last entry it knew to be durable.
fn kill(mut child: Child) -> i64 {
    child.kill().unwrap();
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert!(!errors.contains("panicked"), "{errors}");
    let lines = BufReader::new(child.stdout.take().unwrap()).split(b'\n');
    let mut last = 0;
    for line in lines {
        let line = String::from_utf8(line.unwrap()).unwrap();
        // The last line may be cut off, which makes its number smaller, never larger.
        if let Some((_, seq)) = line.rsplit_once("acknowledged ") {
            last = last.max(seq.parse().unwrap_or(0));
        }
    }
    child.wait().unwrap();
    last
}

fn subjects(store: &Store, action: &str) -> BTreeSet<String> {
    let filter = LogFilter {
        action_prefix: Some(action.to_owned()),
        order: Order::OldestFirst,
        ..LogFilter::default()
    };
    let entries = store.entries(&filter).unwrap();
    let subjects: BTreeSet<_> = entries.iter().map(|entry| entry.subject.clone()).collect();
    assert_eq!(subjects.len(), entries.len(), "an entry was written twice");
    subjects
}

fn ids(store: &Store, state: Option<State>) -> BTreeSet<String> {
    let proposals = store.proposals(state).unwrap();
    proposals.iter().map(|proposal| proposal.id.to_string()).collect()
}

#[test]
fn killed_at_random_points() {
    let fixture = Fixture::new();
    let mut rounds_with_work = 0;
    for round in 0..ROUNDS {
        let children = [
            start(&fixture, "child_changes_proposals"),
            start(&fixture, "child_changes_proposals"),
            start(&fixture, "child_appends_from_many_threads"),
        ];
        let mut random = [0; 1];
        getrandom::fill(&mut random).unwrap();
        // Some are killed while they start, some in the midst of their work.
        std::thread::sleep(Duration::from_millis(5 + u64::from(random[0])));
        let last = children.map(kill).into_iter().max().unwrap();
        rounds_with_work += usize::from(last > 0);

        let store = fixture.open();
        let verification = store.verify(&[]).unwrap();
        assert!(verification.is_clean(), "round {round}: {:?}", verification.faults);
        assert!(verification.last_seq >= last, "round {round}: an acknowledged entry is lost");
        assert_eq!(ids(&store, None), subjects(&store, "crash.propose"), "round {round}");
        assert_eq!(ids(&store, Some(State::Done)), subjects(&store, "crash.done"), "round {round}");
    }
    assert!(rounds_with_work >= ROUNDS / 2, "{rounds_with_work}");
}
