//! The canary with its letters moved along the alphabet, by any number of places.
//!
//! The distance between two letters stays the same when both are moved. So a text is read as digits and
//! as the distance of each letter from the one before, and one reading covers all shifts.

use crate::canary::readings::{Hit, Place, Track};
use crate::canary::runs::Runs;

/// How many characters in a row count as a leak: more than for the others, because the distance of the
/// first letter says nothing.
pub(crate) const MIN_SHIFTED_CHARS: usize = 20;

const LETTERS: u8 = 26;

/// A sequence of bytes, held against canaries in any shift.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shifted {
    track: Track<MIN_SHIFTED_CHARS>,
    before: Option<(u8, Place)>,
}

impl Shifted {
    pub(crate) fn read(&mut self, runs: &Runs, b: u8, start: Place, here: Place) -> Option<Hit> {
        let letter = match b {
            b'a'..=b'z' => b - b'a',
            b'A'..=b'Z' => b - b'A',
            b'0'..=b'9' => return self.push(runs, b - b'0' + LETTERS, start, here),
            _ => return None,
        };
        let before = self.before.replace((letter, start));
        let (previous, from) =
            before.filter(|(_, place)| here.reaches(*place)).unwrap_or((letter, start));
        self.push(runs, distance(previous, letter), from, here)
    }

    fn push(&mut self, runs: &Runs, symbol: u8, start: Place, here: Place) -> Option<Hit> {
        let hit = self.track.read_symbol(runs, usize::from(symbol), start, here)?;
        Some(Hit { shifted: true, ..hit })
    }

    pub(crate) fn held_from(&self, here: Place) -> Option<usize> {
        self.track.held_from(here)
    }
}

fn distance(from: u8, to: u8) -> u8 {
    if to >= from { to - from } else { to + LETTERS - from }
}

/// What a reading makes of a word.
pub(crate) fn distances(word: &str) -> Vec<usize> {
    let mut before = None;
    let symbols = word.bytes().filter_map(|b| match b {
        b'a'..=b'z' => {
            let letter = b - b'a';
            let previous = before.replace(letter).unwrap_or(letter);
            Some(usize::from(distance(previous, letter)))
        }
        b'0'..=b'9' => Some(usize::from(b - b'0' + LETTERS)),
        _ => None,
    });
    symbols.collect()
}
