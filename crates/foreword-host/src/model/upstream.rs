//! The model server and its credential, which never leaves the host.

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use foreword_embed::ApiKey;
use foreword_guard::{HostKind, HttpUrl};
use foreword_protocol::Provider;
use foreword_workspace::{ModelServer, ModelSettings, ProviderName, Settings, server_url};

use crate::error::HostError;

const MAX_KEY_BYTES: u64 = 16 << 10;

/// A model server.
#[derive(Clone, Debug)]
pub(crate) struct Upstream {
    /// The API it speaks.
    pub(crate) provider: Provider,
    /// Its URL, without `/v1`.
    pub(crate) base_url: String,
    /// May be absent for a server on this machine.
    pub(crate) credential: Option<ApiKey>,
    /// Where the credential is from.
    pub(crate) key_source: Option<KeySource>,
    /// How long the server may take to answer, and to continue an answer.
    pub(crate) timeout: Duration,
    /// How often a momentary failure is retried.
    pub(crate) retries: u32,
}

/// Where a key is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeySource {
    Variable(String),
    File(PathBuf),
}

/// Looks up an environment variable.
pub(crate) type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// What belongs to the person: their settings and environment.
#[derive(Clone, Copy)]
pub(crate) struct Person<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) config_dir: &'a Path,
    pub(crate) environment: Lookup<'a>,
}

impl Person<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        (self.environment)(name).filter(|value| !value.trim().is_empty())
    }
}

impl Upstream {
    /// The server that the workspace names if the person allows it, else the person's own.
    ///
    /// A key goes only to a server of the person: one in their settings or environment, or the
    /// provider's own. A workspace can name another server on this machine, which gets no key, and it
    /// can repeat which key the person uses, but it cannot choose one. A server on another machine
    /// needs a key.
    pub(crate) fn resolve(
        model: &ModelSettings,
        workspace: &Path,
        person: Person<'_>,
    ) -> Result<Self, HostError> {
        let own = &person.settings.model;
        let provider = match model.provider.or(own.provider) {
            Some(ProviderName::Anthropic) => Provider::Anthropic,
            Some(ProviderName::OpenAi) => Provider::OpenAi,
            None => guess(&|name| person.variable(name)),
        };
        let names = ProviderVariables::of(provider);
        let own_url = person.variable(names.base_url).or_else(|| own.base_url.clone());
        let own_url = normal(own_url.as_deref().unwrap_or(names.default_url))?;
        let base_url = model.base_url.as_deref().map(normal).transpose()?;
        let base_url = base_url.unwrap_or_else(|| own_url.clone());
        let server = person.settings.server(&base_url);
        let is_own = base_url == own_url || base_url == names.default_url || server.is_some();
        let is_local = is_local(&base_url)?;
        if !is_own && !is_local {
            return Err(HostError::ServerNotAllowed { url: base_url });
        }
        let listed = server.and_then(|server| KeySource::of(server, person.config_dir));
        let usual = is_own.then(|| KeySource::Variable(names.key.to_owned()));
        let source = listed.or(usual);
        check_named_key(model, workspace, source.as_ref(), &base_url)?;
        let credential = match &source {
            Some(KeySource::File(file)) => Some(read_key(file, Some(workspace))?),
            Some(KeySource::Variable(name)) => {
                person.variable(name).map(|key| ApiKey::new(key.trim()))
            }
            None => None,
        };
        // A server that the person listed without a key needs none.
        let needs_none = is_local || server.is_some_and(|server| !server.has_key());
        if let (None, false, Some(KeySource::Variable(name))) = (&credential, needs_none, &source) {
            return Err(HostError::NoKey { variable: name.clone() });
        }
        Ok(Self {
            provider,
            base_url,
            key_source: source.filter(|_| credential.is_some()),
            credential,
            timeout: Duration::from_secs(model.timeout_seconds.unwrap_or(120)),
            retries: model.retries.unwrap_or(4),
        })
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base_url)
    }
}

impl KeySource {
    fn of(server: &ModelServer, config_dir: &Path) -> Option<Self> {
        let file = server.key_file.as_ref().map(|file| Self::File(config_dir.join(file)));
        file.or_else(|| server.key_env.clone().map(Self::Variable))
    }
}

impl fmt::Display for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => f.write_str(name),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

/// Refuses a key that the workspace names unless it is the one the person uses for this server.
fn check_named_key(
    model: &ModelSettings,
    workspace: &Path,
    source: Option<&KeySource>,
    server: &str,
) -> Result<(), HostError> {
    let refused = |key, value: &str| HostError::KeyNotAllowed {
        key,
        value: value.to_owned(),
        server: server.to_owned(),
    };
    match (&model.key_file, &model.key_env) {
        (Some(file), _) => {
            let named = workspace.join(file).canonicalize().ok();
            let own = match source {
                Some(KeySource::File(own)) => own.canonicalize().ok(),
                _ => None,
            };
            if named.is_none() || named != own {
                return Err(refused("key_file", file));
            }
        }
        (None, Some(name)) if source != Some(&KeySource::Variable(name.clone())) => {
            return Err(refused("key_env", name));
        }
        (None, _) => {}
    }
    Ok(())
}

