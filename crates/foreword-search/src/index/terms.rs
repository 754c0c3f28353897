//! Texts with numbers, in one piece of memory.

use std::hash::{BuildHasher, RandomState};

use crate::index::flat::{IndexError, Reader, Writer};

/// Different texts, numbered from 0 in the order in which they came.
///
/// A map of the standard library would do the same with an allocation per text, which makes both
/// building and reading back several times as slow. The hash has a secret of its own, so that
/// an attacker cannot choose texts that all collide.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    text: String,
    /// Where each text ends.
    ends: Vec<u32>,
    /// The number of a text plus one, at the place its hash says or after it; 0 is free.
    slots: Vec<u32>,
    secret: RandomState,
}

impl Terms {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    fn get(&self, number: u32) -> &str {
        let end = |number: u32| self.ends.get(number as usize).map(|end| *end as usize);
        let start = number.checked_sub(1).map_or(Some(0), end);
        let range = || Some(start?..end(number)?);
        range().and_then(|range| self.text.get(range)).unwrap_or_default()
    }

    /// The slot that holds a text, or the free one where it would be; nothing without slots.
    fn slot(&self, text: &str) -> Option<(usize, Option<u32>)> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut place = self.secret.hash_one(text) as usize & mask;
        // There is always a free slot: at most half of them are taken.
        loop {
            match self.slots.get(place).copied().unwrap_or(0).checked_sub(1) {
                None => return Some((place, None)),
                Some(number) if self.get(number) == text => return Some((place, Some(number))),
                Some(_) => place = (place + 1) & mask,
            }
        }
    }

    /// The number of a text, if it has one.
    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        self.slot(text)?.1
    }

    /// The number of a text; a new text gets a new number.
    pub(crate) fn number(&mut self, text: &str) -> u32 {
        if (self.ends.len() + 1) * 2 > self.slots.len() {
            self.make_room();
        }
        let Some((place, found)) = self.slot(text) else { return 0 };
        if let Some(number) = found {
            return number;
        }
        let number = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
        self.text.push_str(text);
        self.ends.push(u32::try_from(self.text.len()).unwrap_or(u32::MAX));
        if let Some(slot) = self.slots.get_mut(place) {
            *slot = number + 1;
        }
        number
    }

    /// Grows to at least twice as many slots as texts, and rehashes.
    fn make_room(&mut self) {
        let count = ((self.ends.len() + 1) * 4).next_power_of_two().max(64);
        self.slots.clear();
        self.slots.resize(count, 0);
        for number in 0..self.ends.len() as u32 {
            let mut place = self.secret.hash_one(self.get(number)) as usize & (count - 1);
            while let Some(slot) = self.slots.get_mut(place) {
                if *slot == 0 {
                    *slot = number + 1;
                    break;
                }
                place = (place + 1) & (count - 1);
            }
        }
    }

    pub(crate) fn write(&self, to: &mut Writer) {
        to.text(&self.text);
        to.numbers(&self.ends);
    }

    pub(crate) fn read(from: &mut Reader<'_>) -> Result<Self, IndexError> {
        let mut terms =
            Self { text: from.text()?.to_owned(), ends: from.numbers()?, ..Self::default() };
        let fits = terms.ends.last().map_or(0, |end| *end as usize) == terms.text.len()
            && terms.ends.is_sorted()
            && terms.ends.iter().all(|end| terms.text.is_char_boundary(*end as usize));
        if !fits {
            return Err(IndexError::damaged("its words do not fit its text"));
        }
        terms.make_room();
        Ok(terms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_given_once_and_found_again() {
        let mut terms = Terms::default();
        assert_eq!(terms.find("a"), None);
        let names: Vec<String> = (0..1000).map(|i| format!("w{}", i % 500)).collect();
        let numbers: Vec<u32> = names.iter().map(|name| terms.number(name)).collect();
        assert_eq!(numbers[..500], (0..500).collect::<Vec<u32>>());
        assert_eq!(numbers[500..], numbers[..500]);
        assert_eq!(terms.number(""), 500);
        let mut writer = Writer::new(*b"FWTEST01", 1);
        terms.write(&mut writer);
        let bytes = writer.finish();
        let again = Terms::read(&mut Reader::new(&bytes, *b"FWTEST01", 1).unwrap()).unwrap();
        assert_eq!(again.find("w499"), Some(499));
        assert_eq!(again.find(""), Some(500));
        assert_eq!((again.find("w500"), again.len()), (None, 501));
    }
}
