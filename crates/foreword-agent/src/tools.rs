//! The tools that work inside the sandbox, without the host.

mod bash;
pub(crate) mod command;
mod edit;
mod hidden;
mod lines;
mod list;
mod pattern;
mod program;
mod read;
mod search;
mod walk;
mod write;

use std::io;
use std::path::{Path, PathBuf};

use foreword_protocol::{FileRules, JobLimits, LocalTool};
use serde::de::DeserializeOwned;
use serde_json::Value;
use thiserror::Error;

use crate::output::cut;

/// Files larger than this are neither edited nor searched.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Why a tool did not do what it was asked, in words for the model.
#[derive(Debug, Error)]
pub(crate) enum ToolError {
    #[error("invalid call to `{tool}`: {error}")]
    Input { tool: &'static str, error: serde_json::Error },
    #[error("{path}: {error}")]
    File { path: String, error: io::Error },
    #[error("{path} is {what}, not a file")]
    NoFile { path: String, what: &'static str },
    #[error("{path} is not a directory")]
    NoDirectory { path: String },
    #[error("{path} is a binary file of {bytes} bytes; only text can be read")]
    Binary { path: String, bytes: u64 },
    #[error("{path} has {bytes} bytes, more than the {MAX_FILE_BYTES} that can be edited")]
    TooLarge { path: String, bytes: u64 },
    #[error("{path} has {lines} lines; line {offset} is past its end")]
    BehindEnd { path: String, lines: u64, offset: u64 },
    #[error(
        "{path} is read-only here; change a governed file (identity, skills, settings) with `identity_propose` or `skill_propose`"
    )]
    ReadOnly { path: String },
    #[error(
        "{path}: the old text does not occur: the lines of the file end with CRLF, those of the old text with LF; write \\r\\n in both texts"
    )]
    LineEnds { path: String },
    #[error("{path}: the old text does not occur; read the file and copy the passage exactly")]
    NotFound { path: String },
    #[error(
        "{path}: the old text occurs {count} times; take a longer passage that occurs once, or set `all`"
    )]
    Ambiguous { path: String, count: usize },
    #[error("the old text is empty; to write a whole file use `write`")]
    NothingToReplace,
    #[error("the old and the new text are the same")]
    NoChange,
    #[error("invalid {what} `{text}`: {message}")]
    Pattern { what: &'static str, text: String, message: String },
    #[error("{0}")]
    Command(String),
}

/// Where tools work, and within which limits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) cwd: &'a Path,
    pub(crate) limits: JobLimits,
    /// Rules on files that walks follow.
    pub(crate) file_rules: &'a FileRules,
}

impl Place<'_> {
    fn path(&self, path: &str) -> PathBuf {
        self.cwd.join(path)
    }
}

/// Runs a tool. The answer is never longer than the limit and a note.
pub(crate) fn run(tool: LocalTool, input: &Value, place: Place<'_>) -> Result<String, ToolError> {
    let answer = match tool {
        LocalTool::Read => read::run(args(tool, input)?, place),
        LocalTool::Write => write::run(&args(tool, input)?, place),
        LocalTool::Edit => edit::run(&args(tool, input)?, place),
        LocalTool::List => list::run(&args(tool, input)?, place),
        LocalTool::Search => search::run(&args(tool, input)?, place),
        LocalTool::Bash => bash::run(&args(tool, input)?, place),
    }?;
    // The notes of a tool come on top of its limit.
    Ok(cut(answer, place.limits.max_tool_output_bytes.saturating_add(1024)))
}

fn args<T: DeserializeOwned>(tool: LocalTool, input: &Value) -> Result<T, ToolError> {
    T::deserialize(input).map_err(|error| ToolError::Input { tool: tool.name(), error })
}

fn at<'a>(path: &'a str) -> impl Fn(io::Error) -> ToolError + 'a {
    move |error| ToolError::File { path: path.to_owned(), error }
}

/// The same for what is written.
fn writing<'a>(path: &'a str) -> impl Fn(io::Error) -> ToolError + 'a {
    move |error| match error.kind() {
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
            ToolError::ReadOnly { path: path.to_owned() }
        }
        _ => at(path)(error),
    }
}

/// Whether bytes are of a kind that a model cannot read.
fn is_binary(bytes: &[u8]) -> bool {
    bytes.contains(&0)
}

/// A whole text file that may be edited.
fn whole_text(path: &str, place: Place<'_>) -> Result<String, ToolError> {
    let file = place.path(path);
    let metadata = std::fs::metadata(&file).map_err(at(path))?;
    check_file(path, &metadata)?;
    if metadata.len() > MAX_FILE_BYTES {
        return Err(ToolError::TooLarge { path: path.to_owned(), bytes: metadata.len() });
    }
    let bytes = std::fs::read(&file).map_err(at(path))?;
    if is_binary(&bytes) {
        return Err(ToolError::Binary { path: path.to_owned(), bytes: metadata.len() });
    }
    String::from_utf8(bytes)
        .map_err(|_| ToolError::Binary { path: path.to_owned(), bytes: metadata.len() })
}

/// Pipes and devices would be waited for without end.
fn check_file(path: &str, metadata: &std::fs::Metadata) -> Result<(), ToolError> {
    if metadata.is_file() {
        return Ok(());
    }
    let what = if metadata.is_dir() { "a directory" } else { "a device, pipe or socket" };
    Err(ToolError::NoFile { path: path.to_owned(), what })
}

#[cfg(test)]
mod tests;
