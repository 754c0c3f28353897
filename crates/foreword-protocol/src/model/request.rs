//! A call of a model, and the exact bytes of it.

use crate::anthropic;
use crate::model::message::{Message, Provider, ToolSpec};
use crate::openai;

/// A piece of the system prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemPart<'a> {
    /// The text. All pieces together are the system prompt, byte for byte.
    pub text: &'a str,
    /// Should the provider keep everything up to the end of this piece?
    pub cache_boundary: bool,
}

/// A call of a model.
#[derive(Clone, Copy, Debug)]
pub struct ModelRequest<'a> {
    /// Whose way of writing it.
    pub provider: Provider,
    /// The model.
    pub model: &'a str,
    /// The system prompt, in pieces.
    pub system: &'a [SystemPart<'a>],
    /// What stands in front of the newest thing the person said; may be empty.
    pub turn_context: &'a str,
    /// The conversation, the newest last.
    pub messages: &'a [Message],
    /// What the model may call.
    pub tools: &'a [ToolSpec],
    /// The most the model may write.
    pub max_tokens: u32,
    /// Should the answer come as a stream?
    pub stream: bool,
}

impl ModelRequest<'_> {
    /// The body, byte for byte as it is sent: the same request gives the same bytes.
    pub fn body(&self) -> String {
        match self.provider {
            Provider::Anthropic => anthropic::request::body(self),
            Provider::OpenAi => openai::request::body(self),
        }
    }
}
