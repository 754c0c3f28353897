//! Flags that several commands share. The arguments of one command are beside it, in `commands/`.

mod embedder;
mod message;
mod source;
mod turn;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use foreword::Named;

pub(crate) use embedder::{EmbedderArgs, EmbedderName, HttpArgs};
pub(crate) use message::MessageArgs;
pub(crate) use source::{SourceArgs, parse_ratio};
pub(crate) use turn::TurnArgs;

/// The parser of an argument that is one of the core's names.
pub(crate) fn named<T>() -> impl TypedValueParser<Value = T>
where
    T: Named + Clone + Send + Sync + 'static,
{
    let names = T::names().into_iter();
    let values =
        names.map(|(name, about)| PossibleValue::new(name).help(about.trim_end_matches('.')));
    PossibleValuesParser::new(values).try_map(|name| name.parse::<T>())
}
