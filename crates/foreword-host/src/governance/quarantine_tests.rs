use super::*;
use crate::testing::Place;
use foreword_workspace::{RepositoryLookup, Workspace};
use std::fs;
use std::os::unix::fs::symlink;

fn workspace(place: &Place) -> Workspace {
    place.write("w/.foreword/", "");
    Workspace::open(&place.at("w")).unwrap()
}

fn before(workspace: &Workspace) -> Quarantine {
    let governed = workspace.governed().unwrap();
    let root = governed.root().to_path_buf();
    let lookup = RepositoryLookup { root, ..RepositoryLookup::default() };
    Quarantine::before(&governed, Repositories::find(&lookup))
}

fn put_aside(
    quarantine: &Quarantine,
    name: &str,
    accepted: Option<&GovernedContents>,
) -> Vec<QuarantinedEntry> {
    let done = quarantine.after(name, accepted);
    assert!(done.faults.is_empty(), "{:?}", done.faults);
    done.moved
}

fn moved(list: &[QuarantinedEntry]) -> Vec<(&str, &str)> {
    list.iter().map(|one| (one.path.as_str(), one.moved_to.as_str())).collect()
}

#[test]
fn what_appeared_is_moved_and_what_was_there_stays() {
    let place = Place::new(&["w/SOUL.md", "w/sub/AGENTS.md", "w/src/x"]);
    let workspace = workspace(&place);
    let quarantine = before(&workspace);
    assert!(put_aside(&quarantine, "t-s", None).is_empty());
    assert!(!place.at("w/.foreword/quarantine").exists(), "nothing, not even a directory");
    for new in ["IDENTITY.md", "skills/evil/SKILL.md", "foreword.toml", "src/y"] {
        place.write(&format!("w/{new}"), new);
    }
    let list = put_aside(&quarantine, "t-s", None);
    assert_eq!(
        moved(&list),
        [
            ("IDENTITY.md", ".foreword/quarantine/t-s/IDENTITY.md"),
            ("foreword.toml", ".foreword/quarantine/t-s/foreword.toml"),
            ("skills", ".foreword/quarantine/t-s/skills"),
        ]
    );
    assert_eq!(list[2].group, Some(GovernedGroup::Skills));
    let kept = fs::read_to_string(place.at("w/.foreword/quarantine/t-s/skills/evil/SKILL.md"));
    assert_eq!(kept.unwrap(), "skills/evil/SKILL.md");
    assert!(place.at("w/src/y").exists() && place.at("w/SOUL.md").exists());
    assert!(!place.at("w/skills").exists() && !place.at("w/foreword.toml").exists());
    place.write("w/IDENTITY.md", "again");
    let list = put_aside(&quarantine, "t-s", None);
    assert_eq!(moved(&list), [("IDENTITY.md", ".foreword/quarantine/t-s/IDENTITY.md~2")]);
}

#[test]
fn links_are_moved_as_links_and_never_followed() {
    let place = Place::new(&["w/x", "outside/plans/mine.toml", "outside/secret"]);
    place.write("w/foreword.toml", "blueprint = 'plans/mine.toml'");
    let workspace = workspace(&place);
    let quarantine = before(&workspace);
    symlink(place.at("outside/secret"), place.at("w/SOUL.md")).unwrap();
    symlink(place.at("outside/plans"), place.at("w/plans")).unwrap();
    symlink("/nowhere", place.at("w/agents")).unwrap();
    let list = put_aside(&quarantine, "t", None);
    let paths: Vec<_> = list.iter().map(|one| one.path.as_str()).collect();
    assert_eq!(paths, ["SOUL.md", "agents", "plans"]);
    let link = place.at("w/.foreword/quarantine/t/SOUL.md");
    assert_eq!(fs::read_link(link).unwrap(), place.at("outside/secret"));
    assert!(place.at("outside/plans/mine.toml").exists(), "behind a link nothing is moved");
    assert!(place.at("outside/secret").exists());
}

