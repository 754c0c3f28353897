//! What agents may not change by themselves: trust, quarantine, grants and identity files.

pub(crate) mod grants;
pub(crate) mod identity;
pub(crate) mod trust;

pub(crate) mod quarantine;
pub(crate) mod trust_store;
