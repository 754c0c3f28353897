use super::*;
use crate::testing::Scratch;

fn lookup(scratch: &Scratch) -> RepositoryLookup {
    let root = fs::canonicalize(scratch.path()).unwrap();
    RepositoryLookup { root, ..RepositoryLookup::default() }
}

fn read_only(scratch: &Scratch, found: &Repositories) -> Vec<String> {
    let root = fs::canonicalize(scratch.path()).unwrap();
    let below = |path: PathBuf| path.strip_prefix(&root).unwrap().display().to_string();
    found.read_only().into_iter().map(below).collect()
}

fn scratch(paths: &[&str]) -> Scratch {
    let files: Vec<_> = paths.iter().map(|path| (*path, "")).collect();
    Scratch::new(&files)
}

#[test]
fn repositories_of_every_kind_are_found() {
    let scratch = scratch(&[
        ".git/config",
        ".git/hooks/x",
        ".git/modules/sub/config",
        ".git/rebase-merge/git-rebase-todo",
        ".git/sequencer/todo",
        ".git/objects/info/alternates",
        ".git/objects/info/packs",
        "sub/.git",
        "bare/HEAD",
        "bare/config",
        "half/HEAD",
        "half/config",
        ".foreword/skills.git/HEAD",
    ]);
    for directory in ["bare/objects", "bare/refs"] {
        fs::create_dir_all(scratch.path().join(directory)).unwrap();
    }
    std::os::unix::fs::symlink("../other", scratch.path().join(".git/info")).unwrap();
    scratch.write("other/exclude", "");
    let found = Repositories::find(&lookup(&scratch));
    assert_eq!(
        read_only(&scratch, &found),
        [
            ".git/config",
            ".git/hooks",
            ".git/modules",
            ".git/objects/info/alternates",
            ".git/rebase-merge",
            ".git/sequencer",
            "bare/config",
            "other",
            "sub/.git"
        ]
    );
    assert!(found.absent().contains(&PathBuf::from(".git/commondir")));
    assert!(found.absent().contains(&PathBuf::from(".git/rebase-apply")));
    assert!(!found.absent().contains(&PathBuf::from(".git/info")), "a link is something");
    assert_eq!(found.links().count(), 1);
    assert!(found.faults().is_empty(), "{:?}", found.faults());
}

#[test]
fn what_was_never_looked_at_did_not_appear() {
    let scratch = scratch(&["a/b/c/.git/config", "x", "y"]);
    let before = Repositories::search(&lookup(&scratch), |path| fs::read_dir(path), 4);
    assert!(!before.is_complete());
    scratch.write(".git/config", "");
    let now = Repositories::find(&lookup(&scratch));
    assert_eq!(before.appeared_in(&now), [Path::new(".git")]);
}

#[test]
fn a_flood_hides_nothing_that_is_looked_up_by_name() {
    let scratch =
        scratch(&[".git/config", "a/b/.git/hooks/x", "known/r/.git/config", "z/.git/config"]);
    let mut lookup = lookup(&scratch);
    lookup.cwd = Some(lookup.root.join("a/b"));
    lookup.known = BTreeSet::from([PathBuf::from("known/r")]);
    // As if the first entry of the root were the last one that is walked.
    let before = Repositories::search(&lookup, |path| fs::read_dir(path), 1);
    assert!(!before.is_complete());
    assert_eq!(
        read_only(&scratch, &before),
        [".git/config", "a/b/.git/hooks", "known/r/.git/config"]
    );
    assert!(before.absent().contains(&PathBuf::from(".git/hooks")));
    scratch.write("a/.git", "gitdir: ../evil");
    let now = Repositories::search(&lookup, |path| fs::read_dir(path), 1);
    assert_eq!(before.appeared_in(&now), [Path::new("a/.git")], "`a` is on the way");
    assert!(Repositories::find(&lookup).places().contains(Path::new("z")));
}

