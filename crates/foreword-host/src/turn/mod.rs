//! One turn: a message goes in, the agent works in its sandbox, an answer comes out or is held back.
//!
//! How a turn flows through this folder:
//!
//! 1. A [`TurnRequest`](request::TurnRequest) says what to do, and waits at the `start_gate` until few other
//!    turns are starting. `compose` gathers the prompt, the
//!    tools, the `history` and the `sandbox`; `prepare` adds the model. Neither changes anything.
//! 2. `run` checks trust, has `scan` judge the message, and has `record` start the turn in the
//!    database, which refuses a session that is busy or has changed.
//! 3. `launch` writes the agent's job; `process` starts the agent; `server` answers its calls on the
//!    socket in `run_dir`. Both work on one `active_session`.
//! 4. `agent_output` reads the agent's events, shows what is safe, and ends the turn when a canary
//!    token appears.
//! 5. `run` quarantines governed files that the agent created; `record` finishes the turn in one
//!    transaction; `compact` makes room if the conversation has grown long. A turn whose host dies is
//!    recorded as lost by the next host (`process_identity`).

pub(crate) mod active_session;
pub(crate) mod activity;
mod agent_output;
pub(crate) mod agent_tree;
mod answer_text;
pub(crate) mod compact;
pub(crate) mod compose;
mod history;
pub(crate) mod invoked_skill;
mod launch;
pub(crate) mod named_files;
pub(crate) mod prepare;
mod process;
pub(crate) mod process_identity;
mod rate_limit;
mod record;
pub(crate) mod report;
pub(crate) mod request;
mod run;
pub(crate) mod run_dir;
pub(crate) mod runner;
pub(crate) mod sandbox;
pub(crate) mod scan;
pub(crate) mod server;
pub(crate) mod session_socket;
pub(crate) mod start_gate;
pub(crate) mod tainted_files;
pub(crate) mod tool_results;
mod transcript;
pub(crate) mod trusted_files;
pub(crate) mod warning;
