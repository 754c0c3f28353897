//! Which settings of a workspace a person is asked about, by key and value.
//!
//! Every key counts unless it is listed as harmless, so a key added later is asked about until somebody
//! decides otherwise. Settings at their default give nothing away.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use foreword::{Choice, Profile, SandboxKind};
use serde::{Deserialize, Serialize};

use crate::config::settings::{Settings, server_url};
use crate::config::{CONFIG_FILE, Config};
use crate::workspace::Workspace;

/// Keys that name no address, key, server, sandbox, profile, directory or permission.
const HARMLESS: [&str; 14] = [
    "model.name",
    "model.max_output_tokens",
    "model.timeout_seconds",
    "model.retries",
    "embedder.timeout_seconds",
    "limits.output_reserve",
    // These can only be tightened.
    "permissions.ask",
    "permissions.deny",
    "host.limits.processes",
    "host.limits.memory_mb",
    "host.limits.open_files",
    "host.limits.file_mb",
    "host.limits.temporary_mb",
    "host.limits.disk_reserve_mb",
];

/// Settings by their dotted key, with their values as TOML writes them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SensitiveSettings(pub BTreeMap<String, String>);

/// A setting that differs from what it was; `None` is the default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingChange {
    /// Its dotted key.
    pub key: String,
    /// What was accepted.
    pub old: Option<String>,
    /// What it is now.
    pub new: Option<String>,
}

/// What a setting gives away, where that is not plain from its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concern {
    /// Prompts and messages go there.
    ModelServer,
    /// Tasks, skills and memories go there.
    EmbeddingServer,
    /// A secret of the person is read.
    Key,
    /// Agents are confined less than by default.
    WeakerSandbox,
    /// More external content is tolerated than by default.
    WeakerProfile,
    /// Agents may fetch from there.
    WebHosts,
    /// Skills are read from outside the workspace.
    OutsideDirectory,
    /// A program is started that agents can use.
    McpServer,
    /// Agents may do this without a question.
    Permissions,
}

impl SensitiveSettings {
    /// How this differs from what was before.
    #[must_use]
    pub fn changes_since(&self, before: &Self) -> Vec<SettingChange> {
        let keys: BTreeSet<&String> = before.0.keys().chain(self.0.keys()).collect();
        let change = |key: &String| {
            let (old, new) = (before.0.get(key).cloned(), self.0.get(key).cloned());
            (old != new).then(|| SettingChange { key: key.clone(), old, new })
        };
        keys.into_iter().filter_map(change).collect()
    }
}

impl Concern {
    /// What a setting of this key and value gives away.
    #[must_use]
    pub fn of(key: &str, value: &str) -> Option<Self> {
        let is = |name: &str| value == quoted(name);
        Some(match key {
            "model.base_url" => Self::ModelServer,
            "embedder.url" => Self::EmbeddingServer,
            "model.key_env" | "model.key_file" => Self::Key,
            "host.sandbox" if is(SandboxKind::Subprocess.as_str()) => Self::WeakerSandbox,
            "profile" if is(Profile::Yolo.as_str()) => Self::WeakerProfile,
            "host.web_hosts" => Self::WebHosts,
            "permissions.allow" => Self::Permissions,
            _ if is_outside_root(key) => Self::OutsideDirectory,
            _ if is_server(key, "command") || is_server(key, "url") => Self::McpServer,
            _ => return None,
        })
    }
}

/// The key of a skill root outside the workspace starts with this, followed by the root as it is
/// configured. Its value is the directory that is meant, so that a link cannot change it.
const OUTSIDE_ROOT: &str = "skills.roots: ";

/// Whether a key is this one of an MCP server.
fn is_server(key: &str, name: &str) -> bool {
    key.strip_prefix("mcp.servers.").is_some_and(|rest| rest.split('.').nth(1) == Some(name))
}

/// The key and value of a skill root outside the workspace.
pub(crate) fn outside_root(configured: &str, directory: &Path) -> (String, String) {
    (format!("{OUTSIDE_ROOT}{configured}"), quoted(&directory.display().to_string()))
}

pub(crate) fn is_outside_root(key: &str) -> bool {
    key.starts_with(OUTSIDE_ROOT)
}

