//! Writing a page where the person asked for it.

use std::path::Path;

use crate::error::CliError;
use crate::inputs::display_name;
use crate::terminal::Terminal;

/// Writes a page, replacing the file if there is one, and says so.
pub(crate) fn write_page(path: &Path, html: &str, terminal: &Terminal) -> Result<(), CliError> {
    let name = display_name(path);
    std::fs::write(path, html)
        .map_err(|error| CliError::usage(format!("cannot write the page to {name}: {error}")))?;
    terminal.say(&format!("wrote {name}"));
    Ok(())
}
