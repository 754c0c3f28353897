//! How fast the audit log is, with durable settings: `cargo run --release -p foreword-store
//! --example audit_speed [DIRECTORY]`.
//!
//! Prints appends a second for one and for eight threads, one by one and pipelined, entries
//! verified a second, the time one transaction takes and the time it takes to open a database.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use foreword_store::{AuditKey, AuditWriter, Event, Heads, Options, Outcome, Reader, Store};

/// Entries a thread has under way when it does not wait for each.
const WINDOW: usize = 256;
const NOW_MS: i64 = 1_772_000_000_000;

fn event(number: usize) -> Event {
    let detail =
        serde_json::json!({ "proposal": "k3v7c2mxqa", "verdict": "NEEDS_REVIEW", "n": number });
    Event::new("agent:main", "skill.propose", "weekly-report", Outcome::Pending).with_detail(detail)
}

fn per_second(count: usize, time: Duration) -> f64 {
    f64::from(u32::try_from(count).unwrap()) / time.as_secs_f64()
}

fn append(writer: &AuditWriter, threads: usize, each: usize, window: usize) -> f64 {
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut under_way = VecDeque::new();
                for number in 0..each {
                    if under_way.len() == window {
                        let ticket: foreword_store::Ticket = under_way.pop_front().unwrap();
                        ticket.wait().unwrap();
                    }
                    under_way.push_back(writer.submit(NOW_MS, event(number)).unwrap());
                }
                for ticket in under_way {
                    ticket.wait().unwrap();
                }
            });
        }
    });
    per_second(threads * each, start.elapsed())
}

/// The disk's own: one small write made durable.
fn fsync(directory: &Path) -> Duration {
    use std::io::Write as _;
    let mut file = std::fs::File::create(directory.join("fsync")).unwrap();
    median(200, || {
        file.write_all(&[0; 4096]).unwrap();
        file.sync_data().unwrap();
    })
}

fn median(times: usize, mut what: impl FnMut()) -> Duration {
    let mut all: Vec<_> = (0..times)
        .map(|_| {
            let start = Instant::now();
            what();
            start.elapsed()
        })
        .collect();
    all.sort();
    all.get(times / 2).copied().unwrap()
}

fn main() {
    let directory = tempfile::tempdir_in(
        std::env::args_os().nth(1).map_or_else(std::env::temp_dir, PathBuf::from),
    )
    .unwrap();
    let config = directory.path().join("config");
    let database = directory.path().join("foreword.db");
    let key = AuditKey::load_or_create(&config).unwrap();
    let heads = Heads::new(&config);
    println!("fsync of the disk: {:?}", fsync(directory.path()));

    let writer =
        AuditWriter::start(&database, key.clone(), heads.clone(), Options::default()).unwrap();
    for (threads, each, window) in
        [(1, 2_000, 1), (8, 1_000, 1), (64, 300, 1), (1, 50_000, WINDOW), (8, 50_000, WINDOW)]
    {
        let rate = append(&writer, threads, each, window);
        println!("{threads} threads, {window} under way each: {rate:.0} appends/s");
    }
    drop(writer);

    let open = || Store::open(&database, key.clone(), heads.clone()).unwrap();
    println!("open to write: {:?}", median(200, || drop(open())));
    println!("open to read: {:?}", median(200, || drop(Reader::open(&database).unwrap())));
    let store = open();
    let one = || store.write(NOW_MS, |write| write.audit(&event(0))).map(drop).unwrap();
    println!("one transaction with one entry: {:?}", median(200, one));

    for _ in 0..3 {
        let start = Instant::now();
        let verification = store.verify(&[]).unwrap();
        assert!(verification.is_clean(), "{:?}", verification.faults);
        let count = usize::try_from(verification.entries).unwrap();
        println!("verify: {count} entries, {:.0} entries/s", per_second(count, start.elapsed()));
    }
}
