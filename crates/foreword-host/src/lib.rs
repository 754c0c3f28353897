//! Runs agents with the prompt they are due, and lets them reach nothing past it.
//!
//! This crate owns sessions and turns, the taint budget's ledger, the session's socket and the actions
//! behind it, the way to the model, and the agents that agents start. It gathers a Context with
//! foreword-gather and renders it with the core only to know what its agent must say to the model; it
//! builds no prompt of its own. Clock, environment and paths are given by whoever opens a [`Host`].

mod actions;
mod client_session;
mod error;
mod governance;
mod host;
mod model;
mod random;
mod schedule;
#[cfg(test)]
mod testing;
mod tools;
mod turn;

pub use client_session::ClientSession;
pub use error::HostError;
pub use foreword_guard::TaintLevel;
pub use foreword_protocol::RunnerKind;
pub use governance::trust_store::{Standing, TrustChange};
pub use host::{Environment, Host, HostOptions};
pub use model::upstream::{Lookup, Upstream};
pub use schedule::cron::{Cron, CronError};
pub use schedule::heartbeat::{Wakeup, WakeupReport};
pub use turn::agent_tree::AgentTree;
pub use turn::prepare::{External, Origin, PreparedTurn, TurnRequest};
pub use turn::session_socket::SessionSocket;
pub use turn::{Observer, Scans, TurnReport};
