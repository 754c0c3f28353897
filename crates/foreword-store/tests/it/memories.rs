//! Memories as rows: brought over from older databases, stored once, forgotten without a trace.

use std::fs;
use std::path::Path;

use crate::fixture::{Fixture, NOW_MS};
use foreword_store::{
    AddOutcome, AuditKey, Heads, KeyedMemory, LogFilter, MemoryEntry, MemoryFilter, MemoryId,
    MemoryKind, MemoryScope, NewMemory, Reader, Store, StoreError, StoredVector, VectorUpdate,
};

/// A database as the first version left it, with five entries and five proposals.
const VERSION_1: &[u8] = include_bytes!("../data/version1.db");

fn memory(text: &str) -> NewMemory {
    NewMemory {
        entry: MemoryEntry {
            id: MemoryId::random().unwrap(),
            text: text.to_owned(),
            kind: MemoryKind::default(),
            scope: MemoryScope::default(),
            created_at: NOW_MS,
            date: None,
            tainted: false,
            source: None,
            importance: None,
        },
        terms: terms(text),
        vector: Some(vector("test:1:4", text)),
    }
}

fn terms(text: &str) -> Vec<String> {
    let mut terms: Vec<String> = text.split(' ').map(str::to_lowercase).collect();
    terms.sort();
    terms.dedup();
    terms
}

fn vector(embedder: &str, text: &str) -> StoredVector {
    let code: Vec<u8> = text.bytes().chain([0; 4]).take(4).collect();
    StoredVector {
        embedder: embedder.to_owned(),
        sketch: [code.clone(), code.clone()].concat(),
        code,
    }
}

fn add(store: &Store, memories: &[NewMemory]) -> Vec<AddOutcome> {
    store.write(NOW_MS, |w| w.add_memories(memories)).unwrap()
}

fn read<T>(
    reader: &Reader,
    read: impl FnOnce(&foreword_store::MemoryRows<'_>) -> Result<T, StoreError>,
) -> T {
    reader.read_memories(read).unwrap().unwrap()
}

fn key() -> AuditKey {
    AuditKey::from_bytes([7; 32])
}

fn open(database: &Path, fixture: &Fixture) -> Result<Store, StoreError> {
    Store::open(database, key(), Heads::new(&fixture.config()))
}

#[test]
fn a_database_of_the_first_version_is_brought_over_whole() {
    let fixture = Fixture::new();
    fs::write(fixture.database(), VERSION_1).unwrap();
    let reader = Reader::open(&fixture.database()).unwrap();
    assert_eq!(reader.entries(&LogFilter::default()).unwrap().len(), 5);
    let before: Vec<_> = reader.proposals(None).unwrap();

    let store = open(&fixture.database(), &fixture).unwrap();
    assert_eq!(store.entries(&LogFilter::default()).unwrap().len(), 5);
    let after = store.proposals(None).unwrap();
    assert_eq!(format!("{before:?}"), format!("{after:?}"));
    for proposal in &after {
        assert_eq!(store.proposal(proposal.id.as_str()).unwrap().files.len(), 1);
    }
    let verification = store.verify(&[]).unwrap();
    assert!(verification.is_clean(), "{verification:?}");
    add(&store, &[memory("new here")]);
    // The reader that was there before sees it.
    assert_eq!(read(&reader, |rows| rows.holders("new")), 1);
    drop(store);
    assert!(open(&fixture.database(), &fixture).unwrap().verify(&[]).unwrap().is_clean());
}

#[test]
fn a_reader_of_the_first_version_has_no_memories_and_changes_nothing() {
    let fixture = Fixture::new();
    fs::write(fixture.database(), VERSION_1).unwrap();
    let reader = Reader::open(&fixture.database()).unwrap();
    let found = reader.read_memories(|rows| rows.last_key()).unwrap();
    assert_eq!(found, None);
    drop(reader);
    assert!(fs::read(fixture.database()).unwrap() == VERSION_1);
}

#[test]
fn a_doctored_database_of_the_first_version_is_not_brought_over() {
    let fixture = Fixture::new();
    fs::write(fixture.database(), VERSION_1).unwrap();
    fixture.sql().execute_batch("CREATE TABLE memories (x)").unwrap();
    let error = open(&fixture.database(), &fixture).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    let version: i64 =
        fixture.sql().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, 1);
}

#[test]
fn tables_of_the_word_index_are_known_and_others_are_not() {
    let fixture = Fixture::new();
    let store = fixture.open();
    add(&store, &[memory("one two"), memory("two three")]);
    drop(store);
    drop(fixture.open());
    for doctored in [
        "CREATE TABLE memory_words_more (x)",
        "CREATE TRIGGER more AFTER INSERT ON memories BEGIN DELETE FROM memories; END",
        "DROP TABLE memory_words",
        "DROP INDEX memories_by_same",
    ] {
        let fixture = Fixture::new();
        drop(fixture.open());
        fixture.sql().execute_batch(doctored).unwrap();
        let error = fixture.try_open().unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{doctored}: {error}");
    }
}

