//! Secrets that leave the machine: code that reads them and sends them, and orders to do so.

use super::{ALWAYS, Rule};
use crate::screen::document::{Place, Unit};
use crate::screen::page::{Page, Sighting};
use crate::screen::report::Report;
use crate::screen::scan::{Pattern, Signal};
use crate::screen::signals::network::{DNS_LEAK, NETWORK, SEND, SEND_FILE, SEND_ORDER};
use crate::screen::signals::secrets::{
    ENVIRONMENT_DUMP, GATHER_ORDER, SECRET_STORE, SECRET_VARIABLE, SECRET_WORDS,
};
use crate::screen::url::{Doubt, Url, urls};
use crate::screen::verdict::Verdict;

/// Joins what was gathered into one text.
const SERIALISE: Signal = Signal("serialise");
/// Asks for the address of a name.
const LOOKUP: Signal = Signal("lookup");
/// Facts about the machine and who uses it.
const HOST_FACTS: Signal = Signal("host-facts");
/// An order, in words, to read a private key or to pass on all that the user says.
const READ_KEY: Signal = Signal("read-key");
/// An instruction to show secrets to an onlooker.
const SHOW_SECRET: Signal = Signal("show-secret");

pub(super) static RULE: Rule = Rule {
    name: "secret-exfiltration",
    policies: ALWAYS,
    patterns: &[
        Pattern {
            signal: LOOKUP,
            needs: &[],
            cues: &[
                "gethostbyname",
                "getaddrinfo",
                "nslookup",
                "dig ",
                "resolver",
                "dns.resolve",
                "dns.lookup",
                "resolve-dnsname",
                "dnspython",
            ],
            regex: r"\bgethostbyname\b|\bgetaddrinfo\s?\(|\bnslookup\b|(?:^|[\s`'\x22(])dig\s+[-+@\w$<{]|\bresolver\.(?:resolve|query)\b|\bdns\.(?:resolve|lookup)\w*\s?\(|\bResolve-DnsName\b",
        },
        Pattern {
            signal: HOST_FACTS,
            needs: &[SEND, SEND_FILE],
            cues: &[
                "gethostname",
                "getuser",
                "platform.node",
                "os.getlogin",
                "os.hostname",
                "userinfo()",
                "whoami",
                "uname -a",
                "ifconfig",
                "systeminfo",
                "getmac",
                "os.uname",
                "platform.uname",
            ],
            regex: r"\bgethostname\s?\(|\bgetpass\.getuser\b|\bplatform\.(?:node|uname)\s?\(|\bos\.(?:getlogin|uname|hostname|userInfo)\s?\(|\$\((?:whoami|hostname|uname -a|id)\)|`(?:whoami|hostname|uname -a|id)`|\buuid\.getnode\b",
        },
        Pattern {
            signal: SERIALISE,
            needs: &[ENVIRONMENT_DUMP, SECRET_VARIABLE],
            cues: &[
                "dumps(",
                "stringify(",
                "b64encode",
                "btoa(",
                "base64",
                "urlencode",
                "convertto-json",
                "payload",
            ],
            regex: r"\bjson\.dumps\s?\(|\bJSON\.stringify\s?\(|\bb64encode\b|\bbtoa\s?\(|\|\s*base64\b|\burlencode\s?\(|\bConvertTo-Json\b",
        },
        Pattern {
            signal: READ_KEY,
            needs: &[],
            cues: &[".ssh/id_", ".aws/credentials", "conversation", "user data", "credentials"],
            regex: r"\b(?:read|open|include|copy|upload|attach|get|load)\b.{0,40}(?:~|\$home)/\.(?:ssh/id_|aws/credentials)|\b(?:send|forward|post|transmit|upload|report)s?\b.{0,40}\b(?:all (?:the )?(?:conversation|user data|messages|data)|every (?:message|prompt)|credentials)\b.{0,30}\bto\s+<?https?://",
        },
        Pattern {
            signal: SHOW_SECRET,
            needs: &[],
            cues: &[
                "value of", "http", "https", "echo", "print", "output", "display", "reveal",
                "include", "repeat", "show", "return", "paste", "embed", "put",
            ],
            regex: r"\b(?:echo|print|output|display|reveal|include|repeat|show|return|paste|embed|put|append)(?:s|ing)?\b.*?\b(?:values? of|contents? of|all|any|the user'?s?|full|raw|actual|complete|their|your)\b.*?\b(?:api[ _-]?keys?|authorization headers?|(?:auth|session|access|bearer|api) tokens?|secrets?|credentials?|passwords?|private keys?|environment variables?|\.env)\b.*?\b(?:in|into|to|as part of|within|with) (?:your|the|each|every|all|any|its) (?:\w+ ){0,2}(?:response|reply|replies|output|answer|message|chat|commit|issue|image|comment|log)s?\b|\b(?:include|send|append|embed|put)\b.{0,20}\bvalues? of\b.{0,20}\b\w+_(?:key|token|secret|password)\b.{0,60}https?://|!\[[^\]\n]*\]\(https?://[^)\n]*[?&=/][^)\n]*[<{][\w .]*(?:conversation|summary|secret|api.?key|token|history|context|prompt|messages?|user.(?:data|input))[\w .]*[>}]",
        },
    ],
    check,
};

