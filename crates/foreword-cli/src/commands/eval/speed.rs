//! `foreword eval speed`: the CPU time of a build.

use std::hint::black_box;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use foreword::bootstrap;
use foreword_gather::blueprint_by_name;
use serde_json::json;

use crate::error::CliError;
use crate::inputs::read_context;
use crate::terminal::Terminal;

const ROUNDS: u32 = 25;

/// Measure the CPU time of a build
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword eval speed --context context.json
  foreword eval speed --context context.json --blueprint guarded --builds 20000 --json")]
pub(crate) struct EvalSpeedArgs {
    /// Context to build from
    #[arg(long, value_name = "FILE|-")]
    context: PathBuf,
    /// Blueprint to build
    #[arg(long, value_name = "NAME|FILE", default_value = "standard")]
    blueprint: String,
    /// Number of builds
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    builds: u32,
    /// What to compute besides the text
    #[arg(long, value_enum, default_value_t)]
    with: Detail,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum, PartialEq, Eq)]
enum Detail {
    /// Metadata
    #[default]
    Metadata,
    /// Full manifest
    Manifest,
    /// Full manifest with digests
    Digests,
}

pub(crate) fn run(args: &EvalSpeedArgs, terminal: &Terminal) -> Result<(), CliError> {
    let context = read_context(&args.context)?;
    let blueprint = blueprint_by_name(&args.blueprint)?;
    if args.builds == 0 {
        return Err(CliError::usage("`--builds` must be at least 1"));
    }
    let build = || {
        let prompt = blueprint.build(black_box(&context));
        match args.with {
            Detail::Metadata => drop(black_box(prompt.metadata())),
            Detail::Manifest => drop(black_box(prompt.manifest())),
            Detail::Digests => drop(black_box(prompt.manifest_with_digests())),
        }
        black_box(prompt.text().len())
    };
    let bytes = build();
    let rounds = ROUNDS.min(args.builds);
    let per_round = args.builds / rounds;
    let mut micros: Vec<f64> = Vec::new();
    for _ in 0..rounds {
        let start = cpu_seconds();
        for _ in 0..per_round {
            build();
        }
        micros.push((cpu_seconds() - start) * 1e6 / f64::from(per_round));
    }
    micros.sort_by(f64::total_cmp);
    let round = |value: f64| (value * 1000.0).round() / 1000.0;
    let min = round(micros.first().copied().unwrap_or(0.0));
    let median = round(micros.get(micros.len() / 2).copied().unwrap_or(0.0));
    let [low, high] = median_interval(&micros).map(round);
    let builds = rounds * per_round;
    if terminal.json {
        return terminal.print_json_line(&json!({
            "minUs": min, "medianUs": median, "medianInterval": [low, high], "bytes": bytes,
            "builds": builds,
        }));
    }
    terminal.print(&format!(
        "{bytes} bytes: minimum {min} µs, median {median} µs (95% {low} to {high}), over {builds} builds\n"
    ))
}

/// The 95% interval of the median of sorted values, by drawing them again.
fn median_interval(sorted: &[f64]) -> [f64; 2] {
    let rows: Vec<usize> = (0..sorted.len()).collect();
    let [interval] = bootstrap(&[&rows], |counts| {
        let mut before = 0;
        let middle = sorted.iter().zip(counts).find(|(_, count)| {
            before += **count as usize;
            2 * before > sorted.len()
        });
        [middle.map(|(value, _)| *value)]
    });
    interval.unwrap_or_default()
}

/// CPU time of this thread.
#[cfg(unix)]
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    #[expect(
        clippy::cast_precision_loss,
        reason = "differences of seconds need far fewer than 52 bits"
    )]
    let seconds = time.tv_sec as f64 + time.tv_nsec as f64 / 1e9;
    seconds
}

/// Wall time, where the CPU time of the thread is not available.
#[cfg(not(unix))]
fn cpu_seconds() -> f64 {
    use std::sync::OnceLock;
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}
