//! Choices that a request or an argument names.

use std::str::FromStr;

use foreword::{ModeChoice, PromptMode};
use foreword_guard::Policy;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

/// The form of a prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Exact text of the prompt
    #[default]
    Text,
    /// `system` blocks with `cache_control`, and `messages`, for the Anthropic Messages API
    Anthropic,
    /// `messages` and `prompt_cache_key`, for OpenAI-compatible chat completions
    Openai,
    /// `instructions`, `input` and `prompt_cache_key`, for the OpenAI Responses API
    Responses,
    /// `systemInstruction` and `contents`, for the Gemini API
    Gemini,
}

/// How tokens are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Tokenizer {
    /// Built-in estimate
    #[default]
    Estimate,
    /// Exact count for GPT-4o and later
    O200k,
    /// Exact count for GPT-4
    Cl100k,
}

impl Tokenizer {
    /// The name of the exact counter; `None` for the estimate.
    #[must_use]
    pub fn exact_name(self) -> Option<&'static str> {
        match self {
            Self::Estimate => None,
            Self::O200k => Some("o200k"),
            Self::Cl100k => Some("cl100k"),
        }
    }
}

/// Who wrote the text, and so how strict screening is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum ScreenPolicy {
    /// Text from an agent: rejects anything that runs, decodes or connects
    Agent,
    /// Skill from a person: allows code, rejects dangerous combinations
    #[default]
    Import,
}

impl From<ScreenPolicy> for Policy {
    fn from(name: ScreenPolicy) -> Self {
        match name {
            ScreenPolicy::Agent => Self::Agent,
            ScreenPolicy::Import => Self::Import,
        }
    }
}

/// A work mode or a prompt size. The two sets of names are disjoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnyMode {
    /// plan, act, review or auto.
    Mode(ModeChoice),
    /// full, minimal or none.
    Prompt(PromptMode),
}

impl FromStr for AnyMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mode = text.parse().map(Self::Mode);
        mode.or_else(|_| text.parse().map(Self::Prompt))
            .map_err(|_| "expected plan, act, review or auto; or full, minimal or none".to_owned())
    }
}

impl<'de> Deserialize<'de> for AnyMode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for AnyMode {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "AnyMode".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A work mode or a prompt size.",
            "anyOf": [
                generator.subschema_for::<ModeChoice>(),
                generator.subschema_for::<PromptMode>(),
            ],
        })
    }
}
