//! Opens the embedder that the arguments name.

use foreword_embed::{
    ApiKey, EmbedError, Embedder, HttpEmbedder, HttpSettings, Incomparable, StaticEmbedder,
    UseEmbedder,
};

use crate::args::{EmbedderArgs, EmbedderName, HttpArgs};
use crate::error::CliError;
use crate::person::models_dir;

/// The embedder, or nothing where words alone are asked for.
pub(crate) fn open(args: &EmbedderArgs) -> Result<Option<Box<dyn Embedder>>, CliError> {
    Ok(Some(match args.embedder {
        EmbedderName::None => return Ok(None),
        EmbedderName::Static => Box::new(StaticEmbedder::embedded()?),
        EmbedderName::Use => Box::new(UseEmbedder::installed(&models_dir()?)?),
        EmbedderName::Http => Box::new(open_http(&args.http)?.ok_or_else(|| {
            CliError::usage("the embedder http needs an address")
                .hint("use --url and --model, such as --url http://localhost:11434 --model bge-m3")
        })?),
    }))
}

/// The server that the arguments name, if they name one.
pub(crate) fn open_http(args: &HttpArgs) -> Result<Option<HttpEmbedder>, CliError> {
    let (Some(url), Some(model)) = (&args.url, &args.model) else { return Ok(None) };
    let mut settings = HttpSettings::new(url, model);
    if let Some(name) = &args.api_key_env {
        let key = std::env::var(name).ok().filter(|key| !key.is_empty());
        let key = key.ok_or_else(|| {
            CliError::usage(format!("the environment has no {name} to take the key from"))
        })?;
        settings.api_key = Some(ApiKey::new(key));
    }
    Ok(Some(HttpEmbedder::new(settings)?))
}

impl From<EmbedError> for CliError {
    fn from(error: EmbedError) -> Self {
        let message = error.to_string();
        match error {
            EmbedError::Corrupt { .. } | EmbedError::Version { .. } => Self::not_right(message)
                .hint("`foreword model install --force` installs the full model again"),
            EmbedError::NotInstalled { .. } => {
                Self::usage(message).hint("the default embedder, static, needs no installation")
            }
            _ => Self::usage(message),
        }
    }
}

impl From<Incomparable> for CliError {
    fn from(error: Incomparable) -> Self {
        Self::internal(error.to_string())
    }
}