#[test]
fn what_settings_name_is_governed_with_links_and_absent_names() {
    let scratch = Scratch::new(&[
        (
            ".git/config",
            "[core]\n\thooksPath = .husky\n\tfsmonitor = tools/watch\n[include]\n\tpath = ../.gitconfig-shared\n",
        ),
        (
            ".gitconfig-shared",
            "[filter \"x\"]\n\tclean = linked/clean.sh %f\n[diff]\n\texternal = gone/diff.sh\n",
        ),
        (".husky/pre-commit", "#!/bin/sh\n"),
        ("real/clean.sh", ""),
        ("tools/watch", ""),
        ("src/main.rs", ""),
    ]);
    std::os::unix::fs::symlink("real", scratch.path().join("linked")).unwrap();
    let found = Repositories::find(&lookup(&scratch));
    assert_eq!(
        read_only(&scratch, &found),
        [".git/config", ".gitconfig-shared", ".husky", "real/clean.sh", "tools/watch"]
    );
    assert!(found.absent().contains(&PathBuf::from("gone/diff.sh")));
    assert!(found.links().any(|(at, _)| at == Path::new("linked")));
}

#[test]
fn the_persons_own_settings_count_in_every_repository() {
    let scratch = scratch(&[".git/config", "sub/.git/config", "sub/.hooks/pre-commit", "cwd/x"]);
    let home = Scratch::new(&[(".gitconfig", "[core]\nhooksPath = .hooks\n")]);
    let mut lookup = lookup(&scratch);
    lookup.person = PersonalGit::of(Some(home.path()), None, None);
    let found = Repositories::find(&lookup);
    assert_eq!(read_only(&scratch, &found), [".git/config", "sub/.git/config", "sub/.hooks"]);
    assert!(found.absent().contains(&PathBuf::from(".hooks")));
    // A directory of hooks that holds the work itself is not closed: its hooks are.
    home.write(".gitconfig", "[core]\nhooksPath = .\n");
    let found = Repositories::find(&lookup);
    assert_eq!(read_only(&scratch, &found), [".git/config", "sub", "sub/.git/config"]);
    assert!(found.absent().contains(&PathBuf::from("post-checkout")));
}

#[test]
fn the_repository_around_a_workspace_and_work_trees_elsewhere_count() {
    let scratch = Scratch::new(&[
        (".git/config", "[core]\nhooksPath = ws/githooks\n"),
        (".git/worktrees/w/commondir", "../..\n"),
        ("ws/githooks/pre-push", ""),
        ("w/.git", "gitdir: ../.git/worktrees/w\n"),
    ]);
    let root = fs::canonicalize(scratch.path()).unwrap();
    let find = |at: &str| {
        let lookup = RepositoryLookup { root: root.join(at), ..RepositoryLookup::default() };
        Repositories::find(&lookup)
    };
    assert_eq!(find("ws").read_only(), [root.join("ws/githooks")]);
    let linked = find("w");
    assert_eq!(linked.read_only(), [root.join("w/.git")]);
    assert_eq!(linked.absent(), [Path::new("ws/githooks")], "relative to the work tree");
}

#[test]
fn submodules_are_looked_up_where_git_says_they_are() {
    let scratch = Scratch::new(&[
        (".git/config", ""),
        (".git/modules/deep/name/HEAD", ""),
        (".git/modules/deep/name/config", "[core]\nworktree = ../../../../vendor/b\n"),
        (".gitmodules", "[submodule \"a\"]\npath = vendor/a\n"),
        ("vendor/a/.git", "gitdir: ../../.git/modules/a\n"),
        ("vendor/b/.git", "gitdir: ../../.git/modules/deep/name\n"),
    ]);
    let found = Repositories::search(&lookup(&scratch), |path| fs::read_dir(path), 0);
    assert!(!found.is_complete());
    assert_eq!(
        read_only(&scratch, &found),
        [
            ".git/config",
            ".git/modules",
            ".git/modules/deep/name/config",
            "vendor/a/.git",
            "vendor/b/.git"
        ]
    );
}

#[test]
fn hostile_settings_are_faults_and_cost_nothing() {
    let scratch = Scratch::new(&[("x", "")]);
    fs::create_dir(scratch.path().join(".git")).unwrap();
    let pipe = |path: &str| {
        let path = scratch.path().join(path);
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    pipe(".git/config");
    pipe(".git/commondir");
    pipe(".gitmodules");
    std::os::unix::fs::symlink("/dev/zero", scratch.path().join(".git/config.worktree")).unwrap();
    let start = std::time::Instant::now();
    let found = Repositories::find(&lookup(&scratch));
    assert!(start.elapsed().as_secs() < 2);
    let faults = found.faults().join("\n");
    for name in [".git/config: is not a regular", "config.worktree: is not", ".gitmodules: is not"]
    {
        assert!(faults.contains(name), "{faults}");
    }
}
