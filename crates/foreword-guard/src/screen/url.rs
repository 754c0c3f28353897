//! What an address says about whoever is behind it.

/// Why an address should not be trusted with a command or with data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// A number instead of a name.
    RawAddress,
    /// No encryption: whoever is on the way can change it.
    Plain,
    /// Anybody can put anything there and take it away again.
    PasteSite,
    /// Hides where it leads.
    Shortener,
    /// Built to catch requests or to reach a machine behind a firewall.
    Collector,
    /// A name that says what it is for, as in exercises and lazy attacks.
    SelfDeclared,
    /// A name that imitates another or hides the real host.
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
            Self::SelfDeclared => "a host whose name says what it is for",
            Self::Disguised => "a disguised host name",
        }
    }
}

const PASTE_SITES: [&str; 30] = [
    "pastebin.com",
    "paste.ee",
    "rentry.co",
    "rentry.org",
    "glot.io",
    "hastebin.com",
    "ghostbin.com",
    "termbin.com",
    "ix.io",
    "0x0.st",
    "transfer.sh",
    "file.io",
    "anonfiles.com",
    "gofile.io",
    "catbox.moe",
    "mega.nz",
    "sprunge.us",
    "dpaste.org",
    "dpaste.com",
    "privatebin.net",
    "controlc.com",
    "justpaste.it",
    "paste.rs",
    "temp.sh",
    "bashupload.com",
    "mediafire.com",
    "sendspace.com",
    "cdn.discordapp.com",
    "media.discordapp.net",
    "pastes.io",
];

const SHORTENERS: [&str; 14] = [
    "bit.ly",
    "tinyurl.com",
    "t.co",
    "is.gd",
    "goo.gl",
    "cutt.ly",
    "rb.gy",
    "shorturl.at",
    "ow.ly",
    "t.ly",
    "v.gd",
    "tiny.cc",
    "rebrand.ly",
    "s.id",
];

const COLLECTORS: [&str; 28] = [
    "webhook.site",
    "requestbin.com",
    "requestbin.net",
    "pipedream.net",
    "hookbin.com",
    "beeceptor.com",
    "interact.sh",
    "interactsh.com",
    "oast.fun",
    "oast.pro",
    "oast.live",
    "oast.site",
    "oast.online",
    "oast.me",
    "burpcollaborator.net",
    "oastify.com",
    "dnslog.cn",
    "ceye.io",
    "requestcatcher.com",
    "ngrok.io",
    "ngrok.app",
    "ngrok-free.app",
    "trycloudflare.com",
    "loca.lt",
    "serveo.net",
    "localhost.run",
    "canarytokens.com",
    "requestrepo.com",
];

/// Hosts whose installers are documented for people and run by millions of them.
const INSTALLERS: [&str; 62] = [
    "astral.sh",
    "bun.sh",
    "bun.com",
    "sh.rustup.rs",
    "rustup.rs",
    "get.docker.com",
    "deno.land",
    "deno.com",
    "deb.nodesource.com",
    "rpm.nodesource.com",
    "fnm.vercel.app",
    "get.volta.sh",
    "get.pnpm.io",
    "install.python-poetry.org",
    "ollama.com",
    "ollama.ai",
    "tailscale.com",
    "fly.io",
    "starship.rs",
    "mise.run",
    "mise.jdx.dev",
    "get.helm.sh",
    "get.k3s.io",
    "sdk.cloud.google.com",
    "claude.ai",
    "cursor.com",
    "opencode.ai",
    "railway.app",
    "railway.com",
    "get.tur.so",
    "nixos.org",
    "install.determinate.systems",
    "zed.dev",
    "foundry.paradigm.xyz",
    "release.anza.xyz",
    "release.solana.com",
    "solana-install.solana.workers.dev",
    "get.sdkman.io",
    "install.duckdb.org",
    "cli.doppler.com",
    "cli.moonrepo.dev",
    "proto.moonrepo.dev",
    "aka.ms",
    "dl.google.com",
    "cli.github.com",
    "setup.atuin.sh",
    "just.systems",
    "bootstrap.pypa.io",
    "dot.net",
    "get.jetify.com",
    "get.jetpack.io",
    "apt.llvm.org",
    "packages.microsoft.com",
    "get.pulumi.com",
    "get.scoop.sh",
    "chocolatey.org",
    "community.chocolatey.org",
    "cli.kiro.dev",
    "vercel.com",
    "app.factory.ai",
    "npmjs.com",
    "hf.co",
];

