//! A session while somebody acts in it: an agent during its turn, or a client.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use foreword::{Context, Profile};
use foreword_guard::{
    Canary, Detector, PermissionTable, Provenance, ScanDecision, TaintGate, TaintLevel,
};
use foreword_protocol::{ErrorCode, Failure, RunnerKind};
use foreword_store::{Content, Event, Outcome, Session, SessionId, TurnNumber};
use foreword_workspace::HostSettings;
use serde_json::Value;

use crate::error::HostError;
use crate::host::Host;
use crate::mcp::pool::ServerPool;
use crate::model::call_policy::ModelCallPolicy;
use crate::model::upstream::Upstream;
use crate::spending::LimitReached;
use crate::spending::budget::TurnBudget;
use crate::tools::CallableTools;
use crate::turn::activity::Activity;
use crate::turn::agent_tree::AgentTree;
use crate::turn::prepare::PreparedTurn;
use crate::turn::rate_limit::RateLimit;
use crate::turn::report::{MAX_KEPT, RefusedCall};
use crate::turn::tainted_files::TaintedFiles;
use crate::turn::tool_results::{CountedResults, OwnWords};
use crate::turn::trusted_files::TrustedFiles;
use crate::turn::warning::Warning;

/// A session while somebody acts in it.
pub(crate) struct ActiveSession {
    pub(crate) host: Arc<Host>,
    pub(crate) identity: SessionIdentity,
    pub(crate) prompt: SessionPrompt,
    /// Absent where no model may be called.
    pub(crate) model: Option<ModelAccess>,
    pub(crate) canary: CanaryWatch,
    pub(crate) settings: HostSettings,
    pub(crate) tree: AgentTree,
    pub(crate) activity: Activity,
    pub(crate) tainted_files: TaintedFiles,
    pub(crate) trusted_files: TrustedFiles,
    pub(crate) counted_results: CountedResults,
    pub(crate) own_words: OwnWords,
    /// MCP servers that run for this turn.
    pub(crate) servers: ServerPool,
    permissions: Mutex<PermissionTable>,
    rate_limit: Mutex<RateLimit>,
    refused_calls: Mutex<Vec<RefusedCall>>,
}

/// Which session it is, and who acts in it.
pub(crate) struct SessionIdentity {
    pub(crate) session: SessionId,
    pub(crate) agent: Option<String>,
    pub(crate) user: Option<String>,
    /// Absent outside a turn.
    pub(crate) turn: Option<TurnNumber>,
    /// How many agents are above this one.
    pub(crate) depth: u32,
    /// The working directory.
    pub(crate) cwd: PathBuf,
}

/// What the prompt of the session says and offers.
pub(crate) struct SessionPrompt {
    pub(crate) context: Context,
    pub(crate) tools: CallableTools,
    /// Whether the agent may use skills at all.
    pub(crate) allow_skills: bool,
    /// What the tools were gathered for, to rank them again.
    pub(crate) request: foreword_gather::Request,
}

/// The model server of a session, and what each call must comply with.
pub(crate) struct ModelAccess {
    pub(crate) upstream: Upstream,
    pub(crate) policy: ModelCallPolicy,
    /// Who chose the model.
    pub(crate) chosen_by: String,
}

/// The canary tokens of a session, and where the first of them was found.
pub(crate) struct CanaryWatch {
    pub(crate) canaries: Vec<Canary>,
    pub(crate) detector: Detector,
    leaked_at: Mutex<Option<String>>,
}

impl ModelAccess {
    pub(crate) fn of(prepared: &PreparedTurn) -> Self {
        Self {
            upstream: prepared.upstream.clone(),
            chosen_by: prepared.turn.model_chosen_by.clone(),
            policy: ModelCallPolicy {
                system: prepared.turn.prompt.system().to_owned(),
                exclusive: prepared.turn.runner == RunnerKind::Native,
                model: prepared.model.clone(),
                max_tokens: u64::from(prepared.max_output_tokens()),
            },
        }
    }
}

