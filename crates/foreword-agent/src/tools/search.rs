//! `search`: the text of files.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::time::{Duration, Instant};

use foreword_protocol::LocalTool;
use regex_automata::meta::Regex;
use serde::Deserialize;

use super::hidden::Hidden;
use super::lines::next_line;
use super::pattern::{FileGlob, regex};
use super::walk::{Kind, walk};
use super::{MAX_FILE_BYTES, Place, ToolError, at, check_file, is_binary, list};

/// The most lines of an answer.
const MAX_FOUND: usize = 500;
/// The most of a line that is looked at.
const MAX_LINE_BYTES: usize = 64 << 10;
/// The most of a line that is shown, in characters.
const MAX_SHOWN: usize = 300;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Args {
    pattern: String,
    #[serde(default = "list::here")]
    path: String,
    #[serde(default)]
    glob: Option<String>,
    #[serde(default)]
    ignore_case: bool,
}

/// What was found so far.
struct Found {
    regex: Regex,
    text: String,
    lines: usize,
    limit: usize,
    /// A limit is reached.
    full: bool,
    deadline: Instant,
}

pub(super) fn run(args: &Args, place: Place<'_>) -> Result<String, ToolError> {
    let path = &args.path;
    let mut found = Found {
        regex: regex(&args.pattern, args.ignore_case)?,
        text: String::new(),
        lines: 0,
        limit: place.limits.max_tool_output_bytes,
        full: false,
        deadline: Instant::now() + Duration::from_secs(place.limits.command_seconds),
    };
    let glob = args.glob.as_deref().map(FileGlob::new).transpose()?;
    let start = place.path(path);
    let metadata = std::fs::metadata(&start).map_err(at(path))?;
    let (mut skipped, mut note) = (0usize, String::new());
    if metadata.is_dir() {
        let hidden = Hidden::of(place.file_rules, LocalTool::Search);
        let unseen = walk(&start, true, found.deadline, &hidden, &mut |entry| {
            let Kind::File(bytes) = entry.kind else { return true };
            if glob.as_ref().is_some_and(|glob| !glob.is_match(&entry.name)) {
                return true;
            }
            if bytes > MAX_FILE_BYTES {
                skipped += 1;
                return true;
            }
            let prefix = Path::new(path).join(&entry.name);
            let prefix = prefix.strip_prefix(".").unwrap_or(&prefix).to_string_lossy();
            // A file that cannot be read holds nothing for this agent.
            let _ = found.file(&entry.path, &prefix);
            !found.full
        })
        .map_err(at(path))?;
        note = unseen.note();
    } else {
        check_file(path, &metadata)?;
        found.file(&start, path).map_err(at(path))?;
    }
    let mut text = found.text;
    if found.lines == 0 {
        text.push_str("[Nothing found.]\n");
    }
    if found.full {
        text.push_str("[Cut; search for less, or in fewer files.]\n");
    }
    if skipped > 0 {
        text.push_str(&format!("[{skipped} files larger than {MAX_FILE_BYTES} bytes skipped.]\n"));
    }
    Ok(text + &note)
}

impl Found {
    fn file(&mut self, path: &Path, name: &str) -> std::io::Result<()> {
        let mut input = BufReader::with_capacity(32 << 10, File::open(path)?);
        if is_binary(input.fill_buf()?) {
            return Ok(());
        }
        let mut number = 0;
        while let Some(line) = next_line(&mut input, MAX_LINE_BYTES)? {
            number += 1;
            if number % 1024 == 0 && Instant::now() > self.deadline {
                self.full = true;
                return Ok(());
            }
            if !self.regex.is_match(&line.bytes) {
                continue;
            }
            let shown = String::from_utf8_lossy(&line.bytes);
            let shown = shown.trim_end_matches('\r');
            let mut entry = format!("{}:{number}: ", name.escape_debug());
            entry.extend(shown.chars().take(MAX_SHOWN));
            if line.left_out > 0 || shown.chars().nth(MAX_SHOWN).is_some() {
                entry.push('…');
            }
            entry.push('\n');
            self.full = self.lines >= MAX_FOUND || self.text.len() + entry.len() > self.limit;
            if self.full {
                return Ok(());
            }
            self.lines += 1;
            self.text.push_str(&entry);
        }
        Ok(())
    }
}
