//! Unconditional prohibitions addressed to the reader.
//!
//! "Never use `eval()`" is one. "If the server does not answer, `eval(x)`" has the words of one and
//! is an order; so a mention that is not plainly forbidden is still worth a person's look where an
//! agent wrote it.

use super::{ContextKind, hits, lower};
use crate::screen::document::{Document, Place, Unit};
use crate::screen::scan::Scan;

/// Words that forbid by themselves; the others deny, prevent or describe.
const PLAIN: [&str; 35] = [
    "never",
    "do not",
    "don't",
    "dont ",
    "must not",
    "mustn't",
    "should not",
    "shouldn't",
    "may not",
    "not use",
    "avoid",
    "forbid",
    "forbidden",
    "prohibit",
    "disallow",
    "not allowed",
    "not permitted",
    "banned",
    "instead of",
    "nunca",
    "no uses",
    "evita",
    "niemals",
    "vermeide",
    "jamais",
    "n'utilise",
    "никогда",
    "не использ",
    "нельзя",
    "不要",
    "禁止",
    "切勿",
    "请勿",
    "避免",
    "❌",
];

/// What makes a condition or a purpose of a prohibition behind it.
const CONDITIONS: [&str; 13] = [
    "if ",
    "when ",
    "whenever ",
    "unless ",
    "until ",
    "once ",
    "while ",
    "where ",
    "in case ",
    "should ",
    "to ",
    "because ",
    "since ",
];

/// What bends a prohibition before it into something else: "never start without running".
const BENDS: [&str; 14] = [
    "without",
    "until",
    "before",
    "after",
    "unless",
    "except",
    "later",
    "other than",
    "more than",
    "less than",
    "only",
    " if ",
    " when ",
    "stop",
];

/// How a prohibition of a use continues: "never call `eval()`", not "never mind, `eval()`".
const VERBS: [&str; 20] = [
    "use",
    "using",
    "call",
    "calling",
    "run",
    "running",
    "execute",
    "executing",
    "invoke",
    "import",
    "importing",
    "write",
    "pipe",
    "piping",
    "add",
    "allow",
    "accept",
    "rely",
    "require",
    "suggest",
];

/// Whether a stretch that starts at `start` is plainly forbidden. A fence never is: what is in it
/// can be copied and run.
pub(super) fn is_forbidden(
    text: &str,
    document: &Document,
    scan: &Scan,
    id: u32,
    unit: &Unit,
    start: usize,
) -> bool {
    if unit.place == Place::Code {
        return false;
    }
    if bans(text, scan, id, unit, start) {
        return true;
    }
    let led = matches!(unit.place, Place::ListItem | Place::Table);
    led && [unit.lead, unit.heading]
        .into_iter()
        .flatten()
        .any(|id| super::at(document, id).is_some_and(|lead| bans(text, scan, id, lead, lead.end)))
}

/// Whether a plain prohibition in a unit extends to `to`.
fn bans(text: &str, scan: &Scan, id: u32, unit: &Unit, to: usize) -> bool {
    hits(scan, id).filter(|hit| hit.kind == ContextKind::Ban && hit.end <= to).any(|hit| {
        let cue = lower(text, hit.start, hit.end);
        let before = lower(text, unit.start, hit.start);
        let between = lower(text, hit.end, to);
        PLAIN.contains(&cue.as_str())
            && !CONDITIONS.iter().any(|word| starts_a_word(&before, word))
            && !BENDS.iter().any(|word| between.contains(word))
            && (to == unit.end || !cue.is_ascii() || names_a_use(&cue, &between))
    })
}

/// Whether what follows a prohibition forbids the use of the next thing named.
fn names_a_use(cue: &str, between: &str) -> bool {
    let mut words = between.split_whitespace().map(|word| word.trim_matches(['*', '_', '`', '(']));
    let Some(first) = words.find(|word| !word.is_empty()) else { return true };
    let is_word = first.bytes().any(|byte| byte.is_ascii_alphabetic());
    if cue == "instead of" {
        return !is_word;
    }
    // A call or a name in code counts as itself: "avoid exec() and eval()".
    !is_word
        || first.contains('(')
        || VERBS.contains(&first)
        || cue.ends_with("use")
        || !matches!(
            cue,
            "never"
                | "do not"
                | "don't"
                | "dont "
                | "must not"
                | "mustn't"
                | "should not"
                | "shouldn't"
                | "may not"
        )
}

fn starts_a_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = at.checked_sub(1).and_then(|at| text.as_bytes().get(at));
        before.is_none_or(|byte| !byte.is_ascii_alphanumeric())
    })
}
