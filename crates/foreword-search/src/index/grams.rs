//! Similarity by parts of words: the cosine of weighted character grams.
//!
//! It finds relatives that no cutting of endings finds (`reservation`, `reserved`; `wetter`,
//! `wettervorhersage`) and forgives slips of the keyboard.

use crate::index::flat::{IndexError, Reader, Writer};
use crate::index::postings::{Places, Postings};
use crate::index::words::{Word, each_word};

/// Pools from this size on leave out grams that more than this share of the items have: they say
/// little and would cost most of the time.
const LARGE: u32 = 1000;
const COMMON: f32 = 0.125;

/// An index over the grams of items.
///
/// Grams are hashed into a table with room for eight times as many as there are, so that no map
/// is kept and building costs little; two grams that share a place cost next to nothing.
#[derive(Debug, Default)]
pub(crate) struct GramIndex {
    postings: Postings,
    /// The places that some item has.
    taken: Places,
    places: u32,
    items: f32,
}

/// Collects the grams of items, word by word.
#[derive(Debug, Default)]
pub(crate) struct GramBuilder {
    /// (hash, item, count), the grams of an item together.
    found: Vec<(u32, u32, f32)>,
    /// Those of the present item.
    own: Vec<u32>,
    letters: Vec<char>,
    items: u32,
}

impl GramBuilder {
    /// Takes a word of the present item.
    pub(crate) fn word(&mut self, word: Word<'_>) {
        let own = &mut self.own;
        grams_of(word, &mut self.letters, |gram| own.push(gram));
    }

    /// Goes on to the next item.
    pub(crate) fn end_item(&mut self) {
        let Self { found, own, items, .. } = self;
        own.sort_unstable();
        found.extend(own.chunk_by(|a, b| a == b).filter_map(|same| {
            let count = u16::try_from(same.len()).unwrap_or(u16::MAX);
            Some((*same.first()?, *items, f32::from(count)))
        }));
        own.clear();
        *items += 1;
    }

    pub(crate) fn finish(self) -> GramIndex {
        let Self { mut found, items, .. } = self;
        let places = u32::try_from(found.len().saturating_mul(8).next_power_of_two())
            .unwrap_or(u32::MAX)
            .clamp(1 << 16, 1 << 20);
        for (gram, ..) in &mut found {
            *gram %= places;
        }
        let mut index = GramIndex { places, items: items as f32, ..GramIndex::default() };
        let mut rarities = vec![0.0_f32; places as usize];
        for (gram, ..) in &found {
            if let Some(count) = rarities.get_mut(*gram as usize) {
                *count += 1.0;
            }
        }
        let most = if items < LARGE { f32::INFINITY } else { index.items * COMMON };
        for holders in rarities.iter_mut().filter(|holders| **holders > 0.0) {
            *holders = if *holders > most { 0.0 } else { index.rarity(*holders) };
        }
        let rarity = |gram: u32| rarities.get(gram as usize).copied().unwrap_or_default();
        found.retain(|(gram, ..)| rarity(*gram) > 0.0);
        for own in found.chunk_by_mut(|a, b| a.1 == b.1) {
            let mut length = 0.0_f32;
            for (gram, _, weight) in own.iter_mut() {
                *weight = frequency(*weight) * rarity(*gram);
                length += *weight * *weight;
            }
            let factor = length.sqrt().max(f32::MIN_POSITIVE).recip();
            own.iter_mut().for_each(|(.., weight)| *weight *= factor);
        }
        index.taken = Places::new(places, found.iter().map(|(gram, ..)| *gram));
        for (gram, ..) in &mut found {
            *gram = index.taken.number(*gram).unwrap_or_default();
        }
        index.postings = Postings::new(index.taken.len(), &found);
        index
    }
}

impl GramIndex {
    fn rarity(&self, holders: f32) -> f32 {
        (1.0 + self.items / holders).ln()
    }

