//! Where the fault is, in the words a person reads.

use crate::fixture::Fixture;
use foreword_store::{Anchor, AuditKey, Fault, Head, Heads, Note, Reader, Verification};

const DROP: &str = "DROP TRIGGER audit_keeps; DROP TRIGGER audit_stands;";
const RESTORE: &str = "\
    CREATE TRIGGER audit_keeps BEFORE DELETE ON audit \
    BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END;\
    CREATE TRIGGER audit_stands BEFORE UPDATE ON audit \
    BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END;";

fn tamper(fixture: &Fixture, statements: &str) {
    let all = format!("{DROP}{statements};{RESTORE}");
    fixture.sql().execute_batch(&all).unwrap();
}

fn verify(fixture: &Fixture, anchors: &[Anchor]) -> Verification {
    let reader = Reader::open(&fixture.database()).unwrap();
    reader.verify(&fixture.key(), &fixture.heads(), anchors).unwrap()
}

fn shown(faults: &[Fault]) -> Vec<String> {
    faults.iter().map(ToString::to_string).collect()
}

/// The faults of a log of ten entries after these statements.
fn faults_after(statements: &str) -> Vec<String> {
    let fixture = Fixture::new();
    drop(fixture.with_entries(10));
    tamper(&fixture, statements);
    shown(&verify(&fixture, &[]).faults)
}

#[test]
fn a_changed_entry_is_one_fault() {
    let altered = ["entry 4 was altered, or written without the key"];
    for column in ["actor", "action", "subject", "outcome", "detail"] {
        let statement = format!("UPDATE audit SET {column} = 'x' WHERE seq = 4");
        assert_eq!(faults_after(&statement), altered, "{column}");
    }
    assert_eq!(faults_after("UPDATE audit SET at = at + 1 WHERE seq = 4"), altered);
    assert_eq!(faults_after("UPDATE audit SET hash = randomblob(32) WHERE seq = 4"), altered);
    assert_eq!(faults_after("UPDATE audit SET hash = x'00' WHERE seq = 4"), altered);
}

#[test]
fn the_first_and_the_last_entry_are_like_the_others() {
    assert_eq!(
        faults_after("UPDATE audit SET actor = 'x' WHERE seq IN (1, 10)"),
        [
            "entry 1 was altered, or written without the key",
            "entry 10 was altered, or written without the key",
        ]
    );
}

#[test]
fn missing_entries_are_named() {
    assert_eq!(faults_after("DELETE FROM audit WHERE seq = 4"), ["entry 4 is missing"]);
    assert_eq!(
        faults_after("DELETE FROM audit WHERE seq IN (1, 2, 5)"),
        ["entries 1 to 2 are missing", "entry 5 is missing"]
    );
}

#[test]
fn a_log_that_was_cut_off_says_what_it_reached() {
    assert_eq!(
        faults_after("DELETE FROM audit WHERE seq > 7"),
        ["the log was cut off after entry 7: the head file says it reached entry 10"]
    );
    assert_eq!(
        faults_after("DELETE FROM audit"),
        ["the log was cut off after entry 0: the head file says it reached entry 10"]
    );
}

#[test]
fn entries_that_changed_places_are_told_from_altered_ones() {
    let swap = |one: i64, other: i64| {
        format!(
            "UPDATE audit SET seq = 99 WHERE seq = {one}; \
             UPDATE audit SET seq = {one} WHERE seq = {other}; \
             UPDATE audit SET seq = {other} WHERE seq = 99"
        )
    };
    assert_eq!(
        faults_after(&swap(3, 7)),
        ["entry 7 was moved to the place of entry 3", "entry 3 was moved to the place of entry 7",]
    );
    assert_eq!(
        faults_after(&swap(4, 5)),
        ["entry 5 was moved to the place of entry 4", "entry 4 was moved to the place of entry 5",]
    );
}

#[test]
fn entries_put_in_are_located() {
    let values = "5, 'user:eve', 'skill.approve', 'evil', 'done', '{}', randomblob(32)";
    let insert = |seq: i64| format!("INSERT INTO audit VALUES ({seq}, {values})");
    assert_eq!(faults_after(&insert(11)), ["entry 11 was altered, or written without the key"]);
    assert_eq!(faults_after(&insert(0)), ["entry 0 does not belong to the log"]);
    assert_eq!(faults_after(&insert(-7)), ["entry -7 does not belong to the log"]);
    assert_eq!(faults_after(&insert(20)), ["entries 11 to 19 are missing"]);
}

