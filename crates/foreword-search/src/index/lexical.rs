//! What words alone say: BM25, the share of a name that the query spells out, and character grams.

use crate::index::flat::{IndexError, Reader, Writer};
use crate::index::grams::{GramBuilder, GramIndex};
use crate::index::postings::Postings;
use crate::index::terms::Terms;
use crate::index::words::{each_term, each_word, repeats, terms_of};

/// What stored bytes start with, and the version of what follows. The version also changes with
/// anything that decides the numbers: how words are cut, hashed or weighed.
const MAGIC: [u8; 8] = *b"FWLEXIDX";
const VERSION: u32 = 1;

/// How fast a repeated word stops counting.
const K1: f32 = 1.2;
/// How much a long text is held against an item.
const B: f32 = 0.75;
/// A word of the name counts as much as this many of the description.
const NAME_WEIGHT: f32 = 2.0;

/// A pool with fewer items counts as one of this size: with a handful of items no word is rare
/// among them, and scores could not be held against a threshold.
const SMALLEST: f32 = 20.0;

/// An index over the names and descriptions of items.
#[derive(Debug, Default)]
pub struct LexicalIndex {
    terms: Terms,
    /// Per term.
    rarity: Vec<f32>,
    words: Postings,
    names: Postings,
    grams: GramIndex,
    items: usize,
}

/// What each part of the index says about every item, in order of item.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LexicalScores {
    /// BM25, unbounded: it grows with every rare word that is shared.
    pub bm25: Vec<f32>,
    /// The share of the item's name in the query, 0 to 1, weighted by rarity.
    pub name: Vec<f32>,
    /// The cosine of character grams, 0 to 1.
    pub grams: Vec<f32>,
    /// The share of the query's words that occur in any item, 0 to 1.
    pub known: f32,
    /// The rarity of all of the query's words together: what BM25 could come to if one item had
    /// each of them once.
    pub possible: f32,
}

