//! What a request body says, whoever wrote it: read strictly, so that nobody who reads it later can
//! understand it otherwise.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use thiserror::Error;

use crate::model::message::Provider;
use crate::model::unique::UniqueKeys;

/// A body that cannot be trusted to say what it seems to.
#[derive(Debug, Error)]
#[error("the request body cannot be read: {0}")]
pub struct BodyError(#[from] serde_json::Error);

/// What a host wants to know of a call before it passes it on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestFacts {
    /// The system texts. Anthropic: all blocks as one. Chat Completions: one for each message of
    /// the system or the developer.
    pub system: Vec<String>,
    /// The model.
    pub model: Option<String>,
    /// Is the answer to come as a stream?
    pub stream: bool,
    /// The most tokens the answer may have, where the call says so.
    pub max_tokens: Option<u64>,
}

impl RequestFacts {
    /// Reads a body.
    ///
    /// Refuses an object that two parsers could read differently: with a duplicate key, or with a
    /// key that differs from a known one only in case.
    pub fn read(provider: Provider, body: &str) -> Result<Self, BodyError> {
        let top: Top = serde_json::from_str(body)?;
        let system = match provider {
            Provider::Anthropic => Vec::from_iter(top.system),
            Provider::OpenAi => top.system_messages,
        };
        Ok(Self { system, model: top.model, stream: top.stream, max_tokens: top.max_tokens })
    }

    /// Does a system text contain all of this?
    pub fn system_contains(&self, prompt: &str) -> bool {
        self.system.iter().any(|text| text.contains(prompt))
    }
}

/// The system texts of a body, see [`RequestFacts`].
pub fn system_text(provider: Provider, body: &str) -> Result<Vec<String>, BodyError> {
    RequestFacts::read(provider, body).map(|facts| facts.system)
}

#[derive(Default)]
struct Top {
    system: Option<String>,
    system_messages: Vec<String>,
    model: Option<String>,
    stream: bool,
    max_tokens: Option<u64>,
}

/// Implements `Deserialize` for an object whose keys are unique.
macro_rules! unique_object {
    ($type:ty, $what:literal, $known:expr, |$into:ident, $map:ident| { $($key:pat => $read:expr,)* }) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Object;
                impl<'de> Visitor<'de> for Object {
                    type Value = $type;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($what)
                    }

                    fn visit_map<A: MapAccess<'de>>(self, mut $map: A) -> Result<$type, A::Error> {
                        let mut keys = UniqueKeys::default();
                        let mut $into = <$type>::default();
                        while let Some(key) = $map.next_key::<String>()? {
                            match key.as_str() {
                                $($key => $read,)*
                                _ => {
                                    $map.next_value::<IgnoredAny>()?;
                                }
                            }
                            keys.take(key, &$known)?;
                        }
                        Ok($into)
                    }
                }
                deserializer.deserialize_map(Object)
            }
        }
    };
}

const KNOWN_FIELDS: [&str; 6] =
    ["system", "messages", "model", "stream", "max_tokens", "max_completion_tokens"];

unique_object!(Top, "a JSON object", KNOWN_FIELDS, |top, map| {
    "system" => top.system = map.next_value::<Texts>()?.0,
    "messages" => top.system_messages = map.next_value::<Messages>()?.0,
    "model" => top.model = map.next_value()?,
    "stream" => top.stream = map.next_value::<Option<bool>>()?.unwrap_or(false),
    "max_tokens" | "max_completion_tokens" => {
        let limit = map.next_value::<Option<u64>>()?;
        top.max_tokens = top.max_tokens.max(limit);
    },
});

#[derive(Default)]
struct WrittenMessage {
    role: String,
    content: Texts,
}

unique_object!(WrittenMessage, "a message", ["role", "content"], |message, map| {
    "role" => message.role = map.next_value()?,
    "content" => message.content = map.next_value()?,
});

#[derive(Default)]
struct Part {
    kind: String,
    text: Option<String>,
}

unique_object!(Part, "a block of content", ["type", "text"], |part, map| {
    "type" => part.kind = map.next_value()?,
    "text" => part.text = map.next_value()?,
});

