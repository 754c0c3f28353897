//! Agents: their headers, identity files, instructions and prompts.

pub(crate) mod agent;
pub(crate) mod header;
pub(crate) mod identity;
pub(crate) mod instructions;
pub(crate) mod names;
pub(crate) mod prompts;
pub(crate) mod roster;
