//! How to reach an embedding endpoint.

use std::fmt;
use std::time::Duration;

use crate::embedder::EmbedError;

/// A key that never shows up in a message or a log.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Wraps a key.
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    /// The key itself, for the header of a request.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

/// Where an endpoint is, what to ask it for, and how patient to be.
#[derive(Debug, Clone)]
pub struct HttpSettings {
    /// The address: a server (`http://localhost:11434`), its API (`…/v1`) or the endpoint itself.
    pub url: String,
    /// The name of the model.
    pub model: String,
    /// Sent as a bearer token.
    pub api_key: Option<ApiKey>,
    /// The length of its vectors; asked for with one call where not known.
    pub dims: Option<usize>,
    /// The longest wait for one answer, connecting included.
    pub timeout: Duration,
    /// Maximum number of texts per request.
    pub max_batch: usize,
    /// Maximum number of bytes of text per request, unless one text alone is longer.
    pub max_batch_bytes: usize,
    /// Longer texts are cut before they are sent.
    pub max_text_bytes: usize,
    /// How often to ask again after 408, 429, 5xx or a broken connection.
    pub retries: u32,
    /// The first wait before asking again; it doubles each time.
    pub backoff: Duration,
    /// The longest such wait, also where the server asks for a longer one.
    pub max_backoff: Duration,
}

impl HttpSettings {
    /// The usual limits for a model at an address.
    pub fn new(url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            model: model.into(),
            api_key: None,
            dims: None,
            timeout: Duration::from_secs(30),
            max_batch: 64,
            max_batch_bytes: 256 << 10,
            max_text_bytes: 24 << 10,
            retries: 3,
            backoff: Duration::from_millis(250),
            max_backoff: Duration::from_secs(10),
        }
    }

    /// The URL of the endpoint itself.
    pub(crate) fn endpoint(&self) -> Result<String, EmbedError> {
        let bad = |url: &str| EmbedError::Url { url: url.to_owned() };
        let mut url = url::Url::parse(&self.url).map_err(|_| bad(&self.url))?;
        let is_http = matches!(url.scheme(), "http" | "https");
        // `http:///v1` would parse with the host `v1`.
        if !is_http || self.url.contains(":///") {
            return Err(bad(&self.url));
        }
        if !url.username().is_empty() || url.password().is_some() {
            // A password in a URL would end up in ids and messages.
            let host = url.host_str().unwrap_or_default();
            return Err(bad(&format!("…@{host}")));
        }
        let path = url.path().trim_end_matches('/');
        let path = match path {
            "" => "/v1/embeddings".to_owned(),
            path if path.ends_with("embeddings") => path.to_owned(),
            path => format!("{path}/embeddings"),
        };
        url.set_path(&path);
        Ok(url.into())
    }

    /// How long to wait before asking again, the server's wish in seconds considered.
    pub(crate) fn wait(&self, attempt: u32, wish: Option<u64>) -> Duration {
        let own = self.backoff.saturating_mul(2_u32.saturating_pow(attempt));
        own.max(Duration::from_secs(wish.unwrap_or(0))).min(self.max_backoff)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_form_of_the_address_will_do() {
        let endpoint = |url: &str| HttpSettings::new(url, "m").endpoint().ok();
        let expected = Some("http://localhost:11434/v1/embeddings".to_owned());
        for url in [
            "http://localhost:11434",
            "http://localhost:11434/",
            "http://localhost:11434/v1/",
            "http://localhost:11434/v1/embeddings",
        ] {
            assert_eq!(endpoint(url), expected, "{url}");
        }
        assert_eq!(
            endpoint("https://host/api/v3").as_deref(),
            Some("https://host/api/v3/embeddings")
        );
        let error =
            HttpSettings::new("http://me:word@host/v1", "m").endpoint().unwrap_err().to_string();
        assert!(error.contains("host") && !error.contains("word"), "{error}");
        for url in ["localhost:11434", "ftp://host", "http://", "http:///v1", ""] {
            assert_eq!(endpoint(url), None, "{url}");
        }
    }

    #[test]
    fn waits_double_and_end() {
        let settings = HttpSettings::new("http://x", "m");
        let wait = |attempt, wish| settings.wait(attempt, wish).as_millis();
        assert_eq!(
            [wait(0, None), wait(1, None), wait(2, Some(3)), wait(9, None)],
            [250, 500, 3000, 10_000]
        );
        assert_eq!(wait(0, Some(u64::MAX)), 10_000);
        assert_eq!(wait(u32::MAX, None), 10_000);
    }

    #[test]
    fn a_key_is_not_shown() {
        let mut settings = HttpSettings::new("http://x", "m");
        settings.api_key = Some(ApiKey::new("secret-1"));
        assert!(!format!("{settings:?}").contains("secret-1"));
    }
}
