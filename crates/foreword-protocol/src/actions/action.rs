//! The table of actions: one row says everything the host, the MCP server and the runners know
//! about an action without carrying it out.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::value::RawValue;

use crate::actions::args;

/// Who may call an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// Every agent, whatever tools its workspace gives it.
    EveryAgent,
    /// An agent that was given the tool of this name.
    AgentWithTool,
    /// The program around an agent: its runner or a channel adapter. Never offered to a model.
    Runner,
}

/// Whether untrusted content may trigger an action.
///
/// There is no default: whoever adds an action has to decide.
///
/// ```compile_fail
/// let unknown = foreword_protocol::Sensitivity::default();
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sensitivity {
    /// Allowed in any session.
    Ordinary,
    /// Refused in a tainted session until a person approves it.
    TaintGated,
}

/// Whether an action changes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It only reads.
    Reads,
    /// It changes something, or sends arguments out of the session.
    Changes,
}

/// Who writes the audit entry of a successful call. The host records every failed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditEntry {
    /// The host, after the action.
    AfterAction,
    /// The action itself, in the transaction of its change or with what it cost.
    WithChange,
}

/// Whether an action waits for something outside the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// It takes only the host's own time.
    Never,
    /// It may wait for a model, another agent or a web server.
    MayWait,
}

/// Who counts the result of an action in the session's taint ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultTaint {
    /// The action itself, which knows where each part of the result came from.
    ByAction,
    /// The host, when the agent reports the tool's result.
    ByHost,
}

/// A row of the table of actions.
#[derive(Clone, Copy, Debug)]
pub struct ActionInfo {
    pub name: &'static str,
    /// What it does, as a model reads it.
    pub description: &'static str,
    pub caller: Caller,
    pub sensitivity: Sensitivity,
    pub effect: Effect,
    pub audit: AuditEntry,
    pub waiting: Waiting,
    pub result_taint: ResultTaint,
    pub(crate) schema: fn(&mut SchemaGenerator) -> Schema,
}

impl ActionInfo {
    /// The action of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        ACTIONS.iter().copied().find(|action| action.name == name)
    }

    /// The action behind a tool of this name. Tool and action have the same name.
    pub fn tool(name: &str) -> Option<&'static Self> {
        Self::named(name).filter(|action| action.is_tool())
    }

    /// Whether an agent may have it as a tool.
    pub fn is_tool(&self) -> bool {
        self.caller != Caller::Runner
    }

    /// Whether it is refused where skills are off (`allow_skills = false`).
    pub fn needs_skills(&self) -> bool {
        matches!(self.name, "skill_list" | "skill_read" | "skill_propose")
    }

    /// Whether it is refused in tainted sessions.
    pub fn is_sensitive(&self) -> bool {
        self.sensitivity == Sensitivity::TaintGated
    }
}

macro_rules! actions {
    ($($variant:ident($args:ident) = $name:literal: $caller:ident, $sensitivity:ident, $effect:ident, $audit:ident, $waiting:ident, $result_taint:ident, $text:literal;)*) => {
        /// A request from an agent to its host.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Action {
            $(#[doc = $text] $variant(args::$args),)*
        }

        #[expect(non_upper_case_globals, reason = "each row is named after its variant")]
        mod rows {
            use super::*;
            $(pub(super) static $variant: ActionInfo = ActionInfo {
                name: $name,
                description: $text,
                caller: Caller::$caller,
                sensitivity: Sensitivity::$sensitivity,
                effect: Effect::$effect,
                audit: AuditEntry::$audit,
                waiting: Waiting::$waiting,
                result_taint: ResultTaint::$result_taint,
                schema: <args::$args as JsonSchema>::json_schema,
            };)*
        }

        static ACTIONS: &[&ActionInfo] = &[$(&rows::$variant,)*];

        impl Action {
            /// Its row of the table.
            pub fn info(&self) -> &'static ActionInfo {
                match self { $(Self::$variant(_) => &rows::$variant,)* }
            }

            pub fn name(&self) -> &'static str {
                self.info().name
            }

            /// Parses the arguments of the named action; `None` if the name is unknown.
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
    };
}

