//! What a person should look at: injections, secrets, claims of authority, hidden and foreign text.

use std::collections::BTreeSet;

use foreword::Invisible;
use foreword_guard::{ScanVerdict, Scanner};

use super::{ReadCall, one_line};
use crate::report::{Danger, DangerKind, Origin, Region, Severity, Stretch};
use crate::wire::{PartKind, RequestPart};

/// Bytes of all texts that are scanned for injections.
const MAX_SCANNED: usize = 8 << 20;
/// Findings altogether.
const MAX_DANGERS: usize = 500;
/// Characters that are quoted.
const EXCERPT: usize = 120;
/// The share of a system prompt that must be the person's own before the rest is foreign.
const OWN_SHARE: f64 = 0.3;

/// How text of lower authority pretends to be of a higher one, at the start of a line.
const CLAIMS: [&str; 11] = [
    "system:",
    "[system]",
    "<system>",
    "### system",
    "<|im_start|>system",
    "<|system|>",
    "<<sys>>",
    "developer:",
    "<developer>",
    "[inst]",
    "system prompt:",
];

pub(super) fn find(calls: &[ReadCall<'_>], scanner: &Scanner) -> Vec<Danger> {
    let mut found = Vec::new();
    let mut seen: BTreeSet<[u8; 32]> = BTreeSet::new();
    let mut scanned = 0;
    for read in calls {
        secrets(read, &mut found);
        foreign(read, &mut seen, &mut found);
        for (part, stretches) in read.parts().iter().zip(&read.stretches) {
            let key = format!("{:?}{}", part.kind, part.text);
            if !seen.insert(blake3::hash(key.as_bytes()).into()) || found.len() >= MAX_DANGERS {
                continue;
            }
            let said = Said { read, part, stretches };
            // The program's own tools give orders by design; those of servers and files should not.
            let is_own_tool = part.kind == PartKind::ToolDefinition
                && stretches.iter().all(|stretch| stretch.origin == Origin::Vendor);
            let is_foreign = matches!(part.kind, PartKind::ToolResult | PartKind::ToolDefinition);
            if is_foreign && !is_own_tool {
                scanned += part.text.len();
                if scanned <= MAX_SCANNED {
                    injection(&said, scanner, &mut found);
                }
                claims(&said, &mut found);
            }
            if !matches!(part.kind, PartKind::Assistant | PartKind::ToolCall) {
                invisible(&said, &mut found);
            }
        }
    }
    found.sort_by(|one, other| {
        other
            .severity
            .cmp(&one.severity)
            .then(one.kind.cmp(&other.kind))
            .then(one.call.cmp(&other.call))
    });
    found
}

/// A part in its call.
struct Said<'r> {
    read: &'r ReadCall<'r>,
    part: &'r RequestPart,
    stretches: &'r [Stretch],
}

impl Said<'_> {
    fn danger(
        &self,
        kind: DangerKind,
        severity: Severity,
        line: usize,
        message: String,
        excerpt: &str,
    ) -> Danger {
        let origin = self.stretches.iter().rfind(|stretch| stretch.line <= line);
        Danger {
            kind,
            severity,
            call: self.read.number(),
            place: self.part.place.clone(),
            line,
            origin: origin.map_or(Origin::Vendor, |_| self.read.origin(&self.part.place, line)),
            message,
            excerpt: one_line(excerpt, EXCERPT),
        }
    }
}

fn injection(said: &Said<'_>, scanner: &Scanner, found: &mut Vec<Danger>) {
    let scan = scanner.scan(&said.part.text);
    let severity = match scan.verdict {
        ScanVerdict::Pass => return,
        ScanVerdict::Flag => Severity::Warning,
        ScanVerdict::Block => Severity::Error,
    };
    let worst = scan.findings.first();
    let line = worst.map_or(1, |worst| worst.line as usize);
    let what = match said.part.kind {
        PartKind::ToolDefinition => "the definition of a tool",
        _ => "a tool result",
    };
    let message = format!("likely prompt injection in {what} (score {:.2})", scan.score);
    let excerpt = worst.map_or("", |worst| worst.excerpt.as_str());
    found.push(said.danger(DangerKind::Injection, severity, line, message, excerpt));
}

fn secrets(read: &ReadCall<'_>, found: &mut Vec<Danger>) {
    for secret in &read.call.facts.secrets {
        let part = read.parts().iter().find(|part| part.place == secret.place);
        let line = part.and_then(|part| part.text.lines().nth(secret.line.saturating_sub(1)));
        found.push(Danger {
            kind: DangerKind::Secret,
            severity: Severity::Error,
            call: read.number(),
            place: secret.place.clone(),
            line: secret.line,
            origin: read.origin(&secret.place, secret.line),
            message: format!("{} sent to the provider", secret.what),
            excerpt: one_line(&around_secret(line.unwrap_or_default()), EXCERPT),
        });
    }
}

