//! Memories: stored once, recalled by meaning and by words.
//!
//! [`MemoryEngine`] searches memories: candidates by vectors and by words, one calibrated score for
//! both, decay with age, diversity and a threshold. [`Memories`] checks, embeds and stores them. The
//! rows belong to `foreword-store`. A search never embeds a memory.
//!
//! ```
//! use foreword_search::{Memories, MemoryEngine, NewEntry, Recall};
//! use foreword_embed::{Embedder as _, StaticEmbedder};
//! use foreword_store::{AuditKey, Heads, Store};
//!
//! # let workspace = tempfile::tempdir()?;
//! # let config = tempfile::tempdir()?;
//! # let database = workspace.path().join("foreword.db");
//! # let key = AuditKey::load_or_create(&config.path().join("foreword"))?;
//! let store = Store::open(&database, key, Heads::new(config.path()))?;
//! let embedder = StaticEmbedder::embedded()?;
//! let now_ms = 1_772_000_000_000;
//! let memories = Memories::new(&store, Some(&embedder));
//! memories.add("user:ada", now_ms, NewEntry::new("Ada prefers tabs over spaces"))?;
//!
//! let engine = MemoryEngine::open_read(&database)?.expect("there is a memory");
//! let task = "which indentation does Ada prefer, tabs or spaces?";
//! let vector = embedder.embed(&[task])?.remove(0);
//! let found = engine.recall(&Recall { vector: Some(&vector), ..Recall::new(task, now_ms) })?;
//! assert_eq!(found.hits[0].entry.text, "Ada prefers tabs over spaces");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cache;
mod candidates;
mod chat;
mod code;
mod days;
mod diversity;
mod engine;
mod error;
mod index;
mod likeness;
mod line;
mod measures;
mod memories;
mod nearest;
mod number_map;
mod question;
mod recall;
mod score;
mod sketch;
mod speaker;
mod split;
mod synonyms;
mod words;

pub use chat::{Chat, ChatError};
pub use days::written_date;
pub use engine::MemoryEngine;
pub use error::MemoryError;
pub use foreword_store::{MemoryEntry, MemoryKind, MemoryScope};
pub use line::{Line, LineError};
pub use measures::{RecallOutcome, RecallSummary};
pub use memories::{Batch, Imported, Memories, NewEntry, Reindexed};
pub use recall::{Hit, KindFilter, Recall, RecallParts, Recalled};
