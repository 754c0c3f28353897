//! JSON objects with their keys in order and their values as they are written.
//!
//! Providers cache what they are sent, so the order of keys and the spelling of numbers count. A tree of
//! values would lose both.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// An object.
#[derive(Debug, Default)]
pub(super) struct Fields<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some(key) = map.next_key::<Key<'de>>()? {
                    fields.push((key.0, map.next_value()?));
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

/// A key, borrowed where it has no escapes.
#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> Fields<'a> {
    /// A whole body.
    pub(super) fn parse(body: &'a str) -> Result<Self, String> {
        serde_json::from_str(body).map_err(|error| error.to_string())
    }

    pub(super) fn read(raw: &'a RawValue) -> Option<Self> {
        serde_json::from_str(raw.get()).ok()
    }

    /// The value of a key; the last one, as most readers take it.
    pub(super) fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().rev().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    pub(super) fn string(&self, name: &str) -> Option<String> {
        string(self.get(name)?)
    }

    pub(super) fn items(&self, name: &str) -> Option<Vec<&'a RawValue>> {
        items(self.get(name)?)
    }

    pub(super) fn object(&self, name: &str) -> Option<Fields<'a>> {
        Fields::read(self.get(name)?)
    }

    /// The object as it is written, without one of its keys.
    pub(super) fn without(&self, name: &str) -> String {
        let mut out = String::from("{");
        for (key, value) in self.0.iter().filter(|(key, _)| key != name) {
            if out.len() > 1 {
                out.push(',');
            }
            out.push_str(&serde_json::Value::from(key.as_ref()).to_string());
            out.push(':');
            out.push_str(value.get());
        }
        out.push('}');
        out
    }
}

pub(super) fn string(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

pub(super) fn items(raw: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(raw.get()).ok()
}

/// A stand-in for data that is not text: what it is, how long, and a digest to compare it by.
pub(super) fn media(kind: &str, raw: &RawValue) -> String {
    let digest = blake3::hash(raw.get().as_bytes()).to_hex();
    let digest: String = digest.chars().take(16).collect();
    format!("[{kind}, {} bytes, {digest}]", raw.get().len())
}
