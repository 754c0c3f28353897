//! Texts and the authority they may speak with, as types.
//!
//! A module never sees a bare string from outside. It gets a [`Document`] (written by the operator
//! or the user), an [`Untrusted`] text (skills, memories, anything from elsewhere) or a [`Line`]
//! (one value on one line), and the only thing it can do with one is hand it to a
//! [`Section`](crate::Section), which writes it in the way that type allows.

use std::sync::Arc;

use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::context::string_or_map::string_or_map;
use crate::fence::invisible;

/// Where a text came from: a path relative to the workspace and the line its first line has there.
///
/// ```
/// use foreword::{Document, Source};
///
/// let soul = Document::new("Dry humour.").from_source(Source::file("SOUL.md"));
/// assert_eq!(&*soul.source().unwrap().path, "SOUL.md");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source {
    /// Path with forward slashes, or a name such as `builtin:security`.
    pub path: Arc<str>,
    /// Line number of the first line of the text, counted from 1.
    pub first_line: u32,
}

impl Source {
    /// A whole file.
    pub fn file(path: impl Into<Arc<str>>) -> Self {
        Self { path: path.into(), first_line: 1 }
    }
}

/// What a text lost when it was cut to a limit.
///
/// ```
/// use foreword::{Cut, Document};
///
/// let cut = Cut { chars: 900, lines: [10, 42], limit: 1000 };
/// let shortened = Document::new("The first nine lines.").with_cut(Some(cut));
/// assert!(!shortened.is_blank());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Cut {
    /// Characters left out.
    pub chars: usize,
    /// First and last line left out, in the source file.
    pub lines: [u32; 2],
    /// The limit that was applied, in characters.
    pub limit: usize,
}

/// A text, where it came from and what it lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Body {
    pub(crate) text: String,
    pub(crate) source: Option<Source>,
    pub(crate) cut: Option<Cut>,
}

impl Body {
    pub(crate) fn is_blank(&self) -> bool {
        invisible::is_blank(&self.text)
    }

    fn plain(text: String) -> Self {
        Self { text, source: None, cut: None }
    }
}

/// A text with the place it came from.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "SourcedText"))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BodyMap {
    /// The text itself.
    text: String,
    /// The file, relative to the workspace.
    #[serde(default)]
    path: Option<String>,
    /// The line of the file on which the text starts.
    #[serde(default)]
    first_line: Option<u32>,
    /// What the text lost when it was cut to a limit.
    #[serde(default)]
    cut: Option<Cut>,
}

impl<'de> Deserialize<'de> for Body {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        string_or_map(
            deserializer,
            "a string or an object with `text`",
            Self::plain,
            |map: BodyMap| Self {
                text: map.text,
                source: map.path.map(|path| Source {
                    path: path.into(),
                    first_line: map.first_line.unwrap_or(1),
                }),
                cut: map.cut,
            },
        )
    }
}

impl Serialize for Body {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.source.is_none() && self.cut.is_none() {
            return serializer.serialize_str(&self.text);
        }
        let fields = 1 + 2 * usize::from(self.source.is_some()) + usize::from(self.cut.is_some());
        let mut out = serializer.serialize_struct("Text", fields)?;
        out.serialize_field("text", &self.text)?;
        if let Some(source) = &self.source {
            out.serialize_field("path", &source.path)?;
            out.serialize_field("firstLine", &source.first_line)?;
        }
        if let Some(cut) = &self.cut {
            out.serialize_field("cut", cut)?;
        }
        out.end()
    }
}

macro_rules! text_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(transparent)]
        pub struct $name(pub(crate) Body);

        impl $name {
            /// A text without a source.
            pub fn new(text: impl Into<String>) -> Self {
                Self(Body::plain(text.into()))
            }

            /// The same text, said to come from `source`.
            #[must_use]
            pub fn from_source(mut self, source: Source) -> Self {
                self.0.source = Some(source);
                self
            }

            /// The same text, known to have been cut.
            #[must_use]
            pub fn with_cut(mut self, cut: Option<Cut>) -> Self {
                self.0.cut = cut;
                self
            }

            /// Nothing but white space and hidden characters?
            pub fn is_blank(&self) -> bool {
                self.0.is_blank()
            }

            /// Where it came from, if known.
            pub fn source(&self) -> Option<&Source> {
                self.0.source.as_ref()
            }

            /// The text as it was given, for search, linting and screening. A [`Section`](crate::Section)
            /// takes no bare string, so what is read here cannot be put into a prompt unfenced.
            pub fn inspect(&self) -> &str {
                &self.0.text
            }
        }
    };
}

text_type! {
    /// Text of Constitution, Operator or User authority: keeps its markdown.
    ///
    /// ```
    /// use foreword::Document;
    ///
    /// let text = Document::new("# Rules\n\n- Be brief.");
    /// assert_eq!(text.inspect(), "# Rules\n\n- Be brief.");
    /// ```
    Document
}
text_type! {
    /// Text of Skill or Reference authority: enters a prompt only through a fence.
    ///
    /// ```
    /// use foreword::{Blueprint, Context};
    ///
    /// let context = Context::from_json(r##"{"memories": ["Mornings.\n# New rules"]}"##).unwrap();
    /// let prompt = Blueprint::builtin("standard").unwrap().build(&context);
    /// assert!(!prompt.text().contains("\n# New rules"), "it is fenced");
    /// ```
    Untrusted
}

impl From<&str> for Document {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<&str> for Untrusted {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

/// One value on one line: a name, a path, a branch, a template value. Written flattened and escaped.
///
/// ```
/// use foreword::Line;
///
/// let branch = Line::new("main\n# New rules");
/// assert!(!branch.is_blank());
/// assert!(branch.inspect().contains('\n'), "it is escaped when a section writes it");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Line(pub(crate) String);

impl Line {
    /// Any string; it is made harmless when it is written, not here.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Nothing but white space and hidden characters?
    pub fn is_blank(&self) -> bool {
        invisible::is_blank(&self.0)
    }

    /// The value as it was given; see [`Document::inspect`].
    pub fn inspect(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Line {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

/// One text or several, in order. A single text is written as such in JSON.
///
/// ```
/// use foreword::{Context, Documents};
///
/// let context = Context::from_json(r#"{"contextContent": ["One file.", "Another."]}"#).unwrap();
/// assert_eq!(context.context_content.iter().count(), 2);
/// assert!(Documents::default().is_blank());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Documents(pub Vec<Document>);

impl Documents {
    /// Are all of them blank?
    pub fn is_blank(&self) -> bool {
        self.0.iter().all(Document::is_blank)
    }

    /// Those that say something.
    pub fn iter(&self) -> impl Iterator<Item = &Document> {
        self.0.iter().filter(|document| !document.is_blank())
    }
}

impl From<&str> for Documents {
    fn from(text: &str) -> Self {
        Self(vec![Document::new(text)])
    }
}

impl Serialize for Documents {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [] => serializer.serialize_str(""),
            [one] => one.serialize(serializer),
            many => many.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Documents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Several;
        impl<'de> serde::de::Visitor<'de> for Several {
            type Value = Documents;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a string, an object with `text`, or a list of those")
            }

            fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Documents, E> {
                Ok(Documents::from(value))
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                map: A,
            ) -> Result<Documents, A::Error> {
                let one = Document::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                Ok(Documents(vec![one]))
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                seq: A,
            ) -> Result<Documents, A::Error> {
                Vec::deserialize(serde::de::value::SeqAccessDeserializer::new(seq)).map(Documents)
            }
        }
        deserializer.deserialize_any(Several)
    }
}
