//! `write`: a file as a whole.

use std::fs;

use serde::Deserialize;

use super::{Place, ToolError, check_file, writing};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    path: String,
    content: String,
}

pub(super) fn run(args: &Args, place: Place<'_>) -> Result<String, ToolError> {
    let Args { path, content } = args;
    let file = place.path(path);
    let known = fs::metadata(&file);
    if let Ok(metadata) = &known {
        check_file(path, metadata)?;
    } else if let Some(parent) = file.parent() {
        fs::create_dir_all(parent).map_err(writing(path))?;
    }
    fs::write(&file, content).map_err(writing(path))?;
    let what = if known.is_ok() { "Replaced" } else { "Created" };
    let bytes = if content.len() == 1 { "byte" } else { "bytes" };
    Ok(format!("{what} {path}: {} {bytes}.", content.len()))
}
