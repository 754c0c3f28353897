//! The tools and skills of an agent as a pool to select from, with their vectors.

use std::sync::Arc;

use foreword::{Context, Mode, Skill, Tool};
use foreword_semantic::{
    Incomparable, Kind, LexicalIndex, NameIndex, Selector, Vector, VectorIndex, embedding_text,
};

use crate::error::GatherError;
use crate::index_file::{ContentHash, IndexFile, WordSet, content_hash};
use crate::mode_examples::EXAMPLES;

/// Characters of a skill's body that its vector stands for: the beginning says what it is about.
const BODY_CHARS: usize = 2000;
/// Characters of a skill's headings that are compared word by word.
const HEADING_CHARS: usize = 400;
/// How much the body counts in a skill's vector; the description counts for the rest.
const BODY_WEIGHT: f32 = 0.3;

/// A text that has or needs a vector.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) text: String,
    pub(crate) hash: ContentHash,
}

impl Wanted {
    pub(crate) fn new(text: String) -> Self {
        let hash = content_hash(&text);
        Self { text, hash }
    }
}

/// The texts of a pool, before there are vectors for all of them.
#[derive(Debug)]
pub(crate) struct Draft {
    names: Vec<(Kind, String)>,
    /// What is compared word by word.
    words: Vec<String>,
    /// For each item one text, and for each skill a second one; then the examples of modes.
    wanted: Vec<Wanted>,
    tools: usize,
    skills: usize,
}

/// Tools and skills to select from.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) selector: Selector,
    /// The first so many items are tools, the others skills.
    pub(crate) tools: usize,
    modes: Vec<(Mode, Vector)>,
}

impl Draft {
    pub(crate) fn new(context: &Context, with_modes: bool) -> Self {
        let (tools, skills) = (&context.tools, &context.skills);
        let mut draft = Self {
            names: Vec::with_capacity(tools.len() + skills.len()),
            words: Vec::with_capacity(tools.len() + skills.len()),
            wanted: Vec::new(),
            tools: tools.len(),
            skills: skills.len(),
        };
        for Tool { name, description, .. } in tools {
            let (name, description) = (name.inspect(), description.inspect());
            draft.names.push((Kind::Tool, name.to_owned()));
            draft.words.push(description.to_owned());
            draft.wanted.push(Wanted::new(embedding_text(name, description)));
        }
        for Skill { name, description, body, .. } in skills {
            let (name, description) = (name.inspect(), description.inspect());
            draft.names.push((Kind::Skill, name.to_owned()));
            draft.words.push(format!("{description} {}", headings(body.inspect())));
            draft.wanted.push(Wanted::new(embedding_text(name, description)));
        }
        let bodies = skills.iter().map(|skill| start(skill.body.inspect(), BODY_CHARS));
        draft.wanted.extend(bodies.map(|body| Wanted::new(body.to_owned())));
        if with_modes {
            draft.wanted.extend(EXAMPLES.iter().map(|(_, text)| Wanted::new((*text).to_owned())));
        }
        draft
    }

    /// Every text that needs a vector.
    pub(crate) fn wanted(&self) -> &[Wanted] {
        &self.wanted
    }

    /// The hash of the items in their order: what a stored word index was made of.
    pub(crate) fn set_hash(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        for ((kind, name), words) in self.names.iter().zip(&self.words) {
            let kind = match kind {
                Kind::Tool => b't',
                Kind::Skill => b's',
            };
            hasher.update(&[kind]);
            for text in [name, words] {
                hasher.update(&(text.len() as u64).to_le_bytes());
                hasher.update(text.as_bytes());
            }
        }
        hasher.finalize().into()
    }

    /// The word and name indexes of the items, to be stored.
    pub(crate) fn word_set(&self) -> WordSet {
        WordSet {
            hash: self.set_hash(),
            words: self.words().to_bytes(),
            names: self.names().to_bytes(),
        }
    }

    fn words(&self) -> LexicalIndex {
        let names = self.names.iter().map(|(_, name)| name.as_str());
        LexicalIndex::new(names.zip(self.words.iter().map(String::as_str)))
    }

    fn names(&self) -> NameIndex {
        NameIndex::new(self.names.iter().map(|(_, name)| name.as_str()))
    }

    /// The stored indexes of just these items, where they can be read.
    fn stored(&self, index: &IndexFile) -> Option<(LexicalIndex, NameIndex)> {
        let set = index.set(&self.set_hash())?;
        Some((LexicalIndex::from_bytes(&set.words).ok()?, NameIndex::from_bytes(&set.names).ok()?))
    }

    /// The pool, with the vectors that `vector` knows; none where it knows none.
    pub(crate) fn finish(
        &self,
        index: Option<&IndexFile>,
        vector: impl Fn(&ContentHash) -> Option<Vector>,
    ) -> Result<Pool, GatherError> {
        let vectors: Vec<Option<Vector>> =
            self.wanted.iter().map(|wanted| vector(&wanted.hash)).collect();
        let at = |place: usize| vectors.get(place).and_then(Option::as_ref);
        let items = self.tools + self.skills;
        let id = vectors.iter().flatten().next().map(|vector| Arc::clone(vector.id()));
        let matrix = id.map(|id| -> Result<VectorIndex, Incomparable> {
            let mut matrix = VectorIndex::new(id);
            for place in 0..items {
                match at(place) {
                    Some(own) if place >= self.tools => {
                        matrix.push(&mix(own, at(place + self.skills)))?;
                    }
                    Some(own) => matrix.push(own)?,
                    None => matrix.push_absent(),
                }
            }
            Ok(matrix)
        });
        let (words, names) = index
            .and_then(|index| self.stored(index))
            .unwrap_or_else(|| (self.words(), self.names()));
        let kinds = self.names.iter().map(|(kind, _)| *kind).collect();
        let selector = Selector::from_parts(kinds, words, names, matrix.transpose()?)?;
        let examples = vectors.into_iter().skip(items + self.skills).zip(EXAMPLES);
        let modes = examples.filter_map(|(vector, (mode, _))| Some((*mode, vector?))).collect();
        Ok(Pool { selector, tools: self.tools, modes })
    }
}

impl Pool {
    /// The mode that a task is like, where examples have vectors.
    pub(crate) fn mode(&self, task: &Vector) -> Option<Mode> {
        if self.modes.is_empty() {
            return None;
        }
        let cosines =
            self.modes.iter().map(|(mode, v)| (*mode, task.cosine(v).unwrap_or_default()));
        Some(crate::mode_examples::nearest(cosines))
    }
}

/// Description and body as one vector.
fn mix(description: &Vector, body: Option<&Vector>) -> Vector {
    let Some(body) = body.filter(|body| !body.is_zero()) else { return description.clone() };
    let values = description.values().iter().zip(body.values());
    let values = values.map(|(d, b)| (1.0 - BODY_WEIGHT) * d + BODY_WEIGHT * b).collect();
    Vector::new(Arc::clone(description.id()), values).unwrap_or_else(|_| description.clone())
}

/// The headings of a text, on one line.
fn headings(body: &str) -> String {
    let mut all = String::new();
    let lines = body.lines().filter(|line| line.starts_with('#'));
    for line in lines {
        if all.len() >= HEADING_CHARS {
            break;
        }
        all.push_str(start(line.trim_start_matches('#').trim(), HEADING_CHARS));
        all.push(' ');
    }
    all
}

/// The first so many characters.
fn start(text: &str, chars: usize) -> &str {
    text.char_indices().nth(chars).map_or(text, |(end, _)| text.get(..end).unwrap_or(text))
}
