//! What Foreword remembers, in an embedded SQLite database: proposals, what the skill repository
//! holds, memories, sessions with all that the host keeps about them, and the audit chain.
//!
//! This crate owns the database file, the audit key and the head files that lie beside the key.
//! Rows and audit entries change together in one transaction ([`Store::write`]); many threads share
//! transactions through a [`GroupWriter`]; reading never waits for a writer ([`Reader`]). No SQL type
//! leaves this crate. It reads no clock and no environment: times, paths and actors are arguments.
//!
//! Functions that change rows write no audit entry themselves: whoever knows what the change means
//! adds it in the same transaction ([`Write::audit`]). The key protects the log and what the skill
//! repository holds; other rows, those of sessions among them, are as safe as the file is.
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
mod chain;
mod checksum;
mod contents;
mod error;
mod event;
mod grants;
mod group;
mod heads;
mod identity;
mod key;
mod marks;
mod memories;
mod memory;
mod memory_blocks;
mod memory_names;
mod memory_rows;
mod memory_vectors;
mod memory_words;
mod proposal;
mod proposals;
mod queue;
mod reader;
mod refusals;
mod rows;
mod schedules;
mod schema;
mod session;
mod sessions;
mod short_id;
mod store;
mod suspects;
mod tasks;
mod text;
mod todos;
mod tracked;
mod turn;
mod turns;
mod verification;
mod verify;
mod words;
mod write;
mod writer;

pub use audit::{LogFilter, Order};
pub use chain::{Anchor, BadHex, Hash, Head, LogId};
pub use contents::{
    Content, ContentTotals, MAX_CONTENT_TOKENS, MAX_CONTENTS_LISTED, Provenance, RecordedContent,
};
pub use error::StoreError;
pub use event::{Entry, Event, Outcome};
pub use grants::{Grant, GrantId, MAX_UNUSED_GRANTS};
pub use group::GroupWriter;
pub use heads::Heads;
pub use identity::{
    IdentityProposal, IdentityProposalId, IdentityState, IdentityVerdict, MAX_IDENTITY_BYTES,
    MAX_PENDING_IDENTITY, NewIdentityProposal,
};
pub use key::{AuditKey, check_outside_workspace};
pub use memories::{KeyedMemory, Revectored};
pub use memory::{
    Added, MAX_MEMORY_BYTES, MemoryEntry, MemoryFilter, MemoryId, MemoryKind, MemoryScope,
    NewMemory, StoredVector,
};
pub use memory_blocks::{MEMORY_BLOCK, MemorySlot, memory_place};
pub use memory_rows::MemoryRows;
pub use proposal::{
    ChangeKind, Decision, FileChange, NewProposal, Proposal, ProposalId, ProposalSummary, State,
};
pub use proposals::{MAX_FILE_BYTES, MAX_PENDING, MAX_PROPOSAL_BYTES};
pub use queue::Ticket;
pub use reader::Reader;
pub use refusals::{MAX_OPEN_REFUSALS, Refusal, RefusalId, RefusalState};
pub use schedules::{MAX_PROMPT_BYTES, MAX_SCHEDULES, NewSchedule, Schedule, ScheduleId, When};
pub use session::{MAX_CANARIES, NewSession, Session, SessionId};
pub use sessions::MAX_SESSIONS_LISTED;
pub use store::{Durability, Options, Store};
pub use tasks::{
    MAX_DETAIL_BYTES, MAX_OPEN_TASKS, MAX_TASKS_LISTED, MAX_TITLE_BYTES, NewTask, Task, TaskChange,
    TaskFilter, TaskId, TaskState,
};
pub use todos::{MAX_TODO_CHARS, MAX_TODOS, TodoItem, TodoState};
pub use tracked::{Tracked, TrackedSet};
pub use turn::{
    FinishedTurn, MAX_ANSWER_BYTES, MAX_MESSAGE_BYTES, MAX_TURN_BYTES, RunningTurn, Turn, TurnEnd,
    TurnMessages, TurnNumber, TurnRange, TurnState, Usage,
};
pub use verification::{Fault, Note, Verification};
pub use write::Write;
pub use writer::AuditWriter;
