//! Whether the person trusts the workspace, as it is now.

use foreword_sandbox::{Standing, Trust};
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
        let trust = Trust::open(&self.options.config_dir, &self.root)?;
        Ok((trust.standing(&now)?, now))
    }

    /// What the person trusts, as they saw it.
    pub(crate) fn accepted(&self) -> Result<Option<GovernedContents>, HostError> {
        Ok(Trust::open(&self.options.config_dir, &self.root)?.accepted()?)
    }

    /// Remembers a file that the host itself changed because the person approved it.
    pub(crate) fn trust_file(&self, path: &str) -> Result<(), HostError> {
        let now = self.workspace()?.governed()?.read(&GovernedGroup::TRUSTED)?;
        Ok(Trust::open(&self.options.config_dir, &self.root)?.accept_only(&now, &[path])?)
    }

    /// Remembers that the person trusts the workspace as it was shown to them.
    ///
    /// # Errors
    ///
    /// If it cannot be written down.
    pub fn trust(&self, shown: &GovernedContents) -> Result<(), HostError> {
        Trust::open(&self.options.config_dir, &self.root)?.accept(shown)?;
        let event = Event::new(&self.options.person, "workspace.trust", ".", Outcome::Done);
        self.record_durably(event.with_detail(json!({ "files": shown.files.len() })))
    }
}
