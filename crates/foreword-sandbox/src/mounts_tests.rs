use super::*;
use crate::testing::Place;

fn planned(place: &Place, spec: &SandboxSpec) -> String {
    planned_with(place, spec, None)
}

fn planned_with(place: &Place, spec: &SandboxSpec, launcher: Option<&Launcher>) -> String {
    let mounts = plan(spec, launcher, &["/usr".into()]).unwrap();
    let line = |mount: &Mount| format!("{:?} {}\n", mount.shown, place.shown(&mount.path));
    mounts.iter().map(line).collect()
}

#[test]
fn governed_paths_are_closed_and_what_lies_above_them_is_nailed_down() {
    let place = Place::new(&["w/SOUL.md", "w/a/b/AGENTS.md", "w/skills/x/SKILL.md"]);
    let spec = place.spec(&["SOUL.md", "a/b/AGENTS.md", "skills"]);
    insta::assert_snapshot!(planned(&place, &spec), @r"
    ReadOnly /bin/agent
    Writable /w
    EmptyDirectory /w/.foreword
    ReadOnly /w/SOUL.md
    Writable /w/a
    Writable /w/a/b
    ReadOnly /w/a/b/AGENTS.md
    ReadOnly /w/skills
    ");
}

#[test]
fn nothing_opens_a_hole_in_what_is_closed() {
    let place = Place::new(&["w/prompts/deep/mine.toml", "w/.foreword/run/x", "w/tools/agent"]);
    let mut spec = place.spec(&["prompts", "prompts/deep/mine.toml"]);
    spec.program = place.at("w/tools/agent");
    spec.run_dir = place.at("w/.foreword/run");
    insta::assert_snapshot!(planned(&place, &spec), @r"
    Writable /w
    EmptyDirectory /w/.foreword
    ReadOnly /w/prompts
    Writable /w/tools
    ReadOnly /w/tools/agent
    ");
    spec.writable = false;
    insta::assert_snapshot!(planned(&place, &spec), @r"
    ReadOnly /w
    EmptyDirectory /w/.foreword
    ");
}

/// A wheel in an environment of the workspace: an agent must not write what the host runs.
#[test]
fn the_launcher_is_shown_with_its_library() {
    let place = Place::new(&["w/venv/_packaged/foreword", "w/venv/_foreword.abi3.so"]);
    let launcher = Launcher {
        program: place.at("w/venv/_packaged/foreword"),
        library: Some(place.at("w/venv/_foreword.abi3.so")),
        command: Vec::new(),
    };
    insta::assert_snapshot!(planned_with(&place, &place.spec(&[]), Some(&launcher)), @r"
    ReadOnly /bin/agent
    Writable /w
    EmptyDirectory /w/.foreword
    Writable /w/venv
    ReadOnly /w/venv/_foreword.abi3.so
    Writable /w/venv/_packaged
    ReadOnly /w/venv/_packaged/foreword
    ");
}

#[cfg(unix)]
#[test]
fn a_tree_behind_a_link_is_shown_at_both_places() {
    let place = Place::new(&["home/lib/claude/cli.js", "home/bin/"]);
    let link = place.at("home/bin/claude");
    std::os::unix::fs::symlink("../lib/claude/cli.js", &link).unwrap();
    let mut spec = place.spec(&[]);
    spec.read_only = vec![link, place.at("home/lib/claude")];
    insta::assert_snapshot!(planned(&place, &spec), @r"
    ReadOnly /bin/agent
    ReadOnly /home/bin/claude
    ReadOnly /home/lib/claude
    ReadOnly /home/lib/claude/cli.js
    Writable /w
    EmptyDirectory /w/.foreword
    ");
    spec.read_only.push(place.at("home/bin"));
    assert!(!planned(&place, &spec).contains("bin/claude"), "the link itself is there");
    spec.program = "/usr/bin/env".into();
    assert!(!planned(&place, &spec).contains("/usr"), "the system is there anyway");
}

#[test]
fn a_spec_that_would_show_too_much_is_refused() {
    let place = Place::new(&["w/SOUL.md", "elsewhere/x", "home/w2/.foreword/x"]);
    let refused = |change: &dyn Fn(&mut SandboxSpec)| {
        let mut spec = place.spec(&["SOUL.md"]);
        change(&mut spec);
        place.shown(spec.check().unwrap_err().to_string())
    };
    insta::assert_snapshot!(refused(&|s| s.workspace = "/usr".into()), @"/usr: cannot be a workspace: it is a system directory");
    insta::assert_snapshot!(refused(&|s| s.workspace = "/".into()), @"/: cannot be a workspace: it is the root of the file system");
    insta::assert_snapshot!(refused(&|s| s.workspace = place.at("home")), @"/home: cannot be a workspace: it is your home directory or contains it");
    insta::assert_snapshot!(refused(&|s| s.cwd = place.at("elsewhere")), @"/elsewhere: is outside the workspace /w; choose a working directory inside it");
    insta::assert_snapshot!(refused(&|s| s.governed = vec![place.at("elsewhere/x")]), @"/elsewhere/x: is outside the workspace and cannot be governed");
    insta::assert_snapshot!(refused(&|s| s.private = vec![place.at("w/.gone")]), @"/w/.gone: must exist before an agent starts, so that it can be hidden");
    insta::assert_snapshot!(refused(&|s| s.read_only = vec![place.at("home")]), @"/home: cannot be shown to an agent because that would expose /home/.config/foreword");
    insta::assert_snapshot!(refused(&|s| s.read_only = vec![place.at("home/.config")]), @"/home/.config: cannot be shown to an agent because that would expose /home/.config/foreword");
    insta::assert_snapshot!(refused(&|s| s.governed = vec![place.at("w/gone")]), @"/w/gone: No such file or directory (os error 2)");
    insta::assert_snapshot!(refused(&|s| s.bridge_ports = Some(1..=100)), @"too many ports of the bridge for a sandbox; the limit is 64");
    insta::assert_snapshot!(refused(&|s| { s.env.insert("A=B".into(), String::new()); }), @"invalid environment variable name: `A=B`");
    insta::assert_snapshot!(refused(&|s| s.env.extend((0..201).map(|n| (format!("V{n}"), String::new())))), @"too many variables for a sandbox; the limit is 200");
}

#[cfg(unix)]
#[test]
fn links_are_refused_where_they_could_be_exchanged() {
    let place = Place::new(&["w/SOUL.md", "real/x"]);
    std::os::unix::fs::symlink(place.at("real"), place.at("w/linked")).unwrap();
    let mut spec = place.spec(&["SOUL.md", "linked/x"]);
    let error = place.shown(spec.check().unwrap_err().to_string());
    assert_eq!(error, "/w/linked/x: is a symbolic link or below one; use the real path /real/x");
    spec.governed.pop();
    spec.private = vec![place.at("w/linked")];
    assert!(spec.check().is_err());
}

#[test]
fn mounts_are_bounded() {
    let files: Vec<String> = (0..1500).map(|n| format!("w/f{n}")).collect();
    let place = Place::new(&files.iter().map(String::as_str).collect::<Vec<_>>());
    let names: Vec<&str> = files.iter().map(|file| file.trim_start_matches("w/")).collect();
    let error = plan(&place.spec(&names), None, &[]).unwrap_err();
    assert_eq!(error.to_string(), "too many mounts for a sandbox; the limit is 1500");
}
