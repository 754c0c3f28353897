//! Tells use from mention.
//!
//! "Never use `eval()`" and "detects `eval(`" mention; "run `eval(x)`" uses. The reach of a
//! prohibition is the rest of its clause, the list or short snippet that it leads into, or the list
//! under a heading that says it. It never excuses hidden text or a fence longer than a snippet.

mod cues;
mod plain;

pub(crate) use cues::{CONTEXT_CUES, ContextKind};

use crate::screen::document::{Document, Place, Unit};
use crate::screen::scan::Scan;

/// Whether something is used or only spoken about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stance {
    Use,
    /// Mentioned, judging by the words, which the author of the text can choose to mislead.
    Mention,
    /// Plainly forbidden to the reader, in the same sentence or by what leads into the list.
    Forbidden,
}

/// A context cue in a unit, at the beginning of a word.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ContextHit {
    pub(crate) unit: u32,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) kind: ContextKind,
}

impl ContextHit {
    pub(crate) fn new(text: &str, cue: u16, unit: u32, start: usize, end: usize) -> Option<Self> {
        let cue = CONTEXT_CUES.get(usize::from(cue))?;
        let before = start.checked_sub(1).and_then(|i| text.as_bytes().get(i));
        let joined = cue.text.is_ascii()
            && before.is_some_and(|b| {
                // Part of a longer word, or of an address.
                b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/' | b'@')
            });
        (!joined).then_some(Self { unit, start, end, kind: cue.kind })
    }
}

/// What undoes a prohibition that stands right before it: "never forget to", "do not skip".
const UNDONE: [&str; 21] = [
    "forget",
    "hesitate",
    "fail",
    "skip",
    "omit",
    "neglect",
    "miss",
    "worry",
    "wait",
    "ask",
    "stop",
    "need ",
    "have to",
    "be afraid",
    "require ",
    "question",
    "tell",
    "mention",
    "inform",
    "warn",
    "remove",
];

/// Where a new clause starts that a prohibition before it does not govern.
const NEW_CLAUSE: [&str; 17] = [
    " but ",
    "instead",
    " then ",
    "; ",
    " so ",
    " just ",
    ": run",
    ", run",
    ", use ",
    ", execute",
    " - run",
    " and run",
    " to run",
    ". run",
    ", paste",
    " please ",
    " now ",
];

/// Verbs with which a description becomes an order.
const ORDERS: [&str; 14] = [
    "run ", "execute", "use ", "using ", "call ", "invoke", "paste", "type ", "install",
    "download", "must ", "fetch ", "send ", "always",
];

/// A fence with more lines than this is no snippet.
const SNIPPET_LINES: u32 = 3;

/// Judges whether the stretch `start..end` of `unit` is a use.
pub(crate) fn stance(
    text: &str,
    document: &Document,
    scan: &Scan,
    unit_id: u32,
    start: usize,
    end: usize,
) -> Stance {
    let Some(unit) = at(document, unit_id) else { return Stance::Use };
    if unit.place.is_hidden() {
        return Stance::Use;
    }
    let mentioned = match unit.place {
        Place::Code => snippet_is_shown_as_bad(text, document, scan, unit_id, unit),
        Place::ListItem | Place::Table => {
            governed(text, scan, unit_id, unit, start, end)
                || led_into(text, document, scan, unit, start)
        }
        _ => governed(text, scan, unit_id, unit, start, end),
    };
    match mentioned {
        false => Stance::Use,
        true if plain::is_forbidden(text, document, scan, unit_id, unit, start) => {
            Stance::Forbidden
        }
        true => Stance::Mention,
    }
}

fn at(document: &Document, id: u32) -> Option<&Unit> {
    usize::try_from(id).ok().and_then(|i| document.units.get(i))
}

fn hits(scan: &Scan, unit: u32) -> impl Iterator<Item = &ContextHit> {
    let first = scan.context.partition_point(|h| h.unit < unit);
    scan.context.iter().skip(first).take_while(move |h| h.unit == unit)
}

/// A cue in the same sentence governs the stretch.
fn governed(text: &str, scan: &Scan, id: u32, unit: &Unit, start: usize, end: usize) -> bool {
    hits(scan, id).any(|hit| {
        if hit.end <= start {
            let between = lower(text, hit.end, start);
            match hit.kind {
                ContextKind::Ban => !undone(&between) && !reset(&between),
                ContextKind::Tell | ContextKind::Evil => {
                    between.len() < 120
                        && !reset(&between)
                        && !ORDERS.iter().any(|o| between.contains(o))
                        && !ordered(text, unit.start, hit.start)
                }
            }
        } else if hit.start >= end {
            // "eval() is dangerous", "`curl | sh`: forbidden"
            let between = lower(text, end, hit.start);
            let before = lower(text, unit.start, start);
            hit.kind != ContextKind::Tell
                && between.len() < 60
                && predicates(&between)
                && !reset(&between)
                && !ORDERS.iter().any(|o| before.contains(o))
        } else {
            false
        }
    })
}

