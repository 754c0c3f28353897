//! What is known of a value: its text as far as it is constant, what it names, and where it came from.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// Stands in a text for a part that is not constant.
pub(crate) const HOLE: char = '\u{FFFC}';
/// Longer constant texts are cut.
const MAX_TEXT: usize = 16 * 1024;
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
    Clipboard,
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
                | Self::Clipboard
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
    };

    /// How much is known of it: its marks, and the length of its texts.
    pub(crate) fn size(&self) -> (usize, usize) {
        let text = self.text.as_ref().map_or(0, |text| text.len() + 1);
        let path = self.path.as_ref().map_or(0, |path| path.len() + 1);
        let parts = self.items.as_ref().map_or(0, |items| items.len() + 1)
            + self.fields.as_ref().map_or(0, |fields| fields.len() + 1);
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
        for field in self.fields.iter().flat_map(|fields| fields.values()) {
            marks.add(&field.all_marks());
        }
        marks
    }

    pub(crate) fn field(&self, name: &str) -> Option<&Value> {
        self.fields.as_ref().and_then(|fields| fields.get(name))
    }

    /// This value or that one.
    pub(crate) fn or(mut self, other: &Self) -> Self {
        self.marks.add(&other.marks);
        self.text = self.text.or_else(|| other.text.clone());
        self.number = self.number.or(other.number);
        self.path = self.path.or_else(|| other.path.clone());
        self.module = self.module.or(other.module);
        self.items = self.items.or_else(|| other.items.clone());
        self.fields = self.fields.or_else(|| other.fields.clone());
        self.disguised |= other.disguised;
        self
    }

    /// The values one after the other, as a text.
    pub(crate) fn joined(parts: &[Self], between: &str) -> Self {
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

fn cut(text: &str) -> &str {
    let mut end = text.len().min(MAX_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}
