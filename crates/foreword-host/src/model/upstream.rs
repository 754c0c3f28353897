//! The model server and its credential, which never leaves the host.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use foreword_embed::ApiKey;
use foreword_guard::{HostKind, HttpUrl};
use foreword_protocol::Provider;
use foreword_workspace::{ModelSettings, ProviderName};

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
    /// How long the server may take to answer, and to continue an answer.
    pub(crate) timeout: Duration,
    /// How often a momentary failure is retried.
    pub(crate) retries: u32,
}

/// Looks up an environment variable.
pub(crate) type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

impl Upstream {
    /// The server from the settings, else from the environment, else the provider's own. A server on
    /// another machine needs a key.
    pub(crate) fn resolve(
        settings: &ModelSettings,
        workspace: &Path,
        environment: Lookup<'_>,
    ) -> Result<Self, HostError> {
        let set = |name: &str| environment(name).filter(|value| !value.trim().is_empty());
        let provider = match settings.provider {
            Some(ProviderName::Anthropic) => Provider::Anthropic,
            Some(ProviderName::OpenAi) => Provider::OpenAi,
            None => guess(&set),
        };
        let names = ProviderVariables::of(provider);
        let base_url = settings.base_url.clone().or_else(|| set(names.base_url));
        let base_url = base_url.unwrap_or_else(|| names.default_url.to_owned());
        let base_url = base_url.trim_end_matches('/').trim_end_matches("/v1").to_owned();
        let is_local = check_url(&base_url)?;
        let credential = match (&settings.key_file, &settings.key_env) {
            (Some(file), _) => Some(read_key(&workspace.join(file), workspace)?),
            (None, Some(name)) => {
                Some(set(name).ok_or_else(|| HostError::NoKey { variable: name.clone() })?)
            }
            (None, None) => set(names.key),
        };
        let credential = credential.map(|key| ApiKey::new(key.trim()));
        if credential.is_none() && !is_local {
            return Err(HostError::NoKey { variable: names.key.to_owned() });
        }
        Ok(Self {
            provider,
            base_url,
            credential,
            timeout: Duration::from_secs(settings.timeout_seconds.unwrap_or(120)),
            retries: settings.retries.unwrap_or(4),
        })
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base_url)
    }
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

/// Checks a model server URL and returns whether the server is on this machine.
fn check_url(url: &str) -> Result<bool, HostError> {
    match HttpUrl::parse(url) {
        Ok(parsed) if !url.contains(['?', '#', ' ']) => {
            Ok(parsed.host().kind() == HostKind::Loopback)
        }
        _ => Err(HostError::InvalidModelUrl { url: url.to_owned() }),
    }
}

/// Reads a key from a file outside the workspace that only its owner can read.
fn read_key(path: &Path, workspace: &Path) -> Result<String, HostError> {
    let unfit = |reason: &str| HostError::KeyFile { path: path.to_owned(), reason: reason.into() };
    let real = path.canonicalize().map_err(|error| unfit(&error.to_string()))?;
    let root: PathBuf = workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned());
    if real.starts_with(root) {
        return Err(unfit("it is inside the workspace, where agents can read it"));
    }
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
    Ok(key.to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn resolve(settings: &ModelSettings, set: &[(&str, &str)]) -> Result<Upstream, HostError> {
        let lookup = |name: &str| {
            set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        Upstream::resolve(settings, Path::new("/nowhere"), &lookup)
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
        let named = ModelSettings { key_env: Some("MY_KEY".into()), ..ModelSettings::default() };
        let error = resolve(&named, &[("ANTHROPIC_API_KEY", "k")]).unwrap_err();
        assert!(error.to_string().contains("MY_KEY"), "{error}");
        let elsewhere = ModelSettings {
            base_url: Some("http://user:password@example.org".into()),
            ..ModelSettings::default()
        };
        assert!(matches!(resolve(&elsewhere, &[]), Err(HostError::InvalidModelUrl { .. })));
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
        let error = read_key(&file, outside.path()).unwrap_err().to_string();
        assert!(error.contains("chmod 600"), "{error}");
        mode(0o600);
        assert_eq!(read_key(&file, outside.path()).unwrap(), "secret");
        let error = read_key(&file, dir.path()).unwrap_err().to_string();
        assert!(error.contains("inside the workspace"), "{error}");
        std::fs::write(&file, "two\nlines").unwrap();
        assert!(read_key(&file, outside.path()).is_err());
    }
}
