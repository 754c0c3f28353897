//! The prompt of a session's next turn: what `run` sends and what `build --runner` prints.
//!
//! It needs neither a model server nor a key, starts nothing and changes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use foreword::{Blueprint, Choice, Context, Document, Line, Prompt, Timestamp, estimate};
use foreword_gather::{Gathered, ToolSource};
use foreword_guard::{Canary, Provenance, TaintLevel};
use foreword_protocol::{Reading, RunnerKind, ToolSpec};
use foreword_sandbox::Sandbox;
use foreword_store::{Session, SessionId, TurnRange};
use foreword_workspace::{Config, UsedFile, Workspace};

use crate::error::HostError;
use crate::host::Host;
use crate::tools::{self, CallableTools, Sent};
use crate::turn::history::{Conversation, History, PastTurn};
use crate::turn::record;
use crate::turn::request::{Origin, TAINTED_TASK, TurnRequest};
use crate::turn::sandbox::prompt_name;
use crate::turn::scan::FencedText;

/// Turns of a conversation that are read from the database.
pub(crate) const MAX_HISTORY_TURNS: usize = 2000;

/// The tool that reads a shortened result again.
const RESULT_READ: &str = "result_read";

/// The next turn of a session, as its agent will see it.
pub struct ComposedTurn {
    /// Everything the prompt depends on.
    pub context: Context,
    pub blueprint: Blueprint,
    /// The prompt, as the agent will render it.
    pub prompt: Prompt,
    pub warnings: Vec<foreword_gather::Warning>,
    pub runner: RunnerKind,
    /// Whether nobody named a model, so that the provider's default is used.
    pub is_default_model: bool,
    /// Who chose the model, for a person.
    pub(crate) model_chosen_by: String,
    pub(crate) build_time_ms: f64,
    /// The name of the blueprint's file, or `builtin:NAME`.
    pub(crate) blueprint_file: String,
    pub(crate) tools: CallableTools,
    /// Whether the agent may use skills at all.
    pub(crate) allow_skills: bool,
    pub(crate) history: History,
    pub(crate) config: Config,
    pub(crate) sandbox: Arc<dyn Sandbox>,
    pub(crate) agent: Option<String>,
    pub(crate) user: Option<String>,
    pub(crate) cwd: PathBuf,
    /// Every file of the workspace that settings and prompt come from, as it was when it was read.
    pub(crate) used_files: BTreeSet<UsedFile>,
    /// Skills that count because the person trusted them with the workspace, by path and digest.
    pub(crate) local_skills: BTreeMap<String, [u8; 32]>,
    pub(crate) tool_sources: Arc<BTreeMap<String, ToolSource>>,
    /// What it was gathered for.
    pub(crate) request: foreword_gather::Request,
    /// What the agent is told: the message, followed by the skill it asks for and the fenced external texts.
    pub(crate) message: String,
    pub(crate) external: Vec<FencedText>,
}

impl std::fmt::Debug for ComposedTurn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ComposedTurn").field("runner", &self.runner).finish_non_exhaustive()
    }
}

impl Host {
    /// The Context of a session's next turn and its blueprint, for inspection. Compiling it gives the
    /// prompt that the turn would send.
    pub fn next_prompt(&self, request: &TurnRequest) -> Result<Gathered, HostError> {
        let (session, canary) = self.session_of(request)?;
        let turn = self.compose(request, session.as_ref(), &canary)?;
        Ok(Gathered {
            context: turn.context,
            blueprint: turn.blueprint,
            blueprint_file: turn.blueprint_file,
            warnings: turn.warnings,
            used_files: turn.used_files,
            local_skills: turn.local_skills,
            tool_sources: turn.tool_sources,
        })
    }

