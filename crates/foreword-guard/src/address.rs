//! Internet addresses, classified after parsing.
//!
//! One host can be written in many ways: `203.0.113.9`, `3405803785`, `0xcb.0.0x71.9`,
//! `[::ffff:203.0.113.9]`, with percent-encoded or full-width digits. [`UrlHost`] parses all of them
//! with the `url` crate, as browsers and curl do, and classifies the result, so that a rule cannot
//! be bypassed by notation. [`HttpUrl`] is a whole `http` or `https` URL with such a host.
//!
//! The module is here because everything that classifies hosts (screening, the embedder settings in
//! `foreword-gather`, `foreword-host`) is this crate or depends on it. `foreword-embed` and
//! `foreword-workspace` are below it; they only check the scheme and use the `url` crate directly.

use std::net::{Ipv4Addr, Ipv6Addr};

/// What kind of place a host is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostKind {
    /// This machine: `localhost`, 127.0.0.0/8 or `::1`.
    Loopback,
    /// A private network, or the unspecified address.
    Private,
    /// A link-local address, such as the metadata service of a cloud machine.
    LinkLocal,
    /// Any other IP address. Tunnelled addresses (6to4, NAT64) are here, whatever they carry.
    PublicAddress,
    /// A name that has to be looked up.
    Name,
}

/// A parsed host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlHost {
    name: String,
    kind: HostKind,
    obfuscated: bool,
}

impl UrlHost {
    /// Parses a host as written in a URL, with IPv6 addresses in brackets.
    #[must_use]
    pub fn parse(written: &str) -> Option<Self> {
        let written = written.trim_end_matches('.');
        let (name, kind) = match url::Host::parse(&without_zone(written)).ok()? {
            url::Host::Domain(name) => {
                let name = name.trim_end_matches('.').to_owned();
                let kind = if name == "localhost" { HostKind::Loopback } else { HostKind::Name };
                (name, kind)
            }
            url::Host::Ipv4(ip) => (ip.to_string(), kind_of_v4(ip)),
            url::Host::Ipv6(ip) => match ip.to_ipv4_mapped() {
                Some(mapped) => (mapped.to_string(), kind_of_v4(mapped)),
                None => (ip.to_string(), kind_of_v6(ip)),
            },
        };
        let is_v4 = kind != HostKind::Name && name.parse::<Ipv4Addr>().is_ok();
        let obfuscated = is_v4 && !written.starts_with('[') && !is_dotted_decimal(written);
        Some(Self { name, kind, obfuscated })
    }

    /// Parses a host, and keeps one that does not parse as a name: a template such as `{host}`.
    ///
    /// An IPv6 address that does not parse counts as a public address.
    pub(crate) fn parse_or_keep(written: &str) -> Self {
        Self::parse(written).unwrap_or_else(|| {
            let is_address = written.starts_with('[') && written.contains(':');
            let kind = if is_address { HostKind::PublicAddress } else { HostKind::Name };
            Self { name: written.to_owned(), kind, obfuscated: false }
        })
    }

    /// The host in its canonical notation: lower case, punycode, no brackets, no final dot.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    #[must_use]
    pub fn kind(&self) -> HostKind {
        self.kind
    }

    /// An IPv4 address in a notation that people do not use: octal, hexadecimal, one number.
    #[must_use]
    pub fn is_obfuscated(&self) -> bool {
        self.obfuscated
    }
}

fn kind_of_v4(ip: Ipv4Addr) -> HostKind {
    if ip.is_loopback() {
        HostKind::Loopback
    } else if ip.is_private() || ip.is_unspecified() {
        HostKind::Private
    } else if ip.is_link_local() {
        HostKind::LinkLocal
    } else {
        HostKind::PublicAddress
    }
}

fn kind_of_v6(ip: Ipv6Addr) -> HostKind {
    if ip.is_loopback() {
        HostKind::Loopback
    } else if ip.is_unique_local() || ip.is_unspecified() {
        HostKind::Private
    } else if ip.is_unicast_link_local() {
        HostKind::LinkLocal
    } else {
        HostKind::PublicAddress
    }
}

