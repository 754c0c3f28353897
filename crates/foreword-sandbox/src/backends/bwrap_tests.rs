use super::*;
use crate::testing::Place;

#[test]
fn the_arguments_are_namespaces_system_plan_and_program() {
    let place = Place::new(&["w/SOUL.md", "w/sub/AGENTS.md", "home/lib/claude/cli.js"]);
    let mut spec = place.spec(&["SOUL.md", "sub/AGENTS.md"]);
    spec.read_only = vec![place.at("home/lib/claude")];
    let command = Bwrap::new("/usr/bin/bwrap".into()).command(&spec).unwrap();
    insta::assert_snapshot!(place.lines(&command));
}

#[test]
fn a_program_that_is_no_bubblewrap_is_told() {
    let error = Bwrap::new("/bin/false".into()).trial().unwrap_err().to_string();
    assert!(
        error.starts_with("sandbox bwrap is unavailable: /bin/false: exit status: 1"),
        "{error}"
    );
    assert!(error.contains("install the package `bubblewrap`"));
}
