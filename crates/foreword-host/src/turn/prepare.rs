//! Everything a turn needs before its agent starts: its prompt, its model, its program and its limits.

use foreword::{Line, Prices};
use foreword_guard::PermissionTable;
use foreword_protocol::{Message, ModelRequest, Provider, RunnerKind, SystemPart};
use foreword_store::{Session, SessionId};
use foreword_workspace::{ModelSettings, Settings};

use crate::error::HostError;
use crate::host::Host;
use crate::model::upstream::{Person, Upstream, default_model};
use crate::prompt_log::log_prompt;
use crate::spending::budget::{SpentBefore, TurnBudget};
use crate::spending::{Limits, load_prices};
use crate::turn::agent_tree::AgentTree;
use crate::turn::compose::ComposedTurn;
use crate::turn::request::TurnRequest;
use crate::turn::runner::{self, RunnerProgram};

/// Used where `model.max_output_tokens` is not set.
const DEFAULT_OUTPUT_TOKENS: u32 = 4096;

/// A turn that is ready to start.
pub struct PreparedTurn {
    /// What the agent will see.
    pub turn: ComposedTurn,
    pub model: String,
    pub(crate) upstream: Upstream,
    pub(crate) program: RunnerProgram,
    pub(crate) tree: AgentTree,
    pub(crate) limits: Limits,
    pub(crate) prices: Prices,
    pub(crate) permissions: PermissionTable,
}

impl std::fmt::Debug for PreparedTurn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PreparedTurn").field("model", &self.model).finish_non_exhaustive()
    }
}

impl PreparedTurn {
    /// The exact body of the first request that the native loop would send.
    pub fn request_body(&self) -> String {
        let prompt = &self.turn.prompt;
        let (stable, rest) = prompt.system_at_cache_boundary();
        let system = [
            SystemPart { text: stable, cache_boundary: true },
            SystemPart { text: rest, cache_boundary: false },
        ];
        let mut messages = self.turn.history.messages.clone();
        messages.push(Message::user(&self.turn.message));
        ModelRequest {
            provider: self.upstream.provider,
            model: &self.model,
            system: &system,
            turn_context: prompt.turn_context(),
            messages: &messages,
            tools: &self.turn.tools.specs,
            max_tokens: self.max_output_tokens(),
            stream: true,
        }
        .body()
    }

    /// Refuses a message so long that it would push the prompt's defences out of the window.
    pub(crate) fn check_room(&self) -> Result<(), HostError> {
        let context = &self.turn.context;
        let window = context.context_window.saturating_sub(context.output_reserve);
        let tokens = context.reserved_tokens;
        if tokens > window / 2 || self.turn.prompt.is_over_budget() {
            return Err(HostError::MessageTooLong { tokens, window: context.context_window });
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
        self.turn.config.model.max_output_tokens.unwrap_or(DEFAULT_OUTPUT_TOKENS)
    }
}

impl Host {
    /// Prepares a turn. Changes nothing, and needs no key.
    pub(crate) fn prepare(
        &self,
        request: &TurnRequest,
        session: Option<&Session>,
        canary: &str,
    ) -> Result<PreparedTurn, HostError> {
        let turn = self.compose(request, session, canary)?;
        log_prompt(turn.blueprint.name(), &turn.context, &turn.prompt, turn.build_time_ms);
        let program = runner::locate(turn.runner, &*self.options.environment)?;
        let upstream = self.upstream(&turn.config.model, turn.runner)?;
        if turn.runner == RunnerKind::ClaudeCode && upstream.provider != Provider::Anthropic {
            return Err(HostError::WrongProvider { runner: "claude-code", needs: "anthropic" });
        }
        let model = turn.context.model.as_ref().map(|model| model.inspect().to_owned());
        let model = model.filter(|model| !model.is_empty()).ok_or(HostError::NoModel)?;
        let settings = self.settings()?;
        let limits = Limits::of(&settings, &turn.config);
        let prices = load_prices(settings.limits.prices.as_deref())?;
        let session_id = session.map(|session| &session.id).or(request.session.as_ref());
        let permissions =
            self.turn_permissions(&turn.config, &settings, &turn.tools, session_id)?;
        let tree = request.tree.clone().unwrap_or_else(|| AgentTree::of(&turn.config.host));
        Ok(PreparedTurn { turn, model, upstream, program, tree, limits, prices, permissions })
    }

    /// Prepares a turn for inspection: creates no session and calls no model.
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
    pub(crate) fn upstream(
        &self,
        model: &ModelSettings,
        runner: RunnerKind,
    ) -> Result<Upstream, HostError> {
        let settings = self.settings()?;
        let person = self.person(&settings);
        match runner {
            RunnerKind::ClaudeCode => Upstream::resolve_for_claude_code(model, &self.root, person),
            RunnerKind::Native | RunnerKind::Pi => Upstream::resolve(model, &self.root, person),
        }
    }

    /// The model of a workspace that names none.
    pub(crate) fn default_model(&self, model: &ModelSettings) -> Result<Option<Line>, HostError> {
        Ok(default_model(model, self.person(&self.settings()?)).map(Line::new))
    }

    fn person<'a>(&'a self, settings: &'a Settings) -> Person<'a> {
        Person {
            settings,
            config_dir: &self.options.config_dir,
            environment: &*self.options.environment,
        }
    }
}
