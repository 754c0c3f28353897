//! `list`: the files of a directory.

use std::time::{Duration, Instant};

use foreword_protocol::LocalTool;
use serde::Deserialize;

use super::hidden::Hidden;
use super::walk::{Kind, walk};
use super::{Place, ToolError, at};

/// The most lines of an answer.
const MAX_LINES: usize = 2000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    #[serde(default = "here")]
    path: String,
    #[serde(default)]
    recursive: bool,
}

pub(super) fn here() -> String {
    ".".to_owned()
}

pub(super) fn run(args: &Args, place: Place<'_>) -> Result<String, ToolError> {
    let Args { path, recursive } = args;
    let start = place.path(path);
    if !std::fs::metadata(&start).map_err(at(path))?.is_dir() {
        return Err(ToolError::NoDirectory { path: path.clone() });
    }
    let deadline = Instant::now() + Duration::from_secs(place.limits.command_seconds);
    let mut text = String::new();
    let mut lines = 0;
    let mut left_out = false;
    let hidden = Hidden::of(place.file_rules, LocalTool::List);
    let unseen = walk(&start, *recursive, deadline, &hidden, &mut |entry| {
        // A name is one line, whatever is in it.
        let name = entry.name.escape_debug();
        let line = match entry.kind {
            Kind::Directory => format!("{name}/\n"),
            Kind::File(bytes) => format!("{name} ({bytes} bytes)\n"),
            Kind::Link => format!("{name} (link)\n"),
            Kind::Other => format!("{name} (special)\n"),
        };
        left_out =
            lines >= MAX_LINES || text.len() + line.len() > place.limits.max_tool_output_bytes;
        if left_out {
            return false;
        }
        lines += 1;
        text.push_str(&line);
        true
    })
    .map_err(at(path))?;
    if lines == 0 && unseen.hidden == 0 {
        text.push_str("[The directory is empty.]\n");
    }
    if left_out {
        text.push_str("[Cut; list a subdirectory to see more.]\n");
    }
    Ok(text + &unseen.note())
}
