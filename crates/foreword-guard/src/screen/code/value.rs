//! What is known of a value: its text as far as it is constant, what it names, and where it came from.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// Stands in a text for a part that is not constant.
pub(crate) const HOLE: char = '\u{FFFC}';
/// Longer constant texts are cut.
const MAX_TEXT: usize = 16 * 1024;
/// Deeper values are let go.
const MAX_NESTING: u8 = 24;
/// What else a value may be; more is left out.
const MAX_OTHERS: usize = 24;
/// Texts that are longer are not put together with every alternative.
const MAX_VARIED: usize = 512;
/// Arguments that a parameter takes which takes all that are left.
const MAX_WORDS: usize = 64;
/// Marks that one value carries.
const MAX_MARKS: usize = 16;

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// A file that holds credentials, keys or private data.
    SecretFile,
    /// A variable of the environment with the name of a secret.
    SecretVariable,
    /// All variables of the environment.
    Environment,
    /// What a program that manages credentials prints.
    Credential,
    /// A password that someone typed.
    Typed,
    Clipboard,
    /// What the user and the agent say to each other, and a person's mail.
    Conversation,
    /// What is on the screen or typed.
    Screen,
    /// Cookies and stores of a page.
    Page,
    /// Facts about the machine and its user.
    HostFacts,
    /// The contents of local files.
    Files,
    /// What a server answered.
    Fetched,
    /// Decoded from something that a reader cannot read.
    Decoded,
}

impl Origin {
    /// Something that must not leave the machine unasked.
    pub(crate) fn is_secret(&self) -> bool {
        matches!(
            self,
            Self::SecretFile
                | Self::SecretVariable
                | Self::Environment
                | Self::Credential
                | Self::Typed
                | Self::Clipboard
                | Self::Conversation
                | Self::Screen
                | Self::Page
        )
    }
}

/// One origin of a value, with its place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mark {
    pub(crate) origin: Origin,
    /// The file, the variable or the host.
    pub(crate) detail: String,
    pub(crate) file: usize,
    pub(crate) line: u32,
}

/// All origins of a value, each once. Most values have none, and many have the same ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Marks(Option<Rc<Vec<Rc<Mark>>>>);

impl Marks {
    pub(crate) fn one(mark: Mark) -> Self {
        Self(Some(Rc::new(vec![Rc::new(mark)])))
    }

    pub(crate) fn add(&mut self, other: &Self) {
        let Some(more) = &other.0 else { return };
        let own = match &mut self.0 {
            Some(own) if Rc::ptr_eq(own, more) => return,
            Some(own) => own,
            None => {
                self.0 = Some(Rc::clone(more));
                return;
            }
        };
        for mark in more.iter() {
            if own.len() >= MAX_MARKS {
                return;
            }
            let known = |m: &Rc<Mark>| {
                Rc::ptr_eq(m, mark) || m.origin == mark.origin && m.detail == mark.detail
            };
            if !own.iter().any(known) {
                Rc::make_mut(own).push(Rc::clone(mark));
            }
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Mark> {
        self.0.iter().flat_map(|marks| marks.iter()).map(Rc::as_ref)
    }

    pub(crate) fn has(&self, origin: &Origin) -> bool {
        self.iter().any(|mark| mark.origin == *origin)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |marks| marks.len())
    }
}

/// What is known of a value.
#[derive(Debug, Clone, Default)]
pub(crate) struct Value {
    /// Its text, with [`HOLE`]s.
    pub(crate) text: Option<Arc<str>>,
    pub(crate) number: Option<i64>,
    /// The module, object or function it names, such as `os.environ`.
    pub(crate) path: Option<Arc<str>>,
    /// A file of the same folder that it names as a module.
    pub(crate) module: Option<usize>,
    pub(crate) marks: Marks,
    pub(crate) items: Option<Rc<Vec<Value>>>,
    pub(crate) fields: Option<Rc<BTreeMap<Arc<str>, Value>>>,
    /// Its text was put together so that a reader does not see it.
    pub(crate) disguised: bool,
    /// What it may be instead: the other entries of a list that a loop goes through, the other
    /// branch of a choice, what other callers hand over.
    pub(crate) others: Option<Rc<Vec<Value>>>,
    /// How deep values lie in it.
    pub(crate) nesting: u8,
}

impl Value {
    /// Nothing is known of it.
    pub(crate) const NOTHING: Self = Self {
        text: None,
        number: None,
        path: None,
        module: None,
        marks: Marks(None),
        items: None,
        fields: None,
        disguised: false,
        others: None,
        nesting: 0,
    };

