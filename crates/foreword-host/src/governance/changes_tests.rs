use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use foreword_store::{HeldState, MAX_PENDING_HELD};

use super::*;
use crate::governance::before::TurnId;
use crate::testing::TestHost;

fn capture(host: &Host, session: &str) -> BeforeTurn {
    let turn = TurnId {
        session: session.to_owned(),
        turn: 1,
        agent: "agent:default".to_owned(),
        owner: host.owner.clone(),
        cwd: PathBuf::new(),
    };
    BeforeTurn::capture(&host.root, turn).unwrap()
}

fn account(host: &Host, before: &BeforeTurn) -> TurnChanges {
    let (changes, faults) = host.account_for(before, None, false).unwrap();
    assert!(faults.is_empty(), "{faults:?}");
    changes
}

fn write(host: &Host, path: &str, text: impl AsRef<[u8]>) {
    let at = host.root.join(path);
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    fs::write(at, text).unwrap();
}

fn read(host: &Host, path: &str) -> Option<String> {
    fs::read_to_string(host.root.join(path)).ok()
}

#[test]
fn turns_that_overlap_do_not_launder_each_others_changes() {
    let test = TestHost::new();
    let host = &test.host;
    write(host, ".npmrc", "mine");
    let parent = capture(host, "parent");
    write(host, ".envrc", "evil");
    write(host, ".npmrc", "evil");
    // For the child, what its parent wrote was there before.
    let child = capture(host, "child");
    assert_eq!(account(host, &parent).held.len(), 2);
    assert_eq!((read(host, ".envrc"), read(host, ".npmrc")), (None, Some("mine".to_owned())));
    let changes = account(host, &child);
    assert_eq!(changes.held, [], "{changes:?}");
    assert_eq!((read(host, ".envrc"), read(host, ".npmrc")), (None, Some("mine".to_owned())));
}

#[test]
fn a_change_approved_during_a_turn_stays() {
    let test = TestHost::new();
    let host = &test.host;
    let first = capture(host, "first");
    write(host, ".envrc", "new");
    account(host, &first);
    let second = capture(host, "second");
    let held = host.reader.held_changes(Some(HeldState::Pending)).unwrap().remove(0);
    host.decide_held(held.id.as_str(), true, None).unwrap();
    assert_eq!(account(host, &second).held, []);
    assert_eq!(read(host, ".envrc").as_deref(), Some("new"));
}

#[test]
fn what_cannot_be_held_is_moved_to_quarantine() {
    let test = TestHost::new();
    let host = &test.host;
    write(host, ".npmrc", "mine");
    let before = capture(host, "s");
    write(host, ".npmrc", vec![b'x'; MAX_HELD_BYTES + 1]);
    let limit = usize::try_from(MAX_PENDING_HELD).unwrap();
    for number in 0..limit + 3 {
        write(host, &format!(".husky/{number}"), "evil");
    }
    let changes = account(host, &before);
    assert_eq!((changes.held.len(), changes.quarantined.len()), (limit, 4));
    assert_eq!(read(host, ".npmrc").as_deref(), Some("mine"));
    assert!(!host.root.join(".husky").exists());
    let moved = changes.quarantined.iter().find(|moved| moved.path == ".npmrc").unwrap();
    assert_eq!(moved.moved_to, ".foreword/quarantine/s-1/.npmrc");
    assert!(host.root.join(&moved.moved_to).exists());
}

#[test]
fn a_flooded_directory_of_hooks_is_moved_and_its_old_files_are_put_back() {
    let test = TestHost::new();
    let host = &test.host;
    write(host, ".husky/pre-commit", "mine");
    let before = capture(host, "s");
    for number in 0..20_010 {
        fs::write(host.root.join(format!(".husky/{number}")), "").unwrap();
    }
    write(host, ".husky/pre-commit", "evil");
    let changes = account(host, &before);
    assert_eq!(changes.unchecked, [".husky"]);
    assert_eq!(changes.quarantined[0].path, ".husky");
    assert_eq!(read(host, ".husky/pre-commit").as_deref(), Some("mine"));
    assert_eq!(fs::read_dir(host.root.join(".husky")).unwrap().count(), 1);
}

