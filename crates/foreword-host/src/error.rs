//! What can go wrong before, during and after a turn, in words a person can act on.

use std::io;
use std::path::PathBuf;

use foreword_gather::GatherError;
use foreword_sandbox::SandboxError;
use foreword_search::MemoryError;
use foreword_skills::SkillError;
use foreword_store::StoreError;
use foreword_workspace::WorkspaceError;
use thiserror::Error;

/// Why the host could not do what it was asked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HostError {
    /// The workspace cannot be gathered.
    #[error(transparent)]
    Gather(#[from] GatherError),
    /// The workspace cannot be read.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The skill store failed.
    #[error(transparent)]
    Skill(#[from] SkillError),
    /// The memory failed.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The sandbox failed.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// Something about a file or a process.
    #[error("cannot {what}: {error}")]
    Io {
        /// What was to be done.
        what: String,
        /// Why it was not.
        error: io::Error,
    },
    /// There is no key for the model's server.
    #[error("there is no key for the model: `{variable}` is not set")]
    NoKey {
        /// The environment variable that was looked at.
        variable: String,
    },
    /// A key file that is not fit to hold a key.
    #[error("the key file {path} cannot be used: {reason}", path = path.display())]
    KeyFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The model's server has no usable address.
    #[error("`{url}` is no address of a model's server")]
    BadAddress {
        /// What was given.
        url: String,
    },
    /// A work directory that is none of the workspace.
    #[error("`{}` is not a directory of this workspace", path.display())]
    NoDirectory {
        /// What was given.
        path: PathBuf,
    },
    /// No model is named.
    #[error("no model is named")]
    NoModel,
    /// A runner that cannot speak with the provider.
    #[error("the runner `{runner}` needs a server that speaks {needs}")]
    WrongProvider {
        /// The runner.
        runner: &'static str,
        /// What it needs.
        needs: &'static str,
    },
    /// The program of a runner is not installed.
    #[error("`{program}` is not installed")]
    NotInstalled {
        /// The program.
        program: &'static str,
        /// How to get it.
        install: &'static str,
    },
    /// Another host works on this session.
    #[error("the session `{session}` is busy: another process is in the middle of a turn")]
    Busy {
        /// The session.
        session: String,
    },
    /// Another host finished a turn after this one was prepared.
    #[error("the session `{session}` went on meanwhile, in another process")]
    SessionChanged {
        /// The session.
        session: String,
    },
    /// A message that is an attack.
    #[error(
        "the message was not passed on: it reads as an attempt to take the agent over ({reason})"
    )]
    Blocked {
        /// What the scanner says.
        reason: String,
    },
    /// The agent failed.
    #[error("{message}")]
    Agent {
        /// What happened, and what to do.
        message: String,
    },
    /// The turn was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// Governed files are not as the person accepted them.
    #[error("{}", untrusted(files))]
    Untrusted {
        /// Some of them; none for a workspace that was never asked about.
        files: Vec<String>,
    },
    /// Too deep, or too many.
    #[error("{0}")]
    Limit(String),
}

impl HostError {
    /// Something about a file or a process.
    pub(crate) fn io(what: impl Into<String>, error: io::Error) -> Self {
        Self::Io { what: what.into(), error }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Gather(error) => return error.hint(),
            Self::Workspace(error) => error.hint(),
            Self::Skill(error) => return error.hint(),
            Self::NoKey { variable } => format!(
                "set {variable}, or name a key file or another server under [model] in foreword.toml"
            ),
            Self::BadAddress { .. } => {
                "it has to read like https://api.example.org, without user or query".to_owned()
            }
            Self::NoModel => {
                "name one with --model, in the agent's header, or as `name` under [model]"
                    .to_owned()
            }
            Self::NoDirectory { .. } => {
                "name one that is there, as it is called from the workspace's root".to_owned()
            }
            Self::Agent { message } => return refused(message),
            Self::NotInstalled { install, .. } => format!("get it with `{install}`"),
            Self::Sandbox(SandboxError::NoWorkspace { .. }) => {
                "use a directory of its own, such as one below your home".to_owned()
            }
            Self::Busy { .. } => "wait for it, or begin another session".to_owned(),
            Self::Untrusted { .. } => {
                "look at what changed with `foreword run`, which asks about it".to_owned()
            }
            Self::SessionChanged { .. } => "try again".to_owned(),
            Self::Blocked { .. } => "say it in other words".to_owned(),
            _ => return None,
        })
    }
}

fn untrusted(files: &[String]) -> String {
    if files.is_empty() {
        return "this workspace was not asked about before".to_owned();
    }
    let files: Vec<String> = files.iter().map(|file| file.escape_debug().to_string()).collect();
    format!("governed files are not as they were accepted: {}", files.join(", "))
}

/// What to do when the model's server refuses every call.
fn refused(message: &str) -> Option<String> {
    let (status, _) =
        message.strip_prefix("the model's server refused the call (status ")?.split_once(')')?;
    Some(match status {
        "401" | "403" => "check the key: ANTHROPIC_API_KEY or OPENAI_API_KEY, or `key_env` and \
                          `key_file` under [model] in foreword.toml"
            .to_owned(),
        "404" => "check the model's name (`--model`, or `name` under [model]) and the server's \
                  address (`base_url`)"
            .to_owned(),
        _ => return None,
    })
}
