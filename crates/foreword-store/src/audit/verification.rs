//! What a verification of the audit log found, in words a person can act on.

use std::fmt;

use serde::Serialize;

use crate::audit::chain::Hash;
use crate::backup::EntryRange;

/// The most faults that are listed one by one.
pub(crate) const MAX_FAULTS: usize = 100;

/// The result of checking the whole log.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Verification {
    /// How many entries were read.
    pub entries: u64,
    /// The time of the first entry, in milliseconds since 1970.
    pub first_at: Option<i64>,
    /// The time of the last entry.
    pub last_at: Option<i64>,
    /// The number of the last entry.
    pub last_seq: i64,
    /// How many anchors were checked, the head file not counted.
    pub anchors: u64,
    /// What is wrong, in the order of the log; the first hundred.
    pub faults: Vec<Fault>,
    /// How many more faults there are.
    pub more_faults: u64,
    /// What should be known although nothing is wrong with it.
    pub notes: Vec<Note>,
    /// The hashes of the heads that the log does not hold.
    #[serde(skip)]
    pub unmet: Vec<Hash>,
}

impl Verification {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.faults.is_empty()
    }

    pub(crate) fn fault(&mut self, fault: Fault) {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(fault);
        } else {
            self.more_faults += 1;
        }
    }
}

/// Something wrong with the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "fault", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Fault {
    /// Entries are not what was written, or were written by someone without the key.
    Altered {
        /// The first of them.
        from: i64,
        /// The last of them.
        to: i64,
    },
    /// The content of an entry stands in the place of another.
    Moved {
        /// Where it was written.
        from: i64,
        /// Where it stands now.
        to: i64,
    },
    /// Entries are missing in the midst of the log.
    Missing {
        /// The first that is missing.
        from: i64,
        /// The last that is missing.
        to: i64,
    },
    /// An entry has a number that is never given.
    Foreign {
        /// The number.
        seq: i64,
    },
    /// The log ended later once.
    Truncated {
        /// The last entry there is.
        last: i64,
        /// The last entry there was.
        recorded: i64,
        /// Where that is written down.
        place: String,
    },
    /// This is a copy of a log that has more entries elsewhere.
    Incomplete {
        /// The first entry that is missing here.
        from: i64,
        /// The last entry that the other copy has.
        to: i64,
    },
    /// An entry is not the one that was written down elsewhere.
    Anchor {
        /// The entry.
        seq: i64,
        /// Where it is written down.
        place: String,
    },
    /// Another log stood here.
    Replaced {
        /// The last entry of that log.
        recorded: i64,
        /// Where that is written down.
        place: String,
    },
    /// The identity of the log, or the proof of its key, was changed.
    Identity {
        /// How.
        detail: String,
    },
    /// The layout of the database was changed.
    Layout {
        /// How.
        detail: String,
    },
    /// The head file is not as it was written.
    HeadFile {
        /// How.
        detail: String,
    },
    /// The log could not be read to its end.
    Unreadable {
        /// The last entry that was read.
        after: i64,
        /// Why.
        detail: String,
    },
    /// A row that the host would act on was added or altered without the key.
    Unsealed {
        /// What it is: `schedule`.
        what: &'static str,
        /// Its id.
        id: String,
    },
    /// A row was put back that the log says is used up or gone.
    SetBack {
        /// What it is: `grant`.
        what: &'static str,
        /// Its id.
        id: String,
    },
    /// Something was used that no entry gave.
    NoOrigin {
        /// The entry that records the use.
        seq: i64,
        /// What was used: `grant`.
        what: &'static str,
        /// Its id.
        id: String,
    },
    /// No entry was made with this key.
    WrongKey,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Altered { from, to } if from == to => {
                write!(f, "entry {from} was altered, or written without the key")
            }
            Self::Altered { from, to } => {
                write!(f, "entries {from} to {to} were altered, or written without the key")
            }
            Self::Moved { from, to } => {
                write!(f, "entry {from} was moved to the place of entry {to}")
            }
            Self::Missing { from, to } if from == to => write!(f, "entry {from} is missing"),
            Self::Missing { from, to } => write!(f, "entries {from} to {to} are missing"),
            Self::Foreign { seq } => write!(f, "entry {seq} does not belong to the log"),
            Self::Truncated { last, recorded, place } => write!(
                f,
                "the log was cut off after entry {last}: {place} says it reached entry {recorded}"
            ),
            Self::Incomplete { from, to } if from == to => write!(
                f,
                "this copy of the log is incomplete: entry {from} is missing, according to a \
                 head file of another copy"
            ),
            Self::Incomplete { from, to } => write!(
                f,
                "this copy of the log is incomplete: entries {from} to {to} are missing, according \
                 to a head file of another copy"
            ),
            Self::Anchor { seq, place } => {
                write!(f, "entry {seq} is not the one recorded in {place}")
            }
            Self::Replaced { recorded, place } => write!(
                f,
                "this log replaced another log of {recorded} entries, recorded in {place}"
            ),
            Self::Identity { detail } => write!(f, "the identity of the log was altered: {detail}"),
            Self::Layout { detail } => write!(f, "the database was altered: {detail}"),
            Self::HeadFile { detail } => write!(f, "the head file was altered: {detail}"),
            Self::Unreadable { after, detail } => {
                write!(f, "the log cannot be read after entry {after}: {detail}")
            }
            Self::Unsealed { what: "session", id } => write!(
                f,
                "the taint counters of session `{id}` were altered without the key; it counts as \
                 tainted"
            ),
            Self::SetBack { what: "session", id } => write!(
                f,
                "the taint counters of session `{id}` were set back to an earlier state; it counts \
                 as tainted"
            ),
            Self::Unsealed { what: "list of tainted files", .. } => f.write_str(
                "the list of tainted files was altered without the key; every file counts as tainted",
            ),
            Self::Unsealed { what, id } => {
                write!(f, "the {what} `{id}` was added or altered without the key; it is not used")
            }
            Self::SetBack { what, id } => {
                write!(f, "the {what} `{id}` was set back to an earlier state; it is not used")
            }
            Self::NoOrigin { seq, what, id } => {
                write!(f, "entry {seq} uses the {what} `{id}`, which no earlier entry created")
            }
            Self::WrongKey => f.write_str("the log was not made with this key"),
        }
    }
}