/// Repositories of installers on hosts where anybody can have one.
const INSTALLER_PATHS: [&str; 12] = [
    "raw.githubusercontent.com/homebrew/",
    "raw.githubusercontent.com/nvm-sh/",
    "raw.githubusercontent.com/ohmyzsh/",
    "raw.githubusercontent.com/helm/",
    "raw.githubusercontent.com/kubernetes",
    "raw.githubusercontent.com/rancher/",
    "raw.githubusercontent.com/pyenv/",
    "raw.githubusercontent.com/anchore/",
    "raw.githubusercontent.com/aquasecurity/",
    "raw.githubusercontent.com/golangci/",
    "raw.githubusercontent.com/microsoft/",
    "raw.githubusercontent.com/anthropics/",
];

/// An address in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Url {
    plain: bool,
    host: String,
    /// Host and path in lower case.
    address: String,
    disguised: bool,
}

/// The addresses in a piece of text; bare `host.tld/path` after a command counts too.
pub(crate) fn urls(text: &str) -> Vec<Url> {
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    let mut rest = lower.as_str();
    while let Some(at) = rest.find("://") {
        let scheme = rest.get(..at).unwrap_or_default();
        let plain = scheme.ends_with("http") || scheme.ends_with("ftp") || scheme.ends_with("tcp");
        rest = rest.get(at + 3..).unwrap_or_default();
        found.extend(Url::parse(rest, plain));
        if found.len() >= 16 {
            break;
        }
    }
    if found.is_empty() {
        let words = lower.split([' ', '"', '\'', '`', '(', ')', '<', '>', '\n']);
        let bare = words.filter(|w| w.contains('.') && !w.starts_with(['-', '.', '/', '~', '$']));
        found.extend(
            bare.take(8).filter_map(|w| Url::parse(w, true)).filter(|u| u.looks_like_host()),
        );
    }
    found
}

impl Url {
    fn parse(text: &str, plain: bool) -> Option<Self> {
        let end = text.find(|c: char| {
            c.is_whitespace()
                || matches!(c, '"' | '\'' | '`' | '<' | '>' | ')' | '|' | ';' | ',' | '\\')
        });
        let address = text.get(..end.unwrap_or(text.len()))?.to_owned();
        let authority = address.split(['/', '?', '#']).next()?;
        // `https://known.host@other.host`: what looks like the host is a user name.
        let disguised = authority.rsplit_once('@').is_some_and(|(user, _)| user.contains('.'));
        let host = authority.rsplit('@').next()?.split(':').next()?.to_owned();
        (!host.is_empty()).then_some(Self { plain, host, address, disguised })
    }

    fn looks_like_host(&self) -> bool {
        let tld = self.host.rsplit('.').next().unwrap_or_default();
        const FILES: [&str; 16] = [
            "sh", "py", "js", "ts", "md", "json", "txt", "yml", "yaml", "toml", "log", "zip", "gz",
            "env", "rs", "lock",
        ];
        (2..=10).contains(&tld.len())
            && tld.bytes().all(|b| b.is_ascii_lowercase())
            && !FILES.contains(&tld)
            && self.host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-'))
            || is_ip(&self.host)
    }

    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// This machine or the local network.
    pub(crate) fn is_local(&self) -> bool {
        let h = self.host.as_str();
        h == "localhost"
            || h.starts_with("127.")
            || h == "0.0.0.0"
            || h.starts_with("192.168.")
            || h.starts_with("10.")
            || (16..=31).any(|n| h.starts_with(&format!("172.{n}.")))
            || h.ends_with(".local")
            || h.ends_with(".localhost")
            || h == "host.docker.internal"
            || h == "[" // an IPv6 literal: only local ones are written in skills
    }

