use super::*;
use crate::testing::Place;
use foreword_workspace::Workspace;

fn contents(place: &Place) -> GovernedContents {
    let workspace = Workspace::open(&place.at("w")).unwrap();
    workspace.governed().unwrap().read(&GovernedGroup::TRUSTED).unwrap()
}

fn trust(place: &Place) -> TrustStore {
    TrustStore::open(&place.at("config"), &place.at("w")).unwrap()
}

fn file(place: &Place) -> PathBuf {
    let files = fs::read_dir(place.at("config/trust")).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|file| !file.ends_with("lock")).collect();
    assert_eq!(files.len(), 1, "nothing is left beside it");
    files.remove(0)
}

#[test]
fn a_workspace_is_unknown_then_trusted_then_changed() {
    let place = Place::new(&["w/SOUL.md", "w/skills/s.md", "w/prompts/a.md"]);
    let trust = trust(&place);
    let shown = contents(&place);
    assert_eq!(trust.standing(&shown).unwrap(), Standing::Unknown);
    trust.accept(&shown).unwrap();
    assert_eq!(trust.standing(&contents(&place)).unwrap(), Standing::Trusted);
    place.write("w/skills/t.md", "a skill has its own approval");
    assert_eq!(trust.standing(&contents(&place)).unwrap(), Standing::Trusted);

    place.write("w/SOUL.md", "other");
    place.write("w/AGENTS.md", "new");
    fs::remove_file(place.at("w/prompts/a.md")).unwrap();
    let now = contents(&place);
    let Standing::Changed(changes) = trust.standing(&now).unwrap() else { panic!() };
    let text = |file: &Option<GovernedFile>| file.as_ref().and_then(|file| file.text.clone());
    let told: Vec<_> = changes
        .iter()
        .map(|c| (c.path.as_str(), c.group.as_str(), text(&c.old), text(&c.new)))
        .collect();
    assert_eq!(
        told,
        [
            ("AGENTS.md", "instructions", None, Some("new".into())),
            ("SOUL.md", "identity", Some("w/SOUL.md".into()), Some("other".into())),
            ("prompts/a.md", "prompts", Some("w/prompts/a.md".into()), None),
        ]
    );
    // What is accepted is what was shown, also if the file has changed again since.
    place.write("w/SOUL.md", "and again");
    trust.accept(&now).unwrap();
    assert!(
        matches!(trust.standing(&contents(&place)).unwrap(), Standing::Changed(c) if c.len() == 1)
    );
}

#[test]
fn trust_belongs_to_one_place_and_does_not_travel_with_a_copy() {
    let place = Place::new(&["w/SOUL.md", "w/.foreword/trust/x.json", "copy/SOUL.md"]);
    place.write("copy/SOUL.md", "w/SOUL.md");
    trust(&place).accept(&contents(&place)).unwrap();
    let copy = TrustStore::open(&place.at("config"), &place.at("copy")).unwrap();
    assert_eq!(copy.standing(&contents(&place)).unwrap(), Standing::Unknown);
    std::os::unix::fs::symlink(place.at("w"), place.at("linked")).unwrap();
    assert_eq!(TrustStore::open(&place.at("config"), &place.at("linked")).unwrap(), trust(&place));
    let error = TrustStore::open(&place.at("w/.foreword"), &place.at("w")).unwrap_err();
    assert!(error.to_string().contains("keep your settings outside it"));
}

#[test]
fn the_file_is_the_persons_own() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new(&["w/SOUL.md"]);
    let trust = trust(&place);
    trust.accept(&contents(&place)).unwrap();
    trust.accept(&contents(&place)).unwrap();
    let path = file(&place);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    let error = trust.standing(&contents(&place)).unwrap_err().to_string();
    assert!(
        error.ends_with("can be written by other users; delete it to review the workspace again")
    );
}

#[test]
fn a_damaged_file_is_told_and_trusts_nothing() {
    let place = Place::new(&["w/SOUL.md"]);
    let trust = trust(&place);
    trust.accept(&contents(&place)).unwrap();
    let path = file(&place);
    let good = fs::read_to_string(&path).unwrap();
    for bad in [
        "",
        "{}",
        "[]",
        good.get(..good.len() / 2).unwrap(),
        &good.replace("\"format\":1", "\"format\":2"),
        &good.replace("\"format\"", "\"extra\":0,\"format\""),
    ] {
        fs::write(&path, bad).unwrap();
        let error = trust.standing(&contents(&place)).unwrap_err();
        assert!(matches!(error, GovernanceError::BadTrust { .. }), "{bad}: {error}");
    }
    fs::write(&path, good).unwrap();
    assert_eq!(trust.standing(&contents(&place)).unwrap(), Standing::Trusted);
}

#[test]
fn a_change_that_a_person_approved_is_taken_in_by_itself() {
    let place = Place::new(&["w/SOUL.md", "w/USER.md", "w/TOOLS.md"]);
    let trust = trust(&place);
    trust.accept_only(&contents(&place), &["SOUL.md"]).unwrap();
    assert_eq!(trust.accepted().unwrap(), None, "an unknown workspace stays unknown");
    trust.accept(&contents(&place)).unwrap();
    place.write("w/SOUL.md", "approved");
    place.write("w/USER.md", "not approved");
    fs::remove_file(place.at("w/TOOLS.md")).unwrap();
    trust.accept_only(&contents(&place), &["SOUL.md", "TOOLS.md"]).unwrap();
    let Standing::Changed(changes) = trust.standing(&contents(&place)).unwrap() else { panic!() };
    assert_eq!(changes.iter().map(|change| change.path.as_str()).collect::<Vec<_>>(), ["USER.md"]);
}

#[test]
fn accepting_at_once_loses_nothing() {
    let names: Vec<String> = (0..8).map(|n| format!("prompts/{n}.md")).collect();
    let place = Place::new(&["w/SOUL.md"]);
    let trust = trust(&place);
    trust.accept(&contents(&place)).unwrap();
    names.iter().for_each(|name| place.write(&format!("w/{name}"), name));
    let shown = contents(&place);
    std::thread::scope(|scope| {
        for name in &names {
            scope.spawn(|| trust.accept_only(&shown, &[name]).unwrap());
        }
    });
    assert_eq!(trust.standing(&contents(&place)).unwrap(), Standing::Trusted);
}
