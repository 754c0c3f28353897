//! `[permissions]` in `foreword.toml` and `settings.toml`, and what a person answered for good.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::WorkspaceError;
use crate::own_file::{self, WorkspaceRecord};

const DIRECTORY: &str = "permissions";
const MAX_FILE_BYTES: u64 = 4 << 20;

/// `[permissions]`: rules such as `bash(git push*)`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PermissionSettings {
    /// Calls that need no question. Default: none.
    pub allow: Vec<String>,
    /// Calls that a person is asked about. Default: none.
    pub ask: Vec<String>,
    /// Calls that are refused. Default: none.
    pub deny: Vec<String>,
}

/// The rules that a person allowed for good in one workspace, kept with their settings.
#[derive(Debug, Clone)]
pub struct AlwaysAllowed {
    file: PathBuf,
}

impl AlwaysAllowed {
    /// Locates the rules of a workspace. Reads nothing yet.
    pub fn open(config_dir: &Path, workspace: &Path) -> Result<Self, WorkspaceError> {
        let WorkspaceRecord { file, .. } =
            WorkspaceRecord::locate(config_dir, DIRECTORY, workspace)?;
        Ok(Self { file })
    }

    /// The rules, in the order in which they were given. Fails if somebody else could have written them.
    pub fn load(&self) -> Result<Vec<String>, WorkspaceError> {
        let Some(text) = own_file::read_text(&self.file, MAX_FILE_BYTES)? else {
            return Ok(Vec::new());
        };
        serde_json::from_str(&text).map_err(|error| WorkspaceError::Toml {
            path: self.file.display().to_string(),
            line: error.line().max(1),
            message: format!("not a list of permission rules: {error}"),
        })
    }

    /// Adds a rule; `false` if it was there.
    pub fn add(&self, rule: &str) -> Result<bool, WorkspaceError> {
        let mut rules = self.load()?;
        if rules.iter().any(|known| known == rule) {
            return Ok(false);
        }
        rules.push(rule.to_owned());
        self.keep(&rules)?;
        Ok(true)
    }

    /// Removes a rule; `false` if it was not there.
    pub fn remove(&self, rule: &str) -> Result<bool, WorkspaceError> {
        let mut rules = self.load()?;
        let before = rules.len();
        rules.retain(|known| known != rule);
        self.keep(&rules)?;
        Ok(rules.len() < before)
    }

    fn keep(&self, rules: &[String]) -> Result<(), WorkspaceError> {
        let failed =
            |source| WorkspaceError::NotMade { path: self.file.display().to_string(), source };
        if let Some(directory) = self.file.parent() {
            own_file::make_directory(directory).map_err(failed)?;
        }
        let text = serde_json::to_vec_pretty(rules).map_err(|error| failed(error.into()))?;
        own_file::replace(&self.file, &text).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_kept_once_and_removed() {
        let (config, workspace) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let always = AlwaysAllowed::open(config.path(), workspace.path()).unwrap();
        assert!(always.load().unwrap().is_empty());
        assert!(always.add("bash(make*)").unwrap() && !always.add("bash(make*)").unwrap());
        assert_eq!(always.load().unwrap(), ["bash(make*)"]);
        assert!(always.remove("bash(make*)").unwrap() && !always.remove("x").unwrap());
        assert!(always.load().unwrap().is_empty());
    }
}
