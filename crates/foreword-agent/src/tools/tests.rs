use std::fs;
use std::time::Instant;

use serde_json::json;

use super::*;

struct Room {
    dir: tempfile::TempDir,
    limits: JobLimits,
    file_rules: FileRules,
}

impl Room {
    fn new() -> Self {
        let limits =
            JobLimits { command_seconds: 20, max_tool_output_bytes: 1000, ..JobLimits::default() };
        Self { dir: tempfile::tempdir().unwrap(), limits, file_rules: FileRules::default() }
    }

    fn with(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.dir.path().join(name)).unwrap()
    }

    #[expect(clippy::needless_pass_by_value, reason = "shorter to call")]
    fn run(&self, tool: LocalTool, input: Value) -> Result<String, String> {
        let place =
            Place { cwd: self.dir.path(), limits: self.limits, file_rules: &self.file_rules };
        run(tool, &input, place).map_err(|error| error.to_string())
    }
}

#[test]
fn reads_a_file_and_ranges_of_it() {
    let room = Room::new().with("a.txt", "one\r\ntwö\nthree").with("empty", "");
    let read = |input| room.run(LocalTool::Read, input);
    assert_eq!(read(json!({"path": "a.txt"})).unwrap(), "one\r\ntwö\nthree\n");
    assert_eq!(read(json!({"path": "a.txt", "offset": 2})).unwrap(), "twö\nthree\n");
    assert_eq!(
        read(json!({"path": "a.txt", "offset": 2, "limit": 1})).unwrap(),
        "twö\n[Cut at line 3; continue with offset 3.]\n"
    );
    assert_eq!(read(json!({"path": "empty"})).unwrap(), "[The file is empty.]\n");
    let absolute = room.dir.path().join("a.txt");
    assert!(read(json!({ "path": absolute })).is_ok());
    assert!(read(json!({"path": "a.txt", "offset": 9})).unwrap_err().contains("has 3 lines"));
}

#[test]
fn what_cannot_be_read_is_explained() {
    let room = Room::new().with("bin", b"\x7fELF\0\0").with("latin", b"caf\xe9").with("d/x", "");
    let read = |input| room.run(LocalTool::Read, input).unwrap_err();
    assert!(read(json!({"path": "bin"})).contains("binary file of 6 bytes"));
    assert!(read(json!({"path": "latin"})).contains("binary"));
    assert_eq!(read(json!({"path": "d"})), "d is a directory, not a file");
    assert!(read(json!({"path": "/dev/zero"})).contains("a device"));
    assert!(read(json!({"path": "none"})).starts_with("none: No such file"));
    for input in [json!({}), json!("x"), json!([]), json!({"path": "x", "more": 1})] {
        assert!(read(input).starts_with("invalid call to `read`"));
    }
}

#[test]
fn a_long_file_is_cut_with_a_note() {
    let long = "x".repeat(20_000);
    let room = Room::new().with("lines", "0123456789\n".repeat(1000)).with("line", &long);
    let text = room.run(LocalTool::Read, json!({"path": "lines"})).unwrap();
    assert!(text.ends_with("[Cut at line 91; continue with offset 91.]\n"), "{text}");
    let mut room = room;
    room.limits.max_tool_output_bytes = 100_000;
    let text = room.run(LocalTool::Read, json!({"path": "line"})).unwrap();
    assert_eq!(text, format!("{} [… 3616 bytes left out …]\n", "x".repeat(16384)));
}

#[test]
fn writes_and_edits() {
    let room = Room::new().with("a.txt", "one two two\n");
    let write = |input| room.run(LocalTool::Write, input);
    let edit = |input| room.run(LocalTool::Edit, input);
    assert_eq!(
        write(json!({"path": "new/b.txt", "content": "hi"})).unwrap(),
        "Created new/b.txt: 2 bytes."
    );
    assert_eq!(room.text("new/b.txt"), "hi");
    assert_eq!(
        write(json!({"path": "new/b.txt", "content": ""})).unwrap(),
        "Replaced new/b.txt: 0 bytes."
    );
    assert!(write(json!({"path": "new", "content": ""})).unwrap_err().contains("is a directory"));

    let e = |old: &str, new: &str| json!({"path": "a.txt", "old": old, "new": new});
    assert_eq!(edit(e("one", "1")).unwrap(), "Replaced the passage at line 1 of a.txt.");
    assert!(edit(e("two", "2")).unwrap_err().contains("occurs 2 times"));
    assert!(edit(e("nine", "9")).unwrap_err().contains("does not occur"));
    fs::write(room.dir.path().join("crlf.txt"), "one\r\ntwo\r\n").unwrap();
    let crlf = |old: &str| edit(json!({"path": "crlf.txt", "old": old, "new": "1"})).unwrap_err();
    assert!(crlf("one\ntwo").contains("end with CRLF"));
    assert!(!crlf("one\nthree").contains("CRLF"));
    assert!(edit(e("", "9")).unwrap_err().contains("is empty"));
    assert!(edit(e("two", "two")).unwrap_err().contains("are the same"));
    assert_eq!(room.text("a.txt"), "1 two two\n");
    let all = edit(json!({"path": "a.txt", "old": "two", "new": "2", "all": true})).unwrap();
    assert_eq!(all, "Replaced 2 passages of a.txt, the first at line 1.");
    assert_eq!(room.text("a.txt"), "1 2 2\n");
}

