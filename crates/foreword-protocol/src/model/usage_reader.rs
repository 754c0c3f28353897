//! What a call cost, from bytes that pass by on their way to somebody else.

use serde_json::Value;

use crate::model::answer::{anthropic_usage, openai_usage};
use crate::model::message::Provider;
use foreword::Usage;

/// Longer lines of a stream, and longer whole answers, are not looked at.
const MAX_KEPT: usize = 4 << 20;

/// Looks for the usage in an answer, whole or as a stream. It never fails: what it does not
/// understand costs nothing.
#[derive(Debug)]
pub struct UsageReader {
    provider: Provider,
    usage: Usage,
    kept: Vec<u8>,
    /// The current line is too long.
    skipping: bool,
    whole: Option<bool>,
}

impl UsageReader {
    /// A reader for one answer.
    pub fn new(provider: Provider) -> Self {
        Self { provider, usage: Usage::default(), kept: Vec::new(), skipping: false, whole: None }
    }

    /// Looks at the next piece, cut anywhere.
    pub fn push(&mut self, mut bytes: &[u8]) {
        let whole = match self.whole {
            Some(whole) => whole,
            None => {
                bytes = bytes.trim_ascii_start();
                let Some(first) = bytes.first() else { return };
                *self.whole.insert(*first == b'{')
            }
        };
        if whole {
            return self.keep(bytes);
        }
        let mut pieces = bytes.split(|byte| matches!(byte, b'\n' | b'\r')).peekable();
        while let Some(piece) = pieces.next() {
            self.keep(piece);
            if pieces.peek().is_some() {
                self.end_line();
            }
        }
    }

    /// What it cost, at the end.
    pub fn finish(mut self) -> Usage {
        if self.whole == Some(true) && !self.skipping {
            let kept = std::mem::take(&mut self.kept);
            self.look(&kept);
        } else {
            self.end_line();
        }
        self.usage
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.skipping || self.kept.len() + bytes.len() > MAX_KEPT {
            self.skipping = true;
            self.kept = Vec::new();
        } else {
            self.kept.extend_from_slice(bytes);
        }
    }

    fn end_line(&mut self) {
        let mut line = std::mem::take(&mut self.kept);
        if !std::mem::take(&mut self.skipping)
            && let Some(data) = line.strip_prefix(b"data:")
        {
            self.look(data);
        }
        line.clear();
        line.shrink_to(64 << 10);
        self.kept = line;
    }

    fn look(&mut self, json: &[u8]) {
        let Ok(text) = std::str::from_utf8(json) else { return };
        if !text.contains("\"usage\"") {
            return;
        }
        let Ok(value) = serde_json::from_str::<Value>(text) else { return };
        let inner = value.get("message").and_then(|message| message.get("usage"));
        for usage in [value.get("usage"), inner].into_iter().flatten() {
            match self.provider {
                Provider::Anthropic => anthropic_usage(&mut self.usage, usage),
                Provider::OpenAi => openai_usage(&mut self.usage, usage),
            }
        }
    }
}