impl LexicalIndex {
    /// Indexes items given as name and description.
    pub fn new<'a>(items: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let mut index = Self::default();
        let mut grams = GramBuilder::default();
        let mut stem = String::new();
        let mut found: Vec<(u32, u32, f32)> = Vec::new();
        let mut named: Vec<(u32, u32, f32)> = Vec::new();
        let mut lengths: Vec<f32> = Vec::new();
        let mut own: Vec<(u32, f32)> = Vec::new();
        for (item, (name, text)) in (0..).zip(items) {
            let text = if repeats(name, text) { "" } else { text };
            // Each text is divided into words once, for both kinds of evidence.
            let mut take = |text: &str, weight: f32, own: &mut Vec<(u32, f32)>| {
                each_word(text, |word| {
                    grams.word(word);
                    terms_of(word, &mut stem, |term| own.push((index.terms.number(term), weight)));
                });
            };
            take(name, NAME_WEIGHT, &mut own);
            own.sort_unstable_by_key(|(term, _)| *term);
            named.extend(
                own.chunk_by(|a, b| a.0 == b.0).filter_map(|x| Some((x.first()?.0, item, 1.0))),
            );
            take(text, 1.0, &mut own);
            grams.end_item();
            own.sort_by_key(|(term, _)| *term);
            lengths.push(own.iter().map(|(_, weight)| weight).sum());
            for same in own.chunk_by(|a, b| a.0 == b.0) {
                let Some((term, _)) = same.first() else { continue };
                found.push((*term, item, same.iter().map(|(_, weight)| weight).sum()));
            }
            own.clear();
        }
        index.items = lengths.len();
        index.grams = grams.finish();
        let mean =
            (lengths.iter().sum::<f32>() / lengths.len().max(1) as f32).max(f32::MIN_POSITIVE);
        for (_, item, weight) in &mut found {
            let length = lengths.get(*item as usize).map_or(1.0, |length| length / mean);
            *weight = *weight * (K1 + 1.0) / (*weight + K1 * (1.0 - B + B * length));
        }
        let terms = index.terms.len();
        index.words = Postings::new(terms, &found);
        index.rarity = (0..terms as u32)
            .map(|term| rarity(index.items, index.words.of(term).len() as f32))
            .collect();
        index.names = index.name_shares(&named);
        for term in 0..terms as u32 {
            let rarity = index.rarity(term);
            index.words.of_mut(term).iter_mut().for_each(|(_, weight)| *weight *= rarity);
        }
        index
    }

    /// The weight of every term of a name, all of a name together making 1.
    fn name_shares(&self, named: &[(u32, u32, f32)]) -> Postings {
        let mut totals = vec![0.0_f32; self.items];
        for (term, item, _) in named {
            if let Some(total) = totals.get_mut(*item as usize) {
                *total += self.rarity(*term);
            }
        }
        let shares: Vec<_> = named
            .iter()
            .map(|(term, item, _)| {
                let total = totals.get(*item as usize).map_or(1.0, |x| x.max(f32::MIN_POSITIVE));
                (*term, *item, self.rarity(*term) / total)
            })
            .collect();
        Postings::new(self.terms.len(), &shares)
    }

    fn rarity(&self, term: u32) -> f32 {
        self.rarity.get(term as usize).copied().unwrap_or_default()
    }

    /// How many items there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items == 0
    }

    /// Scores every item for a query, in time linear in the query.
    #[must_use]
    pub fn scores(&self, query: &str) -> LexicalScores {
        let mut terms: Vec<u32> = Vec::new();
        let mut strangers: Vec<Box<str>> = Vec::new();
        each_term(query, |term| match self.terms.find(term) {
            Some(number) => terms.push(number),
            None => strangers.push(term.into()),
        });
        terms.sort_unstable();
        terms.dedup();
        strangers.sort_unstable();
        strangers.dedup();
        let mut scores = LexicalScores {
            bm25: vec![0.0; self.items],
            name: vec![0.0; self.items],
            grams: vec![0.0; self.items],
            known: terms.len() as f32 / (terms.len() + strangers.len()).max(1) as f32,
            possible: terms.iter().map(|term| self.rarity(*term)).sum::<f32>()
                + strangers.len() as f32 * rarity(self.items, 0.0),
        };
        for term in &terms {
            self.words.add(*term, 1.0, &mut scores.bm25);
            self.names.add(*term, 1.0, &mut scores.name);
        }
        self.grams.scores(query, &mut scores.grams);
        scores
    }

    /// The index as bytes that [`LexicalIndex::from_bytes`] reads many times faster than it is built.
    ///
    /// They contain no hash: the caller stores one with them.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::new(MAGIC, VERSION);
        writer.number(u32::try_from(self.items).unwrap_or(u32::MAX));
        self.terms.write(&mut writer);
        writer.floats(&self.rarity);
        self.words.write(&mut writer);
        self.names.write(&mut writer);
        self.grams.write(&mut writer);
        writer.finish()
    }

    /// Reads what [`LexicalIndex::to_bytes`] wrote; scores are the same to the bit.
    ///
    /// Every length and every number that points somewhere is checked, so that damaged bytes can
    /// neither panic here nor later. Weights are only checked to be finite.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, IndexError> {
        let mut reader = Reader::new(bytes, MAGIC, VERSION)?;
        let items = reader.number()? as usize;
        let terms = Terms::read(&mut reader)?;
        let rarity = reader.floats()?;
        if rarity.len() != terms.len() || !rarity.iter().all(|x| x.is_finite()) {
            return Err(IndexError::damaged("its words have no weights"));
        }
        let words = Postings::read(&mut reader, terms.len(), items)?;
        let names = Postings::read(&mut reader, terms.len(), items)?;
        let grams = GramIndex::read(&mut reader, items)?;
        reader.finish()?;
        // An unchecked count would make every query allocate that much memory.
        if items > words.len().saturating_mul(64).saturating_add(1 << 20) {
            return Err(IndexError::damaged("it has more items than words"));
        }
        Ok(Self { terms, rarity, words, names, grams, items })
    }
}

