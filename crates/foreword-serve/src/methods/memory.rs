//! Memories of a workspace: add, search, list, forget.

use std::path::{Path, PathBuf};

use foreword_embed::Embedder;
use foreword_gather::{AnyEmbedder, Warning};
use foreword_search::{
    Hit, KindFilter, Memories, MemoryEngine, MemoryEntry, MemoryKind, MemoryScope, NewEntry,
    Recall, Recalled,
};
use foreword_store::{AddOutcome, KeyedMemory, MemoryFilter, Reader, Store, StoreError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::skills;
use crate::environment::{act_of, config_dir, format_time, now_ms, user_request};
use crate::failure::Failure;
use crate::service::Service;

/// A memory to store.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryAddParams {
    /// The directory of the workspace.
    pub workspace: Option<PathBuf>,
    /// The text to remember.
    pub text: String,
    /// The kind: note, fact, preference, activity or another lower-case word.
    #[serde(default = "note")]
    pub kind: String,
    /// The agent that the memory belongs to.
    pub agent: Option<String>,
    /// The user that the memory belongs to.
    pub user: Option<String>,
    /// The session that the memory belongs to.
    pub session: Option<String>,
    /// Whether the memory is external and untrusted.
    #[serde(default)]
    pub tainted: bool,
    /// The source of the memory.
    pub source: Option<String>,
    /// The day that the memory is about, as `2026-02-26`.
    pub date: Option<String>,
    /// The importance, 0 to 1.
    pub importance: Option<f64>,
}

fn note() -> String {
    "note".to_owned()
}

/// A stored memory.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MemoryAdded {
    /// The ID of the memory.
    pub id: String,
    /// `new`, or `same` if it was already remembered.
    pub state: &'static str,
    /// What the caller should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A question to the memories.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MemorySearchParams {
    /// The directory of the workspace.
    pub workspace: Option<PathBuf>,
    /// The question or keywords.
    pub query: String,
    /// The maximum number of results.
    #[serde(default = "ten")]
    pub limit: usize,
    /// Search only this kind.
    pub kind: Option<String>,
    /// Include low scores and kinds that agents never get.
    #[serde(default)]
    pub all: bool,
    /// The minimum score, 0 to 1; 0.7 by default.
    pub min_score: Option<f32>,
    /// The agent that asks.
    pub agent: Option<String>,
    /// The user that the agent works for.
    pub user: Option<String>,
    /// The session of the agent.
    pub session: Option<String>,
}

fn ten() -> usize {
    10
}

/// A memory.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryItem {
    /// Its ID.
    pub id: String,
    /// What it says.
    pub text: String,
    /// What it is for.
    pub kind: String,
    /// The agent it belongs to; all where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The user it belongs to; all where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The session it belongs to; all where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// When it was stored, in RFC 3339.
    pub created_at: String,
    /// The day it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Whether it came from outside.
    pub tainted: bool,
    /// Where it came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// How much it matters, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub importance: Option<f64>,
}

impl From<&MemoryEntry> for MemoryItem {
    fn from(entry: &MemoryEntry) -> Self {
        let MemoryScope { agent, user, session } = entry.scope.clone();
        Self {
            id: entry.id.to_string(),
            text: entry.text.clone(),
            kind: entry.kind.to_string(),
            agent,
            user,
            session,
            created_at: format_time(entry.created_at),
            date: entry.date.clone(),
            tainted: entry.tainted,
            source: entry.source.clone(),
            importance: entry.importance,
        }
    }
}

/// A memory that was found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MemoryHit {
    /// The memory.
    #[serde(flatten)]
    pub memory: MemoryItem,
    /// How well it fits, 0 to 1.
    pub score: f64,
    /// What the score is made of.
    pub parts: MemoryScore,
}

/// The parts of a score.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryScore {
    /// The likeness of the vectors; none without an embedder.
    pub meaning: Option<f64>,
    /// The likeness word by word.
    pub likeness: f64,
    /// Words in common.
    pub words: f64,
    /// Whether the speaker fits.
    pub speaker: f64,
    /// Whether it tells when something happened.
    pub tells_when: bool,
    /// Whether the date fits.
    pub date: f64,
    /// Whether it asks rather than tells.
    pub asks: bool,
    /// What stands around it.
    pub context: f64,
    /// How recent it is.
    pub recency: f64,
}

