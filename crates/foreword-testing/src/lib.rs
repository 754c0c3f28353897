//! Support for the tests of the other crates. Never a dependency of shipped code.
//!
//! A test whose requirement is missing calls [`skip`] and returns. The skip is printed, collected for
//! `cargo xtask test`, and fails the test under `CI=true` unless `.config/allowed-skips.txt` lists the
//! requirement.
//!
//! ```no_run
//! let Some(client) = foreword_testing::npm_program("mcp-inspector") else { return };
//! # let _ = client;
//! ```
#![expect(clippy::panic, clippy::print_stdout, reason = "tests only: a skip is shown or fails")]

mod browser;
pub mod loopback_model;

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

pub use browser::look_at_page;

/// Names the file that collects skipped tests: test, requirement and reason, separated by tabs.
pub const SKIPPED_TESTS: &str = "FOREWORD_SKIPPED_TESTS";

/// Requirements that a test may miss under `CI=true`, one per line with its reason.
const ALLOWED_SKIPS: &str = include_str!("../../../.config/allowed-skips.txt");

/// Reports that the current test is skipped; the caller returns.
pub fn skip(requirement: &str, reason: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("unnamed test");
    println!("skipped: {test}: needs {requirement}: {reason}");
    if let Some(file) = std::env::var_os(SKIPPED_TESTS) {
        report(Path::new(&file), test, requirement, reason);
    }
    let ci = std::env::var_os("CI").is_some_and(|ci| ci == "true");
    if let Err(message) = check(ci, requirement) {
        panic!("{message}");
    }
}

fn report(file: &Path, test: &str, requirement: &str, reason: &str) {
    // One write per line: tests of several processes append to the same file.
    let line = format!("{test}\t{requirement}\t{}\n", reason.replace(['\t', '\n'], " "));
    let opened = OpenOptions::new().create(true).append(true).open(file);
    if let Err(error) = opened.and_then(|mut file| file.write_all(line.as_bytes())) {
        panic!("cannot record a skipped test in {}: {error}", file.display());
    }
}

fn check(ci: bool, requirement: &str) -> Result<(), String> {
    if ci && !allowed_skips().any(|allowed| allowed == requirement) {
        return Err(format!(
            "`{requirement}` is missing; under CI=true every test runs, \
             except those whose requirement is in .config/allowed-skips.txt"
        ));
    }
    Ok(())
}

fn allowed_skips() -> impl Iterator<Item = &'static str> {
    let lines = ALLOWED_SKIPS.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_whitespace().next())
}

/// The value of an environment variable that `cargo xtask test` sets; skips the test without it.
pub fn required_variable(variable: &str, requirement: &str) -> Option<OsString> {
    let value = std::env::var_os(variable);
    if value.is_none() {
        skip(requirement, &format!("{variable} is not set; `cargo xtask test` installs it"));
    }
    value
}

/// A program from npm, from the directory that `cargo xtask test` fills or on the PATH; skips the test
/// if it is not installed.
pub fn npm_program(name: &str) -> Option<PathBuf> {
    let found = std::env::split_paths(&npm_path())
        .map(|directory| directory.join(name))
        .find(|program| program.is_file());
    if found.is_none() {
        skip(name, "not installed; `cargo xtask test` installs it");
    }
    found
}

/// The directory of a package from npm that `cargo xtask test` installs; skips the test without it.
pub fn npm_package(name: &str) -> Option<PathBuf> {
    let npm = required_variable("FOREWORD_TEST_NPM", name)?;
    let package = PathBuf::from(npm).join("node_modules").join(name);
    if !package.is_dir() {
        skip(name, "not installed; `cargo xtask test` installs it");
        return None;
    }
    Some(package)
}

/// The PATH with the programs from npm first.
pub fn npm_path() -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let Some(npm) = std::env::var_os("FOREWORD_TEST_NPM") else { return path };
    let mut directories = vec![PathBuf::from(npm).join("node_modules/.bin")];
    directories.extend(std::env::split_paths(&path));
    std::env::join_paths(directories).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lower this when an entry goes; never raise it.
    const MAX_ALLOWED_SKIPS: usize = 4;

    #[test]
    fn the_list_of_allowed_skips_only_shrinks() {
        let allowed: Vec<_> = allowed_skips().collect();
        assert!(allowed.len() <= MAX_ALLOWED_SKIPS, "{allowed:?}");
    }

    #[test]
    fn under_ci_only_listed_requirements_may_be_missing() {
        assert!(check(true, "bwrap").unwrap_err().contains("`bwrap` is missing"));
        assert_eq!(check(true, "docker"), Ok(()));
        assert_eq!(check(false, "bwrap"), Ok(()));
    }

    #[test]
    fn skips_are_collected_one_per_line() {
        let file = std::env::temp_dir().join(format!("foreword-skips-{}", std::process::id()));
        report(&file, "a::test", "bwrap", "not\ninstalled");
        report(&file, "b::test", "perl", "not installed");
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert_eq!(text, "a::test\tbwrap\tnot installed\nb::test\tperl\tnot installed\n");
    }
}
