//! `read`: a file, or a range of its lines.

use std::fs::File;
use std::io::{BufRead as _, BufReader};

use serde::Deserialize;

use super::lines::next_line;
use super::{Place, ToolError, at, check_file, is_binary};

/// Longer lines are cut.
const MAX_LINE_BYTES: usize = 16 << 10;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    path: String,
    #[serde(default)]
    offset: Option<u64>,
    #[serde(default)]
    limit: Option<u64>,
}

pub(super) fn run(args: Args, place: Place<'_>) -> Result<String, ToolError> {
    let Args { path, offset, limit } = args;
    let file = place.path(&path);
    let metadata = std::fs::metadata(&file).map_err(at(&path))?;
    check_file(&path, &metadata)?;
    let mut input = BufReader::with_capacity(64 << 10, File::open(&file).map_err(at(&path))?);
    let binary = || ToolError::Binary { path: path.clone(), bytes: metadata.len() };
    if is_binary(input.fill_buf().map_err(at(&path))?) {
        return Err(binary());
    }
    let first = offset.unwrap_or(1).max(1);
    let most = place.limits.max_tool_output_bytes;
    let last = limit.map_or(u64::MAX, |limit| first.saturating_add(limit.saturating_sub(1)));
    let mut text = String::new();
    let mut number = 0u64;
    while let Some(line) = next_line(&mut input, MAX_LINE_BYTES).map_err(at(&path))? {
        number += 1;
        if number < first {
            continue;
        }
        if is_binary(&line.bytes) {
            return Err(binary());
        }
        // A cut may go through a character.
        let shown = match std::str::from_utf8(&line.bytes) {
            Ok(shown) => shown.into(),
            Err(error) if line.left_out > 0 && error.error_len().is_none() => {
                String::from_utf8_lossy(line.bytes.get(..error.valid_up_to()).unwrap_or_default())
            }
            Err(_) => return Err(binary()),
        };
        if number > last || text.len() + shown.len() + 1 > most {
            let note = format!("[Cut at line {number}; continue with offset {number}.]\n");
            text.push_str(&note);
            return Ok(text);
        }
        text.push_str(&shown);
        if line.left_out > 0 {
            text.push_str(&format!(" [… {} bytes left out …]", line.left_out));
        }
        text.push('\n');
    }
    if first > number.max(1) {
        return Err(ToolError::BehindEnd { path, lines: number, offset: first });
    }
    if text.is_empty() {
        text.push_str("[The file is empty.]\n");
    }
    Ok(text)
}
