//! One file holds everything: checkpoints, backups, restores, and copies that lack something.

use std::fs;
use std::path::Path;

use crate::fixture::{Fixture, NOW_MS, append, open};
use foreword_store::{
    AuditKey, EntryRange, Fault, GroupWriter, Journal, LogFilter, Note, Options, Reader,
    RestoreAct, RestoreReport, Store, StoreError, restore,
};

const ACT: RestoreAct<'_> =
    RestoreAct { now_ms: NOW_MS, actor: "user:ada", suffix: "replaced-20260226T143000Z" };

/// The number of entries in the file alone, without what lies beside it.
fn entries_of_copy(database: &Path) -> usize {
    let directory = tempfile::tempdir().unwrap();
    let copy = directory.path().join("copy.db");
    fs::copy(database, &copy).unwrap();
    Reader::open(&copy).unwrap().entries(&LogFilter::default()).unwrap().len()
}

fn restored(fixture: &Fixture, backup: &Path) -> Result<RestoreReport, StoreError> {
    restore(backup, &fixture.database(), &fixture.key(), &fixture.heads(), &[], ACT)
}

fn files(fixture: &Fixture) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(fixture.workspace.path())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn the_file_alone_is_complete_after_a_store_is_closed() {
    let fixture = Fixture::new();
    drop(fixture.with_entries(7));
    assert_eq!(entries_of_copy(&fixture.database()), 7);
    let wal = fixture.workspace.path().join("foreword.db-wal");
    assert_eq!(fs::metadata(wal).map_or(0, |wal| wal.len()), 0);
}

#[test]
fn an_idle_writer_completes_the_file() {
    let fixture = Fixture::new();
    let options = Options::default();
    let writer =
        GroupWriter::start(&fixture.database(), fixture.key(), fixture.heads(), options).unwrap();
    for number in 0..5 {
        let event = foreword_store::Event::new(
            "user:ada",
            "a",
            number.to_string(),
            foreword_store::Outcome::Done,
        );
        writer.write(NOW_MS, move |w| w.audit(&event)).unwrap();
    }
    let complete = (0..100).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        let directory = tempfile::tempdir().unwrap();
        let copy = directory.path().join("copy.db");
        fs::copy(fixture.database(), &copy).unwrap();
        Reader::open(&copy).is_ok_and(|copy| copy.head().unwrap().seq == 5)
    });
    assert!(complete);
    drop(writer);
}

#[test]
fn a_backup_is_one_private_file_made_while_others_write() {
    let fixture = Fixture::new();
    let store = fixture.with_entries(5);
    let backup = fixture.config.path().join("backup.db");
    let report = store.backup(&backup, false).unwrap();
    assert_eq!(report.head.seq, 5);
    assert_eq!(report.bytes, fs::metadata(&backup).unwrap().len());
    append(&store, 6, 3);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&backup).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(entries_of_copy(&backup), 5);
    let reader = Reader::open(&fixture.database()).unwrap();
    let error = reader.backup(&backup, false).unwrap_err();
    assert!(matches!(error, StoreError::BackupExists { .. }), "{error}");
    assert_eq!(reader.backup(&backup, true).unwrap().head.seq, 8);
    let error = reader.backup(&fixture.database(), true).unwrap_err();
    assert!(matches!(error, StoreError::BackupOverDatabase { .. }), "{error}");
    let beside = fixture.config.path();
    let left: Vec<_> = fs::read_dir(beside).unwrap().map(|f| f.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains(".part")), "{left:?}");
}

#[test]
fn a_restore_is_recorded_and_names_what_was_lost() {
    let fixture = Fixture::new();
    let store = fixture.with_entries(5);
    let backup = fixture.config.path().join("backup.db");
    store.backup(&backup, false).unwrap();
    append(&store, 6, 4);
    drop(store);

    let report = restored(&fixture, &backup).unwrap();
    let lost = Some(EntryRange { from: 6, to: 9 });
    assert_eq!((report.last_seq, report.lost, report.recorded), (5, lost, 6));
    let replaced = report.replaced.unwrap();
    assert!(replaced.ends_with("foreword.db.replaced-20260226T143000Z"), "{replaced:?}");
    assert_eq!(entries_of_copy(&replaced), 9);

    let store = fixture.open();
    let log = store.entries(&LogFilter::default()).unwrap();
    assert_eq!((log[0].action.as_str(), log[0].subject.as_str()), ("store.restore", "backup.db"));
    let verification = store.verify(&[]).unwrap();
    assert!(verification.is_clean(), "{:?}", verification.faults);
    assert_eq!(verification.notes, [Note::Restored { seq: 6, lost }]);
    assert!(verification.notes[0].to_string().contains("entries 6 to 9"));
    // Also once the log is longer than the lost one was.
    append(&store, 7, 10);
    assert_eq!(store.verify(&[]).unwrap().notes, [Note::Restored { seq: 6, lost }]);
    assert!(store.verify(&[]).unwrap().is_clean());
}

#[test]
fn restoring_the_newest_state_loses_nothing() {
    let fixture = Fixture::new();
    let store = fixture.with_entries(3);
    let backup = fixture.config.path().join("backup.db");
    store.backup(&backup, false).unwrap();
    drop(store);
    fs::remove_file(fixture.database()).unwrap();
    let report = restored(&fixture, &backup).unwrap();
    assert_eq!((report.replaced, report.lost), (None, None));
    let verification = fixture.open().verify(&[]).unwrap();
    assert!(verification.is_clean());
    assert_eq!(verification.notes, [Note::Restored { seq: 4, lost: None }]);
    // Twice in the same second: nothing is overwritten.
    for name in ["foreword.db.replaced-20260226T143000Z", "foreword.db.replaced-20260226T143000Z-2"]
    {
        restored(&fixture, &backup).unwrap();
        assert!(fixture.workspace.path().join(name).exists());
    }
}

