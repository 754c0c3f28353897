//! The git store: every change is one commit.

pub(crate) mod git_store;
pub(crate) mod history;
pub(crate) mod lock;
pub(crate) mod message;
pub(crate) mod private;
pub(crate) mod repository;
pub(crate) mod work_tree;
