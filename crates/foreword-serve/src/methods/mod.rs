//! The methods: one file per subject, with the parameters, the answer and what is done.
//!
//! To add a method, write its parameters, its answer and a function in one of these files, and add it to
//! the table in `service.rs`.

pub mod memory;
pub(crate) mod prompt;
pub(crate) mod requests;
pub(crate) mod select;
pub mod skills;
pub(crate) mod text;
pub(crate) mod workspace_files;
