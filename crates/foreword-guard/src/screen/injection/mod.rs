//! Instructions that turn an agent against its instructions, in many languages.
//!
//! Each language is a small table of stems: a verb of disregard, what is disregarded, how it is
//! qualified. A sentence that has one of each close together is an override, in whatever order and
//! inflection the language puts them.

mod languages;
mod phrases;

pub(crate) use phrases::injection_phrases;

use std::sync::LazyLock;

use crate::screen::normalise::normalise;
use crate::screen::scan::Signal;
use languages::{LANGUAGES, Language};

/// "Ignore your previous instructions."
pub(crate) const OVERRIDE: Signal = Signal("override");
/// "Ignore the above."
pub(crate) const DISMISSAL: Signal = Signal("dismissal");
/// "Show your system prompt."
pub(crate) const PROMPT_LEAK: Signal = Signal("prompt-leak");

/// How far apart the words of an override may stand, in bytes.
const WINDOW: usize = 110;
const WIDE_WINDOW: usize = 240;
const CLOSE: usize = 28;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Ignore,
    Reveal,
}

/// A language with its stems made comparable.
struct Stems {
    strict: bool,
    ignore: Vec<String>,
    earlier: Vec<String>,
    orders: Vec<String>,
    reveal: Vec<String>,
    prompt: Vec<String>,
}

struct Table {
    languages: Vec<Stems>,
    anchors: Vec<(String, usize, Family)>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let languages: Vec<Stems> = LANGUAGES.iter().map(stems).collect();
    let mut anchors = Vec::new();
    for (index, language) in languages.iter().enumerate() {
        let ignore = language.ignore.iter().map(|s| (s.clone(), index, Family::Ignore));
        let reveal = language.reveal.iter().map(|s| (s.clone(), index, Family::Reveal));
        anchors.extend(ignore.chain(reveal));
    }
    Table { languages, anchors }
});

fn stems(language: &Language) -> Stems {
    let plain = |stems: &[&str]| -> Vec<String> {
        stems
            .iter()
            .map(|s| if s.is_ascii() { (*s).to_owned() } else { normalise(s).text().to_owned() })
            .collect()
    };
    Stems {
        strict: language.strict,
        ignore: plain(language.ignore),
        earlier: plain(language.earlier),
        orders: plain(language.orders),
        reveal: plain(language.reveal),
        prompt: plain(language.prompt),
    }
}

/// The words that make a sentence worth a look, each with its place in the list.
pub(crate) fn anchors() -> impl Iterator<Item = (&'static str, usize)> {
    TABLE.anchors.iter().enumerate().map(|(index, (text, ..))| (text.as_str(), index))
}

/// Looks at a sentence in which an anchor occurs; the sentence is in lower case.
pub(crate) fn look(lower: &str, anchor: u16) -> Option<(Signal, usize, usize)> {
    let (text, language, family) = TABLE.anchors.get(usize::from(anchor))?;
    let stems = TABLE.languages.get(*language)?;
    let window = if text.is_ascii() { WINDOW } else { WIDE_WINDOW };
    let strict = stems.strict;
    occurrences(lower, text, strict).take(8).find_map(|at| {
        let end = at + text.len();
        if strict && !is_order(lower, at, text) {
            return None;
        }
        // The object follows the verb in a strict language and may precede it in others.
        let from = if strict { end } else { at.saturating_sub(window) };
        let near = |words: &[String], reach: usize| {
            let place = Place { from, to: end + reach, start: at, end };
            closest(lower, words, &place, strict)
        };
        match family {
            Family::Reveal => {
                let object = near(&stems.prompt, window / 2)?;
                Some((PROMPT_LEAK, at.min(object.0), end.max(object.1)))
            }
            Family::Ignore => {
                let earlier = near(&stems.earlier, window)?;
                let start = at.min(earlier.0);
                let stop = end.max(earlier.1);
                match near(&stems.orders, window) {
                    Some(orders) => Some((OVERRIDE, start.min(orders.0), stop.max(orders.1))),
                    None => {
                        let gap = earlier.0.saturating_sub(end).max(at.saturating_sub(earlier.1));
                        // Stems of one language are words of another.
                        let object = lower.get(earlier.0..earlier.1).unwrap_or_default();
                        let sure = if strict {
                            matches!(object, "above" | "foregoing")
                        } else {
                            !text.is_ascii() || !reads_as_english(lower)
                        };
                        (gap < CLOSE && sure).then_some((DISMISSAL, start, stop))
                    }
                }
            }
        }
    })
}

/// Whether an English verb is an order: "don't forget" is none, and "do not follow" is one only where
/// a sentence begins.
fn is_order(lower: &str, at: usize, verb: &str) -> bool {
    let before = lower.get(..at).unwrap_or_default().trim_end();
    if verb.starts_with("do") {
        return before.chars().all(|c| !c.is_alphanumeric());
    }
    !["not", "n't", "never", "to not", "cannot", "ll", "can"].iter().any(|no| before.ends_with(no))
}

fn reads_as_english(lower: &str) -> bool {
    [" the ", " and ", " of ", " is ", " with ", " which "].iter().any(|w| lower.contains(w))
}

/// Where to look for a word, and for which one it has to be close to.
struct Place {
    from: usize,
    to: usize,
    start: usize,
    end: usize,
}

/// Where `stem` begins a word. Stems outside ASCII need no beginning: their scripts have no blanks,
/// or their words are long enough. A strict language has whole words, but for the plural.
fn occurrences<'a>(text: &'a str, stem: &'a str, strict: bool) -> impl Iterator<Item = usize> + 'a {
    let letter = |at: Option<usize>| {
        at.and_then(|i| text.as_bytes().get(i)).is_some_and(u8::is_ascii_alphanumeric)
    };
    text.match_indices(stem).map(|(at, _)| at).filter(move |at| {
        let end = at + stem.len();
        let plural = usize::from(text.as_bytes().get(end) == Some(&b's'));
        let begins = !stem.is_ascii() || !letter(at.checked_sub(1));
        begins && (!strict || !letter(Some(end + plural)))
    })
}

/// The occurrence of one of `words` closest to the verb.
fn closest(text: &str, words: &[String], place: &Place, strict: bool) -> Option<(usize, usize)> {
    let mut from = place.from;
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let mut to = text.len().min(place.to);
    while !text.is_char_boundary(to) {
        to += 1;
    }
    let part = text.get(from..to)?;
    let found = words.iter().flat_map(|word| {
        occurrences(part, word, strict).map(|at| (from + at, from + at + word.len())).take(4)
    });
    found
        .filter(|(s, e)| *e <= place.start || *s >= place.end)
        .min_by_key(|(s, e)| s.saturating_sub(place.end).max(place.start.saturating_sub(*e)))
}
