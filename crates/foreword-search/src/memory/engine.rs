//! The search: candidates by vectors and by words, one score, a threshold, different hits.

use std::cell::RefCell;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use foreword_embed::{EmbedderId, Vector};
use foreword_store::{MemoryRows, Reader, StoreError};

use crate::memory::cache::Cache;
use crate::memory::candidates::Candidate;
use crate::memory::code::{self, Probe};
use crate::memory::diversity;
use crate::memory::error::MemoryError;
use crate::memory::index::{Class, Index};
use crate::memory::nearest::{self, Table};
use crate::memory::recall::{Hit, KindFilter, Recall, Recalled};
use crate::memory::score::{self, Calibration, DEFAULT_MIN_SCORE};
use crate::memory::sketch::Rotation;

/// The most hits of one question.
pub(crate) const MAX_HITS: usize = 1000;

/// The memories of a database, ready to be searched. It keeps what it has read and takes in what
/// changed; reading needs no key and never waits for a writer.
#[derive(Debug)]
pub struct MemoryEngine {
    reader: Reader,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) index: Index,
    pub(crate) cache: Cache,
    rotation: Option<(usize, Rotation)>,
}

impl MemoryEngine {
    /// Opens the memories of a database; `None` where there is no database or it has none. Creates
    /// nothing.
    pub fn open_read(database: &Path) -> Result<Option<Self>, MemoryError> {
        let reader = match Reader::open(database) {
            Ok(reader) => reader,
            Err(StoreError::NoDatabase { .. } | StoreError::EmptyDatabase { .. }) => {
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        Self::with_reader(reader)
    }

    /// As [`open_read`](Self::open_read), with a database that is open already.
    pub fn with_reader(reader: Reader) -> Result<Option<Self>, MemoryError> {
        let engine = Self { reader, state: Mutex::default() };
        Ok(if engine.is_empty()? { None } else { Some(engine) })
    }

    /// Whether the database was made with the audit key in a configuration directory.
    pub fn is_made_by(&self, config_dir: &Path) -> Result<bool, MemoryError> {
        Ok(self.reader.is_made_by(config_dir)?)
    }

    /// Whether there is no memory.
    pub fn is_empty(&self) -> Result<bool, MemoryError> {
        let last = self.reader.read_memories(|rows| rows.last_key())?;
        Ok(last.flatten().is_none())
    }

    /// The ids of the embedders that vectors are stored of.
    pub fn embedders(&self) -> Result<Vec<String>, MemoryError> {
        let names = self.reader.read_memories(|rows| -> Result<_, MemoryError> {
            let mut names = Vec::new();
            for number in rows.embedders()? {
                names.extend(rows.name(number)?);
            }
            Ok(names)
        })?;
        Ok(names.unwrap_or_default())
    }

    /// The memories that fit a question best.
    ///
    /// Fails if the index is damaged, rather than return a result that may be wrong.
    pub fn recall(&self, query: &Recall<'_>) -> Result<Recalled, MemoryError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let found = self.reader.read_memories(|rows| state.recall(rows, query))?;
        Ok(found.unwrap_or_default())
    }

    /// The indexes that vectors alone would give, best first: for measuring.
    #[doc(hidden)]
    pub fn nearest(&self, vector: &Vector, want: usize) -> Result<Vec<(i64, f32)>, MemoryError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let found = self.reader.read_memories(|rows| -> Result<_, MemoryError> {
            state.refresh(rows)?;
            let Some(mut probe) = state.probe(rows, Some(vector))? else { return Ok(Vec::new()) };
            let seen = vec![true; state.index.known().len()];
            let best = state.by_vector(rows, &mut probe, &seen, want)?;
            Ok(best.into_iter().map(|(index, cosine)| (state.index.key(index), cosine)).collect())
        })?;
        Ok(found.unwrap_or_default())
    }
}

/// The question's vector in the forms it is compared in.
pub(crate) struct Asked<'a> {
    vector: &'a Vector,
    pub(crate) embedder: u32,
    probe: Probe,
    bits: Vec<u64>,
    table: Table,
    pub(crate) calibration: Calibration,
}

impl State {
    fn refresh(&mut self, rows: &MemoryRows<'_>) -> Result<(), MemoryError> {
        if self.index.refresh(rows)? {
            self.cache.clear(rows)?;
        }
        self.cache.begin();
        Ok(())
    }