fn normal(url: &str) -> Result<String, HostError> {
    server_url(url).ok_or_else(|| HostError::InvalidModelUrl { url: url.to_owned() })
}

/// The environment variables of a provider, and its public server.
struct ProviderVariables {
    base_url: &'static str,
    key: &'static str,
    default_url: &'static str,
}

impl ProviderVariables {
    fn of(provider: Provider) -> Self {
        match provider {
            Provider::Anthropic => Self {
                base_url: "ANTHROPIC_BASE_URL",
                key: "ANTHROPIC_API_KEY",
                default_url: "https://api.anthropic.com",
            },
            Provider::OpenAi => Self {
                base_url: "OPENAI_BASE_URL",
                key: "OPENAI_API_KEY",
                default_url: "https://api.openai.com",
            },
        }
    }
}

fn guess(set: &dyn Fn(&str) -> Option<String>) -> Provider {
    let has = |provider| {
        let names = ProviderVariables::of(provider);
        set(names.key).is_some() || set(names.base_url).is_some()
    };
    if !has(Provider::Anthropic) && has(Provider::OpenAi) {
        Provider::OpenAi
    } else {
        Provider::Anthropic
    }
}

/// Whether a server is on this machine.
fn is_local(url: &str) -> Result<bool, HostError> {
    let parsed = HttpUrl::parse(url);
    let parsed = parsed.map_err(|_| HostError::InvalidModelUrl { url: url.to_owned() })?;
    Ok(parsed.host().kind() == HostKind::Loopback)
}

