//! A session's socket without an agent: for channel adapters, for an MCP server, and for benchmarks.

use std::path::PathBuf;
use std::sync::Arc;

use foreword_store::SessionId;

use crate::error::HostError;
use crate::host::Host;
use crate::random::random_hex;
use crate::turn::active_session::ActiveSession;
use crate::turn::request::TurnRequest;
use crate::turn::run_dir::RunDir;
use crate::turn::server::Server;

/// The socket of a session, served until this is dropped.
pub struct SessionSocket {
    // Dropped in this order: the server stops before its directory is removed.
    _server: Server,
    active: Arc<ActiveSession>,
    token: String,
    run_dir: RunDir,
}

impl std::fmt::Debug for SessionSocket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionSocket").field("session", self.session()).finish_non_exhaustive()
    }
}

impl SessionSocket {
    pub fn path(&self) -> PathBuf {
        self.run_dir.socket()
    }

    /// The token that every call must carry.
    pub fn token(&self) -> &str {
        &self.token
    }

    pub fn session(&self) -> &SessionId {
        &self.active.identity.session
    }

    /// The system text that every model call must contain.
    pub fn system(&self) -> &str {
        self.active.model.as_ref().map_or("", |model| &model.policy.system)
    }
}

impl Host {
    /// Opens a session, creates it if it is new, and serves its socket with the limits and the audit
    /// entries that an agent's calls have. The request's message is not sent to a model.
    pub fn serve_session(
        self: &Arc<Self>,
        request: &TurnRequest,
    ) -> Result<SessionSocket, HostError> {
        let request = &*request.named()?;
        let (found, canary) = self.session_of(request)?;
        let prepared = self.prepare(request, found.as_ref(), &canary)?;
        prepared.upstream.check_key()?;
        let session = match found {
            Some(session) => session,
            None => self.new_session(request, &prepared, &canary)?,
        };
        let before = self.spent_before(&prepared.limits, Some(&session.id))?;
        prepared.set_budget(&session.id, before);
        let run_dir = RunDir::create(&self.options.run_base, &random_hex::<8>()?, &self.owner)?;
        let token = random_hex::<32>()?;
        let active = ActiveSession::of_turn(self, &session, None, request.depth, &prepared);
        let active = Arc::new(active);
        let server = Server::start(&active, &run_dir.socket(), token.clone())?;
        Ok(SessionSocket { _server: server, active, token, run_dir })
    }
}
