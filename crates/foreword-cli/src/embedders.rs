//! Opens the embedder that the arguments select.

use foreword_embed::{ApiKey, Embedder, HttpEmbedder, HttpSettings, StaticEmbedder, UseEmbedder};

use crate::args::{EmbedderArgs, EmbedderName, HttpArgs};
use crate::error::CliError;
use crate::user_env::models_dir;

/// The embedder; `None` for keyword search only.
pub(crate) fn open(args: &EmbedderArgs) -> Result<Option<Box<dyn Embedder>>, CliError> {
    Ok(Some(match args.embedder {
        EmbedderName::None => return Ok(None),
        EmbedderName::Static => Box::new(StaticEmbedder::embedded()?),
        EmbedderName::Use => Box::new(UseEmbedder::installed(&models_dir()?)?),
        EmbedderName::Http => Box::new(open_http(&args.http)?.ok_or_else(|| {
            CliError::usage("embedder `http` needs a server")
                .hint("pass `--url` and `--model`, for example `--url http://localhost:11434 --model bge-m3`")
        })?),
    }))
}

/// The embedding server that the arguments select, if any.
pub(crate) fn open_http(args: &HttpArgs) -> Result<Option<HttpEmbedder>, CliError> {
    let (Some(url), Some(model)) = (&args.url, &args.model) else { return Ok(None) };
    let mut settings = HttpSettings::new(url, model);
    if let Some(name) = &args.api_key_env {
        let key = std::env::var(name).ok().filter(|key| !key.is_empty());
        let key = key.ok_or_else(|| {
            CliError::usage(format!("environment variable {name} is not set"))
                .hint("set it to the API key, or drop `--api-key-env`")
        })?;
        settings.api_key = Some(ApiKey::new(key));
    }
    Ok(Some(HttpEmbedder::new(settings)?))
}
