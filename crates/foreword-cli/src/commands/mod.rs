//! One file per command.

pub(crate) mod agent;
pub(crate) mod approve;
pub(crate) mod audit;
pub(crate) mod build;
pub(crate) mod diff;
pub(crate) mod eval_assemble;
pub(crate) mod eval_injection;
pub(crate) mod eval_run;
pub(crate) mod explain;
pub(crate) mod index;
pub(crate) mod init;
pub(crate) mod lint;
pub(crate) mod lock;
pub(crate) mod memory;
pub(crate) mod model;
pub(crate) mod pip;
pub(crate) mod retrieval_eval;
pub(crate) mod run;
pub(crate) mod scan;
pub(crate) mod schema;
pub(crate) mod screen_eval;
pub(crate) mod serve;
pub(crate) mod shell;
pub(crate) mod skill;
pub(crate) mod speed;
pub(crate) mod watch;
