//! Proposals, and what the skill repository holds.

pub(crate) mod proposal;
pub(crate) mod proposals;
pub(crate) mod tracked;
