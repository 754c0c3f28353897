//! `cargo xtask release --dry-run`: everything that must hold before a version is published, on this machine.
//!
//! It publishes nothing: that is a person's act, by the checklist in CONTRIBUTING.md. Every check runs, whatever
//! failed before it, and a table at the end says how each went.

mod tree;
mod versions;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::dist::sbom::json_of;
use crate::dist::{self, Effort, all, version};
use crate::error::TaskError;
use crate::steps::{Steps, cargo, has_cargo_command, root, target};

/// The registry takes no larger packages.
const MAX_CRATE: u64 = 10 * 1024 * 1024;

/// How a check went, and what to know about it.
enum Outcome {
    Passed(String),
    Failed(String),
    /// This machine cannot tell.
    Skipped(String),
    /// Something for a person to decide before publishing.
    Todo(String),
}

struct Done {
    name: &'static str,
    outcome: Outcome,
    took: Duration,
}

type Check = fn(Effort) -> Result<Outcome, TaskError>;

const CHECKS: [(&str, Check); 9] = [
    ("versions and changelog", versions_agree),
    ("address of the repository", repository),
    ("no path of this machine", tree_is_clean),
    ("everything is committed", committed),
    ("crates package", crates_package),
    ("packages install and work", packages_work),
    ("the book builds", book),
    ("licences and sources", licenses),
    ("security advisories", advisories),
];

/// Runs every check and prints the table. `Effort::Dev` builds like tests and does not compile each packed crate.
pub(crate) fn run(effort: Effort) -> Result<(), TaskError> {
    let mut done = Vec::new();
    for (place, (name, check)) in CHECKS.into_iter().enumerate() {
        eprintln!("\n==> [{}/{}] {name}", place + 1, CHECKS.len());
        let started = Instant::now();
        let outcome = check(effort).unwrap_or_else(|error| Outcome::Failed(error.to_string()));
        done.push(Done { name, outcome, took: started.elapsed() });
    }
    println!("\nForeword {}, dry run\n{}", version(), table(&done));
    let failed = done.iter().filter(|done| matches!(done.outcome, Outcome::Failed(_)));
    let steps: Vec<String> = failed.map(|done| done.name.to_owned()).collect();
    if steps.is_empty() { Ok(()) } else { Err(TaskError::Failed { steps }) }
}

