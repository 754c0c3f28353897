use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;
use crate::testing::Scratch;

fn changes(scratch: &Scratch, before: &TreeSnapshot) -> Vec<(String, TreeChange)> {
    let now = before.take_again(scratch.path(), Path::new("")).unwrap();
    let found = now.changes_since(before);
    found.into_iter().map(|(path, how)| (path.to_string_lossy().into_owned(), how)).collect()
}

fn created(path: &str) -> (String, TreeChange) {
    (path.to_owned(), TreeChange::Created)
}

fn removed(path: &str) -> (String, TreeChange) {
    (path.to_owned(), TreeChange::Removed)
}

fn modified(path: &str) -> (String, TreeChange) {
    (path.to_owned(), TreeChange::Modified)
}

/// Time passes, so that a change shows in a stamp.
fn wait() {
    std::thread::sleep(std::time::Duration::from_millis(30));
}

#[test]
fn every_kind_of_change_is_seen() {
    let scratch = Scratch::new(&[
        ("a", "1"),
        ("b", "1"),
        ("sub/c", "1"),
        ("sub/deep/d", "1"),
        ("x/y", "1"),
        (".git/objects/1", ""),
        (".foreword/foreword.db", ""),
    ]);
    let root = scratch.path();
    wait();
    let before = TreeSnapshot::take(root, Path::new("")).unwrap();
    assert_eq!(changes(&scratch, &before), []);
    wait();
    // The same size and the same time of modification.
    let time = fs::metadata(root.join("a")).unwrap().modified().unwrap();
    fs::write(root.join("a"), "2").unwrap();
    fs::File::options().write(true).open(root.join("a")).unwrap().set_modified(time).unwrap();
    fs::set_permissions(root.join("b"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::rename(root.join("sub"), root.join("moved")).unwrap();
    fs::remove_file(root.join("x/y")).unwrap();
    symlink("/etc", root.join("x/y")).unwrap();
    scratch.write("new/n", "");
    scratch.write(".git/objects/2", "");
    scratch.write(".foreword/more", "");
    let expected = [
        modified("a"),
        modified("b"),
        created("moved/c"),
        created("moved/deep/d"),
        created("new/n"),
        removed("sub/c"),
        removed("sub/deep/d"),
        modified("x/y"),
    ];
    assert_eq!(changes(&scratch, &before), expected);
}

#[test]
fn a_second_name_of_a_file_does_not_hide_a_change() {
    let scratch = Scratch::new(&[("Makefile", "1"), ("notes", "1")]);
    wait();
    let before = TreeSnapshot::take(scratch.path(), Path::new("")).unwrap();
    fs::remove_file(scratch.path().join("notes")).unwrap();
    fs::hard_link(scratch.path().join("Makefile"), scratch.path().join("notes")).unwrap();
    scratch.write("notes", "2");
    assert_eq!(changes(&scratch, &before), [modified("Makefile"), modified("notes")]);
}

#[test]
fn a_directory_that_becomes_a_file_or_a_link_is_seen() {
    let scratch = Scratch::new(&[("a/x", ""), ("b/x", ""), ("c", "")]);
    wait();
    let before = TreeSnapshot::take(scratch.path(), Path::new("")).unwrap();
    fs::remove_dir_all(scratch.path().join("a")).unwrap();
    scratch.write("a", "");
    fs::rename(scratch.path().join("b"), scratch.path().join("d")).unwrap();
    symlink("d", scratch.path().join("b")).unwrap();
    fs::remove_file(scratch.path().join("c")).unwrap();
    scratch.write("c/x", "");
    let expected = [
        created("a"),
        removed("a/x"),
        created("b"),
        removed("b/x"),
        removed("c"),
        created("c/x"),
        created("d/x"),
    ];
    assert_eq!(changes(&scratch, &before), expected);
}

#[test]
fn a_flood_hides_no_change_of_what_was_there() {
    let scratch = Scratch::new(&[("z/Makefile", "1"), ("z/other", "1"), ("zz/a", "1")]);
    let root = scratch.path();
    wait();
    let limits = Limits { new_entries: 50, listed: 20 };
    let before = Walk::new(root, Path::new(""), None, limits).unwrap().run().unwrap();
    assert_eq!(before.unlisted().count(), 0);
    for number in 0..100 {
        scratch.write(&format!("f{number}"), "");
        scratch.write(&format!("z/f{number}"), "");
    }
    scratch.write("z/Makefile", "2");
    fs::remove_file(root.join("zz/a")).unwrap();
    let now = Walk::new(root, Path::new(""), Some(&before), limits).unwrap().run().unwrap();
    let unlisted: Vec<_> = now.unlisted().map(OsStr::to_os_string).collect();
    assert_eq!(unlisted, ["", "z"]);
    let found = now.changes_since(&before);
    let old: Vec<_> = found.iter().filter(|(_, how)| *how != TreeChange::Created).collect();
    let expected = [
        (OsStr::new("z/Makefile"), TreeChange::Modified),
        (OsStr::new("zz/a"), TreeChange::Removed),
    ];
    assert_eq!(old, expected.iter().collect::<Vec<_>>());
    assert!(found.len() < 60);
}

#[test]
fn where_the_first_look_did_not_reach_only_what_changed_since_counts() {
    let scratch = Scratch::new(&[]);
    for number in 0..30 {
        scratch.write(&format!("d/f{number}"), "1");
    }
    wait();
    let limits = Limits { new_entries: 10, listed: 5 };
    let before = Walk::new(scratch.path(), Path::new(""), None, limits).unwrap().run().unwrap();
    assert_eq!(before.unlisted().collect::<Vec<_>>(), ["d"]);
    wait();
    for number in 0..30 {
        if number % 10 == 0 {
            scratch.write(&format!("d/f{number}"), "2");
        }
    }
    let found = changes(&scratch, &before);
    assert_eq!(found.len(), 3, "{found:?}");
}

#[test]
fn a_snapshot_survives_writing_and_reading() {
    let scratch = Scratch::new(&[("a", "1"), ("sub/b", "22")]);
    symlink("a", scratch.path().join("link")).unwrap();
    let name = OsString::from_vec(b"odd\xff".to_vec());
    fs::write(scratch.path().join(&name), "").unwrap();
    let limits = Limits { new_entries: 10, listed: 100 };
    let snapshot = Walk::new(scratch.path(), Path::new(""), None, limits).unwrap().run().unwrap();
    let mut written = Vec::new();
    snapshot.write(&mut written).unwrap();
    let read = TreeSnapshot::read(&mut written.as_slice()).unwrap();
    assert_eq!(read, snapshot);
    assert!(read.get(&name).is_some());
    for cut in [0, 7, 20, written.len() - 1] {
        assert!(TreeSnapshot::read(&mut &written[..cut]).is_err());
    }
}

#[test]
fn a_flood_hides_no_file_that_runs_on_its_own() {
    let scratch = Scratch::new(&[("sub/deep/a", "1")]);
    let root = scratch.path();
    let limits = Limits { new_entries: 50, listed: 20 };
    wait();
    let before = Walk::new(root, Path::new(""), None, limits).unwrap().run().unwrap();
    for number in 0..100 {
        for directory in ["", "sub/", "sub/deep/"] {
            scratch.write(&format!("{directory}f{number}"), "");
        }
    }
    let own = [".envrc", ".husky/pre-commit", "sub/.vscode/tasks.json", "sub/deep/.npmrc"];
    own.iter().for_each(|path| scratch.write(path, ""));
    symlink("sub", root.join("sub/deep/.vscode")).unwrap();
    let now = Walk::new(root, Path::new(""), Some(&before), limits).unwrap().run().unwrap();
    let found = now.changes_since(&before);
    for path in own.iter().chain(&["sub/deep/.vscode"]) {
        assert!(found.contains(&(OsStr::new(path), TreeChange::Created)), "{path}");
    }

    // The first look of a later turn finds them too, on the way to where it works.
    let cwd = Path::new("sub/deep");
    let first = Walk::new(root, cwd, None, limits).unwrap().run().unwrap();
    own.iter().for_each(|path| assert!(first.get(OsStr::new(path)).is_some(), "{path}"));
}
