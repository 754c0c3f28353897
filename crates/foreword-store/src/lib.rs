//! What Foreword remembers, in an embedded SQLite database: proposals, what the skill repository
//! holds, memories, sessions with all that the host keeps about them, and the audit chain.
//!
//! This crate owns the database file, the audit key and the head files that lie beside the key.
//! Rows and audit entries change together in one transaction ([`Store::write`]); many threads share
//! transactions through a [`GroupWriter`]; reading never waits for a writer ([`Reader`]). No SQL type
//! leaves this crate. It reads no clock and no environment: times, paths and actors are arguments.
//!
//! Functions that change rows write no audit entry themselves: the caller, who knows what the change
//! means, adds it in the same transaction ([`Transaction::audit`]). Grants and schedules are the
//! exception: they count only with their entries. The key protects the log, what the skill repository
//! holds, grants, schedules and tasks; other rows, those of sessions among them, are as safe as the file
//! is.
//!
//! ```
//! use foreword_store::{AuditKey, Event, Heads, Outcome, Store};
//!
//! # let workspace = tempfile::tempdir()?;
//! # let config = tempfile::tempdir()?;
//! # let config = config.path().join("foreword");
//! # let database = workspace.path().join("foreword.db");
//! let key = AuditKey::load_or_create(&config)?;
//! let store = Store::open(&database, key, Heads::new(&config))?;
//! let now_ms = 1_772_000_000_000;
//! store.write(now_ms, |w| w.audit(&Event::new("user:ada", "skill.approve", "notes", Outcome::Done)))?;
//!
//! let verification = store.verify(&[])?;
//! assert!(verification.is_clean());
//! assert_eq!(verification.entries, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod audit;
mod backup;
mod batch_queue;
mod error;
mod group_writer;
mod host;
mod journal;
mod memory;
mod place;
mod reader;
mod rows;
mod schema;
mod short_id;
mod skills;
mod store;
mod stored_enum;
mod text_limits;
mod transaction;

pub use audit::chain::{Anchor, BadHex, Hash, Head, LogId};
pub use audit::event::{Entry, Event, EventText, Outcome};
pub use audit::heads::Heads;
pub use audit::key::{AuditKey, check_outside_workspace};
pub use audit::verification::{Fault, Note, Verification};
pub use audit::{LogFilter, Order};
pub use backup::{BackupReport, EntryRange, RestoreAct, RestoreReport, restore};
pub use batch_queue::Ticket;
pub use error::StoreError;
pub use foreword::{Provenance, TaintLevel, TaskState, TodoState};
pub use group_writer::GroupWriter;
pub use host::compactions::{Compaction, MAX_SUMMARY_BYTES};
pub use host::contents::{
    CheckedTotals, Content, MAX_CONTENT_TOKENS, MAX_CONTENTS_LISTED, RecordedContent,
};
pub use host::grants::{Grant, GrantId, GrantUse, MAX_UNUSED_GRANTS};
pub use host::held_changes::{
    FileVersion, HeldChange, HeldChangeId, HeldState, MAX_HELD_BYTES, MAX_PENDING_HELD,
    NewHeldChange,
};
pub use host::identity::{
    IdentityProposal, IdentityProposalId, IdentityState, IdentityVerdict, MAX_IDENTITY_BYTES,
    MAX_PENDING_IDENTITY, NewIdentityProposal,
};
pub use host::refusals::{MAX_OPEN_REFUSALS, MAX_REFUSAL_ARGS, Refusal, RefusalId, RefusalState};
pub use host::removal::{MAX_SESSIONS_REMOVED, RemovedSession};
pub use host::schedules::{
    MAX_PROMPT_BYTES, MAX_SCHEDULES, NewSchedule, Schedule, ScheduleId, When,
};
pub use host::session::{MAX_CANARIES, NewSession, Session, SessionId};
pub use host::sessions::MAX_SESSIONS_LISTED;
pub use host::spending::{Spending, SpendingMark, Spent, start_of_day};
pub use host::taint::{TAINTED_SESSION, TaintKind, Tainted};
pub use host::tainted_files::{MAX_TAINTED_FILES, TaintedFile};
pub use host::tasks::{
    MAX_DETAIL_BYTES, MAX_OPEN_TASKS, MAX_TASKS_LISTED, MAX_TITLE_BYTES, NewTask, Task, TaskChange,
    TaskFilter, TaskId,
};
pub use host::todos::{MAX_TODO_CHARS, MAX_TODOS, TodoItem};
pub use host::turn::{
    FinishedTurn, MAX_ANSWER_BYTES, MAX_MESSAGE_BYTES, MAX_TURN_BYTES, RunningTurn, Turn, TurnEnd,
    TurnMessages, TurnNumber, TurnRange, TurnState, TurnUsage,
};
pub use journal::{Journal, StoreWarning, storage_warning};
pub use memory::blocks::{MEMORY_BLOCK, MemorySlot, memory_place};
pub use memory::memories::{KeyedMemory, VectorUpdate};
pub use memory::rows::MemoryRows;
pub use memory::{
    AddOutcome, MAX_MEMORY_BYTES, MemoryEntry, MemoryFilter, MemoryId, MemoryKind, MemoryScope,
    NewMemory, StoredVector,
};
pub use reader::Reader;
pub use skills::proposal::{
    ChangeKind, Decision, FileChange, NewProposal, Proposal, ProposalId, ProposalState,
    ProposalSummary,
};
pub use skills::proposals::{MAX_FILE_BYTES, MAX_PENDING, MAX_PROPOSAL_BYTES};
pub use skills::tracked::{TrackedFile, TrackedFiles};
pub use store::{Durability, Options, Store};
pub use transaction::Transaction;
