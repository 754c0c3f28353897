//! What effects mean: the one place in which sources, ways out and hosts are weighed, for all languages.

use super::effect::{Act, Effect};
use super::machine::{Program, ProgramKind};
use super::places::{DOTENV, is_agent_file, starts_on_its_own};
use super::value::{HOLE, Mark, Marks, Origin};
use crate::screen::known_hosts::is_code_host;
use crate::screen::url::{Doubt, Url, urls};
use crate::screen::verdict::Verdict;

/// A finding on its way: where, how grave, what.
#[derive(Debug)]
pub(crate) struct Judgement {
    pub(crate) rule: &'static str,
    pub(crate) verdict: Verdict,
    pub(crate) program: usize,
    pub(crate) line: u32,
    pub(crate) message: String,
}

/// What the documents of a skill say, in lower case.
pub(crate) struct Documents<'a> {
    pub(crate) text: &'a str,
    /// They say that nothing leaves the machine.
    pub(crate) claims_offline: bool,
}

impl<'a> Documents<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let claims = [
            "works offline",
            "fully offline",
            "completely offline",
            "no network access",
            "no network calls",
            "no data leaves",
            "nothing leaves your",
            "never leaves your",
            "never sends",
            "doesn't send",
            "does not send",
            "100% local",
            "runs entirely locally",
            "without network access",
            "no external requests",
            "no internet",
        ];
        Self { text, claims_offline: claims.iter().any(|claim| text.contains(claim)) }
    }
}

/// How far a host is to be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
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

/// Judges everything that programs do.
pub(crate) fn judge(
    effects: &[Effect],
    programs: &[Program],
    documents: &Documents<'_>,
) -> Vec<Judgement> {
    let mut judge = Judge { programs, documents, found: Vec::new() };
    for effect in effects {
        judge.effect(effect);
    }
    judge.collections(effects);
    judge.found
}

struct Judge<'a> {
    programs: &'a [Program],
    documents: &'a Documents<'a>,
    found: Vec<Judgement>,
}

