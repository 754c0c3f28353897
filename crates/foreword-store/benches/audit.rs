//! Time of durable audit entries, of opening a database and of verifying the log:
//! `cargo bench -p foreword-store`. The database is in `TMPDIR`.
#![expect(clippy::unwrap_used, reason = "helpers of a bench may panic")]

use std::collections::VecDeque;
use std::path::PathBuf;

use divan::Bencher;
use divan::counter::ItemsCount;
use foreword_store::{AuditKey, Event, GroupWriter, Heads, Options, Outcome, Reader, Store};
use tempfile::TempDir;

const NOW_MS: i64 = 1_772_000_000_000;

fn main() {
    divan::main();
}

struct Scratch(TempDir);

impl Scratch {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn database(&self) -> PathBuf {
        self.0.path().join("foreword.db")
    }

    fn keys(&self) -> (AuditKey, Heads) {
        let config = self.0.path().join("config");
        (AuditKey::load_or_create(&config).unwrap(), Heads::new(&config))
    }

    fn store(&self) -> Store {
        let (key, heads) = self.keys();
        Store::open(&self.database(), key, heads).unwrap()
    }
}

fn event() -> Event {
    let detail = serde_json::json!({ "proposal": "k3v7c2mxqa", "verdict": "NEEDS_REVIEW" });
    Event::new("agent:main", "skill.propose", "weekly-report", Outcome::Pending).with_detail(detail)
}

fn append(writer: &GroupWriter, count: usize, in_flight: usize) {
    let mut tickets = VecDeque::new();
    for _ in 0..count {
        if tickets.len() == in_flight {
            tickets.pop_front().map(foreword_store::Ticket::wait).unwrap().unwrap();
        }
        tickets.push_back(writer.submit(NOW_MS, |write| write.audit(&event())).unwrap());
    }
    for ticket in tickets {
        ticket.wait().unwrap();
    }
}

/// Threads, and entries in flight per thread.
#[divan::bench(args = [(1, 1), (8, 1), (64, 1), (1, 256), (8, 256)], sample_count = 10, sample_size = 1)]
fn appends(bencher: Bencher<'_, '_>, (threads, in_flight): (usize, usize)) {
    let scratch = Scratch::new();
    let (key, heads) = scratch.keys();
    let writer = GroupWriter::start(&scratch.database(), key, heads, Options::default()).unwrap();
    let each = if in_flight == 1 { 100 } else { 5_000 };
    bencher.counter(ItemsCount::new(threads * each)).bench_local(|| {
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| append(&writer, each, in_flight));
            }
        });
    });
}

#[divan::bench]
fn one_transaction(bencher: Bencher<'_, '_>) {
    let scratch = Scratch::new();
    let store = scratch.store();
    bencher.bench_local(|| store.write(NOW_MS, |write| write.audit(&event())).unwrap());
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn verify(bencher: Bencher<'_, '_>) {
    const ENTRIES: usize = 100_000;
    let scratch = Scratch::new();
    let store = scratch.store();
    let fill =
        store.write(NOW_MS, |write| (0..ENTRIES).try_for_each(|_| write.audit(&event()).map(drop)));
    fill.unwrap();
    bencher
        .counter(ItemsCount::new(ENTRIES))
        .bench_local(|| assert!(store.verify(&[]).unwrap().is_clean()));
}

#[divan::bench]
fn open_to_write(bencher: Bencher<'_, '_>) {
    let scratch = Scratch::new();
    drop(scratch.store());
    bencher.bench_local(|| scratch.store());
}

#[divan::bench]
fn open_to_read(bencher: Bencher<'_, '_>) {
    let scratch = Scratch::new();
    drop(scratch.store());
    bencher.bench_local(|| Reader::open(&scratch.database()).unwrap());
}