    /// How much is known of it: its marks, and the length of its texts.
    pub(crate) fn size(&self) -> (usize, usize) {
        let text = self.text.as_ref().map_or(0, |text| text.len() + 1);
        let path = self.path.as_ref().map_or(0, |path| path.len() + 1);
        let parts = self.items.as_ref().map_or(0, |items| items.len() + 1)
            + self.fields.as_ref().map_or(0, |fields| fields.len() + 1)
            + self.others.as_ref().map_or(0, |others| others.len());
        (self.marks.len() + parts + usize::from(self.disguised), text + path)
    }

    pub(crate) fn text(text: impl Into<Arc<str>>) -> Self {
        let mut text = text.into();
        if text.len() > MAX_TEXT {
            text = cut(&text).into();
        }
        Self { text: Some(text), ..Self::default() }
    }

    pub(crate) fn path(path: impl Into<Arc<str>>) -> Self {
        Self { path: Some(path.into()), ..Self::default() }
    }

    pub(crate) fn marked(marks: Marks) -> Self {
        Self { marks, ..Self::default() }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// The text without anything unknown in it.
    pub(crate) fn constant(&self) -> Option<&str> {
        self.as_text().filter(|text| !text.contains(HOLE))
    }

    /// All origins, also of what it holds.
    pub(crate) fn all_marks(&self) -> Marks {
        let mut marks = self.marks.clone();
        for item in self.items.iter().flat_map(|items| items.iter()) {
            marks.add(&item.marks);
        }
        // What holds a value has its marks already, so one level is enough.
        for field in self.fields.iter().flat_map(|fields| fields.values()) {
            marks.add(&field.marks);
        }
        for other in self.others.iter().flat_map(|others| others.iter()) {
            marks.add(&other.marks);
        }
        marks
    }

    /// The value with what was put into it; what lies too deep is let go, so that a program that
    /// puts a thing into itself again and again stays small.
    pub(crate) fn holding(mut self) -> Self {
        let items = self.items.iter().flat_map(|items| items.iter());
        let fields = self.fields.iter().flat_map(|fields| fields.values());
        let deepest = items.chain(fields).map(|value| value.nesting).max();
        self.nesting = deepest.map_or(0, |deepest| deepest.saturating_add(1));
        if self.nesting > MAX_NESTING {
            (self.items, self.fields, self.nesting) = (None, None, 0);
        }
        self
    }

    /// Everything that it may be, itself first.
    pub(crate) fn alternatives(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(self.others.iter().flat_map(|others| others.iter()))
    }

    /// A list of values, those of lists within it among them.
    pub(crate) fn list(values: &[Self]) -> Self {
        let mut list = Vec::with_capacity(values.len());
        for value in values.iter().take(MAX_WORDS) {
            match &value.items {
                Some(items) if value.text.is_none() => {
                    list.extend(items.iter().take(MAX_WORDS).cloned());
                }
                _ => list.push(value.clone()),
            }
        }
        let mut whole = Self::default();
        for value in values {
            whole.marks.add(&value.all_marks());
        }
        Self { items: Some(Rc::new(list)), ..whole }.holding()
    }

    /// One of several values, whichever.
    pub(crate) fn one_of(values: impl IntoIterator<Item = Self>) -> Self {
        let mut all: Vec<Self> = Vec::new();
        for mut value in values {
            if all.len() > MAX_OTHERS {
                break;
            }
            let others = value.others.take();
            let room = MAX_OTHERS.saturating_sub(all.len());
            all.push(value);
            all.extend(others.iter().flat_map(|o| o.iter()).take(room).cloned());
        }
        // What is known best comes first. `token or ""` says nothing of the token.
        let says = |v: &Self| v.text.as_ref().is_some_and(|text| !text.is_empty());
        let first = all.iter().position(says).unwrap_or(0);
        if first >= all.len() {
            return Self::default();
        }
        let mut value = all.remove(first);
        for other in &all {
            value.marks.add(&other.marks);
        }
        all.retain(|v| v.text.is_some() || v.items.is_some() || v.fields.is_some());
        value.others = (!all.is_empty()).then(|| Rc::new(all));
        value
    }

    /// One entry of a list, or one name of an object, whichever.
    pub(crate) fn each(&self) -> Self {
        let mut value = if let Some(items) = &self.items {
            Self::one_of(items.iter().take(MAX_OTHERS + 1).cloned())
        } else if let Some(fields) = &self.fields {
            let names = fields.keys().filter(|name| !name.is_empty());
            Self::one_of(names.take(MAX_OTHERS + 1).map(|name| Self::text(Arc::clone(name))))
        } else {
            return self.clone();
        };
        value.marks.add(&self.marks);
        value
    }

    /// A list of everything that it may be.
    pub(crate) fn gathered(self) -> Self {
        let marks = self.all_marks();
        let known = self.text.is_some() || self.items.is_some() || self.fields.is_some();
        let items: Vec<Self> = self
            .alternatives()
            .filter(|_| known)
            .map(|value| Self { others: None, ..value.clone() })
            .collect();
        Self { marks, items: Some(Rc::new(items)), ..Self::default() }
    }

    /// The values of an object, or pairs of its names and values.
    pub(crate) fn entries(&self, pairs: bool) -> Option<Self> {
        let fields = self.fields.as_ref()?;
        let items = fields.iter().filter(|(name, _)| !name.is_empty()).map(|(name, value)| {
            if !pairs {
                return value.clone();
            }
            let pair = vec![Self::text(Arc::clone(name)), value.clone()];
            Self { items: Some(Rc::new(pair)), ..Self::marked(value.all_marks()) }
        });
        let items: Vec<Self> = items.take(64).collect();
        Some(Self { marks: self.all_marks(), items: Some(Rc::new(items)), ..Self::default() })
    }

    /// All constant texts in it, one after the other, for what is looked for in any of them.
    pub(crate) fn all_texts(&self) -> String {
        let mut out = String::new();
        self.add_texts(&mut out, 0);
        out
    }

    fn add_texts(&self, out: &mut String, depth: usize) {
        if depth > 6 || out.len() > 2_000 {
            return;
        }
        if let Some(text) = &self.text {
            out.push_str(text.get(..text.len().min(1_000)).unwrap_or(text));
            out.push(' ');
        }
        for part in self.items.iter().flat_map(|items| items.iter()) {
            part.add_texts(out, depth + 1);
        }
        for part in self.fields.iter().flat_map(|fields| fields.values()) {
            part.add_texts(out, depth + 1);
        }
    }

    /// What JSON says.
    pub(crate) fn of_json(json: &serde_json::Value, depth: usize) -> Self {
        use serde_json::Value as Json;
        match json {
            Json::String(text) => Self::text(text.as_str()),
            Json::Number(number) => Self { number: number.as_i64(), ..Self::default() },
            Json::Array(items) if depth < 8 => {
                let items = items.iter().take(64).map(|item| Self::of_json(item, depth + 1));
                Self { items: Some(Rc::new(items.collect())), ..Self::default() }
            }
            Json::Object(fields) if depth < 8 => {
                let fields = fields.iter().take(64);
                let fields = fields
                    .map(|(name, value)| (name.as_str().into(), Self::of_json(value, depth + 1)));
                Self { fields: Some(Rc::new(fields.collect())), ..Self::default() }
            }
            _ => Self::default(),
        }
    }

    /// An entry of a table: each whose name the index may be, or any if it is not known.
    pub(crate) fn entry_of_table(&self, index: &Self) -> Option<Self> {
        let fields = self.fields.as_ref().filter(|_| self.path.is_none())?;
        if index.number.is_some() || index.others.is_none() && index.constant().is_some() {
            return None;
        }
        let named = index.alternatives().filter_map(Self::constant);
        let mut entries: Vec<Self> = named.filter_map(|name| fields.get(name)).cloned().collect();
        if entries.is_empty() {
            let all = fields.iter().filter(|(name, _)| !name.is_empty() && !name.starts_with('+'));
            entries = all.take(MAX_OTHERS).map(|(_, value)| value.clone()).collect();
        }
        if entries.is_empty() {
            return None;
        }
        let mut value = Self::one_of(entries);
        value.marks.add(&self.marks);
        Some(value)
    }

    pub(crate) fn field(&self, name: &str) -> Option<&Value> {
        self.fields.as_ref().and_then(|fields| fields.get(name))
    }

    /// This value or that one.
    pub(crate) fn or(mut self, other: &Self) -> Self {
        self.marks.add(&other.marks);
        if self.text.is_some() && other.text.is_some() {
            let known = self.others.as_ref().map_or(0, |others| others.len());
            let new: Vec<Self> = other
                .alternatives()
                .filter(|v| v.text.is_some() && self.alternatives().all(|own| own.text != v.text))
                .take(MAX_OTHERS.saturating_sub(known))
                .map(|v| Self { others: None, ..v.clone() })
                .collect();
            if !new.is_empty() {
                Rc::make_mut(self.others.get_or_insert_default()).extend(new);
            }
        } else if self.others.is_none() {
            self.others.clone_from(&other.others);
        }
        // What one of them is said to hold may come from the other.
        match (&mut self.fields, &other.fields) {
            (Some(fields), None) if !other.marks.is_empty() => mark_all(fields, &other.marks),
            (None, Some(fields)) if !self.marks.is_empty() => {
                let mut fields = Rc::clone(fields);
                mark_all(&mut fields, &self.marks);
                self.fields = Some(fields);
            }
            _ => {}
        }
        self.text = self.text.or_else(|| other.text.clone());
        self.number = self.number.or(other.number);
        self.path = self.path.or_else(|| other.path.clone());
        self.module = self.module.or(other.module);
        self.items = self.items.or_else(|| other.items.clone());
        self.fields = self.fields.or_else(|| other.fields.clone());
        self.disguised |= other.disguised;
        self
    }

    /// The values one after the other, as a text. If a part has alternatives, so has the whole.
    pub(crate) fn joined(parts: &[Self], between: &str) -> Self {
        let mut out = Self::joined_once(parts, between);
        let small = |value: &Self| value.text.as_ref().is_none_or(|t| t.len() <= MAX_VARIED);
        if parts.len() > 16 || !small(&out) || parts.iter().all(|part| part.others.is_none()) {
            return out;
        }
        let mut others = Vec::new();
        let mut varied = parts.to_vec();
        for (place, part) in parts.iter().enumerate() {
            for other in part.others.iter().flat_map(|others| others.iter()) {
                if others.len() >= MAX_OTHERS {
                    break;
                }
                if let Some(slot) = varied.get_mut(place) {
                    *slot = other.clone();
                }
                let one = Self::joined_once(&varied, between);
                if one.text.is_some() && small(&one) {
                    others.push(one);
                }
            }
            if let Some(slot) = varied.get_mut(place) {
                *slot = part.clone();
            }
        }
        out.others = (!others.is_empty()).then(|| Rc::new(others));
        out
    }

    fn joined_once(parts: &[Self], between: &str) -> Self {
        let mut text = String::new();
        let mut known = false;
        let mut out = Self::default();
        for (place, part) in parts.iter().enumerate() {
            if place > 0 {
                text.push_str(between);
            }
            match (&part.text, part.number) {
                _ if text.len() > MAX_TEXT => {}
                (Some(part), _) => {
                    known = true;
                    text.push_str(part);
                }
                (None, Some(number)) => text.push_str(&number.to_string()),
                _ => text.push(HOLE),
            }
            out.marks.add(&part.all_marks());
            out.disguised |= part.disguised;
        }
        out.text = known.then(|| cut(&text).into());
        out
    }
}

fn mark_all(fields: &mut Rc<BTreeMap<Arc<str>, Value>>, marks: &Marks) {
    let new = |value: &Value| marks.iter().any(|mark| !value.marks.has(&mark.origin));
    if fields.values().any(new) {
        for value in Rc::make_mut(fields).values_mut() {
            value.marks.add(marks);
        }
    }
}

fn cut(text: &str) -> &str {
    let mut end = text.len().min(MAX_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}