impl Judge<'_> {
    fn add(&mut self, effect: &Effect, rule: &'static str, verdict: Verdict, message: String) {
        let Effect { file, line, .. } = *effect;
        self.found.push(Judgement { rule, verdict, program: file, line, message });
    }

    /// Whether an effect stands in a document, where the commands are for the reader to see.
    fn in_document(&self, effect: &Effect) -> bool {
        self.programs.get(effect.file).is_some_and(|program| program.kind == ProgramKind::Fence)
    }

    fn standing(&self, effect: &Effect, target: &str) -> Standing {
        let found = urls(target);
        let Some(url) = found.first() else { return Standing::Open };
        if url.host().contains(HOLE) || url.is_placeholder() || url.host().starts_with("example.") {
            return Standing::Open;
        }
        if url.is_local() {
            return Standing::Local;
        }
        let named = self.in_document(effect) || self.names(url);
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
        let labels: Vec<&str> = host.rsplit('.').take(2).collect();
        let domain = match labels.as_slice() {
            [top, name] => format!("{name}.{top}"),
            _ => host.to_owned(),
        };
        // Anyone can have a page there, so the whole name counts.
        let shared = [
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
        ];
        let wanted = if shared.contains(&domain.as_str()) { host } else { domain.as_str() };
        let vendor = domain.split('.').next().unwrap_or_default();
        self.documents.text.contains(wanted)
            || vendor.len() >= 5
                && !shared.contains(&domain.as_str())
                && self.documents.text.contains(vendor)
            || is_code_host(host)
    }

    fn effect(&mut self, effect: &Effect) {
        match effect.act {
            Act::Http | Act::Connect | Act::Mail | Act::Copy | Act::Lookup => self.way_out(effect),
            Act::Evaluate => self.evaluated(effect),
            Act::Disguise => self.disguised(effect),
            Act::RemoteShell => self.add(
                effect,
                "reverse-shell",
                Verdict::Reject,
                "Gives another machine a shell.".into(),
            ),
            Act::Persist => self.persisted(effect),
            Act::Write => self.written(effect),
            Act::Delete => self.deleted(effect),
            Act::Lower => {
                let message =
                    format!("Lowers a defence or removes traces ({}).", short(&effect.target));
                self.add(effect, "lowered-defences", Verdict::NeedsReview, message);
            }
            Act::AskPassword => self.add(
                effect,
                "password-prompt",
                Verdict::Reject,
                "Asks the user for a password.".into(),
            ),
            Act::Flood => self.add(
                effect,
                "request-flood",
                Verdict::NeedsReview,
                "Sends requests without end.".into(),
            ),
            Act::LoadRemote => self.loaded(effect),
            Act::Install => self.installed(effect),
            Act::Clip | Act::Program | Act::ReadSecret | Act::Listen => {}
        }
    }

    /// Something leaves the machine.
    fn way_out(&mut self, effect: &Effect) {
        let standing = self.standing(effect, &effect.target);
        if standing == Standing::Local {
            return;
        }
        let to = whereto(standing, &effect.target);
        if let Some((verdict, what)) = self.secret_sent(effect, standing) {
            let rule = "secret-exfiltration";
            return self.add(effect, rule, verdict, format!("Sends {what} to {to}."));
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
                if effect.act == Act::Copy && effect.target.starts_with("git ") && program_like =>
            {
                let message =
                    format!("Sends the repository elsewhere (`{}`).", short(&effect.target));
                self.add(effect, "data-upload", Verdict::NeedsReview, message);
            }
            Standing::Stranger if self.documents.claims_offline && program_like => {
                let message =
                    format!("Contacts {to}, but the skill says it does not use the network.");
                self.add(effect, "undeclared-network", Verdict::NeedsReview, message);
            }
            _ => {}
        }
    }

    /// Whether a secret leaves for a place where it does not belong.
    fn secret_sent(&self, effect: &Effect, standing: Standing) -> Option<(Verdict, String)> {
        let foreign = |mark: &&Mark| !belongs(mark, &effect.target);
        let data: Vec<&Mark> = secrets(&effect.marks).filter(foreign).collect();
        let proof: Vec<&Mark> = secrets(&effect.proof).filter(foreign).collect();
        let variables = data.iter().filter(|m| m.origin == Origin::SecretVariable).count();
        let describe = |mark: &Mark| match mark.origin {
            Origin::SecretVariable => format!("the variable {}", mark.detail),
            Origin::Environment => "all environment variables".to_owned(),
            _ => short(&mark.detail),
        };
        for mark in &data {
            let verdict = match (&mark.origin, standing) {
                (_, Standing::Bad(_)) => Some(Verdict::Reject),
                (Origin::Environment, Standing::Open) => Some(Verdict::NeedsReview),
                (Origin::Environment, _) => Some(Verdict::Reject),
                (Origin::SecretFile, _) if is_weak(mark) => match standing {
                    Standing::Stranger | Standing::Weak(_) => Some(Verdict::NeedsReview),
                    _ => None,
                },
                (Origin::SecretFile | Origin::Page | Origin::Screen, _) => Some(Verdict::Reject),
                (
                    Origin::Credential | Origin::Clipboard,
                    Standing::Stranger | Standing::Weak(_),
                ) => Some(Verdict::Reject),
                (Origin::Credential | Origin::Clipboard, Standing::Named) => {
                    Some(Verdict::NeedsReview)
                }
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
            Standing::Weak(_) => Some((Verdict::NeedsReview, describe(mark))),
            _ => None,
        }
    }

    /// Code that came from elsewhere runs.
    fn evaluated(&mut self, effect: &Effect) {
        let fetched: Vec<&Mark> =
            effect.marks.iter().filter(|m| m.origin == Origin::Fetched).collect();
        if fetched.is_empty() {
            let message = "Runs code that it decodes first.".into();
            return self.add(effect, "decode-and-run", Verdict::NeedsReview, message);
        }
        for mark in fetched {
            let known = urls(&mark.detail);
            if !known.is_empty() && known.iter().all(Url::is_known_installer) {
                continue;
            }
            let standing = self.standing(effect, &mark.detail);
            let verdict = match standing {
                Standing::Local => continue,
                Standing::Bad(_) | Standing::Weak(_) => Verdict::Reject,
                Standing::Stranger => Verdict::Reject,
                Standing::Named | Standing::Open => Verdict::NeedsReview,
            };
            let message = format!("Runs code downloaded from {}.", whereto(standing, &mark.detail));
            return self.add(effect, "pipe-to-shell", verdict, message);
        }
    }

    fn disguised(&mut self, effect: &Effect) {
        let text = effect.target.trim();
        // A word that happens to be encoded is no program.
        let active = text.len() >= 3
            && text.chars().all(|c| !c.is_control() || c.is_whitespace())
            && (text.contains([' ', '/', '(', '.', '_']) || KNOWN_CODE.contains(&text));
        if active {
            let message = format!("Hides code behind an encoding and runs it (`{}`).", short(text));
            self.add(effect, "decode-and-run", Verdict::Reject, message);
        } else {
            let message = "Hides a name behind an encoding and uses it.".into();
            self.add(effect, "decode-and-run", Verdict::NeedsReview, message);
        }
    }

    fn persisted(&mut self, effect: &Effect) {
        let (path, content) = effect.target.split_once(": ").unwrap_or(("", &effect.target));
        let lower = content.to_ascii_lowercase();
        let active = [
            "curl ", "wget ", "base64", "/dev/tcp", "| sh", "|sh", "| bash", "|bash", "iex", "nc ",
        ];
        let foreign = effect.marks.has(&Origin::Fetched) || effect.marks.has(&Origin::Decoded);
        let door = ["authorized_keys", "/etc/sudoers", "ld.so.preload"]
            .iter()
            .any(|p| effect.target.contains(p));
        let what = starts_on_its_own(path).unwrap_or("job");
        let harmless = what == "shell start-up file"
            && (content.is_empty()
                || ["export ", "alias ", "path", "source ", "eval \"$(", "completion", "#", "\n"]
                    .iter()
                    .any(|w| lower.contains(w)))
            && !active.iter().any(|w| lower.contains(w));
        if door || foreign || active.iter().any(|w| lower.contains(w)) && !self.in_document(effect)
        {
            let message =
                format!("Makes a command run on its own ({what}: {}).", short(&effect.target));
            self.add(effect, "persistence", Verdict::Reject, message);
        } else if !harmless && !self.in_document(effect) {
            let message = format!(
                "Sets up something that runs on its own ({what}: {}).",
                short(&effect.target)
            );
            self.add(effect, "persistence", Verdict::NeedsReview, message);
        }
    }

    fn written(&mut self, effect: &Effect) {
        let (path, content) = effect.target.split_once(": ").unwrap_or((&effect.target, ""));
        if !is_agent_file(path) || self.in_document(effect) {
            return;
        }
        let lower = content.to_ascii_lowercase();
        let orders = [
            "ignore ",
            "you are now",
            "override",
            "do not tell",
            "never mention",
            "curl ",
            "http://",
            "https://",
        ];
        let grave = effect.marks.has(&Origin::Fetched) || orders.iter().any(|o| lower.contains(o));
        let verdict = if grave { Verdict::Reject } else { Verdict::NeedsReview };
        let message = format!("Writes a file that agents follow ({}).", short(path));
        self.add(effect, "agent-files", verdict, message);
    }

    fn deleted(&mut self, effect: &Effect) {
        let listed = effect.target.starts_with("find ");
        if listed && self.in_document(effect) {
            return;
        }
        let verdict = if listed { Verdict::NeedsReview } else { Verdict::Reject };
        let message = format!("Deletes files outside the skill ({}).", short(&effect.target));
        self.add(effect, "destructive-command", verdict, message);
    }

    fn loaded(&mut self, effect: &Effect) {
        let standing = self.standing(effect, &effect.target);
        let verdict = match standing {
            Standing::Bad(_) | Standing::Weak(_) => Verdict::Reject,
            Standing::Stranger => Verdict::NeedsReview,
            _ => return,
        };
        let message = format!("Loads code from {}.", whereto(standing, &effect.target));
        self.add(effect, "pipe-to-shell", verdict, message);
    }

    fn installed(&mut self, effect: &Effect) {
        let lower = effect.target.to_ascii_lowercase();
        let index = ["--index-url", "--extra-index-url", "--registry", " -i http", "--source"];
        if index.iter().any(|option| lower.contains(option)) {
            let standing = self.standing(effect, &effect.target);
            if matches!(standing, Standing::Stranger | Standing::Weak(_) | Standing::Bad(_)) {
                let message =
                    format!("Installs packages from {}.", whereto(standing, &effect.target));
                self.add(effect, "package-source", Verdict::NeedsReview, message);
            }
        }
        let from_url = lower.contains("install http://") || lower.contains("install git+http://");
        if from_url {
            let message = "Installs a package over an unencrypted connection.".into();
            self.add(effect, "package-source", Verdict::NeedsReview, message);
        }
    }

    /// Secrets that are collected, whether or not they are seen to leave.
    fn collections(&mut self, effects: &[Effect]) {
        let mut kinds: Vec<&str> = Vec::new();
        let mut first: Option<&Effect> = None;
        for effect in effects.iter().filter(|e| e.act == Act::ReadSecret && !self.in_document(e)) {
            let strong =
                effect.marks.iter().filter(|m| m.origin == Origin::SecretFile && !is_weak(m));
            for mark in strong {
                let kind = mark.detail.split(" (").next().unwrap_or_default();
                if !kinds.contains(&kind) {
                    kinds.push(kind);
                    first.get_or_insert(effect);
                }
            }
        }
        let private = [
            "SSH keys",
            "a wallet",
            "saved passwords of a browser",
            "cookies of a browser",
            "password hashes",
            "the keychain",
            "GnuPG keys",
        ];
        let grave = kinds.len() >= 2 || kinds.iter().any(|kind| private.contains(kind));
        if let Some(effect) = first.filter(|_| grave) {
            let message = format!("Reads {}.", kinds.join(", "));
            self.add(effect, "secret-access", Verdict::NeedsReview, message);
        }
    }
}

