//! The process that a front end runs in: the user, the time, their settings and directories.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use foreword::Timestamp;
use foreword_embed::ApiKey;
use foreword_gather::{Endpoint, Request};
use foreword_skills::Act;
use foreword_workspace::Settings;

use crate::failure::Failure;

/// An act of the user, now.
pub fn act() -> Act {
    let name = ["USER", "LOGNAME", "USERNAME"].iter().find_map(|name| std::env::var(name).ok());
    let name = name.filter(|name| !name.trim().is_empty()).unwrap_or_else(user_number);
    Act { at: now_ms(), by: format!("user:{name}") }
}

/// A name for a user whose environment gives none.
#[cfg(unix)]
fn user_number() -> String {
    format!("uid-{}", rustix::process::getuid().as_raw())
}

#[cfg(not(unix))]
fn user_number() -> String {
    "unknown".to_owned()
}

/// An act of an agent, or of the user if there is no agent.
pub fn act_of(agent: Option<&str>) -> Act {
    match agent {
        Some(agent) => Act { at: now_ms(), by: format!("agent:{agent}") },
        None => act(),
    }
}

/// Milliseconds since the Unix epoch.
pub fn now_ms() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX)
}

/// Milliseconds since the Unix epoch, in RFC 3339.
pub fn format_time(ms: i64) -> String {
    Timestamp::from_unix(ms.div_euclid(1000)).as_str().to_owned()
}

/// The embedding endpoint from the user's environment, else from their settings. The key is sent only
/// there.
pub fn embeddings() -> Result<Endpoint, Failure> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let key = set("FOREWORD_EMBEDDINGS_API_KEY").map(ApiKey::new);
    if let Some(url) = set("FOREWORD_EMBEDDINGS_URL") {
        return Ok(Endpoint { url: Some(url), key });
    }
    let Ok(config_dir) = config_dir() else { return Ok(Endpoint { url: None, key }) };
    let own = Settings::load(&config_dir)?.embedder;
    let key = match (&own.key_file, &own.key_env) {
        _ if own.url.is_none() => key,
        (Some(file), _) => Some(foreword_host::read_key(&config_dir.join(file), None)?),
        (None, Some(name)) => set(name).map(|key| ApiKey::new(key.trim())),
        (None, None) => key,
    };
    Ok(Endpoint { url: own.url, key })
}

/// The directory of the user's settings, which holds the audit key.
pub fn config_dir() -> Result<PathBuf, Failure> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(own) = set("FOREWORD_CONFIG_DIR") {
        return Ok(PathBuf::from(own));
    }
    let base = if cfg!(windows) { set("APPDATA") } else { set("XDG_CONFIG_HOME") };
    let base = base.map(PathBuf::from).filter(|path| path.is_absolute());
    let base = base.or_else(|| std::env::home_dir().map(|home| home.join(".config")));
    base.map(|base| base.join("foreword")).ok_or_else(|| {
        Failure::usage("cannot store the audit key: no home directory found")
            .hint("set FOREWORD_CONFIG_DIR to a directory outside your workspaces")
    })
}

/// The directory of installed models, shared by all workspaces of the user.
pub fn models_dir() -> Result<PathBuf, Failure> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(own) = set("FOREWORD_MODEL_DIR") {
        return Ok(PathBuf::from(own));
    }
    let base = if cfg!(windows) { set("LOCALAPPDATA") } else { set("XDG_DATA_HOME") };
    let base = base.map(PathBuf::from).filter(|path| path.is_absolute());
    let base = base.or_else(|| std::env::home_dir().map(|home| home.join(".local/share")));
    base.map(|base| base.join("foreword").join("models")).ok_or_else(|| {
        Failure::usage("cannot store models: no home directory found")
            .hint("set FOREWORD_MODEL_DIR to a directory")
    })
}

/// The directory of captures. They belong to the user, whatever directory a program was watched in.
pub fn captures_dir() -> Result<PathBuf, Failure> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(own) = set("FOREWORD_STATE_DIR") {
        return Ok(PathBuf::from(own).join("captures"));
    }
    let base = if cfg!(windows) { set("LOCALAPPDATA") } else { set("XDG_STATE_HOME") };
    let base = base.map(PathBuf::from).filter(|path| path.is_absolute());
    let base = base.or_else(|| std::env::home_dir().map(|home| home.join(".local/state")));
    base.map(|base| base.join("foreword").join("captures")).ok_or_else(|| {
        Failure::usage("cannot store captures: no home directory found")
            .hint("set FOREWORD_STATE_DIR to a directory")
    })
}

/// The time of the system clock.
pub fn clock() -> Timestamp {
    Timestamp::from_unix(now_ms().div_euclid(1000))
}

/// A request that knows the user's directories and embedding endpoint.
pub fn user_request() -> Result<Request, Failure> {
    Ok(Request {
        config_dir: config_dir().ok(),
        models_dir: models_dir().ok(),
        embeddings: embeddings()?,
        ..Request::default()
    })
}
