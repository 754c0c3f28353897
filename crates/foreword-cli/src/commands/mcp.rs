//! `foreword mcp`: a workspace, or a session behind its socket, for MCP clients.

use std::io::{self, IsTerminal as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use foreword_host::{ClientSession, Host};
use foreword_mcp::{
    Backend, HttpOptions, HttpServer, PromptInfo, SkillInfo, SocketBackend, ToolInfo, agent_tools,
    refuse_stdio, serve_stdio,
};
use foreword_protocol::{Action, ActionInfo, ErrorCode, Failure};
use foreword_store::SessionId;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::commands::explain::without_text;
use crate::error::CliError;
use crate::hosting;
use crate::terminal::Terminal;
use crate::workspace_arg::WorkspaceArg;

const MAX_TOKEN_BYTES: u64 = 4096;

/// The name of the prompt of a workspace without agents.
const NO_AGENT: &str = "default";

/// Serve a workspace to MCP clients
///
/// Clients see actions as tools, skills as resources and agents' prompts as prompts.
#[derive(Args, Debug)]
#[command(after_help = "\
Over HTTP, clients send the token as `Authorization: Bearer TOKEN`.

Examples:
  foreword mcp -w my-agent --trust
  foreword mcp -w my-agent --tools prompt_build,skill_read,memory_search
  foreword mcp -w my-agent --http 127.0.0.1:8722
  claude mcp add foreword -- foreword mcp -w my-agent --trust")]
pub(crate) struct McpArgs {
    /// Serve HTTP at this local address, under /mcp, instead of standard input and output
    #[arg(long, value_name = "ADDR", conflicts_with = "socket")]
    http: Option<SocketAddr>,
    /// File with the HTTP token; without it, a new token is printed
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,
    /// Connect to the socket of a running session; reads its token from FOREWORD_SESSION_TOKEN
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Agent that performs the actions
    #[arg(short, long, value_name = "ID", conflicts_with = "socket")]
    agent: Option<String>,
    /// Session to continue, or the name of a new one
    #[arg(long, value_name = "ID", conflicts_with = "socket")]
    session: Option<String>,
    /// Offer only these tools; separate several with commas
    #[arg(long, value_name = "NAME", value_delimiter = ',', conflicts_with = "socket")]
    tools: Vec<String>,
    /// Trust the workspace in its current state without asking
    #[arg(long)]
    trust: bool,
}

pub(crate) fn run(
    workspace: &WorkspaceArg,
    args: &McpArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let failed = |error: foreword_mcp::ServeError| CliError::usage(error.to_string());
    if let Some(socket) = &args.socket {
        super::agent::close_to_others()?;
        let token = std::env::var("FOREWORD_SESSION_TOKEN").map_err(|_| {
            CliError::usage("FOREWORD_SESSION_TOKEN is not set")
                .hint("the host sets it for the agents it starts")
        })?;
        let backend = SocketBackend::connect(socket, token)
            .map_err(|error| CliError::usage(error.to_string()))?
            .with_commands(Box::new(foreword_agent::run_command));
        return serve_stdio(Arc::new(backend)).map_err(failed);
    }
    let backend = match Local::open(workspace, args, terminal) {
        Ok(backend) => Arc::new(backend),
        Err(error) if args.http.is_none() && !io::stdin().is_terminal() => {
            // A client shows what it is answered, not what a server wrote to standard error.
            let reason = [std::slice::from_ref(&error.message), &error.hints].concat().join("; ");
            let _ = refuse_stdio(&reason);
            return Err(error);
        }
        Err(error) => return Err(error),
    };
    let Some(addr) = args.http else { return serve_stdio(backend).map_err(failed) };
    let (token, is_new) = match &args.token_file {
        Some(file) => {
            let token = foreword_workspace::read_file(file, MAX_TOKEN_BYTES)?.text;
            (token.trim().to_owned(), false)
        }
        None => (new_token()?, true),
    };
    let server = HttpServer::bind(backend, &HttpOptions { addr, token: token.clone() });
    let server = server.map_err(failed)?;
    terminal.say(&format!("serving MCP at http://{}/mcp", server.addr()));
    if is_new {
        terminal.say(&format!("token: {token}"));
    }
    server.run_until_signal().map_err(failed)
}

fn new_token() -> Result<String, CliError> {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes)
        .map_err(|error| CliError::internal(format!("cannot get random bytes: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A workspace on this machine.
struct Local {
    host: Arc<Host>,
    session: ClientSession,
    tools: Vec<ToolInfo>,
}

impl Local {
    fn open(
        workspace: &WorkspaceArg,
        args: &McpArgs,
        terminal: &Terminal,
    ) -> Result<Self, CliError> {
        let mut tools = chosen(all_tools(), &args.tools)?;
        let host = hosting::open(&workspace.find()?)?;
        hosting::ensure_workspace_trusted(&host, None, args.trust, terminal).map_err(|error| {
            CliError {
                hints: vec![format!(
                    "run `foreword trust -w {}` in a terminal, then reconnect",
                    host.root().display()
                )],
                ..error
            }
        })?;
        let session = args.session.as_deref().map(SessionId::parse).transpose()?;
        let session = host.client_session(session, args.agent.as_deref(), "mcp")?;
        let is_off = |name: &str| ActionInfo::tool(name).is_some() && !session.offers(name);
        if let Some(off) = args.tools.iter().find(|name| is_off(name)) {
            let error = CliError::usage(format!("this workspace does not offer the tool `{off}`"));
            return Err(
                error.hint("see `allow_skills` and `provider` under [skills] in foreword.toml")
            );
        }
        tools.retain(|tool| !is_off(&tool.name));
        Ok(Self { host, session, tools })
    }
}

/// The named tools, or all of them if none is named.
fn chosen(mut tools: Vec<ToolInfo>, names: &[String]) -> Result<Vec<ToolInfo>, CliError> {
    let known = |name: &str| tools.iter().any(|tool| tool.name == name);
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        let all = || tools.iter().map(|tool| tool.name.as_str());
        let error = CliError::usage(format!("unknown tool `{unknown}`"));
        return Err(match foreword::nearest(unknown, all()) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error.hint(format!("tools: {}", all().collect::<Vec<_>>().join(", "))),
        });
    }
    tools.retain(|tool| names.is_empty() || names.contains(&tool.name));
    Ok(tools)
}

/// The actions of agents, and what needs none.
fn all_tools() -> Vec<ToolInfo> {
    let prompt = json!({
        "type": "object",
        "properties": {
            "agent": {"type": "string", "description": "Agent ID; the default agent if omitted."},
            "task": {"type": "string", "description": "Task to build the prompt for."},
            "noMention": {"type": "boolean", "description": "The message does not mention the agent, which may stay silent."},
        },
        "additionalProperties": false,
    });
    let text = json!({
        "type": "object",
        "properties": {"text": {"type": "string", "description": "Text to scan."}},
        "required": ["text"],
        "additionalProperties": false,
    });
    let own = |name: &str, description: &str, input_schema: &Value| ToolInfo {
        name: name.to_owned(),
        description: description.to_owned(),
        input_schema: input_schema.clone(),
        read_only: true,
        sensitive: false,
    };
    let mut tools = agent_tools();
    tools.push(own("prompt_build", "Compile an agent's system prompt.", &prompt));
    tools.push(own(
        "prompt_explain",
        "Show the source and token cost of each section of an agent's prompt.",
        &prompt,
    ));
    tools.push(own("scan", "Scan text for prompt injection.", &text));
    tools
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PromptArgs {
    agent: Option<String>,
    task: Option<String>,
    #[serde(default)]
    no_mention: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScanText {
    text: String,
}

impl Backend for Local {
    fn tools(&self) -> Vec<ToolInfo> {
        self.tools.clone()
    }

    fn call(&self, name: &str, args: Value) -> Result<Value, Failure> {
        match name {
            "prompt_build" | "prompt_explain" => {
                let PromptArgs { agent, task, no_mention } = read(name, args)?;
                let reply_gate = no_mention.then_some(true);
                let prompt =
                    self.session.prompt_of(agent.as_deref(), task.as_deref(), reply_gate)?;
                if name == "prompt_build" {
                    return Ok(json!({
                        "content": prompt.text(), "system": prompt.system(),
                        "turnContext": prompt.turn_context(), "digest": prompt.digest(),
                        "estimatedTokens": prompt.tokens(),
                    }));
                }
                without_text(&prompt.manifest_with_digests())
                    .map_err(|error| Failure::new(ErrorCode::Internal, error.to_string()))
            }
            "scan" => Ok(self.host.scan(&read::<ScanText>(name, args)?.text)?),
            _ => match Action::from_tool(name, &args) {
                Ok(action) => self.session.call(action),
                Err(error) => Err(Failure::new(error.code, error.message)),
            },
        }
    }

    fn skills(&self) -> Result<Vec<SkillInfo>, Failure> {
        if !self.session.offers("skill_list") {
            return Ok(Vec::new());
        }
        let list = self.call("skill_list", json!({}))?;
        Ok(list
            .get("skills")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .map(|skill| SkillInfo {
                name: text(skill, "name"),
                description: text(skill, "description"),
            })
            .collect())
    }

    fn skill(&self, name: &str) -> Result<String, Failure> {
        if !self.session.offers("skill_read") {
            return Err(Failure::new(ErrorCode::NotFound, format!("there is no skill `{name}`")));
        }
        let read = self.call("skill_read", json!({ "name": name }))?;
        Ok(text(&read, "content"))
    }

    fn prompts(&self) -> Result<Vec<PromptInfo>, Failure> {
        let mut names = self.host.agents()?;
        if names.is_empty() {
            names.push(NO_AGENT.to_owned());
        }
        Ok(names
            .into_iter()
            .map(|name| PromptInfo { description: format!("The prompt of {name}."), name })
            .collect())
    }

    fn prompt(&self, name: &str, task: Option<&str>) -> Result<String, Failure> {
        let agents = self.host.agents()?;
        let agent = agents.iter().find(|known| *known == name);
        if agent.is_none() && !(agents.is_empty() && name == NO_AGENT) {
            return Err(Failure::new(ErrorCode::NotFound, format!("agent `{name}` not found")));
        }
        Ok(self.session.prompt_of(agent.map(String::as_str), task, None)?.text().to_owned())
    }
}

fn read<T: DeserializeOwned>(name: &str, args: Value) -> Result<T, Failure> {
    serde_json::from_value(args).map_err(|error| {
        Failure::new(ErrorCode::BadRequest, format!("invalid arguments for `{name}`: {error}"))
    })
}

/// A text field of an answer; empty if it is missing.
fn text(answer: &Value, field: &str) -> String {
    answer.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
}
