//! `lint`: what is wrong in the files of a workspace.

use std::path::{Path, PathBuf};

use foreword::Finding;
use foreword_gather::lint_workspace;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::environment::config_dir;
use crate::failure::Failure;
use crate::service::Service;

/// A workspace to check.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LintParams {
    /// The directory of the workspace.
    pub workspace: Option<PathBuf>,
    /// Check only this agent.
    pub agent: Option<String>,
    /// The blueprint to check against.
    pub blueprint: Option<String>,
}

pub(crate) fn lint(service: &Service, params: LintParams) -> Result<Vec<Finding>, Failure> {
    let LintParams { workspace, agent, blueprint } = params;
    findings(&service.root(workspace.as_deref())?, agent.as_deref(), blueprint.as_deref())
}

/// The findings of all lint rules.
pub fn findings(
    workspace: &Path,
    agent: Option<&str>,
    blueprint: Option<&str>,
) -> Result<Vec<Finding>, Failure> {
    Ok(lint_workspace(workspace, agent, blueprint, config_dir().ok().as_deref())?)
}
