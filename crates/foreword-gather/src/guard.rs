//! What keeps injections out of recalled context.

use foreword_semantic::Vector;

/// Looks at what was recalled before it may enter a prompt.
#[derive(Debug, Default)]
pub(crate) struct Guard;

impl Guard {
    /// Why a text must not enter a prompt; nothing where it may.
    pub(crate) fn refuses(&self, _text: &str, _vector: Option<&Vector>) -> Option<String> {
        None
    }
}
