//! The half of an agent that runs inside the sandbox.
//!
//! This crate owns what happens between a [`Job`](foreword_protocol::Job) on standard input and the
//! [`AgentEvent`](foreword_protocol::AgentEvent)s on standard output: it renders the prompt, and runs a
//! loop of its own (`native`) or that of the `claude` or `pi` program, which reach the model
//! through a bridge on 127.0.0.1. It holds no credential and decides nothing that matters: the
//! model and every tool that reaches out of the sandbox are asked for over the host's socket.
//!
//! [`run`] is what the command `foreword agent` calls:
//!
//! ```
//! use foreword_agent::{Surroundings, run};
//!
//! let surroundings = Surroundings { variables: Vec::new(), temp_dir: std::env::temp_dir() };
//! let mut events = Vec::new();
//! let outcome = run("what is up?".as_bytes(), &mut events, &surroundings);
//! assert!(!outcome.is_done());
//! assert!(String::from_utf8_lossy(&events).starts_with(r#"{"type":"error","message":"#));
//! ```

#![cfg(unix)]

mod bridge;
mod cli;
mod error;
mod events;
mod host;
mod job;
mod leash;
mod native;
mod output;
mod private_dir;
mod room;
mod run;
mod tools;
mod watch;

pub use host::{check_call, run_command};
pub use job::MAX_JOB_BYTES;
pub use run::{Outcome, Surroundings, run};
pub use watch::close_to_others;
