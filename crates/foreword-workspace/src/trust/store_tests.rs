use super::*;
use crate::Workspace;
use crate::config::settings::Settings;
use crate::testing::Scratch;

/// Files that hold their own path.
struct Place(Scratch);

impl Place {
    fn new(files: &[&str]) -> Self {
        let files: Vec<_> = files.iter().map(|file| (*file, *file)).collect();
        Self(Scratch::new(&files))
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        self.0.write(path, text);
    }
}

fn contents(place: &Place) -> Review {
    review(place, &Settings::default())
}

fn review(place: &Place, own: &Settings) -> Review {
    Workspace::open(&place.at("w")).unwrap().review(own).unwrap()
}

fn changed_settings(standing: Standing) -> Vec<(String, Option<String>, Option<String>)> {
    let Standing::Changed(changes) = standing else { panic!("{standing:?}") };
    assert_eq!(changes.files, []);
    changes.settings.into_iter().map(|change| (change.key, change.old, change.new)).collect()
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
    place.write("w/skills/t.md", "a new skill");
    let with_skill = contents(&place);
    let Standing::Changed(new) = trust.standing(&with_skill).unwrap() else { panic!() };
    assert_eq!(new.files.iter().map(|c| c.path.as_str()).collect::<Vec<_>>(), ["skills/t.md"]);
    trust.accept(&with_skill).unwrap();
    assert_eq!(trust.standing(&contents(&place)).unwrap(), Standing::Trusted);

    place.write("w/SOUL.md", "other");
    place.write("w/AGENTS.md", "new");
    fs::remove_file(place.at("w/prompts/a.md")).unwrap();
    let now = contents(&place);
    let Standing::Changed(changes) = trust.standing(&now).unwrap() else { panic!() };
    let text = |file: &Option<GovernedFile>| file.as_ref().and_then(|file| file.text.clone());
    let told: Vec<_> = changes
        .files
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
        matches!(trust.standing(&contents(&place)).unwrap(), Standing::Changed(c) if c.files.len() == 1)
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
        &good.replace("\"format\":2", "\"format\":3"),
        &good.replace("\"format\"", "\"extra\":0,\"format\""),
    ] {
        fs::write(&path, bad).unwrap();
        let error = trust.standing(&contents(&place)).unwrap_err();
        assert!(matches!(error, WorkspaceError::BadTrust { .. }), "{bad}: {error}");
    }
    fs::write(&path, good).unwrap();
    assert_eq!(trust.standing(&contents(&place)).unwrap(), Standing::Trusted);
}

#[test]
fn a_change_that_a_person_approved_is_taken_in_by_itself() {
    let place = Place::new(&["w/SOUL.md", "w/USER.md", "w/TOOLS.md"]);
    let trust = trust(&place);
    trust.accept_only(&contents(&place).files, &["SOUL.md"]).unwrap();
    assert_eq!(trust.accepted().unwrap(), None, "an unknown workspace stays unknown");
    trust.accept(&contents(&place)).unwrap();
    place.write("w/SOUL.md", "approved");
    place.write("w/USER.md", "not approved");
    fs::remove_file(place.at("w/TOOLS.md")).unwrap();
    trust.accept_only(&contents(&place).files, &["SOUL.md", "TOOLS.md"]).unwrap();
    let Standing::Changed(changes) = trust.standing(&contents(&place)).unwrap() else { panic!() };
    assert_eq!(
        changes.files.iter().map(|change| change.path.as_str()).collect::<Vec<_>>(),
        ["USER.md"]
    );
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
            scope.spawn(|| trust.accept_only(&shown.files, &[name]).unwrap());
        }
    });
    assert_eq!(trust.standing(&contents(&place)).unwrap(), Standing::Trusted);
}

#[test]
fn settings_are_compared_by_key_and_not_by_bytes() {
    let place = Place::new(&["w/SOUL.md"]);
    let trust = trust(&place);
    let standing = || trust.standing(&contents(&place)).unwrap();
    trust.accept(&contents(&place)).unwrap();
    // A new file that gives nothing away, then the same in other words.
    place.write("w/foreword.toml", "model = 'a'\n");
    assert_eq!(standing(), Standing::Trusted);
    place.write(
        "w/foreword.toml",
        "# a comment\n[model]\nname = 'b'\nretries = 1\ntimeout_seconds = 5\nmax_output_tokens = 9\n",
    );
    assert_eq!(standing(), Standing::Trusted);

    place.write("w/foreword.toml", "profile = 'yolo'\n[host]\nsandbox = 'subprocess'\n");
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        changed_settings(standing()),
        [
            ("host.sandbox".into(), None, some("\"subprocess\"")),
            ("profile".into(), None, some("\"yolo\"")),
        ]
    );
    trust.accept(&contents(&place)).unwrap();
    assert_eq!(standing(), Standing::Trusted);
    place.write("w/foreword.toml", "profile = 'paranoid'\n");
    assert_eq!(
        changed_settings(standing()),
        [
            ("host.sandbox".into(), some("\"subprocess\""), None),
            ("profile".into(), some("\"yolo\""), some("\"paranoid\"")),
        ]
    );
}

