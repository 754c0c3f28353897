//! Any OpenAI-compatible `/v1/embeddings` endpoint.

pub(crate) mod embedder;
pub(crate) mod settings;
