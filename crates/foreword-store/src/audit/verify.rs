//! Walks the whole chain and finds what does not follow.
//!
//! The walk goes on after a fault, from the hash that is stored there: one altered entry is one
//! fault, and the entries behind it are still checked.

use std::path::{Path, PathBuf};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use crate::audit;
use crate::audit::broken_links::{BrokenLink, BrokenLinks};
use crate::audit::chain::{Anchor, Fields, Hash, Head, Linker, LogId};
use crate::audit::expected_heads::ExpectedHeads;
use crate::audit::heads::HeadFile;
use crate::audit::key::AuditKey;
use crate::audit::origins::Origins;
use crate::audit::verification::{Fault, MAX_FAULTS, Note, Verification};
use crate::error::{InDatabase as _, StoreError};
use crate::rows::Rows;
use crate::schema;

/// What is known about the end of the log from outside the database.
pub(crate) struct KnownHeads<'a> {
    /// The head file of this database.
    pub(crate) recorded: &'a HeadFile,
    /// The furthest head of the same log in the head file of another database.
    pub(crate) elsewhere: Option<Head>,
    /// A head file that could not be read and was moved aside.
    pub(crate) aside: Option<PathBuf>,
    pub(crate) anchors: &'a [Anchor],
}

pub(crate) fn run(
    connection: &Connection,
    path: &Path,
    key: &AuditKey,
    heads: KnownHeads<'_>,
) -> Result<Verification, StoreError> {
    let KnownHeads { recorded, elsewhere, aside, anchors } = heads;
    // One state of the database for all that is read.
    let _snapshot = connection.unchecked_transaction().at(path)?;
    let mut report = Verification {
        anchors: u64::try_from(anchors.len()).unwrap_or(u64::MAX),
        ..Verification::default()
    };
    for oddity in schema::oddities(connection).at(path)? {
        report.fault(Fault::Layout { detail: oddity.0 });
    }
    let head = match recorded {
        HeadFile::Sealed(record) => record.head,
        HeadFile::Missing | HeadFile::Unreadable => None,
    };
    let linker = Linker::new(key);
    let log_id: Option<LogId> = audit::meta(connection, "log_id").unwrap_or(None).map(LogId);
    let key_check = audit::meta(connection, "key_check").unwrap_or(None).map(Hash);
    let key_proven = log_id.is_some() && log_id.map(|id| linker.key_check(id)) == key_check;

    let mut expected = ExpectedHeads::new(log_id, recorded, anchors);
    let mut walk = Walk::new(linker, log_id, head);
    let mut origins = Origins::default();
    let broken = walk.entries(connection, &mut report, &mut expected, &mut origins).err();
    let verified = walk.verified;
    walk.finish(&mut report);
    if let Some(error) = broken {
        report.fault(Fault::Unreadable { after: report.last_seq, detail: error.to_string() });
    }
    if !key_proven {
        if verified == 0 && head.is_none() {
            report.faults.retain(|fault| matches!(fault, Fault::Layout { .. }));
            report.more_faults = 0;
            report.fault(Fault::WrongKey);
            return Ok(report);
        }
        report.fault(Fault::Identity {
            detail: "it does not match the key that made its entries".to_owned(),
        });
    }
    expected.finish(&mut report);
    if let Some(other) = elsewhere.filter(|other| other.seq > report.last_seq) {
        report.unmet.push(other.hash);
        report.fault(Fault::Incomplete { from: report.last_seq + 1, to: other.seq });
    }
    match recorded {
        HeadFile::Missing => report.notes.push(Note::NoHeadFile),
        HeadFile::Unreadable => {
            report.fault(Fault::HeadFile { detail: "its seal does not match the key".to_owned() });
        }
        HeadFile::Sealed(_) => {
            let behind = head.map_or(0, |head| report.last_seq.saturating_sub(head.seq));
            if behind > 0 {
                report.notes.push(Note::HeadBehind { entries: behind });
            }
        }
    }
    if let Some(aside) = aside {
        report.fault(Fault::HeadFile {
            detail: format!(
                "one whose seal does not match the key was moved to {}",
                aside.display()
            ),
        });
    }
    // A database of an earlier version has no seals; the first command that writes adds them.
    if schema::version(connection, path).is_ok_and(|version| version >= schema::WITH_SEALS) {
        origins.finish(Rows { connection, path }, key, &mut report)?;
    }
    Ok(report)
}

/// Whether no entry of the log was changed, removed or added, as far as its head file tells.
pub(crate) fn chain_holds(
    connection: &Connection,
    key: &AuditKey,
    recorded: &HeadFile,
) -> rusqlite::Result<bool> {
    let log_id: Option<LogId> = audit::meta(connection, "log_id")?.map(LogId);
    let mut report = Verification::default();
    let mut expected = ExpectedHeads::new(log_id, recorded, &[]);
    let mut walk = Walk::new(Linker::new(key), log_id, None);
    walk.entries(connection, &mut report, &mut expected, &mut Origins::default())?;
    walk.finish(&mut report);
    expected.finish(&mut report);
    Ok(report.is_clean())
}

/// The state of the walk between two entries.
struct Walk<'k> {
    linker: Linker<'k>,
    /// The number the next entry should have.
    expected: i64,
    /// What the next entry may follow: the hash stored in the last one and, where that was
    /// faulty, the hash it should have had.
    previous: [Option<Hash>; 2],
    verified: u64,
    broken: BrokenLinks,
    gaps: Vec<Fault>,
    more_gaps: u64,
}

