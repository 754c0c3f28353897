//! One transaction: rows and audit entries that change together.

use std::error::Error;
use std::path::Path;

use crate::audit::chain::{Fields, Head, Linker};
use crate::audit::event::Event;
use crate::audit::heads::{HeadFile, Heads};
use crate::audit::key::AuditKey;
use crate::audit::{self, Tail};
use crate::error::{InDatabase as _, StoreError};
use crate::memory::blocks;
use crate::memory::memories::{self, KeyedMemory, VectorUpdate};
use crate::memory::rows::MemoryRows;
use crate::memory::{AddOutcome, NewMemory};
use crate::rows::Rows;
use crate::skills::proposal::{
    Decision, NewProposal, Proposal, ProposalId, ProposalState, ProposalSummary,
};
use crate::skills::proposals;
use crate::skills::tracked::{self, TrackedFile, TrackedFiles};

/// A transaction under way; see [`Store::write`](crate::Store::write).
#[derive(Debug)]
pub struct Transaction<'t> {
    transaction: &'t rusqlite::Transaction<'t>,
    path: &'t Path,
    key: &'t AuditKey,
    linker: Linker<'t>,
    heads: &'t Heads,
    now_ms: i64,
    tail: Option<Tail>,
    appended: bool,
}

/// What to return to when a part of a transaction fails.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    tail: Option<Tail>,
    appended: bool,
}

impl<'t> Transaction<'t> {
    pub(crate) fn new(
        transaction: &'t rusqlite::Transaction<'t>,
        path: &'t Path,
        key: &'t AuditKey,
        heads: &'t Heads,
        now_ms: i64,
    ) -> Self {
        Self {
            transaction,
            path,
            key,
            linker: Linker::new(key),
            heads,
            now_ms,
            tail: None,
            appended: false,
        }
    }

