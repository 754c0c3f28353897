use super::*;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn tree() -> (TempDir, Tree) {
    let dir = tempfile::tempdir().unwrap();
    let tree = Tree::open_as(dir.path(), "").unwrap();
    (dir, tree)
}

fn refusal(tree: &Tree, path: &str) -> String {
    tree.read(path, 1 << 20).unwrap_err().to_string()
}

#[test]
fn a_file_is_read_and_what_is_missing_is_none() {
    let (dir, tree) = tree();
    fs::create_dir_all(dir.path().join("a/b")).unwrap();
    fs::write(dir.path().join("a/b/x"), "hello").unwrap();
    assert_eq!(tree.read("a/b/x", 5).unwrap().unwrap(), b"hello");
    assert_eq!(tree.read("a/b/y", 5).unwrap(), None);
    assert_eq!(tree.read("a/b/x/y", 5).unwrap(), None, "a file is no directory");
    let sub = tree.subtree("a").unwrap().unwrap();
    assert_eq!(sub.read("b/x", 5).unwrap().unwrap(), b"hello");
    assert_eq!(
        sub.read("b", 5).unwrap_err().to_string(),
        "a/b: is a directory; a file is expected here"
    );
    assert!(tree.subtree("gone").unwrap().is_none());
}

#[test]
fn no_link_is_followed_wherever_it_stands() {
    let (dir, tree) = tree();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "s").unwrap();
    fs::write(dir.path().join("real"), "r").unwrap();
    symlink("real", dir.path().join("inside")).unwrap();
    symlink(outside.path().join("secret"), dir.path().join("out")).unwrap();
    symlink(outside.path(), dir.path().join("dir")).unwrap();
    for path in ["inside", "out"] {
        assert_eq!(
            refusal(&tree, path),
            format!("{path}: is a link, and links are not followed here")
        );
    }
    assert!(matches!(tree.read("dir/secret", 9), Err(WorkspaceError::IsLink { .. })));
    assert!(matches!(tree.list("dir", 9), Err(WorkspaceError::IsLink { .. })));
    assert!(matches!(tree.stat("dir/secret"), Err(WorkspaceError::IsLink { .. })));
    assert_eq!(tree.link("inside").unwrap().unwrap(), Path::new("real"));
    assert_eq!(tree.link("real").unwrap(), None);
    assert_eq!(tree.stat("inside").unwrap().unwrap().0, TreeEntryKind::Link);
    for path in ["../x", "/etc/passwd", "a/../../x"] {
        assert!(tree.read(path, 9).is_err(), "{path}");
    }
}

#[test]
fn the_walk_by_names_refuses_the_same_as_the_kernel() {
    let (dir, tree) = tree();
    fs::create_dir_all(dir.path().join("a/b")).unwrap();
    fs::write(dir.path().join("a/b/x"), "hello").unwrap();
    symlink("a", dir.path().join("link")).unwrap();
    symlink("b/x", dir.path().join("a/last")).unwrap();
    symlink("gone", dir.path().join("dangling")).unwrap();
    let both = |path: &str, flags: OFlags| {
        let walked = name_by_name(tree.handle.as_fd(), Path::new(path), flags).map(drop);
        #[cfg(target_os = "linux")]
        if let Err(error) = in_one_step(tree.handle.as_fd(), Path::new(path), flags)
            && error != Errno::NOSYS
        {
            assert_eq!(walked, Err(error), "{path}");
        }
        walked
    };
    assert_eq!(both("a/b/x", READING), Ok(()));
    assert_eq!(both("", READING | OFlags::DIRECTORY), Ok(()));
    assert_eq!(both("link/b/x", READING), Err(Errno::LOOP));
    assert_eq!(both("a/last", READING), Err(Errno::LOOP));
    assert_eq!(both("dangling", READING), Err(Errno::LOOP));
    assert_eq!(both("a/b/x/y", READING), Err(Errno::NOTDIR));
    assert_eq!(both("a/c/x", READING), Err(Errno::NOENT));
}

#[test]
fn pipes_devices_sockets_and_huge_files_are_named_and_cost_nothing() {
    let (dir, tree) = tree();
    let at = |name: &str| dir.path().join(name);
    assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    File::create(at("huge")).unwrap().set_len(3 << 30).unwrap();
    symlink("/dev/zero", at("zero")).unwrap();
    let start = Instant::now();
    for path in ["pipe", "socket"] {
        let expected = format!("{path}: is not a regular file but a pipe, socket or device");
        assert_eq!(refusal(&tree, path), expected);
    }
    assert_eq!(
        refusal(&tree, "huge"),
        "huge: is 3221225472 bytes long, more than the limit of 1048576"
    );
    assert_eq!(refusal(&tree, "zero"), "zero: is a link, and links are not followed here");
    assert!(tree.file("pipe").is_err());
    assert!(start.elapsed() < Duration::from_millis(200));
    let devices = Tree::open(Path::new("/dev")).unwrap();
    assert_eq!(
        refusal(&devices, "zero"),
        "/dev/zero: is not a regular file but a pipe, socket or device"
    );
}

#[test]
fn a_listing_is_sorted_bounded_and_says_what_things_are() {
    let (dir, tree) = tree();
    fs::write(dir.path().join("b"), "").unwrap();
    fs::create_dir(dir.path().join("a")).unwrap();
    symlink("a", dir.path().join("c")).unwrap();
    let listed = tree.list("", 3).unwrap().unwrap();
    let names: Vec<_> = listed.iter().map(|entry| (entry.name.as_str(), entry.kind)).collect();
    use TreeEntryKind as K;
    assert_eq!(names, [("a", K::Directory), ("b", K::File), ("c", K::Link)]);
    assert_eq!(tree.list("", 2).unwrap_err().to_string(), ".: contains more than 2 entries");
    assert_eq!(tree.list("gone", 2).unwrap(), None);
}

#[test]
fn a_folder_for_other_programs_is_plain_or_refused() {
    let (dir, tree) = tree();
    fs::create_dir_all(dir.path().join("git/objects/ab")).unwrap();
    fs::write(dir.path().join("git/objects/ab/cd"), "x").unwrap();
    tree.check_plain("git", 100).unwrap();
    tree.check_plain("gone", 100).unwrap();
    assert!(tree.check_plain("git", 2).unwrap_err().to_string().contains("contains more than"));
    symlink("/dev/zero", dir.path().join("git/packed-refs")).unwrap();
    assert!(
        tree.check_plain("git", 100)
            .unwrap_err()
            .to_string()
            .starts_with("git/packed-refs: is a link")
    );
}
