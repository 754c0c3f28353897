//! A session for a third-party client, such as an MCP client or a channel adapter. It runs no agent of
//! ours, but its actions are gated, counted and recorded like an agent's.

use std::sync::Arc;
use std::time::Instant;

use foreword::{Prompt, Timestamp};
use foreword_gather::{Gathered, Request, is_offered};
use foreword_protocol::{Action, Failure, actions};
use foreword_store::{NewSession, SessionId};
use serde_json::Value;

use crate::actions::perform;
use crate::error::HostError;
use crate::host::Host;
use crate::prompt_log::log_prompt;
use crate::tools::{self, CallableTools};
use crate::turn::active_session::{ActiveSession, SessionIdentity, SessionPrompt};
use crate::turn::agent_tree::AgentTree;

/// What the database calls the runner of such a session.
const RUNNER: &str = "client";

/// A session without an agent of ours.
pub struct ClientSession {
    active: ActiveSession,
}

impl std::fmt::Debug for ClientSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientSession").field("session", self.id()).finish_non_exhaustive()
    }
}

impl Host {
    /// Continues a client's session, or creates one.
    pub fn client_session(
        self: &Arc<Self>,
        id: Option<SessionId>,
        agent: Option<&str>,
        channel: &str,
    ) -> Result<ClientSession, HostError> {
        let workspace = self.workspace()?;
        let config = workspace.config();
        let agent = agent.or(config.agent.as_deref()).map(str::to_owned);
        let known = agent.as_deref().map(|id| workspace.agent(id)).transpose()?;
        let id = match id {
            Some(id) => id,
            None => SessionId::random()?,
        };
        let found = self.reader.session(&id)?;
        let canary = self.canary_of(Some(&id), found.as_ref())?;
        let session = match found {
            Some(session) => session,
            None => self.create_session(NewSession {
                id,
                agent: agent.clone(),
                user: None,
                runner: RUNNER.to_owned(),
                canary,
                parent: None,
                depth: 0,
                channel: channel.to_owned(),
            })?,
        };
        let context = self.client_prompt(&session.id, agent.as_deref(), None, None)?.context;
        let identity = SessionIdentity {
            session: session.id.clone(),
            agent,
            user: None,
            turn: None,
            depth: 0,
            cwd: self.root.clone(),
        };
        let allow_skills = tools::allows_skills(&workspace, identity.agent.as_deref());
        let callable = actions().iter().filter(|action| action.is_tool());
        let offered = callable.filter(|action| is_offered(config, known.as_ref(), action.name));
        let specs = offered.filter_map(|action| tools::spec(action.name)).collect();
        let tools = CallableTools { specs, ..CallableTools::default() };
        let prompt = SessionPrompt { context, tools, allow_skills, request: self.request() };
        let (settings, tree) = (config.host.clone(), AgentTree::of(&config.host));
        let permissions = self.permission_table(config, &self.settings()?)?;
        let active =
            ActiveSession::new(self, &session, identity, prompt, None, settings, tree, permissions);
        Ok(ClientSession { active })
    }

    /// The Context for a client's own loop, with the taint and the canary of its session.
    fn client_prompt(
        &self,
        session: &SessionId,
        agent: Option<&str>,
        task: Option<&str>,
        reply_gate: Option<bool>,
    ) -> Result<Gathered, HostError> {
        let facts = self.session_facts(session)?;
        Ok(self.assembler.assemble(&Request {
            agent: agent.map(str::to_owned),
            task: task.map(str::to_owned),
            now: Some(Timestamp::from_unix(self.now().div_euclid(1000))),
            session: facts.session,
            taint_ratio: facts.taint_ratio,
            canary: facts.canary,
            reply_gate,
            ..self.request()
        })?)
    }

    /// What a prompt says of a session that some other loop continues: its taint and its canary.
    pub fn session_facts(&self, session: &SessionId) -> Result<Request, HostError> {
        let found = self.reader.session(session)?;
        Ok(Request {
            session: found.as_ref().map(|found| found.id.as_str().to_owned()),
            taint_ratio: Some(self.taint_of(found.as_ref())?.ratio()),
            canary: Some(self.canary_of(Some(session), found.as_ref())?),
            ..Request::default()
        })
    }

    /// The ids of the workspace's agents.
    pub fn agents(&self) -> Result<Vec<String>, HostError> {
        Ok(self.workspace()?.agent_ids()?)
    }
}

impl ClientSession {
    pub fn id(&self) -> &SessionId {
        &self.active.identity.session
    }

    /// Whether a client of this session may call a tool.
    pub fn offers(&self, tool: &str) -> bool {
        self.active.prompt.tools.specs.iter().any(|offered| offered.name == tool)
    }

    /// Builds the prompt of an agent for this session. `reply_gate` says whether the agent may stay
    /// silent; the workspace decides where it is absent.
    pub fn prompt_of(
        &self,
        agent: Option<&str>,
        task: Option<&str>,
        reply_gate: Option<bool>,
    ) -> Result<Prompt, HostError> {
        let host = &self.active.host;
        let gathered = host.client_prompt(self.id(), agent, task, reply_gate)?;
        // A client stays for hours: what changed since it connected was not accepted.
        host.check_used(&gathered.used_files)?;
        host.check_skills(&gathered.local_skills)?;
        let began = Instant::now();
        let prompt = gathered.blueprint.build(&gathered.context);
        let build_time_ms = began.elapsed().as_secs_f64() * 1000.0;
        log_prompt(gathered.blueprint.name(), &gathered.context, &prompt, build_time_ms);
        Ok(prompt)
    }

    /// Performs an action, with the checks and the audit entry that an agent's call has.
    pub fn call(&self, action: Action) -> Result<Value, Failure> {
        self.active.admit()?;
        perform(&self.active, action, &mut |_| Ok(()))
    }
}