#[test]
fn a_log_written_anew_is_one_fault_not_a_thousand() {
    let fixture = Fixture::new();
    drop(fixture.with_entries(300));
    tamper(&fixture, "UPDATE audit SET hash = randomblob(32)");
    assert_eq!(
        shown(&verify(&fixture, &[]).faults),
        [
            "entries 1 to 300 were altered, or written without the key",
            "entry 300 is not the one recorded in the head file",
        ]
    );
    tamper(&fixture, "DELETE FROM audit WHERE seq % 2 = 0");
    let verification = verify(&fixture, &[]);
    assert_eq!(verification.faults.len(), 100);
    assert!(verification.more_faults >= 50, "{}", verification.more_faults);
}

#[test]
fn an_altered_identity_is_told_apart_from_a_wrong_key() {
    let identity = "the identity of the log was altered: \
                    it does not match the key that made its entries";
    assert_eq!(
        faults_after("UPDATE meta SET value = randomblob(32) WHERE name = 'key_check'"),
        [identity]
    );
    let faults = faults_after("UPDATE meta SET value = randomblob(16) WHERE name = 'log_id'");
    assert_eq!(
        faults,
        [identity, "this log replaced another log of 10 entries, recorded in the head file"]
    );

    let fixture = Fixture::new();
    drop(fixture.with_entries(3));
    let elsewhere = tempfile::tempdir().unwrap();
    let reader = Reader::open(&fixture.database()).unwrap();
    let verification =
        reader.verify(&AuditKey::from_bytes([9; 32]), &Heads::new(elsewhere.path()), &[]).unwrap();
    assert_eq!(shown(&verification.faults), ["the log was not made with this key"]);
}

#[test]
fn a_doctored_layout_is_described() {
    assert_eq!(
        faults_after("CREATE TRIGGER more AFTER INSERT ON audit BEGIN SELECT 1; END"),
        ["the database was altered: the trigger `more` is unexpected"]
    );
}

#[test]
fn anchors_find_what_a_lost_head_file_cannot() {
    let fixture = Fixture::new();
    let store = fixture.with_entries(6);
    let Head { log_id, seq, hash } = store.head().unwrap();
    crate::fixture::append(&store, 7, 4);
    drop(store);
    let anchor = |seq, log_id| Anchor { log_id, seq, hash, place: "commit 4f0c".to_owned() };
    let verification = verify(&fixture, &[anchor(seq, Some(log_id)), anchor(seq, None)]);
    assert!(verification.is_clean(), "{:?}", verification.faults);
    assert_eq!(verification.anchors, 2);
    assert_eq!(
        shown(&verify(&fixture, &[anchor(5, None)]).faults),
        ["entry 5 is not the one recorded in commit 4f0c"]
    );

    std::fs::remove_file(fixture.heads().file(&fixture.database())).unwrap();
    tamper(&fixture, "DELETE FROM audit WHERE seq > 3");
    let verification = verify(&fixture, &[anchor(seq, Some(log_id))]);
    assert_eq!(
        shown(&verification.faults),
        ["the log was cut off after entry 3: commit 4f0c says it reached entry 6"]
    );
    assert_eq!(verification.notes, [Note::NoHeadFile]);
}

#[test]
fn a_forged_head_file_is_found_and_kept() {
    let fixture = Fixture::new();
    drop(fixture.with_entries(4));
    let path = fixture.heads().file(&fixture.database());
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace(" 4 ", " 2 ")).unwrap();
    let fault = "the head file was altered: its seal does not match the key";
    assert_eq!(shown(&verify(&fixture, &[]).faults), [fault]);
    crate::fixture::append(&fixture.open(), 5, 1);
    let faults = shown(&verify(&fixture, &[]).faults);
    assert_eq!(faults.len(), 1);
    assert!(faults[0].contains("was moved to"), "{faults:?}");
}

#[test]
fn a_good_log_says_how_much_was_checked() {
    let fixture = Fixture::new();
    drop(fixture.with_entries(10));
    let verification = verify(&fixture, &[]);
    assert_eq!(
        verification,
        Verification {
            entries: 10,
            first_at: Some(crate::fixture::NOW_MS + 1),
            last_at: Some(crate::fixture::NOW_MS + 10),
            last_seq: 10,
            ..Verification::default()
        }
    );
}
