//! How long it takes from a proposal to its durable commit, on a disk and without one.
//!
//! `cargo run --profile profiling -p foreword-skills --example propose_speed [DIRECTORY [RAM_DISK]]`
//!
//! The difference between the two is the disk's own: how many times it is asked to make something
//! durable is what it is, and how long one such request takes is printed beside it.

#![allow(clippy::print_stdout, reason = "it prints what it measured")]

use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use foreword_skills::{Act, GitStore, GitStoreOptions, ProposalRequest, Screeners, SkillStore};
use foreword_workspace::Workspace;

const PROPOSALS: usize = 300;
const NOW_MS: i64 = 1_772_000_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let disk = arguments.next().unwrap_or_else(std::env::temp_dir);
    let memory = arguments.next().unwrap_or_else(|| PathBuf::from("/dev/shm"));
    measure("on the disk", &disk)?;
    if memory.is_dir() {
        measure("without the disk", &memory)?;
    }
    Ok(())
}

fn measure(what: &str, directory: &Path) -> Result<(), Box<dyn Error>> {
    let scratch = tempfile::tempdir_in(directory)?;
    let root = scratch.path().join("workspace");
    std::fs::create_dir(&root)?;
    let fsync = Times::of(200, fsync(scratch.path())?);
    let options = GitStoreOptions {
        config_dir: scratch.path().join("config"),
        screeners: Screeners::default(),
    };
    let mut store = GitStore::new(Workspace::open(&root)?, options);
    let act = Act { at: NOW_MS, by: "agent:main".into() };
    // The first one makes the repository and the database.
    let first = Instant::now();
    store.propose(request(0), &act)?;
    let first = first.elapsed();
    let (mut number, mut failed) = (0, None);
    let proposals = Times::of(PROPOSALS, || {
        number += 1;
        if let Err(error) = store.propose(request(number), &act) {
            failed.get_or_insert(error);
        }
    });
    if let Some(error) = failed {
        return Err(error.into());
    }
    println!(
        "{what}: {PROPOSALS} proposals, median {:.2} ms, p95 {:.2} ms; the first {:.2} ms; \
         one fsync of 4 KiB {:.3} ms",
        proposals.median(),
        proposals.p95(),
        ms(first),
        fsync.median(),
    );
    Ok(())
}

/// A skill of 2 KB that screening takes in by itself.
fn request(number: usize) -> ProposalRequest {
    let steps = "Do it well, say what was done, and write down what is left.\n".repeat(32);
    ProposalRequest {
        name: Some(format!("skill-{number:05}")),
        content: format!("# Thing {number}\n\nDoes thing {number}.\n\n{steps}"),
        reason: Some("asked for".into()),
        ..ProposalRequest::default()
    }
}

/// The disk's own: one small write made durable.
fn fsync(directory: &Path) -> Result<impl FnMut(), std::io::Error> {
    let mut file = std::fs::File::create(directory.join("fsync"))?;
    Ok(move || {
        let written = file.write_all(&[0; 4096]).and_then(|()| file.sync_all());
        assert!(written.is_ok(), "{written:?}");
    })
}

/// How long something took each time, shortest first.
struct Times(Vec<Duration>);

impl Times {
    fn of(count: usize, mut what: impl FnMut()) -> Self {
        let mut all: Vec<Duration> = (0..count)
            .map(|_| {
                let start = Instant::now();
                what();
                start.elapsed()
            })
            .collect();
        all.sort();
        Self(all)
    }

    fn median(&self) -> f64 {
        self.at(self.0.len() / 2)
    }

    fn p95(&self) -> f64 {
        self.at(self.0.len() * 95 / 100)
    }

    fn at(&self, index: usize) -> f64 {
        self.0.get(index).copied().map(ms).unwrap_or_default()
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
