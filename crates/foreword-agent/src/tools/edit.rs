//! `edit`: a passage of a file.

use std::fs;

use serde::Deserialize;

use super::{Place, ToolError, whole_text, writing};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    path: String,
    old: String,
    new: String,
    #[serde(default)]
    all: bool,
}

pub(super) fn run(args: &Args, place: Place<'_>) -> Result<String, ToolError> {
    let Args { path, old, new, all } = args;
    if old.is_empty() {
        return Err(ToolError::NothingToReplace);
    }
    if old == new {
        return Err(ToolError::NoChange);
    }
    let text = whole_text(path, place)?;
    let count = text.matches(old.as_str()).count();
    let Some(first) = text.find(old.as_str()) else {
        let path = path.clone();
        return Err(if old.contains('\n') && text.replace("\r\n", "\n").contains(old.as_str()) {
            ToolError::LineEnds { path }
        } else {
            ToolError::NotFound { path }
        });
    };
    if count > 1 && !all {
        return Err(ToolError::Ambiguous { path: path.clone(), count });
    }
    fs::write(place.path(path), text.replace(old.as_str(), new)).map_err(writing(path))?;
    let line = text.get(..first).unwrap_or_default().matches('\n').count() + 1;
    Ok(match count {
        1 => format!("Replaced the passage at line {line} of {path}."),
        count => format!("Replaced {count} passages of {path}, the first at line {line}."),
    })
}
