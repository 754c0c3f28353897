//! What effects mean: the one place in which sources, ways out and hosts are weighed, for all languages.

mod destinations;
mod documents;
mod hosts;
mod joined;
mod passwords;
mod started;
mod ways_out;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use super::calls::network::HIDDEN_ADDRESS;
use super::calls::processes::PICKLE;
use super::effect::{APPENDED, Act, Effect};
use super::machine::payments::is_payment_address;
pub(crate) use super::machine::payments::seeks_payment_addresses;
use super::machine::{FORM_INPUT, Program, ProgramKind, REQUEST_INPUT};
use super::places::{is_agent_file, starts_on_its_own};
use super::value::{HOLE, Mark, Origin};
use crate::screen::url::Url;
use crate::screen::verdict::Verdict;
pub(crate) use documents::Documents;
pub(crate) use hosts::Addresses;
use hosts::Standing;
pub(crate) use passwords::accepted_constant;
use started::starts_foreign_program;

/// A finding on its way: where, how grave, what.
#[derive(Debug)]
pub(crate) struct Judgement {
    pub(crate) rule: &'static str,
    pub(crate) verdict: Verdict,
    pub(crate) program: usize,
    pub(crate) line: u32,
    pub(crate) message: String,
}

/// Judges everything that programs do.
pub(crate) fn judge(
    effects: &[Effect],
    programs: &[Program],
    documents: &Documents,
    addresses: &Addresses,
    swappers: &[usize],
) -> Vec<Judgement> {
    let mut judge = Judge {
        programs,
        own_files: programs.iter().filter_map(|program| program.path.rsplit('/').next()).collect(),
        documents,
        addresses,
        swappers,
        standings: RefCell::default(),
        standings_shown: RefCell::default(),
        destinations: RefCell::default(),
        named: RefCell::default(),
        announced: HashMap::new(),
        found: Vec::new(),
    };
    for effect in effects {
        judge.effect(effect);
    }
    judge.collections(effects);
    judge.joined_shells(effects);
    judge.repositories(effects);
    judge.spreading(effects);
    judge.found
}