#[test]
fn lists_and_searches() {
    let room = Room::new()
        .with("src/main.rs", "fn main() {}\nfn other() {}\n")
        .with("src/deep/x.py", "def main():\n  pass\n")
        .with("target/out.rs", "fn main() {}\n")
        .with("bin", b"fn main\0")
        .with("odd\nname", "nothing");
    let list = |input| room.run(LocalTool::List, input).unwrap();
    assert_eq!(list(json!({})), "bin (8 bytes)\nodd\\nname (7 bytes)\nsrc/\ntarget/\n");
    assert_eq!(
        list(json!({"path": ".", "recursive": true})),
        "bin (8 bytes)\nodd\\nname (7 bytes)\nsrc/\ntarget/\nsrc/deep/\nsrc/main.rs (27 bytes)\nsrc/deep/x.py (19 bytes)\n[Not entered: target.]\n"
    );
    assert!(
        room.run(LocalTool::List, json!({"path": "bin"})).unwrap_err().contains("not a directory")
    );

    let search = |input| room.run(LocalTool::Search, input);
    assert_eq!(
        search(json!({"pattern": "MAIN", "ignoreCase": true})).unwrap(),
        "src/main.rs:1: fn main() {}\nsrc/deep/x.py:1: def main():\n[Not entered: target.]\n"
    );
    assert_eq!(
        search(json!({"pattern": r"^fn \w+", "path": "src", "glob": "*.rs"})).unwrap(),
        "src/main.rs:1: fn main() {}\nsrc/main.rs:2: fn other() {}\n"
    );
    assert_eq!(
        search(json!({"pattern": "x", "path": "src/main.rs"})).unwrap(),
        "[Nothing found.]\n"
    );
    assert!(search(json!({"pattern": "("})).unwrap_err().contains("invalid pattern `(`"));
}

#[test]
fn what_git_ignores_is_left_out_and_hidden_files_are_not() {
    let room = Room::new()
        .with(".gitignore", "*.log\n/build/\n!keep.log\n")
        .with(".env", "needle\n")
        .with("a.log", "needle\n")
        .with("keep.log", "needle\n")
        .with("build/out", "needle\n")
        .with("src/.gitignore", "secret\n!a.log\n")
        .with("src/a.log", "needle\n")
        .with("src/secret", "needle\n")
        .with("src/build/x", "needle\n");
    let found = room.run(LocalTool::Search, json!({"pattern": "needle"})).unwrap();
    assert_eq!(
        found,
        ".env:1: needle\nkeep.log:1: needle\nsrc/a.log:1: needle\nsrc/build/x:1: needle\n\
         [Left out by .gitignore: 3.]\n"
    );
    let list = room.run(LocalTool::List, json!({})).unwrap();
    assert_eq!(
        list,
        ".env (7 bytes)\n.gitignore (24 bytes)\nkeep.log (7 bytes)\nsrc/\n\
         [Left out by .gitignore: 2.]\n"
    );
    let named = room.run(LocalTool::List, json!({"path": "build"})).unwrap();
    assert_eq!(named, "out (7 bytes)\n", "a directory that is named is listed");
    fs::create_dir(room.dir.path().join(".git")).unwrap();
    let below = room.run(LocalTool::Search, json!({"pattern": "needle", "path": "src/build"}));
    assert_eq!(below.unwrap(), "src/build/x:1: needle\n");
    fs::write(room.dir.path().join("src/build/y.log"), "needle\n").unwrap();
    let below = room.run(LocalTool::List, json!({"path": "src/build"})).unwrap();
    assert_eq!(below, "x (7 bytes)\n[Left out by .gitignore: 1.]\n", "the repository decides");
}

