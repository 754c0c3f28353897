//! What leaves the machine: secrets, files, facts.

use std::collections::{BTreeMap, BTreeSet};

use super::hosts::Standing;
use super::{Judge, short};
use crate::screen::code::effect::{Act, Effect};
use crate::screen::code::machine::{FORM_INPUT, REQUEST_INPUT};
use crate::screen::code::places::{DOTENV, is_personal};
use crate::screen::code::value::{HOLE, Mark, Marks, Origin};
use crate::screen::url::Doubt;
use crate::screen::verdict::Verdict;

impl Judge<'_> {
    /// Something leaves the machine.
    pub(super) fn way_out(&mut self, effect: &Effect) {
        let mut standing = self.standing(effect, &effect.target);
        if standing == Standing::Local {
            return;
        }
        // A known vendor's key that goes to the vendor says whose host it is.
        let vendor = |m: &Mark| {
            let owner = m.detail.split('_').next().unwrap_or_default().to_ascii_lowercase();
            m.origin == Origin::SecretVariable
                && (is_prized(&m.detail) || owner.len() >= 5 && self.documents.name_vendor(&owner))
                && self.belongs(m, &effect.target)
        };
        if standing == Standing::Stranger && effect.proof.iter().any(vendor) {
            standing = Standing::Named;
        }
        let to = self.whereto(standing, &effect.target);
        if let Some((verdict, what)) = self.secret_sent(effect, standing) {
            let rule = "secret-exfiltration";
            return self.add(effect, rule, verdict, format!("Sends {what} to {to}."));
        }
        if self.own_destination(effect) {
            return;
        }
        let has = |origin: &Origin| effect.marks.has(origin);
        let program_like = !self.in_document(effect);
        match standing {
            Standing::Bad(Doubt::PasteSite) if has(&Origin::Files) => {
                let message = format!("Sends local data to {to}.");
                self.add(effect, "data-upload", Verdict::NeedsReview, message);
            }
            Standing::Bad(_) if has(&Origin::Files) || has(&Origin::HostFacts) => {
                self.add(
                    effect,
                    "data-upload",
                    Verdict::Reject,
                    format!("Sends local data to {to}."),
                );
            }
            Standing::Bad(Doubt::SelfDeclared) if program_like => {
                self.add(effect, "data-upload", Verdict::Reject, format!("Contacts {to}."));
            }
            Standing::Bad(_) => {
                self.add(effect, "data-upload", Verdict::NeedsReview, format!("Contacts {to}."));
            }
            Standing::Weak(Doubt::RawAddress) if effect.target.contains("169.254.169.254") => {
                let message = "Asks the cloud's metadata service for credentials.".into();
                self.add(effect, "secret-exfiltration", Verdict::NeedsReview, message);
            }
            Standing::Stranger | Standing::Weak(_)
                if program_like && effect.target.starts_with("git push ") =>
            {
                let message = format!("Pushes the repository to {to}.");
                self.add(effect, "data-upload", Verdict::Reject, message);
            }
            Standing::Weak(doubt)
                if has(&Origin::Files) || has(&Origin::HostFacts) || doubt == Doubt::RawAddress =>
            {
                self.add(
                    effect,
                    "data-upload",
                    Verdict::NeedsReview,
                    format!("Sends data to {to}."),
                );
            }
            Standing::Stranger
                if program_like
                    && (has(&Origin::Files) && sends_files(effect) || has(&Origin::HostFacts)) =>
            {
                let message =
                    format!("Sends local data to {to}, which the skill's text does not name.");
                let personal = effect
                    .marks
                    .iter()
                    .any(|m| m.origin == Origin::Files && is_personal(&m.detail));
                let verdict = if personal { Verdict::Reject } else { Verdict::NeedsReview };
                self.add(effect, "data-upload", verdict, message);
            }
            Standing::Stranger | Standing::Weak(_) if program_like && sends_input(effect) => {
                let message = format!(
                    "Sends what visitors type to {to}, which the skill's text does not name."
                );
                self.add(effect, "data-upload", Verdict::NeedsReview, message);
            }
            Standing::Open
                if effect.act == Act::Lookup
                    && secrets(&effect.marks).next().is_some()
                    && effect.target.contains(HOLE)
                    && effect.target.contains('.') =>
            {
                self.add(
                    effect,
                    "secret-exfiltration",
                    Verdict::Reject,
                    "Sends data out in DNS lookups.".into(),
                );
            }
            Standing::Stranger | Standing::Named | Standing::Open
                if effect.act == Act::Copy
                    && effect.target.starts_with("git ")
                    && program_like
                    && !(standing == Standing::Open && self.is_told("mirror")) =>
            {
                let message =
                    format!("Sends the repository elsewhere (`{}`).", short(&effect.target));
                self.add(effect, "data-upload", Verdict::NeedsReview, message);
            }
            Standing::Stranger if self.documents.claim_offline() && program_like => {
                let message =
                    format!("Contacts {to}, but the skill says it does not use the network.");
                self.add(effect, "undeclared-network", Verdict::NeedsReview, message);
            }
            _ => {}
        }
    }

    /// Whether a secret leaves for a place where it does not belong.
    fn secret_sent(&self, effect: &Effect, standing: Standing) -> Option<(Verdict, String)> {
        let foreign = |mark: &&Mark| !self.belongs(mark, &effect.target);
        let data: Vec<&Mark> = secrets(&effect.marks).filter(foreign).collect();
        let proof: Vec<&Mark> = secrets(&effect.proof).filter(foreign).collect();
        let mut kinds: Vec<&str> = data.iter().map(|mark| kind(mark)).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let unnamed = matches!(standing, Standing::Stranger | Standing::Weak(_));
        let variables = data.iter().filter(|m| m.origin == Origin::SecretVariable).count();
        let describe = |mark: &Mark| match mark.origin {
            Origin::SecretVariable => format!("the variable {}", mark.detail),
            Origin::Environment => "all environment variables".to_owned(),
            _ => short(&mark.detail),
        };
        for mark in &data {
            let verdict = match (&mark.origin, standing) {
                (_, Standing::Bad(_)) => Some(Verdict::Reject),
                // Several kinds of secrets are a collection, whatever each of them is.
                _ if unnamed && kinds.len() >= 2 => Some(Verdict::Reject),
                (Origin::SecretFile, _) if unnamed && is_login(mark) => Some(Verdict::Reject),
                (Origin::Typed, _) if unnamed => Some(Verdict::Reject),
                (Origin::Page, Standing::Named | Standing::Open) => Some(Verdict::NeedsReview),
                (Origin::Environment, Standing::Open) => Some(Verdict::NeedsReview),
                (Origin::Environment, _) => Some(Verdict::Reject),
                (Origin::SecretFile, _) if is_weak(mark) => match standing {
                    Standing::Stranger | Standing::Weak(_) => Some(Verdict::NeedsReview),
                    _ => None,
                },
                (Origin::SecretFile | Origin::Page | Origin::Screen, _) => Some(Verdict::Reject),
                (
                    Origin::Credential | Origin::Clipboard | Origin::Conversation,
                    Standing::Stranger | Standing::Weak(_),
                ) => Some(Verdict::Reject),
                (
                    Origin::Credential | Origin::Clipboard | Origin::Conversation,
                    Standing::Named,
                ) => Some(Verdict::NeedsReview),
                (Origin::SecretVariable, Standing::Stranger | Standing::Weak(_))
                    if variables >= 3 =>
                {
                    Some(Verdict::Reject)
                }
                (Origin::SecretVariable, Standing::Stranger | Standing::Weak(_))
                    if variables >= 2 || is_prized(&mark.detail) =>
                {
                    Some(Verdict::NeedsReview)
                }
                (Origin::SecretVariable, Standing::Named) if variables >= 4 => {
                    Some(Verdict::NeedsReview)
                }
                _ => None,
            };
            if let Some(verdict) = verdict {
                return Some((verdict, describe(mark)));
            }
        }
        let mark = proof.first()?;
        match standing {
            Standing::Bad(_) => Some((Verdict::Reject, describe(mark))),
            // What another program keeps for its own service proves nothing here.
            Standing::Stranger | Standing::Weak(_)
                if proof.iter().any(|m| m.origin == Origin::Credential) =>
            {
                Some((Verdict::Reject, describe(mark)))
            }
            Standing::Weak(_) => Some((Verdict::NeedsReview, describe(mark))),
            _ => None,
        }
    }

    /// Secrets that are collected, whether or not they are seen to leave.
    pub(super) fn collections(&mut self, effects: &[Effect]) {
        self.collected_and_sent(effects);
        self.shared_logins(effects);
        let mut kinds: Vec<&str> = Vec::new();
        let mut first: Option<&Effect> = None;
        for effect in effects.iter().filter(|e| e.act == Act::ReadSecret && !self.in_document(e)) {
            let strong =
                effect.marks.iter().filter(|m| m.origin == Origin::SecretFile && !is_weak(m));
            for mark in strong {
                let kind = kind(mark);
                if !kinds.contains(&kind) {
                    kinds.push(kind);
                    first.get_or_insert(effect);
                }
            }
        }
        let grave = kinds.len() >= 2 || kinds.iter().any(|kind| PRIVATE.contains(kind));
        if let Some(effect) = first.filter(|_| grave) {
            let message = format!("Reads {}.", kinds.join(", "));
            self.add(effect, "secret-access", Verdict::NeedsReview, message);
        }
    }
}

