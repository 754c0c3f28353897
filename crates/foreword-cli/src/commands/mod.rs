//! One file per command.

pub(crate) mod build;
pub(crate) mod diff;
pub(crate) mod explain;
pub(crate) mod init;
pub(crate) mod lint;
pub(crate) mod lock;
pub(crate) mod serve;
pub(crate) mod shell;
pub(crate) mod speed;
pub(crate) mod watch;
