//! Whoever can write the database but has no key is found out, whatever they change.

use crate::fixture::{Fixture, append};
use foreword_store::{Fault, Note, Reader, StoreError, Verification};
use proptest::prelude::*;
use rusqlite::Connection;
use rusqlite::types::{Value, ValueRef};

const COLUMNS: [&str; 8] = ["seq", "at", "actor", "action", "subject", "outcome", "detail", "hash"];

/// One thing done to the log behind our back. Numbers are taken modulo what there is.
#[derive(Debug, Clone)]
enum Tampering {
    FlipBit { entry: u32, column: u32, bit: u32 },
    SwapContents { one: u32, other: u32 },
    SwapColumn { one: u32, other: u32, column: u32 },
    SwapNumbers { one: u32, other: u32 },
    Delete { entry: u32, count: u32 },
    DeleteAndCloseUp { entry: u32 },
    KeepOnlyFirst { count: u32 },
    CutTail { count: u32 },
    Duplicate { entry: u32, to: i64 },
    Overwrite { entry: u32, with: u32 },
    Insert { at: u32 },
    Renumber { by: i64 },
    Retype { entry: u32, column: u32, to: Retyped },
    Meta { name: &'static str, value: Option<Vec<u8>> },
    Layout { statement: &'static str },
    Empty,
}

#[derive(Debug, Clone, Copy)]
enum Retyped {
    Null,
    Text,
    Blob,
    Real,
}

fn tampering() -> impl Strategy<Value = Tampering> {
    let n = 0_u32..64;
    let retyped = prop_oneof![
        Just(Retyped::Null),
        Just(Retyped::Text),
        Just(Retyped::Blob),
        Just(Retyped::Real)
    ];
    let statements = prop_oneof![
        Just("ALTER TABLE audit RENAME TO gone; CREATE VIEW audit AS SELECT * FROM gone"),
        Just(
            "CREATE TABLE copy AS SELECT * FROM audit; DROP TABLE audit; \
              ALTER TABLE copy RENAME TO audit"
        ),
        Just("CREATE TRIGGER more AFTER INSERT ON audit BEGIN SELECT 1; END"),
        Just("DROP TRIGGER audit_stands"),
        Just("DROP TABLE audit"),
        Just("DROP TABLE contents"),
        Just(
            "CREATE TRIGGER clean AFTER INSERT ON contents BEGIN UPDATE sessions SET external_tokens = 0; END"
        ),
        Just("CREATE INDEX other ON audit (at)"),
    ];
    prop_oneof![
        4 => (n.clone(), 1_u32..8, 0_u32..1000)
            .prop_map(|(entry, column, bit)| Tampering::FlipBit { entry, column, bit }),
        2 => (n.clone(), n.clone())
            .prop_map(|(one, other)| Tampering::SwapContents { one, other }),
        2 => (n.clone(), n.clone(), 1_u32..8)
            .prop_map(|(one, other, column)| Tampering::SwapColumn { one, other, column }),
        1 => (n.clone(), n.clone()).prop_map(|(one, other)| Tampering::SwapNumbers { one, other }),
        2 => (n.clone(), 1_u32..4)
            .prop_map(|(entry, count)| Tampering::Delete { entry, count }),
        1 => n.clone().prop_map(|entry| Tampering::DeleteAndCloseUp { entry }),
        1 => n.clone().prop_map(|count| Tampering::KeepOnlyFirst { count }),
        1 => (1_u32..8).prop_map(|count| Tampering::CutTail { count }),
        1 => (n.clone(), prop_oneof![-5_i64..40, Just(i64::MAX), Just(i64::MIN), Just(0)])
            .prop_map(|(entry, to)| Tampering::Duplicate { entry, to }),
        1 => (n.clone(), n.clone()).prop_map(|(entry, with)| Tampering::Overwrite { entry, with }),
        1 => n.clone().prop_map(|at| Tampering::Insert { at }),
        1 => (-3_i64..4).prop_map(|by| Tampering::Renumber { by }),
        3 => (n, 1_u32..8, retyped)
            .prop_map(|(entry, column, to)| Tampering::Retype { entry, column, to }),
        2 => (
            prop_oneof![Just("log_id"), Just("key_check")],
            prop::option::of(prop::collection::vec(any::<u8>(), 0..40))
        )
            .prop_map(|(name, value)| Tampering::Meta { name, value }),
        2 => statements.prop_map(|statement| Tampering::Layout { statement }),
        1 => Just(Tampering::Empty),
    ]
}

/// Edits the layout the way SQLite forbids, so that a type in the wrong column can be stored.
fn set_strict(fixture: &Fixture, strict: bool) {
    let (from, to) = ("hash BLOB NOT NULL) STRICT", "hash BLOB) ");
    let (from, to) = if strict { (to, from) } else { (from, to) };
    let sql = fixture.sql();
    sql.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false).unwrap();
    sql.pragma_update(None, "writable_schema", true).unwrap();
    sql.execute(
        "UPDATE sqlite_schema SET sql = replace(sql, ?1, ?2) WHERE name = 'audit'",
        [from, to],
    )
    .unwrap();
    for column in
        ["at INTEGER", "actor TEXT", "action TEXT", "subject TEXT", "outcome TEXT", "detail TEXT"]
    {
        let (name, kind) = column.split_once(' ').unwrap();
        let (plain, full) = (format!("{name} /**/,"), format!("{name} {kind} NOT NULL,"));
        let (from, to) = if strict { (plain, full) } else { (full, plain) };
        sql.execute(
            "UPDATE sqlite_schema SET sql = replace(sql, ?1, ?2) WHERE name = 'audit'",
            [from, to],
        )
        .unwrap();
    }
}

fn apply(fixture: &Fixture, count: u32, tampering: &Tampering) -> rusqlite::Result<()> {
    if let Tampering::Layout { statement } = tampering {
        return fixture.sql().execute_batch(statement);
    }
    let retype = matches!(tampering, Tampering::Retype { .. } | Tampering::SwapColumn { .. });
    if retype {
        set_strict(fixture, false);
    }
    let sql = fixture.sql();
    let triggers: Vec<String> = sql
        .prepare("SELECT sql FROM sqlite_schema WHERE type = 'trigger'")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    sql.execute_batch("DROP TRIGGER audit_keeps; DROP TRIGGER audit_stands;")?;
    let done = change_rows(&sql, count, tampering);
    for trigger in triggers {
        sql.execute_batch(&trigger)?;
    }
    drop(sql);
    if retype {
        set_strict(fixture, true);
    }
    done
}

fn get(sql: &Connection, seq: u32, column: &str) -> rusqlite::Result<Value> {
    let query = format!("SELECT {column} FROM audit WHERE seq = ?1");
    sql.query_row(&query, [seq], |row| row.get(0))
}

fn set(sql: &Connection, seq: u32, column: &str, value: &Value) -> rusqlite::Result<()> {
    let statement = format!("UPDATE audit SET {column} = ?2 WHERE seq = ?1");
    sql.execute(&statement, (seq, value)).map(drop)
}

fn flip(value: Value, bit: u32) -> Value {
    let flip = |mut bytes: Vec<u8>| {
        let place = (bit as usize / 8) % bytes.len().max(1);
        if let Some(byte) = bytes.get_mut(place) {
            // In a text, a bit that keeps it ASCII.
            *byte ^= 1 << (bit % 5);
        }
        bytes
    };
    match value {
        Value::Integer(number) => Value::Integer(number ^ (1 << (bit % 63))),
        Value::Text(text) => Value::Text(String::from_utf8(flip(text.into_bytes())).unwrap()),
        Value::Blob(bytes) => Value::Blob(flip(bytes)),
        other => other,
    }
}

fn change_rows(sql: &Connection, count: u32, tampering: &Tampering) -> rusqlite::Result<()> {
    let seq = |number: &u32| number % count + 1;
    match tampering {
        Tampering::FlipBit { entry, column, bit } => {
            let value = get(sql, seq(entry), COLUMNS[*column as usize])?;
            set(sql, seq(entry), COLUMNS[*column as usize], &flip(value, *bit))?;
        }
        Tampering::SwapContents { one, other } => {
            for column in &COLUMNS[1..] {
                let (first, second) = (get(sql, seq(one), column)?, get(sql, seq(other), column)?);
                set(sql, seq(one), column, &second)?;
                set(sql, seq(other), column, &first)?;
            }
        }
        Tampering::SwapColumn { one, other, column } => {
            let column = COLUMNS[*column as usize];
            let (first, second) = (get(sql, seq(one), column)?, get(sql, seq(other), column)?);
            set(sql, seq(one), column, &second)?;
            set(sql, seq(other), column, &first)?;
        }
        Tampering::SwapNumbers { one, other } => {
            for (from, to) in [(seq(one), 900), (seq(other), seq(one)), (900, seq(other))] {
                sql.execute("UPDATE audit SET seq = ?2 WHERE seq = ?1", (from, to))?;
            }
        }
        Tampering::Delete { entry, count } => {
            let from = seq(entry);
            sql.execute("DELETE FROM audit WHERE seq >= ?1 AND seq < ?2", (from, from + count))?;
        }
        Tampering::DeleteAndCloseUp { entry } => {
            sql.execute("DELETE FROM audit WHERE seq = ?1", [seq(entry)])?;
            for number in seq(entry) + 1..=count {
                sql.execute("UPDATE audit SET seq = seq - 1 WHERE seq = ?1", [number])?;
            }
        }
        Tampering::KeepOnlyFirst { count } => {
            sql.execute("DELETE FROM audit WHERE seq > ?1", [seq(count)])?;
        }
        Tampering::CutTail { count: cut } => {
            let last = count.saturating_sub(*cut);
            sql.execute("DELETE FROM audit WHERE seq > ?1", [last])?;
        }
        Tampering::Duplicate { entry, to } => {
            sql.execute(
                "INSERT OR REPLACE INTO audit SELECT ?2, at, actor, action, subject, outcome, \
                 detail, hash FROM audit WHERE seq = ?1",
                (seq(entry), to),
            )?;
        }
        Tampering::Overwrite { entry, with } => {
            sql.execute(
                "INSERT OR REPLACE INTO audit SELECT ?1, at, actor, action, subject, outcome, \
                 detail, hash FROM audit WHERE seq = ?2",
                (seq(entry), seq(with)),
            )?;
        }
        Tampering::Insert { at } => {
            for number in (seq(at)..=count).rev() {
                sql.execute("UPDATE audit SET seq = seq + 1 WHERE seq = ?1", [number])?;
            }
            sql.execute(
                "INSERT INTO audit VALUES (?1, 5, 'user:eve', 'skill.approve', 'evil', 'done', \
                 '{}', randomblob(32))",
                [seq(at)],
            )?;
        }
        Tampering::Renumber { by } => {
            sql.execute("UPDATE audit SET seq = seq + 100000", [])?;
            sql.execute("UPDATE audit SET seq = seq - 100000 + ?1", [by])?;
        }
        Tampering::Retype { entry, column, to } => {
            let column = COLUMNS[*column as usize];
            let expression = match to {
                Retyped::Null => "NULL".to_owned(),
                Retyped::Text => format!("CAST({column} AS TEXT)"),
                Retyped::Blob => format!("CAST({column} AS BLOB)"),
                Retyped::Real => "1.5".to_owned(),
            };
            sql.execute(
                &format!("UPDATE audit SET {column} = {expression} WHERE seq = ?1"),
                [seq(entry)],
            )?;
        }
        Tampering::Meta { name, value: Some(value) } => {
            sql.execute("UPDATE meta SET value = ?2 WHERE name = ?1", (name, value))?;
        }
        Tampering::Meta { name, value: None } => {
            sql.execute("DELETE FROM meta WHERE name = ?1", [name])?;
        }
        Tampering::Empty => {
            sql.execute("DELETE FROM audit", [])?;
        }
        Tampering::Layout { .. } => {}
    }
    Ok(())
}

/// Everything the log consists of, types included.
fn dump(fixture: &Fixture) -> Vec<String> {
    let sql = fixture.sql();
    let mut rows = Vec::new();
    for query in [
        "SELECT * FROM audit ORDER BY seq",
        "SELECT * FROM meta ORDER BY name",
        "SELECT type, name, sql FROM sqlite_schema ORDER BY name",
    ] {
        let Ok(mut statement) = sql.prepare(query) else {
            rows.push("cannot be read".to_owned());
            continue;
        };
        let columns = statement.column_count();
        let mut cursor = statement.query([]).unwrap();
        while let Some(row) = cursor.next().unwrap() {
            let values: Vec<ValueRef<'_>> =
                (0..columns).map(|column| row.get_ref(column).unwrap()).collect();
            rows.push(format!("{values:?}"));
        }
    }
    rows
}

fn verify(fixture: &Fixture) -> Result<Verification, StoreError> {
    Reader::open(&fixture.database())?.verify(&fixture.key(), &fixture.heads(), &[])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_change_is_found(count in 1_u32..14, changes in prop::collection::vec(tampering(), 1..3)) {
        let fixture = Fixture::new();
        drop(fixture.with_entries(i64::from(count)));
        let before = dump(&fixture);
        for change in &changes {
            // Not everything can be done to every log, least of all to one already tampered with:
            // what counts is whether something changed.
            let _ = apply(&fixture, count, change);
        }
        let changed = dump(&fixture) != before;
        let verification = verify(&fixture);
        let clean = verification.as_ref().is_ok_and(Verification::is_clean);
        prop_assert_eq!(clean, !changed, "{:?}", verification);

        // Going on as if nothing had happened does not hide it.
        if let Ok(store) = fixture.try_open() {
            let event = foreword_store::Event::new("a", "b", "c", foreword_store::Outcome::Done);
            let went_on = store.write(1, |w| w.audit(&event)).is_ok();
            drop(store);
            let verification = verify(&fixture);
            let clean = verification.as_ref().is_ok_and(Verification::is_clean);
            prop_assert_eq!(clean, !changed, "went on: {} {:?}", went_on, verification);
        }
    }
}

#[test]
fn a_restored_backup_is_found_also_after_going_on() {
    let fixture = Fixture::new();
    drop(fixture.with_entries(5));
    fixture.sql().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let backup = std::fs::read(fixture.database()).unwrap();
    append(&fixture.open(), 6, 5);
    for suffix in ["-wal", "-shm"] {
        let path = fixture.database().with_extension(format!("db{suffix}"));
        let _ = std::fs::remove_file(path);
    }
    std::fs::write(fixture.database(), backup).unwrap();

    let shown = |fixture: &Fixture| -> Vec<String> {
        let faults = verify(fixture).unwrap().faults;
        faults.iter().map(ToString::to_string).collect()
    };
    assert_eq!(
        shown(&fixture),
        ["the log was cut off after entry 5: the head file says it reached entry 10"]
    );
    append(&fixture.open(), 26, 2);
    assert_eq!(
        shown(&fixture),
        ["the log was cut off after entry 7: the head file says it reached entry 10"]
    );
    append(&fixture.open(), 28, 9);
    assert_eq!(shown(&fixture), ["entry 10 is not the one recorded in the head file"]);
}

#[test]
fn a_fresh_database_in_its_place_is_found() {
    let fixture = Fixture::new();
    drop(fixture.with_entries(5));
    for suffix in ["", "-wal", "-shm"] {
        let path = fixture.database().with_extension(format!("db{suffix}"));
        let _ = std::fs::remove_file(path);
    }
    drop(fixture.with_entries(9));
    let faults = verify(&fixture).unwrap().faults;
    assert_eq!(
        faults.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["this log replaced another log of 5 entries, recorded in the head file"]
    );

    // A person who holds the key may accept that; it stays on record.
    let store = fixture.open();
    assert_eq!(store.accept(1, "user:ada", "began anew", &[]).unwrap(), 1);
    let verification = verify(&fixture).unwrap();
    assert!(verification.is_clean(), "{:?}", verification.faults);
    assert_eq!(verification.notes, [Note::Accepted { heads: 1 }]);
    assert_eq!(store.accept(1, "user:ada", "again", &[]).unwrap(), 0);

    // Without the key nobody can: a copy of that entry counts for nothing.
    fixture
        .sql()
        .execute_batch(
            "DROP TRIGGER audit_stands; UPDATE audit SET detail = replace(detail, 'anew', 'old')",
        )
        .unwrap();
    let faults = verify(&fixture).unwrap().faults;
    assert!(faults.iter().any(|fault| matches!(fault, Fault::Replaced { .. })), "{faults:?}");
}
