//! The host, as the agent sees it: a socket, and tools behind it.

use std::path::PathBuf;

use foreword_protocol::ToolSpec;
use foreword_protocol::{Action, Client, ClientError, Failure, Job, LocalTool};
use serde_json::Value;

use crate::output::cut;

/// How to reach the host, and which of its tools this agent has.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    socket: PathBuf,
    token: String,
    tools: Vec<ToolSpec>,
    max_output: usize,
}

impl Host {
    pub(crate) fn new(job: &Job) -> Self {
        let tools = job.tools.iter().filter(|tool| LocalTool::named(&tool.name).is_none());
        Self {
            socket: job.socket.clone(),
            token: job.token.clone(),
            tools: tools.cloned().collect(),
            max_output: job.limits.max_tool_output_bytes,
        }
    }

    pub(crate) fn connect(&self) -> Result<Client, ClientError> {
        Client::connect(&self.socket, &self.token)
    }

    /// The tools that the host carries out.
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
        if !self.tools.iter().any(|tool| tool.name == name) {
            return Err(not_given(name));
        }
        let action = Action::from_tool(name, input)?;
        let mut connected = match client.take() {
            Some(client) => client,
            None => self.connect().map_err(ClientError::into_failure)?,
        };
        match connected.call(action) {
            Ok(result) => {
                *client = Some(connected);
                Ok(cut(text_of(result), self.max_output))
            }
            Err(ClientError::Failed(failure)) => {
                *client = Some(connected);
                Err(failure)
            }
            Err(error) => Err(error.into_failure()),
        }
    }
}

/// The refusal of a tool that this agent does not have.
pub(crate) fn not_given(name: &str) -> Failure {
    let shown: String = name.chars().take(64).collect();
    let message = format!("you have no tool `{shown}`");
    Failure::new(foreword_protocol::ErrorCode::Refused, message)
}

/// A result as a model reads it.
fn text_of(result: Value) -> String {
    match result {
        Value::String(text) => text,
        Value::Null => "Done.".to_owned(),
        result => serde_json::to_string_pretty(&result).unwrap_or_default(),
    }
}
