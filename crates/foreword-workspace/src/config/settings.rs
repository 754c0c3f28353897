//! `settings.toml`: what belongs to the person and not to a workspace.
//!
//! A workspace may come from anywhere, so it names no key, sends nothing to another machine and reads no
//! directory outside itself unless the person says so: here, or when they trust the workspace.

use std::path::{Path, PathBuf};

use foreword::{Profile, SandboxKind};
use serde::{Deserialize, Serialize};

use crate::config::age::Age;
use crate::config::check::{self, Check, Fault};
use crate::config::host::ProviderName;
use crate::config::permissions::PermissionSettings;
use crate::config::sandbox_limits::SandboxLimits;
use crate::config::spending::PeriodLimits;
use crate::config::toml_text;
use crate::error::WorkspaceError;
use crate::mcp::server::PersonalMcp;
use crate::own_file;
use crate::read::SourceFile;

/// The name of the person's settings file, in Foreword's configuration directory.
pub const SETTINGS_FILE: &str = "settings.toml";

/// The person's settings file with every key at its default, commented out and explained.
pub const DEFAULT_SETTINGS_TEXT: &str = include_str!("../text/settings.toml");

/// The file is typed by a person.
const MAX_SETTINGS_BYTES: u64 = 1 << 20;

/// The settings of a person, from `settings.toml`. Every key has a default.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Model servers and their keys.
    pub model: PersonalModel,
    /// The embedding endpoint and its key.
    pub embedder: PersonalEmbedder,
    /// What agents may spend.
    pub limits: SpendingLimits,
    /// What a workspace may choose without a question.
    pub host: PersonalHost,
    /// What agents may use of the machine.
    pub sandbox: SandboxLimits,
    /// Skill directories outside workspaces.
    pub skills: PersonalSkills,
    /// MCP servers with more freedom than others have.
    pub mcp: PersonalMcp,
    /// Which calls of tools are allowed, asked about or denied, in every workspace.
    pub permissions: PermissionSettings,
}

/// `[model]`: model servers and their keys.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PersonalModel {
    /// How requests are written, for workspaces that do not say. Default: as the environment tells.
    pub provider: Option<ProviderName>,
    /// The server for workspaces that name none. Default: none.
    pub base_url: Option<String>,
    /// Servers that workspaces may name, with their keys. Default: none.
    pub servers: Vec<ModelServer>,
}

/// `[[model.servers]]`: a server that workspaces may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelServer {
    /// Its URL, with or without `/v1`.
    pub url: String,
    /// The environment variable that holds its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_env: Option<String>,
    /// A file that holds its key and that only its owner can read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_file: Option<String>,
}

/// `[embedder]`: the embedding endpoint and its key.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PersonalEmbedder {
    /// The endpoint, whatever a workspace names. Default: none.
    pub url: Option<String>,
    /// The environment variable that holds its key. Default: none.
    pub key_env: Option<String>,
    /// A file that holds its key and that only its owner can read. Default: none.
    pub key_file: Option<String>,
}

/// `[limits]`: what agents may spend.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SpendingLimits {
    /// A price table that replaces the built-in one. Default: none.
    pub prices: Option<PathBuf>,
    /// What one message may spend, with all agents it starts.
    pub turn: PeriodLimits,
    /// What a session may spend.
    pub session: PeriodLimits,
    /// What all sessions of a workspace may spend in a day.
    pub day: PeriodLimits,
}

/// `[host]`: what a workspace may choose without a question.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PersonalHost {
    /// Sandboxes weaker than the default. Default: none.
    pub sandboxes: Vec<SandboxKind>,
    /// Profiles weaker than the default. Default: none.
    pub profiles: Vec<Profile>,
    /// After how long sessions are deleted. Default: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retention: Option<Age>,
}

/// `[skills]`: skill directories outside workspaces.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PersonalSkills {
    /// Directories that `skills.roots` of a workspace may use. Default: none.
    pub roots: Vec<PathBuf>,
}

impl ModelServer {
    /// Whether it gets a key.
    #[must_use]
    pub fn has_key(&self) -> bool {
        self.key_env.is_some() || self.key_file.is_some()
    }
}

