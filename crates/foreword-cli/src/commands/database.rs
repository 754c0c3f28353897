//! The database of a workspace, for commands that only read it.

use std::path::Path;

use foreword_gather::Warning;
use foreword_store::Reader;

use crate::commands::skill;
use crate::error::CliError;
use crate::terminal::Terminal;
use crate::user_env::config_dir;

/// The database, if it exists. Says so if another audit key made it: it may hold somebody else's texts.
pub(crate) fn reader(workspace: &Path, terminal: &Terminal) -> Result<Option<Reader>, CliError> {
    let reader = skill::store(workspace)?.reader()?;
    if let Some(reader) = &reader
        && !reader.is_made_by(&config_dir()?)?
    {
        terminal.warn(&Warning::OtherAuditKey);
    }
    Ok(reader)
}
