use super::*;
use std::process::Command;

fn author() -> Signature {
    Signature { name: "Ada".into(), email: "ada@example.org".into(), seconds: 1_700_000_000 }
}

fn put(path: &str, content: &str) -> FileChange {
    FileChange { path: path.into(), content: Some(content.into()), executable: false, base: None }
}

fn take(path: &str) -> FileChange {
    FileChange { path: path.into(), content: None, executable: false, base: None }
}

fn git(directory: &Path, arguments: &[&str]) -> String {
    let done = Command::new("git")
        .arg("--git-dir")
        .arg(directory)
        .args(arguments)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

#[test]
fn git_accepts_what_is_written() {
    let scratch = tempfile::tempdir().unwrap();
    fs::create_dir(scratch.path().join("skills")).unwrap();
    let directory = scratch.path().join("skills.git");
    let repository = Repository::open_or_create(&directory, "../skills").unwrap();
    assert_eq!(repository.head().unwrap(), None);
    let first = repository
        .record(None, &[put("a/SKILL.md", "a"), put("a.b/SKILL.md", "dot")], &author(), |_| {
            "Add a\n".into()
        })
        .unwrap();
    let mut script = put("a/scripts/run.sh", "#!/bin/sh\n");
    script.executable = true;
    let second = repository
        .record(Some(first), &[script, put("flat.md", "f")], &author(), |_| "Add more\n".into())
        .unwrap();
    let third = repository
        .record(Some(second), &[take("a/SKILL.md"), take("a/scripts/run.sh")], &author(), |_| {
            "Remove a\n".into()
        })
        .unwrap();
    assert_eq!(git(&directory, &["fsck", "--strict", "--no-dangling"]), "");
    assert_eq!(
        git(&directory, &["log", "--format=%s %an <%ae> %at"]),
        "Remove a Ada <ada@example.org> 1700000000\n\
         Add more Ada <ada@example.org> 1700000000\n\
         Add a Ada <ada@example.org> 1700000000\n"
    );
    assert_eq!(
        git(&directory, &["ls-tree", "-r", "--format=%(objectmode) %(path)", "HEAD~1"]),
        "100644 a.b/SKILL.md\n100644 a/SKILL.md\n100755 a/scripts/run.sh\n100644 flat.md\n"
    );
    let files = repository.files(Some(third)).unwrap();
    assert_eq!(files.keys().collect::<Vec<_>>(), ["a.b/SKILL.md", "flat.md"]);
    let history: Vec<_> = repository.history().map(|c| c.unwrap().id).collect();
    assert_eq!(history, [third, second, first]);
    let changed = repository.changes(&repository.commit(third).unwrap()).unwrap();
    assert_eq!(
        changed.iter().map(|c| (c.path.as_str(), c.after.is_some())).collect::<Vec<_>>(),
        [("a/SKILL.md", false), ("a/scripts/run.sh", false)]
    );
}

#[test]
fn the_branch_moves_only_from_where_it_was_believed_to_be() {
    let scratch = tempfile::tempdir().unwrap();
    fs::create_dir(scratch.path().join("skills")).unwrap();
    let directory = scratch.path().join("skills.git");
    let repository = Repository::open_or_create(&directory, "../skills").unwrap();
    let first = repository.record(None, &[put("a.md", "a")], &author(), |_| "a\n".into()).unwrap();
    let second =
        repository.record(Some(first), &[put("b.md", "b")], &author(), |_| "b\n".into()).unwrap();
    for stale in [None, Some(first)] {
        let error =
            repository.record(stale, &[put("c.md", "c")], &author(), |_| "c\n".into()).unwrap_err();
        assert!(matches!(error, SkillError::Moved), "{error}");
    }
    assert_eq!(repository.head().unwrap(), Some(second));
}

#[test]
fn removing_everything_leaves_an_empty_tree() {
    let scratch = tempfile::tempdir().unwrap();
    fs::create_dir(scratch.path().join("skills")).unwrap();
    let directory = scratch.path().join("skills.git");
    let repository = Repository::open_or_create(&directory, "../skills").unwrap();
    let first =
        repository.record(None, &[put("a/SKILL.md", "a")], &author(), |_| "a\n".into()).unwrap();
    let second =
        repository.record(Some(first), &[take("a/SKILL.md")], &author(), |_| "b\n".into()).unwrap();
    assert!(repository.files(Some(second)).unwrap().is_empty());
    assert_eq!(git(&directory, &["fsck", "--strict", "--no-dangling"]), "");
}

#[test]
fn nobody_breaks_out_of_a_header() {
    let scratch = tempfile::tempdir().unwrap();
    fs::create_dir(scratch.path().join("skills")).unwrap();
    let directory = scratch.path().join("skills.git");
    let repository = Repository::open_or_create(&directory, "../skills").unwrap();
    let evil = Signature { name: "A\n<b>".into(), email: " \0 ".into(), seconds: 0 };
    repository.record(None, &[put("a.md", "a")], &evil, |_| "a\n".into()).unwrap();
    assert_eq!(git(&directory, &["fsck", "--strict", "--no-dangling"]), "");
    assert_eq!(git(&directory, &["log", "--format=%an|%ae"]), "Ab|foreword\n");
}

#[test]
fn damage_is_told_and_nothing_is_touched() {
    let scratch = tempfile::tempdir().unwrap();
    fs::create_dir(scratch.path().join("skills")).unwrap();
    let directory = scratch.path().join("skills.git");
    let repository = Repository::open_or_create(&directory, "../skills").unwrap();
    repository.record(None, &[put("a.md", "a")], &author(), |_| "a\n".into()).unwrap();
    fs::write(directory.join(BRANCH), "no commit id\n").unwrap();
    let reopened = Repository::open(&directory).unwrap().unwrap();
    assert!(matches!(reopened.head(), Err(SkillError::Damaged { .. })));
    assert_eq!(fs::read_to_string(directory.join(BRANCH)).unwrap(), "no commit id\n");
    // The configuration is for people's git; it is not read here.
    fs::write(directory.join("config"), "[core").unwrap();
    assert!(Repository::open(&directory).is_ok());
    fs::remove_file(directory.join("HEAD")).unwrap();
    assert!(matches!(Repository::open(&directory), Err(SkillError::Damaged { .. })));
    fs::remove_dir_all(&directory).unwrap();
    fs::write(&directory, "a file").unwrap();
    assert!(Repository::open(&directory).is_err());
    assert_eq!(fs::read_to_string(&directory).unwrap(), "a file");
}
