//! Whoever sits at the command line: who they are, what time it is, where their settings are.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use foreword::Timestamp;
use foreword_embed::ApiKey;
use foreword_gather::Endpoint;
use foreword_skills::Act;

use crate::error::CliError;

/// What a person does now.
pub(crate) fn act() -> Act {
    let name = ["USER", "LOGNAME", "USERNAME"].iter().find_map(|name| std::env::var(name).ok());
    let name = name.filter(|name| !name.trim().is_empty()).unwrap_or_else(number);
    Act { at: now_ms(), by: format!("user:{name}") }
}

/// Who this is where nothing gives them a name.
#[cfg(unix)]
fn number() -> String {
    format!("uid-{}", rustix::process::getuid().as_raw())
}

#[cfg(not(unix))]
fn number() -> String {
    "unknown".to_owned()
}

/// What an agent does now, or the person if no agent is named.
pub(crate) fn act_of(agent: Option<&str>) -> Act {
    match agent {
        Some(agent) => Act { at: now_ms(), by: format!("agent:{agent}") },
        None => act(),
    }
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX)
}

/// A time in milliseconds, as people and JSON see it.
pub(crate) fn shown_time(ms: i64) -> String {
    Timestamp::from_unix(ms.div_euclid(1000)).as_str().to_owned()
}

/// The endpoint for embeddings that the person chose. A key goes only where they say.
pub(crate) fn embeddings() -> Endpoint {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    Endpoint {
        url: set("FOREWORD_EMBEDDINGS_URL"),
        key: set("FOREWORD_EMBEDDINGS_API_KEY").map(ApiKey::new),
    }
}

/// The directory of the person's own settings, where the audit key lies.
pub(crate) fn config_dir() -> Result<PathBuf, CliError> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(own) = set("FOREWORD_CONFIG_DIR") {
        return Ok(PathBuf::from(own));
    }
    let base = if cfg!(windows) { set("APPDATA") } else { set("XDG_CONFIG_HOME") };
    let base = base.map(PathBuf::from).filter(|path| path.is_absolute());
    let base = base.or_else(|| std::env::home_dir().map(|home| home.join(".config")));
    base.map(|base| base.join("foreword")).ok_or_else(|| {
        CliError::usage("there is no home directory to keep the audit key in")
            .hint("set FOREWORD_CONFIG_DIR to a directory outside every workspace")
    })
}

/// The directory of installed models, which all workspaces of the person share.
pub(crate) fn models_dir() -> Result<PathBuf, CliError> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(own) = set("FOREWORD_MODEL_DIR") {
        return Ok(PathBuf::from(own));
    }
    let base = if cfg!(windows) { set("LOCALAPPDATA") } else { set("XDG_DATA_HOME") };
    let base = base.map(PathBuf::from).filter(|path| path.is_absolute());
    let base = base.or_else(|| std::env::home_dir().map(|home| home.join(".local/share")));
    base.map(|base| base.join("foreword").join("models")).ok_or_else(|| {
        CliError::usage("there is no home directory to keep models in")
            .hint("set FOREWORD_MODEL_DIR to a directory")
    })
}
