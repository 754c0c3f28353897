//! Whether the person trusts the workspace as it is now.

use foreword_store::{Event, Outcome};
use foreword_workspace::{GovernedContents, GovernedGroup};
use serde_json::json;

use crate::error::HostError;
use crate::governance::trust_store::{Standing, TrustStore};
use crate::host::Host;
use crate::turn::process_identity;

/// Changed files that an error names.
const MAX_FILES_NAMED: usize = 10;

impl Host {
    /// Whether the person trusts the workspace, and its current governed files. Skills are not among
    /// them: each has an approval of its own.
    pub fn standing(&self) -> Result<(Standing, GovernedContents), HostError> {
        let now = self.workspace()?.governed()?.read(&GovernedGroup::TRUSTED)?;
        Ok((self.trust_store()?.standing(&now)?, now))
    }

    fn trust_store(&self) -> Result<TrustStore, HostError> {
        Ok(TrustStore::open(&self.options.config_dir, &self.root)?)
    }

    fn has_running_turn(&self) -> Result<bool, HostError> {
        let running = self.reader.running_turns(None)?;
        Ok(running.iter().any(|turn| process_identity::is_alive(&turn.owner)))
    }

    /// Fails unless the governed files are as the person accepted them.
    pub(crate) fn check_trusted(&self) -> Result<(), HostError> {
        match self.standing()?.0 {
            Standing::Trusted => Ok(()),
            Standing::Unknown => Err(HostError::NotTrusted),
            Standing::Changed(changes) => Err(HostError::TrustedFilesChanged {
                files: changes
                    .into_iter()
                    .map(|change| change.path)
                    .take(MAX_FILES_NAMED)
                    .collect(),
            }),
        }
    }

    /// The governed files as the person accepted them.
    pub(crate) fn accepted(&self) -> Result<Option<GovernedContents>, HostError> {
        Ok(self.trust_store()?.accepted()?)
    }

    /// Trusts a file that the host changed because the person approved it.
    pub(crate) fn trust_file(&self, path: &str) -> Result<(), HostError> {
        let now = self.workspace()?.governed()?.read(&GovernedGroup::TRUSTED)?;
        Ok(self.trust_store()?.accept_only(&now, &[path])?)
    }

    /// Trusts the workspace as it was shown to the person. Refused while an agent is running, since its
    /// changes could be taken for the person's.
    pub fn trust(&self, shown: &GovernedContents) -> Result<(), HostError> {
        let changed = matches!(self.standing()?.0, Standing::Changed(_));
        if changed && self.has_running_turn()? {
            return Err(HostError::AgentRunning);
        }
        self.trust_store()?.accept(shown)?;
        let event = Event::new(&self.options.person, "workspace.trust", ".", Outcome::Done);
        self.record_durably(event.with_detail(json!({ "files": shown.files.len() })))
    }
}
