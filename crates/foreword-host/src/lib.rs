//! Runs agents in sandboxes, with a prompt they cannot change and actions they cannot exceed.
//!
//! This crate owns sessions and turns, the taint ledger, the session's socket and the actions behind
//! it, the way to the model, and agents that agents start. It gathers a Context with foreword-gather
//! and renders it with the core to know what the agent must send to the model; it writes no prompt of
//! its own. Clock, environment and paths come from the caller of [`Host::open`].
//!
//! | folder | what it is |
//! |---|---|
//! | `turn/` | one turn, from its request to its report |
//! | `mcp/` | MCP servers whose tools agents call |
//! | `model/` | the proxy between an agent and the model server |
//! | `spending/` | limits on tokens, money and time |
//! | `actions/` | what an agent may ask the host to do |
//! | `governance/` | what agents may not change on their own |
//! | `schedule/` | turns that start without a message |
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests look at what was written"))]

mod actions;
mod client_session;
mod error;
mod governance;
mod host;
mod kept_output;
mod mcp;
mod model;
mod prompt_log;
mod random;
mod retention;
mod schedule;
mod spending;
#[cfg(test)]
mod testing;
mod tools;
mod turn;

pub use client_session::ClientSession;
pub use error::HostError;
pub use foreword_guard::TaintLevel;
pub use foreword_protocol::RunnerKind;
pub use governance::{
    DisclosedCommand, DisclosedFile, DisclosedModel, DisclosedSetting, DisclosedSkill,
    DisclosedSkillFile, Disclosure, GovernanceError, PermissionAnswer, PermissionQuestion,
    decide_call, what_it_gives_away,
};
pub use host::{Environment, Host, HostOptions};
pub use mcp::review::{DisclosedServer, ServerReview};
pub use model::second_opinion::ModelOpinion;
pub use model::upstream::read_key;
pub use prompt_log::{filtered_count, log_prompt};
pub use schedule::{Cron, CronError, Wakeup, WakeupReport};
pub use spending::{
    DEFAULT_LIMITS, LimitReached, Limits, Measure, Period, dollars, load_prices, usd,
};
pub use turn::agent_tree::AgentTree;
pub use turn::compact::NOT_SUMMARISED;
pub use turn::compose::ComposedTurn;
pub use turn::invoked_skill::{OfferedSkill, SkillCall, named_skill};
pub use turn::prepare::PreparedTurn;
pub use turn::report::{
    HeldFile, MovedFile, Observer, RefusedCall, RunnableFile, Scans, TurnChanges, TurnCompaction,
    TurnReport,
};
pub use turn::request::{External, Origin, TurnRequest};
pub use turn::sandbox::WeakerSandbox;
pub use turn::session_socket::SessionSocket;
pub use turn::warning::{ReadBy, Warning};
