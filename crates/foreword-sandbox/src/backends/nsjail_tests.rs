use super::*;
use crate::testing::Place;

fn nsjail() -> Nsjail {
    let launcher = Launcher {
        program: "/usr/bin/env".into(),
        library: None,
        command: vec!["sandbox-launch".into()],
    };
    Nsjail::new("/usr/bin/nsjail".into(), launcher)
}

#[test]
fn the_jail_has_the_plan_and_dies_with_the_host() {
    let place = Place::new(&["w/SOUL.md", "w/sub/AGENTS.md"]);
    let command = nsjail().command(&place.spec(&["SOUL.md", "sub/AGENTS.md"])).unwrap();
    let lines = place.lines(&command).replace(&std::process::id().to_string(), "PID");
    let told = |line: &&str| !line.starts_with("--expect");
    insta::assert_snapshot!(lines.lines().filter(told).collect::<Vec<_>>().join("\n"));
    assert_eq!(lines.lines().filter(|line| line.starts_with("--expect")).count(), 4);
    assert!(nsjail().guarantees().dies_with_host);
}

#[test]
fn a_path_with_a_colon_is_refused_and_others_are_taken_as_they_are() {
    let odd = "SO \"UL',\n$x.md";
    let place = Place::new(&[&format!("w/{odd}")]);
    let command = nsjail().command(&place.spec(&[odd])).unwrap();
    let path = place.at("w").join(odd).display().to_string();
    assert!(command.get_args().any(|arg| arg.to_str() == Some(&format!("{path}:{path}"))));
    let place = Place::new(&["w/a:b.md"]);
    let error = nsjail().command(&place.spec(&["a:b.md"])).unwrap_err();
    assert_eq!(
        place.shown(error.to_string()),
        "/w/a:b.md: nsjail does not support a colon in a path; rename it, or use another sandbox"
    );
}