#[test]
fn a_damaged_database_can_be_replaced() {
    let fixture = Fixture::new();
    let store = fixture.with_entries(3);
    let backup = fixture.config.path().join("backup.db");
    store.backup(&backup, false).unwrap();
    drop(store);
    for content in [&b"garbage"[..], b"", &[0x5a; 9000]] {
        fs::write(fixture.database(), content).unwrap();
        assert!(fixture.try_open().is_err());
        let replaced = restored(&fixture, &backup).unwrap().replaced.unwrap();
        assert_eq!(fs::read(replaced).unwrap(), content);
        assert!(fixture.open().verify(&[]).unwrap().is_clean());
    }
}

#[test]
fn what_is_no_backup_of_ours_changes_nothing() {
    let fixture = Fixture::new();
    drop(fixture.with_entries(3));
    let other = Fixture::new();
    drop(other.with_entries(2));
    let before = files(&fixture);
    let garbage = fixture.config.path().join("garbage.db");
    fs::write(&garbage, "garbage").unwrap();
    let newer = fixture.config.path().join("newer.db");
    fs::copy(fixture.database(), &newer).unwrap();
    rusqlite::Connection::open(&newer).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let foreign = fixture.config.path().join("foreign.db");
    let sql = rusqlite::Connection::open(&foreign).unwrap();
    sql.execute_batch("CREATE TABLE notes (text)").unwrap();
    drop(sql);
    let missing = fixture.config.path().join("missing.db");
    for (backup, said) in [
        (&garbage, "is damaged"),
        (&newer, "newer foreword"),
        (&foreign, "another program"),
        (&missing, "missing.db"),
        (&other.database(), "not made with this key"),
        (&fixture.database(), "is the database itself"),
    ] {
        let error = restored(&fixture, backup).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
    assert_eq!(files(&fixture), before);
    assert_eq!(fixture.open().head().unwrap().seq, 3);
}

#[test]
fn a_database_in_use_is_not_replaced() {
    let fixture = Fixture::new();
    let store = fixture.with_entries(3);
    let backup = fixture.config.path().join("backup.db");
    store.backup(&backup, false).unwrap();
    let error = restored(&fixture, &backup).unwrap_err();
    assert!(matches!(error, StoreError::Busy { .. }), "{error}");
    append(&store, 4, 1);
    assert!(store.verify(&[]).unwrap().is_clean());
}

#[test]
fn a_copy_that_lacks_entries_is_not_called_whole() {
    let fixture = Fixture::new();
    let store = fixture.with_entries(5);
    let elsewhere = tempfile::tempdir().unwrap();
    let copy = elsewhere.path().join("foreword.db");
    store.backup(&copy, false).unwrap();
    let verify =
        || Reader::open(&copy).unwrap().verify(&fixture.key(), &fixture.heads(), &[]).unwrap();
    assert!(verify().is_clean());
    append(&store, 6, 4);
    let found = verify();
    assert_eq!(found.faults, [Fault::Incomplete { from: 6, to: 9 }]);
    assert!(found.faults[0].to_string().contains("entries 6 to 9 are missing"));
    // Whoever works on with the copy has a log of its own.
    append(&open(&copy, &fixture.config()).unwrap(), 6, 1);
    assert!(verify().is_clean());
}

#[test]
fn an_empty_file_in_the_place_of_a_log_is_not_filled_again() {
    let fixture = Fixture::new();
    drop(fixture.with_entries(3));
    fs::write(fixture.database(), "").unwrap();
    let error = fixture.try_open().unwrap_err();
    assert!(error.to_string().contains("its head file names entry 3"), "{error}");
    assert!(matches!(Reader::open(&fixture.database()), Err(StoreError::EmptyDatabase { .. })));
    fs::remove_file(fixture.database()).unwrap();
    assert!(!fixture.open().verify(&[]).unwrap().faults.is_empty(), "a new log says so");
}

#[test]
fn a_rollback_journal_serves_where_a_write_ahead_log_must_not() {
    let fixture = Fixture::new();
    drop(fixture.with_entries(3));
    let options = Options { journal: Journal::Rollback, ..Options::default() };
    let open = || {
        let key = AuditKey::load(&fixture.config()).unwrap();
        Store::open_with(&fixture.database(), key, fixture.heads(), options).unwrap()
    };
    let (one, other) = (open(), open());
    append(&one, 4, 2);
    append(&other, 6, 2);
    assert_eq!(files(&fixture), ["foreword.db"]);
    let reader = Reader::open(&fixture.database()).unwrap();
    assert_eq!(reader.head().unwrap().seq, 7);
    assert!(one.verify(&[]).unwrap().is_clean());
    std::thread::scope(|scope| {
        for store in [&one, &other] {
            scope.spawn(move || append(store, 8, 20));
        }
    });
    assert_eq!(reader.head().unwrap().seq, 47);
    drop((one, other, reader));
    // On a local disk it goes back to a write-ahead log.
    append(&fixture.open(), 48, 1);
    assert!(fixture.open().verify(&[]).unwrap().is_clean());
}
