//! Everything a turn needs before its agent starts: agent, prompt, model, tools, history, sandbox.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use foreword::{Blueprint, Choice, Context, Document, Prompt, Timestamp, estimate};
use foreword_guard::TaintLevel;
use foreword_protocol::{Message, ModelRequest, Provider, RunnerKind, SystemPart, ToolSpec};
use foreword_sandbox::Sandbox;
use foreword_store::{Session, SessionId, TurnRange};
use foreword_workspace::{Config, ModelSettings, UsedFile};

use crate::error::HostError;
use crate::host::Host;
use crate::model::upstream::{Person, Upstream};
use crate::random::new_canary;
use crate::spending::budget::{SpentBefore, TurnBudget};
use crate::spending::{Limits, Prices};
use crate::tools;
use crate::turn::agent_tree::AgentTree;
use crate::turn::history::{History, PastTurn};
use crate::turn::record;
use crate::turn::request::{Origin, TurnRequest};
use crate::turn::runner::{self, RunnerProgram};
use crate::turn::sandbox::prompt_name;
use crate::turn::scan::FencedText;

/// Turns of a conversation that are read from the database.
const MAX_HISTORY_TURNS: usize = 2000;
/// Used where `model.max_output_tokens` is not set.
const DEFAULT_OUTPUT_TOKENS: u32 = 4096;

/// A turn that is ready to start.
pub struct PreparedTurn {
    /// Everything the prompt depends on.
    pub context: Context,
    pub blueprint: Blueprint,
    /// The prompt, as the agent will render it.
    pub prompt: Prompt,
    pub warnings: Vec<foreword_gather::Warning>,
    pub model: String,
    pub runner: RunnerKind,
    pub(crate) tools: Vec<ToolSpec>,
    pub(crate) history: History,
    pub(crate) upstream: Upstream,
    pub(crate) config: Config,
    pub(crate) sandbox: Arc<dyn Sandbox>,
    pub(crate) program: RunnerProgram,
    pub(crate) agent: Option<String>,
    pub(crate) user: Option<String>,
    pub(crate) cwd: PathBuf,
    /// Every file of the workspace that settings and prompt come from, as it was when it was read.
    pub(crate) used_files: BTreeSet<UsedFile>,
    pub(crate) tree: AgentTree,
    pub(crate) limits: Limits,
    pub(crate) prices: Prices,
    /// What the agent is told: the message, followed by the fenced external texts.
    pub(crate) message: String,
    pub(crate) external: Vec<FencedText>,
}

impl std::fmt::Debug for PreparedTurn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PreparedTurn").field("model", &self.model).finish_non_exhaustive()
    }
}

impl PreparedTurn {
    /// The exact body of the first request that the native loop would send.
    pub fn request_body(&self) -> String {
        let (stable, rest) = self.prompt.system_at_cache_boundary();
        let system = [
            SystemPart { text: stable, cache_boundary: true },
            SystemPart { text: rest, cache_boundary: false },
        ];
        let mut messages = self.history.messages.clone();
        messages.push(Message::user(&self.message));
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

    /// Refuses a message so long that it would push the prompt's defences out of the window.
    pub(crate) fn check_room(&self) -> Result<(), HostError> {
        let window = self.context.context_window.saturating_sub(self.context.output_reserve);
        let tokens = self.context.reserved_tokens;
        if tokens > window / 2 || self.prompt.is_over_budget() {
            let window = self.context.context_window;
            return Err(HostError::MessageTooLong { tokens, window });
        }
        Ok(())
    }

    /// Starts the budget of the message, unless another agent of it has.
    pub(crate) fn set_budget(&self, session: &SessionId, before: SpentBefore) {
        if self.tree.budget().is_none() {
            let (limits, prices) = (self.limits.clone(), self.prices.clone());
            self.tree.set_budget(TurnBudget::new(limits, prices, session.clone(), before));
        }
    }

    pub(crate) fn max_output_tokens(&self) -> u32 {
        self.config.model.max_output_tokens.unwrap_or(DEFAULT_OUTPUT_TOKENS)
    }
}

impl Host {
    /// Prepares a turn. Changes nothing.
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
        let program = runner::locate(runner, &*self.options.environment)?;
        let sandbox = self.sandbox(request.sandbox.unwrap_or(config.host.sandbox))?;
        let upstream = self.upstream(&config.model)?;
        if runner == RunnerKind::ClaudeCode && upstream.provider != Provider::Anthropic {
            return Err(HostError::WrongProvider { runner: "claude-code", needs: "anthropic" });
        }
        let cwd = self.directory(request.cwd.as_deref())?;

