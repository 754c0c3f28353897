use super::*;

fn change(path: &str, content: Option<&str>) -> FileChange {
    FileChange {
        path: path.into(),
        content: content.map(Into::into),
        executable: false,
        base: None,
    }
}

#[test]
fn files_are_written_read_and_taken_away_with_their_folders() {
    let scratch = tempfile::tempdir().unwrap();
    let tree = WorkTree::open_or_create(scratch.path(), "lib/skills/").unwrap();
    tree.apply(&change("a/scripts/run.sh", Some("x"))).unwrap();
    tree.apply(&change("a/SKILL.md", Some("a"))).unwrap();
    assert_eq!(tree.read("a/SKILL.md").unwrap().unwrap().content, b"a");
    assert_eq!(tree.read("a/NO.md").unwrap(), None);
    assert_eq!(
        tree.files("a").unwrap().keys().collect::<Vec<_>>(),
        ["a/SKILL.md", "a/scripts/run.sh"]
    );
    tree.apply(&change("a/scripts/run.sh", None)).unwrap();
    assert!(!scratch.path().join("lib/skills/a/scripts").exists());
    tree.apply(&change("a/SKILL.md", None)).unwrap();
    assert_eq!(tree.names().unwrap(), Vec::<String>::new());
    tree.apply(&change("a/SKILL.md", None)).unwrap();
}

#[cfg(unix)]
#[test]
fn no_link_is_followed() {
    use std::os::unix::fs::symlink;
    let scratch = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(scratch.path().join("ws/skills/real")).unwrap();
    std::fs::create_dir_all(scratch.path().join("out")).unwrap();
    std::fs::write(scratch.path().join("out/SKILL.md"), "out").unwrap();
    let root = scratch.path().join("ws");
    symlink("../../out", root.join("skills/far")).unwrap();
    symlink("real", root.join("skills/near")).unwrap();
    symlink("../../../out/SKILL.md", root.join("skills/real/SKILL.md")).unwrap();
    let tree = WorkTree::open_or_create(&root, "skills").unwrap();
    for path in ["far/SKILL.md", "near/SKILL.md", "real/SKILL.md"] {
        assert!(matches!(tree.read(path), Err(SkillError::Link { .. })), "{path}");
        let written = tree.apply(&change(path, Some("evil")));
        assert!(matches!(written, Err(SkillError::Link { .. })), "{path}");
        assert!(matches!(tree.apply(&change(path, None)), Err(SkillError::Link { .. })), "{path}");
    }
    assert!(matches!(tree.files("real"), Err(SkillError::Link { .. })));
    assert_eq!(std::fs::read_to_string(scratch.path().join("out/SKILL.md")).unwrap(), "out");
    for path in ["../out/x", "/etc/x", "real/../../out/x"] {
        assert!(tree.apply(&change(path, Some("evil"))).is_err(), "{path}");
    }
    assert!(!scratch.path().join("out/x").exists());
    symlink("../out", root.join("elsewhere")).unwrap();
    assert!(WorkTree::open_or_create(&root, "elsewhere").is_err());
}
