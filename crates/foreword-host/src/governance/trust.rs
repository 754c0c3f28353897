//! Whether the person trusts the workspace, as it is now.

use crate::governance::trust_store::{Standing, TrustStore};
use foreword_store::{Event, Outcome};
use foreword_workspace::{GovernedContents, GovernedGroup};
use serde_json::json;

use crate::error::HostError;
use crate::host::Host;

impl Host {
    /// How the workspace stands with the person, and what its governed files hold now. Skills are not
    /// among them: each has an approval of its own.
    ///
    /// # Errors
    ///
    /// If a governed file, or what is remembered of it, cannot be read.
    pub fn standing(&self) -> Result<(Standing, GovernedContents), HostError> {
        let now = self.workspace()?.governed()?.read(&GovernedGroup::TRUSTED)?;
        let trust = TrustStore::open(&self.options.config_dir, &self.root)?;
        Ok((trust.standing(&now)?, now))
    }

    fn is_at_work(&self) -> Result<bool, HostError> {
        let running = self.reader.running_turns(None)?;
        Ok(running.iter().any(|turn| crate::turn::process_identity::is_alive(&turn.owner)))
    }

    /// Goes on only with governed files as the person accepted them.
    pub(crate) fn check_trusted(&self) -> Result<(), HostError> {
        match self.standing()?.0 {
            Standing::Trusted => Ok(()),
            Standing::Unknown => Err(HostError::Untrusted { files: Vec::new() }),
            Standing::Changed(changes) => Err(HostError::Untrusted {
                files: changes.into_iter().map(|change| change.path).take(10).collect(),
            }),
        }
    }

    /// What the person trusts, as they saw it.
    pub(crate) fn accepted(&self) -> Result<Option<GovernedContents>, HostError> {
        Ok(TrustStore::open(&self.options.config_dir, &self.root)?.accepted()?)
    }

    /// Remembers a file that the host itself changed because the person approved it.
    pub(crate) fn trust_file(&self, path: &str) -> Result<(), HostError> {
        let now = self.workspace()?.governed()?.read(&GovernedGroup::TRUSTED)?;
        Ok(TrustStore::open(&self.options.config_dir, &self.root)?.accept_only(&now, &[path])?)
    }

    /// Remembers that the person trusts the workspace as it was shown to them.
    ///
    /// # Errors
    ///
    /// If it cannot be written down, or an agent is at work whose changes it could take for the
    /// person's.
    pub fn trust(&self, shown: &GovernedContents) -> Result<(), HostError> {
        let changed = matches!(self.standing()?.0, Standing::Changed(_));
        if changed && self.is_at_work()? {
            return Err(HostError::Limit(
                "an agent is at work here; changes are accepted when its turn has ended".to_owned(),
            ));
        }
        TrustStore::open(&self.options.config_dir, &self.root)?.accept(shown)?;
        let event = Event::new(&self.options.person, "workspace.trust", ".", Outcome::Done);
        self.record_durably(event.with_detail(json!({ "files": shown.files.len() })))
    }
}
