//! The git store: every change is one commit.

pub(crate) mod git_store;
pub(crate) mod history;
pub(crate) mod lock;
pub(crate) mod message;
pub(crate) mod private_dir;
pub(crate) mod repository;
pub(crate) mod work_tree;
