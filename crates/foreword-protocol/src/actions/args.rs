//! The arguments of each action. Unknown fields are refused.

use std::collections::BTreeMap;

use foreword::{SpawnMode, TaskState, TodoState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::actions::schema::NameSchema;

macro_rules! args {
    ($($(#[$meta:meta])* pub struct $name:ident { $($body:tt)* })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub struct $name { $($body)* }
    )*};
}

args! {
    /// Nothing.
    pub struct Nothing {}

    /// Which skill to read.
    pub struct SkillRead {
        /// The skill's name.
        #[serde(alias = "skill")]
        pub name: String,
    }

    /// A new or changed skill.
    pub struct SkillPropose {
        /// The skill's name: lower-case letters, digits and hyphens.
        #[serde(alias = "name")]
        pub skill: String,
        /// The whole text, in Markdown; a missing header with name and description is added.
        pub content: String,
        /// Further text files by path below the skill's folder, such as `scripts/check.py`. Files that
        /// are not named stay as they are.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pub files: BTreeMap<String, String>,
        /// Why it is worth keeping.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub reason: Option<String>,
    }

    /// A changed identity file, which a person reviews.
    pub struct IdentityPropose {
        /// The file: SOUL.md, IDENTITY.md, USER.md, TOOLS.md, HEARTBEAT.md or CONTEXT.md.
        pub file: String,
        /// Its whole new text.
        pub content: String,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub reason: Option<String>,
    }

    /// What to look for in the memory.
    pub struct MemorySearch {
        /// What the memories should be about.
        pub query: String,
        /// Maximum number of results; 10 by default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub limit: Option<u32>,
    }

    /// Something to remember.
    pub struct MemoryWrite {
        /// What to remember, in one or a few sentences.
        pub text: String,
        /// The kind of memory: note, fact, preference or activity.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub kind: Option<String>,
        /// Importance, from 0 to 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub importance: Option<f64>,
    }

    /// An entry for the audit log.
    pub struct AuditReport {
        /// What happened, in a few words.
        pub event: String,
        /// More about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub detail: Option<String>,
    }

    /// Content from outside that enters the session.
    pub struct ContentAdd {
        /// Where it came from: a channel, a URL, a file.
        pub source: String,
        /// The text.
        pub content: String,
    }

    /// What a tool answered.
    pub struct ToolResult {
        /// The call it answers.
        pub id: String,
        /// The tool.
        pub name: String,
        /// What it was called with.
        pub input: serde_json::Value,
        /// The text; empty if there is a fault, because the host words that.
        pub content: String,
        /// Why the runner did not carry out the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub fault: Option<CallFault>,
    }

    /// An address to fetch.
    pub struct WebFetch {
        /// An http or https URL on a host the workspace allows.
        pub url: String,
    }

    /// Another agent to start.
    pub struct SpawnAgent {
        /// The agent's id.
        pub role: String,
        /// Where it works, inside the workspace.
        #[serde(default = "here")]
        pub cwd: String,
        /// What to ask it.
        pub prompt: String,
        /// A model to use instead of its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub model: Option<String>,
        /// How it is started; a sub-agent is told so in its prompt.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub runtime_context: Option<RuntimeContextArgs>,
    }

    /// How an agent is started.
    pub struct RuntimeContextArgs {
        /// top-level or sub-agent.
        #[serde(default)]
        #[schemars(with = "NameSchema<SpawnMode>")]
        pub mode: SpawnMode,
        /// The role of the agent that starts it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub parent_role: Option<String>,
        /// Its objective.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub objective: Option<String>,
        /// The task it works on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub task_id: Option<String>,
    }

    /// Agents to run one after another, each with the previous answer.
    pub struct ChainRun {
        /// The stages in order.
        pub stages: Vec<Stage>,
    }

    /// A stage of a chain.
    pub struct Stage {
        /// The agent's id.
        pub role: String,
        /// What to ask it.
        pub prompt: String,
        /// Where it works, inside the workspace.
        #[serde(default = "here")]
        pub cwd: String,
        /// A model to use instead of its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub model: Option<String>,
        /// How it is started; top-level by default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub runtime_context: Option<RuntimeContextArgs>,
    }

    /// A new task.
    pub struct TaskCreate {
        /// What to do, in one line.
        pub title: String,
        /// What has to be known to start.
        #[serde(default, alias = "detail", skip_serializing_if = "Option::is_none")]
        pub description: Option<String>,
        /// What must hold when it is done, one check each.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub acceptance_criteria: Vec<String>,
        /// The tasks that must be done first, by ID.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub dependencies: Vec<String>,
        /// The agent assigned to it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub assignee: Option<String>,
        /// A note for whoever works on it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub note: Option<String>,
    }

    /// Which tasks to list.
    pub struct TaskList {
        /// Only those in this state.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Option<NameSchema<TaskState>>")]
        pub state: Option<TaskState>,
        /// Only those of this agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub assignee: Option<String>,
    }

    /// What to change about a task.
    pub struct TaskUpdate {
        /// The task.
        pub id: String,
        /// Its new state.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Option<NameSchema<TaskState>>")]
        pub state: Option<TaskState>,
        /// Its new title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub title: Option<String>,
        /// Its new description, with acceptance criteria and dependencies.
        #[serde(default, alias = "detail", skip_serializing_if = "Option::is_none")]
        pub description: Option<String>,
        /// Acceptance criteria to add.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub acceptance_criteria: Vec<String>,
        /// Tasks to add that must be done first, by ID.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub dependencies: Vec<String>,
        /// A note to add: what changed, how it was checked, what is left.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub note: Option<String>,
        /// The agent assigned to it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub assignee: Option<String>,
    }

    /// The whole to-do list, which replaces the previous one.
    pub struct TodoWrite {
        /// The steps in order.
        pub items: Vec<TodoItem>,
    }

    /// A step.
    pub struct TodoItem {
        /// What to do.
        pub text: String,
        /// Its state.
        #[serde(default)]
        #[schemars(with = "NameSchema<TodoState>")]
        pub state: TodoState,
    }

    /// Something to run later: either `cron` or `at`.
    pub struct ScheduleAdd {
        /// Minute, hour, day of month, month, day of week, in UTC; or @hourly, @daily, @weekly.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub cron: Option<String>,
        /// A single time, such as 2026-02-26T14:30:00Z.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub at: Option<String>,
        /// What to ask the agent then.
        pub prompt: String,
        /// The agent; yourself by default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub agent: Option<String>,
    }

    /// Which entry to remove from the schedule.
    pub struct ScheduleRemove {
        /// The entry.
        pub id: String,
    }

    /// Which tool result to read again.
    pub struct ResultRead {
        /// The turn that the note in the result names.
        pub turn: u64,
        /// The ID of the call that the note names.
        pub id: String,
    }

    /// Which tool to describe.
    pub struct ToolDescribe {
        /// The tool's name.
        pub name: String,
    }

    /// What a tool is needed for.
    pub struct ToolSearch {
        /// What the tool has to do, in a few words of your own, or a tool's exact name to see its arguments.
        /// Search again for another need.
        pub need: String,
    }

    /// A tool and what it is called with.
    pub struct ToolCall {
        /// The tool's name, as `tool_search` gives it.
        pub name: String,
        /// Its arguments, as its schema says.
        #[serde(default, deserialize_with = "arguments")]
        pub arguments: serde_json::Map<String, serde_json::Value>,
    }
}

/// Why a runner did not carry out a call. It has no text: the host knows which words are its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CallFault {
    /// The tool was not sent to the model.
    NotSent,
    /// The arguments are not those of the tool.
    Arguments,
    /// The turn has used up its calls of the model.
    StepLimit,
    /// The runner failed.
    Runner,
}

/// The arguments of a call, also where a model wrote the object as a text; `None` if they are no object.
pub fn call_arguments(
    arguments: &serde_json::Value,
) -> Option<serde_json::Map<String, serde_json::Value>> {
    match arguments {
        serde_json::Value::Object(arguments) => Some(arguments.clone()),
        serde_json::Value::String(text) => serde_json::from_str(text).ok(),
        _ => None,
    }
}

fn arguments<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<serde_json::Map<String, serde_json::Value>, D::Error> {
    let given = serde_json::Value::deserialize(deserializer)?;
    call_arguments(&given).ok_or_else(|| {
        serde::de::Error::custom("`arguments` must be a JSON object, such as {\"text\": \"hello\"}")
    })
}

fn here() -> String {
    ".".to_owned()
}

/// A call of the model. The host adds the credential and answers with a stream of parts.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ModelCall {
    /// The provider's path, such as `/v1/messages`.
    pub path: String,
    /// Headers the provider needs to read the body; only those the host knows are passed on.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The request body, passed on byte for byte.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub body: Box<RawValue>,
}

impl ModelCall {
    /// A call with this body. Line breaks between the tokens of the JSON become spaces, because a
    /// call is one line; nothing else changes.
    pub fn new(path: impl Into<String>, body: String) -> serde_json::Result<Self> {
        let body = if body.contains(['\n', '\r']) { body.replace(['\n', '\r'], " ") } else { body };
        Ok(Self { path: path.into(), headers: BTreeMap::new(), body: RawValue::from_string(body)? })
    }
}

impl PartialEq for ModelCall {
    fn eq(&self, other: &Self) -> bool {
        (&self.path, &self.headers, self.body.get())
            == (&other.path, &other.headers, other.body.get())
    }
}
