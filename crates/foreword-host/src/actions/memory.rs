//! Searching and writing memories. External content stays marked as such.

use foreword::estimate;
use foreword_embed::Embedder;
use foreword_guard::{Provenance, Trust, external_content};
use foreword_protocol::{ErrorCode, Failure, MemorySearch, MemoryWrite};
use foreword_search::{
    KindFilter, Memories, MemoryEngine, MemoryKind, MemoryScope, NewEntry, Recall,
};
use foreword_store::AddOutcome;
use serde_json::{Value, json};

use crate::error::HostError;
use crate::turn::active_session::ActiveSession;

const MAX_RESULTS: u32 = 50;
/// Lower than what a prompt recalls on its own, since here the agent asked.
const MIN_SCORE: f32 = 0.3;

pub(super) fn search(active: &ActiveSession, args: &MemorySearch) -> Result<Value, Failure> {
    let engine = MemoryEngine::open_read(active.host.database()).map_err(HostError::from)?;
    let Some(engine) = engine else { return Ok(json!({ "memories": [] })) };
    let embedder = active.host.embedder();
    let vector =
        embedder.and_then(|embedder| embedder.embed(&[&args.query]).ok()?.into_iter().next());
    let found = engine
        .recall(&Recall {
            vector: vector.as_ref(),
            agent: active.identity.agent.as_deref(),
            user: active.identity.user.as_deref(),
            session: Some(active.identity.session.as_str()),
            limit: args.limit.unwrap_or(10).clamp(1, MAX_RESULTS) as usize,
            min_score: Some(MIN_SCORE),
            kinds: KindFilter::Memories,
            ..Recall::new(&args.query, active.host.now())
        })
        .map_err(HostError::from)?;
    let (mut clean, mut tainted) = (0_u64, 0_u64);
    let memories: Vec<Value> = found
        .hits
        .iter()
        .map(|hit| {
            let entry = &hit.entry;
            let tokens = u64::from(estimate(&entry.text));
            let text = if entry.tainted {
                tainted += tokens;
                external_content("memory", Trust::External, &entry.text)
            } else {
                clean += tokens;
                entry.text.clone()
            };
            json!({
                "id": entry.id.as_str(), "text": text, "date": entry.date,
                "score": (f64::from(hit.score) * 1000.0).round() / 1000.0, "tainted": entry.tainted,
            })
        })
        .collect();
    for (tokens, external) in [(clean, false), (tainted, true)] {
        if tokens > 0 {
            active.add_content(Provenance::Memory, "memory_search", tokens, external)?;
        }
    }
    Ok(json!({ "memories": memories }))
}

pub(super) fn write(active: &ActiveSession, args: MemoryWrite) -> Result<Value, Failure> {
    if args.text.trim().is_empty() {
        return Err(Failure::new(ErrorCode::BadRequest, "`text` must not be empty"));
    }
    // Even if a person approved it: the text may still quote external content.
    let tainted = active.is_tainted()?;
    let kind = args.kind.as_deref().map(MemoryKind::parse).transpose();
    let kind = kind.map_err(HostError::from)?.unwrap_or_default();
    if kind.is_never_given() {
        let message = format!("agents cannot write memories of the kind `{}`", kind.as_str());
        return Err(Failure::new(ErrorCode::Refused, message));
    }
    let entry = NewEntry {
        kind,
        tainted,
        importance: args.importance,
        source: Some(format!("session {}", active.identity.session)),
        scope: MemoryScope {
            agent: active.identity.agent.clone(),
            user: active.identity.user.clone(),
            session: None,
        },
        ..NewEntry::new(args.text)
    };
    entry.check().map_err(HostError::from)?;
    let embedder = active.host.embedder().map(|embedder| &**embedder as &dyn Embedder);
    let batch = Memories::new(active.host.store()?, embedder)
        .add(&active.actor(), active.host.now(), entry)
        .map_err(HostError::from)?;
    let id = batch.added.first().map(|added| match added {
        AddOutcome::Added(id) | AddOutcome::Duplicate(id) | AddOutcome::IdTaken(id) => {
            id.as_str().to_owned()
        }
    });
    Ok(json!({ "id": id, "tainted": tainted }))
}
