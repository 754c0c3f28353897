//! What can be wrong with a workspace, in words a person can act on.

use std::fmt;
use std::io;

use crate::rel_path::PathFault;

/// Who asked for a file: the place a person has to look at when it is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedBy {
    /// The file that holds the reference, relative to the workspace.
    pub file: String,
    /// The line of the reference, where known.
    pub line: Option<usize>,
}

impl AskedBy {
    /// A reference at a known line of a file.
    pub fn new(file: impl Into<String>, line: usize) -> Self {
        Self { file: file.into(), line: Some(line) }
    }

    /// A reference whose line is not known, such as an option of a command.
    pub fn whole(file: impl Into<String>) -> Self {
        Self { file: file.into(), line: None }
    }
}

impl fmt::Display for AskedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        self.line.map_or(Ok(()), |line| write!(f, ":{line}"))
    }
}

/// Anything that keeps a workspace from being read.
///
/// The text of an error says what and where (`file:line`); [`WorkspaceError::hint`] says what to
/// do about it. Paths are relative to the workspace with forward slashes wherever the file lies
/// inside it, so that messages are the same on every platform.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// The workspace directory does not exist.
    #[error("{path}: directory not found")]
    NoRoot {
        /// The directory that was asked for.
        path: String,
    },
    /// Neither a directory nor one above it is a workspace.
    #[error("no workspace found in {path} or above it")]
    NotFound {
        /// Where the search started.
        path: String,
    },
    /// A workspace is inside another one.
    #[error("{inner} is inside another workspace, {outer}")]
    Nested {
        /// The nearer workspace.
        inner: String,
        /// The one around it.
        outer: String,
    },
    /// The workspace is not a directory.
    #[error("{path}: is not a directory")]
    NotADirectory {
        /// The path that should have been a directory.
        path: String,
    },
    /// A file that something refers to does not exist.
    #[error("{path}: file not found; {asked_by} refers to it")]
    Missing {
        /// The file that is missing.
        path: String,
        /// Who refers to it.
        asked_by: AskedBy,
        /// A file of nearly the same name, if there is one.
        similar: Option<String>,
    },
    /// A directory stands where a file is expected.
    #[error("{path}: is a directory; a file is expected here")]
    IsDirectory {
        /// The path in question.
        path: String,
    },
    /// A pipe, socket or device stands where a file is expected.
    #[error("{path}: is not a regular file but a pipe, socket or device")]
    NotRegular {
        /// The path in question.
        path: String,
    },
    /// A link stands where only the thing itself is accepted.
    #[error("{path}: is a link, and links are not followed here")]
    IsLink {
        /// The path in question.
        path: String,
    },
    /// A link leads out of the directory it has to stay in.
    #[error("{link}: is a link that leaves {boundary}: it leads to {target}")]
    LinkOutside {
        /// The link.
        link: String,
        /// Where it leads.
        target: String,
        /// The directory it has to stay in.
        boundary: String,
    },
    /// A link leads nowhere.
    #[error("{link}: is a link to {target}, which does not exist")]
    DanglingLink {
        /// The link.
        link: String,
        /// What it says.
        target: String,
    },
    /// A file is larger than the limit.
    #[error("{path}: is {size} bytes long, more than the limit of {limit}")]
    TooLarge {
        /// The file.
        path: String,
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// A file is not UTF-8.
    #[error("{path}:{line}: is not UTF-8 text (byte {offset})")]
    NotUtf8 {
        /// The file.
        path: String,
        /// The line of the first bad byte.
        line: usize,
        /// The offset of the first bad byte.
        offset: usize,
    },
    /// A file starts with the mark of UTF-16.
    #[error("{path}:1: is UTF-16 text (byte 0); UTF-8 is expected")]
    Utf16 {
        /// The file.
        path: String,
    },
    /// A file holds a NUL byte.
    #[error("{path}:{line}: looks binary: it contains a NUL byte (byte {offset})")]
    Binary {
        /// The file.
        path: String,
        /// The line of the NUL.
        line: usize,
        /// The offset of the NUL.
        offset: usize,
    },
    /// The operating system refused.
    #[error("{path}: cannot be read: {source}")]
    Io {
        /// The file or directory.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// A file of the person that somebody else could have written.
    #[error("{path}: {reason}")]
    NotYours {
        /// The file.
        path: String,
        /// Why it is refused, as the rest of the sentence.
        reason: &'static str,
    },
    /// A workspace that holds the person's settings could trust itself.
    #[error("{path} is inside the workspace; keep your settings outside it")]
    TrustInside {
        /// The configuration directory.
        path: String,
    },
    /// A trust file that cannot be relied on.
    #[error("the trust file {path} {reason}; delete it to review the workspace again")]
    BadTrust {
        /// The trust file.
        path: String,
        /// What is wrong, as the rest of the sentence.
        reason: String,
    },
    /// The operating system refused to have something written.
    #[error("{path}: cannot be created: {source}")]
    NotMade {
        /// The file or directory.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// A directory holds more entries than anyone means to put there.
    #[error("{path}: contains more than {limit} entries")]
    TooManyEntries {
        /// The directory.
        path: String,
        /// The limit.
        limit: usize,
    },
    /// The governed files together are larger than the limit.
    #[error("{path}: the governed files up to this one are {size} bytes, more than {limit}")]
    GovernedTooLarge {
        /// The file at which the limit was passed.
        path: String,
        /// The bytes so far.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// A reference, id or name cannot be used as a path inside the workspace.
    #[error("{}`{}` cannot be used as a path here: {reason}", prefix(.asked_by.as_ref()), .given.escape_debug())]
    BadPath {
        /// What was given.
        given: String,
        /// Why it is refused.
        reason: PathFault,
        /// Who refers to it, where known.
        asked_by: Option<AskedBy>,
    },
    /// A TOML file does not parse or holds a value of the wrong type.
    #[error("{path}:{line}: {message}")]
    Toml {
        /// The file.
        path: String,
        /// The line.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A YAML header does not parse or holds a value of the wrong type.
    #[error("{path}:{line}: in the header: {message}")]
    Yaml {
        /// The file.
        path: String,
        /// The line in the file, not in the header.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A header starts with `---` and never ends.
    #[error("{path}:1: the header starts here and is never closed")]
    HeaderUnclosed {
        /// The file.
        path: String,
    },
    /// A header is longer than any header is meant to be.
    #[error("{path}:1: the header is {size} bytes long, more than the limit of {limit}")]
    HeaderTooLarge {
        /// The file.
        path: String,
        /// The size of the header in bytes.
        size: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// A key nobody knows.
    #[error("{path}:{line}: unknown key `{}`", .key.escape_debug())]
    UnknownKey {
        /// The file.
        path: String,
        /// The line of the key.
        line: usize,
        /// The key.
        key: String,
        /// The known key it is nearest to, if any is near.
        suggestion: Option<String>,
        /// The keys that are known at this place.
        known: Vec<String>,
    },
    /// A value that parses and makes no sense.
    #[error("{path}:{line}: `{key}` {message}")]
    BadValue {
        /// The file.
        path: String,
        /// The line of the value.
        line: usize,
        /// The key, with its table.
        key: String,
        /// What is wrong, as the rest of the sentence.
        message: String,
    },
    /// An agent's header and its folder disagree on its id.
    #[error("{path}:{line}: the header has `id: {}`, but the folder is called `{folder}`", .id.escape_debug())]
    IdMismatch {
        /// The file.
        path: String,
        /// The line of the id.
        line: usize,
        /// The id in the header.
        id: String,
        /// The name of the folder or file.
        folder: String,
    },
    /// An agent has both an explicit list of prompts and a list of capabilities.
    #[error("{path}:{line}: the header has both `prompts` and `capabilities`")]
    PromptsAndCapabilities {
        /// The file.
        path: String,
        /// The line of the later of the two.
        line: usize,
    },
    /// Two files describe the same thing.
    #[error("{second}: {what} `{name}` is already defined in {first}")]
    Duplicate {
        /// What is defined twice: `agent`, `tool`.
        what: &'static str,
        /// Its name.
        name: String,
        /// Where it is defined first (`file` or `file:line`).
        first: String,
        /// Where it is defined again.
        second: String,
    },
    /// Nobody knows an agent of this id.
    #[error("there is no agent `{}`; {}", .id.escape_debug(), known_agents(.known))]
    UnknownAgent {
        /// The id that was asked for.
        id: String,
        /// The ids there are, sorted.
        known: Vec<String>,
        /// The known id it is nearest to, if any is near.
        suggestion: Option<String>,
    },
}

impl WorkspaceError {
    /// What to do about it, in a sentence.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::NoRoot { .. } => {
                "check the path, or create a workspace there with `foreword init`".into()
            }
            Self::NotFound { .. } => {
                "create one with `foreword init`, or pass its directory with `-w DIR`".into()
            }
            Self::Nested { inner, .. } => {
                format!("choose one: `-w {inner}`, or `-w` with the outer directory")
            }
            Self::NotADirectory { .. } => "move the file away; a directory is expected here".into(),
            Self::Missing { path, similar: Some(similar), .. } => {
                format!("did you mean {similar}? Otherwise create {path}")
            }
            Self::Missing { path, asked_by, .. } => {
                format!("create {path}, or remove the reference in {asked_by}")
            }
            Self::IsDirectory { .. } => {
                "rename the directory, or put a text file in its place".into()
            }
            Self::NotRegular { .. } => "put a regular text file in its place".into(),
            Self::IsLink { .. } => "replace the link with the file or directory itself".into(),
            Self::LinkOutside { .. } => {
                "copy the file into the workspace; only a skill root listed in foreword.toml may \
                 be outside"
                    .into()
            }
            Self::DanglingLink { .. } => "remove the link, or restore its target".into(),
            Self::TooLarge { .. } => {
                "shorten the file, or raise `max_file_bytes` under [limits] in foreword.toml".into()
            }
            Self::NotUtf8 { .. } | Self::Utf16 { .. } => "save the file as UTF-8".into(),
            Self::Binary { .. } => "replace it with a text file, or remove the NUL byte".into(),
            Self::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                "check its read permissions".into()
            }
            Self::Io { .. } => "check that the path can be read".into(),
            Self::NotYours { .. } => "review its contents, then run `chmod go-w` on it".into(),
            Self::TrustInside { .. } => {
                "set FOREWORD_CONFIG_DIR to a directory outside your workspaces".into()
            }
            Self::BadTrust { path, .. } => format!("delete {path}, then run `foreword trust`"),
            Self::NotMade { .. } => "check the write permissions of the directory".into(),
            Self::TooManyEntries { .. } => {
                "point the setting at a smaller directory, or remove what does not belong there"
                    .into()
            }
            Self::GovernedTooLarge { .. } => {
                "move large files out of skills, prompts and agents".into()
            }
            Self::BadPath { .. } => {
                "use a relative path with forward slashes that stays inside the workspace".into()
            }
            Self::Toml { .. } => "correct the line; the file is TOML".into(),
            Self::Yaml { .. } => {
                "correct the header between the `---` lines; quote a value that contains `: ` or \
                 starts with a special character"
                    .into()
            }
            Self::HeaderUnclosed { .. } => {
                "close the header with a line of `---`, or start the file with something else"
                    .into()
            }
            Self::HeaderTooLarge { .. } => {
                "move long text from the header to the body below it".into()
            }
            Self::UnknownKey { suggestion: Some(key), .. } => format!("did you mean `{key}`?"),
            Self::UnknownKey { known, .. } if known.is_empty() => "remove it".into(),
            Self::UnknownKey { known, .. } => {
                format!("remove it; known here: {}", known.join(", "))
            }
            // These have no default.
            Self::BadValue { key, .. } if key == "tool.name" || key == "tool.command" => {
                "correct the value".into()
            }
            Self::BadValue { .. } => "correct the value, or remove the key for its default".into(),
            Self::IdMismatch { folder, .. } => {
                format!("write `id: {folder}`, drop the line, or rename the folder")
            }
            Self::PromptsAndCapabilities { .. } => {
                "keep `prompts` to list every part yourself, or `capabilities` to have them put \
                 in order for you"
                    .into()
            }
            Self::Duplicate { .. } => "remove or rename one of the two".into(),
            Self::UnknownAgent { suggestion: Some(id), .. } => format!("did you mean `{id}`?"),
            Self::UnknownAgent { id, known, .. } if known.is_empty() => {
                format!("create agents/{id}/AGENT.md")
            }
            Self::UnknownAgent { id, .. } => {
                format!("use one of these, or create agents/{id}/AGENT.md")
            }
        }
    }

    /// The file the error is about, where it is about one.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::NoRoot { path }
            | Self::NotFound { path }
            | Self::Nested { inner: path, .. }
            | Self::NotADirectory { path }
            | Self::Missing { path, .. }
            | Self::IsDirectory { path }
            | Self::NotRegular { path }
            | Self::IsLink { path }
            | Self::TooLarge { path, .. }
            | Self::NotUtf8 { path, .. }
            | Self::Utf16 { path }
            | Self::Binary { path, .. }
            | Self::Io { path, .. }
            | Self::NotYours { path, .. }
            | Self::TrustInside { path }
            | Self::BadTrust { path, .. }
            | Self::NotMade { path, .. }
            | Self::TooManyEntries { path, .. }
            | Self::GovernedTooLarge { path, .. }
            | Self::Toml { path, .. }
            | Self::Yaml { path, .. }
            | Self::HeaderUnclosed { path }
            | Self::HeaderTooLarge { path, .. }
            | Self::UnknownKey { path, .. }
            | Self::BadValue { path, .. }
            | Self::IdMismatch { path, .. }
            | Self::PromptsAndCapabilities { path, .. } => Some(path),
            Self::LinkOutside { link, .. } | Self::DanglingLink { link, .. } => Some(link),
            Self::BadPath { asked_by, .. } => asked_by.as_ref().map(|by| by.file.as_str()),
            Self::Duplicate { .. } | Self::UnknownAgent { .. } => None,
        }
    }

    /// The line the error is about, where one is known.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        match self {
            Self::NotUtf8 { line, .. }
            | Self::Binary { line, .. }
            | Self::Toml { line, .. }
            | Self::Yaml { line, .. }
            | Self::UnknownKey { line, .. }
            | Self::BadValue { line, .. }
            | Self::IdMismatch { line, .. }
            | Self::PromptsAndCapabilities { line, .. } => Some(*line),
            Self::HeaderUnclosed { .. } | Self::HeaderTooLarge { .. } | Self::Utf16 { .. } => {
                Some(1)
            }
            Self::BadPath { asked_by, .. } => asked_by.as_ref().and_then(|by| by.line),
            _ => None,
        }
    }
}

