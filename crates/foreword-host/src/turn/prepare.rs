//! Everything a turn needs before its agent starts: who, with which prompt, model, tools and history.

use std::path::PathBuf;
use std::sync::Arc;

use foreword::{
    Blueprint, Choice, Context, Document, Prompt, PromptMode, RuntimeContext, SandboxChoice,
    Timestamp, estimate,
};
use foreword_protocol::RunnerKind;
use foreword_protocol::{ModelRequest, Provider, SystemPart, ToolSpec};
use foreword_sandbox::{Available, LAUNCHER_COMMAND, Launcher, Sandbox, SandboxKind, programs_in};
use foreword_store::{Session, SessionId, TurnRange};
use foreword_workspace::Config;

use crate::error::HostError;
use crate::host::Host;
use crate::model::upstream::Upstream;
use crate::random::new_canary;
use crate::tools;
use crate::turn::agent_tree::AgentTree;
use crate::turn::external::FencedText;
use crate::turn::history::{History, PastTurn};
use crate::turn::runner::{self, RunnerProgram};

/// So many turns of a conversation are looked at.
const MAX_HISTORY_TURNS: usize = 2000;

/// Who set the agent to work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// The person.
    #[default]
    Person,
    /// A schedule, whose prompt was written earlier.
    Schedule {
        /// Was it written in a session that had taken in anything from outside?
        tainted: bool,
    },
    /// Another agent.
    Agent {
        /// Its session.
        parent: SessionId,
        /// Had that session taken in anything from outside?
        tainted: bool,
    },
}

/// A text from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct External {
    /// Where it came from.
    pub source: String,
    /// The text.
    pub text: String,
}

/// What a turn is asked for.
#[derive(Clone, Debug, Default)]
pub struct TurnRequest {
    /// What is said to the agent.
    pub message: String,
    /// Texts from outside that come with the message.
    pub external: Vec<External>,
    /// The session to go on with; a new one where absent.
    pub session: Option<SessionId>,
    /// The agent; the session's, else the workspace's default.
    pub agent: Option<String>,
    /// For whom.
    pub user: Option<String>,
    /// The loop; the session's, else the workspace's.
    pub runner: Option<RunnerKind>,
    /// Another model than the agent's.
    pub model: Option<String>,
    /// Another sandbox than the workspace's.
    pub sandbox: Option<SandboxChoice>,
    /// Where the agent works.
    pub cwd: Option<PathBuf>,
    /// How it is started.
    pub runtime_context: Option<RuntimeContext>,
    /// Who set it to work.
    pub origin: Origin,
    /// How deep it is among agents.
    pub depth: u32,
    /// What the agents of one message share; made anew where absent.
    pub tree: Option<AgentTree>,
}

/// A turn that could start.
pub struct PreparedTurn {
    /// Everything the prompt depends on.
    pub context: Context,
    /// How it is laid out.
    pub blueprint: Blueprint,
    /// The prompt, as the agent will render it.
    pub prompt: Prompt,
    /// What a person should know.
    pub warnings: Vec<String>,
    /// The model.
    pub model: String,
    /// The loop.
    pub runner: RunnerKind,
    pub(crate) tools: Vec<ToolSpec>,
    pub(crate) history: History,
    pub(crate) upstream: Upstream,
    pub(crate) config: Config,
    pub(crate) sandbox: Arc<dyn Sandbox>,
    pub(crate) located: RunnerProgram,
    pub(crate) agent: Option<String>,
    pub(crate) user: Option<String>,
    pub(crate) cwd: PathBuf,
    pub(crate) tree: AgentTree,
    /// What the agent is told: the message, and behind it what came from outside.
    pub(crate) message: String,
    pub(crate) external: Vec<FencedText>,
}

impl std::fmt::Debug for PreparedTurn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PreparedTurn").field("model", &self.model).finish_non_exhaustive()
    }
}

impl PreparedTurn {
    /// The first request that our own loop would send: its exact body.
    pub fn request_body(&self) -> String {
        let (stable, rest) = self.prompt.system_at_cache_boundary();
        let system = [
            SystemPart { text: stable, cache_boundary: true },
            SystemPart { text: rest, cache_boundary: false },
        ];
        let mut messages = self.history.messages.clone();
        messages.push(foreword_protocol::Message::user(&self.message));
        ModelRequest {
            provider: self.upstream.provider,
            model: &self.model,
            system: &system,
            turn_context: self.prompt.turn_context(),
            messages: &messages,
            tools: &self.tools,
            max_tokens: self.max_output_tokens(),
            stream: true,
        }
        .body()
    }

