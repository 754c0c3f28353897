//! A session while a turn lasts: what its agent may do, and what it has taken in.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use foreword::Context;
use foreword_guard::{Canary, Detector, Provenance, TaintLevel};
use foreword_protocol::{ErrorCode, Failure, RunnerKind};
use foreword_protocol::{ToolSpec, Usage};
use foreword_store::{Content, Event, Outcome, Session, SessionId, TurnNumber, TurnUsage};
use foreword_workspace::HostSettings;

use crate::error::HostError;
use crate::host::Host;
use crate::model::call_policy::ModelCallPolicy;
use crate::model::upstream::Upstream;
use crate::turn::agent_tree::AgentTree;
use crate::turn::prepare::PreparedTurn;
use crate::turn::rate_limit::RateLimit;

/// A session while a turn lasts.
pub(crate) struct ActiveSession {
    pub(crate) host: Arc<Host>,
    pub(crate) session: SessionId,
    pub(crate) agent: Option<String>,
    pub(crate) user: Option<String>,
    pub(crate) turn: Option<TurnNumber>,
    pub(crate) depth: u32,
    pub(crate) tree: AgentTree,
    pub(crate) token: String,
    /// What every call of the model has to keep to.
    pub(crate) policy: ModelCallPolicy,
    /// The system text that every call of the model has to contain.
    pub(crate) prompt: String,
    pub(crate) context: Context,
    pub(crate) threshold: f64,
    pub(crate) canaries: Vec<Canary>,
    pub(crate) detector: Detector,
    pub(crate) tools: Vec<ToolSpec>,
    pub(crate) upstream: Option<Upstream>,
    pub(crate) settings: HostSettings,
    pub(crate) rate_limit: Mutex<RateLimit>,
    pub(crate) spent: Mutex<TurnUsage>,
    /// Set when a canary was found where it must not be.
    pub(crate) leaked: Mutex<Option<String>>,
    pub(crate) activity: Activity,
}

/// Whether the agent does anything: calls under way, and when the last one began or ended.
#[derive(Debug)]
pub(crate) struct Activity {
    under_way: AtomicUsize,
    last: Mutex<Instant>,
    /// What the host itself did for those calls, in nanoseconds.
    busy: AtomicU64,
    /// Calls of the model that were begun.
    model_calls: AtomicU64,
}

impl Activity {
    pub(crate) fn new() -> Self {
        Self {
            under_way: AtomicUsize::new(0),
            last: Mutex::new(Instant::now()),
            busy: AtomicU64::new(0),
            model_calls: AtomicU64::new(0),
        }
    }

    /// How long nothing was heard; no time at all while a call is under way.
    pub(crate) fn silence(&self) -> Duration {
        if self.under_way.load(Ordering::SeqCst) > 0 {
            return Duration::ZERO;
        }
        self.last.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    /// Counts a call of the model, and gives how many there were before it.
    pub(crate) fn count_model_call(&self) -> u64 {
        self.model_calls.fetch_add(1, Ordering::SeqCst)
    }

    /// Something was heard.
    pub(crate) fn note(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}

impl ActiveSession {
    /// A session as a turn, or somebody who only talks to it, finds it.
    pub(crate) fn new(
        host: &Arc<Host>,
        session: &Session,
        turn: Option<TurnNumber>,
        depth: u32,
        token: String,
        prepared: &PreparedTurn,
    ) -> Self {
        let canaries: Vec<Canary> =
            session.canaries().iter().filter_map(|canary| Canary::parse(canary)).collect();
        let settings = prepared.config.host.clone();
        Self {
            host: Arc::clone(host),
            session: session.id.clone(),
            agent: prepared.agent.clone(),
            user: prepared.user.clone(),
            turn,
            depth,
            tree: prepared.tree.branch(),
            token,
            policy: ModelCallPolicy {
                alone: prepared.runner == RunnerKind::Native,
                model: prepared.model.clone(),
                max_tokens: u64::from(prepared.max_output_tokens()),
            },
            prompt: prepared.prompt.system().to_owned(),
            context: prepared.context.clone(),
            threshold: prepared.context.taint_threshold(),
            detector: Detector::new(&canaries),
            canaries,
            tools: prepared.tools.clone(),
            upstream: Some(prepared.upstream.clone()),
            rate_limit: Mutex::new(RateLimit::new(settings.calls_per_second, Instant::now())),
            settings,
            spent: Mutex::default(),
            leaked: Mutex::default(),
            activity: Activity::new(),
        }
    }

    /// Counts time that the host itself took.
    pub(crate) fn worked(&self, time: Duration) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.activity.busy.fetch_add(nanos, Ordering::Relaxed);
    }

    /// The time that the host itself took for the agent's calls.
    pub(crate) fn busy(&self) -> Duration {
        Duration::from_nanos(self.activity.busy.load(Ordering::Relaxed))
    }

    /// Who acts, as the audit log names it.
    pub(crate) fn actor(&self) -> String {
        format!("agent:{}", self.agent.as_deref().unwrap_or("default"))
    }

    /// Something that happened in this session.
    pub(crate) fn event(&self, action: &str, outcome: Outcome) -> Event {
        Event::new(self.actor(), action, self.session.as_str(), outcome)
    }

    /// What the session has taken in so far.
    pub(crate) fn taint(&self) -> Result<TaintLevel, HostError> {
        let totals = self.host.reader.content_totals(&self.session)?;
        Ok(totals)
    }

    /// Records a content that enters the session.
    pub(crate) fn take_in(
        &self,
        provenance: Provenance,
        source: &str,
        tokens: u64,
        external: bool,
    ) -> Result<TaintLevel, HostError> {
        let now = self.host.now();
        let content = Content { provenance, source: source.to_owned(), tokens, external, at: now };
        let (session, turn) = (self.session.clone(), self.turn);
        let totals = self
            .host
            .writer
            .write(now, move |write| write.content_add(&session, turn, &content))?;
        Ok(totals)
    }

    /// Lets a line through, or says how long to wait.
    pub(crate) fn admit(&self) -> Result<(), Failure> {
        let mut rate_limit = self.rate_limit.lock().unwrap_or_else(PoisonError::into_inner);
        rate_limit.take(Instant::now()).map_err(|wait| {
            Failure::new(
                ErrorCode::RateLimited,
                format!(
                    "more than {} calls a second; wait {} ms (host.calls_per_second)",
                    self.settings.calls_per_second,
                    wait.as_millis().max(1)
                ),
            )
        })
    }

    /// Notes that a canary was found where it must not be.
    pub(crate) fn note_leak(&self, place: &str, form: &str) {
        let event = self
            .event("canary.leak", Outcome::Refused)
            .with_detail(serde_json::json!({ "place": place, "form": form }));
        self.host.record(event);
        let mut leaked = self.leaked.lock().unwrap_or_else(PoisonError::into_inner);
        leaked.get_or_insert_with(|| place.to_owned());
    }

    /// What must not be shown: the key of the model.
    pub(crate) fn secrets(&self) -> Vec<&str> {
        let credential = self.upstream.as_ref().and_then(|upstream| upstream.credential.as_ref());
        credential.map(|key| key.expose()).into_iter().collect()
    }

    pub(crate) fn begin_call(&self) {
        self.activity.under_way.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn end_call(&self) {
        self.activity.note();
        self.activity.under_way.fetch_sub(1, Ordering::SeqCst);
    }

    pub(crate) fn spend(&self, usage: Usage) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        spent.add_call(usage);
    }

    pub(crate) fn spent(&self) -> TurnUsage {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
