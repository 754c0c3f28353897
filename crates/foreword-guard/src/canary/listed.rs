//! The canary as a list: a character or a group of them in each item, with a number or words beside.
//!
//! Items end at a line break, a comma or a semicolon. The first words of all items are one reading, the
//! last words another, so `3. f`, `"3": "f"`, `| 3 | f |` and `f is number 3` are all seen.

use crate::canary::readings::{Hit, Place, Track};
use crate::canary::runs::Runs;

/// A longer word is no group of an item.
const MAX_WORD: usize = 32;

#[derive(Debug, Clone, Default)]
pub(crate) struct Listed {
    first: Track,
    last: Track,
    /// Whether the first word of the item is still to come, is being read, or has ended.
    at: Item,
    in_word: bool,
    word: Word,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Item {
    #[default]
    Start,
    FirstWord,
    Rest,
}

#[derive(Debug, Clone, Default)]
struct Word {
    bytes: [(u8, Place); MAX_WORD],
    length: usize,
}

impl Listed {
    pub(crate) fn read(&mut self, runs: &Runs, b: u8, here: Place) -> Option<Hit> {
        if b.is_ascii_alphanumeric() {
            if !self.in_word {
                self.in_word = true;
                self.word.length = 0;
            }
            if let Some(slot) = self.word.bytes.get_mut(self.word.length) {
                *slot = (b, here);
            }
            self.word.length += 1;
            if self.at == Item::Start {
                self.at = Item::FirstWord;
            }
            return match self.at {
                Item::FirstWord => self.first.read(runs, b, here, here),
                _ => None,
            };
        }
        self.in_word = false;
        if matches!(b, b'\n' | b',' | b';') {
            self.at = Item::Start;
            return self.end(runs, here);
        }
        if self.at == Item::FirstWord {
            self.at = Item::Rest;
        }
        None
    }

    /// The item has ended: its last word counts.
    fn end(&mut self, runs: &Runs, here: Place) -> Option<Hit> {
        let length = std::mem::take(&mut self.word.length);
        let mut hit = None;
        for (b, place) in self.word.bytes.iter().take(length).filter(|_| length <= MAX_WORD) {
            hit = hit.or(self.last.read(runs, *b, *place, here));
        }
        hit
    }

    pub(crate) fn finish(&mut self, runs: &Runs, here: Place) -> Option<Hit> {
        self.end(runs, here)
    }

    pub(crate) fn held_from(&self, here: Place) -> Option<usize> {
        let fits = (1..=MAX_WORD).contains(&self.word.length);
        let word = self.word.bytes.first().filter(|_| fits).map(|(_, place)| *place);
        let word = word.filter(|place| here.reaches(*place)).map(|place| place.byte);
        [word, self.first.held_from(here), self.last.held_from(here)].into_iter().flatten().min()
    }
}