    /// Is there room for the prompt beside the message? A long message must not decide how much of the
    /// prompt's defences is left.
    pub(crate) fn check_room(&self) -> Result<(), HostError> {
        let window = self.context.context_window.saturating_sub(self.context.output_reserve);
        let asked = self.context.reserved_tokens;
        if asked > window / 2 || self.prompt.is_over_budget() {
            return Err(HostError::Limit(format!(
                "message and tools have {asked} tokens of a window of {}: the prompt would not fit beside them whole; send less at once",
                self.context.context_window
            )));
        }
        Ok(())
    }

    pub(crate) fn max_output_tokens(&self) -> u32 {
        self.config.model.max_output_tokens.unwrap_or(4096)
    }
}

impl Host {
    /// Prepares a turn without changing anything.
    ///
    /// # Errors
    ///
    /// If the workspace, the model or the sandbox is not as it has to be.
    pub(crate) fn prepare(
        &self,
        request: &TurnRequest,
        session: Option<&Session>,
        canary: &str,
    ) -> Result<PreparedTurn, HostError> {
        let workspace = self.workspace()?;
        let config = workspace.config().clone();
        let runner =
            request.runner.or_else(|| session.and_then(runner_of)).unwrap_or(config.host.runner);
        let agent = request.agent.clone().or_else(|| session.and_then(|s| s.agent.clone()));
        let user = request.user.clone().or_else(|| session.and_then(|s| s.user.clone()));
        let located = runner::locate(runner, &*self.options.environment)?;
        let sandbox = self.sandbox(request.sandbox.unwrap_or(config.host.sandbox))?;
        let upstream = Upstream::resolve(&config.model, &self.root, &*self.options.environment)?;
        if runner == RunnerKind::ClaudeCode && upstream.provider != Provider::Anthropic {
            return Err(HostError::WrongProvider { runner: "claude-code", needs: "anthropic" });
        }
        let cwd = self.inside(request.cwd.as_deref())?;

        let totals = match session {
            Some(session) => self.reader.content_totals(&session.id)?,
            None => Default::default(),
        };
        let ratio = totals.ratio();
        let gathered = self.assembler.assemble(&foreword_gather::Request {
            agent,
            task: Some(request.message.clone()),
            session: session.map(|session| session.id.as_str().to_owned()),
            user_id: user.clone(),
            model: request.model.clone(),
            agent_type: Some(runner.agent_type().to_owned()),
            sandbox_type: Some(sandbox_type(sandbox.as_ref())),
            taint_ratio: Some(ratio),
            canary: Some(canary.to_owned()),
            runtime_context: request.runtime_context.clone(),
            now: Some(Timestamp::from_unix(self.now().div_euclid(1000))),
            cwd: Some(cwd.clone()),
            default_tools: tools::DEFAULT.map(str::to_owned).to_vec(),
            ..self.request()
        })?;
        // A host keeps in memory what an index would keep: no need to say so at every start.
        let mut warnings = gathered.warnings;
        warnings.retain(|warning| !warning.starts_with("there is no index: "));
        let (mut context, blueprint) = (gathered.context, gathered.blueprint);
        if blueprint.name() == "companion" && request.origin != Origin::Person {
            context.prompt_mode = PromptMode::Minimal;
        }
        if blueprint.has_turn_context() {
            // The message itself follows the turn context; it need not be there twice.
            context.mode = Choice::Fixed(context.mode());
            context.task = Document::default();
        }
        // Whoever is the default today: the session stays with that agent.
        let agent = context.agent_id.as_ref().map(|id| id.inspect().to_owned());
        let model = context.model.as_ref().map(|model| model.inspect().to_owned());
        let model = model.filter(|model| !model.is_empty()).ok_or(HostError::NoModel)?;
        let tools = tools::callable(&context);
        let schemas = serde_json::to_string(&tools).unwrap_or_default();
        let external = self.fence(&request.external);
        let mut message = request.message.clone();
        for content in &external {
            message.push_str("\n\n");
            message.push_str(&content.fenced);
        }
        let reserved = u64::from(estimate(&schemas)) + u64::from(estimate(&message));
        context.reserved_tokens = reserved;

        let history = self.history(session, &context, &blueprint)?;
        context.history_tokens = history.tokens;
        context.history_omitted = history.omitted;
        let prompt = blueprint.build(&context);
        let tree = request.tree.clone();
        let tree =
            tree.unwrap_or_else(|| AgentTree::new(config.host.max_depth, config.host.max_agents));
        Ok(PreparedTurn {
            warnings,
            message,
            external,
            context,
            blueprint,
            prompt,
            model,
            runner,
            tools,
            history,
            upstream,
            config,
            sandbox,
            located,
            agent,
            user,
            cwd,
            tree,
        })
    }