/// Whether what stands between a stretch and a word makes the word say something about the stretch.
fn predicates(between: &str) -> bool {
    const LINKS: [&str; 12] =
        [" is ", " are ", " was ", " be ", " as ", " can ", " may ", ":", " - ", "=", " (", "|"];
    LINKS.iter().any(|link| between.contains(link))
}

/// Whether an order opens the sentence before the description: "Run this to detect …".
fn ordered(text: &str, from: usize, to: usize) -> bool {
    let before = lower(text, from, to);
    ["run ", "execute ", "paste ", "download ", "install "].iter().any(|o| before.contains(o))
}

fn undone(between: &str) -> bool {
    let next = between.trim_start_matches([' ', '*', '_', '\n', '`']);
    UNDONE.iter().any(|word| next.starts_with(word))
}

fn reset(between: &str) -> bool {
    NEW_CLAUSE.iter().any(|word| between.contains(word)) || ends_sentence(between)
}

/// A full stop that is not that of an abbreviation: what follows is another sentence, whatever its
/// first letter.
fn ends_sentence(between: &str) -> bool {
    between.match_indices(['.', '!', '?']).any(|(at, _)| {
        let after = between.get(at + 1..).unwrap_or_default();
        let before = between.get(..at).unwrap_or_default();
        (after.is_empty() || after.starts_with([' ', '\n']))
            && !["e.g", "i.e", "etc", "vs", "cf"].iter().any(|a| before.ends_with(a))
    })
}

/// At most this much of the text between a cue and a stretch is looked at.
const REACH: usize = 400;

fn lower(text: &str, from: usize, to: usize) -> String {
    let from = from.max(to.saturating_sub(REACH));
    let bytes = text.as_bytes().get(from..to).unwrap_or_default();
    String::from_utf8_lossy(bytes).to_ascii_lowercase()
}

/// The heading above, or the sentence that leads into this list, forbids or describes its items.
///
/// Under a mere description an item that gives an order is an order all the same. A heading
/// further up counts only if it forbids, and only below the title of the text.
fn led_into(text: &str, document: &Document, scan: &Scan, unit: &Unit, start: usize) -> bool {
    let item = lower(text, unit.start, start);
    let orders = ORDERS.iter().any(|o| item.contains(o));
    let here = [unit.lead, unit.heading];
    if here.into_iter().flatten().any(|id| leads(text, document, scan, id, !orders)) {
        return true;
    }
    let mut above = unit.heading.and_then(|id| at(document, id)).and_then(|h| h.heading);
    // Headings have six levels.
    for _ in 0..6 {
        let Some(id) = above else { return false };
        let Some(heading) = at(document, id) else { return false };
        if heading.heading.is_some() && leads(text, document, scan, id, false) {
            return true;
        }
        above = heading.heading;
    }
    false
}

/// Whether a heading or a sentence before a colon forbids what follows, or describes it as evil.
fn leads(text: &str, document: &Document, scan: &Scan, id: u32, may_tell: bool) -> bool {
    let Some(lead) = at(document, id) else { return false };
    if lead.place != Place::Heading {
        let body = text.get(lead.start..lead.end).unwrap_or_default();
        let body = body.trim_end().trim_end_matches(['*', '_']).trim_end();
        if !body.ends_with(':') {
            return false;
        }
    }
    hits(scan, id).any(|hit| {
        let after = lower(text, hit.end, lead.end);
        let orders = ORDERS.iter().take(9).any(|o| after.contains(o));
        match hit.kind {
            ContextKind::Ban => !undone(&after) && !reset(&after),
            ContextKind::Tell | ContextKind::Evil => {
                may_tell && !orders && !ordered(text, lead.start, hit.start)
            }
        }
    })
}

/// A short fence that the sentence or heading before it, or a comment in it, shows as bad.
fn snippet_is_shown_as_bad(
    text: &str,
    document: &Document,
    scan: &Scan,
    id: u32,
    unit: &Unit,
) -> bool {
    if document.fence(unit.block).is_none_or(|fence| fence.lines > SNIPPET_LINES) {
        return false;
    }
    if led_into(text, document, scan, unit, unit.start) {
        return true;
    }
    // A comment on the same line or on the line before.
    let first = id.saturating_sub(1);
    (first..=id).any(|other| {
        at(document, other).is_some_and(|u| u.block == unit.block)
            && hits(scan, other).any(|hit| {
                let from = at(document, other).map_or(hit.start, |u| u.start);
                let before = lower(text, from, hit.start);
                ["# ", "// ", "-- "].iter().any(|mark| before.contains(mark))
            })
    })
}