struct Judge<'a> {
    programs: &'a [Program],
    /// The names of the files that hold them.
    own_files: HashSet<&'a str>,
    documents: &'a Documents,
    addresses: &'a Addresses,
    /// Programs that look for addresses for payments.
    swappers: &'a [usize],
    /// How far the host of each target is to be trusted, for programs and for what documents show.
    standings: RefCell<HashMap<String, Standing>>,
    standings_shown: RefCell<HashMap<String, Standing>>,
    /// How each target was last told to people.
    destinations: RefCell<HashMap<String, (Standing, String)>>,
    /// Whether the documents name a host.
    named: RefCell<HashMap<String, bool>>,
    /// Whether the documents announce what starts on its own, by its kind.
    announced: HashMap<&'static str, bool>,
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
            Act::Replace => self.replaced(effect),
            Act::Relink => self.relinked(effect),
            Act::Clip => self.copied(effect),
            Act::Tunnel => self.tunnelled(effect),
            Act::Mine if !self.in_document(effect) => {
                let verdict = match self.documents.name_file("stratum") {
                    true => Verdict::NeedsReview,
                    false => Verdict::Reject,
                };
                let message = "Mines cryptocurrency on the user's machine.".into();
                self.add(effect, "crypto-mining", verdict, message);
            }
            Act::Account if !self.in_document(effect) && !self.is_told("account") => {
                let message =
                    format!("Makes an account with all rights (`{}`).", short(&effect.target));
                self.add(effect, "remote-access", Verdict::NeedsReview, message);
            }
            Act::Payee => self.payee(effect),
            Act::Wipe => self.wiped(effect),
            Act::Mine | Act::Account => {}
            Act::Program | Act::Shell | Act::ReadSecret | Act::NameSecret | Act::Listen => {}
        }
    }

    /// Code that came from elsewhere runs.
    fn evaluated(&mut self, effect: &Effect) {
        let fetched: Vec<&Mark> =
            effect.marks.iter().filter(|m| m.origin == Origin::Fetched).collect();
        if fetched.is_empty() {
            let verdict = if &*effect.target == PICKLE || self.in_document(effect) {
                Verdict::NeedsReview
            } else {
                Verdict::Reject
            };
            let message = "Runs code that it decodes first.".into();
            return self.add(effect, "decode-and-run", verdict, message);
        }
        if fetched.iter().any(|mark| mark.detail == REQUEST_INPUT) {
            let message = "Runs what a visitor of a page sends.".into();
            return self.add(effect, "reverse-shell", Verdict::Reject, message);
        }
        if fetched.iter().any(|mark| mark.detail == FORM_INPUT) {
            let message = "Runs what a request or a form holds.".into();
            return self.add(effect, "reverse-shell", Verdict::NeedsReview, message);
        }
        if fetched.iter().any(|mark| mark.detail == HIDDEN_ADDRESS) {
            let message = "Runs code downloaded from an address that it decodes first.".into();
            return self.add(effect, "pipe-to-shell", Verdict::Reject, message);
        }
        for mark in fetched {
            let known = self.addresses.of(&mark.detail);
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
            let message =
                format!("Runs code downloaded from {}.", self.whereto(standing, &mark.detail));
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
        // A job of its own has no path.
        let parts = effect.target.split_once(": ");
        let parts = parts.and_then(|(path, text)| Some((starts_on_its_own(path)?, text)));
        let (what, content) = parts.unwrap_or(("job", &effect.target));
        let lower = content.to_ascii_lowercase();
        let active = [
            "curl ",
            "wget ",
            "base64",
            "/dev/tcp",
            "| sh",
            "|sh",
            "| bash",
            "|bash",
            "iex",
            " nc ",
            "urlopen",
            "exec(",
            "downloadstring",
        ];
        let foreign = effect.marks.has(&Origin::Fetched) || effect.marks.has(&Origin::Decoded);
        // A key of its own lets the author in; one that the user names does not.
        let door = ["/etc/sudoers", "ld.so.preload"].iter().any(|p| effect.target.contains(p))
            || effect.target.contains("authorized_keys")
                && (foreign || ["ssh-", "ecdsa-", "sk-ssh"].iter().any(|k| content.contains(k)));
        let harmless = what == "shell start-up file"
            && (content.is_empty()
                || ["export ", "alias ", "path", "source ", "eval \"$(", "completion", "#", "\n"]
                    .iter()
                    .any(|w| lower.contains(w)))
            && !active.iter().any(|w| lower.contains(w))
            || what == "SSH settings" && !lower.contains("command");
        let reaches_out = foreign || active.iter().any(|w| lower.contains(w));
        let announced = door && what == "sudo rule" && !reaches_out && self.is_told(what);
        if door && !announced || reaches_out && !self.in_document(effect) {
            let message =
                format!("Makes a command run on its own ({what}: {}).", short(&effect.target));
            self.add(effect, "persistence", Verdict::Reject, message);
        } else if !harmless
            && !self.in_document(effect)
            && (announced || !self.is_announced(what, content))
        {
            let message = format!(
                "Sets up something that runs on its own ({what}: {}).",
                short(&effect.target)
            );
            self.add(effect, "persistence", Verdict::NeedsReview, message);
        }
    }

    /// Whether the skill says that it sets up something of this kind.
    fn is_told(&mut self, what: &'static str) -> bool {
        let documents = self.documents;
        *self.announced.entry(what).or_insert_with(|| documents.announce(what))
    }

    /// Whether the skill says that it sets this up, and only for a program of its own.
    fn is_announced(&mut self, what: &'static str, job: &str) -> bool {
        self.is_told(what) && !starts_foreign_program(job, &self.own_files)
    }

    fn written(&mut self, effect: &Effect) {
        let (path, content) = effect.target.split_once(": ").unwrap_or((&effect.target, ""));
        if path == APPENDED {
            let message = "Adds to the instructions of a skill.".into();
            return self.add(effect, "agent-files", Verdict::NeedsReview, message);
        }
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
            "bypasspermissions",
            "bash(*)",
            "skip confirmation",
        ];
        let grave = effect.marks.has(&Origin::Fetched) || orders.iter().any(|o| lower.contains(o));
        let name = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        if !grave && path.starts_with('.') && self.documents.name_file(&name) {
            // A file of the project that the skill names.
            return;
        }
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

    /// Something goes to the clipboard: an address for payments is there to replace another.
    fn copied(&mut self, effect: &Effect) {
        let swaps = self.swappers.contains(&effect.file);
        if !self.in_document(effect) && (swaps || effect.target.split(' ').any(is_payment_address))
        {
            let message = "Puts an address for payments into the clipboard.".into();
            self.add(effect, "clipboard-swap", Verdict::Reject, message);
        }
    }

    /// An address for payments takes the place of one that the user gave.
    fn payee(&mut self, effect: &Effect) {
        if self.in_document(effect) || self.documents.name_file(&effect.target.to_ascii_lowercase())
        {
            return;
        }
        let hidden = effect.marks.has(&Origin::Decoded) || self.swappers.contains(&effect.file);
        let verdict = if hidden { Verdict::Reject } else { Verdict::NeedsReview };
        let message = format!("Puts its own address for payments in ({}).", short(&effect.target));
        self.add(effect, "payment-address", verdict, message);
    }

    /// Another machine is let in.
    fn tunnelled(&mut self, effect: &Effect) {
        if self.in_document(effect) {
            return;
        }
        let login = ["localhost:22", "127.0.0.1:22", "setremotelogin", "tcp 22"];
        let grave = login.iter().any(|part| effect.target.contains(part));
        let verdict = if grave { Verdict::Reject } else { Verdict::NeedsReview };
        let message = format!("Lets another machine in (`{}`).", short(&effect.target));
        self.add(effect, "remote-access", verdict, message);
    }

    fn wiped(&mut self, effect: &Effect) {
        if self.in_document(effect) {
            return;
        }
        let backups = ["velero", "vssadmin", "wbadmin", "tmutil", "bcdedit"];
        let grave = backups.iter().any(|name| effect.target.starts_with(name));
        let verdict = if grave { Verdict::Reject } else { Verdict::NeedsReview };
        let message = format!("Deletes what lies elsewhere (`{}`).", short(&effect.target));
        self.add(effect, "destructive-command", verdict, message);
    }

    fn loaded(&mut self, effect: &Effect) {
        let standing = self.standing(effect, &effect.target);
        let verdict = match standing {
            Standing::Bad(_) | Standing::Weak(_) => Verdict::Reject,
            Standing::Stranger => Verdict::NeedsReview,
            _ => return,
        };
        let message = format!("Loads code from {}.", self.whereto(standing, &effect.target));
        self.add(effect, "pipe-to-shell", verdict, message);
    }

    fn installed(&mut self, effect: &Effect) {
        let lower = effect.target.to_ascii_lowercase();
        let index = ["--index-url", "--extra-index-url", "--registry", " -i http", "--source"];
        if index.iter().any(|option| lower.contains(option)) {
            let standing = self.standing(effect, &effect.target);
            if matches!(standing, Standing::Stranger | Standing::Weak(_) | Standing::Bad(_)) {
                let message =
                    format!("Installs packages from {}.", self.whereto(standing, &effect.target));
                let grave = !matches!(standing, Standing::Stranger) && !self.in_document(effect);
                let verdict = if grave { Verdict::Reject } else { Verdict::NeedsReview };
                self.add(effect, "package-source", verdict, message);
            }
        }
        let remote = lower.contains("install https://")
            || lower.contains("install git+https://")
            || lower.contains(" i https://")
            || lower.contains("add https://");
        if remote && !self.in_document(effect) {
            let standing = self.standing(effect, &effect.target);
            let verdict = match standing {
                Standing::Stranger => Some(Verdict::NeedsReview),
                Standing::Bad(_) | Standing::Weak(_) => Some(Verdict::Reject),
                _ => None,
            };
            if let Some(verdict) = verdict {
                let message =
                    format!("Installs a package from {}.", self.whereto(standing, &effect.target));
                self.add(effect, "package-source", verdict, message);
            }
        }
        let runs =
            ["npx ", "uvx ", "bunx ", "pipx run "].iter().any(|verb| lower.starts_with(verb));
        if runs && lower.contains("://") && !self.in_document(effect) {
            let standing = self.standing(effect, &effect.target);
            if matches!(standing, Standing::Stranger | Standing::Weak(_) | Standing::Bad(_)) {
                let message = format!(
                    "Runs code downloaded from {}.",
                    self.whereto(standing, &effect.target)
                );
                self.add(effect, "pipe-to-shell", Verdict::Reject, message);
            }
        }
        let from_url = lower.contains("install http://") || lower.contains("install git+http://");
        if from_url {
            let message = "Installs a package over an unencrypted connection.".into();
            self.add(effect, "package-source", Verdict::NeedsReview, message);
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

fn short(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().replace(HOLE, "…");
    let line: String = line.chars().take(80).collect();
    foreword::visible_line(&line)
}
