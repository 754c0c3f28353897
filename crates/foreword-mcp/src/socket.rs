//! A host behind its session's socket.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

use foreword_protocol::{
    Action, ActionInfo, Caller, Client, ClientError, CommandTool, ErrorCode, Failure, LocalTool,
    Nothing, SkillRead, ToolCall, ToolSpec, check_arguments,
};
use serde::Deserialize;
use serde_json::Value;

use crate::backend::{Backend, PromptInfo, SkillInfo, ToolInfo, agent_tools};

/// Connections that are kept for the next call.
const MAX_IDLE: usize = 4;

/// Runs a tool of the workspace that is a program inside the sandbox.
pub type CommandRunner =
    Box<dyn Fn(&str, &CommandTool, &Value) -> Result<String, Failure> + Send + Sync>;

/// What the host says of the session's tools.
#[derive(Default, Deserialize)]
#[serde(default)]
struct SessionTools {
    tools: Vec<ToolSpec>,
    commands: BTreeMap<String, CommandTool>,
    /// Whether the agent may use skills. A host that does not say has them on.
    #[serde(default = "allowed")]
    skills: bool,
}

fn allowed() -> bool {
    true
}

/// Forwards to the host of a session, which decides; reads and writes no files.
///
/// Its tools are the actions that the session's agent may ask for, its resources the skills the host lists. It has
/// no prompts: the agent behind it already has the one it is due.
pub struct SocketBackend {
    socket: PathBuf,
    token: String,
    idle: Mutex<Vec<Client>>,
    known: OnceLock<SessionTools>,
    commands: Option<CommandRunner>,
}

impl SocketBackend {
    /// Connects once, so that a host that is not there is noticed now.
    pub fn connect(
        socket: impl Into<PathBuf>,
        token: impl Into<String>,
    ) -> Result<Self, ClientError> {
        let (socket, token) = (socket.into(), token.into());
        let idle = Mutex::new(vec![Client::connect(&socket, &token)?]);
        Ok(Self { socket, token, idle, known: OnceLock::new(), commands: None })
    }

    /// Offers the tools of the workspace too, which are programs inside the sandbox like this one.
    #[must_use]
    pub fn with_commands(self, runner: CommandRunner) -> Self {
        Self { commands: Some(runner), ..self }
    }

    /// The session's tools, asked for once the host answers.
    fn session_tools(&self) -> Option<&SessionTools> {
        if self.known.get().is_none() {
            let answer = self.ask(&Action::ToolList(Nothing {})).ok()?;
            let _ = self.known.set(serde_json::from_value(answer).unwrap_or_default());
        }
        self.known.get()
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
        // Without an answer there are only those that every agent has.
        let none = SessionTools::default();
        let session = self.session_tools().unwrap_or(&none);
        let named = |name: &str| session.tools.iter().any(|tool| tool.name == name);
        let mut tools = agent_tools();
        tools.retain(|tool| is_standing(&tool.name, session.skills) || named(&tool.name));
        let is_other =
            |name: &str| ActionInfo::tool(name).is_none() && LocalTool::named(name).is_none();
        let can_run = |name: &str| self.commands.is_some() || !session.commands.contains_key(name);
        let own = session.tools.iter().filter(|tool| is_other(&tool.name) && can_run(&tool.name));
        for tool in &mut tools {
            // The host may describe its actions more closely.
            let closer = session.tools.iter().find(|known| known.name == tool.name);
            tool.description = closer.map_or(tool.description.clone(), |c| c.description.clone());
        }
        tools.extend(own.map(|tool| ToolInfo {
            name: tool.name.clone(),
            description: tool.description.clone(),
            input_schema: Value::clone(&tool.input_schema),
            read_only: false,
            sensitive: false,
        }));
        tools
    }

    fn call(&self, name: &str, args: Value) -> Result<Value, Failure> {
        if name == "tool_call"
            && let Some(inner) = args.get("name").and_then(Value::as_str)
            && self.session_tools().is_some_and(|session| session.commands.contains_key(inner))
        {
            let Action::ToolCall(call) = Action::from_tool(name, &args)? else {
                return Err(unreadable(name));
            };
            return self.call(inner, Value::Object(call.arguments));
        }
        if ActionInfo::tool(name).is_some() {
            return self.ask(&Action::from_tool(name, &args)?);
        }
        let session = self.session_tools();
        let spec = session.and_then(|known| known.tools.iter().find(|tool| tool.name == name));
        let Some(spec) = spec else { return self.ask(&Action::from_tool(name, &args)?) };
        let command = session.and_then(|session| session.commands.get(name));
        // The host checks a call of a server: its own words about it are not external content.
        if command.is_some() {
            check_arguments(&spec.input_schema, &args).map_err(|fault| {
                let message = format!("invalid call to `{name}`: {fault}");
                Failure::new(ErrorCode::BadRequest, message)
            })?;
        }
        let args = command.map_or_else(|| args.clone(), |command| command.arguments(&args));
        let arguments = args.as_object().cloned().unwrap_or_default();
        let call = ToolCall { name: name.to_owned(), arguments };
        match (command, &self.commands) {
            (Some(command), Some(run)) => {
                self.ask(&Action::ToolPermit(call))?;
                run(name, command, &args).map(Value::String)
            }
            _ => self.ask(&Action::ToolInvoke(call)),
        }
    }

    fn skills(&self) -> Result<Vec<SkillInfo>, Failure> {
        if self.session_tools().is_some_and(|session| !session.skills) {
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

fn unreadable(action: &str) -> Failure {
    let message =
        format!("cannot read the host's answer to `{action}`; use a host of the same version");
    Failure::new(ErrorCode::Internal, message)
}
