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
use crate::governed::contents::{
    Digest, GovernedContents, GovernedFile, MAX_KEPT_BYTES, MAX_KEPT_TEXT,
};
use crate::governed::{Governed, GovernedGroup};
use crate::read::SourceFile;
use crate::tools::{TOOLS_FILE, ToolEntry};
use crate::workspace::Workspace;

/// What a person reviews, and then accepts as they saw it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Review {
    /// The governed files, without skills.
    pub files: GovernedContents,
    /// The files of skills that count without an approval of their own, by path.
    pub skills: BTreeMap<String, GovernedFile>,
    /// The settings that give something away.
    pub settings: SensitiveSettings,
    /// Those that the person's own settings allow already.
    pub allowed: SensitiveSettings,
}

impl Review {
    /// The tools of `tools.toml` as they are reviewed; `None` if its text is not kept.
    pub fn tools(&self) -> Result<Option<Vec<ToolEntry>>, WorkspaceError> {
        let Some(file) = self.files.files.get(TOOLS_FILE) else { return Ok(Some(Vec::new())) };
        let Some(text) = file.text.clone() else { return Ok(None) };
        let file = SourceFile { path: TOOLS_FILE.to_owned(), text, first_line: 1 };
        crate::tools::parse(&file).map(Some)
    }
}

impl Workspace {
    /// What there is to review, under the person's own settings.
    pub fn review(&self, own: &Settings) -> Result<Review, WorkspaceError> {
        let skills = self.reviewed_skills(|_, _, _| false)?;
        Ok(Review { skills, ..self.review_of(&self.governed()?, own)? })
    }

    /// The files of skills as a person reviews them, by path. None where every skill needs an approval of
    /// its own.
    ///
    /// Skills that `is_approved` are left out; it gets the path of a skill's own file, its digest and those
    /// of the files beside it. So is a skill whose folder cannot be read as a whole: nobody can trust it.
    pub fn reviewed_skills(
        &self,
        is_approved: impl Fn(&str, &Digest, &BTreeMap<String, Digest>) -> bool,
    ) -> Result<BTreeMap<String, GovernedFile>, WorkspaceError> {
        if self.config().skills.require_approval {
            return Ok(BTreeMap::new());
        }
        let mut reviewed = BTreeMap::new();
        let mut kept = 0;
        for skill in self.skills()?.skills {
            let Ok(files) = self.whole_skill(&skill) else { continue };
            let mut digests: BTreeMap<String, Digest> = files
                .iter()
                .map(|(path, bytes)| (path.clone(), blake3::hash(bytes).into()))
                .collect();
            let Some(own) = digests.remove(&skill.body.path) else { continue };
            if is_approved(&skill.body.path, &own, &digests) {
                continue;
            }
            digests.insert(skill.body.path, own);
            for ((path, bytes), digest) in files.into_iter().zip(digests.into_values()) {
                let fits = bytes.len() <= MAX_KEPT_TEXT && kept + bytes.len() <= MAX_KEPT_BYTES;
                let text = if fits { String::from_utf8(bytes).ok() } else { None };
                let text = text.filter(|text| !text.contains('\0'));
                kept += text.as_ref().map_or(0, String::len);
                let group = GovernedGroup::Skills;
                reviewed.insert(path, GovernedFile { group, digest, text });
            }
        }
        Ok(reviewed)
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
