use super::*;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const LIMIT: u64 = 4 << 20;

fn workspace() -> (TempDir, Root) {
    let dir = tempfile::tempdir().unwrap();
    let root = Root::open(dir.path()).unwrap();
    (dir, root)
}

fn read(root: &Root, path: &str) -> Result<Option<SourceFile>, WorkspaceError> {
    root.read(&RelPath::parse(path).unwrap(), LIMIT)
}

fn refusal(root: &Root, path: &str) -> String {
    read(root, path).unwrap_err().to_string()
}

#[test]
fn a_missing_root_and_a_file_as_root_say_so() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("nowhere");
    let error = Root::open(&missing).unwrap_err();
    assert!(error.to_string().ends_with("nowhere: directory not found"), "{error}");
    assert!(error.hint().contains("foreword init"));
    let file = dir.path().join("file");
    fs::write(&file, "x").unwrap();
    assert!(Root::open(&file).unwrap_err().to_string().ends_with("file: is not a directory"));
}

#[test]
fn a_file_is_read_and_a_missing_one_is_none() {
    let (dir, root) = workspace();
    fs::create_dir(dir.path().join("a")).unwrap();
    fs::write(dir.path().join("a/x.md"), "hello").unwrap();
    let file = read(&root, "a/x.md").unwrap().unwrap();
    assert_eq!(file, SourceFile { path: "a/x.md".into(), text: "hello".into(), first_line: 1 });
    assert_eq!(read(&root, "a/y.md").unwrap(), None);
    assert_eq!(read(&root, "b/c/y.md").unwrap(), None);
}

#[test]
fn a_byte_order_mark_goes_and_crlf_becomes_lf() {
    let (dir, root) = workspace();
    fs::write(dir.path().join("x.md"), "\u{feff}a\r\nb\rc\n").unwrap();
    assert_eq!(read(&root, "x.md").unwrap().unwrap().text, "a\nb\rc\n");
}

#[test]
fn text_that_is_not_utf8_is_refused_with_offset_and_line() {
    let (dir, root) = workspace();
    fs::write(dir.path().join("x.md"), b"one\ntwo \xff\n").unwrap();
    assert_eq!(refusal(&root, "x.md"), "x.md:2: is not UTF-8 text (byte 8)");
    fs::write(dir.path().join("cut.md"), b"abc\xe2\x82").unwrap();
    assert_eq!(refusal(&root, "cut.md"), "cut.md:1: is not UTF-8 text (byte 3)");
    fs::write(dir.path().join("w.md"), b"\xff\xfeh\0i\0").unwrap();
    assert_eq!(refusal(&root, "w.md"), "w.md:1: is UTF-16 text (byte 0); UTF-8 is expected");
}

#[test]
fn a_nul_byte_looks_binary() {
    let (dir, root) = workspace();
    fs::write(dir.path().join("x.md"), b"a\nb\0").unwrap();
    assert_eq!(refusal(&root, "x.md"), "x.md:2: looks binary: it contains a NUL byte (byte 3)");
}

#[test]
fn a_directory_is_not_a_file_and_a_file_not_a_directory() {
    let (dir, root) = workspace();
    fs::create_dir(dir.path().join("SOUL.md")).unwrap();
    assert_eq!(refusal(&root, "SOUL.md"), "SOUL.md: is a directory; a file is expected here");
    fs::write(dir.path().join("agents"), "").unwrap();
    assert_eq!(refusal(&root, "agents/x/AGENT.md"), "agents: is not a directory");
    assert_eq!(root.list("agents", 9).unwrap_err().to_string(), "agents: is not a directory");
}

#[test]
fn a_huge_sparse_file_fails_at_once() {
    let (dir, root) = workspace();
    fs::File::create(dir.path().join("x.md")).unwrap().set_len(100_000_000).unwrap();
    let start = Instant::now();
    assert_eq!(
        refusal(&root, "x.md"),
        "x.md: is 100000000 bytes long, more than the limit of 4194304"
    );
    assert!(start.elapsed() < Duration::from_millis(50));
}

#[test]
fn the_limit_itself_is_allowed() {
    let (dir, root) = workspace();
    fs::write(dir.path().join("x.md"), "abcd").unwrap();
    let path = RelPath::parse("x.md").unwrap();
    assert!(root.read(&path, 4).is_ok());
    assert!(root.read(&path, 3).is_err());
}

#[test]
fn a_listing_is_sorted_bounded_and_shows_nothing_hidden() {
    let (dir, root) = workspace();
    for name in ["b.md", "a.md", ".hidden"] {
        fs::write(dir.path().join(name), "").unwrap();
    }
    fs::create_dir(dir.path().join("c")).unwrap();
    let entries = root.list("", 10).unwrap().unwrap();
    let names: Vec<_> = entries.iter().map(|e| (e.name.as_str(), e.kind)).collect();
    assert_eq!(
        names,
        [("a.md", EntryKind::File), ("b.md", EntryKind::File), ("c", EntryKind::Directory)]
    );
    assert_eq!(root.list("", 3).unwrap_err().to_string(), ".: contains more than 3 entries");
    assert_eq!(root.list("nowhere", 3).unwrap(), None);
}

