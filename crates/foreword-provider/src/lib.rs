//! Messages of a conversation, and how model providers write them.
//!
//! This crate owns what is said between an agent and a model: [`Message`]s with tool calls, and the
//! request bodies, answers and streams of the providers. It is pure: bytes go in and out, nobody is
//! called. It must not know of credentials, sessions or prompts beyond their text.

mod message;

pub use message::{Block, Content, Message, Provider, Role, ToolSpec, Usage};
