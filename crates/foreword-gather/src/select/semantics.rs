//! What fits a task: one embedding call for everything that needs a vector, then words and vectors
//! together.

use std::collections::HashMap;
use std::sync::Arc;

use foreword::{Choice, Context, Field, Line, Mode, Selected, Selection, Untrusted, estimate};
use foreword_embed::{EmbedError, Vector};
use foreword_search::{Kind, Limits, Picked, Query, Reason};
use foreword_workspace::{DATABASE_FILE, EmbedderSettings, ModeSettings, PRIVATE_DIR};

use crate::collect::gather::{Base, Gathered};
use crate::collect::text::untrusted_within;
use crate::error::GatherError;
use crate::request::Request;
use crate::select::embedders::{self, AnyEmbedder, Endpoint};
use crate::select::guard::Guard;
use crate::select::index_file::{ContentHash, IndexFile};
use crate::select::pool::{Draft, Pool, Wanted};
use crate::select::recall::{Asked, Store};
use crate::select::task_cache::TaskCache;
use crate::warning::{IndexState, Warning};

/// The file of the index, below `.foreword/`.
pub(crate) const INDEX_FILE: &str = "index.bin";
/// Embeddings that the index lacks, kept from task to task.
const MAX_UNINDEXED: usize = 20_000;
/// A skill body cut to fewer tokens than this is left out instead.
const MIN_BODY_TOKENS: usize = 100;

/// What is kept from task to task.
#[derive(Default)]
pub(crate) struct Semantics {
    /// The embedder last used, and what it was opened with.
    embedder: Option<(EmbedderSettings, Endpoint, AnyEmbedder)>,
    tasks: TaskCache,
    /// Vectors that no index has, by the content they stand for.
    made: HashMap<ContentHash, Vector>,
    memories: Store,
    guard: Guard,
}

/// The answer of an embedder: the task's vector, and those of other texts in their order.
#[derive(Default)]
struct Embedded {
    task: Option<Vector>,
    others: Vec<Vector>,
}

impl Semantics {
    /// Adds what fits the task, as far as the blueprint has a place for it. `kept` is the pool of the
    /// base, from an earlier task or for a later one.
    pub(crate) fn add_to(
        &mut self,
        gathered: &mut Gathered,
        base: &Base,
        kept: &mut Option<Arc<Pool>>,
        request: &Request,
    ) -> Result<(), GatherError> {
        let assembly = &base.config.assembly;
        let selects = assembly.select && base.blueprint.shows(Field::Selection);
        let recalls = self.recalls(base, &mut gathered.warnings);
        if !(selects || recalls) {
            return Ok(());
        }
        let Gathered { context, warnings, .. } = gathered;
        warnings.extend(base.embedder(request).1);
        let mut selection = Selection::default();
        let task = context.task.inspect();
        let vector = if selects {
            let (pool, vector) = self.pool(base, kept, request, warnings, &mut selection, task)?;
            if Mode::indicated(context.mode, context.hints, task).is_none()
                && let Some(mode) = vector.as_ref().and_then(|vector| pool.mode(vector))
            {
                context.mode = Choice::Fixed(mode);
            }
            pick(base, &pool, vector.as_ref(), context, &mut selection, warnings)?;
            limit_bodies(context, &mut selection, assembly.max_capability_tokens);
            vector
        } else {
            let embedder = self.working_embedder(base, request, None, &mut selection);
            self.embed(embedder.as_ref(), task, &[], assembly.task_cache, &mut selection).task
        };
        if recalls {
            if self.memories.is_foreign(request.config_dir.as_deref()) {
                warnings.push(Warning::OtherAuditKey);
            }
            self.guard.set(assembly);
            self.know_patterns(vector.as_ref(), base, warnings);
            self.recall(vector.as_ref(), request, base, context, &mut selection, warnings);
        }
        if let Some(reason) = &selection.degraded {
            let reason = reason.inspect().to_owned();
            warnings.push(Warning::KeywordSearchOnly { reason });
        }
        context.selection = Some(selection);
        Ok(())
    }

    /// The tools of a base by how well they fit a need, best first.
    pub(crate) fn rank_tools(
        &mut self,
        base: &Base,
        kept: &mut Option<Arc<Pool>>,
        request: &Request,
        need: &str,
    ) -> Result<Vec<String>, GatherError> {
        let mut selection = Selection::default();
        let (pool, vector) =
            self.pool(base, kept, request, &mut Vec::new(), &mut selection, need)?;
        let ranked = pool.selector.rank(need, vector.as_ref())?;
        let tools = ranked.into_iter().filter(|ranked| ranked.index < pool.tools);
        let named = tools.filter_map(|ranked| base.context.tools.get(ranked.index));
        Ok(named.map(|tool| tool.name.inspect().to_owned()).collect())
    }

