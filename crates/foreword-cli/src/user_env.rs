//! The user's environment: their name, the time, their settings and directories.

pub(crate) use foreword_serve::environment::{
    act, act_of, captures_dir, config_dir, embeddings, format_time, models_dir, now_ms,
};
