//! The host, as the agent sees it: a socket, and tools behind it.
//!
//! The tools of the workspace that are programs are here too: a model calls them like the host's, and
//! the runners of others get all of them in the same way.

use std::collections::BTreeMap;
use std::path::PathBuf;

use foreword_protocol::{
    Action, ActionInfo, Client, ClientError, CommandTool, ErrorCode, Failure, Job, LocalTool,
    ToolCall, ToolSpec, check_arguments,
};
use serde_json::Value;

use crate::output::cut;
use crate::tools::command;

/// How to reach the host, and which of its tools this agent has.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    socket: PathBuf,
    token: String,
    tools: Vec<ToolSpec>,
    commands: BTreeMap<String, CommandTool>,
    max_output: usize,
}

impl Host {
    pub(crate) fn new(job: &Job) -> Self {
        let tools = job.tools.iter().filter(|tool| LocalTool::named(&tool.name).is_none());
        Self {
            socket: job.socket.clone(),
            token: job.token.clone(),
            tools: tools.cloned().collect(),
            commands: job.commands.clone(),
            max_output: job.limits.max_tool_output_bytes,
        }
    }

    pub(crate) fn connect(&self) -> Result<Client, ClientError> {
        Client::connect(&self.socket, &self.token)
    }

    /// The tools that the host or a program of the workspace carries out.
    pub(crate) fn tools(&self) -> &[ToolSpec] {
        &self.tools
    }

    /// Calls a tool of the host. `client` is connected when it is needed, and again after a failure
    /// of the connection.
    pub(crate) fn call(
        &self,
        client: &mut Option<Client>,
        name: &str,
        input: &Value,
    ) -> Result<String, Failure> {
        let Some(tool) = self.tools.iter().find(|tool| tool.name == name) else {
            return Err(not_given(name));
        };
        // A program of the workspace is called here, also through `tool_call`.
        if name == "tool_call"
            && let Some(inner) = input.get("name").and_then(Value::as_str)
            && self.commands.contains_key(inner)
        {
            let Action::ToolCall(call) = Action::from_tool(name, input)? else {
                return Err(not_given(inner));
            };
            return self.call(client, inner, &Value::Object(call.arguments));
        }
        if ActionInfo::tool(name).is_some() {
            let action = Action::from_tool(name, input)?;
            return self.ask(client, action).map(|answer| cut(text_of(answer), self.max_output));
        }
        let command = self.commands.get(name);
        // The host checks a call of a server: its own words about it are not external content.
        if command.is_some() || !input.is_object() {
            check_call(&tool.input_schema, name, input)?;
        }
        let input = &command.map_or_else(|| input.clone(), |tool| tool.arguments(input));
        let arguments = input.as_object().cloned().unwrap_or_default();
        let call = ToolCall { name: name.to_owned(), arguments };
        match command {
            Some(tool) => {
                self.ask(client, Action::ToolPermit(call))?;
                run_command(name, tool, input)
            }
            None => {
                let answer = self.ask(client, Action::ToolInvoke(call))?;
                Ok(cut(text_of(answer), self.max_output))
            }
        }
    }

    /// Asks the host whether a tool of the sandbox may be called like this.
    pub(crate) fn permit(
        &self,
        client: &mut Option<Client>,
        name: &str,
        input: &Value,
    ) -> Result<(), Failure> {
        let arguments = input.as_object().cloned().unwrap_or_default();
        let call = ToolCall { name: name.to_owned(), arguments };
        self.ask(client, Action::ToolPermit(call)).map(drop)
    }

    /// Asks the host for an action. `client` is as for [`Host::call`].
    pub(crate) fn ask(
        &self,
        client: &mut Option<Client>,
        action: Action,
    ) -> Result<Value, Failure> {
        let mut connected = match client.take() {
            Some(client) => client,
            None => self.connect().map_err(ClientError::into_failure)?,
        };
        match connected.call(action) {
            Ok(result) => {
                *client = Some(connected);
                Ok(result)
            }
            Err(ClientError::Failed(failure)) => {
                *client = Some(connected);
                Err(failure)
            }
            Err(error) => Err(error.into_failure()),
        }
    }
}

/// Runs a tool of the workspace for a program that speaks to the host itself, such as the MCP server in
/// front of Claude Code. The caller has checked the arguments and has asked the host.
pub fn run_command(name: &str, tool: &CommandTool, input: &Value) -> Result<String, Failure> {
    command::run(name, tool, input)
        .map_err(|error| Failure::new(ErrorCode::Unavailable, error.to_string()))
}

/// Checks the arguments of a call against the schema of its tool.
pub fn check_call(schema: &Value, name: &str, input: &Value) -> Result<(), Failure> {
    let wrong = |error: String| {
        Failure::new(ErrorCode::BadRequest, format!("invalid call to `{name}`: {error}"))
    };
    if !input.is_object() {
        return Err(wrong("the input is not a JSON object".to_owned()));
    }
    check_arguments(schema, input).map_err(|fault| wrong(fault.to_string()))
}

/// The refusal of a tool that this agent does not have.
pub(crate) fn not_given(name: &str) -> Failure {
    let shown: String = name.chars().take(64).collect();
    let message = format!("you have no tool `{shown}`");
    Failure::new(ErrorCode::Refused, message)
}

/// A result as a model reads it.
fn text_of(result: Value) -> String {
    match result {
        Value::String(text) => text,
        Value::Null => "Done.".to_owned(),
        result => serde_json::to_string_pretty(&result).unwrap_or_default(),
    }
}
