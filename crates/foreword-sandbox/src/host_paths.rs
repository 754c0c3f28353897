//! What in a workspace the person's own programs run: an agent that can write it is out.

use std::fs;
use std::path::{Path, PathBuf};

/// Paths below the repository of a workspace.
const RUN_BY_GIT: [&str; 2] = [".git/config", ".git/hooks"];

/// The settings and hooks of the workspace's own repository, as far as they exist: git runs them when
/// the person works there. Add them to [`SandboxSpec::governed`](crate::SandboxSpec::governed).
#[must_use]
pub fn run_by_host(workspace: &Path) -> Vec<PathBuf> {
    let real = |path: &Path| fs::symlink_metadata(path).is_ok_and(|meta| !meta.is_symlink());
    if !real(&workspace.join(".git")) {
        return Vec::new();
    }
    RUN_BY_GIT.iter().map(|name| workspace.join(name)).filter(|path| real(path)).collect()
}
