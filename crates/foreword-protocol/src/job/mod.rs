//! What the host writes to the standard input of an agent: everything the prompt and the loop need.

pub(crate) mod event;

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::model::{Message, Provider, ToolSpec};
use foreword::{BlueprintSource, Context, RunnerKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A program of somebody else's that runs the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CliProgram {
    /// The program, as it is found inside the sandbox.
    pub program: PathBuf,
    /// Arguments before all others.
    #[serde(default)]
    pub args: Vec<String>,
}

/// A tool of the workspace that a program inside the sandbox carries out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommandTool {
    /// The program and its arguments. `{name}` stands for an argument of the call; without any, the
    /// program reads all arguments as JSON on standard input.
    pub command: Vec<String>,
    /// Arguments that a call may leave out, with the values that its schema gives them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub defaults: BTreeMap<String, Value>,
    /// Where it runs.
    pub cwd: PathBuf,
    /// Seconds it may run.
    pub seconds: u64,
    /// Bytes of its output that the model sees.
    pub max_output_bytes: usize,
}

impl CommandTool {
    /// The arguments of a call, with the defaults of those that it left out. Rules are compared with these,
    /// because the program gets them.
    #[must_use]
    pub fn arguments(&self, input: &Value) -> Value {
        let mut input = input.clone();
        if let Value::Object(arguments) = &mut input {
            for (name, value) in &self.defaults {
                if arguments.get(name).is_none_or(Value::is_null) {
                    arguments.insert(name.clone(), value.clone());
                }
            }
        }
        input
    }
}

/// What bounds a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct JobLimits {
    /// Calls of the model.
    pub max_steps: u32,
    /// Seconds a command may run.
    pub command_seconds: u64,
    /// Bytes of a tool's answer that the model sees.
    pub max_tool_output_bytes: usize,
    /// Tokens of one answer of the model.
    pub max_output_tokens: u32,
}

impl Default for JobLimits {
    fn default() -> Self {
        Self {
            max_steps: 50,
            command_seconds: 120,
            max_tool_output_bytes: 64 << 10,
            max_output_tokens: 4096,
        }
    }
}

/// Permission rules on files, for tools that walk through directories.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct FileRules {
    /// The workspace, which paths in rules begin at.
    pub root: PathBuf,
    pub deny: Vec<String>,
    pub ask: Vec<String>,
    /// What the person answered.
    pub allow: Vec<String>,
}

impl FileRules {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.deny.is_empty() && self.ask.is_empty()
    }
}

/// How many tokens the conversation may have, the person's message included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConversationRoom {
    /// Above this, results of tools are shortened.
    pub compact_at: u64,
    /// What the window has room for.
    pub most: u64,
}

/// What an agent is started with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Job {
    /// What the person said.
    pub message: String,
    /// The conversation before it.
    pub history: Vec<Message>,
    /// Everything the prompt depends on.
    pub context: Context,
    /// How the prompt is laid out.
    pub blueprint: BlueprintSource,
    /// Which loop.
    pub runner: RunnerKind,
    /// Whose way of writing requests.
    pub provider: Provider,
    /// The model.
    pub model: String,
    /// Ask for a stream?
    pub stream: bool,
    /// Tools the agent has and somebody can carry out.
    pub tools: Vec<ToolSpec>,
    /// Those of them that are programs inside the sandbox, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub commands: BTreeMap<String, CommandTool>,
    /// Permission rules that ask or deny, for a runner that has rules of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub restrictions: Vec<String>,
    /// Files that `search` and `list` leave out while they walk.
    #[serde(default, skip_serializing_if = "FileRules::is_empty")]
    pub file_rules: FileRules,
    /// Where the agent works.
    pub cwd: PathBuf,
    /// The host's socket, as it is found inside the sandbox.
    pub socket: PathBuf,
    /// The session's token.
    pub token: String,
    /// The `foreword` program, as it is found inside the sandbox.
    pub foreword: PathBuf,
    /// The program of a runner that is not ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cli: Option<CliProgram>,
    /// A port that the sandbox lets the bridge have; any unless told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bridge_port: Option<u16>,
    /// What bounds the turn.
    #[serde(default)]
    pub limits: JobLimits,
    /// The number of the turn in its session.
    #[serde(default)]
    pub turn: u64,
    /// What bounds the conversation; nothing unless told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<ConversationRoom>,
}