    /// The cosine of a text with every item.
    pub(crate) fn scores(&self, text: &str, scores: &mut [f32]) {
        let mut grams: Vec<u32> = Vec::new();
        each_gram(text, |gram| grams.push(gram % self.places.max(1)));
        grams.sort_unstable();
        let mut length = 0.0_f32;
        for same in grams.chunk_by(|a, b| a == b) {
            let Some(gram) = same.first().and_then(|gram| self.taken.number(*gram)) else {
                continue;
            };
            let holders = self.postings.of(gram).len() as f32;
            if holders > 0.0 {
                let weight = frequency(same.len() as f32) * self.rarity(holders);
                length += weight * weight;
                self.postings.add(gram, weight, scores);
            }
        }
        if length > 0.0 {
            let factor = length.sqrt().recip();
            scores.iter_mut().for_each(|score| *score *= factor);
        }
    }
}

impl GramIndex {
    pub(crate) fn write(&self, to: &mut Writer) {
        to.number(self.places);
        self.taken.write(to);
        self.postings.write(to);
    }

    pub(crate) fn read(from: &mut Reader<'_>, items: usize) -> Result<Self, IndexError> {
        let places = from.number()?;
        let taken = Places::read(from, places)?;
        let postings = Postings::read(from, taken.len(), items)?;
        Ok(Self { postings, taken, places, items: items as f32 })
    }
}

/// A gram that occurs often counts for more, but not for many.
fn frequency(count: f32) -> f32 {
    if count > 1.0 { 1.0 + count.ln() } else { 1.0 }
}

/// Hashes of the grams of a text.
fn each_gram(text: &str, mut sink: impl FnMut(u32)) {
    let mut letters: Vec<char> = Vec::new();
    each_word(text, |word| grams_of(word, &mut letters, &mut sink));
}

/// Hashes of the grams of a word: three and four characters of spaced words, their ends marked;
/// two and three of the others.
fn grams_of(word: Word<'_>, letters: &mut Vec<char>, mut sink: impl FnMut(u32)) {
    letters.clear();
    letters.push('^');
    letters.extend(word.text.chars());
    letters.push('$');
    let shortest = if word.unspaced { 2 } else { 3 };
    // The longer gram goes on where the shorter one from the same place ends.
    for short in letters.windows(shortest + 1) {
        let Some((last, short)) = short.split_last() else { continue };
        let sum = short.iter().fold(START, add);
        sink(stir(sum));
        sink(stir(add(sum, last)));
    }
    if let Some(end) = letters.len().checked_sub(shortest).and_then(|at| letters.get(at..)) {
        sink(stir(end.iter().fold(START, add)));
    }
}

/// FNV-1a over characters, with a last stir so that the low bits depend on all of them.
const START: u64 = 0xCBF2_9CE4_8422_2325;

fn add(sum: u64, c: &char) -> u64 {
    (sum ^ u64::from(u32::from(*c))).wrapping_mul(0x0100_0000_01B3)
}

fn stir(sum: u64) -> u32 {
    (sum ^ (sum >> 29) ^ (sum >> 43)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relatives_are_found() {
        let items = ["reservation", "weather forecast", "打开客厅的灯"];
        let mut builder = GramBuilder::default();
        for item in items {
            each_word(item, |word| builder.word(word));
            builder.end_item();
        }
        let index = builder.finish();
        let best = |text: &str| {
            let mut scores = vec![0.0; items.len()];
            index.scores(text, &mut scores);
            scores
        };
        let scores = best("i reserved a table");
        assert!(scores[0] > 0.1 && scores[1] < scores[0], "{scores:?}");
        let scores = best("客厅");
        assert!(scores[2] > 0.1 && scores[0] == 0.0, "{scores:?}");
        let same = best("weather forecast");
        assert!((same[1] - 1.0).abs() < 1e-5, "{same:?}");
        assert_eq!(best(""), [0.0; 3]);
    }

    #[test]
    fn nothing_in_nothing_is_nothing() {
        let index = GramBuilder::default().finish();
        index.scores("anything", &mut []);
    }
}