/// The weight of a word by the number of items that have it.
fn rarity(items: usize, holders: f32) -> f32 {
    let count = (items as f32).max(SMALLEST);
    (1.0 + (count - holders + 0.5) / (holders + 0.5)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn index() -> LexicalIndex {
        let items = [
            ("play_music", "Plays a song or a playlist"),
            ("set_alarm", "Sets an alarm for a time"),
            ("weather", "weather"),
            ("打开灯", "打开房间里的灯"),
        ];
        LexicalIndex::new(items.into_iter())
    }

    fn best(scores: &[f32]) -> usize {
        scores.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).unwrap().0
    }

    #[test]
    fn every_part_finds_its_item() {
        let index = index();
        for (query, item) in
            [("playing a song", 0), ("alarms", 1), ("how is the weather", 2), ("请打开灯", 3)]
        {
            let scores = index.scores(query);
            assert_eq!(best(&scores.bm25), item, "{query}");
            assert_eq!(best(&scores.grams), item, "{query}");
        }
        let scores = index.scores("set an alarm");
        assert!((scores.name[1] - 1.0).abs() < 1e-6, "the whole name is there: {:?}", scores.name);
        assert_eq!(scores.known, 1.0);
    }

    #[test]
    fn what_nobody_says_scores_nothing() {
        let scores = index().scores("zzz qqq");
        assert_eq!(
            scores,
            LexicalScores {
                bm25: vec![0.0; 4],
                name: vec![0.0; 4],
                grams: vec![0.0; 4],
                known: 0.0,
                possible: 2.0 * rarity(4, 0.0),
            }
        );
        assert_eq!(index().scores("").known, 0.0);
        assert!(LexicalIndex::new(std::iter::empty()).scores("x").bm25.is_empty());
    }

    #[test]
    fn an_index_of_another_version_is_named() {
        let mut bytes = index().to_bytes();
        bytes[8] = 9;
        let message = LexicalIndex::from_bytes(&bytes).unwrap_err().to_string();
        assert_eq!(message, "the index has version 9, this program reads version 1; index again");
        let message = LexicalIndex::from_bytes(b"something else").unwrap_err().to_string();
        assert_eq!(message, "the index is damaged: it does not start like one; index again");
    }

    proptest! {
        #[test]
        fn scores_are_finite_and_repeatable(items in prop::collection::vec((".{0,20}", ".{0,60}"), 0..8), query: String) {
            let pairs = || items.iter().map(|(a, b)| (a.as_str(), b.as_str()));
            let (a, b) = (LexicalIndex::new(pairs()).scores(&query), LexicalIndex::new(pairs()).scores(&query));
            for part in [&a.bm25, &a.name, &a.grams] {
                prop_assert_eq!(part.len(), items.len());
                prop_assert!(part.iter().all(|x| x.is_finite() && *x >= 0.0));
            }
            prop_assert!(a.name.iter().chain(&a.grams).all(|x| *x <= 1.001));
            prop_assert_eq!(&a, &b);
            let bytes = LexicalIndex::new(pairs()).to_bytes();
            prop_assert_eq!(LexicalIndex::from_bytes(&bytes).unwrap().scores(&query), a);
        }

        #[test]
        fn damage_never_panics(at: prop::sample::Index, to: u8, cut: prop::sample::Index) {
            let bytes = index().to_bytes();
            let mut changed = bytes.clone();
            changed[at.index(bytes.len())] = to;
            if let Ok(index) = LexicalIndex::from_bytes(&changed) {
                let _ = index.scores("playing a song 打开灯");
            }
            prop_assert!(LexicalIndex::from_bytes(&bytes[..cut.index(bytes.len())]).is_err());
        }
    }
}