    /// Whether there are memories to recall and a place to show them.
    fn recalls(&mut self, base: &Base, warnings: &mut Vec<Warning>) -> bool {
        let assembly = &base.config.assembly;
        let wanted = (assembly.include_memories && base.blueprint.shows(Field::Memories))
            || (assembly.include_activity && base.blueprint.shows(Field::Activity));
        let database = base.root.join(PRIVATE_DIR).join(DATABASE_FILE);
        wanted
            && self.memories.open(&database).unwrap_or_else(|error| {
                warnings.push(Warning::MemoriesUnreadable { reason: error.to_string() });
                false
            })
    }

    /// Lets the guard know the examples that vectors of this embedder are judged by.
    fn know_patterns(&mut self, vector: Option<&Vector>, base: &Base, warnings: &mut Vec<Warning>) {
        let Some(id) = vector.map(Vector::id).filter(|id| self.guard.wants_patterns(id)) else {
            return;
        };
        let index = read_index(base, &mut Vec::new()).filter(|index| index.id == *id);
        if !index.is_some_and(|index| self.guard.take_patterns(&index)) {
            warnings.push(Warning::KeywordScanOnly);
        }
    }

    /// Puts memories and activity that fit the task into the Context.
    fn recall(
        &self,
        vector: Option<&Vector>,
        request: &Request,
        base: &Base,
        context: &mut Context,
        selection: &mut Selection,
        warnings: &mut Vec<Warning>,
    ) {
        let asked = Asked {
            task: context.task.inspect(),
            vector,
            agent: context.agent_id.as_ref().map(Line::inspect),
            user: context.user_id.as_ref().map(Line::inspect),
            session: request.session.as_deref(),
            now: request.now.as_ref(),
        };
        match self.memories.recall(&asked, &base.config.assembly, &self.guard) {
            Ok(found) => {
                context.memories = found.memories;
                context.activity = found.activity;
                selection.filtered.extend(found.filtered);
                selection.filtered_count = u32::try_from(found.filtered_count).unwrap_or(u32::MAX);
                if found.without_vector > 0 && vector.is_some_and(|vector| !vector.is_zero()) {
                    let count = found.without_vector;
                    warnings.push(Warning::MemoriesWithoutVectors { count });
                }
            }
            // What may be wrong is not shown.
            Err(error) => {
                warnings.push(Warning::MemoriesUnreadable { reason: error.to_string() });
            }
        }
    }

    /// The pool of a base and the vector of the task. Whatever has no vector yet is embedded together
    /// with the task, in one call.
    fn pool(
        &mut self,
        base: &Base,
        kept: &mut Option<Arc<Pool>>,
        request: &Request,
        warnings: &mut Vec<Warning>,
        selection: &mut Selection,
        task: &str,
    ) -> Result<(Arc<Pool>, Option<Vector>), GatherError> {
        let said = warnings.len();
        let index = if kept.is_none() { read_index(base, warnings) } else { None };
        let is_there = index.is_some() || warnings.len() > said;
        let embedder = self.working_embedder(base, request, index.as_ref(), selection);
        let most = base.config.assembly.task_cache;
        if let Some(pool) = kept {
            let embedded = self.embed(embedder.as_ref(), task, &[], most, selection);
            return Ok((Arc::clone(pool), embedded.task));
        }

        let draft = Draft::new(&base.context, base.config.assembly.enable_mode_semantic);
        let index = index.filter(|index| {
            let same = embedder.as_ref().is_some_and(|embedder| **embedder.id() == *index.id);
            if !same && embedder.is_some() {
                let embedder = index.id.to_string();
                warnings.push(Warning::IndexOfOtherEmbedder { embedder });
            }
            same
        });
        if let Some(pool) = index.as_ref().and_then(|index| draft.stored(index)) {
            let pool = Arc::new(pool);
            let embedded = self.embed(embedder.as_ref(), task, &[], most, selection);
            if selection.degraded.is_none() {
                *kept = Some(Arc::clone(&pool));
            }
            return Ok((pool, embedded.task));
        }
        let wanted = draft.wanted();
        if self.made.len() > MAX_UNINDEXED
            || self
                .made
                .values()
                .next()
                .zip(embedder.as_ref())
                .is_some_and(|(v, e)| v.id() != e.id())
        {
            self.made.clear();
        }
        let mut missing = missing(&wanted, index.as_ref());
        missing.retain(|wanted| !self.made.contains_key(&wanted.hash));
        let texts: Vec<&str> = missing.iter().map(|wanted| wanted.text.as_str()).collect();
        let embedded = self.embed(embedder.as_ref(), task, &texts, most, selection);
        let count = embedded.others.len();
        self.made.extend(missing.iter().map(|wanted| wanted.hash).zip(embedded.others));
        let made = &self.made;
        if count > 0 {
            let index = match index {
                Some(_) => IndexState::Stale,
                None if is_there => IndexState::Unusable,
                None => IndexState::Missing,
            };
            warnings.push(Warning::EmbeddedForBuild { index, count });
        }
        let vector_of = |hash: &ContentHash| {
            embedded.task.as_ref()?;
            made.get(hash).cloned().or_else(|| index.as_ref()?.vector(hash))
        };
        let pool = Arc::new(draft.finish(&wanted, vector_of)?);
        // An embedder that failed may be back next time.
        if selection.degraded.is_none() {
            *kept = Some(Arc::clone(&pool));
        }
        Ok((pool, embedded.task))
    }