fn check(page: &Page, report: &mut Report<'_>) {
    code(page, report);
    variables(page, report);
    orders(page, report);
    names(page, report);
    for sighting in page.uses(DNS_LEAK) {
        report.add(Verdict::Reject, sighting, "Sends data out in DNS lookups.");
    }
    for sighting in page.uses(READ_KEY).filter(|s| page.in_text(s)) {
        let message = "Asks the agent to read a private key or to pass on what the user says.";
        report.add(Verdict::NeedsReview, sighting, message);
    }
    for sighting in page.uses(SHOW_SECRET) {
        report.add(Verdict::NeedsReview, sighting, "Asks the agent to show secrets in an answer.");
    }
}

/// Reading a store of secrets, or the whole environment, next to sending.
fn code(page: &Page, report: &mut Report<'_>) {
    for signal in [SECRET_STORE, ENVIRONMENT_DUMP] {
        for secret in page.uses(signal).filter(|secret| !is_written(page, secret)) {
            let sent = [SEND, SEND_FILE, DNS_LEAK]
                .into_iter()
                .find_map(|out| page.uses(out).find(|s| reaches(secret, s) && !is_local(page, s)));
            let ordered = page.beside(secret, SEND_ORDER).filter(|_| page.in_text(secret));
            if sent.is_some() || ordered.is_some() {
                report.add(Verdict::Reject, secret, "Reads secrets and sends them out.");
            } else if piped_out(page.unit_text(secret)) {
                report.add(Verdict::Reject, secret, "Pipes secrets to the network.");
            } else if signal == ENVIRONMENT_DUMP && page.near(secret, SERIALISE, 4).is_some() {
                report.add(Verdict::NeedsReview, secret, "Serialises all environment variables.");
            }
        }
    }
}

/// Whether a command only writes the store, as the set-up of a build does: `echo … > ~/.npmrc`.
fn is_written(page: &Page, secret: &Sighting) -> bool {
    let (line, store) = (page.unit_text(secret), page.matched(secret));
    let mut places = line.match_indices(store);
    let (Some((at, _)), None) = (places.next(), places.next()) else { return false };
    let home = ['~', '/', '$', '{', '}', 'H', 'O', 'M', 'E', '"', '\'', ' '];
    let before = line.get(..at).unwrap_or_default().trim_end_matches(home);
    secret.place == Place::Code
        && (before.ends_with('>') || before.ends_with("tee") || before.ends_with("tee -a"))
}

/// Data that leaves as the name of a host, and facts about the machine that are sent.
fn names(page: &Page, report: &mut Report<'_>) {
    for lookup in page.uses(LOOKUP).filter(|s| s.place == Place::Code) {
        let near = |u: &&Unit| u.block == lookup.block && u.line.abs_diff(lookup.line) <= 15;
        let mut lines = page.units().iter().filter(near);
        if lines.any(|u| page.text().get(u.start..u.end).is_some_and(has_made_name)) {
            report.add(Verdict::Reject, lookup, "Sends data out in DNS lookups.");
        }
    }
    for facts in page.uses(HOST_FACTS).filter(|s| s.place == Place::Code) {
        let sent = [SEND, SEND_FILE].into_iter().find_map(|s| page.in_block(facts, s));
        if sent.is_some_and(|s| s.line.abs_diff(facts.line) <= 15 && !is_local(page, s)) {
            report.add(
                Verdict::NeedsReview,
                facts,
                "Sends information about the machine and its user.",
            );
        }
    }
}

