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
    /// The key that is missing, without which the server does not answer.
    pub(crate) missing_key: Option<MissingKey>,
    /// Whether the credential is a login of Claude Code instead of an API key.
    pub(crate) is_login: bool,
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

/// A key that is not set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MissingKey {
    /// None of any provider is set.
    Any,
    /// This variable is not set.
    Variable(String),
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

/// Long-lived login of Claude Code, made by `claude setup-token`.
pub(crate) const LOGIN_VARIABLE: &str = "CLAUDE_CODE_OAUTH_TOKEN";

impl Upstream {
    /// The server that the workspace names if the person allows it, else the person's own.
    ///
    /// A key goes only to a server of the person: one in their settings or environment, or the
    /// provider's own. A workspace can name another server on this machine, which gets no key, and it
    /// can repeat which key the person uses, but it cannot choose one. A server on another machine
    /// needs a key: [`Self::check_key`] before anything is sent.
    pub(crate) fn resolve(
        model: &ModelSettings,
        workspace: &Path,
        person: Person<'_>,
    ) -> Result<Self, HostError> {
        let provider = provider(model, person);
        let names = ProviderVariables::of(provider);
        let own_url = own_url(names, person)?;
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
        let missing_key = match &source {
            Some(KeySource::Variable(name)) if credential.is_none() && !needs_none => {
                let is_set =
                    |provider| person.variable(ProviderVariables::of(provider).key).is_some();
                let has_any = is_set(Provider::Anthropic) || is_set(Provider::OpenAi);
                Some(match server.is_none() && !has_any {
                    true => MissingKey::Any,
                    false => MissingKey::Variable(name.clone()),
                })
            }
            _ => None,
        };
        Ok(Self {
            provider,
            base_url,
            key_source: source.filter(|_| credential.is_some()),
            credential,
            missing_key,
            is_login: false,
            timeout: timeout(model),
            retries: retries(model),
        })
    }

    /// Fails if the server needs a key and none is set.
    pub(crate) fn check_key(&self) -> Result<(), HostError> {
        match &self.missing_key {
            None => Ok(()),
            Some(MissingKey::Any) => Err(HostError::NoKeyAtAll),
            Some(MissingKey::Variable(name)) => Err(HostError::NoKey { variable: name.clone() }),
        }
    }

    /// The provider's name, for a person.
    pub(crate) fn provider_name(&self) -> &'static str {
        match self.provider {
            Provider::Anthropic => "Anthropic",
            Provider::OpenAi => "OpenAI",
        }
    }

    /// The same for Claude Code, which can use its own login where there is no key.
    pub(crate) fn resolve_for_claude_code(
        model: &ModelSettings,
        workspace: &Path,
        person: Person<'_>,
    ) -> Result<Self, HostError> {
        let resolved = Self::resolve(model, workspace, person);
        let needs_login = resolved.as_ref().is_ok_and(|found| found.credential.is_none());
        let login = person.variable(LOGIN_VARIABLE).filter(|_| needs_login);
        let Some(login) = login else { return resolved };
        // A login goes only where Claude Code itself would send it.
        let base_url = own_url(ProviderVariables::of(Provider::Anthropic), person)?;
        let named = model.base_url.as_deref().map(normal).transpose()?;
        if provider(model, person) != Provider::Anthropic
            || named.is_some_and(|named| named != base_url)
            || person.settings.server(&base_url).is_some()
        {
            return resolved;
        }
        Ok(Self {
            provider: Provider::Anthropic,
            base_url,
            credential: Some(ApiKey::new(login.trim())),
            key_source: Some(KeySource::Variable(LOGIN_VARIABLE.to_owned())),
            missing_key: None,
            is_login: true,
            timeout: timeout(model),
            retries: retries(model),
        })
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base_url)
    }
}

fn timeout(model: &ModelSettings) -> Duration {
    Duration::from_secs(model.timeout_seconds.unwrap_or(120))
}

fn retries(model: &ModelSettings) -> u32 {
    model.retries.unwrap_or(4)
}

/// The API to speak: the workspace's choice, the person's, or that of the keys in the environment.
fn provider(model: &ModelSettings, person: Person<'_>) -> Provider {
    match model.provider.or(person.settings.model.provider) {
        Some(ProviderName::Anthropic) => Provider::Anthropic,
        Some(ProviderName::OpenAi) => Provider::OpenAi,
        None => guess(&|name| person.variable(name)),
    }
}

/// The person's own server of a provider.
fn own_url(names: &ProviderVariables, person: Person<'_>) -> Result<String, HostError> {
    let own = person.variable(names.base_url).or_else(|| person.settings.model.base_url.clone());
    normal(own.as_deref().unwrap_or(names.default_url))
}