    /// One call for the task and other texts; none where all vectors are known.
    fn embed(
        &mut self,
        embedder: Option<&AnyEmbedder>,
        task: &str,
        others: &[&str],
        most: usize,
        selection: &mut Selection,
    ) -> Embedded {
        let Some(embedder) = embedder else { return Embedded::default() };
        let known = self.tasks.get(task, embedder.id());
        let mut texts = others.to_vec();
        if known.is_none() {
            texts.push(task);
        }
        if texts.is_empty() {
            return Embedded { task: known, others: Vec::new() };
        }
        selection.embedding_calls += 1;
        match embedder.embed(&texts) {
            Ok(mut vectors) => {
                let task_vector = known.or_else(|| {
                    let vector = vectors.pop()?;
                    self.tasks.put(task, vector.clone(), most);
                    Some(vector)
                });
                Embedded { task: task_vector, others: vectors }
            }
            Err(error) => {
                // The length of its vectors was taken from the index, which may be out of date.
                let hint = match error {
                    EmbedError::Answer { .. } => "; if its model changed, run `foreword index`",
                    _ => "",
                };
                selection.degraded = Some(Line::new(format!("{error}{hint}")));
                Embedded::default()
            }
        }
    }

    /// The embedder of the workspace, if it works.
    fn working_embedder(
        &mut self,
        base: &Base,
        request: &Request,
        index: Option<&IndexFile>,
        selection: &mut Selection,
    ) -> Option<AnyEmbedder> {
        self.embedder(&base.embedder(request).0, request, index).unwrap_or_else(|reason| {
            selection.degraded = Some(Line::new(reason));
            None
        })
    }

    /// The embedder of the workspace; none where it wants none, and why not where it does not work.
    fn embedder(
        &mut self,
        settings: &EmbedderSettings,
        request: &Request,
        index: Option<&IndexFile>,
    ) -> Result<Option<AnyEmbedder>, String> {
        if let Some((known, endpoint, embedder)) = &self.embedder
            && known == settings
            && *endpoint == request.embeddings
        {
            return Ok(Some(Arc::clone(embedder)));
        }
        let dims = index.filter(|index| index.id.name == "http").map(|index| index.id.dims);
        let opened =
            embedders::open(settings, request.models_dir.as_deref(), &request.embeddings, dims)?;
        self.embedder = opened
            .as_ref()
            .map(|embedder| (settings.clone(), request.embeddings.clone(), Arc::clone(embedder)));
        Ok(opened)
    }
}

/// The index of the workspace, if there is one to be believed.
fn read_index(base: &Base, warnings: &mut Vec<Warning>) -> Option<IndexFile> {
    match IndexFile::read(&base.root.join(PRIVATE_DIR).join(INDEX_FILE)) {
        Ok(index) => index,
        Err(error) => {
            warnings.push(Warning::IndexUnreadable { reason: error.to_string() });
            None
        }
    }
}

/// The texts that an index has no vectors for, each once.
fn missing<'w>(wanted: &'w [Wanted], index: Option<&IndexFile>) -> Vec<&'w Wanted> {
    let mut seen = std::collections::HashSet::new();
    let known = |hash: &ContentHash| index.is_some_and(|index| index.has(hash));
    wanted.iter().filter(|wanted| !known(&wanted.hash) && seen.insert(wanted.hash)).collect()
}

