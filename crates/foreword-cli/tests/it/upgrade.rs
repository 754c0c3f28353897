//! What version 0.1 wrote and accepted, this one reads and accepts; see `tests/fixtures/upgrade` and docs/upgrading.md.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::model::{ModelServer, text};
use crate::support::{Foreword, Run, Scratch};

/// Where the fixture was made: trust and the head file are bound to this path.
const PLACE: &str = "/tmp/foreword-upgrade-fixture";
const PENDING: &str = "zyn673eh3x";

/// The fixture, unpacked in a directory.
struct Old {
    directory: PathBuf,
}

impl Old {
    fn unpacked(directory: &Path) -> Self {
        let fixture =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/upgrade/upgrade.tar.gz");
        let mut tar = Command::new("tar");
        tar.arg("--no-same-owner").arg("-xpzf").arg(fixture).arg("-C").arg(directory);
        assert!(tar.status().unwrap().success());
        Self { directory: directory.to_owned() }
    }

    fn run(&self, args: &[&str]) -> Run {
        self.command(args).run()
    }

    fn command(&self, args: &[&str]) -> Foreword {
        Foreword::new(args)
            .here(&self.directory.join("workspace"))
            .env("FOREWORD_CONFIG_DIR", self.directory.join("config/foreword"))
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("USER", "ada")
            .env("ANTHROPIC_API_KEY", "none")
    }

    /// The version of the layout of the database.
    fn schema(&self) -> i64 {
        let path = self.directory.join("workspace/.foreword/foreword.db");
        let database = rusqlite::Connection::open(path).unwrap();
        database.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
    }
}

#[test]
fn a_moved_workspace_of_the_version_before_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let old = Old::unpacked(directory.path());

    let verified = old.run(&["audit", "verify", "--json"]).ok().json();
    assert_eq!((&verified["ok"], &verified["entries"]), (&true.into(), &12.into()), "{verified}");
    let skills = old.run(&["skill", "list"]).ok().stdout;
    assert_eq!(skills.matches("approved").count(), 2, "{skills}");
    let memories = old.run(&["memory", "list", "--json"]).ok().stdout;
    assert!(memories.contains("Ada prefers rye over wheat"), "{memories}");
    let found = old.run(&["memory", "search", "rye", "--user", "ada"]).ok().stdout;
    assert!(found.contains("Ada prefers rye"), "{found}");
    let sessions = old.run(&["session", "list"]).ok().stdout;
    assert!(sessions.contains("morning"), "{sessions}");
    let shown = old.run(&["session", "show", "morning"]).ok().stdout;
    assert!(shown.contains("the ovens are warm"), "{shown}");

    let proposal = old.run(&["skill", "proposals", PENDING]).ok().stdout;
    assert!(proposal.contains("+Count three times."), "{proposal}");
    old.run(&["skill", "approve", PENDING, "--yes"]).ok();
    let till = fs::read_to_string(directory.path().join("workspace/skills/till/SKILL.md")).unwrap();
    assert!(till.contains("Count three times."), "{till}");
    old.run(&["memory", "add", "The new oven arrives in May"]).ok();
    let verified = old.run(&["audit", "verify", "--json"]).ok().json();
    assert_eq!(verified["ok"], true, "{verified}");
}

/// At its own path the head file and the trust of the person hold, and the prompts are the same.
#[cfg(target_os = "linux")]
#[test]
fn trust_head_file_and_lock_file_of_the_version_before_hold() {
    let lock = File::create(format!("{PLACE}.lock")).unwrap();
    lock.lock().unwrap();
    let _ = fs::remove_dir_all(PLACE);
    fs::create_dir(PLACE).unwrap();
    let old = Old::unpacked(Path::new(PLACE));

    let verified = old.run(&["audit", "verify", "--json"]).ok().json();
    assert_eq!((&verified["ok"], &verified["notes"]), (&true.into(), &serde_json::json!([])));
    // The wording of these sections may change; what depends on the workspace is as it was recorded.
    let reworded =
        ["rules", "constitution", "security", "injection-defense", "index", "selection", "runtime"];
    let drift = old.run(&["lint", "--lock"]).stdout;
    let changed = drift.split("section ").skip(1).filter_map(|rest| rest.split_once(" changed"));
    for (section, _) in changed {
        assert!(reworded.contains(&section), "{drift}");
    }
    // Nothing is asked: there is no terminal, so that a question would be an error.
    let model = ModelServer::saying(vec![text("Good evening.")]);
    let run =
        old.command(&["run", "-q", "-m", "Good evening!"]).env("ANTHROPIC_BASE_URL", &model.url);
    assert!(run.run().ok().stdout.contains("Good evening."));
    fs::remove_dir_all(PLACE).unwrap();
}