    fn recall(
        &mut self,
        rows: &MemoryRows<'_>,
        query: &Recall<'_>,
    ) -> Result<Recalled, MemoryError> {
        self.refresh(rows)?;
        let seen = self.seen(rows, query)?;
        let mut asked = self.probe(rows, query.vector)?;
        let embedder = asked.as_ref().map(|asked| asked.embedder);
        let visible = |wanted: &dyn Fn(&Class) -> bool| -> usize {
            let classes = self.index.known().iter().zip(&seen.given);
            classes.filter(|((class, _), seen)| **seen && wanted(class)).map(|((_, n), _)| n).sum()
        };
        let mut recalled = Recalled {
            with_vectors: asked.is_some(),
            visible: visible(&|_| true),
            without_vector: match (query.vector, embedder) {
                (None, _) => 0,
                (Some(_), embedder) => visible(&|class| Some(class.embedder) != embedder),
            },
            ..Recalled::default()
        };
        if !seen.given.contains(&true) && !seen.withheld.contains(&true) {
            return Ok(recalled);
        }
        let mut prepared = self.query(rows, query, asked.is_some())?;
        let min_score = query.min_score.unwrap_or(DEFAULT_MIN_SCORE);
        let limit = query.limit.min(MAX_HITS);
        if limit == 0 || (prepared.question.is_empty() && asked.is_none()) {
            return Ok(recalled);
        }
        let reaches = |candidate: &Candidate| score::score(candidate.sum) >= min_score;
        if seen.withheld.contains(&true) {
            let held = self.candidates(rows, &mut prepared, asked.as_mut(), &seen.withheld)?;
            recalled.never_injected = held.iter().filter(|candidate| reaches(candidate)).count();
        }
        let mut found = self.candidates(rows, &mut prepared, asked.as_mut(), &seen.given)?;
        let all = found.len();
        recalled.rest = score::rest(found.iter().map(|candidate| candidate.sum));
        found.retain(reaches);
        recalled.below_threshold = all - found.len();
        let (chosen, repeated) = self.choose(&found, limit, query.diversity);
        recalled.repeated = repeated;
        for place in chosen {
            let Some(candidate) = found.get(place) else { continue };
            recalled.hits.push(self.hit(rows, candidate, asked.as_ref())?);
        }
        Ok(recalled)
    }

    /// Which classes a question sees.
    fn seen(&self, rows: &MemoryRows<'_>, query: &Recall<'_>) -> Result<Seen, MemoryError> {
        let number = |name: Option<&str>| -> Result<u32, StoreError> {
            // For an unknown name, only memories for everyone are visible.
            Ok(name.map(|name| rows.number(name)).transpose()?.flatten().unwrap_or(0))
        };
        let scope = [number(query.agent)?, number(query.user)?, number(query.session)?];
        let only = match query.kinds {
            KindFilter::Only(kind) => rows.number(kind)?,
            _ => None,
        };
        let kinds = &self.cache.kinds;
        let reaches = |class: &Class| {
            query.all_scopes
                || [class.agent, class.user, class.session]
                    .iter()
                    .zip(scope)
                    .all(|(set, asked)| *set == 0 || *set == asked)
        };
        let mut seen = Seen::default();
        for (class, count) in self.index.known() {
            let reached = *count > 0 && reaches(class);
            let never = kinds.never.contains(&Some(class.kind));
            let activity = kinds.activity == Some(class.kind);
            let (given, withheld) = match query.kinds {
                KindFilter::Memories => (!never && !activity, never),
                KindFilter::Activity => (activity, false),
                KindFilter::All => (!never, never),
                KindFilter::Everything => (true, false),
                KindFilter::Only(_) => (only == Some(class.kind), false),
            };
            seen.given.push(reached && given);
            seen.withheld.push(reached && withheld);
        }
        Ok(seen)
    }

