//! Which upstream a request goes to.

use std::borrow::Cow;

use url::Url;

use super::tunnel::Tunnel;
use crate::error::WatchError;

/// A name in the path of the proxy and the upstream it stands for.
#[derive(Clone, Debug)]
pub struct Route {
    name: String,
    tls: bool,
    host: String,
    port: u16,
    /// Without a slash at its end.
    base_path: String,
    tunnel: Option<Tunnel>,
}

impl Route {
    /// A route to a base URL.
    pub fn new(name: &str, url: &str) -> Result<Self, WatchError> {
        let wrong = |reason: &str| WatchError::Upstream {
            name: name.to_owned(),
            url: without_credentials(url),
            reason: reason.to_owned(),
        };
        let parsed = Url::parse(url).map_err(|error| wrong(&error.to_string()))?;
        let tls = match parsed.scheme() {
            "https" => true,
            "http" => false,
            _ => return Err(wrong("the scheme is neither http nor https")),
        };
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return Err(wrong("the URL contains credentials"));
        }
        if parsed.query().is_some() || parsed.fragment().is_some() {
            return Err(wrong("a base URL has no query"));
        }
        let host = parsed.host_str().ok_or_else(|| wrong("the URL has no host"))?;
        Ok(Self {
            name: name.to_owned(),
            tls,
            host: host.to_owned(),
            port: parsed.port_or_known_default().unwrap_or(if tls { 443 } else { 80 }),
            base_path: parsed.path().trim_end_matches('/').to_owned(),
            tunnel: None,
        })
    }

    /// The same route through an HTTP proxy of the network. Plain HTTP is not sent through it.
    pub fn through(mut self, proxy: &str) -> Result<Self, WatchError> {
        let tunnel = Tunnel::parse(proxy).map_err(|reason| WatchError::NetworkProxy { reason })?;
        self.tunnel = Some(tunnel).filter(|_| self.tls);
        Ok(self)
    }

    pub(super) fn tunnel(&self) -> Option<&Tunnel> {
        self.tunnel.as_ref()
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The upstream without a path.
    #[must_use]
    pub fn origin(&self) -> String {
        let scheme = if self.tls { "https" } else { "http" };
        format!("{scheme}://{}", self.authority())
    }

    pub(super) fn base_path(&self) -> &str {
        &self.base_path
    }

    pub(super) fn is_tls(&self) -> bool {
        self.tls
    }

    /// The host to connect to, without the brackets of an IPv6 address.
    #[must_use]
    pub fn host(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }

    pub(super) fn bracketed_host(&self) -> &str {
        &self.host
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// The value of `Host`.
    pub(super) fn authority(&self) -> String {
        let default = if self.tls { 443 } else { 80 };
        if self.port == default {
            self.host.clone()
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

/// The route of a target, and the target at the upstream. A path without the name of a route is that of a
/// program which keeps only the host of its base URL: then the path itself tells the API.
pub(super) fn find<'r, 't>(
    routes: &'r [Route],
    target: &'t str,
) -> Option<(&'r Route, Cow<'t, str>)> {
    let named = target.strip_prefix('/')?;
    let (first, _) = named.split_once(['/', '?']).unwrap_or((named, ""));
    if let Some(route) = routes.iter().find(|route| route.name == first) {
        let rest = named.get(first.len()..).unwrap_or_default();
        let rest = if rest.starts_with('/') { rest } else { "/" };
        return Some((route, with_version(route, rest)));
    }
    let path = target.split('?').next().unwrap_or_default();
    let name = match path {
        _ if path.starts_with("/v1/messages") => "anthropic",
        _ if path.starts_with("/v1beta/") || path.starts_with("/v1alpha/") => "gemini",
        _ if path.starts_with("/v1/") => "openai",
        _ => return None,
    };
    routes.iter().find(|route| route.name == name).map(|route| (route, target.into()))
}

/// Some programs take a base URL of Anthropic with `/v1` and some without. Where the variable was not set
/// before, there is no base URL to go by, and those that expect it leave it out of the path.
fn with_version<'t>(route: &Route, target: &'t str) -> Cow<'t, str> {
    let is_anthropic = route.host == "api.anthropic.com" && route.base_path.is_empty();
    if is_anthropic && target.starts_with("/messages") {
        return format!("/v1{target}").into();
    }
    target.into()
}

/// A URL that may be shown: without a user, a password and a query.
fn without_credentials(url: &str) -> String {
    let url = url.split_once('?').map_or(url, |(start, _)| start);
    let (scheme, rest) = url.split_once("//").unwrap_or(("", url));
    match rest.rsplit_once('@') {
        Some((_, rest)) => format!("{scheme}//…@{rest}"),
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_an_upstream_is_said_without_its_credentials() {
        for url in [
            "http://ada:hunter2@h/v1",
            "http://hunter2@h",
            "https://h/v1?key=hunter2",
            "ftp://ada:hunter2@h",
            "http://ada:hunter2@h:port",
        ] {
            let said = Route::new("x", url).unwrap_err().to_string();
            assert!(!said.contains("hunter2") && said.contains("//"), "{said}");
        }
    }

    #[test]
    fn a_name_or_the_path_tells_the_upstream() {
        let routes = [
            Route::new("anthropic", "https://api.anthropic.com").unwrap(),
            Route::new("openai", "https://openrouter.ai/api/v1/").unwrap(),
            Route::new("gemini", "http://[::1]:8080").unwrap(),
        ];
        let found = |target: &'static str| {
            find(&routes, target).map(|(route, target)| format!("{}{target}", route.origin()))
        };
        let anthropic = Some("https://api.anthropic.com/v1/messages?beta=true".to_owned());
        assert_eq!(found("/anthropic/v1/messages?beta=true"), anthropic);
        assert_eq!(found("/v1/messages?beta=true"), anthropic);
        assert_eq!(found("/anthropic/messages?beta=true"), anthropic);
        assert_eq!(
            found("/openai/api/v1/chat/completions").as_deref(),
            Some("https://openrouter.ai/api/v1/chat/completions")
        );
        assert_eq!(
            found("/v1beta/models/g:generateContent").as_deref(),
            Some("http://[::1]:8080/v1beta/models/g:generateContent")
        );
        assert_eq!(found("/anthropic").as_deref(), Some("https://api.anthropic.com/"));
        assert_eq!(found("/favicon.ico"), None);
        assert_eq!(found("*"), None);
        assert_eq!(routes[1].base_path(), "/api/v1");
        assert_eq!(routes[2].host(), "::1");
    }

    #[test]
    fn only_plain_base_urls_are_upstreams() {
        for wrong in ["", "x", "ftp://h", "https://u:p@h", "https://h/?q=1", "file:///x"] {
            let error = Route::new("OPENAI_BASE_URL", wrong).unwrap_err().to_string();
            assert!(error.contains("OPENAI_BASE_URL"), "{error}");
        }
    }
}
