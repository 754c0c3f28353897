//! Heads that were written down elsewhere, and whether the log holds what they say.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::audit::chain::{Anchor, Hash, LogId};
use crate::audit::heads::HeadFile;
use crate::audit::verification::{Fault, Note, Verification};
use crate::backup::{RESTORE, RestoreDetail};

/// What the head file is called in a report.
const HEAD_FILE: &str = "the head file";
/// The action of an entry by which a person accepts that heads are not in this log.
pub(crate) const ACCEPT: &str = "audit.accept";

/// The detail of such an entry.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Acceptance {
    /// The hashes of those heads.
    pub(crate) heads: Vec<String>,
    /// Why, in the words of the person.
    pub(crate) reason: String,
}

/// The heads and anchors, by the entry they speak of.
#[derive(Debug)]
pub(crate) struct ExpectedHeads {
    by_seq: BTreeMap<i64, Vec<(Hash, String)>>,
    unmet: Vec<(Hash, Fault)>,
    accepted: BTreeSet<Hash>,
    /// What restores replaced, and the restores.
    restored: BTreeSet<Hash>,
    restores: Vec<Note>,
}

impl ExpectedHeads {
    pub(crate) fn new(log_id: Option<LogId>, recorded: &HeadFile, anchors: &[Anchor]) -> Self {
        let mut expected = Self {
            by_seq: BTreeMap::new(),
            unmet: Vec::new(),
            accepted: BTreeSet::new(),
            restored: BTreeSet::new(),
            restores: Vec::new(),
        };
        if let HeadFile::Sealed(record) = recorded {
            for head in record.head.iter().chain(&record.kept) {
                expected.add(log_id, Some(head.log_id), head.seq, head.hash, HEAD_FILE);
            }
        }
        for anchor in anchors {
            expected.add(log_id, anchor.log_id, anchor.seq, anchor.hash, &anchor.place);
        }
        expected
    }

    fn add(&mut self, ours: Option<LogId>, its: Option<LogId>, seq: i64, hash: Hash, place: &str) {
        let place = place.to_owned();
        if its.is_some() && its != ours {
            let recorded = seq;
            self.unmet.push((hash, Fault::Replaced { recorded, place }));
        } else if seq > 0 {
            self.by_seq.entry(seq).or_default().push((hash, place));
        }
    }

    /// Compares an entry with what was written down about it elsewhere.
    pub(crate) fn compare(&mut self, seq: i64, stored: Option<Hash>) {
        // Most entries have no mark, and those that do come in order.
        let first = self.by_seq.first_key_value();
        if first.is_none_or(|(&first, _)| first > seq) {
            return;
        }
        for (hash, place) in self.by_seq.remove(&seq).unwrap_or_default() {
            if stored != Some(hash) {
                self.unmet.push((hash, Fault::Anchor { seq, place }));
            }
        }
    }

    /// Looks whether an entry that follows from the one before, and so was made with the key,
    /// accepts that heads are not in this log or records a restore.
    pub(crate) fn read_entry(&mut self, seq: i64, action: &[u8], detail: &[u8]) {
        let hashes =
            |heads: Vec<String>| heads.into_iter().filter_map(|hash| hash.parse::<Hash>().ok());
        if action == ACCEPT.as_bytes()
            && let Ok(acceptance) = serde_json::from_slice::<Acceptance>(detail)
        {
            self.accepted.extend(hashes(acceptance.heads));
        } else if action == RESTORE.as_bytes()
            && let Ok(restore) = serde_json::from_slice::<RestoreDetail>(detail)
        {
            self.restored.extend(hashes(restore.heads));
            self.restores.push(Note::Restored { seq, lost: restore.lost });
        }
    }

    pub(crate) fn finish(mut self, report: &mut Verification) {
        let last = report.last_seq;
        // What was recorded in a gap is missing anyway; of what lies behind the end the farthest
        // tells.
        let behind: Vec<_> = self
            .by_seq
            .into_iter()
            .filter(|(seq, _)| *seq > last)
            .flat_map(|(seq, marks)| marks.into_iter().map(move |mark| (seq, mark)))
            .filter(|(_, (hash, _))| !self.accepted.contains(hash) && !self.restored.contains(hash))
            .collect();
        report.unmet.extend(behind.iter().map(|(_, (hash, _))| *hash));
        let mut accepted = 0;
        for (hash, fault) in self.unmet.drain(..) {
            if self.restored.contains(&hash) {
                continue;
            }
            if self.accepted.contains(&hash) {
                accepted += 1;
            } else {
                report.unmet.push(hash);
                report.fault(fault);
            }
        }
        if let Some((recorded, (_, place))) = behind.into_iter().next_back() {
            report.fault(Fault::Truncated { last, recorded, place });
        }
        report.notes.append(&mut self.restores);
        if accepted > 0 {
            report.notes.push(Note::Accepted { heads: accepted });
        }
    }
}
