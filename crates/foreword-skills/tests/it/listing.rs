//! The list of skills: right with a cache, without one, and with a damaged or lying one.

use foreword_skills::{LIST_CACHE, Listing, SkillMeta, list};
use foreword_workspace::{PRIVATE_DIR, Workspace};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};
use tempfile::TempDir;

struct Scratch(TempDir);

impl Scratch {
    fn new(files: &[(&str, &str)]) -> Self {
        let scratch = Self(tempfile::tempdir().unwrap());
        fs::create_dir(scratch.at(PRIVATE_DIR)).unwrap();
        files.iter().for_each(|(path, text)| scratch.write(path, text));
        scratch
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), text).unwrap();
    }

    fn cache(&self) -> PathBuf {
        self.at(PRIVATE_DIR).join(LIST_CACHE)
    }

    /// A list at a time when no file is new.
    fn list(&self) -> Listing {
        self.list_at(Some(&self.cache()), SystemTime::now() + Duration::from_secs(10))
    }

    fn list_at(&self, cache: Option<&Path>, now: SystemTime) -> Listing {
        list(&Workspace::open(self.0.path()).unwrap(), cache, now).unwrap()
    }

    /// What a list has to say, as the reader of whole skills finds it.
    fn expected(&self) -> Vec<(String, Option<String>, String, [u8; 32])> {
        let scan = Workspace::open(self.0.path()).unwrap().skills().unwrap();
        let skills = scan.skills.into_iter();
        skills.map(|s| (s.name, s.description, s.body.path, s.digest)).collect()
    }

    fn check(&self) {
        for _ in 0..2 {
            assert_eq!(summary(&self.list()), self.expected());
        }
    }
}

fn summary(listing: &Listing) -> Vec<(String, Option<String>, String, [u8; 32])> {
    let skills = listing.skills.iter();
    skills
        .map(|s| (s.meta.name.clone(), s.meta.description.clone(), s.meta.path.clone(), s.digest))
        .collect()
}

fn problems(listing: &Listing) -> Vec<String> {
    listing.problems.iter().map(ToString::to_string).collect()
}

fn sample() -> Scratch {
    Scratch::new(&[
        ("foreword.toml", "[skills]\nroots = ['more', 'gone']"),
        ("skills/tea/SKILL.md", "---\nname: tea\ndescription: Brews.\n---\nTea."),
        ("skills/soup.md", "Soup."),
        ("skills/bad.md", "a\0b"),
        ("more/tea.md", "hidden"),
        ("more/rice/SKILL.md", "---\nname: risotto\n---\n"),
    ])
}