impl Settings {
    /// Reads the settings in a configuration directory; the defaults if there is no file. Fails if
    /// somebody else could have written them.
    pub fn load(config_dir: &Path) -> Result<Self, WorkspaceError> {
        let path = config_dir.join(SETTINGS_FILE);
        let Some(text) = own_file::read_text(&path, MAX_SETTINGS_BYTES)? else {
            return Ok(Self::default());
        };
        Self::parse(&SourceFile { path: path.display().to_string(), text, first_line: 1 })
    }

    /// Parses and checks the text of a settings file.
    pub fn parse(file: &SourceFile) -> Result<Self, WorkspaceError> {
        let settings: Self = toml_text::parse(file)?;
        settings.check().map_err(|fault| fault.in_file(file))?;
        Ok(settings)
    }

    /// The server that a person named, by its URL.
    #[must_use]
    pub fn server(&self, url: &str) -> Option<&ModelServer> {
        let wanted = server_url(url)?;
        self.model.servers.iter().find(|server| server_url(&server.url).as_ref() == Some(&wanted))
    }

    /// Whether a directory is one of the person's skill roots or below one.
    #[must_use]
    pub fn allows_root(&self, directory: &Path) -> bool {
        let below = |root: &PathBuf| {
            directory.starts_with(root)
                || root.canonicalize().is_ok_and(|root| directory.starts_with(root))
        };
        self.skills.roots.iter().any(below)
    }

    fn check(&self) -> Check {
        if let Some(url) = &self.model.base_url {
            check::http_url(&["model", "base_url"], url)?;
        }
        for server in &self.model.servers {
            let key = &["model", "servers"];
            check::http_url(key, &server.url)?;
            check::one_key_source(key, server.key_env.as_deref(), server.key_file.as_deref())?;
        }
        let embedder = &self.embedder;
        if let Some(url) = &embedder.url {
            check::http_url(&["embedder", "url"], url)?;
        }
        check::one_key_source(
            &["embedder"],
            embedder.key_env.as_deref(),
            embedder.key_file.as_deref(),
        )?;
        self.mcp.check()?;
        for (key, value, least, most) in self.sandbox.ranges() {
            check::within(&["sandbox", key], value, least, most)?;
        }
        if let Some(file) = self.limits.prices.as_ref().filter(|file| !file.is_absolute()) {
            return Err(Fault {
                key: vec!["limits", "prices"],
                message: format!("is `{}`, write an absolute path", file.display()),
            });
        }
        match self.skills.roots.iter().find(|root| !root.is_absolute()) {
            Some(root) => Err(Fault {
                key: vec!["skills", "roots"],
                message: format!("contains `{}`, write an absolute path", root.display()),
            }),
            None => Ok(()),
        }
    }
}

