//! Finds the right tools, skills and memories for a task, in any of sixteen languages.
//!
//! This crate owns embedders ([`Embedder`]: `static`, `use`, `http`), the lexical index, the exact
//! vector scan, the fusion of both, selection with its reasons, and the measures by which all of
//! that is judged. It must not know of prompts, stores or settings: items and limits come in,
//! ranked items go out, the same for the same input. It reads no clock and no environment; only
//! the embedders that need them touch a file or the network.
//!
//! ```
//! use foreword_semantic::{Item, Kind, Limits, Query, Reason, Selector};
//!
//! let item = |name, text| Item { kind: Kind::Tool, name, text, vector: None };
//! let items = [item("play_music", "Plays a song"), item("set_alarm", "Rings at a given time")];
//! let selector = Selector::new(&items)?;
//!
//! let query = Query { text: "play me a song", vector: None, mode_base: &[], offered: &[] };
//! let selection = selector.select(&query, &Limits::default())?;
//! assert_eq!(selection.picked[0].index, 0);
//! assert_eq!(selection.picked[0].reasons, [Reason::Score]);
//! # Ok::<(), foreword_semantic::Incomparable>(())
//! ```

mod background;
mod double_array;
#[cfg(test)]
mod double_array_build;
mod embedder;
mod flat;
mod fusion;
mod grams;
mod http_embedder;
mod http_settings;
mod injection;
mod installed;
mod lexical;
mod measures;
mod named;
mod postings;
mod scan;
mod selector;
#[cfg(test)]
mod selector_tests;
mod sentence_piece;
mod static_embedder;
#[cfg(test)]
mod static_pack;
mod static_table;
#[cfg(test)]
mod static_tests;
mod terms;
mod use_embedder;
mod use_file;
mod use_forward;
mod use_install;
mod vector;
mod words;
mod zip;

pub use background::{background, background_requests};
pub use embedder::{Counted, EmbedError, Embedder};
pub use flat::IndexError;
pub use fusion::{Calibration, Parts};
pub use http_embedder::HttpEmbedder;
pub use http_settings::{ApiKey, HttpSettings};
pub use injection::{
    Example, GroupFigures, InjectionFigures, InjectionScreener, Judged, Patterns, Scan,
    ScanVerdict, Scanner, TrainingWindow, injection_examples, training_windows,
};
pub use installed::{
    InstallError, USE_PACKAGE, USE_PACKAGE_SHA256, USE_PACKAGE_VERSION, install_use_model,
    use_model_path,
};
pub use lexical::{LexicalIndex, LexicalScores};
pub use measures::{Outcome, Summary, auroc};
pub use named::NameIndex;
pub use scan::VectorIndex;
pub use selector::{Item, Kind, Limits, Picked, Query, Ranked, Reason, Selection, Selector};
pub use static_embedder::StaticEmbedder;
pub use use_embedder::UseEmbedder;
pub use use_install::use_model_from_wheel;
pub use vector::{EmbedderId, Incomparable, Vector};
pub use words::{each_term, embedding_text};
