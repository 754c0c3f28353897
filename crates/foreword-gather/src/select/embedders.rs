//! The embedder that a workspace asks for.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use foreword_embed::{ApiKey, Embedder, HttpEmbedder, HttpSettings, StaticEmbedder, UseEmbedder};
use foreword_guard::{HostKind, HttpUrl};
use foreword_workspace::{EmbedderName, EmbedderSettings, Workspace};

use crate::error::GatherError;
use crate::request::Request;

/// An embedder that threads may share.
pub type AnyEmbedder = Arc<dyn Embedder + Send + Sync>;

/// An endpoint that the person chose, whatever a workspace says.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Endpoint {
    /// Its address; the workspace's where absent.
    pub url: Option<String>,
    /// The key to send along.
    pub key: Option<ApiKey>,
}

/// The embedder that a workspace asks for; none where it asks for none.
pub fn embedder(root: &Path, request: &Request) -> Result<Option<AnyEmbedder>, GatherError> {
    let workspace = Workspace::open_for(root, request.config_dir.as_deref())?;
    check_consent(&workspace, request)?;
    let settings = &workspace.config().embedder;
    open(settings, request.models_dir.as_deref(), &request.embeddings, None)
        .map_err(|reason| GatherError::Embedder { name: settings.name.as_str(), reason })
}

/// The endpoint that a workspace names and the person did not agree to. Tasks, skills and memories would
/// go there.
pub(crate) fn without_consent(workspace: &Workspace) -> Result<Option<String>, GatherError> {
    let config = workspace.config();
    let named = config.embedder.url.as_deref().filter(|url| is_loopback(url));
    let named = named.filter(|_| config.embedder.name == EmbedderName::Http);
    let Some(url) = named else { return Ok(None) };
    let key = "embedder.url";
    let value = config.sensitive().0.remove(key).unwrap_or_default();
    let agreed = workspace.consent()?.covers(config, key, &value);
    Ok((!agreed).then(|| url.to_owned()))
}

/// Fails where an endpoint would be used that the person did not agree to.
pub(crate) fn check_consent(workspace: &Workspace, request: &Request) -> Result<(), GatherError> {
    match without_consent(workspace)? {
        Some(url) if request.embeddings.url.is_none() => Err(GatherError::Embedder {
            name: EmbedderName::Http.as_str(),
            reason: format!(
                "foreword.toml asks for {url}, and this workspace is not trusted with that: run \
                 `foreword trust` to review it"
            ),
        }),
        _ => Ok(()),
    }
}

/// Opens an embedder; why not, where that fails. `dims` is the length of its vectors, where an index
/// tells.
pub(crate) fn open(
    settings: &EmbedderSettings,
    models: Option<&Path>,
    endpoint: &Endpoint,
    dims: Option<usize>,
) -> Result<Option<AnyEmbedder>, String> {
    Ok(match settings.name {
        EmbedderName::None => None,
        EmbedderName::Static => Some(Arc::new(table()?)),
        EmbedderName::Use => {
            let models = models.ok_or("no directory for models is known")?;
            Some(Arc::new(UseEmbedder::installed(models).map_err(|error| error.to_string())?))
        }
        EmbedderName::Http => Some(Arc::new(http(settings, endpoint, dims)?)),
    })
}

fn table() -> Result<StaticEmbedder, String> {
    StaticEmbedder::embedded().map_err(|error| error.to_string())
}

fn http(
    settings: &EmbedderSettings,
    endpoint: &Endpoint,
    dims: Option<usize>,
) -> Result<HttpEmbedder, String> {
    let url = match (&endpoint.url, &settings.url) {
        (Some(url), _) => url,
        // Tasks, skills and memories go there: a workspace from elsewhere must not choose where to.
        (None, Some(url)) if is_loopback(url) => url,
        (None, Some(url)) => {
            return Err(format!(
                "foreword.toml asks for {url}, which is not on this machine: \
                 set FOREWORD_EMBEDDINGS_URL, or `url` under [embedder] in your settings.toml, to allow it"
            ));
        }
        (None, None) => {
            return Err("no address is known: set `url` in [embedder] of foreword.toml".into());
        }
    };
    let model = settings.model.as_deref();
    let model = model.ok_or("no model is named: set `model` in [embedder] of foreword.toml")?;
    let mut http = HttpSettings::new(url, model);
    // A key goes only where the person said, not to whatever listens on a port of this machine.
    http.api_key = endpoint.key.clone().filter(|_| endpoint.url.is_some());
    http.dims = dims;
    http.timeout = Duration::from_secs(settings.timeout_seconds.unwrap_or(10));
    http.retries = 1;
    HttpEmbedder::new(http).map_err(|error| error.to_string())
}

/// Whether a URL is on this machine.
pub(crate) fn is_loopback(url: &str) -> bool {
    HttpUrl::parse(url).is_ok_and(|url| url.host().kind() == HostKind::Loopback)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_on_this_machine() {
        for url in [
            "http://localhost:11434",
            "http://127.0.0.1",
            "https://[::1]:8080/v1",
            "http://LOCALHOST/x",
            "http://[::ffff:127.0.0.1]:8080/v1",
        ] {
            assert!(is_loopback(url), "{url}");
        }
        for url in [
            "http://example.org",
            "http://localhost.example.org",
            "http://127.0.0.1@example.org",
            "http://127.0.0.1.example.org:80",
            "http://10.0.0.1",
            "http://[::2]",
            "http://[::ffff:10.0.0.1]",
            "http://[64:ff9b::127.0.0.1]",
            "http://",
        ] {
            assert!(!is_loopback(url), "{url}");
        }
    }

    #[test]
    fn a_workspace_cannot_send_texts_elsewhere() {
        let settings = EmbedderSettings {
            name: EmbedderName::Http,
            url: Some("http://example.org".into()),
            model: Some("m".into()),
            timeout_seconds: None,
        };
        let error = open(&settings, None, &Endpoint::default(), Some(2)).err().unwrap();
        assert!(error.contains("FOREWORD_EMBEDDINGS_URL"), "{error}");
    }
}
