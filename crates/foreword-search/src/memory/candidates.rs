//! From a question to its candidates with all evidence: found by vectors and words, read, compared
//! piece by piece, and seen among the turns of their conversation.

use std::sync::Arc;

use foreword_store::MemoryRows;

use crate::index::words::each_term;
use crate::memory::cache::Known;
use crate::memory::days::{self, Days};
use crate::memory::engine::{Asked, State};
use crate::memory::error::MemoryError;
use crate::memory::likeness::Likeness;
use crate::memory::number_map::NumberMap;
use crate::memory::question::{Question, rarity};
use crate::memory::recall::{Recall, RecallParts};
use crate::memory::score::{self, Calibration};
use crate::memory::words;

/// The minimum number of candidates that are read and scored.
const CANDIDATES: usize = 32;
/// Turns of one conversation are stored one after another, no further apart than this.
const TOGETHER_MS: i64 = 6 * 3_600_000;
const DAY_MS: i64 = 86_400_000;
/// People tell what happened some days later.
const TOLD_AFTER: [(i64, f32); 2] = [(3, 0.7), (8, 0.3)];

/// A memory before it is read: its place, its cosine if it has one, and its share of words.
type Found = (u32, Option<f32>, f32);
type Order = fn(&Found) -> f32;
/// A cosine and the stored vector it was computed with.
type Compared = (f32, Arc<[u8]>);

/// A memory that was looked at closely.
pub(crate) struct Candidate {
    pub(crate) index: u32,
    pub(crate) known: Arc<Known>,
    pub(crate) code: Option<Arc<[u8]>>,
    /// All evidence together.
    pub(crate) sum: f32,
    pub(crate) parts: RecallParts,
}

/// A question in every form that a memory is compared with.
pub(crate) struct Query<'a> {
    pub(crate) recall: &'a Recall<'a>,
    pub(crate) question: Question,
    likeness: Option<Likeness>,
    asks_when: bool,
    days: Vec<Days>,
    /// The words of the names of all speakers among the candidates, sorted.
    speakers: Vec<u64>,
    /// Those that the question has.
    named: Vec<u64>,
    /// What memories say to the question, by place.
    contents: NumberMap<u32, f32>,
}

