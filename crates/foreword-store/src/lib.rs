//! What Foreword remembers, in an embedded SQLite database: proposals, what the skill repository
//! holds, memories, and the audit chain.
//!
//! This crate owns the database file, the audit key and the head files that lie beside the key.
//! Rows and audit entries change together in one transaction ([`Store::write`]); reading never
//! waits for a writer ([`Reader`]). No SQL type leaves this crate. It reads no clock and no
//! environment: times, paths and actors are arguments.
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
mod error;
mod event;
mod heads;
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
mod reader;
mod schema;
mod store;
mod suspects;
mod tracked;
mod verification;
mod verify;
mod write;
mod writer;

pub use audit::{LogFilter, Order};
pub use chain::{Anchor, BadHex, Hash, Head, LogId};
pub use error::StoreError;
pub use event::{Entry, Event, Outcome};
pub use heads::Heads;
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
pub use reader::Reader;
pub use store::{Durability, Options, Store};
pub use tracked::{Tracked, TrackedSet};
pub use verification::{Fault, Note, Verification};
pub use write::Write;
pub use writer::{AuditWriter, Ticket};
