//! The tools and skills of an agent as a pool to select from, with their vectors.

use std::borrow::Cow;
use std::sync::Arc;

use foreword::{Context, Line, Mode, Skill, Tool};
use foreword_embed::{Incomparable, Vector};
use foreword_search::{
    Kind, LexicalIndex, NameIndex, Selector, VectorIndex, background_requests, embedding_text,
};

use crate::error::GatherError;
use crate::select::index_file::{ContentHash, IndexFile, WordSet, content_hash};
use crate::select::mode_examples::EXAMPLES;

/// Characters of a skill's body that its vector stands for: the beginning says what it is about.
const BODY_CHARS: usize = 2000;
/// Characters of a skill's headings that are compared word by word.
const HEADING_CHARS: usize = 400;
/// How much the body counts in a skill's vector; the description counts for the rest.
const BODY_WEIGHT: f32 = 0.3;

/// Counts up when [`Draft::wanted`] or the word index is made in another way.
const SET_VERSION: u8 = 2;

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

/// A pool before its vectors are known: what is compared word by word.
#[derive(Debug)]
pub(crate) struct Draft<'c> {
    context: &'c Context,
    names: Vec<(Kind, &'c str)>,
    words: Vec<Cow<'c, str>>,
    with_modes: bool,
}

/// What tells how close items are to everything.
enum Background {
    Stored(Vec<f32>),
    /// The vectors of everyday requests.
    Vectors(Vec<Vector>),
}

/// Tools and skills to select from.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) selector: Selector,
    /// The first so many items are tools, the others skills.
    pub(crate) tools: usize,
    modes: Vec<(Mode, Vector)>,
}

impl<'c> Draft<'c> {
    pub(crate) fn new(context: &'c Context, with_modes: bool) -> Self {
        let (tools, skills) = (&context.tools, &context.skills);
        let mut names = Vec::with_capacity(tools.len() + skills.len());
        let mut words = Vec::with_capacity(tools.len() + skills.len());
        for Tool { name, description, .. } in tools.iter() {
            names.push((Kind::Tool, name.inspect()));
            words.push(Cow::Borrowed(description.inspect()));
        }
        for Skill { name, description, body, .. } in skills.iter() {
            names.push((Kind::Skill, name.inspect()));
            let headings = headings(body.inspect());
            words.push(Cow::Owned(format!("{} {headings}", description.inspect())));
        }
        Self { context, names, words, with_modes }
    }

    /// Every text that needs a vector: one for each item, a second one for each skill, then the examples
    /// of modes, and last the everyday requests that show which items are close to everything.
    pub(crate) fn wanted(&self) -> Vec<Wanted> {
        let Context { tools, skills, .. } = self.context;
        let described = |name: &Line, description: &Line| {
            Wanted::new(embedding_text(name.inspect(), description.inspect()))
        };
        let mut wanted: Vec<Wanted> = Vec::with_capacity(self.names.len() + skills.len());
        wanted.extend(tools.iter().map(|tool| described(&tool.name, &tool.description)));
        wanted.extend(skills.iter().map(|skill| described(&skill.name, &skill.description)));
        let bodies = skills.iter().map(|skill| start(skill.body.inspect(), BODY_CHARS));
        wanted.extend(bodies.map(|body| Wanted::new(body.to_owned())));
        if self.with_modes {
            wanted.extend(EXAMPLES.iter().map(|(_, text)| Wanted::new((*text).to_owned())));
        }
        if !self.names.is_empty() {
            wanted.extend(background_requests().map(|text| Wanted::new(text.to_owned())));
        }
        wanted
    }

    /// The hash of all that [`Draft::wanted`] and the word index are made of: where it is the same, so
    /// are they.
    pub(crate) fn set_hash(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&[SET_VERSION, u8::from(self.with_modes)]);
        let mut add = |text: &str| {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        let Context { tools, skills, .. } = self.context;
        for tool in tools.iter() {
            add(tool.name.inspect());
            add(tool.description.inspect());
        }
        add("");
        for skill in skills.iter() {
            add(skill.name.inspect());
            add(skill.description.inspect());
            add(skill.body.inspect());
        }
        hasher.finalize().into()
    }

