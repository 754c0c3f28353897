//! Packages that imitate well-known ones or come from unusual sources.

use super::{ALWAYS, Rule};
use crate::screen::page::Page;
use crate::screen::report::Report;
use crate::screen::scan::{Pattern, Signal};
use crate::screen::url::{Url, urls};
use crate::screen::verdict::Verdict;

const INSTALL: Signal = Signal("package-install");
const OTHER_INDEX: Signal = Signal("other-index");

pub(super) static RULE: Rule = Rule {
    name: "package-imitation",
    policies: ALWAYS,
    patterns: &[
        Pattern {
            signal: INSTALL,
            needs: &[],
            cues: &[
                "pip install",
                "npx",
                "uvx",
                "bunx",
                "pip3 install",
                "npm install",
                "npm i ",
                "yarn add",
                "pnpm add",
                "bun add",
                "gem install",
                "cargo install",
                "uv add",
                "uv pip install",
                "poetry add",
                "cargo add",
            ],
            regex: r"\b(?:pip3?|uv pip|npm|gem|cargo) (?:install|i|add)\s[^\n;&|`]+|\b(?:yarn|pnpm|bun|uv|poetry) add\s[^\n;&|`]+|\b(?:npx|uvx|bunx|pipx run)\s[^\n;&|`]*://[^\n;&|`]+",
        },
        Pattern {
            signal: OTHER_INDEX,
            needs: &[],
            cues: &["--index-url", "--extra-index-url", "--registry", "-i http", "--trusted-host"],
            regex: r"(?:--(?:extra-)?index-url|--registry|\bpip3?\b[^\n]*?\s(?-i:-i))[\s=]+['\x22]?https?://\S+|--trusted-host\s+\S+",
        },
    ],
    check,
};

/// Packages that are worth imitating.
const KNOWN: [&str; 66] = [
    "requests",
    "numpy",
    "pandas",
    "urllib3",
    "cryptography",
    "colorama",
    "setuptools",
    "beautifulsoup4",
    "tensorflow",
    "scikit-learn",
    "matplotlib",
    "pillow",
    "sqlalchemy",
    "django",
    "fastapi",
    "pydantic",
    "selenium",
    "playwright",
    "boto3",
    "openai",
    "anthropic",
    "transformers",
    "pytest",
    "python-dateutil",
    "python-dotenv",
    "aiohttp",
    "paramiko",
    "discord.py",
    "websockets",
    "langchain",
    "lodash",
    "express",
    "react",
    "react-dom",
    "axios",
    "chalk",
    "commander",
    "typescript",
    "webpack",
    "eslint",
    "prettier",
    "puppeteer",
    "cross-env",
    "dotenv",
    "mongoose",
    "nodemon",
    "next",
    "electron",
    "jquery",
    "moment",
    "socket.io",
    "web3",
    "ethers",
    "event-stream",
    "tokio",
    "serde",
    "serde_json",
    "reqwest",
    "rustdecimal",
    "rails",
    "bundler",
    "nokogiri",
    "jinja2",
    "pyyaml",
    "markdown",
    "huggingface-hub",
];

/// Real packages that are one letter away from others.
const REAL: [&str; 16] = [
    "request",
    "preact",
    "nest",
    "nuxt",
    "test",
    "text",
    "express-",
    "djangos",
    "reacts",
    "ether",
    "lodash-es",
    "moments",
    "serve",
    "chalks",
    "pytest-",
    "rail",
];

fn check(page: &Page, report: &mut Report<'_>) {
    for sighting in page.uses(INSTALL) {
        let command = page.matched(sighting);
        let names = command
            .split_whitespace()
            .skip(2)
            .filter(|w| !w.starts_with('-') && !w.contains("@npm:"));
        for name in names.take(20) {
            let name = bare(name);
            if let Some(real) = imitated(&name) {
                let message = format!("`{name}` looks like `{real}`, and is not it.");
                report.add(Verdict::NeedsReview, sighting, &message);
            }
        }
        let addresses = if command.contains("://") { urls(command) } else { Vec::new() };
        if addresses.iter().any(|u| u.doubt().is_some()) {
            report.add(Verdict::Reject, sighting, "Installs a package from an untrusted source.");
        }
    }
    for sighting in page.uses(OTHER_INDEX) {
        let matched = page.matched(sighting);
        let usual = [
            "pypi.",
            "download.pytorch.org",
            "npmjs.",
            "wheels",
            "tsinghua",
            "aliyun",
            "npmmirror",
            "googleapis",
            "pkg.dev",
            "codeartifact",
            "jfrog",
            "github",
            "gitlab",
            "azure",
            "localhost",
        ];
        let line = page.unit_text(sighting);
        let installs = [" install", " add ", " i "].iter().any(|w| line.contains(w));
        let stands_in = urls(matched).iter().all(Url::is_placeholder);
        if installs && !stands_in && !usual.iter().any(|host| matched.contains(host)) {
            report.add(
                Verdict::NeedsReview,
                sighting,
                "Installs packages from a non-default registry.",
            );
        }
    }
}

/// The name alone: no version, no extras, no quotes.
fn bare(word: &str) -> String {
    let word = word.trim_matches(['"', '\'', '`', ',', ')', '(']);
    let end = word
        .char_indices()
        .skip(1)
        .find(|(_, c)| matches!(c, '=' | '<' | '>' | '[' | '@' | '~' | '^' | '!'))
        .map(|(i, _)| i);
    word.get(..end.unwrap_or(word.len())).unwrap_or_default().to_ascii_lowercase()
}

fn imitated(name: &str) -> Option<&'static str> {
    if name.len() < 5 || KNOWN.contains(&name) || REAL.contains(&name) {
        return None;
    }
    let plain: String = name.chars().filter(|c| !matches!(c, '-' | '_' | '.')).collect();
    KNOWN.iter().copied().filter(|known| known.len() >= 5).find(|known| {
        let same: String = known.chars().filter(|c| !matches!(c, '-' | '_' | '.')).collect();
        plain != same && one_edit(name.as_bytes(), known.as_bytes())
    })
}

/// One letter swapped, doubled, left out, put in or replaced.
fn one_edit(a: &[u8], b: &[u8]) -> bool {
    let common = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (a.get(common..).unwrap_or_default(), b.get(common..).unwrap_or_default());
    let rest = |s: &[u8], n: usize| s.get(n..).map(<[u8]>::to_vec);
    let swapped = a.len() == b.len()
        && a.len() >= 2
        && a.first() == b.get(1)
        && a.get(1) == b.first()
        && rest(a, 2) == rest(b, 2);
    let replaced = a.len() == b.len() && !a.is_empty() && rest(a, 1) == rest(b, 1);
    let added = a.len() == b.len() + 1 && rest(a, 1).as_deref() == Some(b);
    let dropped = b.len() == a.len() + 1 && rest(b, 1).as_deref() == Some(a);
    swapped || replaced || added || dropped
}
