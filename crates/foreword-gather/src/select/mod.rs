//! What fits a task: embeddings, the index, recall, and the selection made with them.

pub(crate) mod embedders;
pub(crate) mod guard;
pub(crate) mod index;
pub(crate) mod index_file;
pub(crate) mod mode_examples;
pub(crate) mod pool;
pub(crate) mod recall;
pub(crate) mod semantics;
pub(crate) mod task_cache;
