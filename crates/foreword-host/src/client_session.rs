//! A session in which somebody else's client acts: an MCP client, a channel adapter. No agent of ours
//! runs in it, but what it does is gated, counted and put on record all the same.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use foreword::{Context, Prompt, Timestamp};
use foreword_gather::Request;
use foreword_guard::{Canary, Detector, Provenance, scan_input};
use foreword_protocol::{Action, Failure, Who, actions};
use foreword_store::{Event, NewSession, Outcome, SessionId};
use serde_json::{Value, json};

use crate::actions::perform;
use crate::error::HostError;
use crate::host::Host;
use crate::model::call_policy::ModelCallPolicy;
use crate::tools;
use crate::turn::active_session::{ActiveSession, Activity};
use crate::turn::agent_tree::AgentTree;
use crate::turn::rate_limit::RateLimit;

/// A session without an agent of ours.
pub struct ClientSession {
    active: ActiveSession,
}

impl std::fmt::Debug for ClientSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientSession")
            .field("session", &self.active.session)
            .finish_non_exhaustive()
    }
}

impl Host {
    /// Opens a session for a client, or goes on with one.
    ///
    /// # Errors
    ///
    /// If the workspace or the database cannot be used, or there is no such agent.
    pub fn client_session(
        self: &Arc<Self>,
        id: Option<SessionId>,
        agent: Option<&str>,
        channel: &str,
    ) -> Result<ClientSession, HostError> {
        let workspace = self.workspace()?;
        let default = workspace.config().agent.clone();
        let agent = agent.or(default.as_deref());
        if let Some(agent) = agent {
            workspace.agent(agent)?;
        }
        let settings = workspace.config().host.clone();
        let id = match id {
            Some(id) => id,
            None => SessionId::random()?,
        };
        let canary = match self.reader.session(&id)? {
            Some(session) => session.canary().to_owned(),
            None => self.create_client_session(&id, agent, channel)?,
        };
        let (_, context) = self.prompt_of(agent, None)?;
        let canaries: Vec<Canary> = Canary::parse(&canary).into_iter().collect();
        let all = actions().iter().filter(|action| action.who == Who::Agent);
        Ok(ClientSession {
            active: ActiveSession {
                host: Arc::clone(self),
                session: id,
                agent: agent.map(str::to_owned),
                user: None,
                turn: None,
                depth: 0,
                tree: AgentTree::new(settings.max_depth, settings.max_agents),
                token: String::new(),
                policy: ModelCallPolicy::default(),
                prompt: String::new(),
                threshold: context.taint_threshold(),
                context,
                detector: Detector::new(&canaries),
                canaries,
                tools: all.filter_map(|action| tools::spec(action.name)).collect(),
                upstream: None,
                rate_limit: Mutex::new(RateLimit::new(settings.calls_per_second, Instant::now())),
                settings,
                spent: Mutex::default(),
                leaked: Mutex::default(),
                activity: Activity::new(),
            },
        })
    }

    fn create_client_session(
        &self,
        id: &SessionId,
        agent: Option<&str>,
        channel: &str,
    ) -> Result<String, HostError> {
        let canary = crate::random::new_canary()?.as_str().to_owned();
        let new = NewSession {
            id: id.clone(),
            agent: agent.map(str::to_owned),
            user: None,
            runner: "client".to_owned(),
            canary: canary.clone(),
            parent: None,
            depth: 0,
            channel: channel.to_owned(),
        };
        let now = self.now();
        let event = Event::new(&self.options.person, "session.create", id.as_str(), Outcome::Done)
            .with_detail(json!({ "agent": new.agent, "runner": new.runner }));
        self.writer.write(now, move |write| {
            write.session_create(&new, now)?;
            write.audit(&event).map(drop)
        })?;
        Ok(canary)
    }

    /// The prompt of an agent, for a task if there is one.
    ///
    /// # Errors
    ///
    /// If the workspace cannot be gathered, or there is no such agent.
    pub fn prompt_of(
        &self,
        agent: Option<&str>,
        task: Option<&str>,
    ) -> Result<(Prompt, Context), HostError> {
        let gathered = self.assembler.assemble(&Request {
            agent: agent.map(str::to_owned),
            task: task.map(str::to_owned),
            now: Some(Timestamp::from_unix(self.now().div_euclid(1000))),
            ..self.request()
        })?;
        Ok((gathered.blueprint.build(&gathered.context), gathered.context))
    }

    /// The agents of the workspace.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub fn agents(&self) -> Result<Vec<String>, HostError> {
        Ok(self.workspace()?.agent_ids()?)
    }

    /// What the scanner says of a text from outside.
    pub fn scan(&self, text: &str) -> Value {
        match self.scanner() {
            Some(scanner) => {
                let scanned = scan_input(scanner, text, Provenance::External);
                json!({
                    "verdict": scanned.verdict.as_str(), "score": scanned.score,
                    "reason": scanned.reason,
                })
            }
            None => json!({ "verdict": "PASS", "score": 0.0, "reason": "there is no scanner" }),
        }
    }
}

impl ClientSession {
    /// The session.
    pub fn id(&self) -> &SessionId {
        &self.active.session
    }

    /// Carries out an action, as for an agent.
    ///
    /// # Errors
    ///
    /// If it is refused or fails.
    pub fn call(&self, action: Action) -> Result<Value, Failure> {
        self.active.admit()?;
        perform(&self.active, action, &mut |_| Ok(()))
    }
}
