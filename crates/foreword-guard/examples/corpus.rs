//! Counts verdicts over a directory of skills, for tuning:
//! `cargo run -p foreword-guard --example corpus -- [agent|import] DIR…`.
//!
//! Each `DIR` holds one folder per skill with a `SKILL.md`. Prints each skill that is not
//! approved with the rules that found something, then the counts.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program to look at")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use foreword_guard::{PatternScreener, Policy, Screener, Screening, Verdict};

fn main() -> std::io::Result<()> {
    let mut policy = Policy::Import;
    let mut directories = Vec::new();
    for argument in std::env::args().skip(1) {
        match argument.parse() {
            Ok(named) => policy = named,
            Err(_) => directories.push(PathBuf::from(argument)),
        }
    }
    let start = Instant::now();
    PatternScreener::warm_up();
    eprintln!("warm-up: {:?}", start.elapsed());
    let screener = PatternScreener::new(policy);
    for directory in directories {
        group(&screener, &directory)?;
    }
    Ok(())
}

fn group(screener: &PatternScreener, directory: &Path) -> std::io::Result<()> {
    let mut skills: Vec<PathBuf> =
        std::fs::read_dir(directory)?.map(|e| e.map(|e| e.path())).collect::<Result<_, _>>()?;
    skills.sort();
    let mut counts: BTreeMap<Verdict, usize> = BTreeMap::new();
    let (mut bytes, mut time) = (0, Duration::ZERO);
    let mut texts: Vec<String> = Vec::new();
    for skill in &skills {
        let Ok(raw) = std::fs::read(skill.join("SKILL.md")) else { continue };
        let content = String::from_utf8_lossy(&raw);
        let start = Instant::now();
        let screening = Screening::of(screener.screen(&content, &[]));
        time += start.elapsed();
        bytes += content.len();
        texts.push(content.to_string());
        *counts.entry(screening.verdict).or_default() += 1;
        let name = skill.file_name().unwrap_or_default().to_string_lossy();
        println!("{:<13} {name}", screening.verdict.as_str());
        for finding in &screening.findings {
            let (verdict, rule, line) = (finding.verdict.as_str(), &finding.rule, finding.line);
            println!("    {verdict:<13} {rule} line {line}: {}", finding.excerpt);
        }
    }
    let warm = warm(screener, &texts);
    let per_10_kb = warm.as_secs_f64() * 1e6 / (bytes.max(1) as f64) * 10_240.0;
    println!("== {}: {counts:?}", directory.display());
    println!("== {bytes} bytes: {time:?} first, {warm:?} again, {per_10_kb:.0} µs for 10 KB");
    Ok(())
}

/// The best of several runs per text, summed, with every pattern compiled.
fn warm(screener: &PatternScreener, texts: &[String]) -> Duration {
    let once = |text: &str| {
        let start = Instant::now();
        std::hint::black_box(screener.screen(text, &[]));
        start.elapsed()
    };
    texts.iter().map(|text| (0..9).map(|_| once(text)).min().unwrap_or_default()).sum()
}
