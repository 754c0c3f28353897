//! What a migration brings does not speak with authority until the person accepts it.

use std::collections::BTreeSet;
use std::path::Path;

use foreword_workspace::{
    CONFIG_FILE, PRIVATE_DIR, Settings, Standing, TrustStore, Workspace, WorkspaceError,
};

use crate::error::CliError;
use crate::terminal::Terminal;
use crate::user_env;

/// Notes that files were written from another setup. A failure is a warning: no agent runs without trust.
pub(crate) fn note_import<'p>(
    root: &Path,
    paths: impl Iterator<Item = &'p String>,
    terminal: &Terminal,
) {
    let is_instruction = |path: &&String| !path.starts_with(PRIVATE_DIR) && *path != CONFIG_FILE;
    let paths: BTreeSet<String> = paths.filter(is_instruction).cloned().collect();
    if let Err(error) = note(root, &paths) {
        terminal.warn(&format!(
            "cannot keep imported files from counting as instructions: {}; review them before you build",
            error.message
        ));
    }
}

/// An import that changes nothing the person trusted needs no new answer.
fn note(root: &Path, paths: &BTreeSet<String>) -> Result<(), CliError> {
    let config_dir = user_env::config_dir()?;
    let store = TrustStore::open(&config_dir, root)?;
    let is_trusted = || -> Result<bool, WorkspaceError> {
        let workspace = Workspace::open_for(root, Some(&config_dir))?;
        let now = workspace.review(&Settings::load(&config_dir)?)?;
        Ok(store.standing(&now)? == Standing::Trusted)
    };
    if is_trusted().unwrap_or(false) { Ok(()) } else { Ok(store.note_import(paths)?) }
}