impl Config {
    /// The settings that a person is asked about. Those at their default are left out.
    #[must_use]
    pub fn sensitive(&self) -> SensitiveSettings {
        let mut found = BTreeMap::new();
        match (toml::Table::try_from(self), toml::Table::try_from(Self::default())) {
            (Ok(table), Ok(default)) => {
                let mut defaults = BTreeMap::new();
                flatten("", &default, &mut defaults);
                flatten("", &table, &mut found);
                found.retain(|key, value| {
                    !HARMLESS.contains(&key.as_str()) && defaults.get(key) != Some(value)
                });
            }
            // Never so for settings that were read from TOML; if it were, it must not pass unseen.
            (Err(error), _) | (_, Err(error)) => {
                found.insert(CONFIG_FILE.to_owned(), error.to_string());
            }
        }
        SensitiveSettings(found)
    }
}

impl Workspace {
    /// The settings that a person is asked about, with the directories outside the workspace they name.
    #[must_use]
    pub fn sensitive_settings(&self) -> SensitiveSettings {
        let mut settings = self.config().sensitive();
        for root in &self.config().skills.roots {
            // What does not exist is asked about when it does.
            if let Some(directory) = self.outside_root(root) {
                settings.0.extend([outside_root(root, &directory)]);
            }
        }
        settings
    }
}

impl Settings {
    /// Whether the person's own settings allow this setting of a workspace.
    #[must_use]
    pub fn allow(&self, config: &Config, key: &str, value: &str) -> bool {
        match Concern::of(key, value) {
            Some(Concern::WeakerSandbox) => match config.host.sandbox {
                Choice::Fixed(kind) => self.host.sandboxes.contains(&kind),
                Choice::Auto => false,
            },
            Some(Concern::WeakerProfile) => self.host.profiles.contains(&config.profile),
            Some(Concern::ModelServer) => {
                config.model.base_url.as_deref().is_some_and(|url| self.server(url).is_some())
            }
            Some(Concern::EmbeddingServer) => {
                let own = self.embedder.url.as_deref().and_then(server_url);
                own.is_some() && config.embedder.url.as_deref().and_then(server_url) == own
            }
            Some(Concern::OutsideDirectory) => {
                unquoted(value).is_some_and(|directory| self.allows_root(directory.as_ref()))
            }
            Some(Concern::Key | Concern::WebHosts | Concern::McpServer | Concern::Permissions)
            | None => false,
        }
    }
}

fn flatten(prefix: &str, table: &toml::Table, into: &mut BTreeMap<String, String>) {
    for (key, value) in table {
        match value {
            toml::Value::Table(inner) => flatten(&format!("{prefix}{key}."), inner, into),
            value => _ = into.insert(format!("{prefix}{key}"), value.to_string()),
        }
    }
}

