//! The database of a workspace, for commands that only read it.

use std::path::Path;

use foreword_store::Reader;

use crate::error::CliError;
use crate::terminal::Terminal;

/// The database, if it exists. Warns if another audit key made it: it may hold somebody else's texts.
pub(crate) fn reader(workspace: &Path, terminal: &Terminal) -> Result<Option<Reader>, CliError> {
    let mut warnings = Vec::new();
    let reader = foreword_serve::memory::reader(workspace, &mut warnings)?;
    warnings.iter().for_each(|warning| terminal.warn(warning));
    Ok(reader)
}