#[test]
fn long_lists_and_finds_are_cut() {
    let mut room = Room::new();
    for n in 0..200 {
        room = room.with(&format!("file-{n:03}"), "needle\n".repeat(20));
    }
    let list = room.run(LocalTool::List, json!({})).unwrap();
    assert!(list.len() < 1100 && list.ends_with("[Cut; list a subdirectory to see more.]\n"));
    let found = room.run(LocalTool::Search, json!({"pattern": "needle"})).unwrap();
    assert!(found.len() < 1100 && found.contains("[Cut;"), "{found}");
}

#[test]
fn a_link_in_a_circle_ends() {
    let room = Room::new().with("d/a", "needle\n");
    std::os::unix::fs::symlink("..", room.dir.path().join("d/up")).unwrap();
    let list = room.run(LocalTool::List, json!({"recursive": true})).unwrap();
    assert_eq!(list, "d/\nd/a (7 bytes)\nd/up (link)\n");
}

#[test]
fn bash_gives_output_in_order_and_says_how_it_ended() {
    let room = Room::new().with("a.txt", "");
    let bash = |command: &str| room.run(LocalTool::Bash, json!({ "command": command }));
    assert_eq!(bash("echo out; echo err >&2; ls").unwrap(), "out\nerr\na.txt\n");
    assert_eq!(bash("true").unwrap(), "[No output.]\n");
    assert_eq!(bash("echo no; exit 3").unwrap_err(), "no\n[exit status: 3]");
    assert_eq!(bash("kill -9 $$").unwrap_err(), "[signal: 9 (SIGKILL)]");
    assert_eq!(bash("read x; echo \"<$x>\"").unwrap(), "<>\n", "standard input is empty");
    let long = bash("yes | head -c 1000000").unwrap();
    assert!(long.len() < 1100 && long.contains("[… 999000 bytes left out …]"), "{}", long.len());
}

#[test]
fn bash_is_stopped_with_all_it_started() {
    let room = Room::new();
    let start = Instant::now();
    let stopped = room.run(
        LocalTool::Bash,
        json!({"command": "(while true; do sleep 0.05; date >> ticks; done) & sleep 100", "timeout": 1}),
    );
    assert_eq!(stopped.unwrap_err(), "[Stopped after 1 seconds.]");
    assert!(start.elapsed().as_secs() < 10);
    let ticks = room.text("ticks");
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(room.text("ticks"), ticks, "the loop in the background goes on");

    let start = Instant::now();
    let quick = room.run(LocalTool::Bash, json!({"command": "sleep 100 & echo started"}));
    assert_eq!(quick.unwrap(), "started\n");
    assert!(start.elapsed().as_secs() < 5, "it waits for the background");
}

#[test]
fn walks_leave_out_what_permission_rules_keep_back() {
    let mut room = Room::new()
        .with(".env", "TOPSECRET")
        .with("sub/.env", "TOPSECRET")
        .with("secrets/deep/key", "TOPSECRET")
        .with("drafts/a", "TOPSECRET")
        .with("drafts/open", "TOPSECRET")
        .with("src/a.rs", "TOPSECRET");
    let texts = |rules: &[&str]| rules.iter().map(|it| (*it).to_owned()).collect();
    room.file_rules = FileRules {
        root: room.dir.path().to_path_buf(),
        deny: texts(&["read(**/.env)", "search(secrets/**)"]),
        ask: texts(&["read(drafts/**)"]),
        allow: texts(&["read(=drafts/open)"]),
    };
    assert_eq!(
        room.run(LocalTool::Search, json!({"pattern": "TOPSECRET"})).unwrap(),
        "drafts/open:1: TOPSECRET\nsrc/a.rs:1: TOPSECRET\n[Left out by permission rules: 4.]\n"
    );
    assert_eq!(
        room.run(LocalTool::Search, json!({"pattern": "TOPSECRET", "path": "sub/../secrets"}))
            .unwrap(),
        "[Nothing found.]\n[Left out by permission rules: 1.]\n"
    );
    assert_eq!(
        room.run(LocalTool::List, json!({"path": "sub"})).unwrap(),
        "[Left out by permission rules: 1.]\n"
    );
    assert_eq!(
        room.run(LocalTool::List, json!({"path": "secrets/deep"})).unwrap(),
        "key (9 bytes)\n"
    );
}
