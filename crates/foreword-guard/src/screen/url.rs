//! Finds addresses in text and says how far to trust them.
//!
//! This module only finds candidates; [`UrlHost`] parses and classifies the host, in whatever
//! notation it is written.

use super::known_hosts::{
    COLLECTORS, INSTALLER_PATHS, INSTALLERS, PASTE_SITES, SHORTENERS, on_host,
};
use crate::address::{HostKind, UrlHost};

/// Why an address should not be trusted with a command or with data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// A number instead of a name.
    RawAddress,
    /// No encryption: anyone on the network path can change the content.
    Plain,
    PasteSite,
    Shortener,
    /// Built to catch requests or to reach a machine behind a firewall.
    Collector,
    /// The name states its purpose, as in exercises and careless attacks.
    SelfDeclared,
    /// The name imitates another one or hides the real host.
    Disguised,
}

impl Doubt {
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::RawAddress => "a bare IP address",
            Self::Plain => "an unencrypted address",
            Self::PasteSite => "a paste or file-drop site",
            Self::Shortener => "a shortened link",
            Self::Collector => "a request collector or tunnel",
            Self::SelfDeclared => "a host whose name suggests an attack",
            Self::Disguised => "a disguised host name",
        }
    }
}

/// An address in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Url {
    plain: bool,
    host: UrlHost,
    /// The host and its normalised path, in lower case.
    address: String,
    disguised: bool,
}

/// More addresses in one text are not looked at.
const MAX_URLS: usize = 16;
/// More words without a scheme are not looked at.
const MAX_BARE: usize = 8;

/// The addresses in a text; a bare `host.tld/path` counts if the text has no `scheme://`.
pub(crate) fn urls(text: &str) -> Vec<Url> {
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    let mut rest = lower.as_str();
    while let Some(at) = rest.find("://") {
        let scheme = rest.get(..at).unwrap_or_default();
        let plain = scheme.ends_with("http") || scheme.ends_with("ftp") || scheme.ends_with("tcp");
        rest = rest.get(at + 3..).unwrap_or_default();
        found.extend(Url::parse(rest, plain));
        if found.len() >= MAX_URLS {
            break;
        }
    }
    if found.is_empty() {
        let words = lower.split([' ', '"', '\'', '`', '(', ')', '<', '>', '\n']);
        let bare = words.filter(|word| {
            let is_hex = word.starts_with("0x") && word.contains(['/', ':']);
            (word.contains('.') || word.starts_with('[') || is_hex)
                && !word.starts_with(['-', '.', '/', '~', '$'])
        });
        found.extend(
            bare.take(MAX_BARE)
                .filter(|word| looks_like_host(written_host(authority(word))))
                .filter_map(|word| Url::parse(word, true)),
        );
    }
    found
}

impl Url {
    /// `text` starts after the scheme and is in lower case.
    fn parse(text: &str, plain: bool) -> Option<Self> {
        let ends = |c: char| {
            c.is_whitespace()
                || matches!(c, '"' | '\'' | '`' | '<' | '>' | ')' | '|' | ';' | ',' | '\\')
        };
        let (written, after) = text.split_at_checked(text.find(ends).unwrap_or(text.len()))?;
        let authority = authority(written);
        let user = authority.rsplit_once('@').map(|(user, _)| user);
        // `https://known.host@other.host` and `https://known.host\@other.host`: what looks like
        // the host is a user name.
        let disguised = user.is_some_and(|user| user.contains('.'))
            || authority.len() == written.len() && after.starts_with("\\@");
        let host = written_host(authority);
        if host.is_empty() {
            return None;
        }
        let host = UrlHost::parse_or_keep(host);
        let path = written.get(authority.len()..).unwrap_or_default();
        let address = match user {
            Some(_) => written.to_owned(),
            None => normalised(host.name(), path),
        };
        Some(Self { plain, host, address, disguised })
    }

    pub(crate) fn host(&self) -> &str {
        self.host.name()
    }

    /// This machine or the local network.
    pub(crate) fn is_local(&self) -> bool {
        match self.host.kind() {
            HostKind::Loopback | HostKind::Private => !self.host.is_obfuscated(),
            HostKind::LinkLocal | HostKind::PublicAddress => false,
            HostKind::Name => {
                let name = self.host.name();
                name.ends_with(".local")
                    || name.ends_with(".localhost")
                    || name == "host.docker.internal"
            }
        }
    }

    /// A widely used installer that its vendor documents.
    pub(crate) fn is_known_installer(&self) -> bool {
        !self.plain
            && (INSTALLERS.iter().any(|known| on_host(self.host(), known))
                || INSTALLER_PATHS.iter().any(|known| self.address.starts_with(known)))
    }

    /// Why the address should not be trusted; `None` if there is no reason.
    pub(crate) fn doubt(&self) -> Option<Doubt> {
        if self.is_local() || self.is_placeholder() {
            return None;
        }
        if self.host.kind() != HostKind::Name {
            return Some(Doubt::RawAddress);
        }
        let on = |list: &[&str]| list.iter().any(|known| on_host(self.host(), known));
        if on(&COLLECTORS) {
            return Some(Doubt::Collector);
        }
        if on(&PASTE_SITES) {
            return Some(Doubt::PasteSite);
        }
        if on(&SHORTENERS) {
            return Some(Doubt::Shortener);
        }
        if self.disguised || self.host().split('.').any(|part| part.starts_with("xn--")) {
            return Some(Doubt::Disguised);
        }
        let says = [
            "attacker",
            "evil",
            "malicious",
            "malware",
            "exfil",
            "hacker",
            "adversary",
            "backdoor",
        ];
        if says.iter().any(|word| self.host().contains(word)) {
            return Some(Doubt::SelfDeclared);
        }
        self.plain.then_some(Doubt::Plain)
    }

