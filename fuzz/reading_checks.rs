//! What must hold for any file that Foreword reads by itself: those that an agent may leave in a workspace,
//! and those that a person keeps for Foreword.
//!
//! The coverage-guided targets in this directory and the harness that runs with the tests
//! (`crates/foreword-host/tests/it/fuzz_smoke.rs`) share these functions. Those with a `directory` write
//! files there; put it on a RAM disk for long runs.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

use foreword_gather::{Request, gather};
use foreword_host::load_prices;
use foreword_workspace::{
    Repositories, RepositoryLookup, Settings, SourceFile, Tree, TreeSnapshot, TrustStore, Workspace,
};

/// Stands in a file that no reader of the workspace may get at.
const SECRET: &str = "zq-the-secret-zq";
/// The name of that file, beside the tree.
const OUTSIDE: &str = "zq-outside";
/// Bytes that are read of one file.
const LIMIT: u64 = 4096;
/// Files, links and pipes that one text can make.
const MAX_ENTRIES: usize = 24;

/// A directory as a text describes it, read in every way: nothing comes from outside, nothing waits.
///
/// A line is a kind and a path, and for a link also where it leads: `f AGENTS.md`, `l .git ../zq-outside`.
pub(crate) fn tree_reader(directory: &Path, text: &str) {
    if text.contains("zq-") && !text.contains("/zq-outside") {
        return;
    }
    let root = directory.join("tree");
    let _ = fs::remove_dir_all(&root);
    fs::create_dir_all(&root).expect("the directory is ours");
    fs::write(directory.join(OUTSIDE), SECRET).expect("the directory is ours");
    let mut paths = vec![PathBuf::new(), "../zq-outside".into(), directory.join(OUTSIDE)];
    for line in text.lines().take(MAX_ENTRIES) {
        let mut words = line.split(' ').filter(|word| !word.is_empty());
        let (Some(kind), Some(path)) = (words.next(), words.next()) else { continue };
        let path = PathBuf::from(path);
        make(&root, kind, &path, words.next().unwrap_or("../zq-outside"));
        paths.push(path);
    }
    let tree = Tree::open_as(&root, "").expect("it is a directory");
    for path in &paths {
        if let Ok(Some(bytes)) = tree.read(path, LIMIT) {
            assert!(bytes.len() as u64 <= LIMIT, "{} bytes of {}", bytes.len(), path.display());
            assert_no_secret(&String::from_utf8_lossy(&bytes), path);
        }
        if let Ok(Some((file, _))) = tree.file(path) {
            let mut start = String::new();
            let _ = file.take(LIMIT).read_to_string(&mut start);
            assert_no_secret(&start, path);
        }
        if let Ok(Some(listed)) = tree.list(path, 8) {
            assert!(listed.iter().all(|entry| entry.name != OUTSIDE), "{}", path.display());
        }
        let (_, _, _) = (tree.stat(path), tree.link(path), tree.subtree(path));
        let _ = tree.check_plain(path, 64);
    }
    if let Ok(snapshot) = TreeSnapshot::take(&root, Path::new("")) {
        let mut written = Vec::new();
        snapshot.write(&mut written).expect("memory can be written");
        let again =
            TreeSnapshot::read(&mut written.as_slice()).expect("what was written can be read");
        assert!(again.entries().eq(snapshot.entries()), "the snapshot changed");
    }
    let lookup = RepositoryLookup { root: root.clone(), ..RepositoryLookup::default() };
    let outside = Repositories::find(&lookup).read_only();
    assert!(outside.iter().all(|path| path.starts_with(&root)), "{outside:?}");
    let Ok(workspace) = Workspace::open(&root) else { return };
    if let Ok(governed) = workspace.governed() {
        assert!(governed.read_only().iter().all(|path| path.starts_with(&root)));
    }
    if let Ok(files) = workspace.identity_files(None, None) {
        assert_no_secret(files.soul.inspect(), Path::new("SOUL.md"));
    }
    if let Ok(gathered) = gather(&root, &Request::default()) {
        assert_no_secret(gathered.blueprint.build(&gathered.context).text(), Path::new("prompt"));
    }
}

fn assert_no_secret(text: &str, path: &Path) {
    assert!(!text.contains(SECRET), "the secret was read at {}", path.display());
}