impl Judge<'_> {
    /// A key that proves who calls at one host is handed to another that the skill does not name.
    fn shared_logins(&mut self, effects: &[Effect]) {
        let host = |e: &Effect| self.whereto(Standing::Stranger, &e.target);
        let mut users: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for effect in effects.iter().filter(|e| e.act == Act::Http) {
            if effect.proof.iter().next().is_none() {
                continue;
            }
            let domain = registered(&host(effect)).to_owned();
            for mark in effect.proof.iter() {
                users.entry(&mark.detail).or_default().insert(domain.clone());
            }
        }
        let mut found = Vec::new();
        for sent in effects.iter().filter(|e| e.act == Act::Http && !self.in_document(e)) {
            let standing = self.standing(sent, &sent.target);
            if !matches!(standing, Standing::Stranger | Standing::Weak(_)) {
                continue;
            }
            let own = host(sent);
            let domain = registered(&own);
            let leaks = |mark: &&Mark| {
                mark.origin == Origin::SecretVariable
                    && users.get(&*mark.detail).is_some_and(|u| u.iter().any(|u| u != domain))
                    && !self.belongs(mark, &sent.target)
            };
            if let Some(mark) = sent.marks.iter().find(leaks) {
                let message = format!("Sends the key {} of another service to {own}.", mark.detail);
                found.push((sent, message));
            }
        }
        for (effect, message) in found {
            self.add(effect, "secret-exfiltration", Verdict::NeedsReview, message);
        }
    }

    /// Whether an effect is of a program that was read without a grammar: not every value is followed.
    fn is_loose(&self, effect: &Effect) -> bool {
        let program = self.programs.get(effect.file);
        program.is_some_and(|program| program.language.is_loose())
    }

    /// A program names places of secrets and sends what it read from files to a host that the skill
    /// does not name: how the one came to the other need not be seen.
    fn collected_and_sent(&mut self, effects: &[Effect]) {
        let sends = |e: &&Effect| {
            matches!(e.act, Act::Http | Act::Connect | Act::Mail | Act::Copy | Act::Lookup)
                && !self.in_document(e)
                && (e.marks.has(&Origin::Files)
                    || secrets(&e.marks).next().is_some()
                    || self.is_loose(e))
        };
        let mut named: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
        for effect in effects.iter().filter(|e| matches!(e.act, Act::NameSecret | Act::ReadSecret))
        {
            let kinds = named.entry(effect.file).or_default();
            let of_marks = effect.marks.iter().filter(|m| m.origin == Origin::SecretFile);
            let target = (effect.act == Act::NameSecret).then_some(&*effect.target);
            for kind in of_marks.map(kind).chain(target).filter(|kind| !WEAK.contains(kind)) {
                if !kinds.contains(&kind) {
                    kinds.push(kind);
                }
            }
        }
        let mut grave = Vec::new();
        for sent in effects.iter().filter(sends) {
            let standing = self.standing(sent, &sent.target);
            if !matches!(standing, Standing::Stranger | Standing::Weak(_) | Standing::Bad(_)) {
                continue;
            }
            let Some(kinds) = named.get(&sent.file) else { continue };
            let private = |kind: &&str| PRIVATE.contains(kind) || *kind == "messages";
            if kinds.len() >= 2 || kinds.iter().any(private) {
                let to = self.whereto(standing, &sent.target);
                grave.push((
                    sent,
                    format!("Collects {} and sends files to {to}.", kinds.join(", ")),
                ));
            }
        }
        for (effect, message) in grave {
            self.add(effect, "secret-exfiltration", Verdict::Reject, message);
        }
    }
}

