use super::*;
use crate::governed::contents::{GovernedChanges, MAX_KEPT_TEXT};
use crate::testing::Scratch;
use std::collections::BTreeSet;

fn names(map: &BTreeMap<String, GovernedGroup>) -> Vec<&str> {
    map.keys().map(String::as_str).collect()
}

#[cfg(unix)]
fn link(scratch: &Scratch, target: &str, at: &str) {
    let at = scratch.path().join(at);
    std::fs::create_dir_all(at.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(target, at).unwrap();
}

#[test]
fn every_governed_path_that_exists_is_found_and_nothing_else() {
    let scratch = Scratch::new(&[
        (
            "foreword.toml",
            "blueprint = 'plans/mine.toml'\n[skills]\nroots = ['.claude/skills', '/elsewhere/skills', 'gone']\n",
        ),
        (
            "plans/mine.toml",
            "name = 'm'\nextends = 'plans/base.toml'\n[[module]]\nname = 'x'\nfile = 'docs/x.md'\n",
        ),
        ("plans/base.toml", "name = 'b'\nextends = 'plans/mine.toml'\n"),
        ("plans/other.toml", "name = 'o'\n"),
        ("plans/unused.toml", "name = 'u'\n"),
        ("docs/x.md", "x"),
        ("docs/y.md", "y"),
        ("tools.toml", ""),
        ("foreword.lock", ""),
        ("SOUL.md", "s"),
        ("CONTEXT.md", "c"),
        ("AGENTS.md", "a"),
        ("a/b/CLAUDE.md", "n"),
        ("node_modules/p/AGENTS.md", "n"),
        (".hidden/AGENTS.md", "h"),
        ("agents/one.md", "---\nblueprint: plans/other.toml\n---\n"),
        ("agents/broken.md", "---\nx: 1\n---\n"),
        ("prompts/base.md", "p"),
        ("skills/s.md", "s"),
        (".claude/skills/t.md", "t"),
        (".foreword/layers/rules.md", "r"),
        (".foreword/foreword.db", "d"),
        ("src/main.rs", "code"),
    ]);
    let governed = scratch.open().governed().unwrap();
    assert_eq!(
        names(governed.paths()),
        [
            ".claude/skills",
            ".foreword/layers",
            "AGENTS.md",
            "CONTEXT.md",
            "SOUL.md",
            "agents",
            "docs/x.md",
            "foreword.lock",
            "foreword.toml",
            "plans/base.toml",
            "plans/mine.toml",
            "plans/other.toml",
            "prompts",
            "skills",
            "tools.toml",
        ]
    );
    assert_eq!(
        names(governed.absent()),
        [
            ".mcp.json",
            "BOOTSTRAP.md",
            "CLAUDE.md",
            "HEARTBEAT.md",
            "IDENTITY.md",
            "TOOLS.md",
            "USER.md",
            "USER_BOOTSTRAP.md",
            "foreword-migration.toml",
            "gone",
        ]
    );
    assert_eq!(governed.outside(), [PathBuf::from("/elsewhere/skills")]);
    assert!(governed.links().is_empty());
    let root = std::fs::canonicalize(scratch.path()).unwrap();
    assert!(governed.read_only().contains(&root.join("docs/x.md")));
    assert!(!governed.read_only().iter().any(|path| path.starts_with(governed.private())));
    for (path, group) in [
        ("skills/new/SKILL.md", Some(GovernedGroup::Skills)),
        ("gone/x.md", Some(GovernedGroup::Skills)),
        ("USER.md", Some(GovernedGroup::Identity)),
        ("deep/down/AGENTS.md", None),
        ("prompts", Some(GovernedGroup::Prompts)),
        ("docs/y.md", None),
        ("skills2/x", None),
        ("agents.txt", None),
    ] {
        assert_eq!(governed.group_of(path), group, "{path}");
    }
}

#[test]
fn what_a_session_would_read_is_governed_wherever_it_lies() {
    let scratch = Scratch::new(&[
        ("node_modules/p/q/x", ""),
        ("node_modules/p/AGENTS.md", "n"),
        ("node_modules/other/AGENTS.md", "not on the way"),
    ]);
    let workspace = scratch.open();
    assert!(workspace.governed().unwrap().paths().is_empty());
    let cwd = Path::new("node_modules/p/q");
    let governed = workspace.governed_at(Some(cwd)).unwrap();
    assert_eq!(names(governed.paths()), ["node_modules/p/AGENTS.md"]);
    assert!(governed.absent().contains_key("node_modules/p/q/AGENTS.md"));
    assert!(workspace.governed_at(Some(Path::new("nowhere"))).is_err());
}

#[test]
fn a_blueprint_in_a_governed_directory_is_governed_with_it() {
    let scratch = Scratch::new(&[
        ("foreword.toml", "blueprint = 'prompts/mine.toml'"),
        ("prompts/mine.toml", "name = 'm'"),
        ("prompts-old/x", "not below"),
    ]);
    let governed = scratch.open().governed().unwrap();
    assert_eq!(names(governed.paths()), ["foreword.toml", "prompts"]);
}

#[cfg(unix)]
#[test]
fn links_are_noted_and_where_they_lead_inside_is_governed() {
    let scratch = Scratch::new(&[
        ("docs/soul.md", "s"),
        ("AGENTS.md", "a"),
        ("team/x.md", "x"),
        ("notes/skill.md", "k"),
        ("skills/real.md", "r"),
    ]);
    link(&scratch, "step", "SOUL.md");
    link(&scratch, "docs/soul.md", "step");
    link(&scratch, "AGENTS.md", "CLAUDE.md");
    link(&scratch, "/etc/passwd", "USER.md");
    link(&scratch, "../outside.md", "IDENTITY.md");
    link(&scratch, "docs/none.md", "TOOLS.md");
    link(&scratch, "team", "agents");
    link(&scratch, "loop", "HEARTBEAT.md");
    link(&scratch, "HEARTBEAT.md", "loop");
    link(&scratch, "../notes/skill.md", "skills/linked.md");
    link(&scratch, "..", "skills/around");
    link(&scratch, ".", "prompts");
    let governed = scratch.open().governed().unwrap();
    assert_eq!(
        names(governed.paths()),
        ["AGENTS.md", "docs/soul.md", "notes/skill.md", "skills", "team"]
    );
    let links: Vec<_> = governed.links().keys().map(String::as_str).collect();
    assert_eq!(
        links,
        [
            "CLAUDE.md",
            "HEARTBEAT.md",
            "IDENTITY.md",
            "SOUL.md",
            "TOOLS.md",
            "USER.md",
            "agents",
            "loop",
            "prompts",
            "step",
        ]
    );
    assert!(governed.absent().contains_key("docs/none.md"));
    assert_eq!(governed.links()["USER.md"].target, PathBuf::from("/etc/passwd"));
    let contents = governed.read(&GovernedGroup::ALL).unwrap();
    assert_eq!(contents.files["USER.md"].text.as_deref(), Some("link to /etc/passwd\n"));
    assert_eq!(contents.files["docs/soul.md"].text.as_deref(), Some("s"));
    assert!(!contents.files.contains_key("skills/around/AGENTS.md"));
}

#[test]
fn changes_are_told_by_group() {
    let scratch = Scratch::new(&[
        ("SOUL.md", "one"),
        ("USER.md", "same"),
        ("prompts/a/b.md", "b"),
        ("skills/s/SKILL.md", "s"),
        ("skills/s/data.bin", "\0\u{1}"),
    ]);
    let workspace = scratch.open();
    let read = |groups| workspace.governed().unwrap().read(groups).unwrap();
    let (before, skills) = (read(&GovernedGroup::TRUSTED), read(&[GovernedGroup::Skills]));
    let paths: Vec<_> = before.files.keys().map(String::as_str).collect();
    assert_eq!(paths, ["SOUL.md", "USER.md", "prompts/a/b.md"]);
    assert_eq!(skills.files.len(), 2);
    scratch.write("SOUL.md", "two");
    scratch.write("prompts/new.md", "n");
    scratch.write("skills/t.md", "t");
    std::fs::remove_file(scratch.path().join("prompts/a/b.md")).unwrap();
    let now = read(&GovernedGroup::TRUSTED);
    assert_eq!(
        now.changes_since(&before),
        GovernedChanges {
            added: vec!["prompts/new.md".into()],
            changed: vec!["SOUL.md".into()],
            removed: vec!["prompts/a/b.md".into()],
        }
    );
    assert!(now.changes_since(&now).is_empty());
    assert_eq!(read(&[GovernedGroup::Skills]).changes_since(&skills).added, ["skills/t.md"]);
}

#[test]
fn long_and_binary_files_have_a_digest_and_no_text() {
    let scratch = Scratch::new(&[("SOUL.md", &"x".repeat(MAX_KEPT_TEXT))]);
    scratch.write("USER.md", "x".repeat(MAX_KEPT_TEXT + 1));
    scratch.write("TOOLS.md", [0xff, 0xfe, 0]);
    let contents = scratch.open().governed().unwrap().read(&GovernedGroup::ALL).unwrap();
    let kept: BTreeSet<_> = contents
        .files
        .iter()
        .filter(|(_, file)| file.text.is_some())
        .map(|(path, _)| path)
        .collect();
    assert_eq!(kept, BTreeSet::from([&"SOUL.md".to_owned()]));
    let digest: [u8; 32] = blake3::hash(&[0xff, 0xfe, 0]).into();
    assert_eq!(contents.digests()["TOOLS.md"], digest);
}

#[cfg(unix)]
#[test]
fn a_pipe_under_a_governed_name_is_refused_and_not_waited_for() {
    let scratch = Scratch::new(&[]);
    let made = std::process::Command::new("mkfifo").arg(scratch.path().join("SOUL.md")).status();
    assert!(made.unwrap().success());
    let error = scratch.open().governed().unwrap().read(&GovernedGroup::ALL).unwrap_err();
    assert_eq!(error.to_string(), "SOUL.md: is not a regular file but a pipe, socket or device");
}

#[test]
fn governed_files_without_end_are_refused() {
    let scratch = Scratch::new(&[]);
    for name in ["a", "b", "c"] {
        let path = scratch.path().join("skills").join(name);
        scratch.write(&format!("skills/{name}"), "");
        std::fs::File::options().write(true).open(path).unwrap().set_len(100 << 20).unwrap();
    }
    let error = scratch.open().governed().unwrap().read(&[GovernedGroup::Skills]).unwrap_err();
    assert!(error.to_string().contains("the governed files up to this one are"), "{error}");
    assert_eq!(error.hint(), "move large files out of skills, prompts and agents");
}

#[test]
fn a_flood_of_files_changes_nothing() {
    let scratch = Scratch::new(&[("AGENTS.md", "a"), ("x/AGENTS.md", "x"), ("zz/SOUL.md", "s")]);
    let find = || scratch.open().governed_at(Some(Path::new("x"))).unwrap();
    let before = find();
    for n in 0..20_000 {
        std::fs::File::create(scratch.path().join(format!("{n}"))).unwrap();
    }
    let start = std::time::Instant::now();
    assert_eq!(find(), before);
    assert!(start.elapsed().as_millis() < 100, "nothing is walked");
}

#[test]
fn what_was_not_looked_up_is_not_missing() {
    let scratch = Scratch::new(&[("AGENTS.md", "root"), ("a/AGENTS.md", "a"), ("b/x", "")]);
    let read = |cwd: &str| {
        let governed = scratch.open().governed_at(Some(Path::new(cwd))).unwrap();
        governed.read(&GovernedGroup::TRUSTED).unwrap()
    };
    let accepted = read("a");
    assert!(read("b").changes_since(&accepted).is_empty());
    std::fs::remove_file(scratch.path().join("a/AGENTS.md")).unwrap();
    assert!(read("b").changes_since(&accepted).is_empty());
    assert_eq!(read("a").changes_since(&accepted).removed, ["a/AGENTS.md"]);
    scratch.write("b/CLAUDE.md", "b");
    assert_eq!(read("b").changes_since(&accepted).added, ["b/CLAUDE.md"]);
    let both = read("b").with_others_of(&accepted);
    let paths: Vec<_> = both.files.keys().map(String::as_str).collect();
    assert_eq!(paths, ["AGENTS.md", "a/AGENTS.md", "b/CLAUDE.md"]);
}
