//! What values of `foreword.toml` make sense, beyond their types.

use crate::config::{Config, ModeSettings, toml_text};
use crate::error::WorkspaceError;
use crate::read::SourceFile;
use crate::rel_path::{PathFault, RelPath, check_component};

/// No workspace needs larger files in a prompt, and every read is held in memory.
const MAX_FILE_BYTES: u64 = 64 << 20;
/// More of anything selected than this is a slip of the keyboard.
const MAX_SELECTED: usize = 10_000;

/// Every recalled sentence is compared with each of them.
const MAX_PATTERNS: usize = 1000;

/// A value that makes no sense: where it is, and the rest of the sentence that starts with it.
pub(crate) struct Fault {
    pub(crate) key: Vec<&'static str>,
    pub(crate) message: String,
}

pub(crate) type Check = Result<(), Fault>;

impl Fault {
    /// The same with its line in the file.
    pub(crate) fn in_file(self, file: &SourceFile) -> WorkspaceError {
        WorkspaceError::BadValue {
            path: file.path.clone(),
            line: toml_text::line_of_key(&file.text, &self.key),
            key: self.key.join("."),
            message: self.message,
        }
    }
}

/// The first value that makes no sense, in the order of the file.
pub(crate) fn check(config: &Config) -> Check {
    line(&["blueprint"], &config.blueprint)?;
    config.agent.as_deref().map_or(Ok(()), |id| component(&["agent"], id))?;
    config.sandbox_type.as_deref().map_or(Ok(()), |name| line(&["sandbox_type"], name))?;
    config.agent_type.as_deref().map_or(Ok(()), |name| line(&["agent_type"], name))?;
    component(&["namespace"], &config.namespace)?;
    model(config)?;
    line(&["channel"], &config.channel)?;
    config.user_id.as_deref().map_or(Ok(()), |id| component(&["user_id"], id))?;
    limits(config)?;
    skills(config)?;
    mode(["modes", "plan"], &config.modes.plan)?;
    mode(["modes", "act"], &config.modes.act)?;
    mode(["modes", "review"], &config.modes.review)?;
    assembly(config)?;
    embedder(config)?;
    host(config)?;
    config.mcp.check()
}

fn model(config: &Config) -> Check {
    let model = &config.model;
    model.name.as_deref().map_or(Ok(()), |name| line(&["model", "name"], name))?;
    if let Some(url) = &model.base_url {
        http_url(&["model", "base_url"], url)?;
    }
    key_source(&["model"], model.key_env.as_deref(), model.key_file.as_deref())?;
    within(&["model", "max_output_tokens"], model.max_output_tokens.map(u64::from), 1, 1_000_000)?;
    within(&["model", "timeout_seconds"], model.timeout_seconds, 1, 3600)?;
    within(&["model", "retries"], model.retries.map(u64::from), 0, 20)
}

/// The address of a server.
pub(crate) fn http_url(key: &[&'static str], url: &str) -> Check {
    line(key, url)?;
    if url::Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https")) {
        return Ok(());
    }
    fault(key, format!("is `{url}`, it must begin with http:// or https://"))
}