/// What belongs to a person, and what no program needs for its own work.
const PRIVATE: [&str; 9] = [
    "SSH keys",
    "a wallet",
    "saved passwords of a browser",
    "cookies of a browser",
    "data of a browser",
    "password hashes",
    "the keychain",
    "GnuPG keys",
    "the password store",
];

/// The kind of secret that a mark is about.
fn kind(mark: &Mark) -> &str {
    match mark.origin {
        Origin::SecretVariable => "variables",
        Origin::Environment => "all variables",
        _ => mark.detail.split(" (").next().unwrap_or_default(),
    }
}

/// Logins that a program for something else has no use for.
fn is_login(mark: &Mark) -> bool {
    ["credentials of an agent", "npm credentials", "git credentials"].contains(&kind(mark))
}

fn secrets(marks: &Marks) -> impl Iterator<Item = &Mark> {
    marks.iter().filter(|mark| mark.origin.is_secret())
}

/// Keys of services that are worth stealing.
fn is_prized(variable: &str) -> bool {
    let upper = variable.to_ascii_uppercase();
    [
        "AWS",
        "OPENAI",
        "ANTHROPIC",
        "GITHUB",
        "GH_TOKEN",
        "GITLAB",
        "STRIPE",
        "SLACK",
        "DATABASE_URL",
        "PRIVATE_KEY",
        "MNEMONIC",
        "SEED",
        "WALLET",
        "NPM_TOKEN",
        "HF_TOKEN",
        "GOOGLE",
        "AZURE",
        "TELEGRAM",
        "DISCORD",
        "CLOUDFLARE",
        "SSH",
        "PASSWORD",
        // Those of a workflow.
        "SECRETS_",
    ]
    .iter()
    .any(|part| upper.contains(part))
}

