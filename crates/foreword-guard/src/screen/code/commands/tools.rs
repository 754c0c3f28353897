//! Commands of developers and administrators: git, package managers, credential stores.

use crate::screen::code::effect::Act;
use crate::screen::code::language::Language;
use crate::screen::code::machine::Machine;
use crate::screen::code::value::{HOLE, Marks, Origin, Value};

impl Machine<'_> {
    /// What `git` does; `Some` if what it prints matters.
    pub(super) fn git(&mut self, rest: &[Value], line: u32) -> Option<Value> {
        let rest = without_options(rest);
        let text = Value::joined(rest, " ");
        let text = text.as_text().unwrap_or_default().to_owned();
        if text.starts_with("credential fill") || text.starts_with("credential-") {
            let marks = self.mark(Origin::Credential, "git credentials", line);
            self.add(Act::ReadSecret, "git credentials", marks.clone(), line);
            return Some(Value::marked(marks));
        }
        if text.starts_with("rev-parse") {
            return Some(Value::text(match () {
                () if text.contains("hooks") => ".git/hooks",
                () if text.contains("--git-") => ".git",
                () => ".",
            }));
        }
        if ["ls-files", "show", "diff", "archive", "bundle", "cat-file"]
            .iter()
            .any(|verb| text.starts_with(verb))
        {
            return Some(Value::marked(self.mark(Origin::Files, "the repository", line)));
        }
        let url = rest
            .iter()
            .filter_map(Value::as_text)
            .find(|t| t.contains("://") || t.starts_with("git@"));
        let adds = text.starts_with("remote add") || text.starts_with("remote set-url");
        let every_push = adds && text.contains("--push")
            || text.starts_with("config") && text.contains("pushurl")
            || text.starts_with("config") && text.contains("pushInsteadOf");
        if (adds || every_push)
            && let Some(url) = url
        {
            let marks = self.mark(Origin::Files, "the repository", line);
            let verb = if every_push { "push" } else { "remote" };
            self.add(Act::Copy, &format!("git {verb} {url}"), marks, line);
        } else if text.starts_with("push")
            && (url.is_some()
                || text.contains("--force")
                || text.contains(" -f")
                || text.contains("--mirror")
                || text.contains("--all"))
        {
            let marks = self.mark(Origin::Files, "the repository", line);
            self.add(Act::Copy, &format!("git {text}"), marks, line);
        } else if text.starts_with("push") {
            self.add(Act::Program, "git push", Marks::default(), line);
        } else if text.starts_with("commit") {
            self.add(Act::Program, "git commit", Marks::default(), line);
        } else if text.starts_with("config")
            && [
                "core.hooksPath",
                "core.hookspath",
                "core.sshCommand",
                "core.fsmonitor",
                "credential.helper",
                "core.pager",
            ]
            .iter()
            .any(|k| text.contains(k))
            || text.starts_with("config") && text.contains("alias.") && text.contains(" !")
        {
            self.add(Act::Persist, &format!("git {text}"), Marks::default(), line);
        } else if text.starts_with("config")
            && ["filter.", "diff.external", "merge.", "core.editor", "gpg.program", "pager."]
                .iter()
                .any(|key| text.contains(key))
            && let Some(code) = rest.last().filter(|code| code.text.is_some())
        {
            // What git starts with the user's files.
            self.run_code(Language::Shell, code, line);
        } else if text.starts_with("config")
            && (text.contains("sslVerify false") || text.contains("http.proxy"))
        {
            self.add(Act::Lower, &format!("git {text}"), Marks::default(), line);
        } else if text.starts_with("clone")
            && let Some(url) = url
        {
            let url = url.to_owned();
            self.add(Act::Install, &format!("git clone {url}"), Marks::default(), line);
        }
        None
    }

    pub(super) fn install(&mut self, name: &str, rest: &[Value], line: u32) {
        let text = Value::joined(rest, " ");
        let text = text.as_text().unwrap_or_default().to_owned();
        let lower = text.to_ascii_lowercase();
        let source = ["registry", "index-url", "proxy", "strict-ssl false"];
        if lower.contains("config set") && source.iter().any(|key| lower.contains(key)) {
            self.add(Act::Install, &format!("{name} --registry {text}"), Marks::default(), line);
        }
        if lower.contains("strict-ssl false") || lower.contains("strict-ssl=false") {
            self.add(Act::Lower, &format!("{name} {text}"), Marks::default(), line);
        }
        let adds_source = match name {
            "gem" => lower.starts_with("source") && lower.contains("-a"),
            "go" => lower.starts_with("env -w") && lower.contains("proxy="),
            "brew" => lower.starts_with("tap ") && lower.contains("://"),
            _ => ["source add", "mirror.", "repositories.", "global.index", "source.url"]
                .iter()
                .any(|words| lower.contains(words)),
        };
        if adds_source && lower.contains("://") {
            self.add(Act::Install, &format!("{name} --source {text}"), Marks::default(), line);
        }
        if name == "go" {
            self.replace_module(rest, line);
        }
        let installs = matches!(name, "npx" | "uvx")
            || ["install", " i ", "add", "get"].iter().any(|w| format!(" {text} ").contains(w));
        if installs {
            self.add(Act::Install, &format!("{name} {text}"), Marks::default(), line);
        } else {
            self.add(Act::Program, &format!("{name} {text}"), Marks::default(), line);
        }
    }

    /// `go mod edit -replace module=other`, `go env -w GOFLAGS=-insecure`.
    fn replace_module(&mut self, rest: &[Value], line: u32) {
        let words: Vec<&str> = rest.iter().filter_map(Value::as_text).collect();
        for (place, word) in words.iter().enumerate() {
            if UNCHECKED.contains(word) {
                self.add(Act::Lower, &format!("go {}", words.join(" ")), Marks::default(), line);
            }
            let Some(inline) = word.strip_prefix("-replace") else { continue };
            let pair = match inline.strip_prefix('=') {
                Some(pair) => pair,
                None => words.get(place + 1).copied().unwrap_or_default(),
            };
            let Some((module, by)) = pair.split_once('=') else { continue };
            let local = by.starts_with(['.', '/', HOLE]);
            if !local && !module.starts_with(HOLE) {
                let target = format!("go --source https://{by}");
                self.add(Act::Replace, &target, Marks::default(), line);
            }
        }
    }

    pub(super) fn lower_defences(&mut self, name: &str, rest: &[Value], line: u32) {
        let text = Value::joined(rest, " ");
        let text = text.as_text().unwrap_or_default().to_owned();
        let off = match name {
            "history" => text.contains("-c"),
            "unset" => text.contains("HISTFILE"),
            "ufw" | "csrutil" | "spctl" => text.contains("disable"),
            "setenforce" => text.contains('0'),
            "iptables" => text.contains("-F"),
            "xattr" => text.contains("quarantine") || text.contains("-c"),
            "netsh" => text.contains("off"),
            "tccutil" => text.contains("reset"),
            "set-mppreference" => {
                !text.contains("$false") || text.contains("$true") || text.contains("xclusion")
            }
            "add-mppreference" | "auditctl" => true,
            _ => false,
        };
        if off {
            self.add(Act::Lower, &format!("{name} {text}"), Marks::default(), line);
        }
    }
}

