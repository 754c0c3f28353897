//! A host behind its session's socket.

use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

use foreword_protocol::{
    Action, ActionInfo, Caller, Client, ClientError, ErrorCode, Failure, Nothing, SkillRead,
};
use serde_json::Value;

use crate::backend::{Backend, PromptInfo, SkillInfo, ToolInfo, agent_tools};

/// Connections that are kept for the next call.
const MAX_IDLE: usize = 4;

/// Forwards to the host of a session, which decides; reads and writes no files.
///
/// Its tools are the actions that the session's agent may ask for, its resources the skills the host lists. It has
/// no prompts: the agent behind it already has the one it is due.
pub struct SocketBackend {
    socket: PathBuf,
    token: String,
    idle: Mutex<Vec<Client>>,
    tools: OnceLock<Vec<ToolInfo>>,
}

impl SocketBackend {
    /// Connects once, so that a host that is not there is noticed now.
    pub fn connect(
        socket: impl Into<PathBuf>,
        token: impl Into<String>,
    ) -> Result<Self, ClientError> {
        let (socket, token) = (socket.into(), token.into());
        let idle = Mutex::new(vec![Client::connect(&socket, &token)?]);
        Ok(Self { socket, token, idle, tools: OnceLock::new() })
    }

    fn ask(&self, action: &Action) -> Result<Value, Failure> {
        let kept = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(client) = kept {
            match self.ask_through(client, action) {
                // The host has closed the connection, and so did not get the call.
                Err(ClientError::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => {}
                answer => return answer.map_err(ClientError::into_failure),
            }
        }
        Client::connect(&self.socket, &self.token)
            .and_then(|client| self.ask_through(client, action))
            .map_err(ClientError::into_failure)
    }

    fn ask_through(&self, mut client: Client, action: &Action) -> Result<Value, ClientError> {
        let answer = client.call(action.clone());
        // Only a connection with a whole answer is of further use.
        if matches!(answer, Ok(_) | Err(ClientError::Failed(_))) {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            if idle.len() < MAX_IDLE {
                idle.push(client);
            }
        }
        answer
    }
}

impl Backend for SocketBackend {
    fn tools(&self) -> Vec<ToolInfo> {
        if let Some(tools) = self.tools.get() {
            return tools.clone();
        }
        // Without an answer there are only those that every agent has.
        let status = self.ask(&Action::SessionStatus(Nothing {}));
        let named = |name: &str| match &status {
            Ok(status) => match status.get("tools").and_then(Value::as_array) {
                Some(tools) => tools.iter().any(|tool| tool.as_str() == Some(name)),
                None => false,
            },
            Err(_) => false,
        };
        let skills = status.as_ref().is_ok_and(allows_skills);
        let mut tools = agent_tools();
        tools.retain(|tool| is_standing(&tool.name, skills) || named(&tool.name));
        if status.is_ok() {
            let _ = self.tools.set(tools.clone());
        }
        tools
    }

    fn call(&self, name: &str, args: Value) -> Result<Value, Failure> {
        self.ask(&Action::from_tool(name, &args)?)
    }

    fn skills(&self) -> Result<Vec<SkillInfo>, Failure> {
        if !allows_skills(&self.ask(&Action::SessionStatus(Nothing {}))?) {
            return Ok(Vec::new());
        }
        let answer = self.ask(&Action::SkillList(Nothing {}))?;
        let list = answer.get("skills").unwrap_or(&answer).as_array();
        let list = list.ok_or_else(|| unreadable("skill_list"))?;
        let text = |skill: &Value, field: &str| {
            skill.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let skills = list.iter().map(|skill| SkillInfo {
            name: text(skill, "name"),
            description: text(skill, "description"),
        });
        Ok(skills.filter(|skill| !skill.name.is_empty()).collect())
    }

    fn skill(&self, name: &str) -> Result<String, Failure> {
        let answer = self.ask(&Action::SkillRead(SkillRead { name: name.to_owned() }))?;
        let text = answer.get("content").unwrap_or(&answer).as_str();
        text.map(str::to_owned).ok_or_else(|| unreadable("skill_read"))
    }

    fn prompts(&self) -> Result<Vec<PromptInfo>, Failure> {
        Ok(Vec::new())
    }

    fn prompt(&self, name: &str, _: Option<&str>) -> Result<String, Failure> {
        let message = format!("there is no prompt `{name}`: an agent's session has no prompts");
        Err(Failure::new(ErrorCode::NotFound, message))
    }
}

/// Whether every agent has a tool, those for skills only where these are on.
fn is_standing(tool: &str, skills: bool) -> bool {
    ActionInfo::tool(tool).is_some_and(|action| {
        action.caller == Caller::EveryAgent && (skills || !action.needs_skills())
    })
}

/// What the status of a session says of skills. A host that does not say has them on.
fn allows_skills(status: &Value) -> bool {
    status.get("skills").and_then(Value::as_bool).unwrap_or(true)
}

fn unreadable(action: &str) -> Failure {
    let message =
        format!("cannot read the host's answer to `{action}`; use a host of the same version");
    Failure::new(ErrorCode::Internal, message)
}
