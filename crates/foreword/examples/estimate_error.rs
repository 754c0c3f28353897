//! Measures the estimate on your own text.
//!
//! ```text
//! cargo run --release -p foreword --features exact-tokens --example estimate_error -- [KIND=]PATH...
//! ```
//!
//! Each path is a file or a directory, read recursively. Files count under
//! their extension, or under KIND where one is given. Prints bytes, exact
//! o200k tokens, the estimate and its error per kind, and how fast the
//! estimate was.
#![allow(clippy::print_stdout, clippy::print_stderr)] // a tool for the terminal

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

#[derive(Default)]
struct Sum {
    bytes: u64,
    exact: u64,
    estimate: u64,
    took: Duration,
}

fn main() -> Result<(), Box<dyn Error>> {
    let exact = foreword::exact_counter("o200k")?;
    let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
    for argument in std::env::args().skip(1) {
        let (kind, path) = match argument.split_once('=') {
            Some((kind, path)) => (Some(kind), path),
            None => (None, argument.as_str()),
        };
        read(Path::new(path), &mut |path, text| {
            let extension = path.extension().unwrap_or_default().to_string_lossy();
            let sum = sums.entry(kind.unwrap_or(&extension).to_owned()).or_default();
            let (estimate, took) = time(text);
            sum.took += took;
            sum.estimate += u64::from(estimate);
            sum.exact += u64::from(exact.count(text));
            sum.bytes += text.len() as u64;
        })?;
    }
    println!(
        "{:<20} {:>10} {:>9} {:>9} {:>7} {:>7}",
        "kind", "bytes", "exact", "estimate", "error", "MB/s"
    );
    for (kind, sum) in &sums {
        let error = 100.0 * (sum.estimate as f64 / sum.exact as f64 - 1.0);
        let speed = sum.bytes as f64 / sum.took.as_secs_f64() / 1e6;
        println!(
            "{kind:<20} {:>10} {:>9} {:>9} {error:>+6.1}% {speed:>7.0}",
            sum.bytes, sum.exact, sum.estimate
        );
    }
    Ok(())
}

/// The estimate, and the least time it took in a few runs.
fn time(text: &str) -> (u32, Duration) {
    let mut best = Duration::MAX;
    let mut estimate = 0;
    for _ in 0..5 {
        let start = Instant::now();
        estimate = foreword::estimate(std::hint::black_box(text));
        best = best.min(start.elapsed());
    }
    (estimate, best)
}

/// Calls `each` with every UTF-8 file at or under `path`, in order of names.
fn read(path: &Path, each: &mut impl FnMut(&Path, &str)) -> Result<(), Box<dyn Error>> {
    if path.is_dir() {
        let mut entries = fs::read_dir(path)?.collect::<Result<Vec<_>, _>>()?;
        entries.sort_by_key(fs::DirEntry::path);
        for entry in entries {
            read(&entry.path(), each)?;
        }
    } else if let Ok(text) = String::from_utf8(fs::read(path)?)
        && !text.is_empty()
    {
        each(path, &text);
    }
    Ok(())
}
