//! `write`: a file as a whole.

use std::fs;

use serde::Deserialize;

use super::{Place, ToolError, at, check_file};

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
        fs::create_dir_all(parent).map_err(at(path))?;
    }
    fs::write(&file, content).map_err(at(path))?;
    let what = if known.is_ok() { "Replaced" } else { "Created" };
    Ok(format!("{what} {path}: {} bytes.", content.len()))
}