/// The memories that were found, best first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryResults {
    /// The memories.
    pub hits: Vec<MemoryHit>,
    /// Whether vectors were compared.
    pub with_vectors: bool,
    /// How many memories the caller may see.
    pub visible: usize,
    /// How many of them have no vector.
    pub without_vector: usize,
    /// How many scored too low.
    pub below_threshold: usize,
    /// How many are of kinds that agents never get.
    pub never_injected: usize,
    /// How many repeat another one.
    pub repeated: usize,
    /// What the caller should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Memories to list.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MemoryListParams {
    /// The directory of the workspace.
    pub workspace: Option<PathBuf>,
    /// List only this kind.
    pub kind: Option<String>,
    /// List only memories of this agent.
    pub agent: Option<String>,
    /// List only memories of this user.
    pub user: Option<String>,
    /// List only memories of this session.
    pub session: Option<String>,
    /// List only tainted memories.
    pub tainted: bool,
    /// The maximum number of memories.
    pub limit: usize,
    /// Start after this memory.
    pub after: Option<String>,
}

impl Default for MemoryListParams {
    fn default() -> Self {
        Self {
            workspace: None,
            kind: None,
            agent: None,
            user: None,
            session: None,
            tainted: false,
            limit: 20,
            after: None,
        }
    }
}

/// One page of memories.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MemoryPage {
    /// The memories, newest first.
    pub memories: Vec<MemoryItem>,
    /// The value of `after` for the next page; none on the last one.
    pub next: Option<String>,
    /// What the caller should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Memories to delete: those with the given IDs, or all that match `allOf`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct MemoryForgetParams {
    /// The directory of the workspace.
    pub workspace: Option<PathBuf>,
    /// IDs of memories, or their first characters.
    pub ids: Vec<String>,
    /// Delete every memory that matches all of these conditions.
    pub all_of: Option<ForgetFilter>,
}

/// Conditions that a memory has to match. At least one is needed.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ForgetFilter {
    /// The agent it belongs to.
    pub agent: Option<String>,
    /// The user it belongs to.
    pub user: Option<String>,
    /// The session it belongs to.
    pub session: Option<String>,
    /// Its kind.
    pub kind: Option<String>,
    /// Only tainted ones.
    pub tainted: bool,
    /// All of them.
    pub everything: bool,
}

/// How many memories were deleted.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Forgotten {
    /// Their number.
    pub forgotten: usize,
}

#[expect(clippy::needless_pass_by_value, reason = "the table hands its parameters to every method")]
pub(crate) fn memory_add(service: &Service, new: MemoryAddParams) -> Result<MemoryAdded, Failure> {
    add(&service.root(new.workspace.as_deref())?, &new)
}

#[expect(clippy::needless_pass_by_value, reason = "the table hands its parameters to every method")]
pub(crate) fn memory_search(
    service: &Service,
    asked: MemorySearchParams,
) -> Result<MemoryResults, Failure> {
    search(&service.root(asked.workspace.as_deref())?, &asked)
}

#[expect(clippy::needless_pass_by_value, reason = "the table hands its parameters to every method")]
pub(crate) fn memory_list(
    service: &Service,
    asked: MemoryListParams,
) -> Result<MemoryPage, Failure> {
    list(&service.root(asked.workspace.as_deref())?, &asked)
}

#[expect(clippy::needless_pass_by_value, reason = "the table hands its parameters to every method")]
pub(crate) fn memory_forget(
    service: &Service,
    asked: MemoryForgetParams,
) -> Result<Forgotten, Failure> {
    let root = service.root(asked.workspace.as_deref())?;
    let found = matching(&root, &asked)?;
    Ok(Forgotten { forgotten: forget(&root, &found)? })
}

