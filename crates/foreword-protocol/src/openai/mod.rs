//! The OpenAI wire format: request bodies and streamed answers.

pub(crate) mod request;
pub(crate) mod stream;
