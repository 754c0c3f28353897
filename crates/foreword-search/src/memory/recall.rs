//! Queries and results of recall.

use foreword_embed::Vector;
use foreword_store::MemoryEntry;

use crate::memory::score::{DEFAULT_HALF_LIFE_DAYS, outstanding};

/// Which kinds of memories are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KindFilter<'a> {
    /// Knowledge: no activity, and no memories excluded from prompts.
    #[default]
    Memories,
    /// What happened.
    Activity,
    /// Both of these.
    All,
    /// Everything, including memories excluded from prompts: for display to a person.
    Everything,
    /// One kind, whichever it is: for a person's eyes.
    Only(&'a str),
}

/// A question to the memories.
#[derive(Debug, Clone, Copy)]
pub struct Recall<'a> {
    /// The task, in its own words.
    pub text: &'a str,
    /// Its vector; without one, words alone decide.
    pub vector: Option<&'a Vector>,
    /// The agent that asks. Memories of other agents are not seen.
    pub agent: Option<&'a str>,
    /// The user it is for. Memories of other users are not seen.
    pub user: Option<&'a str>,
    /// The session. Memories of other sessions are not seen.
    pub session: Option<&'a str>,
    /// The time, in milliseconds since 1970.
    pub now_ms: i64,
    /// Maximum number of hits.
    pub limit: usize,
    /// The minimum score of a hit; `None` uses the calibrated default.
    pub min_score: Option<f32>,
    /// Which kinds.
    pub kinds: KindFilter<'a>,
    /// The half-life of recency in days; `None` disables decay.
    pub half_life_days: Option<f64>,
    /// How much a hit has to differ from those before it, 0 to 1; 0 for not at all.
    pub diversity: f32,
    /// Sees the memories of all agents, users and sessions: for a person's eyes.
    pub all_scopes: bool,
}

impl<'a> Recall<'a> {
    /// A question with the defaults: three memories at most, of no agent, user or session.
    #[must_use]
    pub fn new(text: &'a str, now_ms: i64) -> Self {
        Self {
            text,
            vector: None,
            agent: None,
            user: None,
            session: None,
            now_ms,
            limit: 3,
            min_score: None,
            kinds: KindFilter::Memories,
            half_life_days: Some(DEFAULT_HALF_LIFE_DAYS),
            diversity: 0.3,
            all_scopes: false,
        }
    }
}

/// The parts of a score.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RecallParts {
    /// The cosine with the question, where the vectors can be compared.
    pub meaning: Option<f32>,
    /// How near the words of the memory come to each word of the question, 0 to 1.
    pub likeness: f32,
    /// The share of the question's words that the memory has, rare words counting more, 0 to 1.
    pub words: f32,
    /// 1 if the question names its speaker, -1 if it names another one, else 0.
    pub speaker: f32,
    /// Whether the question asks for a time and the memory tells one.
    pub tells_when: bool,
    /// How well its days fit those of the question, 0 to 1.
    pub date: f32,
    /// Whether it is a question itself.
    pub asks: bool,
    /// What the turns of the conversation around it add.
    pub context: f32,
    /// How recent it is: 1 today, a half after the half-life.
    pub recency: f32,
}

/// A memory that was found.
#[derive(Debug, Clone)]
pub struct Hit {
    /// The memory.
    pub entry: MemoryEntry,
    /// Its stored vector.
    pub vector: Option<Vector>,
    /// How well it fits, 0 to 1, the same scale for every embedder.
    pub score: f32,
    /// The sum of evidence that the score is made of.
    pub evidence: f32,
    pub parts: RecallParts,
}

/// The result of a recall.
#[derive(Debug, Clone, Default)]
pub struct Recalled {
    /// The best first.
    pub hits: Vec<Hit>,
    /// Whether vectors were compared.
    pub with_vectors: bool,
    /// How many memories can be seen from here.
    pub visible: usize,
    /// How many of them have no vector of the question's embedder, and are found by words only.
    pub without_vector: usize,
    /// How many of those that were looked at closely did not reach the score.
    pub below_threshold: usize,
    /// How many reached it and were left out for their kind.
    pub never_injected: usize,
    /// How many reached it but duplicated a hit.
    pub repeated: usize,
    /// The mean evidence of the candidates behind the first few, if there are any: how close unrelated
    /// memories come to this question.
    pub rest: Option<f32>,
}

impl Recalled {
    /// Whether a hit stands out from the other candidates, for a prompt, in which a memory that does
    /// not help costs. `best` is the evidence of the best hit that is used: one that is refused for
    /// what it says must not keep others out.
    #[must_use]
    pub fn stands_out(&self, hit: &Hit, best: f32) -> bool {
        hit.evidence >= outstanding(best, self.rest)
    }
}
