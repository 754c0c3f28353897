//! The actions an agent may ask the host for.

pub(crate) mod action;
pub(crate) mod args;
pub(crate) mod local_tools;
pub(crate) mod schema;
pub(crate) mod schema_check;