actions! {
    SkillList(Nothing) = "skill_list":
        EveryAgent, Ordinary, Reads, AfterAction, Never, ByHost,
        "List the available skills.";
    SkillRead(SkillRead) = "skill_read":
        EveryAgent, Ordinary, Reads, AfterAction, Never, ByAction,
        "Read a skill by name.";
    SkillPropose(SkillPropose) = "skill_propose":
        AgentWithTool, TaintGated, Changes, AfterAction, Never, ByHost,
        "Propose a new or changed skill.";
    IdentityPropose(IdentityPropose) = "identity_propose":
        AgentWithTool, TaintGated, Changes, WithChange, Never, ByHost,
        "Propose a change to an identity file; a person decides.";
    MemorySearch(MemorySearch) = "memory_search":
        AgentWithTool, Ordinary, Reads, AfterAction, Never, ByAction,
        "Search saved memories.";
    MemoryWrite(MemoryWrite) = "memory_write":
        AgentWithTool, TaintGated, Changes, AfterAction, Never, ByHost,
        "Save a memory.";
    AuditReport(AuditReport) = "audit_report":
        EveryAgent, Ordinary, Changes, WithChange, Never, ByHost,
        "Record a significant action in the audit log.";
    ContentAdd(ContentAdd) = "content_add":
        Runner, Ordinary, Changes, AfterAction, Never, ByAction,
        "Add external content to the session.";
    WebFetch(WebFetch) = "web_fetch":
        AgentWithTool, Ordinary, Changes, AfterAction, MayWait, ByAction,
        "Fetch a page from a host the workspace allows.";
    SpawnAgent(SpawnAgent) = "spawn_agent":
        AgentWithTool, TaintGated, Changes, AfterAction, MayWait, ByAction,
        "Start another agent on a piece of work.";
    ChainRun(ChainRun) = "chain_run":
        AgentWithTool, TaintGated, Changes, AfterAction, MayWait, ByAction,
        "Run agents one after another.";
    TaskCreate(TaskCreate) = "task_create":
        AgentWithTool, Ordinary, Changes, WithChange, Never, ByHost,
        "Create a task.";
    TaskList(TaskList) = "task_list":
        AgentWithTool, Ordinary, Reads, AfterAction, Never, ByAction,
        "List tasks and their state.";
    TaskUpdate(TaskUpdate) = "task_update":
        AgentWithTool, Ordinary, Changes, WithChange, Never, ByAction,
        "Update the state or text of a task.";
    TodoRead(Nothing) = "todo_read":
        AgentWithTool, Ordinary, Reads, AfterAction, Never, ByHost,
        "Read your to-do list.";
    TodoWrite(TodoWrite) = "todo_write":
        AgentWithTool, Ordinary, Changes, WithChange, Never, ByHost,
        "Write your to-do list.";
    ScheduleAdd(ScheduleAdd) = "schedule_add":
        AgentWithTool, TaintGated, Changes, WithChange, Never, ByHost,
        "Run something later, once or on a schedule.";
    ScheduleList(Nothing) = "schedule_list":
        AgentWithTool, Ordinary, Reads, AfterAction, Never, ByAction,
        "List scheduled entries.";
    ScheduleRemove(ScheduleRemove) = "schedule_remove":
        AgentWithTool, TaintGated, Changes, WithChange, Never, ByHost,
        "Remove an entry from the schedule.";
    ToolDescribe(ToolDescribe) = "tool_describe":
        EveryAgent, Ordinary, Reads, AfterAction, Never, ByHost,
        "Describe a tool in full.";
    ToolSearch(ToolSearch) = "tool_search":
        AgentWithTool, Ordinary, Reads, AfterAction, Never, ByAction,
        "Search the tools that are not listed, by one thing you need, in your own words.";
    ToolCall(ToolCall) = "tool_call":
        AgentWithTool, Ordinary, Changes, AfterAction, MayWait, ByHost,
        "Call a tool that `tool_search` found.";
    SessionStatus(Nothing) = "session_status":
        EveryAgent, Ordinary, Reads, AfterAction, Never, ByHost,
        "Show the state of this session: taint, turns, sandbox.";
    ResultRead(ResultRead) = "result_read":
        EveryAgent, Ordinary, Reads, AfterAction, Never, ByAction,
        "Read a tool result of an earlier turn that was shortened.";
    ToolList(Nothing) = "tool_list":
        Runner, Ordinary, Reads, AfterAction, Never, ByAction,
        "List the agent's tools with their schemas and commands.";
    ToolInvoke(ToolCall) = "tool_invoke":
        Runner, Ordinary, Changes, AfterAction, MayWait, ByHost,
        "Call one of the agent's tools that an MCP server carries out.";
    ToolPermit(ToolCall) = "tool_permit":
        Runner, Ordinary, Changes, WithChange, MayWait, ByAction,
        "Ask whether the permissions allow a call that the runner carries out.";
    ToolResult(ToolResult) = "tool_result":
        Runner, Ordinary, Changes, WithChange, Never, ByAction,
        "Report the result of a tool, and get it as the model may read it.";
    ModelCall(ModelCall) = "model_call":
        Runner, Ordinary, Changes, WithChange, MayWait, ByHost,
        "Call the model with the session's prompt.";
}

