//! Calls and replies, one JSON object a line.

pub(crate) mod call;
#[cfg(unix)]
pub(crate) mod client;
pub(crate) mod frame;
pub(crate) mod peer;
pub(crate) mod reply;
#[cfg(target_os = "linux")]
mod sock_diag;