    /// Composes the prompt of a turn. Changes nothing.
    pub(crate) fn compose(
        &self,
        request: &TurnRequest,
        session: Option<&Session>,
        canary: &str,
    ) -> Result<ComposedTurn, HostError> {
        let workspace = self.workspace()?;
        let config = workspace.config().clone();
        let runner =
            request.runner.or_else(|| session.and_then(runner_of)).unwrap_or(config.host.runner);
        let agent = request.agent.clone().or_else(|| session.and_then(|s| s.agent.clone()));
        let user = request.user.clone().or_else(|| session.and_then(|s| s.user.clone()));
        let sandbox = self.sandbox(request.sandbox.unwrap_or(config.host.sandbox))?;
        let cwd = self.directory(request.cwd.as_deref())?;
        let mut taint = self.taint_of(session)?;
        let now = || Timestamp::from_unix(self.now().div_euclid(1000));
        let gather_request = foreword_gather::Request {
            agent,
            task: Some(request.message.clone()),
            session: session.map(|session| session.id.as_str().to_owned()),
            user_id: user.clone(),
            model: request.model.clone(),
            mode: request.mode,
            hints: request.hints,
            reply_gate: request.reply_gate,
            agent_type: Some(runner.agent_type().to_owned()),
            runner: Some(runner),
            sandbox_type: Some(prompt_name(sandbox.as_ref())),
            taint_ratio: Some(taint.ratio()),
            canary: Some(canary.to_owned()),
            runtime_context: request.runtime_context.clone(),
            now: Some(request.now.clone().unwrap_or_else(now)),
            cwd: Some(cwd.clone()),
            default_tools: tools::DEFAULT.map(str::to_owned).to_vec(),
            ..self.request()
        };
        let gathered = self.assembler.assemble(&gather_request)?;
        let mut used_files = gathered.used_files;
        used_files.extend(workspace.used_files());
        // A host keeps its embeddings in memory, so a missing or stale index costs it only the first turn.
        let mut warnings = gathered.warnings;
        warnings.retain(|warning| !warning.is_missing_index() && !warning.is_stale_index());
        let (mut context, blueprint) = (gathered.context, gathered.blueprint);
        let is_default_model = context.model.as_ref().is_none_or(|name| name.inspect().is_empty());
        if is_default_model {
            context.model = self.default_model(&config.model)?;
        }
        let model_chosen_by =
            model_chosen_by(request, &workspace, context.agent_id.as_ref().map(Line::inspect));
        if request.origin != Origin::Person {
            let unattended = blueprint.unattended_prompt_mode();
            context.prompt_mode = unattended.unwrap_or(context.prompt_mode);
        }
        if blueprint.has_turn_context() {
            // The message follows the turn context, which therefore need not repeat it.
            context.mode = Choice::Fixed(context.mode());
            context.task = Document::default();
        } else if request.origin.provenance() == Provenance::External {
            context.task = Document::new(TAINTED_TASK);
        }
        // The session keeps its agent even if the workspace's default changes.
        let agent = context.agent_id.as_ref().map(|id| id.inspect().to_owned());
        let allow_skills = tools::allows_skills(&workspace, agent.as_deref());
        let max_schemas = config.assembly.max_schemas;
        if tools::is_crowd(&context, &gathered.tool_sources, max_schemas) {
            // The first message decides, so that the list is the same in every turn.
            let first =
                session.map(|session| self.reader.first_message(&session.id)).transpose()?;
            let first = first.flatten().unwrap_or_else(|| request.message.clone());
            let fitting = self.rank_tools(&gather_request, &first)?;
            let max_fitting = config.assembly.max_tools;
            let sent = Sent { fitting, max_fitting };
            tools::defer(&mut context, &gathered.tool_sources, &sent, runner);
        }
        let mut tools = CallableTools::of(&context, &gathered.tool_sources, &self.root);
        if !tools.servers.is_empty() {
            tools.known_servers = self.known_servers()?;
        }
        let schemas = serde_json::to_string(&tools.specs).unwrap_or_default();
        let mut external = self.fence_all(&request.external)?;
        if let Some(call) = request.skill.as_ref().filter(|_| request.origin == Origin::Person) {
            if !allow_skills {
                return Err(HostError::SkillsOff { skill: call.name.clone() });
            }
            external.insert(0, self.invoked(call)?);
        }
        let mut message = request.origin.frame(&request.message);
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

        let history = self.history(session, &context, &blueprint, reading(&tools.specs))?;
        context.history_tokens = history.tokens;
        context.history_omitted = history.omitted;
        let began = Instant::now();
        let prompt = blueprint.build(&context);
        let build_time_ms = began.elapsed().as_secs_f64() * 1000.0;
        Ok(ComposedTurn {
            prompt,
            build_time_ms,
            blueprint_file: gathered.blueprint_file,
            warnings,
            message,
            external,
            context,
            blueprint,
            runner,
            is_default_model,
            model_chosen_by,
            tools,
            allow_skills,
            history,
            config,
            sandbox,
            agent,
            user,
            cwd,
            used_files,
            local_skills: gathered.local_skills,
            tool_sources: gathered.tool_sources,
            request: gather_request,
        })
    }