        let mut taint = match session {
            Some(session) => self.reader.content_totals(&session.id)?,
            None => TaintLevel::default(),
        };
        let gathered = self.assembler.assemble(&foreword_gather::Request {
            agent,
            task: Some(request.message.clone()),
            session: session.map(|session| session.id.as_str().to_owned()),
            user_id: user.clone(),
            model: request.model.clone(),
            agent_type: Some(runner.agent_type().to_owned()),
            sandbox_type: Some(prompt_name(sandbox.as_ref())),
            taint_ratio: Some(taint.ratio()),
            canary: Some(canary.to_owned()),
            runtime_context: request.runtime_context.clone(),
            now: Some(Timestamp::from_unix(self.now().div_euclid(1000))),
            cwd: Some(cwd.clone()),
            default_tools: tools::DEFAULT.map(str::to_owned).to_vec(),
            ..self.request()
        })?;
        let mut used_files = gathered.used_files;
        used_files.extend(workspace.used_files());
        // A host keeps its embeddings in memory, so a missing index costs it only the first turn.
        let mut warnings = gathered.warnings;
        warnings.retain(|warning| !warning.is_missing_index());
        let (mut context, blueprint) = (gathered.context, gathered.blueprint);
        if request.origin != Origin::Person {
            let unattended = blueprint.unattended_prompt_mode();
            context.prompt_mode = unattended.unwrap_or(context.prompt_mode);
        }
        if blueprint.has_turn_context() {
            // The message follows the turn context, which therefore need not repeat it.
            context.mode = Choice::Fixed(context.mode());
            context.task = Document::default();
        }
        // The session keeps its agent even if the workspace's default changes.
        let agent = context.agent_id.as_ref().map(|id| id.inspect().to_owned());
        let model = context.model.as_ref().map(|model| model.inspect().to_owned());
        let model = model.filter(|model| !model.is_empty()).ok_or(HostError::NoModel)?;
        let tools = tools::callable(&context);
        let schemas = serde_json::to_string(&tools).unwrap_or_default();
        let external = self.fence_all(&request.external)?;
        let mut message = request.message.clone();
        for content in &external {
            message.push_str("\n\n");
            message.push_str(&content.fenced);
        }
        context.reserved_tokens = u64::from(estimate(&schemas)) + u64::from(estimate(&message));

        // What comes with this message counts before the prompt says how much came from outside.
        for content in record::contents(request, &external, &context, self.now()) {
            taint.add(content.provenance, content.tokens, content.external);
        }
        context.taint_ratio = taint.ratio();

        let history = self.history(session, &context, &blueprint)?;
        context.history_tokens = history.tokens;
        context.history_omitted = history.omitted;
        let prompt = blueprint.build(&context);
        let settings = self.settings()?;
        let limits = Limits::of(&settings, &config);
        let prices = Prices::load(settings.limits.prices.as_deref())?;
        let tree = request.tree.clone().unwrap_or_else(|| AgentTree::of(&config.host));
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
            program,
            agent,
            user,
            cwd,
            used_files,
            tree,
            limits,
            prices,
        })
    }

    /// The session a request continues, if it exists, and its canary or a new one.
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

    /// Prepares a turn for inspection: creates no session and calls no model. A new session would get
    /// another canary.
    pub fn dry_run(&self, request: &TurnRequest) -> Result<PreparedTurn, HostError> {
        let (session, canary) = self.session_of(request)?;
        self.prepare(request, session.as_ref(), &canary)
    }

    /// The limits that all agents of one message share, created in advance so that the caller can
    /// cancel them.
    pub fn tree(&self) -> Result<AgentTree, HostError> {
        Ok(AgentTree::of(&self.workspace()?.config().host))
    }

    /// The model server, and the key it gets.
    pub(crate) fn upstream(&self, model: &ModelSettings) -> Result<Upstream, HostError> {
        let person = Person {
            settings: &self.settings()?,
            config_dir: &self.options.config_dir,
            environment: &*self.options.environment,
        };
        Upstream::resolve(model, &self.root, person)
    }

    /// The newest turns of the conversation that fit into the window beside the prompt. History gets
    /// at least half of the available tokens.
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
}

fn runner_of(session: &Session) -> Option<RunnerKind> {
    session.runner.parse().ok()
}
