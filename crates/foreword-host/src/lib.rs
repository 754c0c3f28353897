//! Runs agents with the prompt they are due, and lets them reach nothing past it.
//!
//! This crate owns sessions and turns, the taint budget's ledger, the session's socket and the actions
//! behind it, the way to the model, and the agents that agents start. It gathers a Context with
//! foreword-gather and renders it with the core only to know what its agent must say to the model; it
//! builds no prompt of its own. Clock, environment and paths are given by whoever opens a [`Host`].

mod actions;
mod bucket;
mod error;
mod external;
mod heartbeat;
mod history;
mod host;
mod identity;
mod leave;
mod live;
mod local;
mod owner;
mod prepare;
mod process;
mod proxy;
mod run_dir;
mod runner;
mod server;
mod session_socket;
mod terms;
mod tools;
mod tree;
mod trust;
mod turn;
mod upstream;

pub use error::HostError;
pub use foreword_guard::TaintLevel;
pub use foreword_ipc::RunnerKind;
pub use foreword_sandbox::{Standing, TrustChange};
pub use heartbeat::{Waking, Woken};
pub use host::{Environment, Host, HostOptions};
pub use local::LocalSession;
pub use prepare::{External, Origin, Prepared, TurnRequest};
pub use session_socket::SessionSocket;
pub use tree::Tree;
pub use turn::{Observer, Scans, TurnReport};
pub use upstream::{Credential, Lookup, Upstream};
