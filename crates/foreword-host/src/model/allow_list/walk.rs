//! Comparing a body with a [`Shape`] while it is parsed.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use foreword::{estimate, visible_line};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use thiserror::Error;

use super::{MAX_INLINE_BYTES, Shape};

/// Tokens that an inline image is counted as, whatever its size.
const IMAGE_TOKENS: u64 = 1600;
/// Bytes of larger inline data that are counted as one token.
const INLINE_BYTES_PER_TOKEN: usize = 64;
/// How much of an unknown field or value an error repeats.
const MAX_SHOWN_CHARS: usize = 60;

/// Why a body is not sent.
#[derive(Debug, Error)]
pub(in crate::model) enum NotAllowed {
    #[error("the request body cannot be read: {0}")]
    Unreadable(#[from] serde_json::Error),
    #[error("`{path}` {reason}")]
    Refused {
        /// Where in the body, such as `messages[0].content[1].source.type`.
        path: String,
        reason: String,
    },
}

/// Checks a body against a shape; returns about how many tokens it is.
pub(super) fn check(shape: &'static Shape, body: &str) -> Result<u64, NotAllowed> {
    let mut walk = Walk { path: Vec::new(), refused: None, tokens: 0 };
    let mut json = serde_json::Deserializer::from_str(body);
    let checked = At { shape, walk: &mut walk }.deserialize(&mut json).and_then(|()| json.end());
    match (checked, walk.refused) {
        (Err(_), Some(refused)) => Err(refused),
        (Err(error), None) => Err(error.into()),
        (Ok(()), _) => Ok(walk.tokens),
    }
}

struct Walk {
    path: Vec<Step>,
    refused: Option<NotAllowed>,
    tokens: u64,
}

enum Step {
    Field(&'static str),
    Item(usize),
}

/// One place of the body.
struct At<'w> {
    shape: &'static Shape,
    walk: &'w mut Walk,
}

/// The types of JSON that shapes differ by.
#[derive(Clone, Copy)]
enum Kind {
    Scalar,
    List,
    Object,
}

impl Shape {
    /// The shape for a value of this type.
    fn of_kind(&'static self, kind: Kind) -> Option<&'static Self> {
        let fits = match self {
            Self::Either(shapes) => return shapes.iter().find_map(|shape| shape.of_kind(kind)),
            Self::Data | Self::Schema => true,
            Self::List(_) => matches!(kind, Kind::List),
            Self::Object(_) => matches!(kind, Kind::Object),
            // A property may be called `$ref`; then it is no reference.
            Self::LocalRef if !matches!(kind, Kind::Scalar) => return Some(&Self::Schema),
            _ => matches!(kind, Kind::Scalar),
        };
        fits.then_some(self)
    }
}

impl At<'_> {
    /// The shape for a value of this type; refuses a value of another type.
    fn shape<E: serde::de::Error>(&mut self, kind: Kind) -> Result<&'static Shape, E> {
        match self.shape.of_kind(kind) {
            Some(shape) => Ok(shape),
            None => {
                let found = match kind {
                    Kind::Scalar => "a single value",
                    Kind::List => "a list",
                    Kind::Object => "an object",
                };
                Err(self.walk.refuse(None, format!("must not be {found}")))
            }
        }
    }

    /// A number or a boolean.
    fn plain<E: serde::de::Error>(mut self, value: impl fmt::Display) -> Result<(), E> {
        let value = value.to_string();
        let allowed = match self.shape(Kind::Scalar)? {
            Shape::Scalar | Shape::Data | Shape::Schema => return Ok(()),
            Shape::One if value == "1" => return Ok(()),
            Shape::False if value == "false" => return Ok(()),
            Shape::One => "only 1 is allowed",
            Shape::False => "only `false` is allowed",
            _ => "it must be a string",
        };
        Err(self.walk.refuse(None, format!("is {value}; {allowed}")))
    }

    fn text<E: serde::de::Error>(mut self, text: &str) -> Result<(), E> {
        let reason = match self.shape(Kind::Scalar)? {
            Shape::Word(words) => {
                if words.contains(&text) {
                    return Ok(());
                }
                let words = words.join("`, `");
                format!("has the value `{}`; allowed: `{words}`", shown(text))
            }
            Shape::Inline | Shape::DataUrl if text.len() > MAX_INLINE_BYTES => {
                let length = text.len();
                format!("has {length} bytes of inline data; the limit is {MAX_INLINE_BYTES}")
            }
            Shape::DataUrl if !is_data_url(text) => {
                format!(
                    "has the value `{}`; only inline data (`data:…;base64,…`) is allowed",
                    shown(text)
                )
            }
            Shape::LocalRef if !text.starts_with('#') => {
                format!("refers to `{}`; a schema may only refer to itself (`#…`)", shown(text))
            }
            Shape::One => "must be the number 1".to_owned(),
            Shape::False => "must be `false`".to_owned(),
            Shape::Inline | Shape::DataUrl => {
                let size = u64::try_from(text.len() / INLINE_BYTES_PER_TOKEN).unwrap_or(u64::MAX);
                self.walk.count(size.max(IMAGE_TOKENS));
                return Ok(());
            }
            _ => {
                self.walk.count(u64::from(estimate(text)) + 1);
                return Ok(());
            }
        };
        Err(self.walk.refuse(None, reason))
    }
}

