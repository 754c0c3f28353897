//! Why the host could not do what it was asked, and what a person can do about it.

use std::io;
use std::path::PathBuf;

use foreword::visible_line;
use foreword_gather::GatherError;
use foreword_guard::InvalidRule;
use foreword_protocol::{ErrorCode, Failure};
use foreword_sandbox::SandboxError;
use foreword_search::MemoryError;
use foreword_skills::SkillError;
use foreword_store::StoreError;
use foreword_workspace::WorkspaceError;
use thiserror::Error;

use crate::governance::GovernanceError;
use crate::spending::LimitReached;
use crate::turn::sandbox::WeakerSandbox;

/// Why the host could not do what it was asked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HostError {
    #[error(transparent)]
    Gather(#[from] GatherError),
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Skill(#[from] SkillError),
    #[error(transparent)]
    Memory(#[from] MemoryError),
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    #[error(transparent)]
    Governance(#[from] GovernanceError),
    #[error("cannot {action}: {source}")]
    Io {
        /// An infinitive, such as `create /run/x`.
        action: String,
        source: io::Error,
    },
    #[error("cannot use the skill `{skill}`: this agent may not use skills")]
    SkillsOff { skill: String },
    #[error("cannot load the injection scanner: {0}")]
    NoScanner(String),
    #[error("no API key for the model: `{variable}` is not set")]
    NoKey { variable: String },
    #[error("no API key for a model: neither ANTHROPIC_API_KEY nor OPENAI_API_KEY is set")]
    NoKeyAtAll,
    #[error("cannot use the key file {}: {reason}", path.display())]
    KeyFile { path: PathBuf, reason: String },
    #[error(
        "foreword.toml sets a key that your settings.toml does not allow for {server}: {key} = \"{}\"",
        .value.escape_debug()
    )]
    KeyNotAllowed {
        /// `key_env` or `key_file`.
        key: &'static str,
        value: String,
        server: String,
    },
    #[error(
        "foreword.toml sets a model server on another machine that is not in your settings.toml: {url}"
    )]
    ServerNotAllowed { url: String },
    #[error("invalid model server URL: `{url}`")]
    InvalidModelUrl { url: String },
    #[error("`{}` is not a directory of this workspace", path.display())]
    NotADirectory { path: PathBuf },
    #[error("no model is configured")]
    NoModel,
    #[error("the runner `{runner}` needs a model server with the {needs} API")]
    WrongProvider { runner: &'static str, needs: &'static str },
    #[error("`{program}` is not installed")]
    NotInstalled {
        program: &'static str,
        /// The command that installs it.
        install: &'static str,
    },
    #[error("session `{session}` is busy: another process is running a turn in it")]
    Busy { session: String },
    #[error("session `{session}` changed in another process")]
    SessionChanged { session: String },
    #[error("session `{session}` is missing from the database")]
    SessionMissing { session: String },
    #[error("message blocked: it looks like prompt injection ({reason})")]
    Blocked { reason: String },
    #[error(
        "message and tools need {tokens} of the {window} tokens in the context window, which leaves \
         no room for the whole prompt"
    )]
    MessageTooLong { tokens: u64, window: u64 },
    #[error("{message}")]
    Agent {
        message: String,
        /// The HTTP status with which the model server refused the last call.
        model_status: Option<u16>,
    },
    #[error(
        "{provider} ({server}) does not have the model `{}`, which is set by {chosen_by}",
        visible_line(model)
    )]
    UnknownModel { model: String, provider: &'static str, server: String, chosen_by: String },
    #[error(transparent)]
    LimitReached(#[from] LimitReached),
    #[error("cannot read the price table {}: {reason}", path.display())]
    Prices { path: PathBuf, reason: String },
    #[error("cancelled")]
    Cancelled,
    #[error("workspace is not trusted yet")]
    NotTrusted,
    #[error("governed files changed since you trusted this workspace: {}", escaped(files))]
    TrustedFilesChanged {
        /// The first few of them.
        files: Vec<String>,
    },
    #[error(
        "the sandbox {} is weaker than {}, which the last turn in this workspace used: {}",
        .0.now.as_str(), .0.before, .0.lost.join(", ")
    )]
    WeakerSandbox(WeakerSandbox),
    #[error("{file}: {fault}")]
    InvalidRule { file: String, fault: InvalidRule },
    #[error("an agent is running in this workspace, so changes cannot be trusted yet")]
    AgentRunning,
    #[error("{file} changed since this proposal was made")]
    ProposalOutdated { file: String },
    #[error("{} is a symbolic link, which an approval never writes through", path.display())]
    TargetIsLink { path: PathBuf },
    #[error("agents can start other agents at most {max} levels deep (host.max_depth)")]
    TooDeep { max: u32 },
    #[error("one message can start at most {max} agents (host.max_agents)")]
    TooManyAgents { max: u32 },
}

impl HostError {
    pub(crate) fn io(action: impl Into<String>, source: io::Error) -> Self {
        Self::Io { action: action.into(), source }
    }

