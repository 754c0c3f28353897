//! Flags that several commands share. The arguments of one command are beside it, in `commands/`.

mod embedder;
mod source;
mod turn;

pub(crate) use embedder::{EmbedderArgs, EmbedderName, HttpArgs};
pub(crate) use source::{
    AnyMode, SessionArgs, SourceArgs, Tokenizer, parse_mode, parse_profile, parse_ratio,
};
pub(crate) use turn::{RunnerName, SandboxName, TurnArgs};
