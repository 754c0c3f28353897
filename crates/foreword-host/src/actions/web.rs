//! Pages from hosts that the workspace allows by name.

use std::io::Read as _;
use std::time::Duration;

use foreword_ipc::{ErrorCode, Failure, WebFetch};
use serde_json::{Value, json};
use ureq::Agent;
use ureq::http::Uri;

use super::content;
use crate::live::Live;

/// So much of a page is read.
const LONGEST_PAGE: u64 = 1 << 20;
/// So many redirects are followed, each to an allowed host.
const MOST_REDIRECTS: usize = 5;
const TIMEOUT: Duration = Duration::from_secs(30);

pub(super) fn fetch(live: &Live, args: &WebFetch) -> Result<Value, Failure> {
    let mut url = args.url.clone();
    let agent: Agent = Agent::config_builder()
        .timeout_global(Some(TIMEOUT))
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .proxy(None)
        .user_agent("foreword")
        .build()
        .into();
    for _ in 0..=MOST_REDIRECTS {
        let target = allowed(&url, &live.settings.web_hosts)?;
        let response = agent.get(&target).call().map_err(|error| {
            Failure::new(ErrorCode::Unavailable, format!("{target} cannot be fetched: {error}"))
        })?;
        let status = response.status();
        let header = |name: &str| {
            response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
        };
        if status.is_redirection()
            && let Some(location) = header("location")
        {
            url = joined(&target, &location)?;
            continue;
        }
        let kind = header("content-type").unwrap_or_default();
        let mut body = Vec::new();
        let mut reader = response.into_body().into_reader().take(LONGEST_PAGE + 1);
        reader.read_to_end(&mut body).map_err(|error| {
            Failure::new(ErrorCode::Unavailable, format!("{target} broke off: {error}"))
        })?;
        let truncated = body.len() as u64 > LONGEST_PAGE;
        body.truncate(usize::try_from(LONGEST_PAGE).unwrap_or(usize::MAX));
        if body.contains(&0) {
            return Err(Failure::new(ErrorCode::Refused, format!("{target} is no text ({kind})")));
        }
        let text = String::from_utf8_lossy(&body);
        let (taken, _) = content::take_in(live, &target, &text)?;
        return Ok(json!({
            "status": status.as_u16(), "contentType": kind, "content": taken.fenced,
            "tokens": taken.tokens, "truncated": truncated, "verdict": taken.verdict.as_str(),
        }));
    }
    Err(Failure::new(ErrorCode::Refused, format!("more than {MOST_REDIRECTS} redirects")))
}

/// The address, if its host may be fetched from.
fn allowed(url: &str, hosts: &[String]) -> Result<String, Failure> {
    let refused = |message: String| Failure::new(ErrorCode::Refused, message);
    let shown: String = url.chars().take(200).collect();
    let uri: Uri = url
        .parse()
        .map_err(|_| Failure::new(ErrorCode::BadRequest, format!("`{shown}` is no address")))?;
    let (Some(scheme @ ("http" | "https")), Some(authority)) = (uri.scheme_str(), uri.authority())
    else {
        return Err(refused(format!("`{shown}` is no address of http or https")));
    };
    if authority.as_str().contains('@') {
        return Err(refused("an address with a user in front is not fetched".to_owned()));
    }
    let name = authority.host().trim_end_matches('.').to_ascii_lowercase();
    let usual = if scheme == "https" { 443 } else { 80 };
    let port = authority.port_u16().unwrap_or(usual);
    let is_allowed = hosts.iter().any(|host| {
        let host = host.to_ascii_lowercase();
        host == format!("{name}:{port}") || (host == name && port == usual)
    });
    if is_allowed {
        return Ok(url.to_owned());
    }
    Err(refused(if hosts.is_empty() {
        "web_fetch is switched off: the workspace allows no host (host.web_hosts)".to_owned()
    } else {
        format!("`{name}:{port}` is not among the hosts the workspace allows: {}", hosts.join(", "))
    }))
}

/// Where a redirect leads.
fn joined(from: &str, location: &str) -> Result<String, Failure> {
    if location.contains("://") {
        return Ok(location.to_owned());
    }
    let base: Uri = from.parse().map_err(|_| Failure::new(ErrorCode::BadRequest, "no address"))?;
    let (scheme, authority) = (base.scheme_str().unwrap_or("http"), base.authority());
    let authority = authority.map_or("", |authority| authority.as_str());
    if let Some(rest) = location.strip_prefix("//") {
        return Ok(format!("{scheme}://{rest}"));
    }
    let slash = if location.starts_with('/') { "" } else { "/" };
    Ok(format!("{scheme}://{authority}{slash}{location}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hosts_by_their_whole_name() {
        let hosts = ["docs.example.org".to_owned(), "127.0.0.1:8080".to_owned()];
        let ok = |url: &str| allowed(url, &hosts).is_ok();
        assert!(ok("https://docs.example.org/a?b#c") && ok("http://DOCS.example.org"));
        assert!(ok("http://docs.example.org./x") && ok("http://127.0.0.1:8080/"));
        for url in [
            "https://example.org/",
            "https://evil-docs.example.org/",
            "https://docs.example.org.evil/",
            "https://docs.example.org@evil/",
            "https://evil@docs.example.org/",
            "http://127.0.0.1/",
            "https://docs.example.org:8443/",
            "file:///etc/passwd",
            "ftp://docs.example.org/",
            "docs.example.org",
            "",
            "http:///",
            "http://0x7f000001:8080/",
            "http://127.0.0.1:80800/",
        ] {
            assert!(!ok(url), "{url}");
        }
        let off = allowed("https://docs.example.org/", &[]).unwrap_err();
        assert!(off.message.contains("switched off"), "{off}");
    }

    #[test]
    fn redirects_are_read_as_addresses() {
        let from = "https://a.org/x/y";
        assert_eq!(joined(from, "/z").unwrap(), "https://a.org/z");
        assert_eq!(joined(from, "z").unwrap(), "https://a.org/z");
        assert_eq!(joined(from, "//b.org/z").unwrap(), "https://b.org/z");
        assert_eq!(joined(from, "http://b.org/").unwrap(), "http://b.org/");
    }
}