/// Files that a program may well read for its own settings.
fn is_weak(mark: &Mark) -> bool {
    WEAK.contains(&kind(mark))
}

const WEAK: [&str; 7] = [
    DOTENV,
    ".env",
    "credentials",
    "credentials of an agent",
    "npm credentials",
    "git credentials",
    "the list of users",
];

/// A file's own bytes are sent, and not only something read from a configuration.
fn sends_files(effect: &Effect) -> bool {
    let configuration = |m: &Mark| {
        m.origin == Origin::Files
            && [".json", ".toml", ".yaml", ".yml", ".ini", ".cfg", ".conf", "config"]
                .iter()
                .any(|e| m.detail.ends_with(e))
    };
    effect.marks.iter().any(|m| m.origin == Origin::Files && !configuration(m))
}

/// What the visitors of a page type or send is handed on.
fn sends_input(effect: &Effect) -> bool {
    effect.marks.iter().any(|m| {
        m.origin == Origin::Fetched && [REQUEST_INPUT, FORM_INPUT].contains(&m.detail.as_str())
    })
}

/// The registered name of a host, as far as that can be told: its last two labels.
pub(super) fn registered(host: &str) -> &str {
    let before = host.rmatch_indices('.').nth(1).map_or(0, |(at, _)| at + 1);
    host.get(before..).unwrap_or(host)
}
