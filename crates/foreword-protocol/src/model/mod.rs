//! Messages of a conversation, and how model providers write them.
//!
//! This crate owns what is said between an agent and a model: [`Message`]s with tool calls, and the
//! request bodies ([`ModelRequest`]), answers ([`Answer`]) and streams ([`StreamReader`]) of the
//! providers. It is pure: bytes go in and out, nobody is called. It must not know of credentials,
//! sessions or prompts beyond their text.
//!
//! ```
//! use foreword_protocol::{Message, ModelRequest, Provider, SystemPart, system_text};
//!
//! let request = ModelRequest {
//!     provider: Provider::Anthropic,
//!     model: "a-model",
//!     system: &[SystemPart { text: "You are careful.", cache_boundary: true }],
//!     turn_context: "It is Monday.",
//!     messages: &[Message::user("Hello")],
//!     tools: &[],
//!     max_tokens: 1024,
//!     stream: true,
//! };
//! let body = request.body();
//! assert_eq!(system_text(Provider::Anthropic, &body)?, ["You are careful."]);
//! # Ok::<(), foreword_protocol::BodyError>(())
//! ```

pub(crate) mod answer;
pub(crate) mod conversation;
pub(crate) mod error;
mod facts;
pub(crate) mod message;
pub(crate) mod request;
pub(crate) mod shorten;
mod sse;
pub(crate) mod stream;
mod unique;
mod usage_reader;
mod utf8;

pub use answer::{Answer, StopReason};
pub use error::ProviderError;
pub use facts::{BodyError, RequestFacts, system_text};
pub use message::{Block, Content, Message, Provider, Role, ToolSpec};
pub use request::{ModelRequest, SystemPart};
pub use stream::{Delta, StreamReader};
pub use usage_reader::UsageReader;
pub use utf8::Utf8Pieces;

/// The most bytes of an answer, whole or as a stream, that are kept.
pub const MAX_ANSWER_BYTES: usize = 32 << 20;
/// The longest line of a stream.
pub const MAX_STREAM_LINE_BYTES: usize = 8 << 20;