/// Picks tools and skills, and writes down which and why.
fn pick(
    base: &Base,
    pool: &Pool,
    vector: Option<&Vector>,
    context: &Context,
    selection: &mut Selection,
    warnings: &mut Vec<Warning>,
) -> Result<(), GatherError> {
    let assembly = &base.config.assembly;
    let mode = context.mode();
    let modes = &base.config.modes;
    let set = match mode {
        Mode::Plan => &modes.plan,
        Mode::Act => &modes.act,
        Mode::Review => &modes.review,
    };
    let mode_base = base_items(context, set, mode, warnings);
    let offered: Vec<bool> = context
        .tools
        .iter()
        .map(|tool| tool.is_offered_in(mode.as_str()))
        .chain(context.skills.iter().map(|skill| skill.is_offered_in(mode.as_str())))
        .collect();
    let limits = Limits {
        max_tools: set.max_tools.unwrap_or(assembly.max_tools),
        max_skills: set.max_skills.unwrap_or(assembly.max_skills),
        max_results: assembly.max_results,
        min_score: assembly.min_score.map(|score| score as f32),
    };
    let text = context.task.inspect();
    let query = Query { text, vector, mode_base: &mode_base, offered: &offered };
    let picked = pool.selector.select(&query, &limits)?;
    let vector = vector.filter(|_| picked.with_vectors);
    selection.embedder = vector.map(|vector| Line::new(vector.id().to_string()));
    selection.min_score = Some(rounded(picked.min_score)).filter(|score| score.is_finite());
    let kinds = picked.abstained.iter();
    selection.abstained =
        kinds.map(|kind| Line::new(if *kind == Kind::Tool { "tools" } else { "skills" })).collect();
    for item in &picked.picked {
        match item.index.checked_sub(pool.tools) {
            None => {
                let tool = context.tools.get(item.index);
                selection.tools.extend(tool.map(|tool| selected(&tool.name, item)));
            }
            Some(skill) => {
                let skill = context.skills.get(skill);
                selection.skills.extend(skill.map(|skill| selected(&skill.name, item)));
            }
        }
    }
    Ok(())
}

fn selected(name: &Line, item: &Picked) -> Selected {
    let reason = |reason: &Reason| {
        Line::new(match reason {
            Reason::Named => "named",
            Reason::Base => "base",
            Reason::Score => "score",
        })
    };
    Selected {
        name: name.clone(),
        score: rounded(item.score),
        reasons: item.reasons.iter().map(reason).collect(),
    }
}

/// Four places tell all there is to tell, and read well.
fn rounded(score: f32) -> f64 {
    (f64::from(score) * 10_000.0).round() / 10_000.0
}

/// The places of what a mode always brings along; names that lead nowhere are told.
fn base_items(
    context: &Context,
    set: &ModeSettings,
    mode: Mode,
    warnings: &mut Vec<Warning>,
) -> Vec<usize> {
    let mut places = Vec::new();
    let mut add = |key, name: &str, place: Option<usize>| match place {
        Some(place) => places.push(place),
        None => warnings.push(Warning::ModeItemMissing { mode, key, name: name.to_owned() }),
    };
    for name in &set.base_tools {
        let place = context.tools.iter().position(|tool| tool.name.inspect() == name);
        add("base_tools", name, place);
    }
    for name in &set.base_skills {
        let place = context.skills.iter().position(|skill| skill.name.inspect() == name);
        add("base_skills", name, place.map(|place| place + context.tools.len()));
    }
    places
}

/// Cuts or leaves out the bodies of selected skills, so that together they stay within the limit.
fn limit_bodies(context: &mut Context, selection: &mut Selection, most: usize) {
    let mut left = most;
    for selected in &selection.skills {
        let place = context.skills.iter().position(|skill| skill.name == selected.name);
        let Some((place, skill)) =
            place.and_then(|place| Some((place, context.skills.get(place)?)))
        else {
            continue;
        };
        let costs = estimate(skill.body.inspect()) as usize;
        if costs <= left {
            left -= costs;
            continue;
        }
        // Only now are the skills of this Context other than those that the next one has.
        let Some(skill) = Arc::make_mut(&mut context.skills).get_mut(place) else { continue };
        let name = skill.name.inspect().to_owned();
        let reason = if left < MIN_BODY_TOKENS {
            skill.body = Untrusted::default();
            format!("over max_capability_tokens: {costs} tokens, {left} left; its body is left out")
        } else {
            skill.body = untrusted_within(&skill.body, &name, left);
            format!("over max_capability_tokens: cut from {costs} tokens to {left}")
        };
        left = left.saturating_sub(estimate(skill.body.inspect()) as usize);
        selection.filtered.push(foreword::Filtered { kind: "skill".to_owned(), id: name, reason });
    }
}
