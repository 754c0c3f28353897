//! Opening: new, old, damaged and foreign databases.

use std::fs;
use std::path::Path;

use crate::fixture::{Fixture, append};
use foreword_store::{AuditKey, LogFilter, Reader, Store, StoreError};

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// The error of opening, after checking that the database did not change.
fn refused(fixture: &Fixture) -> StoreError {
    let before = fs::read(fixture.database()).unwrap();
    let error = fixture.try_open().unwrap_err();
    assert!(fs::read(fixture.database()).unwrap() == before, "{error}");
    error
}

fn is_damaged(error: &StoreError) -> bool {
    let hint = error.hint().unwrap_or_default();
    matches!(error, StoreError::Damaged { .. }) && hint.contains("nothing was overwritten")
}

#[test]
fn a_new_database_is_private_and_stays() {
    let fixture = Fixture::new();
    drop(fixture.with_entries(3));
    #[cfg(unix)]
    for name in names(fixture.workspace.path()) {
        use std::os::unix::fs::PermissionsExt as _;
        let path = fixture.workspace.path().join(&name);
        let mode = fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    let store = fixture.open();
    assert_eq!(store.entries(&LogFilter::default()).unwrap().len(), 3);
    assert!(store.verify(&[]).unwrap().is_clean());
}

#[test]
fn a_file_that_is_no_database_is_left_alone() {
    for content in [&b"{}"[..], b"SQLite format 3\0", &[0; 4096], &[0xff; 10_000]] {
        let fixture = Fixture::new();
        fs::write(fixture.database(), content).unwrap();
        let error = refused(&fixture);
        assert!(is_damaged(&error), "{error:?}");
        assert!(is_damaged(&Reader::open(&fixture.database()).unwrap_err()));
    }
}

#[test]
fn a_directory_in_its_place_is_an_error() {
    let fixture = Fixture::new();
    fs::create_dir(fixture.database()).unwrap();
    assert!(fixture.try_open().is_err());
    assert!(is_damaged(&Reader::open(&fixture.database()).unwrap_err()));
}

#[test]
fn a_database_overwritten_with_something_else_is_not_healed_silently() {
    let fixture = Fixture::new();
    drop(fixture.with_entries(3));
    fs::write(fixture.database(), "garbage").unwrap();
    assert!(is_damaged(&refused(&fixture)));
    fs::write(fixture.database(), "").unwrap();
    assert!(is_damaged(&refused(&fixture)));
}

#[test]
fn damage_in_the_midst_is_reported_and_not_written_over() {
    let fixture = Fixture::new();
    drop(fixture.with_entries(500));
    fixture.sql().pragma_update(None, "wal_checkpoint", "TRUNCATE").ok();
    let mut bytes = fs::read(fixture.database()).unwrap();
    for byte in &mut bytes[4096..] {
        *byte ^= 0x5a;
    }
    fs::write(fixture.database(), &bytes).unwrap();
    let error = fixture.try_open().unwrap_err();
    assert!(is_damaged(&error), "{error:?}");
    assert_eq!(fs::read(fixture.database()).unwrap(), bytes);
}

#[test]
fn the_database_of_another_program_is_left_alone() {
    let fixture = Fixture::new();
    fixture
        .sql()
        .execute_batch("CREATE TABLE notes (text); INSERT INTO notes VALUES ('mine')")
        .unwrap();
    let error = refused(&fixture);
    assert!(error.to_string().ends_with("it belongs to another program"), "{error}");
}

#[test]
fn a_database_of_a_newer_version_is_left_alone() {
    let fixture = Fixture::new();
    drop(fixture.with_entries(1));
    fixture.sql().pragma_update(None, "user_version", 99).unwrap();
    let error = refused(&fixture);
    assert!(error.to_string().contains("made by a newer foreword"), "{error}");
    assert!(matches!(
        Reader::open(&fixture.database()).unwrap_err(),
        StoreError::Newer { found: 99, .. }
    ));
}

#[test]
fn a_doctored_layout_is_not_written_to() {
    for doctored in [
        "DROP TRIGGER audit_keeps",
        "CREATE TRIGGER more AFTER INSERT ON audit BEGIN SELECT 1; END",
        "CREATE TRIGGER swap AFTER UPDATE ON proposals BEGIN \
         UPDATE proposal_files SET content = x'00'; END",
        "ALTER TABLE audit RENAME TO audit_table; CREATE VIEW audit AS SELECT * FROM audit_table",
        "CREATE TABLE extra (x)",
        "CREATE TRIGGER again AFTER UPDATE ON grants BEGIN UPDATE grants SET used_at = NULL; END",
        "DROP INDEX turns_running",
    ] {
        let fixture = Fixture::new();
        drop(fixture.with_entries(2));
        fixture.sql().execute_batch(doctored).unwrap();
        assert!(is_damaged(&refused(&fixture)), "{doctored}");
    }
}

#[test]
fn another_key_is_told_apart_from_damage() {
    let fixture = Fixture::new();
    drop(fixture.with_entries(2));
    let other = AuditKey::from_bytes([9; 32]);
    let error = Store::open(&fixture.database(), other, fixture.heads()).unwrap_err();
    assert!(matches!(error, StoreError::WrongKey { .. }), "{error:?}");
}

#[test]
fn reading_makes_nothing() {
    let fixture = Fixture::new();
    let error = Reader::open(&fixture.database()).unwrap_err();
    assert!(matches!(error, StoreError::NoDatabase { .. }));
    assert!(names(fixture.workspace.path()).is_empty());

    drop(fixture.with_entries(5));
    let before = names(fixture.workspace.path());
    let reader = Reader::open(&fixture.database()).unwrap();
    assert_eq!(reader.entries(&LogFilter::default()).unwrap().len(), 5);
    let verification = reader.verify(&fixture.key(), &fixture.heads(), &[]).unwrap();
    assert!(verification.is_clean());
    drop(reader);
    assert_eq!(names(fixture.workspace.path()), before);
}

#[test]
fn a_reader_sees_what_was_committed_after_it_was_opened() {
    let fixture = Fixture::new();
    let store = fixture.with_entries(1);
    let reader = Reader::open(&fixture.database()).unwrap();
    append(&store, 2, 4);
    assert_eq!(reader.head().unwrap().seq, 5);
}

#[test]
fn many_open_a_new_database_at_once() {
    let fixture = Fixture::new();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| append(&fixture.open(), 1, 10));
        }
    });
    let verification = fixture.open().verify(&[]).unwrap();
    assert!(verification.is_clean(), "{verification:?}");
    assert_eq!(verification.entries, 80);
    assert_eq!(verification.notes, []);
}