/// It succeeded; notes about the move are welcome.
fn done(run: &Run) {
    assert_eq!(run.status, 0, "{run:?}");
}

#[test]
fn the_first_change_upgrades_the_database_and_reading_does_not() {
    let directory = tempfile::tempdir().unwrap();
    let old = Old::unpacked(directory.path());
    assert_eq!(old.schema(), 3);
    for read in [
        &["audit", "verify"][..],
        &["audit", "log"],
        &["skill", "list"],
        &["memory", "list"],
        &["session", "show", "morning"],
        &["taint", "list"],
        &["build", "-q", "bake"],
    ] {
        done(&old.run(read));
        assert_eq!(old.schema(), 3, "{read:?}");
    }
    let kept = directory.path().join("before.db");
    done(&old.run(&["backup", kept.to_str().unwrap()]));

    done(&old.run(&["memory", "add", "The new oven arrives in May"]));
    assert_eq!(old.schema(), 5);
    let log = old.run(&["audit", "log"]).ok().stdout;
    assert_eq!(log.matches("store.upgrade").count(), 1, "{log}");
    // A conversation of 0.1 goes on, with what was said in it.
    let model = ModelServer::saying(vec![text("Still warm.")]);
    let again = ["run", "-q", "--trust", "--session", "morning", "-m", "And now?"];
    let again = old.command(&again).env("ANTHROPIC_BASE_URL", &model.url).run();
    done(&again);
    assert!(again.stdout.contains("Still warm."), "{again:?}");
    let asked = model.asked().pop().unwrap().raw;
    assert!(asked.contains("the ovens are warm"), "{asked}");
    let verified = old.run(&["audit", "verify", "--json"]).ok().json();
    assert_eq!(verified["ok"], true, "{verified}");

    // The way back: a backup from before the upgrade is as good as any other.
    done(&old.run(&["restore", kept.to_str().unwrap(), "--yes"]));
    let memories = old.run(&["memory", "list"]).ok().stdout;
    assert!(memories.contains("rye") && !memories.contains("new oven"), "{memories}");
    let verified = old.run(&["audit", "verify", "--json"]).ok().json();
    assert_eq!(verified["ok"], true, "{verified}");
}

/// Scripts and settings for 0.1 keep working: docs/upgrading.md promises it.
#[test]
fn every_command_option_and_setting_of_0_1_is_still_there() {
    let empty = Scratch::new(&[]);
    for line in include_str!("../fixtures/upgrade/commands-0.1.txt").lines() {
        let (options, mut command): (Vec<&str>, Vec<&str>) =
            line.split(' ').partition(|word| word.starts_with("--"));
        command.push("--help");
        let help = Foreword::new(&command).here(empty.path()).run().ok().stdout;
        let listed = |option: &str| {
            let mut words = help.split([' ', ',', '\n', '[', '=']);
            words.any(|word| word == option)
        };
        for option in options {
            assert!(listed(option), "{line}: {option} is gone\n{help}");
        }
    }
    let workspace = Scratch::new(&[
        ("foreword.toml", include_str!("../fixtures/upgrade/foreword-0.1.toml")),
        ("agents/cosmo/AGENT.md", "You are Cosmo.\n"),
    ]);
    workspace.run(&["build", "-q", "hello"]).ok();
}