#[test]
fn the_way_to_a_directory_is_outermost_first() {
    let (dir, root) = workspace();
    fs::create_dir_all(dir.path().join("a/b")).unwrap();
    let way = ["a".to_owned(), "a/b".to_owned()];
    assert_eq!(root.directories_towards(Path::new("a/b")).unwrap(), way);
    assert_eq!(root.directories_towards(&dir.path().join("a/b")).unwrap(), way);
    assert!(root.directories_towards(dir.path()).unwrap().is_empty());
    let elsewhere = tempfile::tempdir().unwrap();
    assert!(root.directories_towards(elsewhere.path()).unwrap().is_empty());
    assert!(root.directories_towards(Path::new("gone")).is_err());
}

#[test]
fn a_file_a_person_names_gets_the_same_checks() {
    let (dir, _) = workspace();
    let path = dir.path().join("x.json");
    fs::write(&path, b"\xff").unwrap();
    assert!(matches!(read_file(&path, 9), Err(WorkspaceError::NotUtf8 { .. })));
    assert!(matches!(read_file(dir.path(), 9), Err(WorkspaceError::IsDirectory { .. })));
    assert!(matches!(read_file(&dir.path().join("no"), 9), Err(WorkspaceError::Io { .. })));
    fs::write(&path, "{}").unwrap();
    assert_eq!(read_file(&path, 9).unwrap().text, "{}");
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_inside_is_followed_and_one_that_leaves_is_named() {
        let (dir, root) = workspace();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret"), "s").unwrap();
        fs::write(dir.path().join("real.md"), "r").unwrap();
        symlink("real.md", dir.path().join("in.md")).unwrap();
        symlink(outside.path().join("secret"), dir.path().join("out.md")).unwrap();
        symlink(outside.path(), dir.path().join("agents")).unwrap();
        assert_eq!(read(&root, "in.md").unwrap().unwrap().text, "r");
        let target = fs::canonicalize(outside.path()).unwrap();
        assert_eq!(
            refusal(&root, "out.md"),
            format!(
                "out.md: is a link that leaves the workspace: it leads to {}",
                target.join("secret").display()
            )
        );
        assert_eq!(
            refusal(&root, "agents/secret"),
            format!(
                "agents: is a link that leaves the workspace: it leads to {}",
                target.display()
            )
        );
        assert!(root.list("agents", 9).is_err());
    }

    #[test]
    fn a_neighbour_whose_name_starts_alike_is_outside() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("ws")).unwrap();
        fs::create_dir(dir.path().join("ws-evil")).unwrap();
        fs::write(dir.path().join("ws-evil/x"), "x").unwrap();
        symlink("../ws-evil/x", dir.path().join("ws/x.md")).unwrap();
        let root = Root::open(&dir.path().join("ws")).unwrap();
        assert!(matches!(read(&root, "x.md"), Err(WorkspaceError::LinkOutside { .. })));
    }

    #[test]
    fn links_that_lead_nowhere_or_in_circles_are_errors() {
        let (dir, root) = workspace();
        symlink("gone.md", dir.path().join("x.md")).unwrap();
        assert_eq!(refusal(&root, "x.md"), "x.md: is a link to gone.md, which does not exist");
        symlink("b", dir.path().join("a")).unwrap();
        symlink("a", dir.path().join("b")).unwrap();
        assert!(matches!(read(&root, "a"), Err(WorkspaceError::Io { .. })));
    }

    #[test]
    fn pipes_and_devices_are_refused_without_blocking() {
        let (dir, root) = workspace();
        let pipe = dir.path().join("pipe.md");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert_eq!(
            refusal(&root, "pipe.md"),
            "pipe.md: is not a regular file but a pipe, socket or device"
        );
        assert!(matches!(read_file(&pipe, 9), Err(WorkspaceError::NotRegular { .. })));
        let device = Path::new("/dev/zero");
        assert!(matches!(read_file(device, 9), Err(WorkspaceError::NotRegular { .. })));
    }

    #[test]
    fn a_further_root_may_lie_outside_and_its_links_stay_in_it() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("ws/own")).unwrap();
        fs::create_dir(dir.path().join("shared")).unwrap();
        fs::write(dir.path().join("shared/a.md"), "a").unwrap();
        fs::write(dir.path().join("ws/w.md"), "w").unwrap();
        symlink("../ws/w.md", dir.path().join("shared/out.md")).unwrap();
        symlink("../w.md", dir.path().join("ws/own/in.md")).unwrap();
        let root = Root::open(&dir.path().join("ws")).unwrap();
        let shared = root.further("../shared/").unwrap();
        assert_eq!(read(&shared, "a.md").unwrap().unwrap().path, "../shared/a.md");
        assert!(
            refusal(&shared, "out.md")
                .starts_with("../shared/out.md: is a link that leaves ../shared: it leads to ")
        );
        let own = root.further("own").unwrap();
        assert_eq!(read(&own, "in.md").unwrap().unwrap().text, "w");
        assert_eq!(
            root.further("../nowhere").unwrap_err().to_string(),
            "../nowhere: directory not found"
        );
    }
}