/// Whether a line has a host name put together from data: `{x}.host.tld`, `$(x).host.tld`,
/// `x + ".host.tld"`.
fn has_made_name(line: &str) -> bool {
    let bytes = line.as_bytes();
    line.match_indices('.').any(|(at, _)| {
        let joint = match at.checked_sub(1).and_then(|i| bytes.get(i)) {
            Some(b'}' | b')') => true,
            Some(b'"' | b'\'') => {
                let before = line.get(..at - 1).unwrap_or_default().trim_end();
                before.ends_with('+') || before.ends_with("+ f") || before.ends_with("+f")
            }
            _ => false,
        };
        joint && starts_with_host(line.get(at + 1..).unwrap_or_default())
    })
}

/// `host.tld` or more, and then no call.
fn starts_with_host(text: &str) -> bool {
    let is_host = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '{' | '}' | '_');
    let end = text.find(|c: char| !is_host(c)).unwrap_or(text.len());
    let name = text.get(..end).unwrap_or_default();
    let labels = name.split('.').filter(|l| l.len() >= 2).count();
    labels >= 2 && !text.get(end..).is_some_and(|rest| rest.starts_with('('))
}

/// In one fence, or one sentence, or a few lines of orders apart.
fn reaches(secret: &Sighting, sent: &Sighting) -> bool {
    let distance = secret.line.abs_diff(sent.line);
    if secret.place == Place::Code && sent.place == Place::Code {
        secret.block == sent.block && distance <= 25
    } else {
        distance <= 4
    }
}

fn is_local(page: &Page, sighting: &Sighting) -> bool {
    let addresses = urls(page.unit_text(sighting));
    !addresses.is_empty() && addresses.iter().all(Url::is_local)
}

fn piped_out(command: &str) -> bool {
    let lower = command.to_ascii_lowercase();
    let Some((_, after)) = lower.split_once('|') else { return false };
    ["curl ", "wget ", "nc ", "ncat ", "netcat "].iter().any(|tool| after.contains(tool))
}

/// Secrets of well-known services that are sent to somebody else, or gathered from several.
fn variables(page: &Page, report: &mut Report<'_>) {
    for sighting in
        page.uses(SECRET_VARIABLE).filter(|s| s.place == Place::Code || page.is_quoted(s))
    {
        let name = page.matched(sighting);
        let Some(owner) = owner(name) else { continue };
        let line = page.unit_text(sighting);
        let sends = page.beside(sighting, SEND).is_some()
            || page.near(sighting, SEND, 8).is_some_and(|s| s.block == sighting.block);
        if !sends && page.beside(sighting, NETWORK).is_none() {
            continue;
        }
        let packed = ["b64encode", "btoa(", "base64", "hexlify", "tobase64"];
        if sends
            && packed.iter().any(|p| line.to_ascii_lowercase().contains(p))
            && !line.contains("Basic")
        {
            report.add(Verdict::Reject, sighting, "Encodes a key and sends it.");
            continue;
        }
        if in_header(line, name) {
            continue;
        }
        let nearby: Vec<Url> =
            if urls(line).is_empty() { block_urls(page, sighting) } else { urls(line) };
        let foreign = nearby
            .iter()
            .filter(|u| !u.is_local() && !u.is_placeholder())
            .any(|u| !belongs(u, owner));
        let own = nearby.iter().any(|u| belongs(u, owner));
        if foreign && !own && sends {
            report.add(Verdict::Reject, sighting, "Sends the key of one service to another host.");
        }
    }
    harvest(page, report);
}

/// Keys of several services put together and packed up.
fn harvest(page: &Page, report: &mut Report<'_>) {
    let keys: Vec<&Sighting> =
        page.uses(SECRET_VARIABLE).filter(|s| s.place == Place::Code).collect();
    for key in &keys {
        let first = owner(page.matched(key));
        let other = keys.iter().find(|k| {
            k.block == key.block
                && k.line.abs_diff(key.line) <= 6
                && owner(page.matched(k)) != first
                && prefix(page.matched(k)) != prefix(page.matched(key))
        });
        let (Some(_), Some(_)) = (first, other) else { continue };
        let packed = page.in_block(key, SERIALISE).filter(|s| s.line.abs_diff(key.line) <= 12);
        let sent = page.in_block(key, SEND);
        match (packed, sent) {
            (_, Some(send)) if !is_local(page, send) && packed.is_some() => {
                report.add(
                    Verdict::Reject,
                    key,
                    "Collects keys of several services and sends them.",
                );
            }
            (Some(_), None) => {
                report.add(Verdict::NeedsReview, key, "Collects keys of several services.");
            }
            _ => {}
        }
    }
}

