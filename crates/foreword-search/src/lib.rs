//! Search: which tools, skills and memories fit a task, in any of sixteen languages.
//!
//! This crate owns the lexical index, the exact vector scan, selection with its reasons and measures,
//! and memory recall ([`MemoryEngine`]). Items and limits come in, ranked items go out, the same for
//! the same input. It must not know of prompts or settings, and reads no clock and no environment.
//!
//! ```
//! use foreword_search::{Item, Kind, Limits, Query, Reason, Selector};
//!
//! let item = |name, text| Item { kind: Kind::Tool, name, text, vector: None };
//! let items = [item("play_music", "Plays a song"), item("set_alarm", "Rings at a given time")];
//! let selector = Selector::new(&items)?;
//!
//! let query = Query { text: "play me a song", vector: None, mode_base: &[], offered: &[] };
//! let selection = selector.select(&query, &Limits::default())?;
//! assert_eq!(selection.picked[0].index, 0);
//! assert_eq!(selection.picked[0].reasons, [Reason::Score]);
//! # Ok::<(), foreword_embed::Incomparable>(())
//! ```

mod index;
mod memory;
mod select;

pub use index::flat::IndexError;
pub use index::lexical::{LexicalIndex, LexicalScores};
pub use index::named::NameIndex;
pub use index::vectors::VectorIndex;
pub use index::words::embedding_text;
pub use memory::{
    Batch, Chat, ChatError, Hit, Imported, KindFilter, Line, LineError, Memories, MemoryEngine,
    MemoryEntry, MemoryError, MemoryKind, MemoryScope, NewEntry, Recall, RecallOutcome,
    RecallParts, RecallSummary, Recalled, Reindexed, written_date,
};
pub use select::background::{background, background_requests};
pub use select::fusion::Parts;
pub use select::measures::{Outcome, Summary, auroc};
pub use select::selector::{
    Item, Kind, Limits, Picked, Query, Ranked, Reason, Selection, Selector,
};