impl CanaryWatch {
    fn new(session: &Session) -> Self {
        let canaries: Vec<Canary> =
            session.canaries().iter().filter_map(|canary| Canary::parse(canary)).collect();
        Self { detector: Detector::new(&canaries), canaries, leaked_at: Mutex::default() }
    }

    /// Where a canary was found, if it was.
    pub(crate) fn leaked_at(&self) -> Option<String> {
        self.leaked_at.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ActiveSession {
    #[expect(clippy::too_many_arguments, reason = "each is a part of the session")]
    pub(crate) fn new(
        host: &Arc<Host>,
        session: &Session,
        identity: SessionIdentity,
        prompt: SessionPrompt,
        model: Option<ModelAccess>,
        settings: HostSettings,
        tree: AgentTree,
        permissions: PermissionTable,
    ) -> Self {
        Self {
            host: Arc::clone(host),
            tainted_files: TaintedFiles::new(&host.root, &identity.cwd),
            trusted_files: TrustedFiles::new(&host.root, &identity.cwd),
            identity,
            prompt,
            model,
            canary: CanaryWatch::new(session),
            rate_limit: Mutex::new(RateLimit::new(settings.calls_per_second, Instant::now())),
            settings,
            tree,
            activity: Activity::new(),
            counted_results: CountedResults::default(),
            own_words: OwnWords::default(),
            servers: ServerPool::default(),
            permissions: Mutex::new(permissions),
            refused_calls: Mutex::default(),
        }
    }

    /// The session of a prepared turn. Without a number, its agent is not started.
    pub(crate) fn of_turn(
        host: &Arc<Host>,
        session: &Session,
        turn: Option<TurnNumber>,
        depth: u32,
        prepared: &PreparedTurn,
    ) -> Self {
        // A request may name another agent or user than the session was created with.
        let identity = SessionIdentity {
            session: session.id.clone(),
            agent: prepared.turn.agent.clone(),
            user: prepared.turn.user.clone(),
            turn,
            depth,
            cwd: prepared.turn.cwd.clone(),
        };
        let prompt = SessionPrompt {
            context: prepared.turn.context.clone(),
            tools: prepared.turn.tools.clone(),
            allow_skills: prepared.turn.allow_skills,
            request: prepared.turn.request.clone(),
        };
        let model = Some(ModelAccess::of(prepared));
        let settings = prepared.turn.config.host.clone();
        let tree = prepared.tree.branch();
        let permissions = prepared.permissions.clone();
        let active = Self::new(host, session, identity, prompt, model, settings, tree, permissions);
        Self { counted_results: CountedResults::of(&prepared.turn.history.messages), ..active }
    }

    /// The permission rules, with what the person answered so far.
    pub(crate) fn permissions(&self) -> MutexGuard<'_, PermissionTable> {
        self.permissions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a call that was refused, for the report of the turn.
    pub(crate) fn note_refused(&self, tool: &str, reason: &str) {
        let mut refused = self.refused_calls.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.len() < MAX_KEPT {
            refused.push(RefusedCall { tool: tool.to_owned(), reason: reason.to_owned() });
        }
    }

    /// The calls that were refused so far.
    pub(crate) fn refused_calls(&self) -> Vec<RefusedCall> {
        self.refused_calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The actor in the audit log.
    pub(crate) fn actor(&self) -> String {
        format!("agent:{}", self.identity.agent.as_deref().unwrap_or("default"))
    }

    /// An audit event about this session.
    pub(crate) fn event(&self, action: &str, outcome: Outcome) -> Event {
        Event::new(self.actor(), action, self.identity.session.as_str(), outcome)
    }

    /// The same, with what was said in the session.
    pub(crate) fn event_with_text(&self, action: &str, outcome: Outcome, text: Value) -> Event {
        self.event(action, outcome).with_text(&self.identity.session, text)
    }

    /// How much external content the session holds.
    pub(crate) fn taint(&self) -> Result<TaintLevel, HostError> {
        self.host.totals(&self.identity.session)
    }

    /// Whether the session holds any external content.
    pub(crate) fn is_tainted(&self) -> Result<bool, HostError> {
        Ok(self.taint()?.is_tainted())
    }

    /// Above this share of external content, sensitive actions are refused.
    pub(crate) fn taint_threshold(&self) -> f64 {
        self.prompt.context.taint_threshold()
    }

    /// What sensitive actions of this session have to comply with.
    pub(crate) fn taint_gate(&self) -> TaintGate {
        TaintGate {
            threshold: self.taint_threshold(),
            since_person: self.prompt.context.profile() != Profile::Yolo,
        }
    }

    /// Records content that enters the session, in the ledger that taint is computed from.
    pub(crate) fn add_content(
        &self,
        provenance: Provenance,
        source: &str,
        tokens: u64,
        external: bool,
    ) -> Result<TaintLevel, HostError> {
        let now = self.host.now();
        let content = Content { provenance, source: source.to_owned(), tokens, external, at: now };
        let (session, turn) = (self.identity.session.clone(), self.identity.turn);
        let totals = self
            .host
            .writer
            .write(now, move |write| write.content_add(&session, turn, &content))?;
        Ok(totals)
    }

    /// Admits a call, or says how long to wait.
    pub(crate) fn admit(&self) -> Result<(), Failure> {
        let mut rate_limit = self.rate_limit.lock().unwrap_or_else(PoisonError::into_inner);
        rate_limit.take(Instant::now()).map_err(|wait| {
            Failure::new(
                ErrorCode::RateLimited,
                format!(
                    "more than {} calls per second (host.calls_per_second); wait {} ms",
                    self.settings.calls_per_second,
                    wait.as_millis().max(1)
                ),
            )
        })
    }

    /// Records that a canary was found where it must not be. The turn ends with its answer held back.
    pub(crate) fn report_leak(&self, place: &str, form: &str) {
        let event = self
            .event("canary.leak", Outcome::Refused)
            .with_detail(serde_json::json!({ "place": place, "form": form }));
        self.host.record(event);
        let mut leaked = self.canary.leaked_at.lock().unwrap_or_else(PoisonError::into_inner);
        leaked.get_or_insert_with(|| place.to_owned());
    }

    /// Records that a tool's result looks like prompt injection, and tells the person.
    pub(crate) fn report_suspect_result(&self, tool: &str, scanned: &ScanDecision) {
        let event =
            self.event("scan.tool_result", Outcome::Refused).with_detail(serde_json::json!({
                "tool": tool, "verdict": scanned.verdict.as_str(), "score": scanned.score,
                "reason": scanned.reason,
            }));
        self.host.record(event);
        let (source, verdict) = (format!("the result of `{tool}`"), scanned.verdict);
        self.host.warn_later(Warning::SuspectContent { source, verdict });
    }

    /// The error of a turn whose model the server does not have.
    pub(crate) fn unknown_model(&self) -> HostError {
        match &self.model {
            Some(ModelAccess { upstream, policy, chosen_by }) => HostError::UnknownModel {
                model: policy.model.clone(),
                provider: upstream.provider_name(),
                server: upstream.base_url.clone(),
                chosen_by: chosen_by.clone(),
            },
            None => HostError::NoModel,
        }
    }

    /// What this agent and those around it may spend.
    pub(crate) fn budget(&self) -> Result<&TurnBudget, Failure> {
        let missing =
            || Failure::new(ErrorCode::Unavailable, "this session has no spending limits");
        self.tree.budget().ok_or_else(missing)
    }

    /// Records that a limit ends the turn.
    pub(crate) fn report_limit(&self, budget: &TurnBudget, limit: &LimitReached) {
        if budget.reach(limit) {
            let event = self.event("limit.reached", Outcome::Refused);
            self.host.record(event.with_detail(serde_json::json!(limit)));
        }
    }

    /// Texts that must never be shown: the model's API key.
    pub(crate) fn secrets(&self) -> Vec<&str> {
        let model = self.model.as_ref();
        let credential = model.and_then(|model| model.upstream.credential.as_ref());
        credential.map(|key| key.expose()).into_iter().collect()
    }
}
