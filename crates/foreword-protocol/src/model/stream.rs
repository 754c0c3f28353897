//! An answer that comes in pieces.

use crate::anthropic;
use crate::model::MAX_ANSWER_BYTES;
use crate::model::answer::Answer;
use crate::model::error::{ProviderError, page_title};
use crate::model::message::Provider;
use crate::model::sse::Events;
use crate::openai;

/// So much of a web page is kept to find its title.
const PAGE_BYTES: usize = 16 << 10;
/// The most texts and calls of one answer.
pub(crate) const MAX_BLOCKS: usize = 1024;

/// Something new in an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delta {
    /// The next piece of text.
    Text(String),
    /// The model begins to write a tool call.
    ToolCall {
        /// The call.
        id: String,
        /// The tool.
        name: String,
    },
}

/// Reads a stream. Servers that answer with a whole body though a stream was asked for are
/// understood too; then nothing comes before [`StreamReader::finish`].
#[derive(Debug)]
pub struct StreamReader {
    provider: Provider,
    form: Form,
    parts: Parts,
    bytes: usize,
    failed: Option<ProviderError>,
}

#[derive(Debug)]
enum Form {
    /// Nothing but white space so far.
    Unknown,
    Events(Events),
    Whole(String),
    Page(String),
}

#[derive(Debug)]
enum Parts {
    Anthropic(anthropic::stream::Parts),
    OpenAi(openai::stream::Parts),
}

impl Parts {
    fn event(&mut self, data: &str, deltas: &mut Vec<Delta>) -> Result<(), ProviderError> {
        match self {
            Self::Anthropic(parts) => parts.event(data, deltas),
            Self::OpenAi(parts) => parts.event(data, deltas),
        }
    }
}

impl StreamReader {
    /// A reader for one answer.
    pub fn new(provider: Provider) -> Self {
        let parts = match provider {
            Provider::Anthropic => Parts::Anthropic(anthropic::stream::Parts::default()),
            Provider::OpenAi => Parts::OpenAi(openai::stream::Parts::default()),
        };
        Self { provider, form: Form::Unknown, parts, bytes: 0, failed: None }
    }

    /// Takes the next piece, cut anywhere, and gives what is new.
    ///
    /// After an error, every further call fails too.
    pub fn push(&mut self, piece: &str) -> Result<Vec<Delta>, ProviderError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let mut deltas = Vec::new();
        match self.take(piece, &mut deltas) {
            Ok(()) => Ok(deltas),
            // What came before the fault is not lost: the fault is told next time, or at the end.
            Err(error) if !deltas.is_empty() => {
                self.failed = Some(error);
                Ok(deltas)
            }
            Err(error) => {
                self.failed = Some(error.clone());
                Err(error)
            }
        }
    }

    fn take(&mut self, mut piece: &str, deltas: &mut Vec<Delta>) -> Result<(), ProviderError> {
        self.bytes = self.bytes.saturating_add(piece.len());
        if self.bytes > MAX_ANSWER_BYTES {
            return Err(ProviderError::TooLarge { limit: MAX_ANSWER_BYTES });
        }
        if matches!(self.form, Form::Unknown) {
            piece = piece.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            self.form = match piece.chars().next() {
                None => Form::Unknown,
                Some('{' | '[') => Form::Whole(String::new()),
                Some('<') => Form::Page(String::new()),
                Some(_) => Form::Events(Events::default()),
            };
        }
        match &mut self.form {
            Form::Unknown => Ok(()),
            Form::Whole(body) => {
                body.push_str(piece);
                Ok(())
            }
            Form::Page(page) => {
                let room = PAGE_BYTES.saturating_sub(page.len());
                let cut = piece.floor_char_boundary(room);
                page.push_str(piece.get(..cut).unwrap_or_default());
                Ok(())
            }
            Form::Events(events) => events.push(piece, &mut |data| self.parts.event(data, deltas)),
        }
    }

    /// The end of the stream.
    pub fn finish(mut self) -> Result<Answer, ProviderError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        match self.form {
            Form::Unknown => Err(ProviderError::Truncated),
            Form::Whole(body) => Answer::from_body(self.provider, &body),
            Form::Page(page) => {
                Err(ProviderError::WebPage { status: None, title: page_title(&page) })
            }
            Form::Events(mut events) => {
                let last = events.finish(&mut |data| self.parts.event(data, &mut Vec::new()));
                last.map_err(|error| match error {
                    // The stream ended in the middle of it.
                    ProviderError::Garbage(_) => ProviderError::Truncated,
                    error => error,
                })?;
                match self.parts {
                    Parts::Anthropic(parts) => parts.finish(),
                    Parts::OpenAi(parts) => parts.finish(),
                }
            }
        }
    }
}

pub(crate) fn too_many_blocks() -> ProviderError {
    ProviderError::Garbage(format!("it has more than {MAX_BLOCKS} parts"))
}

/// An event as JSON, or the error in it.
pub(crate) fn event_value(data: &str) -> Result<serde_json::Value, ProviderError> {
    let value: serde_json::Value = serde_json::from_str(data).map_err(|error| {
        let begins = crate::model::error::shown(data);
        ProviderError::Garbage(format!("an event is not JSON ({error}): {begins}"))
    })?;
    match ProviderError::in_json(&value) {
        Some(error) => Err(error),
        None => Ok(value),
    }
}