/// A string as TOML writes it.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn unquoted(value: &str) -> Option<String> {
    let table: toml::Table = toml::from_str(&format!("x = {value}")).ok()?;
    table.get("x").and_then(toml::Value::as_str).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::SourceFile;
    use crate::testing::Scratch;

    fn config(text: &str) -> Config {
        Config::parse(&SourceFile { path: CONFIG_FILE.into(), text: text.into(), first_line: 1 })
            .unwrap()
    }

    fn sensitive(text: &str) -> Vec<(String, String)> {
        config(text).sensitive().0.into_iter().collect()
    }

    #[test]
    fn a_models_name_output_time_outs_and_retries_are_not_asked_about() {
        for harmless in [
            "",
            "# a comment\n",
            "model = 'm'",
            "[model]\nname = 'm'\nmax_output_tokens = 9\ntimeout_seconds = 9\nretries = 9",
            "[embedder]\ntimeout_seconds = 9",
            "[limits]\noutput_reserve = 9",
            "profile = 'balanced'\n[host]\nsandbox = 'auto'\nweb_hosts = []",
        ] {
            assert_eq!(sensitive(harmless), [], "{harmless}");
        }
    }

    #[test]
    fn whatever_else_is_set_is_asked_about_by_key_and_value() {
        let found = sensitive(
            "profile = 'yolo'\nagent = 'a'\n[model]\nname = 'm'\nbase_url = 'http://127.0.0.1:1'\n\
             key_env = 'GITHUB_TOKEN'\n[host]\nsandbox = 'subprocess'\nweb_hosts = ['x.org']\n\
             [skills]\nroots = ['../a']\n[embedder]\nurl = 'http://localhost:2'",
        );
        let found: Vec<(&str, &str)> =
            found.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(
            found,
            [
                ("agent", "\"a\""),
                ("embedder.url", "\"http://localhost:2\""),
                ("host.sandbox", "\"subprocess\""),
                ("host.web_hosts", "[\"x.org\"]"),
                ("model.base_url", "\"http://127.0.0.1:1\""),
                ("model.key_env", "\"GITHUB_TOKEN\""),
                ("profile", "\"yolo\""),
                ("skills.roots", "[\"../a\"]"),
            ]
        );
        assert_eq!(Concern::of("host.sandbox", "\"subprocess\""), Some(Concern::WeakerSandbox));
        assert_eq!(Concern::of("host.sandbox", "\"bwrap\""), None);
        assert_eq!(Concern::of("profile", "\"paranoid\""), None);
        assert_eq!(Concern::of("profile", "\"yolo\""), Some(Concern::WeakerProfile));
    }

    /// A key that is added to [`Config`] is asked about unless somebody lists it above.
    #[test]
    fn every_harmless_key_exists() {
        let text = "[model]\nname = 'm'\nmax_output_tokens = 9\ntimeout_seconds = 9\nretries = 9\n\
                    [embedder]\ntimeout_seconds = 9\n\
                    [host.limits]\nprocesses = 99\nmemory_mb = 99\nopen_files = 99\nfile_mb = 99\n\
                    temporary_mb = 99\ndisk_reserve_mb = 99\n\
                    [permissions]\nask = ['x']\ndeny = ['x']";
        let mut keys = BTreeMap::new();
        flatten("", &toml::Table::try_from(config(text)).unwrap(), &mut keys);
        for harmless in HARMLESS {
            assert!(keys.contains_key(harmless), "{harmless}");
        }
    }

    #[test]
    fn a_change_shows_both_values() {
        let before = config("profile = 'paranoid'").sensitive();
        let now = config("agent = 'b'").sensitive();
        let change = |key: &str, old: Option<&str>, new: Option<&str>| SettingChange {
            key: key.into(),
            old: old.map(str::to_owned),
            new: new.map(str::to_owned),
        };
        assert_eq!(
            now.changes_since(&before),
            [change("agent", None, Some("\"b\"")), change("profile", Some("\"paranoid\""), None)]
        );
        assert_eq!(now.changes_since(&now), []);
    }

    #[test]
    fn a_directory_outside_is_named_by_where_it_really_is() {
        let scratch = Scratch::new(&[
            ("ws/foreword.toml", "[skills]\nroots = ['inside', '../notes', 'link', 'gone']"),
            ("ws/inside/a.md", "a"),
            ("notes/b.md", "b"),
        ]);
        let real = scratch.path().canonicalize().unwrap();
        std::os::unix::fs::symlink(real.join("notes"), real.join("ws/link")).unwrap();
        let workspace = Workspace::open(&scratch.path().join("ws")).unwrap();
        let found = workspace.sensitive_settings().0;
        let notes = quoted(&real.join("notes").display().to_string());
        assert_eq!(found.get("skills.roots: ../notes"), Some(&notes));
        assert_eq!(found.get("skills.roots: link"), Some(&notes));
        assert_eq!(found.len(), 3, "{found:?}");
        let mut own = Settings::default();
        assert!(!own.allow(workspace.config(), "skills.roots: link", &notes));
        own.skills.roots.push(real.join("notes"));
        assert!(own.allow(workspace.config(), "skills.roots: link", &notes));
    }

    #[test]
    fn the_persons_settings_allow_by_value() {
        let config = config(
            "profile = 'yolo'\n[model]\nbase_url = 'https://a.org'\n[host]\nsandbox = 'subprocess'",
        );
        let all = config.sensitive().0;
        let allowed = |settings: &Settings| -> Vec<String> {
            let allowed = all.iter().filter(|(key, value)| settings.allow(&config, key, value));
            allowed.map(|(key, _)| key.clone()).collect()
        };
        assert_eq!(allowed(&Settings::default()), Vec::<String>::new());
        let parse = |text: &str| toml::from_str::<Settings>(text).unwrap();
        assert_eq!(allowed(&parse("[host]\nprofiles = ['yolo']")), ["profile"]);
        assert_eq!(allowed(&parse("[host]\nsandboxes = ['docker']")), Vec::<String>::new());
        assert_eq!(allowed(&parse("[host]\nsandboxes = ['subprocess']")), ["host.sandbox"]);
        assert_eq!(
            allowed(&parse("[[model.servers]]\nurl = 'https://a.org/v1'")),
            ["model.base_url"]
        );
        assert_eq!(
            allowed(&parse("[[model.servers]]\nurl = 'https://b.org'")),
            Vec::<String>::new()
        );
    }
}
