//! The files of the running program, which starts itself again inside sandboxes.

use std::path::PathBuf;
use std::sync::OnceLock;

use crate::error::CliError;

static LIBRARY: OnceLock<PathBuf> = OnceLock::new();

/// Says which library has the code of this program. The first call counts.
pub(crate) fn set_library(path: Option<PathBuf>) {
    if let Some(path) = path {
        let _ = LIBRARY.set(path);
    }
}

/// The library with the code of this program, unless it is all in one file.
pub(crate) fn library() -> Option<PathBuf> {
    LIBRARY.get().cloned()
}

/// The executable.
pub(crate) fn executable() -> Result<PathBuf, CliError> {
    std::env::current_exe().map_err(|error| {
        CliError::internal(format!("cannot locate the foreword executable: {error}"))
    })
}