    /// A documented installer that millions of people run.
    pub(crate) fn is_known_installer(&self) -> bool {
        !self.plain
            && (INSTALLERS.iter().any(|h| on_host(&self.host, h))
                || INSTALLER_PATHS.iter().any(|p| self.address.starts_with(p)))
    }

    /// Why the address should not be trusted; `None` if nothing speaks against it.
    pub(crate) fn doubt(&self) -> Option<Doubt> {
        if self.is_local() || self.is_placeholder() {
            return None;
        }
        let on = |list: &[&str]| list.iter().any(|h| on_host(&self.host, h));
        if is_ip(&self.host) {
            return Some(Doubt::RawAddress);
        }
        if on(&COLLECTORS) {
            return Some(Doubt::Collector);
        }
        if on(&PASTE_SITES) {
            return Some(Doubt::PasteSite);
        }
        if on(&SHORTENERS) {
            return Some(Doubt::Shortener);
        }
        if self.disguised || self.host.split('.').any(|part| part.starts_with("xn--")) {
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
        if says.iter().any(|word| self.host.contains(word)) {
            return Some(Doubt::SelfDeclared);
        }
        self.plain.then_some(Doubt::Plain)
    }

    /// Stands for whatever the reader puts in.
    pub(crate) fn is_placeholder(&self) -> bool {
        let h = self.host.as_str();
        h.starts_with('$')
            || h.starts_with('{')
            || h.starts_with("your")
            || h.starts_with("my-")
            || h == "host"
            || h == "..."
    }
}

fn on_host(host: &str, known: &str) -> bool {
    host == known || host.strip_suffix(known).is_some_and(|front| front.ends_with('.'))
}

/// Dotted, decimal or hexadecimal.
fn is_ip(host: &str) -> bool {
    let parts: Vec<&str> = host.split('.').collect();
    let dotted = parts.len() == 4 && parts.iter().all(|p| p.parse::<u8>().is_ok());
    let number = host.len() >= 8 && host.bytes().all(|b| b.is_ascii_digit());
    dotted || number || (host.starts_with("0x") && host.len() == 10)
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
            ("https://$HOST/x", None),
            ("http://example.com", Some(Doubt::Plain)),
            ("https://203.0.113.9/x", Some(Doubt::RawAddress)),
            ("https://0x7f000001/x", Some(Doubt::RawAddress)),
            ("https://pastebin.com/raw/a", Some(Doubt::PasteSite)),
            ("https://abc.ngrok-free.app", Some(Doubt::Collector)),
            ("https://bit.ly/a", Some(Doubt::Shortener)),
            ("https://github.com@other.example/x", Some(Doubt::Disguised)),
            ("https://notpastebin.com/x", None),
            ("curl tools.example.com", Some(Doubt::Plain)),
        ] {
            assert_eq!(urls(text).first().and_then(Url::doubt), doubt, "{text}");
        }
    }

    #[test]
    fn knows_installers_by_host_not_by_looks() {
        let known = |text: &str| urls(text)[0].is_known_installer();
        assert!(known("https://astral.sh/uv/install.sh"));
        assert!(known("https://raw.githubusercontent.com/nvm-sh/nvm/v1/install.sh"));
        assert!(!known("http://astral.sh/uv/install.sh"));
        assert!(!known("https://astral.sh.example.com/install.sh"));
        assert!(!known("https://raw.githubusercontent.com/nvm-shx/nvm/v1/install.sh"));
    }
}
