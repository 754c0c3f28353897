//! How far the host of an address is to be trusted, and which keys belong to it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::documents::MIN_VENDOR;
use super::{Judge, short};
use crate::screen::code::effect::Effect;
use crate::screen::code::value::{HOLE, Mark};
use crate::screen::known_hosts::{is_code_host, on_host};
use crate::screen::url::{Doubt, Url, urls};

/// How far a host is to be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Local,
    /// The address is not constant.
    Open,
    /// The documents name it.
    Named,
    /// Nothing names it.
    Stranger,
    /// It is a bare address, an unencrypted stranger, and the like.
    Weak(Doubt),
    /// A drop, a tunnel, or a name that says what it is for.
    Bad(Doubt),
}

/// Domains where anyone can have a part.
const SHARED: [&str; 24] = [
    "github.io",
    "vercel.app",
    "onrender.com",
    "workers.dev",
    "netlify.app",
    "herokuapp.com",
    "pages.dev",
    "web.app",
    "fly.dev",
    "railway.app",
    "amazonaws.com",
    "glitch.me",
    "replit.app",
    "supabase.co",
    "azurewebsites.net",
    "run.app",
    "deno.dev",
    "cloudflarestorage.com",
    "windows.net",
    "digitaloceanspaces.com",
    "backblazeb2.com",
    "firebaseio.com",
    "myshopify.com",
    "cloudfunctions.net",
];

/// The addresses in each text, found once: many effects have the same target.
#[derive(Default)]
pub(crate) struct Addresses(RefCell<HashMap<String, Rc<[Url]>>>);

impl Addresses {
    pub(crate) fn of(&self, text: &str) -> Rc<[Url]> {
        let known = self.0.borrow().get(text).map(Rc::clone);
        known.unwrap_or_else(|| {
            let found: Rc<[Url]> = urls(text).into();
            self.0.borrow_mut().insert(text.to_owned(), Rc::clone(&found));
            found
        })
    }
}

impl Judge<'_> {
    /// How far the host of a target is to be trusted; found once, as many effects have the same target.
    pub(super) fn standing(&self, effect: &Effect, target: &str) -> Standing {
        let in_document = self.in_document(effect);
        let known = if in_document { &self.standings_shown } else { &self.standings };
        if let Some(standing) = known.borrow().get(target) {
            return *standing;
        }
        let standing = self.standing_of(target, in_document);
        known.borrow_mut().insert(target.to_owned(), standing);
        standing
    }

    fn standing_of(&self, target: &str, in_document: bool) -> Standing {
        let domain = constant_domain(target);
        let found = self.addresses.of(domain.as_deref().unwrap_or(target));
        let Some(url) = found.first() else { return Standing::Open };
        // A part of a cloud that is someone's own: whose, only the user knows.
        if domain.is_some() && SHARED.iter().any(|shared| on_host(url.host(), shared)) {
            return Standing::Open;
        }
        if url.host().contains(HOLE) || url.is_placeholder() || url.host().starts_with("example.") {
            return Standing::Open;
        }
        if url.is_local() {
            return Standing::Local;
        }
        let named = in_document || self.names(url);
        match url.doubt() {
            Some(Doubt::Plain) if named => Standing::Named,
            Some(doubt @ (Doubt::Plain | Doubt::RawAddress | Doubt::Shortener)) => {
                Standing::Weak(doubt)
            }
            Some(doubt) => Standing::Bad(doubt),
            None if named => Standing::Named,
            None => Standing::Stranger,
        }
    }

    /// Whether the documents name the host, or the domain it belongs to.
    fn names(&self, url: &Url) -> bool {
        let host = url.host();
        if let Some(known) = self.named.borrow().get(host) {
            return *known;
        }
        let named = self.names_host(host);
        self.named.borrow_mut().insert(host.to_owned(), named);
        named
    }

    fn names_host(&self, host: &str) -> bool {
        let labels: Vec<&str> = host.rsplit('.').take(2).collect();
        let domain = match labels.as_slice() {
            [top, name] => format!("{name}.{top}"),
            _ => host.to_owned(),
        };
        // Anyone can have a page there, so the whole name counts.
        let shared = SHARED.contains(&domain.as_str());
        let wanted = if shared { host } else { domain.as_str() };
        let vendor = domain.split('.').next().unwrap_or_default();
        self.documents.name_host(wanted)
            || vendor.len() >= MIN_VENDOR && !shared && self.documents.name_vendor(vendor)
            || is_code_host(host)
    }

    /// Where something goes, for people.
    pub(super) fn whereto(&self, standing: Standing, target: &str) -> String {
        if let Some((known, to)) = self.destinations.borrow().get(target)
            && *known == standing
        {
            return to.clone();
        }
        let domain = constant_domain(target);
        let found = self.addresses.of(domain.as_deref().unwrap_or(target));
        let to = match (standing, found.first().map(Url::host)) {
            (Standing::Bad(doubt) | Standing::Weak(doubt), Some(host)) => {
                format!("{} ({})", short(host), doubt.reason())
            }
            (_, Some(host)) if !host.contains(HOLE) => short(host),
            _ => "another machine".to_owned(),
        };
        self.destinations.borrow_mut().insert(target.to_owned(), (standing, to.clone()));
        to
    }

    /// A key that goes to the service it is for.
    pub(super) fn belongs(&self, mark: &Mark, target: &str) -> bool {
        let domain = constant_domain(target);
        let found = self.addresses.of(domain.as_deref().unwrap_or(target));
        belongs(mark, found.first().map(Url::host).unwrap_or_default())
    }
}