/// The model where none is named. Servers other than the provider's own have it only if they take the
/// provider's key.
pub(crate) fn default_model(model: &ModelSettings, person: Person<'_>) -> Option<&'static str> {
    let names = ProviderVariables::of(provider(model, person));
    let own = own_url(names, person).ok()?;
    let url = model.base_url.as_deref().map_or(Ok(own), normal).ok()?;
    let is_known = url == names.default_url || person.variable(names.key).is_some();
    is_known.then_some(names.default_model)
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
    /// Used where no model is named: current, and a fair price for work with tools.
    default_model: &'static str,
}

impl ProviderVariables {
    fn of(provider: Provider) -> &'static Self {
        match provider {
            Provider::Anthropic => &Self {
                base_url: "ANTHROPIC_BASE_URL",
                key: "ANTHROPIC_API_KEY",
                default_url: "https://api.anthropic.com",
                default_model: "claude-sonnet-5-5",
            },
            Provider::OpenAi => &Self {
                base_url: "OPENAI_BASE_URL",
                key: "OPENAI_API_KEY",
                default_url: "https://api.openai.com",
                default_model: "gpt-5.5",
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
        let found = resolve(&ModelSettings::default(), &[]).unwrap();
        assert_eq!(found.missing_key, Some(MissingKey::Any));
        let error = found.check_key().unwrap_err();
        assert!(error.to_string().contains("ANTHROPIC_API_KEY"), "{error}");
        let elsewhere = at("http://user:password@example.org");
        assert!(matches!(resolve(&elsewhere, &[]), Err(HostError::InvalidModelUrl { .. })));
        let listed = "[[model.servers]]\nurl = 'https://a.org'\nkey_env = 'MINE'";
        let error =
            resolve_for(listed, &at("https://a.org"), &[]).unwrap().check_key().unwrap_err();
        assert!(matches!(error, HostError::NoKey { variable } if variable == "MINE"));
        // The person said that this one needs none.
        let listed = "[[model.servers]]\nurl = 'http://10.0.0.5:11434'";
        let lan = resolve_for(listed, &at("http://10.0.0.5:11434/v1"), &[]).unwrap();
        assert_eq!((lan.credential, lan.key_source, lan.missing_key), (None, None, None));
    }

    #[test]
    fn a_default_model_only_where_the_provider_is_known() {
        let model = |model: &ModelSettings, set: &[(&str, &str)]| {
            let lookup = |name: &str| {
                set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            };
            let settings = Settings::default();
            let config_dir = Path::new("/nowhere");
            let person = Person { settings: &settings, config_dir, environment: &lookup };
            default_model(model, person)
        };
        let none = ModelSettings::default();
        assert_eq!(model(&none, &[]), Some("claude-sonnet-5-5"));
        assert_eq!(model(&none, &[("OPENAI_API_KEY", "k")]), Some("gpt-5.5"));
        let both = [("OPENAI_BASE_URL", "http://127.0.0.1:1"), ("OPENAI_API_KEY", "k")];
        assert_eq!(model(&none, &both), Some("gpt-5.5"), "a gateway that takes the key");
        let ollama = [("OPENAI_BASE_URL", "http://127.0.0.1:11434")];
        assert_eq!(model(&none, &ollama), None, "nobody knows what it serves");
        assert_eq!(model(&at("http://127.0.0.1:11434"), &[]), None);
        for name in ["claude-sonnet-5-5", "gpt-5.5"] {
            assert!(crate::spending::load_prices(None).unwrap().of(name).is_some(), "{name}");
        }
    }

    #[test]
    fn claude_code_can_use_its_own_login() {
        let resolve = |model: &ModelSettings, set: &[(&str, &str)]| {
            let lookup = |name: &str| {
                set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            };
            let settings = Settings::default();
            let config_dir = Path::new("/nowhere");
            let person = Person { settings: &settings, config_dir, environment: &lookup };
            Upstream::resolve_for_claude_code(model, Path::new("/nowhere"), person)
        };
        let login = [(LOGIN_VARIABLE, "t")];
        let none = ModelSettings::default();
        let found = resolve(&none, &login).unwrap();
        assert_eq!((found.is_login, found.credential), (true, Some(ApiKey::new("t"))));
        let both = [(LOGIN_VARIABLE, "t"), ("ANTHROPIC_API_KEY", "k")];
        assert!(!resolve(&none, &both).unwrap().is_login, "a key comes first");
        let elsewhere = resolve(&at("http://127.0.0.1:9"), &login).unwrap();
        assert_eq!(elsewhere.credential, None, "a workspace cannot send it anywhere");
        assert!(matches!(resolve(&none, &[]).unwrap().check_key(), Err(HostError::NoKeyAtAll)));
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