    /// The tools of an agent by how well they fit a need, best first.
    pub(crate) fn rank_tools(
        &self,
        request: &foreword_gather::Request,
        need: &str,
    ) -> Result<Vec<String>, HostError> {
        Ok(self.assembler.rank_tools(request, need)?)
    }

    /// How much of a session came from outside; nothing of one that does not exist yet.
    pub(crate) fn taint_of(&self, session: Option<&Session>) -> Result<TaintLevel, HostError> {
        Ok(match session {
            Some(session) => self.totals(&session.id)?,
            None => TaintLevel::default(),
        })
    }

    /// The session a request continues, if it exists, and its canary or the one it will get.
    pub(crate) fn session_of(
        &self,
        request: &TurnRequest,
    ) -> Result<(Option<Session>, String), HostError> {
        let found = match &request.session {
            Some(id) => self.reader.session(id)?,
            None => None,
        };
        let canary = self.canary_of(request.session.as_ref(), found.as_ref())?;
        Ok((found, canary))
    }

    /// The canary of a session: the stored one, or the one that a new session of this name gets. The
    /// prompt of a session can so be shown before its first turn.
    pub(crate) fn canary_of(
        &self,
        id: Option<&SessionId>,
        found: Option<&Session>,
    ) -> Result<String, HostError> {
        if let Some(session) = found {
            return Ok(session.canary().to_owned());
        }
        let name = id.map_or("", SessionId::as_str);
        let seed = self.reader.new_session_seed(&self.key, name)?;
        Ok(Canary::from_random(seed).as_str().to_owned())
    }

    /// The conversation as far as it fits into the window beside the prompt. History gets at least
    /// half of the available tokens.
    fn history(
        &self,
        session: Option<&Session>,
        context: &Context,
        blueprint: &Blueprint,
        reading: Reading,
    ) -> Result<History, HostError> {
        let room = u64::try_from(context.available_tokens()).unwrap_or(0);
        let prompt = u64::from(blueprint.build(context).tokens());
        let room = room.saturating_sub(prompt).max(room / 2);
        let Some(session) = session else { return Ok(History { room, ..History::default() }) };
        let stored = self.reader.history(&session.id, TurnRange::newest(MAX_HISTORY_TURNS))?;
        let turns = stored.into_iter().map(PastTurn::of).collect();
        let compaction = self.reader.last_compaction(&session.id)?;
        Ok(Conversation::of(turns, compaction.as_ref(), reading).within(room, reading))
    }
}

/// Whether the agent can read results again that a compaction shortened.
pub(crate) fn reading(tools: &[ToolSpec]) -> Reading {
    match tools.iter().any(|tool| tool.name == RESULT_READ) {
        true => Reading::Offered,
        false => Reading::NotOffered,
    }
}

/// Who chose the model of a turn.
fn model_chosen_by(request: &TurnRequest, workspace: &Workspace, agent: Option<&str>) -> String {
    if request.model.is_some() {
        return match request.origin {
            Origin::Person => "`--model`".to_owned(),
            _ => "the agent that asked for it".to_owned(),
        };
    }
    let agent = agent.and_then(|id| workspace.agent(id).ok());
    if let Some(agent) = agent.filter(|agent| agent.model.is_some()) {
        return agent.asked_by("model").to_string();
    }
    match &workspace.config().model.name {
        Some(_) => {
            let table = workspace.config_asked_by(&["model", "name"]);
            let place =
                if table.line.is_some() { table } else { workspace.config_asked_by(&["model"]) };
            place.to_string()
        }
        None => "Foreword's default for this provider".to_owned(),
    }
}

fn runner_of(session: &Session) -> Option<RunnerKind> {
    session.runner.parse().ok()
}
