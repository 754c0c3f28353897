//! What a person trusts: a workspace as they reviewed it, and what their own settings allow.
//!
//! [`Workspace::review`] is what there is to accept: the governed files, and the settings that give
//! something away, by key and value. [`TrustStore`] keeps what was accepted, outside every workspace.
//! [`Consent`] answers one question, for builds too: did the person allow this value of this setting?

pub(crate) mod consent;
pub(crate) mod store;

use std::collections::BTreeMap;

use crate::config::sensitive::SensitiveSettings;
use crate::config::settings::Settings;
use crate::error::WorkspaceError;
use crate::governed::contents::{GovernedContents, GovernedFile, MAX_KEPT_TEXT};
use crate::governed::{Governed, GovernedGroup};
use crate::skills::Skill;
use crate::workspace::Workspace;

/// What a person reviews, and then accepts as they saw it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Review {
    /// The governed files, without skills.
    pub files: GovernedContents,
    /// Skills that count without an approval of their own, by path.
    pub skills: BTreeMap<String, GovernedFile>,
    /// The settings that give something away.
    pub settings: SensitiveSettings,
    /// Those that the person's own settings allow already.
    pub allowed: SensitiveSettings,
}

impl Workspace {
    /// What there is to review, under the person's own settings.
    pub fn review(&self, own: &Settings) -> Result<Review, WorkspaceError> {
        let skills = self.reviewed_skills()?;
        Ok(Review { skills, ..self.review_of(&self.governed()?, own)? })
    }

    /// The skills as a person reviews them: what the model reads of each, and the digest of its file.
    /// None where every skill needs an approval of its own.
    pub fn reviewed_skills(&self) -> Result<BTreeMap<String, GovernedFile>, WorkspaceError> {
        if self.config().skills.require_approval {
            return Ok(BTreeMap::new());
        }
        let reviewed = |skill: Skill| {
            let description = skill.description.unwrap_or_default();
            let text = format!("{}: {description}\n\n{}", skill.name, skill.body.text);
            let text = Some(text).filter(|text| text.len() <= MAX_KEPT_TEXT);
            let (group, digest) = (GovernedGroup::Skills, skill.digest);
            (skill.body.path, GovernedFile { group, digest, text })
        };
        Ok(self.skills()?.skills.into_iter().map(reviewed).collect())
    }

    /// Governed files and settings to review, for governed paths that were found already.
    pub fn review_of(&self, governed: &Governed, own: &Settings) -> Result<Review, WorkspaceError> {
        let files = governed.read(&GovernedGroup::TRUSTED)?;
        let (allowed, settings) = (self.sensitive_settings().0.into_iter())
            .partition(|(key, value)| own.allow(self.config(), key, value));
        Ok(Review {
            files,
            skills: BTreeMap::new(),
            settings: SensitiveSettings(settings),
            allowed: SensitiveSettings(allowed),
        })
    }
}
