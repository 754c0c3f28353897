//! Whether the person allows one setting of a workspace.

use std::path::{Path, PathBuf};

use crate::config::Config;
use crate::config::sensitive::{SensitiveSettings, SettingChange, is_outside_root, outside_root};
use crate::config::settings::{SETTINGS_FILE, Settings};
use crate::error::WorkspaceError;
use crate::mcp::tool_list::ToolLists;
use crate::read::Root;
use crate::trust::store::TrustStore;
use crate::workspace::Workspace;

/// What the person allows one workspace: by their own settings, or because they accepted it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Consent {
    /// The person's own settings.
    pub settings: Settings,
    accepted: SensitiveSettings,
}

impl Consent {
    /// Reads the person's settings and what they accepted of a workspace.
    pub fn of(config_dir: &Path, workspace: &Path) -> Result<Self, WorkspaceError> {
        let accepted = TrustStore::open(config_dir, workspace)?.accepted()?;
        Ok(Self {
            settings: Settings::load(config_dir)?,
            accepted: accepted.map(|record| record.settings).unwrap_or_default(),
        })
    }

    /// The settings of a parsed `foreword.toml` that the person neither accepted nor allows. Directories
    /// outside the workspace are checked when they are read.
    #[must_use]
    pub fn missing(&self, config: &Config) -> Vec<SettingChange> {
        let mut changes = config.sensitive().changes_since(&self.accepted);
        changes.retain(|change| {
            let is_outside = is_outside_root(&change.key);
            let allowed = change
                .new
                .as_deref()
                .is_some_and(|new| self.settings.allow(config, &change.key, new));
            !is_outside && !allowed
        });
        changes
    }

    /// Whether a setting may have its current value.
    #[must_use]
    pub fn covers(&self, config: &Config, key: &str, value: &str) -> bool {
        self.accepted.0.get(key).is_some_and(|accepted| accepted == value)
            || self.settings.allow(config, key, value)
    }
}

impl Workspace {
    /// Opens a workspace for a person, whose settings and trust are in a configuration directory.
    ///
    /// Without one, or without their consent, it reads no directory outside itself.
    pub fn open_for(root: &Path, config_dir: Option<&Path>) -> Result<Self, WorkspaceError> {
        let mut workspace = Self::open(root)?;
        workspace.config_dir = config_dir.map(Path::to_path_buf);
        Ok(workspace)
    }

    /// What the person allows; nothing where they are not known.
    pub fn consent(&self) -> Result<Consent, WorkspaceError> {
        match &self.config_dir {
            Some(config_dir) => Consent::of(config_dir, self.root()),
            None => Ok(Consent::default()),
        }
    }

    /// Whether skills may be read from a root: always inside the workspace, else with consent.
    pub(crate) fn may_read_root(
        &self,
        configured: &str,
        root: &Root,
    ) -> Result<bool, WorkspaceError> {
        if root.directory().starts_with(self.files.directory()) {
            return Ok(true);
        }
        let (key, value) = outside_root(configured, root.directory());
        Ok(self.consent()?.covers(self.config(), &key, &value))
    }

    /// The same workspace, in which imported files that the person has not accepted yet are for reference
    /// only.
    pub fn lower_untrusted_imports(mut self) -> Result<Self, WorkspaceError> {
        if let Some(config_dir) = &self.config_dir {
            self.imported = TrustStore::open(config_dir, self.root())?.untrusted_imports()?;
        }
        Ok(self)
    }

    /// Whether there are such files.
    #[must_use]
    pub fn has_untrusted_import(&self) -> bool {
        !self.imported.is_empty()
    }

    /// Whether a file is one of them.
    #[must_use]
    pub fn is_untrusted_import(&self, path: &str) -> bool {
        self.imported.contains(path)
    }

    /// The files that consent is read from, to notice when they change.
    #[must_use]
    pub fn consent_files(&self) -> Vec<PathBuf> {
        let Some(config_dir) = &self.config_dir else { return Vec::new() };
        let trust = TrustStore::open(config_dir, self.root());
        let trust = trust.map(|store| store.file().to_path_buf()).ok();
        let lists = ToolLists::open(config_dir, self.root());
        let lists = lists.map(|lists| lists.file().to_path_buf()).ok();
        [Some(config_dir.join(SETTINGS_FILE)), trust, lists].into_iter().flatten().collect()
    }
}