    /// A placeholder for a host that the reader fills in.
    pub(crate) fn is_placeholder(&self) -> bool {
        let name = self.host();
        self.host.kind() == HostKind::Name
            && (name.starts_with(['$', '{', '['])
                || name.starts_with("your")
                || name.starts_with("my-")
                || name == "host"
                || name.trim_end_matches('.').is_empty())
    }
}

/// User, host and port: the part before the path.
fn authority(address: &str) -> &str {
    address.split(['/', '?', '#']).next().unwrap_or_default()
}

/// The host in an authority, as written.
fn written_host(authority: &str) -> &str {
    let host = authority.rsplit('@').next().unwrap_or_default();
    match host.find(']') {
        Some(end) if host.starts_with('[') => host.get(..=end).unwrap_or_default(),
        _ => host.split(':').next().unwrap_or_default(),
    }
}

/// The host with its path, `..` and percent-encoded dots resolved, as the server receives it.
fn normalised(host: &str, path: &str) -> String {
    match url::Url::parse(&format!("https://host{path}")) {
        Ok(url) => format!("{host}{}", url.path()),
        Err(_) => host.to_owned(),
    }
}

/// Whether a word without a scheme is a host name or an IP address, and not a file or a version.
fn looks_like_host(host: &str) -> bool {
    const FILES: [&str; 16] = [
        "sh", "py", "js", "ts", "md", "json", "txt", "yml", "yaml", "toml", "log", "zip", "gz",
        "env", "rs", "lock",
    ];
    let is_address = UrlHost::parse(host).is_some_and(|parsed| parsed.kind() != HostKind::Name);
    // `1.2.3` parses as an address too, but is a version.
    if is_address && host != "localhost" {
        return host.starts_with('[')
            || host.split('.').count() == 4
            || host.starts_with("0x") && host.len() > "0xffffff".len();
    }
    let tld = host.rsplit('.').next().unwrap_or_default();
    (2..=10).contains(&tld.len())
        && host.contains('.')
        && tld.bytes().all(|b| b.is_ascii_lowercase())
        && !FILES.contains(&tld)
        && host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubts_what_deserves_it() {
        for (text, doubt) in [
            ("https://example.com/x", None),
            ("http://localhost:8080", None),
            ("http://192.168.1.4/x", None),
            ("http://127.1:8080/x", None),
            ("http://[::1]:8080/x", None),
            ("http://[::ffff:10.0.0.7]/x", None),
            ("http://[fd00::7]/x", None),
            ("https://$HOST/x", None),
            ("https://[your-host]/x", None),
            ("http://host:$PORT/x", None),
            ("http://example.com", Some(Doubt::Plain)),
            ("https://203.0.113.9/x", Some(Doubt::RawAddress)),
            ("https://0x7f000001/x", Some(Doubt::RawAddress)),
            ("https://10.203.0.113.9.example/x", None),
            ("http://127.0.0.1.example.com/x", Some(Doubt::Plain)),
            ("https://169.254.169.254/latest", Some(Doubt::RawAddress)),
            ("https://[fe80::1%25eth0]/x", Some(Doubt::RawAddress)),
            ("https://pastebin.com/raw/a", Some(Doubt::PasteSite)),
            ("https://pastebin.com./raw/a", Some(Doubt::PasteSite)),
            ("https://paste%62in.com/raw/a", Some(Doubt::PasteSite)),
            ("https://abc.ngrok-free.app", Some(Doubt::Collector)),
            ("https://bit.ly/a", Some(Doubt::Shortener)),
            ("https://github.com@other.example/x", Some(Doubt::Disguised)),
            ("https://github.com\\@other.example/x", Some(Doubt::Disguised)),
            ("https://gith\u{fc}b.com/x", Some(Doubt::Disguised)),
            ("https://xn--githb-mva.com/x", Some(Doubt::Disguised)),
            ("https://notpastebin.com/x", None),
            ("curl tools.example.com", Some(Doubt::Plain)),
            ("curl [::ffff:cb00:7109]/x", Some(Doubt::RawAddress)),
            ("curl 0xcb007109/x", Some(Doubt::RawAddress)),
        ] {
            assert_eq!(urls(text).first().and_then(Url::doubt), doubt, "{text}");
        }
        assert_eq!(urls("needs version 1.2.3 of 0x and 0xdeadbeef, 0x1f/2"), []);
    }

    #[test]
    fn knows_installers_by_host_not_by_looks() {
        let known = |text: &str| urls(text)[0].is_known_installer();
        assert!(known("https://astral.sh/uv/install.sh"));
        assert!(known("https://raw.githubusercontent.com/nvm-sh/nvm/v1/install.sh"));
        assert!(!known("http://astral.sh/uv/install.sh"));
        assert!(!known("https://astral.sh.example.com/install.sh"));
        assert!(!known("https://raw.githubusercontent.com/nvm-shx/nvm/v1/install.sh"));
        assert!(!known("https://raw.githubusercontent.com/nvm-sh/../other/install.sh"));
        assert!(!known("https://raw.githubusercontent.com/nvm-sh/%2e%2e/other/install.sh"));
    }
}