/// Makes one entry, through no link, so that nothing but the tree changes.
fn make(root: &Path, kind: &str, path: &Path, target: &str) {
    if !path.components().all(|part| matches!(part, Component::Normal(_))) {
        return;
    }
    let mut at = root.to_path_buf();
    for outer in path.parent().into_iter().flat_map(Path::components) {
        at.push(outer);
        let there = fs::symlink_metadata(&at);
        if !there.map_or_else(|_| fs::create_dir(&at).is_ok(), |there| there.is_dir()) {
            return;
        }
    }
    let at = root.join(path);
    if fs::symlink_metadata(&at).is_ok() {
        return;
    }
    // Whatever fails to be made is not there.
    let _ = match kind {
        "d" => fs::create_dir(&at),
        "l" => symlink(target, &at),
        "h" => fs::hard_link(root.join(target.trim_start_matches(['/', '.'])), &at),
        "p" => rustix::fs::mknodat(
            rustix::fs::CWD,
            &at,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .map_err(Into::into),
        "b" => fs::File::create(&at).and_then(|file| file.set_len(3 << 30)),
        _ => fs::write(&at, target),
    };
}

/// What git keeps in a repository and Foreword reads without git.
const GIT_FILES: [&str; 10] = [
    "HEAD",
    "index",
    "packed-refs",
    "refs/heads/main",
    "config",
    "commondir",
    "info/exclude",
    "objects/ab/cdef0123456789abcdef0123456789abcdef01",
    "objects/pack/pack-ab.idx",
    "../.gitmodules",
];

/// Any bytes in a file of a repository: facts in a few words, or none. The first byte says in which.
pub(crate) fn git_files(directory: &Path, bytes: &[u8]) {
    let Some((first, content)) = bytes.split_first() else { return };
    let git = directory.join("tree/.git");
    let _ = fs::remove_dir_all(directory.join("tree"));
    for below in ["refs/heads", "objects/ab", "objects/pack", "info"] {
        fs::create_dir_all(git.join(below)).expect("the directory is ours");
    }
    let commit = "abcdef0123456789abcdef0123456789abcdef01";
    for (name, text) in
        [("HEAD", "ref: refs/heads/main\n"), ("refs/heads/main", commit), ("config", "[core]\n")]
    {
        fs::write(git.join(name), text).expect("the directory is ours");
    }
    let file = GIT_FILES[usize::from(*first) % GIT_FILES.len()];
    fs::write(git.join(file), content).expect("the directory is ours");
    let root = directory.join("tree");
    let lookup = RepositoryLookup { root: root.clone(), ..RepositoryLookup::default() };
    let found = Repositories::find(&lookup);
    assert!(found.read_only().iter().all(|path| path.starts_with(&root)));
    assert!(found.faults().iter().all(|fault| !fault.is_empty()));
    let request = Request::default();
    let Ok(gathered) = gather(&root, &request) else { return };
    let Some(git) = &gathered.context.git else { return };
    let (branch, summary) = (git.branch.inspect(), git.summary.inspect());
    assert!(branch.chars().count() <= 128, "{branch}");
    assert!(summary.chars().count() <= 400, "{summary}");
}

/// Any text as the person's settings: refused with the name of the file, or taken.
pub(crate) fn personal_settings(text: &str) {
    let file = SourceFile { path: "settings.toml".into(), text: text.into(), first_line: 1 };
    match Settings::parse(&file) {
        Err(error) => assert!(error.to_string().contains("settings.toml"), "{error}"),
        Ok(settings) => {
            let _ = (settings.server("https://llm.example"), settings.allows_root(Path::new("/x")));
        }
    }
}

/// Any text as the record of what a person trusts: an error with its place, or what was accepted.
pub(crate) fn trust_record(directory: &Path, text: &str) {
    let (workspace, config) = (directory.join("workspace"), directory.join("config"));
    fs::create_dir_all(&workspace).expect("the directory is ours");
    let store = TrustStore::open(&config, &workspace).expect("the workspace is there");
    fs::create_dir_all(store.file().parent().expect("it is in a directory")).expect("it is ours");
    fs::write(store.file(), text).expect("the directory is ours");
    if let Err(error) = store.accepted() {
        assert!(!error.to_string().is_empty());
    }
    let _ = TrustStore::list(&config);
    let inside = TrustStore::workspaces_inside(&config, &workspace);
    assert!(inside.iter().all(|path| path.starts_with(&workspace)), "{inside:?}");
}

/// Any text as a table of prices: an error with the name of the file, or prices.
pub(crate) fn price_table(directory: &Path, text: &str) {
    let file = directory.join("prices.toml");
    fs::write(&file, text).expect("the directory is ours");
    if let Err(error) = load_prices(Some(&file)) {
        assert!(error.to_string().contains("prices.toml"), "{error}");
    }
}