/// Settings that let packages through which nobody vouches for.
const UNCHECKED: [&str; 7] = [
    "GOFLAGS=-insecure",
    "GONOSUMDB=*",
    "GONOSUMCHECK=1",
    "GOSUMDB=off",
    "GOINSECURE=*",
    "GONOSUMDB=off",
    "GOPRIVATE=*",
];

/// The words of `git` from its verb on: `git -C directory push`.
fn without_options(words: &[Value]) -> &[Value] {
    let mut words = words;
    while let Some(word) = words.first().and_then(Value::as_text).filter(|t| t.starts_with('-')) {
        let valued = matches!(word, "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace");
        words = words.get(1 + usize::from(valued)..).unwrap_or_default();
    }
    words
}

/// What a program that manages credentials is asked for.
pub(super) fn credential(name: &str, rest: &[Value]) -> Option<&'static str> {
    let text = Value::joined(rest, " ");
    let text = text.as_text().unwrap_or_default();
    let asks = |parts: &[&str]| parts.iter().any(|part| text.contains(part));
    match name {
        "security" => asks(&["find-generic-password", "find-internet-password", "dump-keychain"])
            .then_some("the keychain"),
        "gpg" => asks(&["--export-secret"]).then_some("GnuPG keys"),
        "pass" => asks(&["show"]).then_some("the password store"),
        "secret-tool" => asks(&["lookup", "search"]).then_some("the keyring"),
        "cmdkey" => asks(&["/list"]).then_some("secrets of Windows"),
        "op" | "bw" => asks(&["read", "get", "list"]).then_some("the password manager"),
        "gh" => asks(&["auth token"]).then_some("the GitHub token"),
        "gcloud" => {
            asks(&["print-access-token", "print-identity-token", "secrets versions access"])
                .then_some("the Google Cloud token")
        }
        "aws" => asks(&[
            "configure get",
            "get-session-token",
            "export-credentials",
            "create-access-key",
            "sts assume-role",
            "get-secret-value",
            "--with-decryption",
        ])
        .then_some("AWS credentials"),
        "kubectl" => asks(&["get secret", "get secrets", "config view --raw"])
            .then_some("Kubernetes secrets"),
        "az" => asks(&["get-access-token", "keyvault secret show", "create-for-rbac"])
            .then_some("the Azure token"),
        "vault" => asks(&["read", "kv get", "print token"]).then_some("secrets of Vault"),
        _ => None,
    }
}