    pub(crate) fn agent(message: impl Into<String>) -> Self {
        Self::Agent { message: message.into(), model_status: None }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Gather(error) => return error.hint(),
            Self::Workspace(error) => return Some(error.hint()),
            Self::Skill(error) => return error.hint(),
            Self::NoKey { variable } => {
                return Some(format!(
                    "set {variable}, or add the server with its `key_file` as [[model.servers]] to your \
                     settings.toml"
                ));
            }
            Self::NoKeyAtAll => NO_KEY_AT_ALL,
            Self::KeyNotAllowed { key, value, server } => {
                return Some(format!(
                    "remove it; to send that key to that server, add to your settings.toml: \
                     [[model.servers]] with url = \"{server}\" and {key} = \"{}\"",
                    value.escape_debug()
                ));
            }
            Self::ServerNotAllowed { url } => {
                return Some(format!(
                    "remove `base_url`; to allow that server, add to your settings.toml: \
                     [[model.servers]] with url = \"{url}\" and the key to send to it"
                ));
            }
            Self::WeakerSandbox(weaker) => {
                return Some(format!(
                    "restore {}, or pass `--sandbox {}` to use the weaker one",
                    weaker.before,
                    weaker.now.as_str()
                ));
            }
            Self::LimitReached(limit) => return Some(limit.hint()),
            Self::Prices { .. } => "correct it, or remove `prices` under [limits] in settings.toml",
            Self::NotInstalled { install, .. } => return Some(format!("run `{install}`")),
            Self::Agent { model_status, .. } => return model_status.and_then(model_hint),
            Self::InvalidModelUrl { .. } => {
                "use a URL such as https://api.example.org, without a user name or a query"
            }
            Self::UnknownModel { .. } => {
                "pass a model of this provider with `--model NAME`, change the setting, or remove it to use \
                 the provider's default"
            }
            Self::NoModel => {
                "set it with --model, in the agent's header, or as `name` under [model]"
            }
            Self::NotADirectory { .. } => {
                "use an existing directory, relative to the root of the workspace"
            }
            Self::Sandbox(SandboxError::NoWorkspace { .. }) => {
                "use a separate directory, for example one in your home directory"
            }
            Self::Busy { .. } => "wait until that turn ends, or start another session",
            Self::NotTrusted => "run `foreword trust` to review it, or pass --trust",
            Self::TrustedFilesChanged { .. } => "run `foreword trust` to review the changes",
            Self::InvalidRule { .. } => {
                "write a tool and, in parentheses, a pattern, such as bash(git push*) or write(docs/**)"
            }
            Self::AgentRunning => "try again when its turn has ended",
            Self::SessionChanged { .. } => "retry",
            Self::Blocked { .. } => "rephrase the message",
            Self::MessageTooLong { .. } => "send a shorter message",
            Self::ProposalOutdated { .. } => "reject the proposal and ask the agent for a new one",
            Self::TargetIsLink { .. } => "replace the link with a file, or reject the proposal",
            Self::NoScanner(_) => "reinstall foreword: its embedded tables are damaged",
            _ => return None,
        };
        Some(hint.to_owned())
    }

    /// What a call that failed for this reason is answered with.
    fn code(&self) -> ErrorCode {
        match self {
            Self::Store(StoreError::NoSuch { .. } | StoreError::NoSuchProposal { .. }) => {
                ErrorCode::NotFound
            }
            Self::Store(StoreError::TooMany { .. })
            | Self::TooDeep { .. }
            | Self::TooManyAgents { .. }
            | Self::LimitReached(_)
            | Self::MessageTooLong { .. } => ErrorCode::Limit,
            Self::Store(StoreError::TooLarge { .. } | StoreError::Unfit { .. })
            | Self::Workspace(_)
            | Self::Gather(_)
            | Self::Skill(_)
            | Self::NotADirectory { .. } => ErrorCode::BadRequest,
            Self::Cancelled | Self::Blocked { .. } => ErrorCode::Refused,
            Self::Agent { .. }
            | Self::UnknownModel { .. }
            | Self::NotInstalled { .. }
            | Self::NoScanner(_) => ErrorCode::Unavailable,
            _ => ErrorCode::Internal,
        }
    }
}

impl From<HostError> for Failure {
    fn from(error: HostError) -> Self {
        let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
        Self::new(error.code(), format!("{error}{hint}"))
    }
}

/// What a person can do who has no key at hand.
const NO_KEY_AT_ALL: &str = "\
set one of these and run the command again:
  ANTHROPIC_API_KEY           an Anthropic API key
  OPENAI_API_KEY              an OpenAI API key, or another provider's together with OPENAI_BASE_URL
  OPENAI_BASE_URL             a server on this machine that needs no key, such as http://127.0.0.1:11434;
                              pass its model with `--model`
  ANTHROPIC_BASE_URL          the same for a server with the Anthropic API
or list a server with its `key_file` as [[model.servers]] in your settings.toml
these work without a key:
  foreword build \"…\"          print the prompt for a task
  foreword explain            show what each section costs and where it comes from
  foreword run \"…\" --dry-run  print the request instead of sending it
  foreword scan FILE          scan a text for prompt injection
  foreword run --runner claude-code -m \"…\"
                              run Claude Code with its own login: set CLAUDE_CODE_OAUTH_TOKEN to the token
                              that `claude setup-token` prints";

/// What to do when the model server refuses every call with this status.
fn model_hint(status: u16) -> Option<String> {
    let hint = match status {
        401 | 403 => {
            "check the API key: ANTHROPIC_API_KEY or OPENAI_API_KEY, or `key_env` and `key_file` \
             under [[model.servers]] in your settings.toml"
        }
        404 => {
            "check the model name (`--model`, or `name` under [model]) and the server's URL \
             (`base_url`)"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}

fn escaped(files: &[String]) -> String {
    let files: Vec<String> = files.iter().map(|file| file.escape_debug().to_string()).collect();
    files.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_of_the_model_server_chooses_the_hint() {
        let hint = |model_status| HostError::Agent { message: String::new(), model_status }.hint();
        assert!(hint(Some(401)).unwrap().contains("API key"));
        assert!(hint(Some(404)).unwrap().contains("model name"));
        assert_eq!(hint(Some(500)), None);
        assert_eq!(hint(None), None);
    }
}
