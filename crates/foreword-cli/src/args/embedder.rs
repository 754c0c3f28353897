//! Which embedder to use.

use clap::{Args, ValueEnum};

#[derive(Clone, Copy, Debug, Default, ValueEnum, PartialEq, Eq)]
pub(crate) enum EmbedderName {
    /// Token table inside this program
    #[default]
    Static,
    /// Full model; see `foreword model install`
    Use,
    /// Server with an OpenAI-compatible /v1/embeddings endpoint
    Http,
    /// Keyword search only
    None,
}

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct EmbedderArgs {
    /// Embedder to use
    #[arg(long, value_enum, default_value_t, value_name = "NAME")]
    pub(crate) embedder: EmbedderName,
    #[command(flatten)]
    pub(crate) http: HttpArgs,
}

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct HttpArgs {
    /// URL of an OpenAI-compatible embedding server
    #[arg(long, value_name = "URL", requires = "model")]
    pub(crate) url: Option<String>,
    /// Embedding model to request from the server
    #[arg(long, value_name = "NAME", requires = "url")]
    pub(crate) model: Option<String>,
    /// Environment variable that holds the server's API key
    #[arg(long, value_name = "VAR", requires = "url")]
    pub(crate) api_key_env: Option<String>,
}