    /// Prepares a vector for comparisons; `None` if there is nothing to compare it with.
    fn probe<'a>(
        &mut self,
        rows: &MemoryRows<'_>,
        vector: Option<&'a Vector>,
    ) -> Result<Option<Asked<'a>>, MemoryError> {
        let Some(vector) = vector.filter(|vector| !vector.is_zero()) else { return Ok(None) };
        let Some(embedder) = rows.number(&vector.id().to_string())? else { return Ok(None) };
        if !self.index.known().iter().any(|(class, n)| class.embedder == embedder && *n > 0) {
            return Ok(None);
        }
        let dims = vector.id().dims;
        let rotation = match &self.rotation {
            Some((known, rotation)) if *known == dims => rotation,
            _ => &self.rotation.insert((dims, Rotation::new(dims))).1,
        };
        self.index.refresh_sketches(rows, embedder, rotation.words())?;
        let turned = rotation.turn(vector.values());
        Ok(Some(Asked {
            vector,
            embedder,
            probe: Probe::new(vector.values()),
            bits: Rotation::bits(&turned),
            table: Table::new(&turned),
            calibration: Calibration::of(vector.id()),
        }))
    }

    /// The nearest by vector, with their cosines, best first.
    pub(crate) fn by_vector(
        &mut self,
        rows: &MemoryRows<'_>,
        asked: &mut Asked<'_>,
        seen: &[bool],
        want: usize,
    ) -> Result<Vec<(u32, f32)>, MemoryError> {
        let comparable: Vec<bool> = self
            .index
            .known()
            .iter()
            .zip(seen)
            .map(|((class, _), seen)| *seen && class.embedder == asked.embedder)
            .collect();
        let all = self.index.len();
        let closer = (all / 400).clamp(128, 256).max(3 * want);
        let rough = (all / 16).clamp(1024, 8192).max(2 * closer);
        let classes = self.index.classes();
        let sketches = &self.index.sketches;
        let rough = nearest::by_bits(sketches, &asked.bits, classes, &comparable, rough);
        let close = nearest::by_numbers(sketches, &asked.table, &rough, closer);
        let mut best = Vec::with_capacity(close.len());
        for index in close {
            let code = self.cache.vector(rows, &self.index, index, asked.embedder)?;
            best.push((index, self.cosine(rows, asked, index, &code)?));
        }
        best.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
        best.truncate(want);
        Ok(best)
    }

    pub(crate) fn cosine(
        &self,
        rows: &MemoryRows<'_>,
        asked: &Asked<'_>,
        index: u32,
        code: &[u8],
    ) -> Result<f32, MemoryError> {
        if code.len() == asked.probe.dims() {
            return Ok(asked.probe.cosine(code));
        }
        let memory = rows.at(self.index.key(index))?;
        Err(MemoryError::Vector {
            id: memory.map(|memory| memory.entry.id.to_string()).unwrap_or_default(),
            detail: format!("it has {} numbers, not {}", code.len(), asked.probe.dims()),
        })
    }

    fn choose(&self, found: &[Candidate], limit: usize, diversity: f32) -> (Vec<usize>, usize) {
        let scores: Vec<f32> = found.iter().map(|candidate| score::score(candidate.sum)).collect();
        // One is compared with all others in turn.
        let last: RefCell<Option<(usize, Probe)>> = RefCell::new(None);
        diversity::choose(&scores, limit, diversity, |one, other| {
            let (Some(a), Some(b)) = (found.get(one), found.get(other)) else { return 0.0 };
            let (Some(code), Some(other_code)) = (&a.code, &b.code) else {
                return overlap(&a.known.terms, &b.known.terms);
            };
            let mut last = last.borrow_mut();
            match &*last {
                Some((place, probe)) if *place == one => probe.cosine(other_code),
                _ => {
                    let probe = Probe::new(&code::decode(code));
                    let cosine = probe.cosine(other_code);
                    *last = Some((one, probe));
                    cosine
                }
            }
        })
    }

    fn hit(
        &mut self,
        rows: &MemoryRows<'_>,
        candidate: &Candidate,
        asked: Option<&Asked<'_>>,
    ) -> Result<Hit, MemoryError> {
        let vector = match (&candidate.code, asked) {
            (Some(code), Some(asked)) => {
                Some(Vector::new(Arc::clone(asked.vector.id()), code::decode(code))?)
            }
            _ => self.stored_vector(rows, candidate.index)?,
        };
        Ok(Hit {
            entry: candidate.known.entry.clone(),
            vector,
            score: score::score(candidate.sum),
            evidence: candidate.sum,
            parts: candidate.parts,
        })
    }

    /// The vector of a memory, from any embedder.
    fn stored_vector(
        &mut self,
        rows: &MemoryRows<'_>,
        index: u32,
    ) -> Result<Option<Vector>, MemoryError> {
        let embedder = self.index.class(index).map_or(0, |class| class.embedder);
        let Some(id) = rows.name(embedder)?.as_deref().and_then(embedder_id) else {
            return Ok(None);
        };
        let code = self.cache.vector(rows, &self.index, index, embedder)?;
        Ok(Some(Vector::new(Arc::new(id), code::decode(&code))?))
    }
}

/// Which classes a question sees, and which it would see but for their kind.
#[derive(Default)]
struct Seen {
    given: Vec<bool>,
    withheld: Vec<bool>,
}

/// An id as it is stored; the version may hold colons itself.
pub(crate) fn embedder_id(text: &str) -> Option<EmbedderId> {
    let (name, rest) = text.split_once(':')?;
    let (version, dims) = rest.rsplit_once(':')?;
    Some(EmbedderId::new(name, version, dims.parse().ok()?))
}

/// The share of words that two texts have in common; both lists are sorted.
fn overlap(a: &[u64], b: &[u64]) -> f32 {
    let shared = a.iter().filter(|term| b.binary_search(term).is_ok()).count();
    let all = a.len() + b.len() - shared;
    if all == 0 { 0.0 } else { shared as f32 / all as f32 }
}
