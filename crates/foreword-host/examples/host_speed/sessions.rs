//! Many sessions at once, turn after turn: does anything fail, and does the host's memory grow?

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use foreword_host::Host;

use crate::{ask, rate};

/// Samples of a run.
const SAMPLES: u32 = 20;
/// The part of a run that is warm-up: the first conversations are shorter than the later ones, caches fill, and the
/// allocator's heaps grow to the peak of what they serve at once.
const WARM_UP: f64 = 0.1;

/// What is asked of the host.
pub(crate) struct Load {
    time: Duration,
    sessions: usize,
    turns_each: u64,
    pub(crate) model_ms: u64,
}

struct Sample {
    at: Duration,
    turns: usize,
    resident_mb: f64,
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
        }
    }

    /// Runs all sessions and prints a table of turns, memory and bytes written over time.
    pub(crate) fn run(&self, host: &Arc<Host>) {
        println!(
            "{} native sessions at once for {} s, {} turns a conversation, the model answers after {} ms:",
            self.sessions,
            self.time.as_secs(),
            self.turns_each,
            self.model_ms
        );
        println!(
            "\n|    s | turns | turns/s | resident MB | written MB |\n|---:|---:|---:|---:|---:|"
        );
        let (done, errors) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let stop = AtomicBool::new(false);
        let mut samples: Vec<Sample> = Vec::new();
        let written_before = written_mb();
        std::thread::scope(|scope| {
            for number in 0..self.sessions {
                let (done, errors, stop) = (&done, &errors, &stop);
                scope.spawn(move || {
                    let mut turn = 0;
                    while !stop.load(Ordering::Relaxed) {
                        let session = format!("many-{number}-{}", turn / self.turns_each);
                        turn += 1;
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
                    resident_mb: resident_mb(),
                    written_mb: written_mb() - written_before,
                };
                sample.print(samples.last());
                samples.push(sample);
            }
            stop.store(true, Ordering::Relaxed);
        });
        let warm = self.time.mul_f64(WARM_UP * 0.99);
        let warm: Vec<f64> =
            samples.iter().filter(|s| s.at >= warm).map(|s| s.resident_mb).collect();
        let (first, last) = (warm[0], warm[warm.len() - 1]);
        let most = warm.iter().copied().fold(0.0, f64::max);
        println!(
            "\n{} turns, {} errors. After a warm-up of {:.0} s: {first:.1} MB, at the end {last:.1} MB ({:+.1}%), at most {most:.1} MB ({:+.1}%)",
            done.load(Ordering::Relaxed),
            errors.load(Ordering::Relaxed),
            self.time.as_secs_f64() * WARM_UP,
            (last / first - 1.0) * 100.0,
            (most / first - 1.0) * 100.0,
        );
    }
}

impl Sample {
    fn print(&self, before: Option<&Self>) {
        let (turns, at) = before.map_or((0, Duration::ZERO), |before| (before.turns, before.at));
        println!(
            "| {:.0} | {} | {:.1} | {:.1} | {:.0} |",
            self.at.as_secs_f64(),
            self.turns,
            rate(self.turns - turns, self.at - at),
            self.resident_mb,
            self.written_mb
        );
    }
}

fn resident_mb() -> f64 {
    field("/proc/self/status", "VmRSS:") / 1024.0
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