/// Reads a key from a file that only its owner can read and that is outside the workspace, where there
/// is one.
pub fn read_key(path: &Path, workspace: Option<&Path>) -> Result<ApiKey, HostError> {
    let unfit = |reason: &str| HostError::KeyFile { path: path.to_owned(), reason: reason.into() };
    let real = path.canonicalize().map_err(|error| unfit(&error.to_string()))?;
    let root = workspace.map(|root| root.canonicalize().unwrap_or_else(|_| root.to_owned()));
    if root.is_some_and(|root| real.starts_with(root)) {
        return Err(unfit("it is inside the workspace, where agents can read it"));
    }
    #[expect(clippy::disallowed_methods, reason = "the person's own file, outside the workspace")]
    let file = File::open(&real).map_err(|error| unfit(&error.to_string()))?;
    let about = file.metadata().map_err(|error| unfit(&error.to_string()))?;
    if !about.is_file() {
        return Err(unfit("it is not a regular file"));
    }
    if about.mode() & 0o077 != 0 {
        return Err(unfit("other users can read it; run `chmod 600` on it"));
    }
    if about.uid() != rustix::process::geteuid().as_raw() {
        return Err(unfit("it belongs to another user"));
    }
    let mut key = String::new();
    let read = file.take(MAX_KEY_BYTES + 1).read_to_string(&mut key);
    read.map_err(|error| unfit(&error.to_string()))?;
    let key = key.trim();
    if key.is_empty() || key.len() as u64 > MAX_KEY_BYTES || key.chars().any(char::is_control) {
        return Err(unfit("it must contain one key on one line"));
    }
    Ok(ApiKey::new(key))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use foreword_workspace::SourceFile;

    use super::*;

    fn resolve(model: &ModelSettings, set: &[(&str, &str)]) -> Result<Upstream, HostError> {
        resolve_for("", model, set)
    }

    fn resolve_for(
        settings: &str,
        model: &ModelSettings,
        set: &[(&str, &str)],
    ) -> Result<Upstream, HostError> {
        let lookup = |name: &str| {
            set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let file = SourceFile { path: "s".into(), text: settings.into(), first_line: 1 };
        let person = Person {
            settings: &Settings::parse(&file).unwrap(),
            config_dir: Path::new("/nowhere"),
            environment: &lookup,
        };
        Upstream::resolve(model, Path::new("/nowhere"), person)
    }

    fn at(url: &str) -> ModelSettings {
        ModelSettings { base_url: Some(url.into()), ..ModelSettings::default() }
    }

    #[test]
    fn the_environment_chooses_where_the_workspace_does_not() {
        let none = ModelSettings::default();
        let anthropic = resolve(&none, &[("ANTHROPIC_API_KEY", " k ")]).unwrap();
        assert_eq!(anthropic.provider, Provider::Anthropic);
        assert_eq!(anthropic.base_url, "https://api.anthropic.com");
        assert_eq!(anthropic.credential, Some(ApiKey::new("k")));
        let openai = resolve(&none, &[("OPENAI_BASE_URL", "http://127.0.0.1:11434/v1/")]).unwrap();
        assert_eq!(openai.provider, Provider::OpenAi);
        assert_eq!(
            openai.url("/v1/chat/completions"),
            "http://127.0.0.1:11434/v1/chat/completions"
        );
        assert_eq!(openai.credential, None, "a server on this machine may need no key");
        assert_eq!(format!("{:?}", anthropic.credential), "Some(ApiKey(…))");
    }

    #[test]
    fn a_server_elsewhere_needs_a_key() {
        let error = resolve(&ModelSettings::default(), &[]).unwrap_err();
        assert!(error.to_string().contains("ANTHROPIC_API_KEY"), "{error}");
        let elsewhere = at("http://user:password@example.org");
        assert!(matches!(resolve(&elsewhere, &[]), Err(HostError::InvalidModelUrl { .. })));
        let listed = "[[model.servers]]\nurl = 'https://a.org'\nkey_env = 'MINE'";
        let error = resolve_for(listed, &at("https://a.org"), &[]).unwrap_err();
        assert!(matches!(error, HostError::NoKey { variable } if variable == "MINE"));
        // The person said that this one needs none.
        let listed = "[[model.servers]]\nurl = 'http://10.0.0.5:11434'";
        let lan = resolve_for(listed, &at("http://10.0.0.5:11434/v1"), &[]).unwrap();
        assert_eq!((lan.credential, lan.key_source), (None, None));
    }

    #[test]
    fn a_workspace_cannot_send_a_key_anywhere() {
        let set = [("ANTHROPIC_API_KEY", "k"), ("GITHUB_TOKEN", "secret")];
        let error = resolve(&at("https://evil.example"), &set).unwrap_err();
        assert!(matches!(error, HostError::ServerNotAllowed { .. }), "{error}");
        // A server on this machine is asked about, and gets no key.
        let local = resolve(&at("http://127.0.0.1:9999"), &set).unwrap();
        assert_eq!((local.credential, local.key_source), (None, None));
        for model in [
            ModelSettings { key_env: Some("GITHUB_TOKEN".into()), ..ModelSettings::default() },
            ModelSettings { key_env: Some("GITHUB_TOKEN".into()), ..at("http://127.0.0.1:9999") },
            ModelSettings {
                key_env: Some("ANTHROPIC_API_KEY".into()),
                ..at("http://127.0.0.1:9999")
            },
            ModelSettings { key_file: Some("/etc/hostname".into()), ..ModelSettings::default() },
        ] {
            let error = resolve(&model, &set).unwrap_err();
            assert!(matches!(error, HostError::KeyNotAllowed { .. }), "{model:?}: {error}");
        }
        let listed = "[[model.servers]]\nurl = 'https://evil.example'\nkey_env = 'MINE'";
        let named =
            ModelSettings { key_env: Some("GITHUB_TOKEN".into()), ..at("https://evil.example") };
        let error = resolve_for(listed, &named, &[("MINE", "m"), ("GITHUB_TOKEN", "s")]);
        assert!(matches!(error, Err(HostError::KeyNotAllowed { .. })));
    }

    #[test]
    fn the_persons_settings_say_which_key_goes_where() {
        let listed = "[[model.servers]]\nurl = 'https://a.org/v1'\nkey_env = 'MINE'";
        let set = [("ANTHROPIC_API_KEY", "k"), ("MINE", "m")];
        let found = resolve_for(listed, &at("https://a.org"), &set).unwrap();
        assert_eq!(found.credential, Some(ApiKey::new("m")));
        assert_eq!(found.key_source, Some(KeySource::Variable("MINE".into())));
        // A workspace may say the same again.
        let named = ModelSettings { key_env: Some("MINE".into()), ..at("https://a.org/") };
        assert_eq!(resolve_for(listed, &named, &set).unwrap().credential, found.credential);
        let usual =
            ModelSettings { key_env: Some("ANTHROPIC_API_KEY".into()), ..ModelSettings::default() };
        assert_eq!(resolve(&usual, &set).unwrap().credential, Some(ApiKey::new("k")));
        // The person's own server comes after their environment.
        let own = format!("[model]\nprovider = 'openai'\nbase_url = 'https://a.org'\n{listed}");
        let none = ModelSettings::default();
        let found = resolve_for(&own, &none, &set).unwrap();
        assert_eq!((found.provider, found.base_url.as_str()), (Provider::OpenAi, "https://a.org"));
        let set = [("OPENAI_BASE_URL", "http://127.0.0.1:1"), ("OPENAI_API_KEY", "o")];
        let found = resolve_for(&own, &none, &set).unwrap();
        assert_eq!(found.base_url, "http://127.0.0.1:1");
    }

    #[test]
    fn a_key_file_is_nobody_elses() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("key");
        std::fs::write(&file, "secret\n").unwrap();
        let mode = |mode| {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        let outside = tempfile::tempdir().unwrap();
        mode(0o644);
        let error = read_key(&file, Some(outside.path())).unwrap_err().to_string();
        assert!(error.contains("chmod 600"), "{error}");
        mode(0o600);
        assert_eq!(read_key(&file, Some(outside.path())).unwrap(), ApiKey::new("secret"));
        let error = read_key(&file, Some(dir.path())).unwrap_err().to_string();
        assert!(error.contains("inside the workspace"), "{error}");
        std::fs::write(&file, "two\nlines").unwrap();
        assert!(read_key(&file, Some(outside.path())).is_err());
    }
}
