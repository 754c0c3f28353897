//! The guard that a model's text passes on its way to a person.
//!
//! Text is shown as it arrives, except for a tail that may still turn out to be a canary or a secret:
//! an unfinished form of a canary, usually a few characters and at most
//! [`MAX_LEAK_FORM`](crate::MAX_LEAK_FORM), and the start of a secret whose format is not decided yet,
//! at most about 4,200 bytes or the longest given secret. So no part of a detected canary has been
//! shown, however the text was split into pieces, and memory use is bounded.

use crate::canary::Canary;
use crate::canary::detector::{Detector, Leak, Watch};
use crate::secrets::Secret;
use crate::secrets::redactor::Redactor;

/// Passes text on as it arrives, without canaries and secrets.
#[derive(Debug)]
pub struct OutputGuard {
    detector: Detector,
    watch: Watch,
    /// Reads all steps as one text, once there is more than one.
    across: Option<Watch>,
    redactor: Redactor,
    /// Text that may be part of a canary.
    held: String,
    /// Bytes of the text before it.
    at: usize,
    leak: Option<Leak>,
}

/// The end of a guarded answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Finished {
    /// The rest of the text.
    pub text: String,
    /// The secrets replaced in the whole text.
    pub redactions: Vec<Secret>,
}

impl OutputGuard {
    /// A guard for one answer, against all canaries of the session, current and past, and against
    /// secrets, including the given ones.
    #[must_use]
    pub fn new(canaries: &[Canary], extra_secrets: &[&str]) -> Self {
        Self::with_detector(&Detector::new(canaries), extra_secrets)
    }

    /// The same with an existing detector.
    #[must_use]
    pub fn with_detector(detector: &Detector, extra_secrets: &[&str]) -> Self {
        Self {
            detector: detector.clone(),
            watch: detector.watch(),
            across: None,
            redactor: Redactor::new(extra_secrets),
            held: String::new(),
            at: 0,
            leak: None,
        }
    }

    /// Takes a piece of text and returns what is safe to show now.
    ///
    /// After a [`Leak`], no more text is returned: every further call fails too.
    pub fn push(&mut self, chunk: &str) -> Result<String, Leak> {
        self.refuse_after_leak()?;
        let across = self.across.as_mut().and_then(|watch| watch.push(chunk));
        if let Some(leak) = across.or_else(|| self.watch.push(chunk)) {
            return Err(self.stop(leak));
        }
        self.held.push_str(chunk);
        let safe = self.watch.held_from().saturating_sub(self.at);
        let mut shown = String::new();
        if safe > 0 {
            self.redactor.push(self.held.get(..safe).unwrap_or_default(), &mut shown);
            self.held = self.held.get(safe..).unwrap_or_default().to_owned();
            self.at += safe;
        }
        Ok(shown)
    }

    /// Ends the text of one step and returns the rest of it. The next step is a text of its own, but a
    /// canary that continues from one into the next is still found.
    pub fn end_step(&mut self) -> Result<Finished, Leak> {
        self.refuse_after_leak()?;
        let mut watch = std::mem::replace(&mut self.watch, self.detector.watch());
        if self.across.is_none() {
            self.across = Some(watch.clone());
        }
        if let Some(leak) = watch.finish() {
            return Err(self.stop(leak));
        }
        let next = self.redactor.fresh();
        let redactor = std::mem::replace(&mut self.redactor, next);
        self.at = 0;
        Ok(rest(redactor, &std::mem::take(&mut self.held)))
    }

    /// Returns the rest.
    pub fn finish(mut self) -> Result<Finished, Leak> {
        self.refuse_after_leak()?;
        let across = self.across.as_mut().and_then(Watch::finish);
        if let Some(leak) = across.or_else(|| self.watch.finish()) {
            return Err(leak);
        }
        Ok(rest(self.redactor, &self.held))
    }

    /// The number of bytes held back.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.held.len() + self.redactor.pending_bytes()
    }

    fn refuse_after_leak(&self) -> Result<(), Leak> {
        self.leak.map_or(Ok(()), Err)
    }

    fn stop(&mut self, leak: Leak) -> Leak {
        self.leak = Some(leak);
        self.held = String::new();
        self.redactor = Redactor::new(&[]);
        leak
    }
}

fn rest(mut redactor: Redactor, held: &str) -> Finished {
    let mut text = String::new();
    redactor.push(held, &mut text);
    let redactions = redactor.finish(&mut text);
    Finished { text, redactions }
}

/// Guards a whole answer at once.
pub fn whole(text: &str, canaries: &[Canary], extra_secrets: &[&str]) -> Result<Finished, Leak> {
    if let Some(leak) = Detector::new(canaries).find(text) {
        return Err(leak);
    }
    Ok(rest(Redactor::new(extra_secrets), text))
}