    /// The session a request goes on with, if there is one, and its canary; a new one otherwise.
    pub(crate) fn session_of(
        &self,
        request: &TurnRequest,
    ) -> Result<(Option<Session>, String), HostError> {
        let found = match &request.session {
            Some(id) => self.reader.session(id)?,
            None => None,
        };
        let canary = match &found {
            Some(session) => session.canary().to_owned(),
            None => new_canary()?.as_str().to_owned(),
        };
        Ok((found, canary))
    }

    /// Prepares a turn to look at: no session is made and nobody is called. A new session would get
    /// another canary.
    ///
    /// # Errors
    ///
    /// If the workspace, the model or the sandbox is not as it has to be.
    pub fn dry_run(&self, request: &TurnRequest) -> Result<PreparedTurn, HostError> {
        let (session, canary) = self.session_of(request)?;
        self.prepare(request, session.as_ref(), &canary)
    }

    /// What the agents of one message will share, made ahead so that it can be cancelled.
    ///
    /// # Errors
    ///
    /// If the settings cannot be read.
    pub fn tree(&self) -> Result<AgentTree, HostError> {
        let host = self.workspace()?.config().host.clone();
        Ok(AgentTree::new(host.max_depth, host.max_agents))
    }

    /// What agents here could reach, for a person who decides about it.
    pub fn reaches(&self) -> Vec<String> {
        let Ok(workspace) = self.workspace() else { return Vec::new() };
        let config = workspace.config();
        let mut lines = Vec::new();
        match Upstream::resolve(&config.model, &self.root, &*self.options.environment) {
            Ok(upstream) => {
                lines.push(format!("Prompts and messages would go to {}", upstream.base_url));
            }
            Err(error) => lines.push(format!("There is no model yet: {error}")),
        }
        if !config.host.web_hosts.is_empty() {
            lines.push(format!("web_fetch may fetch from {}", config.host.web_hosts.join(", ")));
        }
        lines
    }

    /// As much of the conversation as the window has room for beside the prompt, and at least half of
    /// the room there is.
    fn history(
        &self,
        session: Option<&Session>,
        context: &Context,
        blueprint: &Blueprint,
    ) -> Result<History, HostError> {
        let Some(session) = session else { return Ok(History::default()) };
        let stored = self.reader.history(&session.id, TurnRange::newest(MAX_HISTORY_TURNS))?;
        if stored.is_empty() {
            return Ok(History::default());
        }
        let room = u64::try_from(context.available_tokens()).unwrap_or(0);
        let prompt = u64::from(blueprint.build(context).tokens());
        let room = room.saturating_sub(prompt).max(room / 2);
        Ok(History::within(stored.into_iter().map(PastTurn::of).collect(), room))
    }

    /// Looks for a sandbox, and tries it.
    pub(crate) fn find_sandbox(
        &self,
        choice: SandboxChoice,
    ) -> Result<Box<dyn Sandbox>, HostError> {
        let path = (self.options.environment)("PATH").unwrap_or_default();
        let lookup = programs_in(path.as_ref(), &self.root);
        let available = Available {
            lookup: &lookup,
            launcher: Launcher {
                program: self.options.program.clone(),
                command: vec![LAUNCHER_COMMAND.into()],
            },
            docker_image: (self.options.environment)("FOREWORD_DOCKER_IMAGE"),
            remember_in: Some(self.options.config_dir.clone()),
        };
        match choice {
            Choice::Auto => Ok(available.best()),
            Choice::Fixed(kind) => Ok(available.named(kind)?),
        }
    }

    /// A directory of the workspace.
    pub(crate) fn inside(&self, cwd: Option<&std::path::Path>) -> Result<PathBuf, HostError> {
        let Some(cwd) = cwd else { return Ok(self.root.clone()) };
        let given = self.root.join(cwd);
        let outside = || HostError::NoDirectory { path: cwd.to_owned() };
        let found = given.canonicalize().map_err(|_| outside())?;
        if !found.starts_with(&self.root) || !found.is_dir() {
            return Err(outside());
        }
        Ok(found)
    }
}

fn runner_of(session: &Session) -> Option<RunnerKind> {
    session.runner.parse().ok()
}

/// What the prompt calls the sandbox: its name, where it keeps what it says.
fn sandbox_type(sandbox: &dyn Sandbox) -> String {
    let guarantees = sandbox.guarantees();
    if sandbox.kind() == SandboxKind::Subprocess && !guarantees.advisory() {
        return "landlock".to_owned();
    }
    sandbox.name().to_owned()
}
