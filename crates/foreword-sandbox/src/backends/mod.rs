//! One file per sandbox.

pub(crate) mod bwrap;
pub(crate) mod docker;
pub(crate) mod nsjail;
pub(crate) mod seatbelt;
pub(crate) mod subprocess;
