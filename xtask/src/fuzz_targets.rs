//! `cargo xtask fuzz --targets`: the coverage-guided targets in `fuzz/`, one after the other.
//!
//! They need cargo-fuzz, and a nightly compiler or the pinned one told to act as one. Each runs for the same time; what it did is read from
//! libFuzzer's last lines and written into `docs/security-testing.md`.

use std::fs;
use std::process::Command;

use crate::error::TaskError;
use crate::figures::replace_figures;
use crate::steps::{Steps, root, succeeds};

/// What one target did.
#[derive(Debug, Default, PartialEq, Eq)]
struct Run {
    executions: u64,
    /// Edges of the program that were reached.
    coverage: u64,
    found: bool,
}

/// Runs every target, or the ones named.
pub(crate) fn run(steps: &mut Steps, seconds: u64, only: &[&str]) -> Result<(), TaskError> {
    if !succeeds(cargo_fuzz().arg("--version")) {
        return Err(TaskError::Missing {
            program: "cargo fuzz".to_owned(),
            hint: "run `cargo install cargo-fuzz`",
        });
    }
    let mut table =
        String::from("| target | executions | edges reached | finds |\n|---|---|---|---|\n");
    let mut total = 0;
    for target in targets()?.iter().filter(|name| only.is_empty() || only.contains(&name.as_str()))
    {
        let done = run_one(target, seconds)?;
        println!("{target}: {} executions, {} edges", done.executions, done.coverage);
        total += done.executions;
        let found = if done.found { "**a crash**" } else { "none" };
        table += &format!("| `{target}` | {} | {} | {found} |\n", done.executions, done.coverage);
        if done.found {
            steps.fail("fuzz targets");
        }
    }
    if only.is_empty() {
        table += &format!("\n{total} executions, {seconds} seconds per target.\n");
        replace_figures("fuzzing", &table)?;
    }
    steps.verdict()
}

/// `cargo fuzz` on nightly, or on the pinned toolchain with its unstable options allowed: coverage is
/// one of them.
fn cargo_fuzz() -> Command {
    let mut command = Command::new("cargo");
    if succeeds(Command::new("cargo").args(["+nightly", "--version"])) {
        command.arg("+nightly");
    } else {
        command.env("RUSTC_BOOTSTRAP", "1");
    }
    command.arg("fuzz");
    command
}

/// The targets that `fuzz/Cargo.toml` lists.
fn targets() -> Result<Vec<String>, TaskError> {
    let file = root().join("fuzz/Cargo.toml");
    let text = fs::read_to_string(file).map_err(TaskError::io("cannot read fuzz/Cargo.toml"))?;
    Ok(listed(&text))
}

fn listed(manifest: &str) -> Vec<String> {
    let bins = manifest.split("[[bin]]").skip(1);
    let name = |bin: &str| Some(bin.split_once("name = \"")?.1.split('"').next()?.to_owned());
    bins.filter_map(name).collect()
}

fn run_one(target: &str, seconds: u64) -> Result<Run, TaskError> {
    eprintln!("\n==> {target}");
    let corpus = root().join("fuzz/corpus").join(target);
    fs::create_dir_all(&corpus).map_err(TaskError::io("cannot create fuzz/corpus"))?;
    let mut command = cargo_fuzz();
    command.args(["run", "--sanitizer", "none", target]).arg(corpus);
    let limit = format!("-max_total_time={seconds}");
    command.args(["--", &limit, "-timeout=10", "-rss_limit_mb=4096", "-max_len=8192"]);
    command.args(["-print_final_stats=1"]).current_dir(root());
    let done = command.output().map_err(TaskError::io("cannot start cargo fuzz"))?;
    let said = String::from_utf8_lossy(&done.stderr);
    if !done.status.success() {
        let tail: Vec<&str> = said.lines().rev().take(40).collect();
        tail.into_iter().rev().for_each(|line| eprintln!("{line}"));
    }
    Ok(Run { found: !done.status.success(), ..read(&said) })
}

/// libFuzzer's figures: `cov: 812` in the last line of progress, and the executions at the end.
fn read(said: &str) -> Run {
    let mut run = Run::default();
    for line in said.lines() {
        if let Some(count) = line.strip_prefix("stat::number_of_executed_units:") {
            run.executions = count.trim().parse().unwrap_or_default();
        }
        let after = line.split_once("cov: ").and_then(|(_, rest)| rest.split(' ').next());
        if let Some(count) = after.and_then(|count| count.parse().ok()) {
            run.coverage = count;
        }
    }
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_from_what_libfuzzer_says() {
        let said = "#2\tINITED cov: 12 ft: 13 corp: 1/1b\n#99\tNEW    cov: 345 ft: 4 corp: 2/2b\n\
                    stat::number_of_executed_units: 6789\nstat::new_units_added: 5\n";
        assert_eq!(read(said), Run { executions: 6789, coverage: 345, found: false });
    }

    #[test]
    fn targets_are_those_of_the_manifest() {
        let manifest = "[package]\nname = \"x\"\n[[bin]]\nname = \"a\"\n[[bin]]\nname = \"b_c\"\n";
        assert_eq!(listed(manifest), ["a", "b_c"]);
    }
}