#[test]
fn a_memory_is_stored_once_in_its_scope() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let first = memory("the same text");
    let id = first.entry.id.clone();
    assert_eq!(add(&store, std::slice::from_ref(&first)), [AddOutcome::Added(id.clone())]);
    assert_eq!(add(&store, &[memory("the same text")]), [AddOutcome::Duplicate(id.clone())]);
    let mut for_ada = memory("the same text");
    for_ada.entry.scope.user = Some("ada".to_owned());
    assert!(matches!(
        add(&store, &[for_ada.clone(), for_ada])[..],
        [AddOutcome::Added(_), AddOutcome::Duplicate(_)]
    ));
    let mut other = memory("another text");
    other.entry.id = id.clone();
    assert_eq!(add(&store, &[other]), [AddOutcome::IdTaken(id)]);
    assert_eq!(read(&store, |rows| rows.list(&MemoryFilter::default())).len(), 2);
    assert_eq!(read(&store, |rows| rows.holders("same")), 2);
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_of_the_batch_is_kept() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let mut long = memory("x");
    long.entry.text = "x".repeat(16 * 1024 + 1);
    let error = store.write(NOW_MS, |w| w.add_memories(&[memory("fits"), long])).unwrap_err();
    assert_eq!(error.to_string(), "the memory is 16385 bytes long; the limit is 16384");
    assert_eq!(read(&store, |rows| rows.last_key()), None);
    assert_eq!(read(&store, |rows| rows.stamp()), 0);
}

#[test]
fn what_is_forgotten_leaves_nothing_to_be_found_by() {
    let fixture = Fixture::new();
    let store = fixture.open();
    add(&store, &[memory("keep this word"), memory("forget this secret")]);
    let gone: Vec<KeyedMemory> = read(&store, |rows| rows.range(2, 3));
    assert_eq!(store.write(NOW_MS, |w| w.forget_memories(&gone, terms)).unwrap(), 1);
    assert_eq!(store.write(NOW_MS, |w| w.forget_memories(&gone, terms)).unwrap(), 0);
    read(&store, |rows| {
        assert_eq!(rows.postings("secret", 10)?, [0_i64; 0]);
        assert_eq!((rows.holders("secret")?, rows.holders("this")?), (0, 1));
        assert_eq!(rows.postings("this", 10)?, [1]);
        assert_eq!(rows.embedder_of(2)?, None);
        let mut live = Vec::new();
        rows.slots_since(0, |_, slots| live.extend(slots.map(|slot| slot.live)))?;
        assert_eq!(live.iter().filter(|live| **live).count(), 1);
        assert!(matches!(
            rows.find(gone[0].entry.id.as_str()),
            Err(StoreError::NoSuchMemory { .. })
        ));
        Ok(())
    });
}

#[test]
fn memories_are_found_by_the_beginning_of_their_id() {
    let fixture = Fixture::new();
    let store = fixture.open();
    for id in ["abc", "abcd", "xyz"] {
        let mut memory = memory(id);
        memory.entry.id = MemoryId::parse(id).unwrap();
        add(&store, &[memory]);
    }
    read(&store, |rows| {
        assert_eq!(rows.find("x")?.entry.text, "xyz");
        assert_eq!(rows.find("ABC")?.entry.text, "abc");
        assert!(matches!(rows.find("ab"), Err(StoreError::AmbiguousMemory { .. })));
        for none in ["", "q", "a%", "abce"] {
            assert!(matches!(rows.find(none), Err(StoreError::NoSuchMemory { .. })), "{none}");
        }
        Ok(())
    });
}

#[test]
fn lists_are_newest_first_and_go_on_where_they_stopped() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let mut all: Vec<NewMemory> = (0..7).map(|n| memory(&format!("number {n}"))).collect();
    for (n, memory) in all.iter_mut().enumerate() {
        memory.entry.created_at = NOW_MS + [3, 1, 2, 3, 0, 5, 1][n];
        memory.entry.tainted = n == 4;
    }
    add(&store, &all);
    let mut seen = Vec::new();
    let mut before = None;
    loop {
        let filter = MemoryFilter { limit: Some(2), before, ..MemoryFilter::default() };
        let page = read(&store, |rows| rows.list(&filter));
        let Some(last) = page.last() else { break };
        before = Some((last.entry.created_at, last.key));
        seen.extend(page.into_iter().map(|memory| memory.key - 1));
    }
    assert_eq!(seen, [5, 3, 0, 2, 6, 1, 4]);
    let tainted = MemoryFilter { tainted: Some(true), ..MemoryFilter::default() };
    assert_eq!(read(&store, |rows| rows.list(&tainted)).len(), 1);
}