/// The texts of a content, as one: a string, blocks, or nothing.
#[derive(Default)]
struct Texts(Option<String>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrBlocks;
        impl<'de> Visitor<'de> for TextOrBlocks {
            type Value = Texts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or blocks of content")
            }

            fn visit_unit<E: de::Error>(self) -> Result<Texts, E> {
                Ok(Texts(None))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Texts, E> {
                Ok(Texts(Some(text.to_owned())))
            }

            fn visit_string<E: de::Error>(self, text: String) -> Result<Texts, E> {
                Ok(Texts(Some(text)))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Texts, A::Error> {
                let mut all = String::new();
                while let Some(part) = parts.next_element::<Part>()? {
                    if part.kind == "text" {
                        all.push_str(part.text.as_deref().unwrap_or_default());
                    }
                }
                Ok(Texts(Some(all)))
            }
        }
        deserializer.deserialize_any(TextOrBlocks)
    }
}

/// The texts of system messages; all others are let go as they are read.
struct Messages(Vec<String>);

impl<'de> Deserialize<'de> for Messages {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Messages;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of messages")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Messages, A::Error> {
                let mut texts = Vec::new();
                while let Some(message) = list.next_element::<WrittenMessage>()? {
                    if matches!(message.role.as_str(), "system" | "developer") {
                        texts.extend(message.content.0);
                    }
                }
                Ok(Messages(texts))
            }
        }
        deserializer.deserialize_seq(List)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anthropic(body: &str) -> Result<Vec<String>, String> {
        system_text(Provider::Anthropic, body).map_err(|error| error.to_string())
    }

    #[test]
    fn the_system_text_is_found_in_every_form() {
        assert_eq!(anthropic(r#"{"system":"a\nb"}"#).unwrap(), ["a\nb"]);
        assert_eq!(anthropic(r#"{"system":null,"messages":[]}"#).unwrap(), [""; 0]);
        assert_eq!(anthropic("{}").unwrap(), [""; 0]);
        let blocks = r#"{"messages":[{"role":"system","content":"not here"}],
            "system":[{"type":"text","text":"one "},{"cache_control":{"type":"ephemeral"},"text":"two","type":"text"}]}"#;
        assert_eq!(anthropic(blocks).unwrap(), ["one two"]);

        let openai = r#"{"system":"not here","model":"m","stream":true,"messages":[
            {"role":"system","content":"one"},
            {"content":[{"type":"text","text":"t"},{"type":"text","text":"wo"}],"role":"developer"},
            {"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]},
            {"role":"assistant","content":null}]}"#;
        let facts = RequestFacts::read(Provider::OpenAi, openai).unwrap();
        assert_eq!(facts.system, ["one", "two"]);
        assert_eq!((facts.model.as_deref(), facts.stream), (Some("m"), true));
        assert!(facts.system_contains("two") && !facts.system_contains("onetwo"));
    }

    #[test]
    fn what_two_readers_could_understand_differently_is_refused() {
        for (body, why) in [
            (r#"{"system":"ok","system":"evil"}"#, "`system` occurs twice"),
            (r#"{"system":"ok","\u0073ystem":"evil"}"#, "`system` occurs twice"),
            (r#"{"system":"ok","System":"evil"}"#, "could be read as `system`"),
            (r#"{"system":"ok","ſystem":"evil"}"#, "is not ASCII"),
            (r#"{"x":1,"x":2}"#, "`x` occurs twice"),
            (r#"{"system":[{"type":"text","text":"ok","text":"evil"}]}"#, "`text` occurs twice"),
            (r#"{"messages":[{"role":"system","role":"user"}]}"#, "`role` occurs twice"),
            (r#"{"system":["ok"]}"#, "a block of content"),
            (r#"{"system":7}"#, "a text or blocks"),
            (r#"{"system":"ok"} {"system":"evil"}"#, "trailing characters"),
            (r#"["system"]"#, "a JSON object"),
            ("<html>", "expected value"),
            ("", "EOF"),
        ] {
            let error = anthropic(body).unwrap_err();
            assert!(error.contains(why), "{body}: {error}");
        }
    }

    #[test]
    fn depth_does_no_harm() {
        let deep = format!(r#"{{"x":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(anthropic(&deep).unwrap(), [""; 0]);
        assert!(anthropic(&deep.replace("\"x\"", "\"system\"")).is_err());
    }
}
