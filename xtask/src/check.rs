//! `cargo xtask check`: everything about the code that is not a test.

use crate::error::TaskError;
use crate::steps::{Steps, cargo, has_cargo_command};

/// Formatting, Clippy, docs, and licences where `cargo deny` is installed.
pub(crate) fn run(steps: &mut Steps) -> Result<(), TaskError> {
    without_building(steps)?;
    let clippy = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    steps.run("clippy", cargo().args(clippy))?;
    // Libraries only: the binary has the name of the core, and their pages would overwrite each other.
    let docs = ["doc", "--workspace", "--no-deps", "--lib"];
    steps.run("docs", cargo().args(docs).env("RUSTDOCFLAGS", "-D warnings"))?;
    steps.verdict()
}

/// What needs no compiler.
pub(crate) fn without_building(steps: &mut Steps) -> Result<(), TaskError> {
    steps.run("format", cargo().args(["fmt", "--all", "--check"]))?;
    if has_cargo_command("deny") {
        // Advisories need a database from the network. Not `--offline`: on a fresh machine cargo has yet to
        // download the crates of other platforms.
        let deny = ["deny", "check", "licenses", "bans", "sources"];
        steps.run("deny", cargo().args(deny))
    } else {
        steps.skip("deny", "cargo-deny is not installed (`cargo install --locked cargo-deny`)");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use toml::{Table, Value};

    use crate::steps::root;

    fn table(path: &str) -> Table {
        std::fs::read_to_string(root().join(path)).unwrap().parse().unwrap()
    }

    /// `forbid` cannot be lifted for one function, so that crate has a list of its own.
    #[test]
    fn the_python_binding_has_the_lints_of_the_workspace() {
        let mut lints = table("Cargo.toml")["workspace"]["lints"].clone();
        lints["rust"]["unsafe_code"] = Value::from("deny");
        assert_eq!(table("bindings/python/Cargo.toml")["lints"], lints);
    }
}
