//! A session for a third-party client, such as an MCP client or a channel adapter. It runs no agent of
//! ours, but its actions are gated, counted and recorded like an agent's.

use std::sync::Arc;

use foreword::{Context, Prompt, Timestamp};
use foreword_gather::Request;
use foreword_protocol::{Action, Failure, actions};
use foreword_store::{NewSession, SessionId};
use serde_json::Value;

use crate::actions::perform;
use crate::error::HostError;
use crate::host::Host;
use crate::random::new_canary;
use crate::tools;
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
        if let Some(agent) = &agent {
            workspace.agent(agent)?;
        }
        let id = match id {
            Some(id) => id,
            None => SessionId::random()?,
        };
        let session = match self.reader.session(&id)? {
            Some(session) => session,
            None => self.create_session(NewSession {
                id,
                agent: agent.clone(),
                user: None,
                runner: RUNNER.to_owned(),
                canary: new_canary()?.as_str().to_owned(),
                parent: None,
                depth: 0,
                channel: channel.to_owned(),
            })?,
        };
        let (_, context) = self.prompt_of(agent.as_deref(), None)?;
        let identity = SessionIdentity {
            session: session.id.clone(),
            agent,
            user: None,
            turn: None,
            depth: 0,
            cwd: self.root.clone(),
        };
        let callable = actions().iter().filter(|action| action.is_tool());
        let tools = callable.filter_map(|action| tools::spec(action.name)).collect();
        let prompt = SessionPrompt { context, tools };
        let (settings, tree) = (config.host.clone(), AgentTree::of(&config.host));
        let active = ActiveSession::new(self, &session, identity, prompt, None, settings, tree);
        Ok(ClientSession { active })
    }

    /// Builds the prompt of an agent.
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

    /// The ids of the workspace's agents.
    pub fn agents(&self) -> Result<Vec<String>, HostError> {
        Ok(self.workspace()?.agent_ids()?)
    }
}

impl ClientSession {
    pub fn id(&self) -> &SessionId {
        &self.active.identity.session
    }

    /// Performs an action, with the checks and the audit entry that an agent's call has.
    pub fn call(&self, action: Action) -> Result<Value, Failure> {
        self.active.admit()?;
        perform(&self.active, action, &mut |_| Ok(()))
    }
}