/// `[fe80::1%eth0]` without its zone, which the `url` crate rejects and curl accepts.
fn without_zone(host: &str) -> String {
    match host.split_once('%') {
        Some((address, _)) if host.starts_with('[') => format!("{address}]"),
        _ => host.to_owned(),
    }
}

fn is_dotted_decimal(host: &str) -> bool {
    let is_decimal = |part: &str| {
        part.bytes().all(|b| b.is_ascii_digit()) && (part.len() == 1 || !part.starts_with('0'))
    };
    host.contains('.') && host.split('.').all(is_decimal)
}

/// Why a text is not an [`HttpUrl`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HttpUrlError {
    #[error("not a valid URL")]
    Invalid,
    #[error("not an http or https URL")]
    NotHttp,
    #[error("URLs with a user name or password are not supported")]
    HasCredentials,
}

/// An `http` or `https` URL without credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpUrl {
    url: url::Url,
    host: UrlHost,
}

impl HttpUrl {
    pub fn parse(text: &str) -> Result<Self, HttpUrlError> {
        let url = url::Url::parse(text).map_err(|_| HttpUrlError::Invalid)?;
        let mut parsed = Self::new(url)?;
        // Parsing turns any notation of an address into the usual one; remember which it was.
        let host = parsed.url.host_str().unwrap_or_default();
        let usual = format!("{}://{host}", parsed.url.scheme());
        let is_v4 = host.parse::<Ipv4Addr>().is_ok();
        parsed.host.obfuscated = is_v4 && !text.to_ascii_lowercase().starts_with(&usual);
        Ok(parsed)
    }