#[test]
fn a_quarantine_that_is_a_link_is_refused() {
    let place = Place::new(&["w/x", "outside/y"]);
    let workspace = workspace(&place);
    let quarantine = before(&workspace);
    symlink(place.at("outside"), place.at("w/.foreword/quarantine")).unwrap();
    place.write("w/SOUL.md", "evil");
    assert!(!quarantine.after("t", None).faults.is_empty());
    assert!(!place.at("outside/t").exists());
    for name in ["", "..", "a/b", "x\0"] {
        assert_eq!(quarantine.after(name, None).faults.len(), 1, "{name:?}");
    }
}

#[test]
fn governed_links_are_put_back() {
    let place = Place::new(&["w/AGENTS.md"]);
    symlink("AGENTS.md", place.at("w/CLAUDE.md")).unwrap();
    let workspace = workspace(&place);
    let quarantine = before(&workspace);
    assert!(put_aside(&quarantine, "t", None).is_empty());
    for (number, change) in ["other", "file", "gone"].into_iter().enumerate() {
        fs::remove_file(place.at("w/CLAUDE.md")).unwrap();
        match change {
            "other" => symlink("x", place.at("w/CLAUDE.md")).unwrap(),
            "file" => place.write("w/CLAUDE.md", "evil"),
            _ => {}
        }
        let list = put_aside(&quarantine, &format!("t{number}"), None);
        assert_eq!(list.len(), usize::from(change != "gone"));
        assert!(list.iter().all(|one| one.replaced_link));
        assert_eq!(fs::read_link(place.at("w/CLAUDE.md")).unwrap(), Path::new("AGENTS.md"));
    }
}

#[test]
fn what_a_person_accepted_stays() {
    let place = Place::new(&["w/x"]);
    let workspace = workspace(&place);
    let quarantine = before(&workspace);
    for new in ["SOUL.md", "USER.md", "prompts/good.md", "prompts/layers/good.md"] {
        place.write(&format!("w/{new}"), new);
    }
    let accepted = workspace.governed().unwrap().read(&GovernedGroup::TRUSTED).unwrap();
    for new in ["USER.md", "prompts/evil.md", "prompts/deep/evil.md", "agents/evil.md"] {
        place.write(&format!("w/{new}"), "evil");
    }
    let list = put_aside(&quarantine, "t", Some(&accepted));
    let paths: Vec<_> = list.iter().map(|one| one.path.as_str()).collect();
    assert_eq!(paths, ["USER.md", "agents", "prompts/deep", "prompts/evil.md"]);
    assert!(place.at("w/SOUL.md").exists() && place.at("w/prompts/layers/good.md").exists());
    assert!(place.at("w/.foreword/quarantine/t/prompts/deep/evil.md").exists());
}

#[test]
fn what_git_would_run_is_moved() {
    let place = Place::new(&["w/.git/config", "w/.git/HEAD", "w/old/.git/config", "w/x"]);
    symlink("old/.git", place.at("w/.git/modules")).unwrap();
    let workspace = workspace(&place);
    let quarantine = before(&workspace);
    for new in
        [".git/index", ".git/commondir", ".git/hooks/post-commit", "old/.git/config.worktree"]
    {
        place.write(&format!("w/{new}"), new);
    }
    for new in ["deep/er/.git/config", "file/.git", "bare/HEAD", "bare/objects/", "bare/refs/"] {
        place.write(&format!("w/{new}"), new);
    }
    symlink("/tmp", place.at("w/x.d")).unwrap();
    fs::remove_file(place.at("w/.git/modules")).unwrap();
    place.write("w/.git/modules/evil/config", "");
    let list = put_aside(&quarantine, "t", None);
    let paths: Vec<_> = list.iter().map(|one| one.path.as_str()).collect();
    let expected = [
        ".git/commondir",
        ".git/hooks",
        ".git/modules",
        "bare/HEAD",
        "deep/er/.git",
        "file/.git",
        "old/.git/config.worktree",
    ];
    assert_eq!(paths, expected);
    assert!(place.at("w/.git/index").exists() && place.at("w/old/.git/config").exists());
    assert_eq!(fs::read_link(place.at("w/.git/modules")).unwrap(), Path::new("old/.git"));
    assert!(place.at("w/.foreword/quarantine/t/deep/er/.git/config").exists());
}