/// One line per check, and the other lines of its note below it.
fn table(done: &[Done]) -> String {
    let width = done.iter().map(|done| done.name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for Done { name, outcome, took } in done {
        let (word, note) = match outcome {
            Outcome::Passed(note) => ("ok", note),
            Outcome::Failed(note) => ("FAILED", note),
            Outcome::Skipped(note) => ("skipped", note),
            Outcome::Todo(note) => ("to do", note),
        };
        let seconds = took.as_secs_f64();
        let note = note.trim_end().replace('\n', &format!("\n{:1$}", "", width + 21));
        let line = format!("{name:width$}  {word:7}  {seconds:6.1} s  {note}");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn none_of(found: &[String], note: &str) -> Outcome {
    if found.is_empty() {
        Outcome::Passed(note.to_owned())
    } else {
        Outcome::Failed(found.join("\n"))
    }
}

fn versions_agree(_: Effort) -> Result<Outcome, TaskError> {
    let note = format!("{} in crates, wheel, npm packages and changelog", version());
    Ok(none_of(&versions::disagreements()?, &note))
}

fn repository(_: Effort) -> Result<Outcome, TaskError> {
    let metadata = metadata()?;
    let packages = metadata.get("packages").and_then(Value::as_array).into_iter().flatten();
    let mut addresses: Vec<&str> =
        packages.filter_map(|package| package.get("repository")?.as_str()).collect();
    addresses.dedup();
    Ok(match addresses.as_slice() {
        [one] if !one.contains("OWNER") => Outcome::Passed((*one).to_owned()),
        [_] => Outcome::Todo("set `repository` in Cargo.toml: it has no owner yet".to_owned()),
        _ => Outcome::Failed(format!("not one address: {}", addresses.join(", "))),
    })
}

fn tree_is_clean(_: Effort) -> Result<Outcome, TaskError> {
    Ok(none_of(&tree::machine_paths()?, "in no tracked file"))
}

fn committed(_: Effort) -> Result<Outcome, TaskError> {
    let status = Command::new("git").args(["status", "--porcelain"]).current_dir(root()).output();
    let status = status.map_err(TaskError::io("git status"))?;
    let changed = String::from_utf8_lossy(&status.stdout).lines().count();
    Ok(match changed {
        0 => Outcome::Passed(String::new()),
        _ => Outcome::Todo(format!("{changed} changed files: commit them before tagging")),
    })
}

/// Packs every crate that is published, compiles what was packed, and looks at the sizes.
fn crates_package(effort: Effort) -> Result<Outcome, TaskError> {
    let names = versions::published(&metadata()?);
    let mut package = cargo();
    package.args(["package", "--quiet", "--locked", "--allow-dirty"]);
    if effort == Effort::Dev {
        package.arg("--no-verify");
    }
    for name in &names {
        package.args(["-p", name]);
    }
    let mut steps = Steps::new();
    steps.run("package", &mut package)?;
    steps.verdict()?;
    let end = format!("-{}.crate", version());
    let (mut largest, mut found) = ((0, String::new()), Vec::new());
    for path in all(&target().join("package"), "crate")? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !name.strip_suffix(&end).is_some_and(|own| names.iter().any(|known| known == own)) {
            continue;
        }
        let size = std::fs::metadata(&path).map_or(0, |about| about.len());
        if size > MAX_CRATE {
            found.push(format!("{name} has {size} bytes; the registry takes {MAX_CRATE}"));
        }
        largest = largest.max((size, name));
    }
    let compiled = if effort == Effort::Dev { "not compiled" } else { "compiled as packed" };
    let (size, name) = (largest.0 as f64 / 1e6, largest.1);
    let note = format!("{} crates, {compiled}; the largest is {name}, {size:.1} MB", names.len());
    Ok(none_of(&found, &note))
}

fn packages_work(effort: Effort) -> Result<Outcome, TaskError> {
    let mut steps = Steps::new();
    dist::run(&mut steps, effort, false)?;
    steps.verdict()?;
    let mut files = Vec::new();
    for end in ["gz", "whl", "tgz"] {
        files.extend(all(&dist::packages(), end)?);
    }
    let name =
        |path: std::path::PathBuf| path.file_name().unwrap_or_default().display().to_string();
    Ok(Outcome::Passed(files.into_iter().map(name).collect::<Vec<_>>().join("\n")))
}

fn book(_: Effort) -> Result<Outcome, TaskError> {
    let own = std::env::current_exe().map_err(TaskError::io("cannot find this program"))?;
    let help = Command::new(&own).arg("help").output().map_err(TaskError::io("xtask help"))?;
    if !String::from_utf8_lossy(&help.stdout).lines().any(|line| line.starts_with("  book")) {
        return Ok(Outcome::Skipped("this repository has no task `book`".to_owned()));
    }
    let mut steps = Steps::new();
    steps.run("book", Command::new(own).arg("book"))?;
    steps.verdict()?;
    Ok(Outcome::Passed(String::new()))
}

fn licenses(_: Effort) -> Result<Outcome, TaskError> {
    if !has_cargo_command("deny") {
        return Ok(no_deny());
    }
    let mut steps = Steps::new();
    steps.run("deny", cargo().args(["deny", "check", "licenses", "bans", "sources"]))?;
    steps.verdict()?;
    Ok(Outcome::Passed(String::new()))
}

/// Without the database nothing can be said, which is not the same as no advisory.
fn advisories(_: Effort) -> Result<Outcome, TaskError> {
    if !has_cargo_command("deny") {
        return Ok(no_deny());
    }
    let mut deny = cargo();
    deny.args(["deny", "check", "advisories"]).current_dir(root()).stdin(Stdio::null());
    let output = deny.output().map_err(TaskError::io("cargo deny"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    Ok(match output.status.success() {
        true => Outcome::Passed("none for what is in Cargo.lock".to_owned()),
        false if is_unreachable(&said) => {
            Outcome::Skipped("the advisory database cannot be reached from here".to_owned())
        }
        false => Outcome::Failed(said.into_owned()),
    })
}

fn is_unreachable(said: &str) -> bool {
    said.contains("failed to fetch advisory database")
        || said.contains("failed to load advisory database")
}

fn no_deny() -> Outcome {
    let hint = "cargo-deny is not installed (`cargo install --locked cargo-deny`)";
    Outcome::Skipped(hint.to_owned())
}

fn metadata() -> Result<Value, TaskError> {
    json_of(cargo().args(["metadata", "--format-version", "1", "--no-deps", "--locked"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_shows_every_outcome_with_its_note() {
        let done = |name, outcome| Done { name, outcome, took: Duration::from_millis(1250) };
        let text = table(&[
            done("one", Outcome::Passed(String::new())),
            done("three", Outcome::Failed("a: b\nc: d".to_owned())),
            done("two", Outcome::Skipped("no network".to_owned())),
        ]);
        let expected = "one    ok          1.2 s\n\
                        three  FAILED      1.2 s  a: b\n                          c: d\n\
                        two    skipped     1.2 s  no network\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn an_unreachable_database_is_not_an_advisory() {
        assert!(is_unreachable("[ERROR] failed to fetch advisory database https://x: no network"));
        assert!(!is_unreachable("error[vulnerability]: something bad"));
    }
}
