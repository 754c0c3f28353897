//! Counts verdicts over a directory of skills, for tuning:
//! `cargo run -p foreword-guard --example corpus -- [agent|import] DIR|FILE.jsonl…`.
//!
//! Each `DIR` holds one folder per skill with a `SKILL.md`; each line of a `.jsonl` file is a whole
//! folder (`id`, `label`, `source`, `attack_in`, `files`), screened with its programs. Prints each
//! skill with the rules that found something, then the counts by group.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program to look at")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use foreword_guard::{
    PatternScreener, Policy, Screener, Screening, SkillFile, Verdict, screen_folder,
};
use serde_json::Value as Json;

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
    for path in directories {
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            folders(policy, &screener, &path)?;
        } else {
            group(&screener, &path)?;
        }
    }
    Ok(())
}

/// Screens one folder per line, and counts by label, source and place of the attack.
fn folders(policy: Policy, screener: &PatternScreener, path: &Path) -> std::io::Result<()> {
    let mut counts: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    for line in std::fs::read_to_string(path)?.lines() {
        let folder: Json = serde_json::from_str(line)?;
        let text = |key: &str| folder.get(key).and_then(Json::as_str).unwrap_or("-");
        let files = folder.get("files").and_then(Json::as_object).into_iter().flatten();
        let files: Vec<SkillFile<'_>> = files
            .filter_map(|(path, content)| {
                Some(SkillFile { path, content: content.as_str()?.as_bytes() })
            })
            .collect();
        let screening = screen_folder(policy, &[screener as &dyn Screener], &files, &[]);
        let group = format!("{} {} {}", text("label"), text("source"), text("attack_in"));
        println!("{:<13} {} {group} {}", screening.verdict.as_str(), text("id"), text("kind"));
        for finding in screening.findings.iter().filter(|f| f.verdict > Verdict::AutoApprove) {
            let (verdict, rule, line) = (finding.verdict.as_str(), &finding.rule, finding.line);
            let file = finding.file.as_deref().unwrap_or("SKILL.md");
            let message = &finding.message;
            println!("    {verdict:<13} {rule} {file}:{line}: {message} | {}", finding.excerpt);
        }
        let place = match screening.verdict {
            Verdict::Reject => 0,
            Verdict::NeedsReview => 1,
            Verdict::AutoApprove => 2,
        };
        if let Some(count) = counts.entry(group).or_default().get_mut(place) {
            *count += 1;
        }
    }
    for (group, [refused, review, passed]) in counts {
        let all = refused + review + passed;
        println!(
            "== {group}: {all} folders, {refused} refused, {review} to review, {passed} passed"
        );
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
