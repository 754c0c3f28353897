//! A session's socket without an agent: for adapters of channels, which bring in content, for an MCP
//! server, and for whoever measures.

use std::path::PathBuf;
use std::sync::Arc;

use foreword_store::SessionId;

use crate::error::HostError;
use crate::host::Host;
use crate::random::random_hex;
use crate::turn::active_session::ActiveSession;
use crate::turn::prepare::TurnRequest;
use crate::turn::run_dir::RunDir;
use crate::turn::server::Server;

/// The socket of a session, answered until this is dropped.
pub struct SessionSocket {
    // Dropped in this order: nobody is answered on a socket that is gone.
    _server: Server,
    active: Arc<ActiveSession>,
    run_dir: RunDir,
}

impl std::fmt::Debug for SessionSocket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionSocket").field("session", self.session()).finish_non_exhaustive()
    }
}

impl SessionSocket {
    /// Where it is.
    pub fn path(&self) -> PathBuf {
        self.run_dir.socket()
    }

    /// What every call has to carry.
    pub fn token(&self) -> &str {
        &self.active.token
    }

    /// The session.
    pub fn session(&self) -> &SessionId {
        &self.active.session
    }

    /// The system text that every call of the model has to contain.
    pub fn system(&self) -> &str {
        &self.active.prompt
    }
}

impl Host {
    /// Opens a session, which is made if it is new, and answers on a socket of its own with the limits
    /// and the record that an agent's calls have. The message of the request is said to nobody.
    ///
    /// # Errors
    ///
    /// As for a turn that cannot start.
    pub fn serve_session(
        self: &Arc<Self>,
        request: &TurnRequest,
    ) -> Result<SessionSocket, HostError> {
        let (found, canary) = self.session_of(request)?;
        let prepared = self.prepare(request, found.as_ref(), &canary)?;
        let session = match found {
            Some(session) => session,
            None => self.new_session(request, &prepared, &canary)?,
        };
        let run_dir = RunDir::create(&self.options.run_base, &random_hex::<8>()?, &self.owner)?;
        let token = random_hex::<32>()?;
        let active =
            Arc::new(ActiveSession::new(self, &session, None, request.depth, token, &prepared));
        let server = Server::start(&active, &run_dir.socket())?;
        Ok(SessionSocket { _server: server, active, run_dir })
    }
}
