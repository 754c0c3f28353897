//! The full model, USE-multilingual-v3: installing it and running it.

pub(crate) mod embedder;
pub(crate) mod file;
pub(crate) mod forward;
pub(crate) mod install;
pub(crate) mod installed;
pub(crate) mod zip;
