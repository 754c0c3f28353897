//! Many sessions at once, turn after turn: does anything fail, and does the host's memory grow?

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use foreword_host::Host;

use crate::{ask, rate};

/// Samples of a run.
const SAMPLES: u32 = 20;
/// Memory counts from here on: before, the first conversations are shorter than the later ones, caches fill, and the
/// allocator's heaps grow to the peak of what they serve at once.
const WARM_UP: Duration = Duration::from_secs(60);
/// By how much memory may grow or shrink after that.
const FLAT: f64 = 0.05;

/// What is asked of the host.
pub(crate) struct Load {
    time: Duration,
    sessions: usize,
    turns_each: u64,
    pub(crate) model_ms: u64,
    leak_kb: usize,
}

struct Sample {
    at: Duration,
    turns: usize,
    resident_mb: f64,
    /// Of that, what is not a file's: stacks and heaps.
    own_mb: f64,
    written_mb: f64,
}

impl Load {
    pub(crate) fn from_environment() -> Self {
        let number = |name: &str, otherwise: u64| {
            let value = std::env::var(format!("FOREWORD_BENCH_{name}")).ok();
            value.map_or(otherwise, |value| value.parse().unwrap())
        };
        Self {
            time: Duration::from_secs(number("SECONDS", 60)),
            sessions: usize::try_from(number("SESSIONS", 200)).unwrap(),
            turns_each: number("TURNS", 10).max(1),
            model_ms: number("MODEL_MS", 0),
            leak_kb: usize::try_from(number("LEAK_KB", 0)).unwrap(),
        }
    }

    /// Runs all sessions and prints a table of turns, memory and bytes written over time. `false` if turns failed
    /// or memory was not flat.
    pub(crate) fn run(&self, host: &Arc<Host>) -> bool {
        println!(
            "{} native sessions at once for {} s, {} turns a conversation, the model answers after {} ms:",
            self.sessions,
            self.time.as_secs(),
            self.turns_each,
            self.model_ms
        );
        println!(
            "\n|    s | turns | turns/s | resident MB | heaps and stacks MB | written MB |\n|---:|---:|---:|---:|---:|---:|"
        );
        let (done, errors) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let stop = AtomicBool::new(false);
        let mut samples: Vec<Sample> = Vec::new();
        let written_before = written_mb();
        std::thread::scope(|scope| {
            for number in 0..self.sessions {
                let (done, errors, stop) = (&done, &errors, &stop);
                scope.spawn(move || {
                    let (mut turn, mut leaked) = (0, Vec::new());
                    while !stop.load(Ordering::Relaxed) {
                        let session = format!("many-{number}-{}", turn / self.turns_each);
                        turn += 1;
                        leaked.push(vec![1_u8; self.leak_kb << 10]);
                        match host.turn(&ask(&session, "What is on today?"), &mut ()) {
                            Ok(_) => done.fetch_add(1, Ordering::Relaxed),
                            Err(error) => {
                                println!("session {number}: {error}");
                                errors.fetch_add(1, Ordering::Relaxed)
                            }
                        };
                    }
                });
            }
            let began = Instant::now();
            for number in 1..=SAMPLES {
                std::thread::sleep((self.time / SAMPLES * number).saturating_sub(began.elapsed()));
                let sample = Sample {
                    at: began.elapsed(),
                    turns: done.load(Ordering::Relaxed),
                    resident_mb: status_mb("VmRSS:"),
                    own_mb: status_mb("RssAnon:"),
                    written_mb: written_mb() - written_before,
                };
                sample.print(samples.last());
                samples.push(sample);
            }
            stop.store(true, Ordering::Relaxed);
        });
        let errors = errors.into_inner();
        println!("\n{} turns, {errors} errors", done.into_inner());
        // A sample may come a moment late, but not early.
        let warm = samples.iter().filter(|sample| sample.at >= WARM_UP);
        let warm: Vec<f64> = warm.map(|sample| sample.resident_mb).collect();
        if self.time < 2 * WARM_UP {
            println!("memory: no verdict, the run is shorter than {} s", 2 * WARM_UP.as_secs());
            return errors == 0;
        }
        let verdict = Verdict::of(&warm);
        println!("{verdict}");
        errors == 0 && verdict.is_flat()
    }
}

/// How memory changed after the first minute.
struct Verdict {
    first: f64,
    last: f64,
    most: f64,
}

impl Verdict {
    fn of(warm: &[f64]) -> Self {
        let most = warm.iter().copied().fold(0.0, f64::max);
        Self { first: warm[0], last: warm[warm.len() - 1], most }
    }

    fn is_flat(&self) -> bool {
        [self.last, self.most].iter().all(|mb| (mb / self.first - 1.0).abs() <= FLAT)
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let change = |mb: f64| (mb / self.first - 1.0) * 100.0;
        write!(
            f,
            "memory flat within {:.0}% from the first minute to the end: {} (after {} s {:.1} MB; at the end {:.1} MB, {:+.1}%; at most {:.1} MB, {:+.1}%)",
            FLAT * 100.0,
            if self.is_flat() { "yes" } else { "no" },
            WARM_UP.as_secs(),
            self.first,
            self.last,
            change(self.last),
            self.most,
            change(self.most),
        )
    }
}

impl Sample {
    fn print(&self, before: Option<&Self>) {
        let (turns, at) = before.map_or((0, Duration::ZERO), |before| (before.turns, before.at));
        println!(
            "| {:.0} | {} | {:.1} | {:.1} | {:.1} | {:.0} |",
            self.at.as_secs_f64(),
            self.turns,
            rate(self.turns - turns, self.at - at),
            self.resident_mb,
            self.own_mb,
            self.written_mb
        );
    }
}

fn status_mb(name: &str) -> f64 {
    field("/proc/self/status", name) / 1024.0
}

/// What this process had written to disk, without what agents wrote.
fn written_mb() -> f64 {
    field("/proc/self/io", "write_bytes:") / 1e6
}

fn field(file: &str, name: &str) -> f64 {
    let text = std::fs::read_to_string(file).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