#[test]
fn damaged_bytes_are_an_error_and_can_be_made_anew() {
    let fixture = Fixture::new();
    let store = fixture.open();
    add(&store, &[memory("one"), memory("two")]);
    let damages = [
        "UPDATE memory_vectors SET vector = x'00' WHERE key = 1",
        "UPDATE memory_blocks SET slots = substr(slots, 1, 100)",
        "UPDATE memory_sketches SET codes = zeroblob(length(codes))",
    ];
    for damage in damages {
        fixture.sql().execute_batch(damage).unwrap();
    }
    let number = read(&store, |rows| rows.number("test:1:4")).unwrap();
    store
        .read_memories(|rows| -> Result<(), StoreError> {
            for error in [
                rows.vector(1, number).unwrap_err(),
                rows.slots_since(0, |_, _| ()).unwrap_err(),
                rows.sketches_since(number, 0, |_, _| ()).unwrap_err(),
            ] {
                assert!(matches!(error, StoreError::MemoryDamaged { .. }), "{error}");
                assert!(error.hint().unwrap().contains("reindex --all"));
            }
            assert_eq!(rows.vector(2, number)?.unwrap(), b"two\0");
            Ok(())
        })
        .unwrap();
    let all: Vec<VectorUpdate> = read(&store, |rows| rows.range(0, 100))
        .into_iter()
        .map(|memory| VectorUpdate {
            vector: Some(vector("other:2:4", &memory.entry.text)),
            words: 1,
            memory,
        })
        .collect();
    store.write(NOW_MS, |w| w.set_memory_vectors(&all, true)).unwrap();
    store.write(NOW_MS, |w| w.drop_unused_sketches()).unwrap();
    read(&store, |rows| {
        let other = rows.number("other:2:4")?.unwrap();
        assert_eq!(rows.embedders()?, [other]);
        assert_eq!(rows.vector(1, other)?.unwrap(), b"one\0");
        assert_eq!(rows.vector(1, number)?, None);
        rows.slots_since(0, |_, slots| assert_eq!(slots.filter(|slot| slot.live).count(), 2))
    });
}

#[test]
fn blocks_that_did_not_change_are_not_read_again() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let many: Vec<NewMemory> = (0..600).map(|n| memory(&format!("number {n}"))).collect();
    add(&store, &many);
    let stamp = read(&store, |rows| rows.stamp());
    add(&store, &[memory("one more")]);
    let mut blocks = Vec::new();
    read(&store, |rows| rows.slots_since(stamp, |block, _| blocks.push(block)));
    assert_eq!(blocks, [2]);
    read(&store, |rows| rows.slots_since(0, |block, _| blocks.push(block)));
    assert_eq!(blocks, [2, 0, 1, 2]);
}

#[test]
fn a_writer_elsewhere_is_waited_for_and_then_told_of() {
    let fixture = Fixture::new();
    let store = fixture.open();
    add(&store, &[memory("there")]);
    let other = fixture.sql();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    // Reading goes on.
    let reader = Reader::open(&fixture.database()).unwrap();
    assert_eq!(read(&reader, |rows| rows.last_key()), Some(1));
    let options = foreword_store::Options {
        busy_timeout: std::time::Duration::from_millis(50),
        ..foreword_store::Options::default()
    };
    let hasty =
        Store::open_with(&fixture.database(), fixture.key(), fixture.heads(), options).unwrap();
    let error = hasty.write(NOW_MS, |w| w.add_memories(&[memory("late")])).unwrap_err();
    assert!(matches!(error, StoreError::Busy { .. }), "{error}");
    other.execute_batch("ROLLBACK").unwrap();
    assert!(matches!(
        hasty.write(NOW_MS, |w| w.add_memories(&[memory("late")])).unwrap()[..],
        [AddOutcome::Added(_)]
    ));
}

#[test]
fn a_full_disk_loses_nothing() {
    let fixture = Fixture::new();
    let store = fixture.open();
    add(&store, &[memory("before")]);
    drop(store);
    // As SQLite sees a full disk: no page more than there are now.
    let store = fixture.open();
    store.limit_pages_for_tests();
    let many: Vec<NewMemory> =
        (0..3000).map(|n| memory(&format!("number {n} {}", "x".repeat(500)))).collect();
    let error = store.write(NOW_MS, |w| w.add_memories(&many)).unwrap_err();
    assert!(matches!(error, StoreError::DiskFull { .. }), "{error}");
    drop(store);
    let store = fixture.open();
    assert_eq!(read(&store, |rows| rows.list(&MemoryFilter::default())).len(), 1);
    assert_eq!(read(&store, |rows| rows.holders("before")), 1);
    assert!(store.verify(&[]).unwrap().is_clean());
}