/// The part of a long line with the redaction.
fn around_secret(line: &str) -> String {
    let at = line.find("[redacted:").unwrap_or(0);
    let start = line.floor_char_boundary(at.saturating_sub(40));
    line.get(start..).unwrap_or_default().to_owned()
}

fn claims(said: &Said<'_>, found: &mut Vec<Danger>) {
    for (at, line) in said.part.text.lines().enumerate() {
        let start: String =
            line.trim_start().chars().take(24).collect::<String>().to_ascii_lowercase();
        if let Some(claim) = CLAIMS.iter().find(|claim| start.starts_with(**claim)) {
            let message = format!("text from a tool claims a higher role: `{}`", claim.trim());
            let danger =
                said.danger(DangerKind::AuthorityClaim, Severity::Warning, at + 1, message, line);
            // One line of a text says enough.
            return found.push(danger);
        }
    }
}

fn invisible(said: &Said<'_>, found: &mut Vec<Danger>) {
    if said.part.text.is_ascii() {
        return;
    }
    let (mut count, mut first, mut worst) = (0, None, Severity::Warning);
    let mut previous = '\0';
    let mut chars = said.part.text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map_or('\0', |(_, next)| *next);
        let hidden = match Invisible::of(c) {
            // Flags of some regions are spelled with tags.
            Some(Invisible::Tag) => {
                previous != '\u{1F3F4}' && Invisible::of(previous) != Some(Invisible::Tag)
            }
            Some(Invisible::Bidi) => true,
            Some(Invisible::Filler) => !(c == '\u{FEFF}' && at == 0),
            Some(Invisible::Space | Invisible::Joiner) => {
                previous.is_ascii_alphanumeric() && next.is_ascii_alphanumeric()
            }
            _ => false,
        };
        if hidden {
            count += 1;
            first.get_or_insert((at, c));
            if Invisible::of(c) == Some(Invisible::Tag) {
                worst = Severity::Error;
            }
        }
        previous = c;
    }
    let Some((at, c)) = first else { return };
    let head = said.part.text.get(..at).unwrap_or_default();
    let line = 1 + head.matches('\n').count();
    let shown = said.part.text.lines().nth(line - 1).unwrap_or_default();
    let plural = if count == 1 { "" } else { "s" };
    let message = format!("{count} invisible character{plural}, the first U+{:04X}", u32::from(c));
    found.push(said.danger(
        DangerKind::InvisibleCharacters,
        worst,
        line,
        message,
        &foreword::visible_line(shown),
    ));
}

/// Text in no file, in a system prompt that is otherwise the person's own, and in the person's messages.
fn foreign(read: &ReadCall<'_>, seen: &mut BTreeSet<[u8; 32]>, found: &mut Vec<Danger>) {
    let (mut own, mut all) = (0, 0);
    for (part, stretches) in read.parts().iter().zip(&read.stretches) {
        if part.region == Region::System && part.kind != PartKind::Transport {
            for stretch in stretches {
                all += stretch.tokens;
                own +=
                    if matches!(stretch.origin, Origin::File { .. }) { stretch.tokens } else { 0 };
            }
        }
    }
    let is_own_prompt = super::share(own, all) >= OWN_SHARE;
    for (part, stretches) in read.parts().iter().zip(&read.stretches) {
        let where_to = match part.kind {
            PartKind::System if is_own_prompt => "the system prompt",
            PartKind::User => "a user message",
            _ => continue,
        };
        for stretch in stretches.iter().filter(|stretch| stretch.origin == Origin::Vendor) {
            let [start, end] = stretch.range;
            let text = part.text.get(start..end).unwrap_or_default();
            if text.trim().is_empty() || stretch.tokens < 2 {
                continue;
            }
            // The same text with another time in it is the same text.
            let shape: String = text.chars().filter(|c| !c.is_ascii_digit()).collect();
            let key = format!("foreign {where_to} {shape}");
            if !seen.insert(blake3::hash(key.as_bytes()).into()) || found.len() >= MAX_DANGERS {
                continue;
            }
            found.push(Danger {
                kind: DangerKind::ForeignText,
                severity: Severity::Note,
                call: read.number(),
                place: part.place.clone(),
                line: stretch.line,
                origin: Origin::Vendor,
                message: format!("the program added {} tokens to {where_to}", stretch.tokens),
                excerpt: one_line(text, EXCERPT),
            });
        }
    }
}
