//! How long it takes to list 10,000 skills: without a cache, and with one in a new process.
//!
//! `cargo run --profile profiling -p foreword-skills --example list_speed`

#![allow(clippy::print_stdout, reason = "it prints what it measured")]

use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use foreword_skills::{LIST_CACHE, list};
use foreword_workspace::{PRIVATE_DIR, Workspace};

const SKILLS: usize = 10_000;
const PASSES: usize = 7;

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1) {
        Some(directory) => one(Path::new(&directory)),
        None => all(),
    }
}

/// Makes the skills, then lists them again and again, each time in a process of its own.
fn all() -> Result<(), Box<dyn Error>> {
    let scratch = tempfile::tempdir()?;
    let at = |path: &str| scratch.path().join(path);
    std::fs::create_dir(at(PRIVATE_DIR))?;
    for number in 0..SKILLS {
        let folder = at(&format!("skills/skill-{number:05}"));
        std::fs::create_dir_all(&folder)?;
        let text = format!(
            "---\nname: skill-{number:05}\ndescription: Does thing {number} for whoever asks, \
             when the thing is to be done and nobody else is there to do it.\n---\n\n# Thing\n\n{}",
            "Do it well, and say what was done.\n".repeat(60)
        );
        std::fs::write(folder.join("SKILL.md"), text)?;
    }
    std::thread::sleep(Duration::from_millis(200));
    let own = std::env::current_exe()?;
    for pass in 0..PASSES {
        let started = Instant::now();
        let output = Command::new(&own).arg(scratch.path()).output()?;
        let whole = started.elapsed();
        let kind = if pass == 0 { "cold" } else { "warm" };
        let said = String::from_utf8_lossy(&output.stdout);
        println!("{kind}: {}, {:.1} ms with the process", said.trim(), ms(whole));
    }
    Ok(())
}

fn one(directory: &Path) -> Result<(), Box<dyn Error>> {
    let started = Instant::now();
    let workspace = Workspace::open(directory)?;
    let cache = directory.join(PRIVATE_DIR).join(LIST_CACHE);
    let listing = list(&workspace, Some(&cache), SystemTime::now())?;
    let took = started.elapsed();
    println!("{} skills in {:.1} ms", listing.skills.len(), ms(took));
    Ok(())
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
