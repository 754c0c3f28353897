//! Databases of earlier versions: brought over whole, read without being changed.

use std::fs;

use crate::fixture::{Fixture, NOW_MS, new_session};
use foreword_store::{
    AuditKey, Event, Heads, LogFilter, MemoryFilter, Outcome, Reader, SessionId, Store, StoreError,
    TaintLevel, TaskFilter, TurnNumber, TurnRange, TurnUsage,
};

/// Databases as earlier versions left them, each with five entries and five proposals, the second
/// also with three memories.
const VERSIONS: [(i64, &[u8]); 2] =
    [(1, include_bytes!("../data/version1.db")), (2, include_bytes!("../data/version2.db"))];

fn open(fixture: &Fixture) -> Result<Store, StoreError> {
    let key = AuditKey::from_bytes([7; 32]);
    Store::open(&fixture.database(), key, Heads::new(&fixture.config()))
}

fn version(fixture: &Fixture) -> i64 {
    fixture.sql().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

#[test]
fn an_earlier_version_is_brought_over_whole() {
    for (number, bytes) in VERSIONS {
        let fixture = Fixture::new();
        fs::write(fixture.database(), bytes).unwrap();
        assert_eq!(version(&fixture), number);
        let reader = Reader::open(&fixture.database()).unwrap();
        let entries = reader.entries(&LogFilter::default()).unwrap();
        let proposals = reader.proposals(None).unwrap();
        let all = MemoryFilter::default();
        let memories = reader.read_memories(|rows| rows.list(&all)).unwrap().unwrap_or_default();
        assert_eq!((entries.len(), proposals.len()), (5, 5));
        assert_eq!(memories.len(), if number == 1 { 0 } else { 3 });

        let store = open(&fixture).unwrap();
        assert_eq!(version(&fixture), 5);
        assert_eq!(store.entries(&LogFilter::default()).unwrap(), entries);
        assert_eq!(store.proposals(None).unwrap(), proposals);
        let after = store.read_memories(|rows| rows.list(&all)).unwrap().unwrap();
        assert_eq!(format!("{after:?}"), format!("{memories:?}"));

        let new = new_session("main");
        store
            .write(NOW_MS, |w| {
                w.session_create(&new, NOW_MS)?;
                w.turn_begin(&new.id, "hello", "owner", NOW_MS)?;
                w.audit(&Event::new("user", "session.begin", "main", Outcome::Done))
            })
            .unwrap();
        // The reader that was there before sees it.
        assert_eq!(reader.session(&new.id).unwrap().unwrap().turns, 1);
        drop(store);
        let verification = open(&fixture).unwrap().verify(&[]).unwrap();
        assert!(verification.is_clean(), "{verification:?}");
        assert_eq!(verification.entries, 6);
    }
}

#[test]
fn an_earlier_version_has_no_sessions_and_is_not_changed_by_reading() {
    for (_, bytes) in VERSIONS {
        let fixture = Fixture::new();
        fs::write(fixture.database(), bytes).unwrap();
        let reader = Reader::open(&fixture.database()).unwrap();
        let id = SessionId::parse("main").unwrap();
        assert_eq!(reader.session(&id).unwrap(), None);
        assert_eq!(reader.sessions(10).unwrap(), []);
        assert_eq!(reader.turns(&id, TurnRange::newest(10)).unwrap(), []);
        assert_eq!(reader.history(&id, TurnRange::newest(10)).unwrap(), []);
        assert_eq!(reader.turn_messages(&id, TurnNumber(1)).unwrap(), None);
        assert_eq!(reader.session_usage(&id).unwrap(), TurnUsage::default());
        assert_eq!(reader.running_turns(None).unwrap(), []);
        assert_eq!(reader.content_totals(&id).unwrap(), TaintLevel::default());
        assert_eq!(reader.contents(&id, 10).unwrap(), []);
        assert_eq!(reader.grants(&id).unwrap(), []);
        assert_eq!(reader.refusals(None, None).unwrap(), []);
        assert_eq!(reader.task_list(&TaskFilter::default(), 10).unwrap(), []);
        assert_eq!(reader.todo_read(&id).unwrap(), []);
        assert_eq!(reader.schedule_list().unwrap(), []);
        assert_eq!(reader.schedules_due(NOW_MS).unwrap(), []);
        assert_eq!(reader.identity_proposals(None).unwrap(), []);
        for error in [
            reader.refusal("abc").unwrap_err(),
            reader.task("abc").unwrap_err(),
            reader.identity_proposal("abc").unwrap_err(),
        ] {
            assert!(matches!(error, StoreError::NoSuch { .. }), "{error}");
        }
        drop(reader);
        assert!(fs::read(fixture.database()).unwrap() == bytes);
    }
}

#[test]
fn a_doctored_database_of_an_earlier_version_is_not_brought_over() {
    for (number, bytes) in VERSIONS {
        for doctored in [
            "CREATE TABLE sessions (id TEXT PRIMARY KEY)",
            "CREATE TABLE grants (x)",
            "CREATE TRIGGER more AFTER INSERT ON audit BEGIN SELECT 1; END",
        ] {
            let fixture = Fixture::new();
            fs::write(fixture.database(), bytes).unwrap();
            fixture.sql().execute_batch(doctored).unwrap();
            let error = open(&fixture).unwrap_err();
            assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
            assert_eq!(version(&fixture), number);
        }
    }
}

#[test]
fn a_missing_table_is_damage_and_not_an_earlier_version() {
    let fixture = Fixture::new();
    drop(fixture.with_entries(1));
    fixture.sql().execute_batch("DROP TABLE contents").unwrap();
    let reader = Reader::open(&fixture.database()).unwrap();
    reader.contents(&SessionId::parse("main").unwrap(), 1).unwrap_err();
    let error = fixture.try_open().unwrap_err();
    assert!(error.to_string().contains("`contents` is missing"), "{error}");
}