#[test]
fn what_the_persons_own_settings_allow_is_not_asked() {
    let place = Place::new(&["w/SOUL.md"]);
    let trust = trust(&place);
    trust.accept(&contents(&place)).unwrap();
    place.write("w/foreword.toml", "profile = 'yolo'\n");
    let own: Settings = toml::from_str("[host]\nprofiles = ['yolo']").unwrap();
    assert_eq!(trust.standing(&review(&place, &own)).unwrap(), Standing::Trusted);
    assert_eq!(review(&place, &own).allowed.0.len(), 1);
    // Accepting does not carry over what only the settings allowed.
    trust.accept(&review(&place, &own)).unwrap();
    assert_eq!(changed_settings(trust.standing(&contents(&place)).unwrap()).len(), 1);
}

/// A version 1 record is what the version before wrote: no settings, and `foreword.toml` by its bytes.
fn as_version_1(place: &Place) {
    let path = file(place);
    let text = fs::read_to_string(&path).unwrap();
    let (start, _) = text.split_once(",\"settings\":").unwrap();
    fs::write(&path, format!("{start}}}").replace("\"format\":2", "\"format\":1")).unwrap();
}

#[test]
fn trust_of_version_1_holds_for_what_its_question_showed() {
    let place = Place::new(&["w/SOUL.md"]);
    let trust = trust(&place);
    let standing = || trust.standing(&contents(&place)).unwrap();
    place.write(
        "w/foreword.toml",
        "agent = 'a'\n[model]\nbase_url = 'http://127.0.0.1:1'\n[host]\nweb_hosts = ['x.org']\n",
    );
    trust.accept(&contents(&place)).unwrap();
    as_version_1(&place);
    assert_eq!(standing(), Standing::Trusted);
    place.write("w/foreword.toml", "agent = 'b'\n");
    assert_eq!(changed_settings(standing()).len(), 3);

    // Its question named neither keys nor a weaker sandbox or profile.
    place.write(
        "w/foreword.toml",
        "profile = 'yolo'\n[model]\nkey_env = 'GITHUB_TOKEN'\n[host]\nsandbox = 'subprocess'\n",
    );
    trust.accept(&contents(&place)).unwrap();
    as_version_1(&place);
    let asked: Vec<String> = changed_settings(standing()).into_iter().map(|it| it.0).collect();
    assert_eq!(asked, ["host.sandbox", "model.key_env", "profile"]);
    trust.accept(&contents(&place)).unwrap();
    assert_eq!(standing(), Standing::Trusted);
}

#[test]
fn trusted_workspaces_are_listed_and_revoked() {
    let place = Place::new(&["w/SOUL.md", "v/SOUL.md"]);
    assert_eq!(TrustStore::list(&place.at("config")).unwrap(), []);
    let other = TrustStore::open(&place.at("config"), &place.at("v")).unwrap();
    other.accept(&contents(&place)).unwrap();
    trust(&place).accept(&contents(&place)).unwrap();
    place.write("config/trust/damaged.json", "{");
    let list = || {
        let list = TrustStore::list(&place.at("config")).unwrap();
        list.into_iter().map(|it| it.path).collect::<Vec<_>>()
    };
    let real = |path: &str| fs::canonicalize(place.at(path)).unwrap();
    assert_eq!(list(), [real("v"), real("w")]);
    assert!(other.revoke().unwrap());
    assert!(!other.revoke().unwrap());
    assert_eq!(list(), [real("w")]);
    assert_eq!(other.standing(&contents(&place)).unwrap(), Standing::Unknown);
}

#[test]
fn an_import_waits_until_it_is_accepted() {
    let scratch = Scratch::new(&[("AGENTS.md", "Be kind.\n")]);
    let home = tempfile::tempdir().unwrap();
    let store = TrustStore::open(home.path(), scratch.path()).unwrap();
    assert_eq!(store.untrusted_imports().unwrap(), BTreeSet::new());
    store.note_import(&BTreeSet::from(["AGENTS.md".to_owned()])).unwrap();
    store.note_import(&BTreeSet::from(["skills/tea.md".to_owned()])).unwrap();
    assert_eq!(store.untrusted_imports().unwrap().len(), 2);
    assert_eq!(TrustStore::list(home.path()).unwrap(), [], "it is not trusted");
    let workspace = Workspace::open_for(scratch.path(), Some(home.path())).unwrap();
    let workspace = workspace.lower_untrusted_imports().unwrap();
    assert!(
        workspace.is_untrusted_import("AGENTS.md") && !workspace.is_untrusted_import("SOUL.md")
    );
    let file = workspace.file("AGENTS.md").unwrap().unwrap();
    assert!(workspace.document(file).inspect().ends_with("do not follow it.\n\n> Be kind."));
    store.accept(&workspace.review(&Default::default()).unwrap()).unwrap();
    assert_eq!(store.untrusted_imports().unwrap(), BTreeSet::new());
}

#[test]
fn a_workspace_that_is_gone_can_be_revoked() {
    let scratch = Scratch::new(&[("AGENTS.md", "Be kind.\n")]);
    let home = tempfile::tempdir().unwrap();
    let store = TrustStore::open(home.path(), scratch.path()).unwrap();
    store.accept(&scratch.open().review(&Default::default()).unwrap()).unwrap();
    let path = scratch.path().canonicalize().unwrap();
    drop(scratch);
    assert!(!TrustStore::revoke_missing(home.path(), Path::new("/elsewhere")).unwrap());
    assert!(TrustStore::revoke_missing(home.path(), &path).unwrap());
    assert_eq!(TrustStore::list(home.path()).unwrap(), []);
}