#[test]
fn a_repository_where_none_was_is_moved() {
    let place = Place::new(&["w/x"]);
    let workspace = workspace(&place);
    let quarantine = before(&workspace);
    place.write("w/.git/config", "[core]\nfsmonitor = touch /tmp/x\n");
    let list = put_aside(&quarantine, "t", None);
    assert_eq!(moved(&list), [(".git", ".foreword/quarantine/t/.git")]);
}

#[test]
fn too_much_in_a_new_governed_directory_hides_nothing() {
    let place = Place::new(&["w/x"]);
    let workspace = workspace(&place);
    let quarantine = before(&workspace);
    place.write("w/prompts/", "");
    for number in 0..50_001 {
        fs::write(place.at(&format!("w/prompts/{number}")), "").unwrap();
    }
    assert!(workspace.governed().is_err(), "this is more than is looked at");
    let list = put_aside(&quarantine, "t", None);
    let paths: Vec<_> = list.iter().map(|one| one.path.as_str()).collect();
    assert_eq!(paths, ["prompts"]);
}

/// Root may do everything, so this is done by a thread that is somebody else.
#[test]
#[cfg(target_os = "linux")]
fn rights_that_are_taken_away_hide_nothing() {
    use std::os::unix::fs::{PermissionsExt as _, chown};
    let place = Place::new(&["w/x"]);
    let workspace = workspace(&place);
    let quarantine = before(&workspace);
    place.write("w/ro/.git/config", "evil");
    place.write("w/none/deep/.git/config", "evil");
    place.write("w/agents/evil.md", "evil");
    place.write("w/shut/.git/config", "evil");
    for (path, mode) in [("ro", 0o555), ("none", 0), ("agents", 0o555), ("shut", 0o500)] {
        fs::set_permissions(place.at("w").join(path), fs::Permissions::from_mode(mode)).unwrap();
    }
    let nobody = rustix::process::geteuid().is_root().then_some(65534);
    for path in [
        "",
        "w",
        "w/.foreword",
        "w/x",
        "w/ro",
        "w/ro/.git",
        "w/none",
        "w/none/deep",
        "w/none/deep/.git",
        "w/agents",
        "w/shut",
        "w/shut/.git",
    ] {
        chown(place.at(path), nobody, None).unwrap();
    }
    let list = std::thread::scope(|scope| {
        let work = || {
            if let Some(nobody) = nobody {
                let id = rustix::process::Uid::from_raw(nobody);
                rustix::thread::set_thread_res_uid(id, id, id).unwrap();
            }
            put_aside(&quarantine, "t", None)
        };
        scope.spawn(work).join().unwrap()
    });
    let paths: Vec<_> = list.iter().map(|one| one.path.as_str()).collect();
    assert_eq!(paths, ["agents", "none/deep/.git", "ro/.git", "shut/.git"]);
}

#[test]
fn one_fault_keeps_nothing_else_from_being_moved() {
    let place = Place::new(&["w/x", "outside/y"]);
    let workspace = workspace(&place);
    let quarantine = before(&workspace);
    for new in ["agents/evil.md", "sub/.git/config", "SOUL.md"] {
        place.write(&format!("w/{new}"), "evil");
    }
    // Where `sub/.git` would go there is a file.
    place.write("w/.foreword/quarantine/t/sub", "in the way");
    let done = quarantine.after("t", None);
    let paths: Vec<_> = done.moved.iter().map(|one| one.path.as_str()).collect();
    assert_eq!(paths, ["SOUL.md", "agents"]);
    assert_eq!(done.faults.len(), 1);
}
