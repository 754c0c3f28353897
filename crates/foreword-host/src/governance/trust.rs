//! Whether the person trusts the workspace as it is now.

use foreword_store::{Event, Outcome};
use foreword_workspace::{
    CONFIG_FILE, Config, Consent, GovernedContents, GovernedGroup, Review, Settings, Standing,
    TrustStore,
};
use serde_json::json;

use crate::error::HostError;
use crate::host::Host;
use crate::turn::process_identity;

/// Changed files and settings that an error names.
const MAX_CHANGES_NAMED: usize = 10;

impl Host {
    /// The person's own settings, read again from their file.
    pub fn settings(&self) -> Result<Settings, HostError> {
        Ok(Settings::load(&self.options.config_dir)?)
    }

    /// Whether the person trusts the workspace, and what there is to trust now. Skills are not among
    /// the files: each has an approval of its own.
    pub fn standing(&self) -> Result<(Standing, Review), HostError> {
        let now = self.workspace()?.review(&self.settings()?)?;
        Ok((self.trust_store()?.standing(&now)?, now))
    }

    fn trust_store(&self) -> Result<TrustStore, HostError> {
        Ok(TrustStore::open(&self.options.config_dir, &self.root)?)
    }

    fn has_running_turn(&self) -> Result<bool, HostError> {
        let running = self.reader.running_turns(None)?;
        Ok(running.iter().any(|turn| process_identity::is_alive(&turn.owner)))
    }

    /// Fails unless files and settings are as the person accepted them.
    pub(crate) fn check_trusted(&self) -> Result<(), HostError> {
        match self.standing()?.0 {
            Standing::Trusted => Ok(()),
            Standing::Unknown => Err(HostError::NotTrusted),
            Standing::Changed(changes) => {
                let files = changes.files.into_iter().map(|change| change.path);
                let settings = changes.settings.into_iter();
                let settings = settings.map(|change| format!("{CONFIG_FILE} ({})", change.key));
                let files = files.chain(settings).take(MAX_CHANGES_NAMED).collect();
                Err(HostError::TrustedFilesChanged { files })
            }
        }
    }

    /// Fails unless the settings that a turn was prepared with are those the person accepted. They were
    /// read at another moment than those that `check_trusted` compares.
    pub(crate) fn check_settings(&self, config: &Config) -> Result<(), HostError> {
        let missing = Consent::of(&self.options.config_dir, &self.root)?.missing(config);
        if missing.is_empty() {
            return Ok(());
        }
        let files = missing.into_iter().map(|change| format!("{CONFIG_FILE} ({})", change.key));
        Err(HostError::TrustedFilesChanged { files: files.take(MAX_CHANGES_NAMED).collect() })
    }

    /// The governed files as the person accepted them.
    pub(crate) fn accepted(&self) -> Result<Option<GovernedContents>, HostError> {
        Ok(self.trust_store()?.accepted()?.map(|accepted| accepted.files))
    }

    /// Trusts a file that the host changed because the person approved it.
    pub(crate) fn trust_file(&self, path: &str) -> Result<(), HostError> {
        let now = self.workspace()?.governed()?.read(&GovernedGroup::TRUSTED)?;
        Ok(self.trust_store()?.accept_only(&now, &[path])?)
    }

    /// Trusts the workspace as it was shown to the person. Refused while an agent is running, since its
    /// changes could be taken for the person's.
    pub fn trust(&self, shown: &Review) -> Result<(), HostError> {
        let changed = matches!(self.standing()?.0, Standing::Changed(_));
        if changed && self.has_running_turn()? {
            return Err(HostError::AgentRunning);
        }
        self.trust_store()?.accept(shown)?;
        let event = Event::new(&self.options.person, "workspace.trust", ".", Outcome::Done);
        self.record_durably(event.with_detail(json!({
            "files": shown.files.files.len(), "settings": shown.settings,
        })))
    }

    /// Forgets that the person trusted the workspace; `false` if they never did.
    pub fn revoke_trust(&self) -> Result<bool, HostError> {
        let revoked = self.trust_store()?.revoke()?;
        if revoked {
            let event = Event::new(&self.options.person, "workspace.revoke", ".", Outcome::Done);
            self.record_durably(event)?;
        }
        Ok(revoked)
    }
}