    /// All that is stored of these items beside the vectors themselves, which `index` has.
    pub(crate) fn word_set(&self, index: &IndexFile) -> Result<WordSet, GatherError> {
        let wanted = self.wanted();
        let selector = self.finish(&wanted, |hash| index.vector(hash))?.selector;
        let own = wanted.iter().take(self.stored_count());
        Ok(WordSet {
            hash: self.set_hash(),
            places: own.filter_map(|wanted| index.place(&wanted.hash)).collect(),
            background: selector.vectors().map(VectorIndex::background_numbers).unwrap_or_default(),
            words: selector.lexical().to_bytes(),
            names: selector.names().to_bytes(),
        })
    }

    fn words(&self) -> LexicalIndex {
        let names = self.names.iter().map(|(_, name)| *name);
        LexicalIndex::new(names.zip(self.words.iter().map(Cow::as_ref)))
    }

    fn names(&self) -> NameIndex {
        NameIndex::new(self.names.iter().map(|(_, name)| *name))
    }

    /// The pool as it was stored, where an index has all of it.
    pub(crate) fn stored(&self, index: &IndexFile) -> Option<Pool> {
        let set = index.set(&self.set_hash())?;
        let words = LexicalIndex::from_bytes(&set.words).ok()?;
        let names = NameIndex::from_bytes(&set.names).ok()?;
        let vectors: Vec<Option<Vector>> =
            set.places.iter().map(|place| index.at(*place)).collect();
        if vectors.len() != self.stored_count() || vectors.iter().any(Option::is_none) {
            return None;
        }
        let background = Background::Stored(set.background.clone());
        self.assemble(vectors, background, words, names).ok()
    }

    /// How many texts have their vectors stored with a set: all but the everyday requests.
    fn stored_count(&self) -> usize {
        let examples = if self.with_modes { EXAMPLES.len() } else { 0 };
        self.names.len() + self.context.skills.len() + examples
    }

    /// The pool, with the vectors that `vector` knows; none where it knows none.
    pub(crate) fn finish(
        &self,
        wanted: &[Wanted],
        vector: impl Fn(&ContentHash) -> Option<Vector>,
    ) -> Result<Pool, GatherError> {
        let mut vectors: Vec<_> = wanted.iter().map(|wanted| vector(&wanted.hash)).collect();
        let background = vectors.split_off(self.stored_count().min(vectors.len()));
        let background = Background::Vectors(background.into_iter().flatten().collect());
        self.assemble(vectors, background, self.words(), self.names())
    }

    fn assemble(
        &self,
        vectors: Vec<Option<Vector>>,
        background: Background,
        words: LexicalIndex,
        names: NameIndex,
    ) -> Result<Pool, GatherError> {
        let (tools, skills) = (self.context.tools.len(), self.context.skills.len());
        let at = |place: usize| vectors.get(place).and_then(Option::as_ref);
        let id = vectors.iter().flatten().next().map(|vector| Arc::clone(vector.id()));
        let matrix = id.map(|id| -> Result<VectorIndex, Incomparable> {
            let mut matrix = VectorIndex::new(id);
            for place in 0..tools + skills {
                match at(place) {
                    Some(own) if place >= tools => matrix.push(&mix(own, at(place + skills)))?,
                    Some(own) => matrix.push(own)?,
                    None => matrix.push_absent(),
                }
            }
            match background {
                Background::Stored(numbers) => matrix.set_background_numbers(numbers),
                Background::Vectors(vectors) => matrix.set_background(&vectors)?,
            }
            Ok(matrix)
        });
        let kinds = self.names.iter().map(|(kind, _)| *kind).collect();
        let selector = Selector::from_parts(kinds, words, names, matrix.transpose()?)?;
        let examples = vectors.into_iter().skip(tools + 2 * skills).zip(EXAMPLES);
        let modes = examples.filter_map(|(vector, (mode, _))| Some((*mode, vector?))).collect();
        Ok(Pool { selector, tools, modes })
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
        Some(crate::select::mode_examples::nearest(cosines))
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