#[test]
fn a_file_too_large_to_copy_is_read_only_and_a_called_one_is_reported() {
    let test = TestHost::new();
    let host = &test.host;
    let large = vec![b'x'; MAX_HELD_BYTES + 1];
    write(host, ".yarn/releases/yarn.cjs", &large);
    write(host, "tool.sh", &large);
    let before = capture(host, "s");
    let read_only: Vec<_> = before.read_only().collect();
    assert_eq!(read_only, [host.root.join(".yarn/releases/yarn.cjs")]);
    write(host, "tool.sh", "evil");
    let (changes, _) = host.account_for(&before, None, true).unwrap();
    assert_eq!(changes.not_held, ["tool.sh"]);
    assert!(changes.warnings()[0].to_string().contains("tool.sh"), "{:?}", changes.warnings());
}

#[test]
fn a_name_that_is_no_text_is_moved() {
    use std::os::unix::ffi::OsStrExt as _;
    let test = TestHost::new();
    let host = &test.host;
    let before = capture(host, "s");
    let directory = host.root.join(OsStr::from_bytes(b"odd\xff"));
    fs::create_dir(&directory).unwrap();
    fs::write(directory.join(".envrc"), "evil").unwrap();
    let changes = account(host, &before);
    assert_eq!(changes.quarantined.len(), 1);
    assert!(!directory.join(".envrc").exists());
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_directory_that_an_agent_closed_is_open_again() {
    let test = TestHost::new();
    let host = &test.host;
    let (closed, replaced) = (host.root.join("a/closed"), host.root.join("a/replaced"));
    let outside = tempfile::tempdir().unwrap();
    for directory in [&closed, &replaced] {
        fs::create_dir_all(directory).unwrap();
        fs::set_permissions(directory, Permissions::from_mode(0o755)).unwrap();
    }
    let before = capture(host, "first");
    fs::set_permissions(&closed, Permissions::from_mode(0o000)).unwrap();
    fs::remove_dir(&replaced).unwrap();
    fs::set_permissions(outside.path(), Permissions::from_mode(0o500)).unwrap();
    symlink(outside.path(), &replaced).unwrap();
    account(host, &before);
    assert_eq!((mode(&closed), mode(outside.path())), (0o755, 0o500));
}

#[test]
fn a_change_that_only_git_still_has_is_told() {
    let test = TestHost::new();
    let host = &test.host;
    let git = |args: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]);
        let done = git.args(args).current_dir(&host.root).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    git(&["init", "-q"]);
    write(host, ".envrc", "mine");
    write(host, ".npmrc", "mine");
    git(&["add", ".envrc", ".npmrc"]);
    git(&["commit", "-qm", "one"]);
    // What the person staged and changed again is their own.
    write(host, ".npmrc", "mine, staged");
    git(&["add", ".npmrc"]);
    write(host, ".npmrc", "mine, later");
    let before = capture(host, "first");
    write(host, ".envrc", "evil");
    write(host, ".husky/pre-commit", "evil");
    git(&["add", ".envrc", ".husky"]);
    git(&["commit", "-qm", "evil"]);
    let changes = account(host, &before);
    assert_eq!(read(host, ".envrc").as_deref(), Some("mine"));
    assert_eq!(changes.staged, [".envrc", ".husky/pre-commit"]);
    let said: Vec<String> = changes.warnings().iter().map(ToString::to_string).collect();
    assert!(
        said.iter().any(|it| it.contains("git still has") && it.contains(".envrc")),
        "{said:?}"
    );
    // It is told once, by the turn that did it.
    let before = capture(host, "second");
    write(host, "a.txt", "x");
    git(&["add", "a.txt"]);
    assert_eq!(account(host, &before).staged, [""; 0]);
}
