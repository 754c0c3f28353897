//! The server scenarios of the MCP conformance suite, over HTTP.
//!
//! What does not pass stands in `conformance/expected-failures.yml`, with the reason. The suite itself
//! fails when a scenario in it passes, so that the list gets shorter; and this test fails when it gets
//! longer.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The most entries the list of expected failures may have. It may only shrink.
const MOST_EXPECTED: usize = 20;

#[test]
fn the_conformance_suite_passes_but_for_what_is_listed() {
    let Some(suite) = foreword_testing::npm_program("conformance") else { return };
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance");
    let expected = own.join("expected-failures.yml");
    let list = std::fs::read_to_string(&expected).unwrap();
    let listed = list.lines().filter(|line| line.trim_start().starts_with("- ")).count();
    assert!(listed <= MOST_EXPECTED, "{listed} expected failures; there were {MOST_EXPECTED}");

    let server = crate::wire::Server::start(crate::parts::Parts::new(&crate::programs::workspace(
        "tideline",
    )));
    // The suite knows of no tokens.
    let addr = crate::wire::add_token(server.addr);
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("node");
    command.arg("--import").arg(own.join("node20.mjs")).arg(suite);
    command.args(["server", "--suite", "all", "--url", &format!("http://{addr}/mcp")]);
    command.arg("--expected-failures").arg(expected).current_dir(&folder);
    let output = crate::programs::run(&mut command, Duration::from_secs(180));
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}\n{errors}");
    // And not because nothing was run.
    let scenarios =
        told.split_once("suite (").and_then(|(_, rest)| rest.split_once(' ')).unwrap().0;
    let passed = told.lines().filter(|line| line.starts_with('✓') && !line.contains(": 0 passed"));
    assert_eq!((scenarios, passed.count()), ("32", 32 - listed), "{told}");
}
