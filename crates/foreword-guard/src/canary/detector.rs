//! Finds canaries in text, however they are written.
//!
//! The text is read in several ways at once: its letters and digits as they stand, with escapes undone,
//! the first and last words of list items, the bytes that its hexadecimal digits make and those that its
//! base64 characters make, each from every place a byte can start and in both directions, its numbers,
//! and the bytes of base32, base58 and base85. What an encoding brings is read as an encoding once more.
//! Whatever a reading brings is reduced to ASCII letters and digits without case and held against the
//! canary, the canary reversed, and both in ROT13, and the distances between letters against those of
//! the canary. So a form is found in every combination (base64 of the reversed canary in upper case,
//! with blanks between), and nothing has to be listed.
//!
//! What stands between two characters of a form may be anything that the reading has no use for, at
//! most [`MAX_LEAK_GAP`] characters of it. [`MIN_LEAK_CHARS`] characters of a canary in a row are a leak.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use unicode_normalization::UnicodeNormalization as _;

use crate::canary::decoded::Layer;
use crate::canary::grouped::Grouped;
use crate::canary::listed::Listed;
use crate::canary::lookalike;
use crate::canary::readings::{Base64, Escaped, Hex, Hit, Numbers, Place, Track};
use crate::canary::runs::Runs;
use crate::canary::shifted::{MIN_SHIFTED_CHARS, Shifted, distances};
use crate::canary::tokens::Tokens;
use crate::canary::{Canary, LENGTH, Words};

/// How many characters of a canary in a row count as a leak. The prefix is three of them, so that a
/// text by chance would have to meet 65 random bits.
pub(crate) const MIN_LEAK_CHARS: usize = 16;

/// How many characters may stand between two characters of a form before it counts as interrupted.
pub const MAX_LEAK_GAP: usize = 64;

/// How many characters there can be from the start of an unfinished form to its end: what a stream
/// ever holds back for the sake of canaries.
pub const MAX_LEAK_FORM: usize = MIN_SHIFTED_CHARS * (MAX_LEAK_GAP + 1);

/// How the characters of a canary were written when it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// As letters and digits: in any case and width, with anything between them.
    Letters,
    /// As hexadecimal digits; so are percent-encoding and escapes such as `\x66`.
    Hex,
    /// As base64, standard or for URLs.
    Base64,
    /// As letters, some of them escaped: `f%77c`, `\x66wc`.
    Escaped,
    /// As the numbers of its characters, in decimal, octal or binary.
    Numbers,
    /// As a list, a character or a group in each item.
    List,
    /// As base32, in one of three alphabets.
    Base32,
    /// As base58, or as base85 in one of three alphabets.
    Base58Or85,
    /// In one encoding within another.
    Twice,
}

/// In which order and with which letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Spelling {
    /// As it is.
    Forward,
    /// Last character first.
    Reversed,
    /// Letters moved by thirteen.
    Rot13,
    /// Both.
    Rot13Reversed,
    /// Letters moved by any number of places.
    Shifted,
    /// The same, last character first.
    ShiftedReversed,
}

const SPELLINGS: [Spelling; 4] =
    [Spelling::Forward, Spelling::Reversed, Spelling::Rot13, Spelling::Rot13Reversed];

/// How a canary was written when it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LeakForm {
    /// Its characters.
    pub encoding: Encoding,
    /// Their order and letters.
    pub spelling: Spelling,
}

impl fmt::Display for LeakForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spelling = match self.spelling {
            Spelling::Forward => "",
            Spelling::Reversed => "reversed ",
            Spelling::Rot13 => "in ROT13 ",
            Spelling::Rot13Reversed => "reversed in ROT13 ",
            Spelling::Shifted => "in a Caesar cipher ",
            Spelling::ShiftedReversed => "reversed in a Caesar cipher ",
        };
        f.write_str(spelling)?;
        f.write_str(match self.encoding {
            Encoding::Letters => "as letters",
            Encoding::Hex => "as hexadecimal digits",
            Encoding::Base64 => "as base64",
            Encoding::Escaped => "as escaped letters",
            Encoding::Numbers => "as numbers",
            Encoding::List => "as a list",
            Encoding::Base32 => "as base32",
            Encoding::Base58Or85 => "as base58 or base85",
            Encoding::Twice => "encoded twice",
        })
    }
}