#[test]
fn a_list_is_what_the_workspace_finds_cold_and_warm() {
    let scratch = sample();
    scratch.check();
    let listing = scratch.list();
    assert_eq!(
        problems(&listing),
        [
            "skills/bad.md:1: looks binary: it contains a NUL byte (byte 1)",
            "more/tea.md: skill `tea` is hidden by skills/tea/SKILL.md",
            "gone: directory not found",
        ]
    );
    let tea = &listing.skills[2];
    assert_eq!((tea.size, tea.dir.as_deref()), (42, Some("skills/tea")));
    assert_eq!(
        serde_json::to_string(&tea.meta).unwrap(),
        r#"{"name":"tea","description":"Brews.","path":"skills/tea/SKILL.md"}"#
    );
    let soup = SkillMeta { name: "soup".into(), description: None, path: "skills/soup.md".into() };
    assert_eq!(listing.skills[1].meta, soup);
    assert_eq!(serde_json::to_string(&soup).unwrap(), r#"{"name":"soup","path":"skills/soup.md"}"#);
}

#[test]
fn every_change_is_seen() {
    let scratch = sample();
    scratch.check();
    scratch.write("skills/tea/SKILL.md", "---\nname: tea\ndescription: Brewt.\n---\nTea.");
    scratch.check();
    scratch.write("skills/new.md", "New.");
    scratch.check();
    fs::remove_file(scratch.at("skills/soup.md")).unwrap();
    scratch.check();
    fs::rename(scratch.at("more/rice"), scratch.at("more/pilaf")).unwrap();
    scratch.check();
    scratch.write("skills/bad.md", "good now");
    scratch.check();
}

#[test]
fn a_change_that_keeps_time_and_size_is_seen() {
    let scratch = sample();
    let path = scratch.at("skills/soup.md");
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    scratch.list();
    std::thread::sleep(Duration::from_millis(20));
    scratch.write("skills/soup.md", "Stew.");
    fs::File::options().append(true).open(&path).unwrap().set_modified(modified).unwrap();
    if cfg!(unix) {
        scratch.check();
    }
}

#[test]
fn a_file_changed_just_now_is_read_again() {
    let scratch = sample();
    let just_now = fs::metadata(scratch.at("skills/soup.md")).unwrap().modified().unwrap();
    scratch.list_at(Some(&scratch.cache()), just_now);
    // The cache holds nothing: every file could have changed within the tick of the clock.
    assert!(fs::read(scratch.cache()).map_or(true, |bytes| bytes.len() < 100));
    scratch.check();
}

#[test]
fn a_damaged_cache_is_made_anew() {
    let scratch = sample();
    scratch.check();
    let good = fs::read(scratch.cache()).unwrap();
    for damage in [
        Vec::new(),
        b"rubbish".to_vec(),
        good[..good.len() / 2].to_vec(),
        good.iter().map(|byte| byte ^ 0x20).collect(),
        vec![0; 1 << 20],
    ] {
        fs::write(scratch.cache(), damage).unwrap();
        scratch.check();
        assert_eq!(fs::read(scratch.cache()).unwrap().len(), good.len());
    }
}

#[test]
fn a_list_needs_no_cache() {
    let scratch = sample();
    let now = SystemTime::now();
    assert_eq!(summary(&scratch.list_at(None, now)), scratch.expected());
    assert!(!scratch.cache().exists());

    // A file stands where its directory would be, or a directory where it would be.
    fs::write(scratch.at(PRIVATE_DIR).join("cache"), "in the way").unwrap();
    scratch.check();
    fs::remove_file(scratch.at(PRIVATE_DIR).join("cache")).unwrap();
    fs::create_dir_all(scratch.cache()).unwrap();
    scratch.check();
    assert_eq!(fs::read_dir(scratch.at(PRIVATE_DIR).join("cache")).unwrap().count(), 1);

    // No private directory: none is made.
    let bare = sample();
    fs::remove_dir(bare.at(PRIVATE_DIR)).unwrap();
    bare.check();
    assert!(!bare.at(PRIVATE_DIR).exists());
}

#[test]
fn every_bad_file_is_a_problem_and_the_rest_is_listed() {
    let mut bomb = String::from("---\nname: x\na: &a [x, x, x, x, x, x, x, x, x, x]\n");
    for (previous, next) in "abcdefghi".chars().zip("bcdefghij".chars()) {
        bomb += &format!("{next}: &{next} [{}]\n", vec![format!("*{previous}"); 10].join(","));
    }
    let scratch = Scratch::new(&[
        ("skills/good/SKILL.md", "---\nname: good\n---\nGood."),
        ("skills/fine.md", "Fine."),
        ("skills/empty.md", ""),
        ("skills/hollow/notes.txt", "no SKILL.md here"),
        ("skills/open/SKILL.md", "---\nname: open\n"),
        ("skills/broken/SKILL.md", "---\nname: 'broken\n---\n"),
        ("skills/bomb.md", &(bomb + "---\n")),
        ("skills/deep.md", &format!("---\nname: {}\n---\n", "[".repeat(10_000))),
        ("skills/large-header.md", &format!("---\nname: {}\n---\n", "x".repeat(100_000))),
        ("skills/Good.md", "another case"),
        ("skills/folder/SKILL.md/x", "a folder in place of the file"),
    ]);
    scratch.write("skills/binary.md", b"\x7fELF\0\0\0");
    scratch.write("skills/latin.md", b"caf\xe9");
    scratch.write("skills/huge.md", vec![b'x'; 10 << 20]);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("gone", scratch.at("skills/dangling")).unwrap();
        std::os::unix::fs::symlink("/etc", scratch.at("skills/outside")).unwrap();
        std::os::unix::fs::symlink("loop", scratch.at("skills/loop")).unwrap();
        fs::create_dir(scratch.at("skills/pipe")).unwrap();
        let pipe = scratch.at("skills/pipe/SKILL.md");
        assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
    }
    let start = Instant::now();
    let listing = scratch.list();
    assert!(start.elapsed() < Duration::from_secs(2));
    let names: Vec<&str> = listing.skills.iter().map(|s| s.meta.name.as_str()).collect();
    assert_eq!(names, ["broken", "deep", "empty", "fine", "good", "large-header", "open", "x"]);

    let problems = problems(&listing);
    let mut expected = vec![
        "skills/Good.md: skill `Good` differs only in case from `good`",
        "skills/binary.md:1: looks binary",
        "skills/folder/SKILL.md: is a directory",
        "skills/huge.md: is 10485760 bytes long",
        "skills/latin.md:1: is not UTF-8",
    ];
    if cfg!(unix) {
        expected.extend([
            "skills/dangling: is a link to gone, which does not exist",
            "skills/loop: cannot be read",
            "skills/outside: is a link that leaves the workspace",
            "skills/pipe/SKILL.md: is not a regular file",
        ]);
    }
    for start in &expected {
        assert!(
            problems.iter().any(|problem| problem.starts_with(start)),
            "{start}: {problems:#?}"
        );
    }
    assert_eq!(problems.len(), expected.len(), "{problems:#?}");
    assert!(problems.iter().all(|problem| problem.len() < 300), "{problems:#?}");
}
