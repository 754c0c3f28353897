//! How fast changes of rows with their audit entries are, with durable settings: `cargo run --release
//! -p foreword-store --example write_speed [DIRECTORY]`.
//!
//! Every write adds a row to the ledger of a session and an entry to the audit log, and is waited
//! for. Prints writes a second for several numbers of threads.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::path::PathBuf;
use std::time::Instant;

use foreword_store::{
    AuditKey, Content, Event, GroupWriter, Heads, NewSession, Options, Outcome, Provenance, Reader,
    SessionId, StoreError, TaintLevel, Transaction,
};

const NOW_MS: i64 = 1_772_000_000_000;

fn session(number: usize) -> SessionId {
    SessionId::parse(&format!("session-{number}")).unwrap()
}

fn change(write: &mut Transaction<'_>, id: &SessionId) -> Result<TaintLevel, StoreError> {
    let content = Content {
        provenance: Provenance::ToolResult,
        source: "tool:read".to_owned(),
        tokens: 120,
        external: false,
        at: NOW_MS,
    };
    let totals = write.content_add(id, None, &content)?;
    let detail = serde_json::json!({ "tokens": content.tokens, "source": content.source });
    write.audit(
        &Event::new("agent:main", "content.add", id.as_str(), Outcome::Done).with_detail(detail),
    )?;
    Ok(totals)
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
    let writer =
        GroupWriter::start(&database, key.clone(), heads.clone(), Options::default()).unwrap();
    for number in 0..200 {
        let new = NewSession {
            id: session(number),
            agent: None,
            user: None,
            runner: "native".to_owned(),
            canary: format!("canary-{number}"),
            parent: None,
            depth: 0,
            channel: "terminal".to_owned(),
        };
        writer.write(NOW_MS, move |w| w.session_create(&new, NOW_MS)).unwrap();
    }
    let mut written = 0;
    for (threads, each) in [(1, 500), (8, 1_000), (32, 1_000), (32, 1_000), (200, 300)] {
        let start = Instant::now();
        std::thread::scope(|scope| {
            for number in 0..threads {
                let writer = &writer;
                scope.spawn(move || {
                    for _ in 0..each {
                        let id = session(number);
                        writer.write(NOW_MS, move |w| change(w, &id)).unwrap();
                    }
                });
            }
        });
        let seconds = start.elapsed().as_secs_f64();
        let count = threads * each;
        written += count;
        let rate = f64::from(u32::try_from(count).unwrap()) / seconds;
        println!("{threads} threads: {rate:.0} audited writes/s");
    }
    drop(writer);
    let reader = Reader::open(&database).unwrap();
    let verification = reader.verify(&key, &heads, &[]).unwrap();
    assert!(verification.is_clean(), "{:?}", verification.faults);
    assert_eq!(verification.entries, u64::try_from(written).unwrap());
}
