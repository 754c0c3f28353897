//! What agents, their host and model providers say to each other.
//!
//! This crate owns the actions an agent may ask for ([`Action`]), their strict schemas
//! ([`schema()`]), the frames they travel in (one JSON object a line, over a Unix socket), the
//! [`Job`] an agent is started with, the [`AgentEvent`]s it writes, and the formats of model providers
//! ([`Provider`]). It decides nothing: the host decides whether an action is carried out.
//!
//! ```
//! use foreword_protocol::{Action, Call};
//!
//! let line = br#"{"id":1,"token":"t","action":"skill_read","args":{"name":"notes"}}"#;
//! let call = Call::parse(line)?;
//! assert_eq!(call.action.name(), "skill_read");
//! assert!(matches!(call.action, Action::SkillRead(ref args) if args.name == "notes"));
//!
//! let error = Call::parse(br#"{"id":2,"token":"t","action":"skill_eat"}"#).unwrap_err();
//! assert_eq!(error.code.as_str(), "unknown_action");
//! # Ok::<(), foreword_protocol::CallError>(())
//! ```

mod actions;
mod anthropic;
mod job;
mod model;
mod openai;
mod wire;

pub use actions::action::{
    Action, ActionInfo, AuditEntry, Caller, Effect, ResultTaint, Sensitivity, Waiting, actions,
};
pub use actions::args::{
    AuditReport, CallFault, ChainRun, ContentAdd, IdentityPropose, MemorySearch, MemoryWrite,
    ModelCall, Nothing, ResultRead, RuntimeContextArgs, ScheduleAdd, ScheduleRemove, SkillPropose,
    SkillRead, SpawnAgent, Stage, TaskCreate, TaskList, TaskUpdate, TodoItem, TodoWrite, ToolCall,
    ToolDescribe, ToolResult, ToolSearch, WebFetch, call_arguments,
};
pub use actions::local_tools::{LocalTool, local_tools};
pub use actions::schema::{action_schema, schema};
pub use actions::schema_check::{SchemaFault, check_arguments};
pub use foreword::{RunnerKind, SpawnMode, TaskState, TodoState, Usage};
pub use job::event::AgentEvent;
pub use job::{CliProgram, CommandTool, ConversationRoom, FileRules, Job, JobLimits};
pub use model::shorten::{Reading, left_out_note, shorten_result, shorten_result_to};
pub use model::{
    Answer, Block, BodyError, Content, Delta, MAX_ANSWER_BYTES, MAX_STREAM_LINE_BYTES, Message,
    ModelRequest, Provider, ProviderError, RequestFacts, Role, StopReason, StreamReader,
    SystemPart, ToolSpec, UsageReader, Utf8Pieces, system_text,
};
pub use wire::call::{Call, CallError, Rejected};
#[cfg(unix)]
pub use wire::client::{Client, ClientError};
pub use wire::frame::{FrameError, Frames, LineBudget};
pub use wire::peer::{PeerSocket, peer_socket};
pub use wire::reply::{ErrorCode, Failure, Reply, StreamPart};

/// The longest line of any call but `model_call`.
pub const MAX_CALL_BYTES: usize = 1 << 20;
/// The longest line of a `model_call`, which carries a whole conversation.
pub const MAX_MODEL_CALL_BYTES: usize = 32 << 20;
/// The longest line an agent may write on its standard output.
pub const MAX_EVENT_BYTES: usize = 16 << 20;
