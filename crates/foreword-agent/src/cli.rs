//! Loops of other programs, in a house of our own: private files, a bridge to the model, a leash.

pub(crate) mod claude_code;
mod conversation;
pub(crate) mod pi;
mod program;
mod said;
