use super::*;
use crate::testing::Place;
use std::fs;
use std::os::unix::fs::symlink;

fn workspace(place: &Place) -> Workspace {
    place.write("w/.foreword/", "");
    Workspace::open(&place.at("w")).unwrap()
}

fn moved(list: &[Quarantined]) -> Vec<(&str, &str)> {
    list.iter().map(|one| (one.path.as_str(), one.moved_to.as_str())).collect()
}

#[test]
fn what_appeared_is_moved_and_what_was_there_stays() {
    let place = Place::new(&["w/SOUL.md", "w/sub/AGENTS.md", "w/src/x"]);
    let workspace = workspace(&place);
    let quarantine = Quarantine::before(&workspace.governed().unwrap());
    assert!(quarantine.after(&workspace, "t-s", None).unwrap().is_empty());
    assert!(!place.at("w/.foreword/quarantine").exists(), "nothing, not even a directory");
    for new in
        ["IDENTITY.md", "skills/evil/SKILL.md", "foreword.toml", "src/deep/CLAUDE.md", "src/y"]
    {
        place.write(&format!("w/{new}"), new);
    }
    let list = quarantine.after(&workspace, "t-s", None).unwrap();
    assert_eq!(
        moved(&list),
        [
            ("IDENTITY.md", ".foreword/quarantine/t-s/IDENTITY.md"),
            ("foreword.toml", ".foreword/quarantine/t-s/foreword.toml"),
            ("skills", ".foreword/quarantine/t-s/skills"),
            ("src/deep/CLAUDE.md", ".foreword/quarantine/t-s/src/deep/CLAUDE.md"),
        ]
    );
    assert_eq!(list[2].group, GovernedGroup::Skills);
    let kept = fs::read_to_string(place.at("w/.foreword/quarantine/t-s/skills/evil/SKILL.md"));
    assert_eq!(kept.unwrap(), "skills/evil/SKILL.md");
    assert!(place.at("w/src/y").exists() && place.at("w/SOUL.md").exists());
    assert!(!place.at("w/skills").exists() && !place.at("w/foreword.toml").exists());
    place.write("w/IDENTITY.md", "again");
    let list = quarantine.after(&workspace, "t-s", None).unwrap();
    assert_eq!(moved(&list), [("IDENTITY.md", ".foreword/quarantine/t-s/IDENTITY.md~2")]);
}

#[test]
fn links_are_moved_as_links_and_never_followed() {
    let place = Place::new(&["w/x", "outside/plans/mine.toml", "outside/secret"]);
    place.write("w/foreword.toml", "blueprint = 'plans/mine.toml'");
    let workspace = workspace(&place);
    let quarantine = Quarantine::before(&workspace.governed().unwrap());
    symlink(place.at("outside/secret"), place.at("w/SOUL.md")).unwrap();
    symlink(place.at("outside/plans"), place.at("w/plans")).unwrap();
    symlink("/nowhere", place.at("w/agents")).unwrap();
    let list = quarantine.after(&workspace, "t", None).unwrap();
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
    let quarantine = Quarantine::before(&workspace.governed().unwrap());
    symlink(place.at("outside"), place.at("w/.foreword/quarantine")).unwrap();
    place.write("w/SOUL.md", "evil");
    assert!(quarantine.after(&workspace, "t", None).is_err());
    assert!(!place.at("outside/t").exists());
    for name in ["", "..", "a/b", "x\0"] {
        assert!(quarantine.after(&workspace, name, None).is_err(), "{name:?}");
    }
}

#[test]
fn governed_links_are_put_back() {
    let place = Place::new(&["w/AGENTS.md"]);
    symlink("AGENTS.md", place.at("w/CLAUDE.md")).unwrap();
    let workspace = workspace(&place);
    let quarantine = Quarantine::before(&workspace.governed().unwrap());
    assert!(quarantine.after(&workspace, "t", None).unwrap().is_empty());
    for (number, change) in ["other", "file", "gone"].into_iter().enumerate() {
        fs::remove_file(place.at("w/CLAUDE.md")).unwrap();
        match change {
            "other" => symlink("x", place.at("w/CLAUDE.md")).unwrap(),
            "file" => place.write("w/CLAUDE.md", "evil"),
            _ => {}
        }
        let list = quarantine.after(&workspace, &format!("t{number}"), None).unwrap();
        assert_eq!(list.len(), usize::from(change != "gone"));
        assert!(list.iter().all(|one| one.replaced_link));
        assert_eq!(fs::read_link(place.at("w/CLAUDE.md")).unwrap(), Path::new("AGENTS.md"));
    }
}

#[test]
fn what_a_person_accepted_stays() {
    let place = Place::new(&["w/x"]);
    let workspace = workspace(&place);
    let quarantine = Quarantine::before(&workspace.governed().unwrap());
    for new in ["SOUL.md", "USER.md", "prompts/good.md", "prompts/layers/good.md"] {
        place.write(&format!("w/{new}"), new);
    }
    let accepted = workspace.governed().unwrap().read(&GovernedGroup::TRUSTED).unwrap();
    for new in ["USER.md", "prompts/evil.md", "prompts/deep/evil.md", "agents/evil.md"] {
        place.write(&format!("w/{new}"), "evil");
    }
    let list = quarantine.after(&workspace, "t", Some(&accepted)).unwrap();
    let paths: Vec<_> = list.iter().map(|one| one.path.as_str()).collect();
    assert_eq!(paths, ["USER.md", "agents", "prompts/deep", "prompts/evil.md"]);
    assert!(place.at("w/SOUL.md").exists() && place.at("w/prompts/layers/good.md").exists());
    assert!(place.at("w/.foreword/quarantine/t/prompts/deep/evil.md").exists());
}