/// Where a key is found: in a variable or in a file.
pub(crate) fn key_source(
    table: &[&'static str],
    variable: Option<&str>,
    file: Option<&str>,
) -> Check {
    let key = |name: &'static str| [table, &[name]].concat();
    variable.map_or(Ok(()), |name| line(&key("key_env"), name))?;
    file.map_or(Ok(()), |path| line(&key("key_file"), path))?;
    if variable.is_some_and(|name| !is_variable(name)) {
        return fault(
            &key("key_env"),
            "must be the name of an environment variable, not the key itself".into(),
        );
    }
    Ok(())
}

/// The same, for a file that may name only one of the two.
pub(crate) fn one_key_source(
    table: &[&'static str],
    variable: Option<&str>,
    file: Option<&str>,
) -> Check {
    if variable.is_some() && file.is_some() {
        let key = [table, &["key_file"]].concat();
        return fault(&key, "cannot be combined with key_env; keep one of them".into());
    }
    key_source(table, variable, file)
}

fn is_variable(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

fn host(config: &Config) -> Check {
    let host = &config.host;
    for (key, names) in [("web_hosts", &host.web_hosts), ("external_tools", &host.external_tools)] {
        for name in names {
            line(&["host", key], name)?;
        }
    }
    if let Some(name) = host.web_hosts.iter().find(|name| name.contains(['/', '*', '@'])) {
        return fault(
            &["host", "web_hosts"],
            format!("contains `{name}`: write the full host name, without a path"),
        );
    }
    for (key, value, most) in [
        ("max_depth", u64::from(host.max_depth), 16),
        ("max_agents", u64::from(host.max_agents), 1000),
        ("turn_seconds", host.turn_seconds, 86_400),
        ("silent_seconds", host.silent_seconds, 86_400),
        ("max_steps", u64::from(host.max_steps), 10_000),
        ("command_seconds", host.command_seconds, 86_400),
        ("calls_per_second", u64::from(host.calls_per_second), 1_000_000),
    ] {
        within(&["host", key], Some(value), 1, most)?;
    }
    within(&["host", "compact_at"], Some(u64::from(host.compact_at)), 10, 100)?;
    for (key, value, least, most) in host.limits.ranges() {
        within(&["host", "limits", key], value, least, most)?;
    }
    Ok(())
}

pub(crate) fn within(key: &[&'static str], value: Option<u64>, least: u64, most: u64) -> Check {
    match value.filter(|value| !(least..=most).contains(value)) {
        Some(value) => fault(key, format!("is {value}, it must be between {least} and {most}")),
        None => Ok(()),
    }
}

fn limits(config: &Config) -> Check {
    let limits = &config.limits;
    positive(&["limits", "max_file_chars"], limits.max_file_chars)?;
    if limits.max_file_bytes == 0 || limits.max_file_bytes > MAX_FILE_BYTES {
        return fault(
            &["limits", "max_file_bytes"],
            format!("is {}, it must be between 1 and {MAX_FILE_BYTES}", limits.max_file_bytes),
        );
    }
    limits
        .max_prompt_tokens
        .map_or(Ok(()), |tokens| positive(&["limits", "max_prompt_tokens"], tokens))?;
    positive(&["limits", "context_window"], limits.context_window)?;
    if limits.output_reserve >= limits.context_window {
        return fault(
            &["limits", "output_reserve"],
            format!(
                "is {} and leaves nothing of a context_window of {}",
                limits.output_reserve, limits.context_window
            ),
        );
    }
    Ok(())
}

fn skills(config: &Config) -> Check {
    let skills = &config.skills;
    RelPath::parse(&skills.directory)
        .or_else(|reason| path_fault(&["skills", "directory"], &skills.directory, reason))?;
    for root in &skills.roots {
        let key = &["skills", "roots"];
        line(key, root)?;
        if root.starts_with('~') {
            return fault(
                key,
                format!("contains `{root}`, and `~` is not expanded: write the full path"),
            );
        }
    }
    Ok(())
}

fn assembly(config: &Config) -> Check {
    let assembly = &config.assembly;
    for (key, value) in [
        ("max_tools", assembly.max_tools),
        ("max_skills", assembly.max_skills),
        ("max_schemas", assembly.max_schemas),
        ("max_results", assembly.max_results),
        ("max_memories", assembly.max_memories),
        ("max_activity", assembly.max_activity),
        ("task_cache", assembly.task_cache),
    ] {
        selected(&["assembly", key], value)?;
    }
    for (key, value) in [
        ("memory_min_score", assembly.memory_min_score),
        ("injection_min_score", assembly.injection_min_score),
    ] {
        if value.is_some_and(|value| !(0.0..=1.0).contains(&value)) {
            return fault(&["assembly", key], "has to lie between 0 and 1".into());
        }
    }
    let patterns = &assembly.injection_patterns;
    if patterns.len() > MAX_PATTERNS {
        let count = patterns.len();
        return fault(
            &["assembly", "injection_patterns"],
            format!("contains {count} patterns, it must be at most {MAX_PATTERNS}"),
        );
    }
    for pattern in patterns {
        line(&["assembly", "injection_patterns"], pattern)?;
    }
    if assembly.min_score.is_some_and(|value| !value.is_finite()) {
        return fault(&["assembly", "min_score"], "is not a number to compare with".into());
    }
    Ok(())
}

fn embedder(config: &Config) -> Check {
    let embedder = &config.embedder;
    if let Some(url) = &embedder.url {
        http_url(&["embedder", "url"], url)?;
        let path = url::Url::parse(url).map(|url| url.path().trim_end_matches('/').to_owned());
        let path = path.unwrap_or_default();
        if !matches!(path.as_str(), "" | "/v1" | "/v1/embeddings") || url.contains(['?', '#', '@'])
        {
            return fault(
                &["embedder", "url"],
                format!("is `{url}`, write only the server: the path is always /v1/embeddings"),
            );
        }
    }
    embedder.model.as_deref().map_or(Ok(()), |model| line(&["embedder", "model"], model))?;
    if embedder.timeout_seconds.is_some_and(|seconds| seconds == 0 || seconds > 600) {
        return fault(&["embedder", "timeout_seconds"], "has to lie between 1 and 600".into());
    }
    Ok(())
}

fn mode([modes, mode]: [&'static str; 2], settings: &ModeSettings) -> Check {
    let ModeSettings { base_tools, base_skills, max_tools, max_skills } = settings;
    for (key, names) in [("base_tools", base_tools), ("base_skills", base_skills)] {
        for name in names {
            line(&[modes, mode, key], name)?;
        }
    }
    for (key, value) in [("max_tools", max_tools), ("max_skills", max_skills)] {
        value.map_or(Ok(()), |value| selected(&[modes, mode, key], value))?;
    }
    Ok(())
}

/// A number of things to select.
fn selected(key: &[&'static str], value: usize) -> Check {
    if value > MAX_SELECTED {
        return fault(key, format!("is {value}, it must be at most {MAX_SELECTED}"));
    }
    Ok(())
}

fn positive(key: &[&'static str], value: usize) -> Check {
    if value == 0 { fault(key, "is 0, it must be at least 1".into()) } else { Ok(()) }
}

/// One line with something on it.
fn line(key: &[&'static str], value: &str) -> Check {
    if value.trim().is_empty() {
        return fault(key, "is empty".into());
    }
    if value.chars().any(char::is_control) {
        return fault(key, format!("contains a control character: `{}`", value.escape_debug()));
    }
    Ok(())
}

fn component(key: &[&'static str], value: &str) -> Check {
    check_component(value).or_else(|reason| path_fault(key, value, reason))
}

fn path_fault<T>(key: &[&'static str], value: &str, reason: PathFault) -> Result<T, Fault> {
    fault(key, format!("is `{}`, which cannot be used: {reason}", value.escape_debug()))
}

fn fault<T>(key: &[&'static str], message: String) -> Result<T, Fault> {
    Err(Fault { key: key.to_vec(), message })
}