/// Stores a memory.
pub fn add(workspace: &Path, new: &MemoryAddParams) -> Result<MemoryAdded, Failure> {
    let entry = NewEntry {
        text: new.text.clone(),
        kind: MemoryKind::parse(&new.kind)?,
        scope: scope(&new.agent, &new.user, &new.session),
        date: new.date.clone(),
        tainted: new.tainted,
        source: new.source.clone(),
        importance: new.importance,
        ..NewEntry::default()
    };
    entry.check()?;
    let mut warnings = Vec::new();
    let embedder = embedder_if_any(workspace, &mut warnings);
    let store = database(workspace)?;
    let act = act_of(None);
    let batch = Memories::new(&store, as_dyn(embedder.as_ref())).add(&act.by, act.at, entry)?;
    if let Some(error) = &batch.unembedded {
        warnings
            .push(format!("stored without an embedding; only keyword search finds it: {error}"));
    }
    let (id, state) = match batch.added.first() {
        Some(AddOutcome::Added(id)) => (id, "new"),
        Some(AddOutcome::Duplicate(id) | AddOutcome::IdTaken(id)) => (id, "same"),
        None => return Err(Failure::internal("nothing was stored")),
    };
    Ok(MemoryAdded { id: id.to_string(), state, warnings })
}

/// Searches memories; gives them with their scores.
pub fn search(workspace: &Path, asked: &MemorySearchParams) -> Result<MemoryResults, Failure> {
    if let Some(score) = asked.min_score.filter(|score| !(0.0..=1.0).contains(score)) {
        return Err(Failure::usage(format!(
            "invalid minimum score: {score}; expected a number from 0 to 1"
        )));
    }
    let kinds = match &asked.kind {
        Some(kind) => KindFilter::Only(kind),
        None if asked.all => KindFilter::Everything,
        None => KindFilter::All,
    };
    let mut recall = Recall {
        agent: asked.agent.as_deref(),
        user: asked.user.as_deref(),
        session: asked.session.as_deref(),
        limit: asked.limit,
        min_score: asked.min_score.or(asked.all.then_some(0.0)),
        kinds,
        diversity: if asked.all { 0.0 } else { 0.3 },
        all_scopes: asked.agent.is_none() && asked.user.is_none() && asked.session.is_none(),
        ..Recall::new(&asked.query, now_ms())
    };
    let mut warnings = Vec::new();
    let engine = reader(workspace, &mut warnings)?.map(MemoryEngine::with_reader).transpose()?;
    let engine = engine.flatten();
    let embedder = embedder_if_any(workspace, &mut warnings);
    let vectors = embedder.as_ref().map(|embedder| {
        embedder.embed(&[&asked.query]).unwrap_or_else(|error| {
            warnings.push(format!("embeddings unavailable, using keyword search: {error}"));
            Vec::new()
        })
    });
    recall.vector = vectors.iter().flatten().next();
    let found = engine.map(|engine| engine.recall(&recall)).transpose()?.unwrap_or_default();
    if let Some(embedder) = embedder.filter(|_| found.without_vector > 0) {
        let count = match found.without_vector {
            1 => "1 memory".to_owned(),
            count => format!("{count} memories"),
        };
        warnings.push(format!(
            "{count} without an embedding of {}, found by keywords only; run `foreword memory reindex`",
            embedder.id()
        ));
    }
    Ok(results(&found, warnings))
}

fn results(found: &Recalled, warnings: Vec<String>) -> MemoryResults {
    let hits = found.hits.iter().map(|Hit { entry, score, parts, .. }| MemoryHit {
        memory: MemoryItem::from(entry),
        score: rounded(*score),
        parts: MemoryScore {
            meaning: parts.meaning.map(rounded),
            likeness: rounded(parts.likeness),
            words: rounded(parts.words),
            speaker: rounded(parts.speaker),
            tells_when: parts.tells_when,
            date: rounded(parts.date),
            asks: parts.asks,
            context: rounded(parts.context),
            recency: rounded(parts.recency),
        },
    });
    MemoryResults {
        hits: hits.collect(),
        with_vectors: found.with_vectors,
        visible: found.visible,
        without_vector: found.without_vector,
        below_threshold: found.below_threshold,
        never_injected: found.never_injected,
        repeated: found.repeated,
        warnings,
    }
}

/// A score with four decimals.
fn rounded(x: f32) -> f64 {
    (f64::from(x) * 1e4).round() / 1e4
}