/// Names that matter even without any punctuation.
const KNOWN_CODE: [&str; 18] = [
    "exec",
    "eval",
    "system",
    "popen",
    "execSync",
    "spawn",
    "child_process",
    "os",
    "subprocess",
    "curl",
    "wget",
    "bash",
    "socket",
    "requests",
    "http",
    "https",
    "fetch",
    "net",
];

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
    ]
    .iter()
    .any(|part| upper.contains(part))
}

/// Files that a program may well read for its own settings.
fn is_weak(mark: &Mark) -> bool {
    let kind = mark.detail.split(" (").next().unwrap_or_default();
    [DOTENV, ".env", "credentials", "credentials of an agent", "npm credentials", "git credentials"]
        .contains(&kind)
}

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

/// A key that goes to the service it is for.
fn belongs(mark: &Mark, target: &str) -> bool {
    let host = urls(target).first().map(|url| url.host().to_owned()).unwrap_or_default();
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

fn whereto(standing: Standing, target: &str) -> String {
    let host = urls(target).first().map(|url| url.host().to_owned());
    match (standing, host) {
        (Standing::Bad(doubt) | Standing::Weak(doubt), Some(host)) => {
            format!("{} ({})", short(&host), doubt.reason())
        }
        (_, Some(host)) if !host.contains(HOLE) => short(&host),
        _ => "another machine".to_owned(),
    }
}

fn short(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().replace(HOLE, "…");
    let line: String = line.chars().take(80).collect();
    foreword::visible_line(&line)
}