/// The domain at the end of a host whose first labels are put together at run time, as an address.
fn constant_domain(target: &str) -> Option<String> {
    if !target.contains(HOLE) {
        return None;
    }
    for word in target.split([' ', '"', '\'']).take(16) {
        let (scheme, rest) = word.split_once("://").unwrap_or(("https", word));
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = authority.rsplit('@').next().unwrap_or_default();
        let host = host.split(':').next().unwrap_or_default();
        let Some((_, after)) = host.rsplit_once(HOLE) else { continue };
        let domain = after.strip_prefix('.').unwrap_or_default();
        let is_label =
            |l: &str| !l.is_empty() && l.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        if domain.contains('.') && domain.split('.').all(is_label) {
            return Some(format!("{scheme}://{domain}"));
        }
    }
    None
}

fn belongs(mark: &Mark, host: &str) -> bool {
    let generic = [
        "api",
        "key",
        "token",
        "secret",
        "access",
        "auth",
        "bot",
        "password",
        "client",
        "app",
        "url",
        "database",
        "private",
        "bearer",
        "user",
        "personal",
        "service",
        "the",
        "credentials",
        "keys",
        "id",
    ];
    let words = mark.detail.split(|c: char| !c.is_ascii_alphanumeric());
    words
        .map(str::to_ascii_lowercase)
        .filter(|word| word.len() >= 3 && !generic.contains(&word.as_str()))
        .any(|word| host.contains(&word) || aliases(&word).iter().any(|alias| host.contains(alias)))
}

/// Services whose hosts are called otherwise.
fn aliases(word: &str) -> &'static [&'static str] {
    match word {
        "google" | "gemini" | "gcp" | "firebase" | "youtube" | "gmail" => &["googleapis", "google"],
        "aws" => &["amazonaws", "aws"],
        "azure" => &["microsoft", "windows.net", "azure"],
        "claude" | "anthropic" => &["anthropic"],
        "twitter" => &["x.com", "twitter"],
        "jira" | "confluence" => &["atlassian"],
        "hugging" | "huggingface" => &["huggingface", "hf.co"],
        "github" => &["github"],
        "lark" | "feishu" => &["feishu", "larksuite"],
        _ => &[],
    }
}