/// A canary was found. It does not contain the token, so that logging it does not leak it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("answer withheld: it contains this session's canary ({form})")]
pub struct Leak {
    /// How it was written.
    pub form: LeakForm,
    /// Which of the canaries, by its place in the list given to the detector.
    pub canary: usize,
    /// Where the form starts, in bytes from the start of the text.
    pub start: usize,
}

/// Finds canaries, however they are written.
#[derive(Debug, Clone)]
pub struct Detector {
    words: Arc<Words>,
}

impl Detector {
    /// A detector of these canaries: that of the session and those it had before.
    #[must_use]
    pub fn new(canaries: &[Canary]) -> Self {
        let words: Vec<String> = canaries.iter().flat_map(spellings).collect();
        let plain = Runs::new(words.iter().map(String::as_str));
        let shifted = canaries.iter().flat_map(|canary| {
            let [forward, reversed, ..] = spellings(canary);
            [distances(&forward), distances(&reversed)]
        });
        Self { words: Arc::new(Words { plain, shifted: Runs::of(shifted) }) }
    }

    /// The first canary in a text. The time is linear in the text, and no memory is taken.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<Leak> {
        let mut watch = self.watch();
        watch.push(text).or_else(|| watch.finish())
    }

    /// The first canary in JSON: as it is written, or in what its strings say. In a string that is
    /// written down, a line break is a backslash and a letter, which may stand between those of a canary.
    #[must_use]
    pub fn find_in_json(&self, json: &str) -> Option<Leak> {
        let written = self.find(json);
        if written.is_some() || !json.contains('\\') {
            return written;
        }
        let value: Value = serde_json::from_str(json).ok()?;
        let mut watch = self.watch();
        push_strings(&mut watch, &value).or_else(|| watch.finish())
    }

    /// A watch over a text that comes in pieces.
    pub(crate) fn watch(&self) -> Watch {
        Watch::new(Arc::clone(&self.words))
    }
}

/// Reads every name, string and number of a value, each on a line of its own.
fn push_strings(watch: &mut Watch, value: &Value) -> Option<Leak> {
    let line = |watch: &mut Watch, text: &str| watch.push(text).or_else(|| watch.push("\n"));
    match value {
        Value::String(text) => line(watch, text),
        Value::Array(values) => values.iter().find_map(|value| push_strings(watch, value)),
        Value::Object(fields) => fields
            .iter()
            .find_map(|(name, value)| line(watch, name).or_else(|| push_strings(watch, value))),
        Value::Number(number) => line(watch, &number.to_string()),
        Value::Null | Value::Bool(_) => None,
    }
}

fn spellings(canary: &Canary) -> [String; 4] {
    let forward = canary.as_str();
    let rot13 = |text: &str| -> String {
        let turned = text.chars().map(|c| match c {
            'a'..='m' => char::from(c as u8 + 13),
            'n'..='z' => char::from(c as u8 - 13),
            _ => c,
        });
        turned.collect()
    };
    let reversed: String = forward.chars().rev().collect();
    [forward.to_owned(), reversed.clone(), rot13(forward), rot13(&reversed)]
}

/// Reads a text in pieces and knows from where on it may still turn out to be a canary.
#[derive(Debug, Clone)]
pub(crate) struct Watch {
    words: Arc<Words>,
    here: Place,
    letters: Track,
    shifted: Shifted,
    listed: Listed,
    hex: Hex,
    base64: Base64,
    escaped: Escaped,
    numbers: Numbers,
    grouped: Grouped,
    tokens: Tokens,
}

impl Watch {
    fn new(words: Arc<Words>) -> Self {
        Self {
            words,
            here: Place::default(),
            letters: Track::default(),
            shifted: Shifted::default(),
            listed: Listed::default(),
            hex: Hex::default(),
            base64: Base64::default(),
            escaped: Escaped::default(),
            numbers: Numbers::default(),
            grouped: Grouped::all(),
            tokens: Tokens::new(Layer::Outer),
        }
    }

    /// Reads on.
    pub(crate) fn push(&mut self, text: &str) -> Option<Leak> {
        if self.words.plain.is_empty() {
            self.here.byte += text.len();
            return None;
        }
        for c in text.chars() {
            let leak = if c.is_ascii() { self.read(c as u8) } else { self.read_wide(c) };
            if leak.is_some() {
                return leak;
            }
            self.here.byte += c.len_utf8();
            self.here.nth += 1;
        }
        None
    }