impl State {
    pub(crate) fn query<'a>(
        &mut self,
        rows: &MemoryRows<'_>,
        recall: &'a Recall<'a>,
        with_vectors: bool,
    ) -> Result<Query<'a>, MemoryError> {
        let question = Question::new(rows, &mut self.cache, &self.index, recall.text)?;
        let likeness = match with_vectors {
            true => Some(self.likeness(rows, recall.text)?),
            false => None,
        };
        let today = recall.now_ms.div_euclid(DAY_MS);
        Ok(Query {
            recall,
            question,
            likeness,
            asks_when: days::asks_when(recall.text),
            days: days::dates(recall.text, today),
            speakers: Vec::new(),
            named: Vec::new(),
            contents: NumberMap::default(),
        })
    }

    /// The words of a question, weighed by how rare they are among the memories.
    fn likeness(&mut self, rows: &MemoryRows<'_>, text: &str) -> Result<Likeness, MemoryError> {
        let count = self.index.len() as f32;
        let mut weighed: Vec<(&str, f32)> = Vec::new();
        let head = text.get(..text.floor_char_boundary(words::MAX_LIKENESS)).unwrap_or_default();
        for word in head.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            if weighed.len() == words::MAX_TERMS {
                break;
            }
            let mut terms = Vec::new();
            each_term(&words::folded(word), |term| terms.push(term.to_owned()));
            let mut weight = 0.0_f32;
            for term in &terms {
                weight += rarity(count, self.cache.count(rows, term)?);
            }
            weighed.push((word, weight / terms.len().max(1) as f32));
        }
        Ok(Likeness::new(weighed.into_iter()))
    }

    /// The candidates among the memories that are seen, the best first.
    pub(crate) fn candidates(
        &mut self,
        rows: &MemoryRows<'_>,
        query: &mut Query<'_>,
        asked: Option<&mut Asked<'_>>,
        seen: &[bool],
    ) -> Result<Vec<Candidate>, MemoryError> {
        let want = CANDIDATES.max(2 * query.recall.limit.min(super::engine::MAX_HITS));
        let mut asked = asked;
        let mut pool = self.pool(rows, query, asked.as_deref_mut(), seen, want)?;
        let asked = asked.as_deref();
        self.add_answers(rows, &mut pool, want)?;
        let mut read = Vec::with_capacity(pool.len());
        for index in pool {
            read.push((index, self.cache.known(rows, &self.index, index)?));
        }
        let speakers = read.iter().flat_map(|(_, known)| known.speaker.iter().copied());
        query.speakers = speakers.collect();
        query.speakers.sort_unstable();
        query.speakers.dedup();
        query.named = query.question.named(&query.speakers).collect();
        query.contents.clear();
        let mut found = Vec::with_capacity(read.len());
        for (index, known) in read {
            found.push(self.candidate(rows, query, asked, index, known)?);
        }
        let at = |candidate: &Candidate| self.index.at(candidate.index);
        found.sort_by(|a, b| {
            b.sum
                .total_cmp(&a.sum)
                .then_with(|| at(b).cmp(&at(a)))
                .then_with(|| a.known.entry.id.cmp(&b.known.entry.id))
        });
        Ok(found)
    }

    /// The places of the best by vectors and words, by what is known before their texts are read.
    fn pool(
        &mut self,
        rows: &MemoryRows<'_>,
        query: &Query<'_>,
        asked: Option<&mut Asked<'_>>,
        seen: &[bool],
        want: usize,
    ) -> Result<Vec<u32>, MemoryError> {
        let by_words = query.question.candidates(rows, &mut self.cache, &self.index, seen, want)?;
        let mut pool: Vec<Found> =
            by_words.iter().map(|(index, share)| (*index, None, *share)).collect();
        if let Some(asked) = asked {
            let near = self.by_vector(rows, asked, seen, want)?;
            pool.extend(near.into_iter().map(|(index, cosine)| (index, Some(cosine), 0.0)));
            // What both found has both; the others of the words are compared now.
            pool.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.is_some().cmp(&b.1.is_some())));
            pool.dedup_by(|later, first| {
                let same = later.0 == first.0;
                if same {
                    first.1 = first.1.or(later.1);
                }
                same
            });
            for (index, cosine, _) in &mut pool {
                if cosine.is_none() {
                    *cosine = self.meaning(rows, Some(asked), *index)?.map(|(cosine, _)| cosine);
                }
            }
        }
        // A quarter each is there for its vector or its words alone, the others for both.
        let orders: [(usize, Order); 3] = [
            (want / 4, |(_, cosine, _)| cosine.unwrap_or(-1.0)),
            (want / 2, |(_, _, share)| *share),
            (want, |(_, cosine, share)| score::estimate(*cosine, *share)),
        ];
        let mut taken: NumberMap<u32, ()> = NumberMap::default();
        for (until, order) in orders {
            pool.sort_unstable_by(|a, b| order(b).total_cmp(&order(a)).then(b.0.cmp(&a.0)));
            for (index, ..) in &pool {
                if taken.len() >= until {
                    break;
                }
                taken.insert(*index, ());
            }
        }
        // The last order is the one by both.
        Ok(pool
            .iter()
            .map(|(index, ..)| *index)
            .filter(|index| taken.contains_key(index))
            .collect())
    }

    /// Adds the turns that follow the best: they may answer what these ask.
    fn add_answers(
        &mut self,
        rows: &MemoryRows<'_>,
        pool: &mut Vec<u32>,
        want: usize,
    ) -> Result<(), MemoryError> {
        let best: Vec<u32> = pool.iter().copied().take(want / 2).collect();
        for index in best {
            let turn = !self.cache.known(rows, &self.index, index)?.speaker.is_empty();
            if turn
                && let Some(next) = self.neighbour(index, 1)
                && !pool.contains(&next)
            {
                pool.push(next);
            }
        }
        Ok(())
    }

    /// The place of the memory that was stored directly before or after one, in its scope and time.
    fn neighbour(&self, index: u32, step: i32) -> Option<u32> {
        let next = index.checked_add_signed(step)?;
        let class = |index: u32| self.index.classes().get(index as usize);
        let near = self.index.at(next).abs_diff(self.index.at(index)) <= TOGETHER_MS.unsigned_abs();
        let follows = self.index.key(next).abs_diff(self.index.key(index)) == 1;
        let same = class(next).is_some() && class(next) == class(index);
        (same && near && follows && self.index.class(next).is_some()).then_some(next)
    }

    /// The cosine and the stored vector of a memory, if it can be compared.
    fn meaning(
        &mut self,
        rows: &MemoryRows<'_>,
        asked: Option<&Asked<'_>>,
        index: u32,
    ) -> Result<Option<Compared>, MemoryError> {
        let comparable = |asked: &&Asked<'_>| {
            self.index.class(index).map(|class| class.embedder) == Some(asked.embedder)
        };
        let Some(asked) = asked.filter(comparable) else { return Ok(None) };
        let code = self.cache.vector(rows, &self.index, index, asked.embedder)?;
        let cosine = self.cosine(rows, asked, index, &code)?;
        Ok(Some((cosine, code)))
    }

    /// What the question and a memory say.
    fn said(&self, query: &mut Query<'_>, known: &Known, meaning: Option<f32>) -> RecallParts {
        let likeness = query.likeness.as_mut().map_or(0.0, |likeness| likeness.of(&known.pieces));
        let mean = self.index.mean_words();
        RecallParts {
            meaning,
            likeness,
            words: query.question.share(&known.terms, mean, &query.speakers),
            ..RecallParts::default()
        }
    }

    fn candidate(
        &mut self,
        rows: &MemoryRows<'_>,
        query: &mut Query<'_>,
        asked: Option<&Asked<'_>>,
        index: u32,
        known: Arc<Known>,
    ) -> Result<Candidate, MemoryError> {
        let compared = self.meaning(rows, asked, index)?;
        let (meaning, code) = compared.unzip();
        let calibration = calibration(asked, meaning);
        let mut parts = self.said(query, &known, meaning);
        query.contents.insert(index, score::content(calibration, &parts));
        let text = &known.entry.text;
        if !known.speaker.is_empty() {
            parts.asks = text.trim_end().ends_with('?');
            let names = |number: &u64| known.speaker.binary_search(number).is_ok();
            if !query.named.is_empty() {
                parts.speaker = if query.named.iter().any(names) { 1.0 } else { -1.0 };
            }
            for (step, weight) in [(-1, score::BEFORE), (1, score::AFTER)] {
                if let Some(other) = self.neighbour(index, step) {
                    parts.context += weight * self.content(rows, query, asked, other)?;
                }
            }
        }
        let at = self.index.at(index);
        parts.tells_when = query.asks_when && days::tells_when(text);
        parts.date = date(&query.days, text, at.div_euclid(DAY_MS));
        let age = query.recall.now_ms.saturating_sub(at);
        parts.recency = score::recency(age, query.recall.half_life_days);
        let sum = score::sum(calibration, &parts, known.entry.importance);
        Ok(Candidate { index, known, code, sum, parts })
    }

    /// What a turn beside a candidate says to the question; nothing if it is no turn.
    fn content(
        &mut self,
        rows: &MemoryRows<'_>,
        query: &mut Query<'_>,
        asked: Option<&Asked<'_>>,
        index: u32,
    ) -> Result<f32, MemoryError> {
        if let Some(content) = query.contents.get(&index) {
            return Ok(*content);
        }
        let known = self.cache.known(rows, &self.index, index)?;
        let content = if known.speaker.is_empty() {
            0.0
        } else {
            let meaning = self.meaning(rows, asked, index)?.map(|(cosine, _)| cosine);
            let parts = self.said(query, &known, meaning);
            score::content(calibration(asked, meaning), &parts)
        };
        query.contents.insert(index, content);
        Ok(content)
    }
}

fn calibration<'a>(asked: Option<&'a Asked<'_>>, meaning: Option<f32>) -> Option<&'a Calibration> {
    asked.filter(|_| meaning.is_some()).map(|asked| &asked.calibration)
}

/// How well a memory of a day fits the days that a question speaks of, 0 to 1.
fn date(asked: &[Days], text: &str, day: i64) -> f32 {
    if asked.is_empty() {
        return 0.0;
    }
    let told = days::days(text, day);
    if told.iter().any(|told| asked.iter().any(|asked| asked.overlaps(*told))) {
        return 1.0;
    }
    let within =
        |after: i64| asked.iter().any(|span| (span.first..=span.last + after).contains(&day));
    TOLD_AFTER.iter().find(|(after, _)| within(*after)).map_or(0.0, |(_, fit)| *fit)
}