    /// The key that rows are sealed with.
    pub(crate) fn key(&self) -> &'t AuditKey {
        self.key
    }

    /// Records an event at the time of this transaction.
    pub fn audit(&mut self, event: &Event) -> Result<Head, StoreError> {
        let mut tail = self.tail()?;
        let seq = tail.head.seq.saturating_add(1);
        let texts = event.texts(self.key, seq);
        let fields = Fields {
            seq,
            at: self.now_ms,
            texts: [
                texts.actor.as_bytes(),
                texts.action.as_bytes(),
                texts.subject.as_bytes(),
                texts.outcome.as_bytes(),
                texts.detail.as_bytes(),
            ],
        };
        tail.head.hash = self.linker.link(&tail.head.hash, &fields);
        tail.head.seq = fields.seq;
        self.transaction
            .prepare_cached(
                "INSERT INTO audit (seq, at, actor, action, subject, outcome, detail, hash) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )
            .and_then(|mut statement| {
                statement.execute((
                    fields.seq,
                    self.now_ms,
                    &texts.actor,
                    &texts.action,
                    &texts.subject,
                    texts.outcome,
                    &texts.detail,
                    tail.head.hash.0,
                ))
            })
            .at(self.path)?;
        if let Some((session, text)) = &texts.text {
            self.rows().change(
                "INSERT INTO audit_texts (seq, session, text) VALUES (?1, ?2, ?3)",
                (seq, session.as_str(), text),
            )?;
        }
        self.tail = Some(tail);
        self.appended = true;
        Ok(tail.head)
    }

    /// The end of the log as it is in this transaction, to be anchored elsewhere.
    pub fn head(&mut self) -> Result<Head, StoreError> {
        Ok(self.tail()?.head)
    }

    /// The time of this transaction.
    #[must_use]
    pub fn now_ms(&self) -> i64 {
        self.now_ms
    }

    /// Stores a new proposal, pending or as an intent.
    pub fn insert_proposal(&mut self, proposal: &NewProposal) -> Result<ProposalId, StoreError> {
        proposals::insert(self.transaction, self.path, self.now_ms, proposal)
    }

    /// Moves a proposal from one state to another, unless its state has changed.
    pub fn set_state(
        &mut self,
        id: &ProposalId,
        expected: ProposalState,
        new: ProposalState,
        decision: &Decision,
    ) -> Result<(), StoreError> {
        proposals::set_state(
            self.transaction,
            self.path,
            self.now_ms,
            id,
            (expected, new),
            decision,
        )
    }

    /// As [`Reader::proposal`](crate::Reader::proposal), in this transaction.
    pub fn proposal(&self, id: &str) -> Result<Proposal, StoreError> {
        proposals::find(self.transaction, self.path, id)
    }

    /// As [`Reader::proposals`](crate::Reader::proposals), in this transaction.
    pub fn proposals(
        &self,
        state: Option<ProposalState>,
    ) -> Result<Vec<ProposalSummary>, StoreError> {
        proposals::list(self.transaction, self.path, state)
    }

    /// As [`Reader::tracked`](crate::Reader::tracked), in this transaction.
    pub fn tracked(&self) -> Result<TrackedFiles, StoreError> {
        tracked::read(self.transaction, self.path, None)
    }

    /// As [`Reader::tracked_head`](crate::Reader::tracked_head), in this transaction.
    pub fn tracked_head(&self) -> Result<Option<String>, StoreError> {
        tracked::head(self.transaction, self.path)
    }

    /// Writes down anew what the skill repository holds.
    pub fn replace_tracked(
        &mut self,
        head: Option<&str>,
        rows: &[TrackedFile],
    ) -> Result<(), StoreError> {
        tracked::replace(self.transaction, self.path, self.key, head, rows)
    }

    /// Writes down what a commit changed in the skill repository.
    pub fn update_tracked(
        &mut self,
        old_head: Option<&str>,
        new_head: &str,
        changed: &[TrackedFile],
        removed: &[String],
    ) -> Result<(), StoreError> {
        tracked::update(self.transaction, self.path, self.key, old_head, new_head, changed, removed)
    }

    /// The memories as they are in this transaction.
    #[must_use]
    pub fn memories(&self) -> MemoryRows<'_> {
        MemoryRows { connection: self.transaction, path: self.path }
    }

    /// Stores memories that are not there yet; says of each what became of it.
    pub fn add_memories(&mut self, new: &[NewMemory]) -> Result<Vec<AddOutcome>, StoreError> {
        memories::insert(self.transaction, self.path, new)
    }

    /// Deletes memories with all they are found by; gives how many were still there. `terms` divides
    /// a text as it was divided when it was stored.
    pub fn forget_memories(
        &mut self,
        all: &[KeyedMemory],
        terms: impl Fn(&str) -> Vec<String>,
    ) -> Result<usize, StoreError> {
        memories::delete(self.transaction, self.path, all, terms)
    }

    /// Gives memories other vectors. With `anew`, the blocks they are in are made from them alone:
    /// give whole blocks then.
    pub fn set_memory_vectors(
        &mut self,
        all: &[VectorUpdate],
        anew: bool,
    ) -> Result<(), StoreError> {
        memories::set_vectors(self.transaction, self.path, all, anew)
    }

    /// Deletes the sketches of embedders that are no longer in use.
    pub fn drop_unused_sketches(&mut self) -> Result<(), StoreError> {
        blocks::drop_unused(self.transaction).at(self.path)
    }

    pub(crate) fn rows(&self) -> Rows<'_> {
        Rows { connection: self.transaction, path: self.path }
    }

    /// Begins a part of the transaction that can be undone alone, at its own time.
    pub(crate) fn begin_part(&mut self, now_ms: i64) -> Result<Part, StoreError> {
        self.now_ms = now_ms;
        self.rows().change("SAVEPOINT part", [])?;
        Ok(Part { tail: self.tail, appended: self.appended })
    }

    /// Ends a part; one that failed is undone, rows and audit entries, and the transaction goes on.
    ///
    /// Fails when the whole transaction is lost.
    pub(crate) fn end_part(
        &mut self,
        part: Part,
        failed: Option<&dyn Error>,
    ) -> Result<(), StoreError> {
        if let Some(error) = failed {
            (self.tail, self.appended) = (part.tail, part.appended);
            // Some failures, such as a full disk, make the database undo the whole transaction;
            // what comes after that would be a transaction of its own, statement by statement.
            if self.transaction.is_autocommit() {
                let path = self.path.to_path_buf();
                return Err(StoreError::Undone { path, detail: error.to_string() });
            }
            self.rows().change("ROLLBACK TO part", [])?;
        }
        self.rows().change("RELEASE part", []).map(drop)
    }

    /// The new end of the log and a recorded head it did not reach, if anything was appended.
    pub(crate) fn advanced(&self) -> Option<(Head, Option<Head>)> {
        self.tail.filter(|_| self.appended).map(|tail| (tail.head, tail.lost))
    }

    /// The end of the log; compared with the head file when first asked for.
    ///
    /// While the transaction holds the write lock no other process can append, so a head that is
    /// not in the log means that entries were taken from it.
    fn tail(&mut self) -> Result<Tail, StoreError> {
        if let Some(tail) = self.tail {
            return Ok(tail);
        }
        let head = audit::tail(self.transaction, self.path, &self.linker)?;
        let lost = match self.heads.read(self.key, self.path)? {
            HeadFile::Sealed(record) => match record.head {
                Some(recorded)
                    if audit::reaches(self.transaction, &head, &recorded).at(self.path)? =>
                {
                    None
                }
                other => other,
            },
            HeadFile::Missing | HeadFile::Unreadable => None,
        };
        let tail = Tail { head, lost };
        self.tail = Some(tail);
        Ok(tail)
    }
}