fn block_urls(page: &Page, from: &Sighting) -> Vec<Url> {
    let near = |u: &&Unit| u.block == from.block && u.line.abs_diff(from.line) <= 8;
    let texts = page.units().iter().filter(near).filter_map(|u| page.text().get(u.start..u.end));
    texts.flat_map(urls_with_scheme).collect()
}

fn urls_with_scheme(text: &str) -> Vec<Url> {
    if text.contains("://") { urls(text) } else { Vec::new() }
}

/// A key in a header proves who calls; a key in the body is given away.
fn in_header(line: &str, name: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    let at = lower.find(&name.to_ascii_lowercase()).unwrap_or(0);
    let before = lower.get(at.saturating_sub(60)..at).unwrap_or_default();
    [
        "authorization",
        "bearer",
        "x-api-key",
        "api-key:",
        "-h '",
        "-h \"",
        "-u ",
        "apikey:",
        "token:",
        "headers",
    ]
    .iter()
    .any(|mark| before.contains(mark))
}

/// Services whose keys are worth stealing, and where those keys belong.
const OWNERS: [(&str, &[&str]); 38] = [
    ("ANTHROPIC", &["anthropic", "claude"]),
    ("OPENAI", &["openai", "azure"]),
    ("GITHUB", &["github", "ghcr.io", "githubcopilot"]),
    ("GH_", &["github"]),
    ("GITLAB", &["gitlab"]),
    ("AWS", &["amazonaws", "aws"]),
    ("AZURE", &["azure", "microsoft", "windows.net", "visualstudio"]),
    ("GCP", &["googleapis", "google"]),
    ("GOOGLE", &["googleapis", "google", "gstatic"]),
    ("GEMINI", &["googleapis", "google"]),
    ("SLACK", &["slack"]),
    ("STRIPE", &["stripe"]),
    ("TWILIO", &["twilio"]),
    ("SENDGRID", &["sendgrid"]),
    ("NPM", &["npmjs", "npm"]),
    ("PYPI", &["pypi"]),
    ("DOCKER", &["docker"]),
    ("HF_", &["huggingface", "hf.co"]),
    ("HUGGING", &["huggingface", "hf.co"]),
    ("CLOUDFLARE", &["cloudflare"]),
    ("DATADOG", &["datadog"]),
    ("HEROKU", &["heroku"]),
    ("VERCEL", &["vercel"]),
    ("MAILGUN", &["mailgun"]),
    ("DISCORD", &["discord"]),
    ("TELEGRAM", &["telegram"]),
    ("NOTION", &["notion"]),
    ("LINEAR", &["linear"]),
    ("JIRA", &["atlassian", "jira"]),
    ("ATLASSIAN", &["atlassian"]),
    ("SUPABASE", &["supabase"]),
    ("FIREBASE", &["firebase", "googleapis", "google"]),
    ("DATABASE_URL", &[]),
    ("SSH_", &[]),
    ("PRIVATE_KEY", &[]),
    ("WALLET", &[]),
    ("SERVICE_ACCOUNT", &["googleapis", "google"]),
    ("DB_PASSWORD", &[]),
];

fn variable(matched: &str) -> &str {
    matched.rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or_default()
}

fn prefix(matched: &str) -> &str {
    variable(matched).split('_').next().unwrap_or_default()
}

fn owner(matched: &str) -> Option<&'static [&'static str]> {
    let name = variable(matched);
    OWNERS.iter().find(|(start, _)| name.starts_with(start)).map(|(_, hosts)| *hosts)
}

fn belongs(url: &Url, owner: &[&str]) -> bool {
    owner.iter().any(|part| url.host().contains(part))
}

/// Orders, in words, to gather secrets and send them.
fn orders(page: &Page, report: &mut Report<'_>) {
    for gather in
        page.uses(GATHER_ORDER).filter(|s| page.in_text(s) && page.matched(s).len() <= 130)
    {
        let sent = [SEND_ORDER, SEND, SEND_FILE].into_iter().find_map(|s| page.near(gather, s, 4));
        if sent.is_some() {
            report.add(
                Verdict::Reject,
                gather,
                "Instructs the agent to collect secrets and send them out.",
            );
        }
    }
    for send in page.uses(SEND_ORDER) {
        if page.beside(send, SECRET_WORDS).is_none() {
            continue;
        }
        let target = urls_with_scheme(page.unit_text(send));
        let drop = target.iter().any(|u| {
            matches!(u.doubt(), Some(Doubt::Collector | Doubt::RawAddress | Doubt::PasteSite))
        });
        if drop {
            report.add(
                Verdict::Reject,
                send,
                "Instructs the agent to send secrets to an untrusted address.",
            );
        }
    }
}