fn prefix(asked_by: Option<&AskedBy>) -> String {
    asked_by.map(|by| format!("{by}: ")).unwrap_or_default()
}

fn known_agents(known: &[String]) -> String {
    if known.is_empty() {
        "the workspace has none".into()
    } else {
        format!("known: {}", known.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_names_who_asked_for_it() {
        let error = WorkspaceError::Missing {
            path: "prompts/cosmo.md".into(),
            asked_by: AskedBy::new("agents/cosmo/AGENT.md", 4),
            similar: None,
        };
        assert_eq!(
            error.to_string(),
            "prompts/cosmo.md: file not found; agents/cosmo/AGENT.md:4 refers to it"
        );
        assert_eq!(
            error.hint(),
            "create prompts/cosmo.md, or remove the reference in agents/cosmo/AGENT.md:4"
        );
    }

    #[test]
    fn a_bad_path_shows_control_characters_escaped() {
        let error = WorkspaceError::BadPath {
            given: "a\n\u{0}".into(),
            reason: PathFault::Character,
            asked_by: Some(AskedBy::whole("--agent")),
        };
        assert_eq!(
            error.to_string(),
            "--agent: `a\\n\\0` cannot be used as a path here: it contains a character that is not \
             allowed in portable file names"
        );
    }

    #[test]
    fn an_error_stays_small_enough_to_return_by_value() {
        assert!(size_of::<WorkspaceError>() <= 128);
    }
}