    /// The text has ended: what waited for more is read as it is.
    pub(crate) fn finish(&mut self) -> Option<Leak> {
        let Self { words, here, listed, hex, escaped, numbers, grouped, tokens, .. } = self;
        let (runs, here) = (&words.plain, *here);
        let (encoding, hit) = if let Some(hit) = hex.finish(runs, here) {
            (Encoding::Hex, hit)
        } else if let Some(hit) = escaped.finish(runs, here) {
            (Encoding::Escaped, hit)
        } else if let Some(hit) = numbers.finish(runs, here) {
            (Encoding::Numbers, hit)
        } else if let Some(hit) = listed.finish(runs, here) {
            (Encoding::List, hit)
        } else if let Some(found) = grouped.finish(words, here) {
            found
        } else {
            (Encoding::Base58Or85, tokens.finish(words, here)?)
        };
        Some(self.leak(encoding, hit))
    }

    /// The first byte, of all text seen, that may still be part of a canary.
    pub(crate) fn held_from(&self) -> usize {
        let waiting = [
            self.letters.held_from(self.here),
            self.shifted.held_from(self.here),
            self.listed.held_from(self.here),
            self.grouped.held_from(self.here),
            self.tokens.held_from(self.here),
            self.hex.held_from(self.here),
            self.base64.held_from(self.here),
            self.escaped.held_from(self.here),
            self.numbers.held_from(self.here),
        ];
        waiting.into_iter().flatten().min().unwrap_or(self.here.byte)
    }

    /// A character of another script may stand for an ASCII one: full-width and mathematical letters,
    /// letters with accents, in circles and squares, flags, and invisible tags.
    fn read_wide(&mut self, c: char) -> Option<Leak> {
        let letter = |from: u32| u8::try_from(u32::from(c) - from).unwrap_or_default();
        match c {
            '\u{E0020}'..='\u{E007E}' => return self.read(letter(0xE_0000)),
            '\u{1F1E6}'..='\u{1F1FF}' => return self.read(b'a' + letter(0x1_F1E6)),
            '\u{1F150}'..='\u{1F169}' => return self.read(b'a' + letter(0x1_F150)),
            '\u{1F170}'..='\u{1F189}' => return self.read(b'a' + letter(0x1_F170)),
            _ => {}
        }
        let mut stands_for_some = false;
        for c in std::iter::once(c).nfkd() {
            let b = if c.is_ascii() { Some(c as u8) } else { lookalike::ascii(c) };
            let Some(b) = b else { continue };
            stands_for_some = true;
            if let Some(leak) = self.read(b) {
                return Some(leak);
            }
        }
        // Any other character is no more than a blank: it ends numbers and escapes.
        if stands_for_some { None } else { self.read(b' ') }
    }

    fn read(&mut self, b: u8) -> Option<Leak> {
        let Self { words, here, letters, shifted, listed, hex, base64, .. } = self;
        let (runs, here) = (&words.plain, *here);
        let escaped = self.escaped.read(runs, letters, b, here);
        let hit = if let Some(hit) = letters.read(runs, b, here, here) {
            (Encoding::Letters, hit)
        } else if let Some(hit) = hex.read(runs, b, here) {
            (Encoding::Hex, hit)
        } else if let Some(hit) = base64.read(runs, b, here) {
            (Encoding::Base64, hit)
        } else if let Some(hit) = escaped {
            (Encoding::Escaped, hit)
        } else if let Some(hit) = self.numbers.read(runs, b, here) {
            (Encoding::Numbers, hit)
        } else if let Some(hit) = shifted.read(&words.shifted, b, here, here) {
            (Encoding::Letters, hit)
        } else if let Some(hit) = listed.read(runs, b, here) {
            (Encoding::List, hit)
        } else if let Some(found) = self.grouped.read(words, b, here) {
            found
        } else {
            (Encoding::Base58Or85, self.tokens.read(words, b, here)?)
        };
        Some(self.leak(hit.0, hit.1))
    }

    fn leak(&self, encoding: Encoding, hit: Hit) -> Leak {
        let (runs, spellings): (_, &[Spelling]) = if hit.shifted {
            (&self.words.shifted, &[Spelling::Shifted, Spelling::ShiftedReversed])
        } else {
            (&self.words.plain, &SPELLINGS)
        };
        let word = runs.end(hit.run) / (LENGTH + 1);
        let spelling = spellings.get(word % spellings.len()).copied();
        let encoding = if hit.twice { Encoding::Twice } else { encoding };
        let form = LeakForm { encoding, spelling: spelling.unwrap_or(Spelling::Forward) };
        Leak { form, canary: word / spellings.len(), start: hit.start }
    }
}