impl Walk {
    fn count(&mut self, tokens: u64) {
        self.tokens = self.tokens.saturating_add(tokens);
    }

    /// Notes why the body is refused, at this place or at a field of it.
    fn refuse<E: serde::de::Error>(&mut self, field: Option<&str>, reason: String) -> E {
        let mut path = String::new();
        for step in &self.path {
            let _ = match step {
                Step::Field(name) if path.is_empty() => write!(path, "{name}"),
                Step::Field(name) => write!(path, ".{name}"),
                Step::Item(index) => write!(path, "[{index}]"),
            };
        }
        if let Some(field) = field {
            let dot = if path.is_empty() { "" } else { "." };
            let _ = write!(path, "{dot}{}", shown(field));
        }
        if path.is_empty() {
            path.push_str("body");
        }
        self.refused.get_or_insert(NotAllowed::Refused { path, reason });
        E::custom("refused")
    }

    /// Checks the value that `read` reads, one step further down.
    fn down<T>(&mut self, step: Step, read: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(step);
        let result = read(self);
        // The path of a refusal is taken before this.
        self.path.pop();
        result
    }
}

impl<'de> DeserializeSeed<'de> for At<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for At<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<(), E> {
        self.plain(value)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<(), E> {
        self.plain(value)
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<(), E> {
        self.plain(value)
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<(), E> {
        self.plain(value)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<(), E> {
        self.text(text)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        let item = match self.shape(Kind::List)? {
            Shape::List(item) => item,
            data => data,
        };
        let mut index = 0;
        // Places within data are not named.
        let is_named = matches!(self.shape.of_kind(Kind::List), Some(Shape::List(_)));
        loop {
            let mut next = |walk: &mut Walk| list.next_element_seed(At { shape: item, walk });
            let found =
                if is_named { self.walk.down(Step::Item(index), next) } else { next(self.walk) };
            if found?.is_none() {
                return Ok(());
            }
            index += 1;
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let shape = self.shape(Kind::Object)?;
        let Shape::Object(fields) = shape else {
            return data(shape, self.walk, map);
        };
        let mut seen = BTreeSet::new();
        while let Some(key) = map.next_key::<String>()? {
            let Some((name, shape)) = fields.iter().find(|(name, _)| *name == key) else {
                let reason = "is not a field that the host passes on to the provider";
                return Err(self.walk.refuse(Some(&key), reason.to_owned()));
            };
            // Another reader might take the first of two equal keys, or the last.
            if !seen.insert(*name) {
                return Err(self.walk.refuse(Some(name), "occurs twice".to_owned()));
            }
            self.walk.down(Step::Field(name), |walk| map.next_value_seed(At { shape, walk }))?;
        }
        Ok(())
    }
}

/// An object of arbitrary data.
fn data<'de, A: MapAccess<'de>>(
    shape: &'static Shape,
    walk: &mut Walk,
    mut map: A,
) -> Result<(), A::Error> {
    while let Some(key) = map.next_key::<String>()? {
        walk.count(u64::from(estimate(&key)) + 1);
        let is_reference = matches!(shape, Shape::Schema) && is_reference(&key);
        let shape = if is_reference { &Shape::LocalRef } else { shape };
        map.next_value_seed(At { shape, walk })?;
    }
    Ok(())
}

/// Keywords of a JSON Schema whose value is a reference.
fn is_reference(key: &str) -> bool {
    matches!(key, "$ref" | "$dynamicRef" | "$recursiveRef")
}

fn is_data_url(text: &str) -> bool {
    let Some((media_type, data)) = text.strip_prefix("data:").and_then(|url| url.split_once(','))
    else {
        return false;
    };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/.+-;=".contains(&byte);
    media_type.ends_with(";base64")
        && media_type.bytes().all(is_plain)
        && data.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
}

/// The beginning of an unknown text, safe to show.
fn shown(text: &str) -> String {
    let cut: String = text.chars().take(MAX_SHOWN_CHARS).collect();
    let dots = if cut.len() < text.len() { "…" } else { "" };
    format!("{}{dots}", visible_line(&cut))
}