/// All actions, in the order of the table.
pub fn actions() -> &'static [&'static ActionInfo] {
    ACTIONS
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A new action shows up here with the decisions that its author took.
    #[test]
    fn every_action_states_its_sensitivity_and_its_audit_entry() {
        let rows: Vec<String> = actions()
            .iter()
            .map(|action| {
                format!(
                    "{} {:?} {:?} {:?} {:?} {:?} {:?}",
                    action.name,
                    action.caller,
                    action.sensitivity,
                    action.effect,
                    action.audit,
                    action.waiting,
                    action.result_taint
                )
            })
            .collect();
        insta::assert_snapshot!(rows.join("\n"), @"
        skill_list EveryAgent Ordinary Reads AfterAction Never ByHost
        skill_read EveryAgent Ordinary Reads AfterAction Never ByAction
        skill_propose AgentWithTool TaintGated Changes AfterAction Never ByHost
        identity_propose AgentWithTool TaintGated Changes WithChange Never ByHost
        memory_search AgentWithTool Ordinary Reads AfterAction Never ByAction
        memory_write AgentWithTool TaintGated Changes AfterAction Never ByHost
        audit_report EveryAgent Ordinary Changes WithChange Never ByHost
        content_add Runner Ordinary Changes AfterAction Never ByAction
        web_fetch AgentWithTool Ordinary Changes AfterAction MayWait ByAction
        spawn_agent AgentWithTool TaintGated Changes AfterAction MayWait ByAction
        chain_run AgentWithTool TaintGated Changes AfterAction MayWait ByAction
        task_create AgentWithTool Ordinary Changes WithChange Never ByHost
        task_list AgentWithTool Ordinary Reads AfterAction Never ByAction
        task_update AgentWithTool Ordinary Changes WithChange Never ByAction
        todo_read AgentWithTool Ordinary Reads AfterAction Never ByHost
        todo_write AgentWithTool Ordinary Changes WithChange Never ByHost
        schedule_add AgentWithTool TaintGated Changes WithChange Never ByHost
        schedule_list AgentWithTool Ordinary Reads AfterAction Never ByAction
        schedule_remove AgentWithTool TaintGated Changes WithChange Never ByHost
        tool_describe EveryAgent Ordinary Reads AfterAction Never ByHost
        tool_search AgentWithTool Ordinary Reads AfterAction Never ByAction
        tool_call AgentWithTool Ordinary Changes AfterAction MayWait ByHost
        session_status EveryAgent Ordinary Reads AfterAction Never ByHost
        result_read EveryAgent Ordinary Reads AfterAction Never ByAction
        tool_list Runner Ordinary Reads AfterAction Never ByAction
        tool_invoke Runner Ordinary Changes AfterAction MayWait ByHost
        tool_permit Runner Ordinary Changes WithChange MayWait ByAction
        tool_result Runner Ordinary Changes WithChange Never ByAction
        model_call Runner Ordinary Changes WithChange MayWait ByHost
        ");
    }

    #[test]
    fn what_needs_skills_is_every_action_about_them() {
        for action in actions() {
            assert_eq!(action.needs_skills(), action.name.starts_with("skill_"), "{}", action.name);
        }
    }

    #[test]
    fn what_is_sensitive_changes_something_and_is_offered_to_chosen_agents_only() {
        for action in actions().iter().filter(|action| action.is_sensitive()) {
            assert_eq!(action.effect, Effect::Changes, "{}", action.name);
            assert_eq!(action.caller, Caller::AgentWithTool, "{}", action.name);
        }
    }
}
