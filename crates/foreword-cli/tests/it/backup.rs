//! `foreword backup` and `restore`, and copies of a database, against the built binary.

use std::fs;

use crate::support::Scratch;

fn with_memories(count: usize) -> Scratch {
    let scratch = Scratch::new(&[]);
    for number in 0..count {
        scratch.run(&["memory", "add", &format!("fact number {number}")]).ok();
    }
    scratch
}

fn backup(scratch: &Scratch) -> String {
    scratch.config_dir().join("backup.db").display().to_string()
}

#[test]
fn a_backup_is_restored_and_what_was_lost_is_named() {
    let scratch = with_memories(2);
    let file = backup(&scratch);
    let made = scratch.run(&["backup", &file, "--json"]).ok().json();
    assert_eq!((&made["lastEntry"], &made["schemaVersion"]), (&2.into(), &1.into()), "{made}");
    scratch.run(&["memory", "add", "lost later"]).ok();
    assert!(scratch.run(&["backup", &file]).fails(2).contains("already exists"));

    let before = fs::read(scratch.join(".foreword/foreword.db")).unwrap();
    let asked = scratch.run(&["restore", &file]);
    assert!(asked.fails(2).contains("pass `--yes` to proceed"), "{}", asked.stderr);
    assert!(fs::read(scratch.join(".foreword/foreword.db")).unwrap() == before);

    let done = scratch.run(&["restore", &file, "--yes", "--json"]).ok().json();
    assert_eq!(done["lost"], serde_json::json!({"from": 3, "to": 3}), "{done}");
    assert!(fs::exists(done["replaced"].as_str().unwrap()).unwrap());
    let memories = scratch.run(&["memory", "list", "--json"]).ok().json();
    assert_eq!(memories.as_array().unwrap().len(), 2);
    let log = scratch.run(&["audit", "log"]).ok().stdout;
    assert!(log.contains("store.restore"), "{log}");
    let verified = scratch.run(&["audit", "verify"]);
    assert_eq!(verified.status, 0, "{}", verified.stderr);
    assert!(verified.stderr.contains("entries 3 to 3 of the replaced log were lost"));
}

#[test]
fn what_is_no_backup_is_refused() {
    let scratch = with_memories(1);
    let file = backup(&scratch);
    let missing = scratch.run(&["restore", &file, "--yes"]);
    assert!(missing.fails(2).contains("file not found"), "{}", missing.stderr);
    assert!(!missing.stderr.contains("nothing is stored"), "{}", missing.stderr);
    fs::write(&file, "garbage").unwrap();
    assert!(scratch.run(&["restore", &file, "--yes"]).fails(2).contains("is damaged"));
    assert!(Scratch::new(&[]).run(&["backup", &file]).fails(2).contains("no database to back up"));
    scratch.run(&["audit", "verify"]).ok();
}

#[test]
fn the_database_file_alone_is_a_whole_copy() {
    let scratch = with_memories(3);
    let copy = Scratch::new(&[]);
    fs::create_dir(copy.join(".foreword")).unwrap();
    fs::copy(scratch.join(".foreword/foreword.db"), copy.join(".foreword/foreword.db")).unwrap();
    let run =
        |args: &[&str]| copy.command(args).env("FOREWORD_CONFIG_DIR", scratch.config_dir()).run();
    let verified = run(&["audit", "verify", "--json"]).ok().json();
    assert_eq!((&verified["ok"], &verified["entries"]), (&true.into(), &3.into()));
    // The original goes on: the copy now lacks an entry, and says which.
    scratch.run(&["memory", "add", "one more"]).ok();
    let lacking = run(&["audit", "verify"]);
    assert_eq!(lacking.status, 1);
    assert!(lacking.stdout.contains("entry 4 is missing"), "{}", lacking.stdout);
}

#[test]
fn an_empty_database_is_not_called_an_empty_log() {
    let scratch = with_memories(3);
    for content in [&b""[..], &fresh_sqlite_file()] {
        fs::write(scratch.join(".foreword/foreword.db"), content).unwrap();
        let run = scratch.run(&["audit", "verify"]);
        assert_eq!(run.status, 1, "{}", run.stderr);
        assert!(run.stderr.contains("entries 1 to 3 are lost"), "{}", run.stderr);
    }
}

/// What a copy made without its write-ahead log can look like: a database without a schema.
fn fresh_sqlite_file() -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.db");
    let sql = rusqlite::Connection::open(&path).unwrap();
    sql.execute_batch("CREATE TABLE x (y); DROP TABLE x").unwrap();
    drop(sql);
    fs::read(path).unwrap()
}