/// Something about the log that should be known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "note", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Note {
    /// There is no head file, so that entries missing at the end may go unnoticed.
    NoHeadFile,
    /// A person accepted that the log does not hold what was written down elsewhere.
    Accepted {
        /// The number of heads or anchors.
        heads: u64,
    },
    /// A backup was restored.
    Restored {
        /// The entry that records it.
        seq: i64,
        /// The entries that the replaced log had and the backup did not.
        lost: Option<EntryRange>,
    },
    /// The head file is some entries behind the log.
    HeadBehind {
        /// The number of entries.
        entries: i64,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoHeadFile => f.write_str(
                "no head file for this database, as in a new, moved or copied workspace; only anchors can \
                 show that entries are missing at the end",
            ),
            Self::Accepted { heads } => write!(
                f,
                "{heads} heads recorded elsewhere are missing from this log; a person accepted that in \
                 an `audit.accept` entry"
            ),
            Self::Restored { seq, lost: None } => {
                write!(f, "entry {seq} records that a backup was restored; no entries were lost")
            }
            Self::Restored { seq, lost: Some(EntryRange { from, to }) } => write!(
                f,
                "entry {seq} records that a backup was restored; entries {from} to {to} of the \
                 replaced log were lost"
            ),
            Self::HeadBehind { entries } => write!(
                f,
                "the head file is {entries} entries behind, as after a crash; only the chain \
                 protects these entries"
            ),
        }
    }
}
