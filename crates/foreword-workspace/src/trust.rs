//! What a person trusts: a workspace as they reviewed it, and what their own settings allow.
//!
//! [`Workspace::review`] is what there is to accept: the governed files, and the settings that give
//! something away, by key and value. [`TrustStore`] keeps what was accepted, outside every workspace.
//! [`Consent`] answers one question, for builds too: did the person allow this value of this setting?

pub(crate) mod consent;
pub(crate) mod store;

use crate::config::sensitive::SensitiveSettings;
use crate::config::settings::Settings;
use crate::error::WorkspaceError;
use crate::governed::contents::GovernedContents;
use crate::governed::{Governed, GovernedGroup};
use crate::workspace::Workspace;

/// What a person reviews, and then accepts as they saw it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Review {
    /// The governed files, without skills: each skill has an approval of its own.
    pub files: GovernedContents,
    /// The settings that give something away.
    pub settings: SensitiveSettings,
    /// Those that the person's own settings allow already.
    pub allowed: SensitiveSettings,
}

impl Workspace {
    /// What there is to review, under the person's own settings.
    pub fn review(&self, own: &Settings) -> Result<Review, WorkspaceError> {
        self.review_of(&self.governed()?, own)
    }

    /// The same, for governed paths that were found already.
    pub fn review_of(&self, governed: &Governed, own: &Settings) -> Result<Review, WorkspaceError> {
        let files = governed.read(&GovernedGroup::TRUSTED)?;
        let (allowed, settings) = (self.sensitive_settings().0.into_iter())
            .partition(|(key, value)| own.allow(self.config(), key, value));
        Ok(Review {
            files,
            settings: SensitiveSettings(settings),
            allowed: SensitiveSettings(allowed),
        })
    }
}
