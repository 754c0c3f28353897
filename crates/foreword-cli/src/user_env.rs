//! The user's environment: their name, the time, their settings and directories.

use std::path::PathBuf;

use crate::error::CliError;

pub(crate) use foreword_serve::environment::{
    act, act_of, config_dir, embeddings, format_time, models_dir, now_ms,
};

/// The directory of captures. They belong to the user, whatever directory a program was watched in.
pub(crate) fn captures_dir() -> Result<PathBuf, CliError> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(own) = set("FOREWORD_STATE_DIR") {
        return Ok(PathBuf::from(own).join("captures"));
    }
    let base = if cfg!(windows) { set("LOCALAPPDATA") } else { set("XDG_STATE_HOME") };
    let base = base.map(PathBuf::from).filter(|path| path.is_absolute());
    let base = base.or_else(|| std::env::home_dir().map(|home| home.join(".local/state")));
    base.map(|base| base.join("foreword").join("captures")).ok_or_else(|| {
        CliError::usage("cannot store captures: no home directory found")
            .hint("set FOREWORD_STATE_DIR to a directory")
    })
}
