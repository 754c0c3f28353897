//! The index of a workspace: made ahead, so that a build has only its task to embed.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use foreword_guard::injection_examples;
use foreword_workspace::{PRIVATE_DIR, Workspace, make_private_dir};
use serde::Serialize;

use crate::collect::gather::{each_agent, gather_base};
use crate::error::GatherError;
use crate::request::Request;
use crate::select::embedders;
use crate::select::index_file::{ContentHash, IndexFile};
use crate::select::pool::{Draft, Wanted};
use crate::select::semantics::INDEX_FILE;

/// Texts embedded at once, between two signs of progress.
const BATCH: usize = 64;
/// After so many texts what was done so far is written, so that an interruption loses little.
const SAVE: usize = 4096;

/// What an index holds, and what was done to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IndexReport {
    /// Whose vectors it holds.
    pub embedder: String,
    /// Agents whose tools and skills are in it.
    pub agents: usize,
    /// Tools, each once.
    pub tools: usize,
    /// Skills, each once.
    pub skills: usize,
    /// Examples of injections, for embedders that the scanner has no trained head for.
    pub patterns: usize,
    /// Texts that have a vector: of tools, of skills (description and body), examples.
    pub texts: usize,
    /// Texts that had no vector, and got one unless it was only looked.
    pub embedded: usize,
    /// Vectors that nothing needs any more.
    pub dropped: usize,
    /// Word indexes that were missing.
    pub word_indexes: usize,
    /// Why the index there was could not be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced: Option<String>,
}

impl IndexReport {
    /// Was everything there already?
    #[must_use]
    pub fn is_fresh(&self) -> bool {
        self.embedded == 0 && self.dropped == 0 && self.word_indexes == 0 && self.replaced.is_none()
    }
}

/// Whether the index is written, or only looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indexing {
    /// Brought up to date.
    Update,
    /// Compared with what it should be.
    Check,
}

/// Brings the index of a workspace up to date: only what changed is embedded. `progress` hears how many
/// texts are done and how many there are to do.
///
/// On an error, the old index stays in place.
pub fn index(
    root: &Path,
    request: &Request,
    indexing: Indexing,
    mut progress: impl FnMut(usize, usize),
) -> Result<IndexReport, GatherError> {
    let workspace = Workspace::open_for(root, request.config_dir.as_deref())?;
    let path = root.join(PRIVATE_DIR).join(INDEX_FILE);
    let mut report = IndexReport::default();
    let old = IndexFile::read(&path).unwrap_or_else(|error| {
        report.replaced = Some(error.to_string());
        None
    });
    let settings = &workspace.config().embedder;
    embedders::check_consent(&workspace, request)?;
    // An endpoint is asked for the length of its vectors: what an old index says may be out of date.
    let opened =
        embedders::open(settings, request.models_dir.as_deref(), &request.embeddings, None);
    let reason = |reason| GatherError::Embedder { name: settings.name.as_str(), reason };
    let Some(embedder) = opened.map_err(reason)? else { return Ok(report) };
    report.embedder = embedder.id().to_string();
    let old = old.filter(|old| {
        let same = *old.id == **embedder.id();
        if !same {
            report.replaced = Some(format!("it was made by {}", old.id));
        }
        same
    });

    let mut contexts = Vec::new();
    let (mut tools, mut skills) = (HashSet::new(), HashSet::new());
    for agent in each_agent(&workspace)? {
        let request = Request { agent, neutral: true, ..request.clone() };
        let context = gather_base(&workspace, &request, false)?.context;
        tools.extend(context.tools.iter().map(|tool| tool.name.inspect().to_owned()));
        skills.extend(context.skills.iter().map(|skill| skill.name.inspect().to_owned()));
        contexts.push(context);
        report.agents += 1;
    }
    (report.tools, report.skills) = (tools.len(), skills.len());
    let with_modes = workspace.config().assembly.enable_mode_semantic;
    let drafts: Vec<Draft<'_>> =
        contexts.iter().map(|context| Draft::new(context, with_modes)).collect();

    let mut new = IndexFile::new(Arc::clone(embedder.id()));
    let mut texts: Vec<Wanted> = Vec::new();
    let mut seen: HashSet<ContentHash> = HashSet::new();
    let patterns = injection_examples().iter().map(|example| Wanted::new(example.text.clone()));
    report.patterns = patterns.len();
    for wanted in drafts.iter().flat_map(Draft::wanted).chain(patterns) {
        if !seen.insert(wanted.hash) {
            continue;
        }
        match old.as_ref().and_then(|old| old.vector(&wanted.hash)) {
            Some(vector) => _ = new.insert(wanted.hash, &vector),
            None => texts.push(wanted),
        }
    }
    let known =
        |draft: &&Draft<'_>| old.as_ref().and_then(|old| old.set(&draft.set_hash())).is_none();
    report.word_indexes = drafts.iter().filter(known).count();
    report.texts = seen.len();
    report.embedded = texts.len();
    report.dropped = old.as_ref().map_or(0, |old| old.len() - new.len());
    if indexing == Indexing::Check || report.is_fresh() {
        return Ok(report);
    }

    make_private_dir(root)?;
    let total = texts.len();
    let mut unsaved = 0;
    for (number, batch) in texts.chunks(BATCH).enumerate() {
        progress(number * BATCH, total);
        let only: Vec<&str> = batch.iter().map(|wanted| wanted.text.as_str()).collect();
        let vectors = embedder.embed(&only).map_err(|error| reason(error.to_string()))?;
        for (wanted, vector) in batch.iter().zip(&vectors) {
            new.insert(wanted.hash, vector);
        }
        unsaved += batch.len();
        if unsaved >= SAVE {
            new.write(&path)?;
            unsaved = 0;
        }
    }
    progress(total, total);
    for draft in &drafts {
        if new.set(&draft.set_hash()).is_none() {
            let set = draft.word_set(&new)?;
            new.add_set(set);
        }
    }
    new.write(&path)?;
    Ok(report)
}
