//! Memories and activity for a task: recalled, looked at for injections, and kept within their limits.

use std::path::Path;

use foreword::{Filtered, Line, Memory, Timestamp, Untrusted, estimate};
use foreword_embed::Vector;
use foreword_search::{Hit, KindFilter, MemoryEngine, MemoryError, Recall};
use foreword_workspace::Assembly;

use crate::select::guard::Guard;

/// For each memory that is wanted, so many are looked at: some may turn out to be injections.
const SPARE: usize = 4;

/// Who asks, and for what.
pub(crate) struct Asked<'a> {
    pub(crate) task: &'a str,
    pub(crate) vector: Option<&'a Vector>,
    pub(crate) agent: Option<&'a str>,
    pub(crate) user: Option<&'a str>,
    pub(crate) session: Option<&'a str>,
    pub(crate) now: Option<&'a Timestamp>,
}

/// What was recalled for a task.
#[derive(Debug, Default)]
pub(crate) struct Memories {
    pub(crate) memories: Vec<Memory>,
    pub(crate) activity: Vec<Memory>,
    /// What was recalled and left out.
    pub(crate) filtered: Vec<Filtered>,
    /// How many entries were left out for what they are or say.
    pub(crate) filtered_count: usize,
    /// Entries that vectors could not find, because another embedder made theirs.
    pub(crate) without_vector: usize,
}

/// The memories of a workspace, opened once there are any.
#[derive(Default)]
pub(crate) struct Store {
    engine: Option<MemoryEngine>,
    foreign: Option<bool>,
}

impl Store {
    /// Whether there is anything to recall.
    pub(crate) fn open(&mut self, database: &Path) -> Result<bool, MemoryError> {
        // A database that was taken away and made anew is another one.
        if self.engine.is_some() && !database.exists() {
            *self = Self::default();
        }
        if self.engine.is_none() {
            self.engine = MemoryEngine::open_read(database)?;
        }
        Ok(self.engine.is_some())
    }

    /// Whether the memories are in a database that this person's audit key did not make.
    pub(crate) fn is_foreign(&mut self, config_dir: Option<&Path>) -> bool {
        let (Some(engine), Some(config_dir)) = (&self.engine, config_dir) else { return false };
        // A key that cannot be read made nothing. Looked up once for each database.
        let foreign = || !engine.is_made_by(config_dir).unwrap_or(false);
        *self.foreign.get_or_insert_with(foreign)
    }

    /// Recalls what fits the task.
    pub(crate) fn recall(
        &self,
        asked: &Asked<'_>,
        assembly: &Assembly,
        guard: &Guard,
    ) -> Result<Memories, MemoryError> {
        let mut found = Memories::default();
        let Some(engine) = &self.engine else { return Ok(found) };
        let mut left = assembly.max_context_tokens;
        let kinds = [
            (KindFilter::Memories, "memory", assembly.include_memories, assembly.max_memories),
            (KindFilter::Activity, "activity", assembly.include_activity, assembly.max_activity),
        ];
        for (kinds, kind, wanted, most) in kinds {
            if !wanted || most == 0 {
                continue;
            }
            let recalled = engine.recall(&Recall {
                vector: asked.vector,
                agent: asked.agent,
                user: asked.user,
                session: asked.session,
                limit: most.saturating_add(SPARE),
                min_score: assembly.memory_min_score.map(|score| score as f32),
                kinds,
                ..Recall::new(asked.task, asked.now.map_or(i64::MIN, |now| now.unix() * 1000))
            })?;
            found.without_vector = found.without_vector.max(recalled.without_vector);
            if recalled.never_injected > 0 {
                let count = recalled.never_injected;
                found.leave_out(kind, "system, meta, override", "this kind is never shown", count);
            }
            let mut taken = Vec::new();
            let mut best = None;
            for hit in &recalled.hits {
                if taken.len() == most {
                    break;
                }
                if let Some(reason) = guard.refuses(&hit.entry.text, hit.vector.as_ref()) {
                    found.leave_out(kind, hit.entry.id.as_str(), &reason, 1);
                    continue;
                }
                // A memory that is not taken must not keep others out.
                let best_taken = best.unwrap_or(hit.evidence);
                if assembly.memory_min_score.is_none() && !recalled.stands_out(hit, best_taken) {
                    continue;
                }
                let costs = estimate(&hit.entry.text) as usize;
                if costs > left {
                    let reason = format!("over max_context_tokens: {costs} tokens, {left} left");
                    // It was not filtered out for what it says.
                    found.leave_out(kind, hit.entry.id.as_str(), &reason, 0);
                    continue;
                }
                left -= costs;
                best.get_or_insert(hit.evidence);
                taken.push(memory(hit.clone()));
            }
            *(if kind == "memory" { &mut found.memories } else { &mut found.activity }) = taken;
        }
        Ok(found)
    }
}

impl Memories {
    fn leave_out(&mut self, kind: &str, id: &str, reason: &str, count: usize) {
        self.filtered_count += count;
        let many = if count > 1 { format!(" ({count} entries)") } else { String::new() };
        self.filtered.push(Filtered {
            kind: kind.to_owned(),
            id: id.to_owned(),
            reason: format!("{reason}{many}"),
        });
    }
}

fn memory(hit: Hit) -> Memory {
    let entry = hit.entry;
    let date = entry.date.clone().unwrap_or_else(|| {
        Timestamp::from_unix(entry.created_at.div_euclid(1000)).as_str().chars().take(10).collect()
    });
    Memory {
        id: Some(Line::new(entry.id.as_str())),
        text: Untrusted::new(entry.text),
        date: Some(Line::new(date)),
        kind: Some(Line::new(entry.kind.as_str())),
        score: Some((f64::from(hit.score) * 10_000.0).round() / 10_000.0),
        tainted: entry.tainted,
    }
}