/// An entry as it is stored; `None` where a value has the wrong type.
struct Stored<'r> {
    seq: i64,
    at: Option<i64>,
    texts: Option<[&'r [u8]; 5]>,
    hash: Option<Hash>,
}

impl<'k> Walk<'k> {
    fn new(linker: Linker<'k>, log_id: Option<LogId>, head: Option<Head>) -> Self {
        let genesis = |id| linker.genesis(id);
        let previous = [log_id.map(genesis), head.map(|head| genesis(head.log_id))];
        Self {
            linker,
            expected: 1,
            previous,
            verified: 0,
            broken: BrokenLinks::default(),
            gaps: Vec::new(),
            more_gaps: 0,
        }
    }

    fn entries(
        &mut self,
        connection: &Connection,
        report: &mut Verification,
        expected: &mut ExpectedHeads,
        origins: &mut Origins,
    ) -> rusqlite::Result<()> {
        let mut statement = connection.prepare_cached(
            "SELECT seq, at, actor, action, subject, outcome, detail, hash FROM audit ORDER BY seq",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let stored = stored(row)?;
            report.entries += 1;
            if report.first_at.is_none() {
                report.first_at = stored.at;
            }
            report.last_at = stored.at;
            if self.entry(&stored)
                && let Some([_, action, subject, _, detail]) = stored.texts
            {
                expected.read_entry(stored.seq, action, detail);
                origins.read_entry(stored.seq, action, subject, detail);
            }
            if stored.seq > report.last_seq {
                report.last_seq = stored.seq;
                expected.compare(stored.seq, stored.hash);
            }
        }
        Ok(())
    }

    /// Whether the entry follows from the one before.
    fn entry(&mut self, stored: &Stored<'_>) -> bool {
        if stored.seq < self.expected {
            self.gap(Fault::Foreign { seq: stored.seq });
            return false;
        }
        let after_gap = stored.seq > self.expected;
        if after_gap {
            self.gaps
                .push(Fault::Missing { from: self.expected, to: stored.seq.saturating_sub(1) });
            self.previous = [None, None];
        }
        self.expected = stored.seq.saturating_add(1);
        let fields = match (stored.at, stored.texts, stored.hash) {
            (Some(at), Some(texts), Some(_)) => Fields { seq: stored.seq, at, texts },
            (at, texts, _) => {
                self.broken.add_unreadable(stored.seq);
                let fields = at.zip(texts).map(|(at, texts)| Fields { seq: stored.seq, at, texts });
                let computed = fields.and_then(|fields| {
                    Some(self.linker.link(self.previous.first()?.as_ref()?, &fields))
                });
                self.previous = [stored.hash, computed];
                return false;
            }
        };
        let mut computed = None;
        for previous in self.previous.iter().flatten() {
            let link = self.linker.link(previous, &fields);
            if Some(link) == stored.hash {
                self.verified += 1;
                self.previous = [stored.hash, None];
                return true;
            }
            computed = computed.or(Some(link));
        }
        // The first entry behind a gap follows from one that is not there: the gap is the fault.
        if !after_gap {
            self.broken.add(BrokenLink::new(&fields, stored.hash, self.previous));
        }
        self.previous = [stored.hash, computed];
        false
    }

    /// Notes a gap; of a log full of them only the first are kept.
    fn gap(&mut self, fault: Fault) {
        if self.gaps.len() < MAX_FAULTS {
            self.gaps.push(fault);
        } else {
            self.more_gaps += 1;
        }
    }

    fn finish(mut self, report: &mut Verification) {
        report.more_faults += self.more_gaps;
        let mut faults = self.broken.explain(&mut self.linker);
        faults.append(&mut self.gaps);
        faults.sort_by_key(place);
        faults.into_iter().for_each(|fault| report.fault(fault));
    }
}

/// Where in the log a fault is.
fn place(fault: &Fault) -> i64 {
    match fault {
        Fault::Altered { from, .. } | Fault::Missing { from, .. } => *from,
        Fault::Moved { to, .. } => *to,
        Fault::Foreign { seq } => *seq,
        _ => i64::MAX,
    }
}

fn stored<'r>(row: &'r Row<'_>) -> rusqlite::Result<Stored<'r>> {
    let integer = |column| -> rusqlite::Result<Option<i64>> {
        Ok(match row.get_ref(column)? {
            ValueRef::Integer(value) => Some(value),
            _ => None,
        })
    };
    let text = |column| -> rusqlite::Result<Option<&'r [u8]>> {
        Ok(match row.get_ref(column)? {
            ValueRef::Text(bytes) => Some(bytes),
            _ => None,
        })
    };
    let texts = (text(2)?, text(3)?, text(4)?, text(5)?, text(6)?);
    Ok(Stored {
        seq: integer(0)?.unwrap_or(i64::MIN),
        at: integer(1)?,
        texts: match texts {
            (Some(a), Some(b), Some(c), Some(d), Some(e)) => Some([a, b, c, d, e]),
            _ => None,
        },
        hash: match row.get_ref(7)? {
            ValueRef::Blob(bytes) => bytes.try_into().ok().map(Hash),
            _ => None,
        },
    })
}
