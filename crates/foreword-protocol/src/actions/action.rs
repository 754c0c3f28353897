//! The actions, in one table: name, arguments, who may ask, what it does.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::value::RawValue;

use crate::actions::args;

/// Whom an action is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// A tool that an agent may be given.
    Agent,
    /// The machinery around an agent: its runner, a channel adapter.
    Machinery,
}

/// What is known of an action without carrying it out.
#[derive(Clone, Copy, Debug)]
pub struct ActionInfo {
    /// Its name.
    pub name: &'static str,
    /// What it does, as an agent reads it.
    pub description: &'static str,
    /// Whom it is for.
    pub who: Who,
    /// Is it refused in tainted sessions?
    pub sensitive: bool,
    /// Does it change anything?
    pub changes: bool,
    pub(crate) schema: fn(&mut SchemaGenerator) -> Schema,
}

macro_rules! actions {
    ($($variant:ident($args:ident) = $name:literal, $who:ident, $sensitive:literal, $changes:literal: $text:literal;)*) => {
        /// Something an agent asks its host to do.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Action {
            $(#[doc = $text] $variant(args::$args),)*
        }

        impl Action {
            /// Its name.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $name,)* }
            }

            /// Reads the arguments of an action; nothing if there is no such action.
            pub(crate) fn read(name: &str, args: &RawValue) -> Option<serde_json::Result<Self>> {
                Some(match name {
                    $($name => serde_json::from_str(args.get()).map(Self::$variant),)*
                    _ => return None,
                })
            }

            /// Its arguments, as they are sent.
            pub fn args(&self) -> serde_json::Result<Box<RawValue>> {
                match self { $(Self::$variant(args) => serde_json::value::to_raw_value(args),)* }
            }
        }

        const ACTIONS: &[ActionInfo] = &[
            $(ActionInfo {
                name: $name,
                description: $text,
                who: Who::$who,
                sensitive: $sensitive,
                changes: $changes,
                schema: <args::$args as JsonSchema>::json_schema,
            },)*
        ];
    };
}

actions! {
    SkillList(Nothing) = "skill_list", Agent, false, false: "List the skills there are.";
    SkillRead(SkillRead) = "skill_read", Agent, false, false: "Read a skill by name.";
    SkillPropose(SkillPropose) = "skill_propose", Agent, true, true: "Propose a new or changed skill.";
    IdentityPropose(IdentityPropose) = "identity_propose", Agent, true, true: "Propose a change of an identity file; a person decides.";
    MemorySearch(MemorySearch) = "memory_search", Agent, false, false: "Search what was remembered.";
    MemoryWrite(MemoryWrite) = "memory_write", Agent, true, true: "Remember something.";
    AuditReport(AuditReport) = "audit_report", Agent, false, true: "Put a significant action on record.";
    ContentAdd(ContentAdd) = "content_add", Machinery, false, true: "Bring external content into the session.";
    WebFetch(WebFetch) = "web_fetch", Agent, false, true: "Fetch a page from a host the workspace allows.";
    SpawnAgent(SpawnAgent) = "spawn_agent", Agent, true, true: "Start another agent on a piece of work.";
    ChainRun(ChainRun) = "chain_run", Agent, true, true: "Run agents one after another.";
    TaskCreate(TaskCreate) = "task_create", Agent, false, true: "Create a task.";
    TaskList(TaskList) = "task_list", Agent, false, false: "List tasks and their state.";
    TaskUpdate(TaskUpdate) = "task_update", Agent, false, true: "Change the state or the text of a task.";
    TodoRead(Nothing) = "todo_read", Agent, false, false: "Read your list of steps.";
    TodoWrite(TodoWrite) = "todo_write", Agent, false, true: "Write your list of steps.";
    ScheduleAdd(ScheduleAdd) = "schedule_add", Agent, true, true: "Run something later, once or on a schedule.";
    ScheduleList(Nothing) = "schedule_list", Agent, false, false: "List what is scheduled.";
    ScheduleRemove(ScheduleRemove) = "schedule_remove", Agent, true, true: "Take something off the schedule.";
    ToolDescribe(ToolDescribe) = "tool_describe", Agent, false, false: "Describe a tool in full.";
    SessionStatus(Nothing) = "session_status", Agent, false, false: "Tell the state of this session: taint, turns, sandbox.";
    ModelCall(ModelCall) = "model_call", Machinery, false, true: "Call the model with the session's prompt.";
}

/// All actions, in their order.
pub fn actions() -> &'static [ActionInfo] {
    ACTIONS
}