/// The URL of a model server in its one form: without `/v1` and a slash at the end. `None` if it is not
/// an HTTP URL, or names a user, a query or a fragment.
#[must_use]
pub fn server_url(text: &str) -> Option<String> {
    let url = url::Url::parse(text.trim()).ok()?;
    let is_plain = matches!(url.scheme(), "http" | "https")
        && url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    let text = url.as_str().trim_end_matches('/');
    is_plain.then(|| text.strip_suffix("/v1").unwrap_or(text).trim_end_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Settings, WorkspaceError> {
        Settings::parse(&SourceFile { path: "s.toml".into(), text: text.into(), first_line: 1 })
    }

    #[test]
    fn the_text_parses_to_the_defaults_and_mentions_every_key() {
        assert_eq!(parse(DEFAULT_SETTINGS_TEXT).unwrap(), Settings::default());
        let on: Vec<&str> = DEFAULT_SETTINGS_TEXT
            .lines()
            .map(|line| match line.strip_prefix('#') {
                Some(key) if key.starts_with(|c: char| c.is_ascii_lowercase() || c == '[') => key,
                _ => line,
            })
            .filter(|line| !line.starts_with("key_file"))
            .collect();
        let on = parse(&on.join("\n")).unwrap();
        assert_eq!(on.model.servers[0].key_env.as_deref(), Some("EXAMPLE_API_KEY"));
        assert_eq!(on.embedder.url.as_deref(), Some("https://llm.example.org"));
        for limits in [on.limits.turn, on.limits.session, on.limits.day] {
            assert!(limits.tokens.is_some() && limits.cost.is_some() && limits.minutes.is_some());
        }
        assert!(on.limits.prices.is_some() && on.host.retention.is_some());
        let full = Settings {
            model: PersonalModel {
                provider: on.model.provider,
                base_url: Some("x".into()),
                servers: on.model.servers,
            },
            embedder: PersonalEmbedder {
                url: Some("x".into()),
                key_env: Some("X".into()),
                key_file: Some("/x".into()),
            },
            ..Settings::default()
        };
        for (section, value) in toml::Table::try_from(full).unwrap() {
            assert!(DEFAULT_SETTINGS_TEXT.contains(&format!("\n[{section}]\n")), "{section}");
            for key in value.as_table().unwrap().keys() {
                let mentioned = [
                    format!("\n#{key} = "),
                    format!("\n#[[{section}.{key}]]\n"),
                    format!("\n[{section}.{key}]\n"),
                ];
                assert!(mentioned.iter().any(|m| DEFAULT_SETTINGS_TEXT.contains(m)), "{key}");
            }
        }
    }

    #[test]
    fn what_is_wrong_has_a_line_and_a_suggestion() {
        let error = parse("[model]\n[[model.server]]\nurl = 'http://x'").unwrap_err();
        assert_eq!(error.to_string(), "s.toml:2: unknown key `server`");
        assert_eq!(error.hint(), "did you mean `servers`?");
        for (text, message) in [
            (
                "[[model.servers]]\nurl = 'ftp://x'",
                "s.toml:1: `model.servers` is `ftp://x`, it must begin with http:// or https://",
            ),
            (
                "[[model.servers]]\nurl = 'http://x'\nkey_env = 'sk-abc'",
                "s.toml:1: `model.servers.key_env` must be the name of an environment variable, \
                 not the key itself",
            ),
            (
                "[embedder]\nkey_env = 'A'\nkey_file = '/a'",
                "s.toml:3: `embedder.key_file` cannot be combined with key_env; keep one of them",
            ),
            (
                "[skills]\nroots = ['notes']",
                "s.toml:2: `skills.roots` contains `notes`, write an absolute path",
            ),
            (
                "[host]\nprofiles = ['wild']",
                "s.toml:2: unknown value `wild`, expected one of `paranoid`, `balanced`, `yolo`",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn a_server_is_found_however_its_url_is_written() {
        let settings = parse("[[model.servers]]\nurl = 'https://LLM.example.org:443/v1/'").unwrap();
        for url in
            ["https://llm.example.org", "https://llm.example.org/", "https://llm.example.org/v1"]
        {
            assert!(settings.server(url).is_some(), "{url}");
        }
        for url in [
            "http://llm.example.org",
            "https://llm.example.org.evil.net",
            "https://llm.example.org@evil.net",
            "https://user@llm.example.org",
            "https://llm.example.org:8443",
            "https://llm.example.org/other",
            "https://llm.example.org?x",
            "llm.example.org",
        ] {
            assert_eq!(settings.server(url), None, "{url}");
        }
    }

    #[test]
    fn a_root_covers_what_is_below_it_and_its_own_name() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().canonicalize().unwrap();
        std::fs::create_dir(real.join("notes")).unwrap();
        std::os::unix::fs::symlink(real.join("notes"), real.join("link")).unwrap();
        let settings = Settings {
            skills: PersonalSkills { roots: vec![real.join("link")] },
            ..Settings::default()
        };
        assert!(settings.allows_root(&real.join("notes")));
        assert!(settings.allows_root(&real.join("notes/more")));
        assert!(!settings.allows_root(&real.join("notes-2")));
        assert!(!settings.allows_root(&real));
    }

    #[test]
    fn a_file_that_others_can_write_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Settings::load(dir.path()).unwrap(), Settings::default());
        let file = dir.path().join(SETTINGS_FILE);
        std::fs::write(&file, "[host]\nprofiles = ['yolo']\n").unwrap();
        let mode = |mode| {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        mode(0o644);
        assert_eq!(Settings::load(dir.path()).unwrap().host.profiles, [Profile::Yolo]);
        mode(0o664);
        let error = Settings::load(dir.path()).unwrap_err();
        assert!(error.to_string().ends_with("settings.toml: can be written by other users"));
        assert_eq!(error.hint(), "review its contents, then run `chmod go-w` on it");
    }
}