    fn new(url: url::Url) -> Result<Self, HttpUrlError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(HttpUrlError::NotHttp);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(HttpUrlError::HasCredentials);
        }
        let host = url.host_str().and_then(UrlHost::parse).ok_or(HttpUrlError::Invalid)?;
        Ok(Self { url, host })
    }

    /// Resolves a reference, such as the `Location` of a redirect, against this URL.
    pub fn join(&self, reference: &str) -> Result<Self, HttpUrlError> {
        Self::new(self.url.join(reference).map_err(|_| HttpUrlError::Invalid)?)
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        self.url.as_str()
    }

    #[must_use]
    pub fn host(&self) -> &UrlHost {
        &self.host
    }

    #[must_use]
    pub fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// The port, if it is not the default of the scheme.
    #[must_use]
    pub fn explicit_port(&self) -> Option<u16> {
        self.url.port()
    }

    /// The port, or the default of the scheme.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Notations of one IPv4 address that curl, browsers or resolvers accept.
    fn notations(ip: Ipv4Addr) -> Vec<String> {
        let [a, b, c, d] = ip.octets();
        let number = u32::from(ip);
        let wide: String = ip
            .to_string()
            .chars()
            .map(|c| match c {
                '0'..='9' => char::from_u32(u32::from(c) - 0x30 + 0xFF10).unwrap(),
                _ => '\u{3002}',
            })
            .collect();
        let encoded: String = ip.to_string().bytes().map(|b| format!("%{b:02x}")).collect();
        vec![
            ip.to_string(),
            format!("{ip}."),
            number.to_string(),
            format!("{number:#x}"),
            format!("{number:#X}").replace("0X", "0x"),
            format!("0{number:o}"),
            format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
            format!("{a:#x}.{b:#x}.{c:#x}.{d:#x}"),
            format!("{a}.{}", number & 0xFF_FFFF),
            format!("{a}.{b}.{}", number & 0xFFFF),
            format!("[::ffff:{ip}]"),
            format!("[::FFFF:{:x}:{:x}]", number >> 16, number & 0xFFFF),
            format!("[0:0:0:0:0:ffff:{ip}]"),
            wide,
            encoded,
        ]
    }

    #[test]
    fn hosts_have_a_kind() {
        use HostKind::{LinkLocal, Loopback, Name, Private, PublicAddress};
        for (written, kind, name) in [
            ("localhost", Loopback, "localhost"),
            ("LocalHost.", Loopback, "localhost"),
            ("127.0.0.1", Loopback, "127.0.0.1"),
            ("127.1", Loopback, "127.0.0.1"),
            ("[::1]", Loopback, "::1"),
            ("10.0.0.1", Private, "10.0.0.1"),
            ("172.31.0.1", Private, "172.31.0.1"),
            ("172.32.0.1", PublicAddress, "172.32.0.1"),
            ("0.0.0.0", Private, "0.0.0.0"),
            ("[fd00::1]", Private, "fd00::1"),
            ("169.254.169.254", LinkLocal, "169.254.169.254"),
            ("[fe80::1%25eth0]", LinkLocal, "fe80::1"),
            ("[2001:db8::1]", PublicAddress, "2001:db8::1"),
            ("[2002:cb00:7109::]", PublicAddress, "2002:cb00:7109::"),
            ("[2002:7f00:1::]", PublicAddress, "2002:7f00:1::"),
            ("[64:ff9b::203.0.113.9]", PublicAddress, "64:ff9b::cb00:7109"),
            ("[::203.0.113.9]", PublicAddress, "::cb00:7109"),
            ("Example.COM.", Name, "example.com"),
            ("127.0.0.1.example.com", Name, "127.0.0.1.example.com"),
            ("m\u{fc}nchen.example", Name, "xn--mnchen-3ya.example"),
        ] {
            let host = UrlHost::parse(written).unwrap_or_else(|| panic!("{written}"));
            assert_eq!((host.kind(), host.name()), (kind, name), "{written}");
        }
        for written in ["", "[::1", "[your-host]", "1.2.3.4.5", "256.0.0.1", "a b"] {
            assert_eq!(UrlHost::parse(written), None, "{written}");
        }
    }

    #[test]
    fn a_url_is_http_and_has_no_credentials() {
        use HttpUrlError::{HasCredentials, Invalid, NotHttp};
        for (text, error) in [
            ("ftp://a.org", NotHttp),
            ("file:///etc/passwd", NotHttp),
            ("a.org", Invalid),
            ("http://", Invalid),
            ("https://u@a.org", HasCredentials),
            ("https://:p@a.org", HasCredentials),
        ] {
            assert_eq!(HttpUrl::parse(text), Err(error), "{text}");
        }
        let url = HttpUrl::parse("HTTPS://A.org:8443/x/y?q=/w").unwrap();
        assert!(url.is_https() && url.port() == 8443 && url.host().name() == "a.org");
        assert_eq!(HttpUrl::parse("http://a.org:80/").unwrap().explicit_port(), None);
        for (reference, joined) in [
            ("/login?next=https://b.org/", "https://a.org:8443/login?next=https://b.org/"),
            ("z", "https://a.org:8443/x/z"),
            ("?p=2", "https://a.org:8443/x/y?p=2"),
            ("//b.org/z", "https://b.org/z"),
            ("http://b.org", "http://b.org/"),
        ] {
            assert_eq!(url.join(reference).unwrap().as_str(), joined, "{reference}");
        }
        assert_eq!(url.join("javascript:x"), Err(NotHttp));
        assert_eq!(url.join("//u:p@b.org/"), Err(HasCredentials));
    }

    proptest! {
        #[test]
        fn every_notation_of_an_address_is_that_address(number in any::<u32>()) {
            let ip = Ipv4Addr::from(number);
            for written in notations(ip) {
                let host = UrlHost::parse(&written);
                let host = host.unwrap_or_else(|| panic!("{written} does not parse"));
                prop_assert_eq!((host.name(), host.kind()), (&*ip.to_string(), kind_of_v4(ip)));
                let url = HttpUrl::parse(&format!("https://{written}/x")).unwrap();
                prop_assert_eq!(url.host().kind(), kind_of_v4(ip));
            }
        }
    }
}
