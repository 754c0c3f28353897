//! Writing a page where the person asked for it.

use std::path::Path;

use crate::error::CliError;
use crate::inputs::display_name;

/// Writes a page, replacing the file if there is one.
pub(crate) fn write_page(path: &Path, html: &str) -> Result<(), CliError> {
    std::fs::write(path, html).map_err(|error| {
        CliError::usage(format!("cannot write the page to {}: {error}", display_name(path)))
    })
}