/// Lists memories, newest first.
pub fn list(workspace: &Path, asked: &MemoryListParams) -> Result<MemoryPage, Failure> {
    let kind = asked.kind.as_deref().map(MemoryKind::parse).transpose()?;
    let mut warnings = Vec::new();
    let page = reader(workspace, &mut warnings)?
        .map(|reader| {
            reader.read_memories(|rows| -> Result<_, StoreError> {
                let after = asked.after.as_deref().map(|id| rows.find(id)).transpose()?;
                rows.list(&MemoryFilter {
                    kind,
                    scope: scope(&asked.agent, &asked.user, &asked.session),
                    tainted: asked.tainted.then_some(true),
                    limit: Some(asked.limit.saturating_add(1)),
                    before: after.map(|memory| (memory.entry.created_at, memory.key)),
                })
            })
        })
        .transpose()?
        .flatten()
        .unwrap_or_default();
    let entries = page.get(..asked.limit).unwrap_or(&page);
    let next = entries.last().filter(|_| page.len() > entries.len());
    Ok(MemoryPage {
        memories: entries.iter().map(|memory| MemoryItem::from(&memory.entry)).collect(),
        next: next.map(|last| last.entry.id.to_string()),
        warnings,
    })
}

/// The memories that a request to delete is about.
pub fn matching(workspace: &Path, asked: &MemoryForgetParams) -> Result<Vec<KeyedMemory>, Failure> {
    let filter = asked.all_of.as_ref().map(filter).transpose()?;
    if filter.is_some() != asked.ids.is_empty() {
        return Err(Failure::usage("pass either `ids` or `allOf`"));
    }
    let found = reader(workspace, &mut Vec::new())?
        .map(|reader| {
            reader.read_memories(|rows| -> Result<_, StoreError> {
                match &filter {
                    Some(filter) => rows.list(filter),
                    None => asked.ids.iter().map(|id| rows.find(id)).collect(),
                }
            })
        })
        .transpose()?
        .flatten();
    match (found, asked.ids.first()) {
        (Some(found), _) => Ok(found),
        (None, Some(id)) => Err(StoreError::NoSuchMemory { id: id.clone() }.into()),
        (None, None) => Ok(Vec::new()),
    }
}

fn filter(given: &ForgetFilter) -> Result<MemoryFilter, Failure> {
    let ForgetFilter { agent, user, session, kind, tainted, everything } = given;
    let some = [agent, user, session, kind].iter().any(|field| field.is_some());
    if !(some || *tainted || *everything) {
        return Err(Failure::usage("`allOf` has no condition")
            .hint("pass at least one of agent, user, session, kind, tainted, everything"));
    }
    Ok(MemoryFilter {
        kind: kind.as_deref().map(MemoryKind::parse).transpose()?,
        scope: scope(agent, user, session),
        tainted: tainted.then_some(true),
        ..MemoryFilter::default()
    })
}

/// Deletes memories permanently, and says how many.
pub fn forget(workspace: &Path, found: &[KeyedMemory]) -> Result<usize, Failure> {
    if found.is_empty() {
        return Ok(0);
    }
    let act = act_of(None);
    Ok(Memories::new(&database(workspace)?, None).forget(&act.by, act.at, found)?)
}

/// The database, if it exists. Warns if another audit key made it: it may hold somebody else's texts.
pub fn reader(workspace: &Path, warnings: &mut Vec<String>) -> Result<Option<Reader>, Failure> {
    let reader = skills::store(workspace)?.reader()?;
    if let Some(reader) = &reader
        && !reader.is_made_by(&config_dir()?)?
    {
        warnings.push(Warning::OtherAuditKey.to_string());
    }
    Ok(reader)
}

/// The database for writing, created if necessary.
fn database(workspace: &Path) -> Result<Store, Failure> {
    Ok(skills::store(workspace)?.database()?)
}

/// The embedder of the workspace; none if it is turned off or does not work.
fn embedder_if_any(workspace: &Path, warnings: &mut Vec<String>) -> Option<AnyEmbedder> {
    let opened =
        user_request().and_then(|request| Ok(foreword_gather::embedder(workspace, &request)?));
    opened.unwrap_or_else(|error| {
        warnings.push(format!("embeddings unavailable, using keyword search: {}", error.message));
        None
    })
}

fn as_dyn(embedder: Option<&AnyEmbedder>) -> Option<&dyn Embedder> {
    embedder.map(|embedder| -> &dyn Embedder { &**embedder })
}

fn scope(agent: &Option<String>, user: &Option<String>, session: &Option<String>) -> MemoryScope {
    MemoryScope { agent: agent.clone(), user: user.clone(), session: session.clone() }
}
