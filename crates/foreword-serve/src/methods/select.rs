//! `select`: which of the given tools and skills fit a task.

use std::sync::{Arc, Mutex, PoisonError};

use foreword::{Context, Skill, Tool};
use foreword_embed::{Embedder as _, StaticEmbedder, Vector};
use foreword_search::{
    Item, Kind, Limits, Picked, Query, Reason, Selector, background, embedding_text,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::service::Service;

/// More would make one request slow; a workspace with an index is the place for larger sets.
const MAX_ITEMS: usize = 10_000;
/// So many sets of tools and skills are kept ready.
const MAX_KEPT: usize = 8;

/// A task, and what could help with it.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SelectParams {
    /// What the person asked for.
    task: String,
    /// The tools: names, or objects with `name` and `description`.
    #[serde(default)]
    tools: Vec<Tool>,
    /// The skills: Markdown, or objects with `name` and `description`.
    #[serde(default)]
    skills: Vec<Skill>,
    /// The maximum number of tools [default: 10].
    max_tools: Option<usize>,
    /// The maximum number of skills [default: 3].
    max_skills: Option<usize>,
    /// The maximum number of each kind that are there for their score alone [default: 5].
    max_results: Option<usize>,
    /// The minimum score; by default that of the embedder.
    min_score: Option<f32>,
}

/// A tool or skill that was picked.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SelectedItem {
    /// Its place in the given list.
    index: usize,
    /// Its name.
    name: String,
    /// How well it fits.
    score: f64,
    /// Why it was picked: the task names it, or its score is high enough.
    reasons: Vec<&'static str>,
}

/// What fits the task, best first.
#[derive(Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SelectAnswer {
    /// The tools that fit.
    tools: Vec<SelectedItem>,
    /// The skills that fit.
    skills: Vec<SelectedItem>,
    /// The kinds (`tools`, `skills`) of which nothing fits.
    abstained: Vec<&'static str>,
}

/// Selectors of recent requests, newest last.
#[derive(Debug, Default)]
pub(crate) struct Selectors(Mutex<Vec<([u8; 32], Arc<Selector>)>>);

pub(crate) fn select(service: &Service, params: SelectParams) -> Result<SelectAnswer, Failure> {
    let count = params.tools.len() + params.skills.len();
    if count > MAX_ITEMS {
        return Err(Failure::usage(format!(
            "{count} tools and skills; `select` takes at most {MAX_ITEMS}"
        ))
        .hint("put them into a workspace and run `foreword index`"));
    }
    // Raw skills get their names as in a Context.
    let mut context = Context {
        tools: Arc::new(params.tools),
        skills: Arc::new(params.skills),
        ..Context::default()
    };
    context.name_skills();
    let embedder = service.embedder()?;
    let selector = service.selectors().of(&context, embedder)?;
    let vector = embedder.embed(&[&params.task])?.pop();
    let limits = Limits::default();
    let limits = Limits {
        max_tools: params.max_tools.unwrap_or(limits.max_tools),
        max_skills: params.max_skills.unwrap_or(limits.max_skills),
        max_results: params.max_results.unwrap_or(limits.max_results),
        min_score: params.min_score,
    };
    let query = Query { text: &params.task, vector: vector.as_ref(), mode_base: &[], offered: &[] };
    let found = selector.select(&query, &limits)?;
    let mut answer = SelectAnswer::default();
    for picked in &found.picked {
        let tools = context.tools.len();
        match picked.index.checked_sub(tools) {
            None => answer.tools.extend(
                context
                    .tools
                    .get(picked.index)
                    .map(|tool| selected(picked.index, tool.name.inspect(), picked)),
            ),
            Some(index) => answer.skills.extend(
                context
                    .skills
                    .get(index)
                    .map(|skill| selected(index, skill.name.inspect(), picked)),
            ),
        }
    }
    answer.abstained = found
        .abstained
        .iter()
        .map(|kind| if *kind == Kind::Tool { "tools" } else { "skills" })
        .collect();
    Ok(answer)
}

fn selected(index: usize, name: &str, picked: &Picked) -> SelectedItem {
    let reason = |reason: &Reason| match reason {
        Reason::Named => "named",
        Reason::Base => "base",
        Reason::Score => "score",
    };
    SelectedItem {
        index,
        name: name.to_owned(),
        score: (f64::from(picked.score) * 10_000.0).round() / 10_000.0,
        reasons: picked.reasons.iter().map(reason).collect(),
    }
}

impl Selectors {
    /// The selector of these tools and skills, made once.
    fn of(&self, context: &Context, embedder: &StaticEmbedder) -> Result<Arc<Selector>, Failure> {
        let items: Vec<(Kind, &str, &str)> = context
            .tools
            .iter()
            .map(|tool| (Kind::Tool, tool.name.inspect(), tool.description.inspect()))
            .chain(
                context
                    .skills
                    .iter()
                    .map(|skill| (Kind::Skill, skill.name.inspect(), skill.description.inspect())),
            )
            .collect();
        let key = digest(&items);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = kept.iter().position(|(known, _)| *known == key) {
            let known = kept.remove(place);
            let selector = Arc::clone(&known.1);
            kept.push(known);
            return Ok(selector);
        }
        drop(kept);
        let selector = Arc::new(index(&items, embedder)?);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MAX_KEPT {
            kept.remove(0);
        }
        kept.push((key, Arc::clone(&selector)));
        Ok(selector)
    }
}

fn index(items: &[(Kind, &str, &str)], embedder: &StaticEmbedder) -> Result<Selector, Failure> {
    let texts: Vec<String> =
        items.iter().map(|(_, name, text)| embedding_text(name, text)).collect();
    let vectors: Vec<Vector> =
        embedder.embed(&texts.iter().map(String::as_str).collect::<Vec<_>>())?;
    let items: Vec<Item<'_>> = items
        .iter()
        .zip(&vectors)
        .map(|((kind, name, text), vector)| Item { kind: *kind, name, text, vector: Some(vector) })
        .collect();
    Ok(Selector::new(&items)?.with_background(&background(embedder)?)?)
}

fn digest(items: &[(Kind, &str, &str)]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for (kind, name, text) in items {
        hasher.update(&[u8::from(*kind == Kind::Skill)]);
        for part in [name, text] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
    }
    hasher.finalize().into()
}
