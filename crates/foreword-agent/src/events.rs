//! Events on their way to the host.

use std::io::Write;

use foreword_protocol::{AgentEvent, MAX_EVENT_BYTES};

use crate::error::AgentError;

/// Writes events, one JSON object a line, each at once.
pub(crate) struct Events<'a> {
    out: &'a mut dyn Write,
}

impl<'a> Events<'a> {
    pub(crate) fn new(out: &'a mut dyn Write) -> Self {
        Self { out }
    }

    /// Writes an event.
    pub(crate) fn emit(&mut self, event: &AgentEvent) -> Result<(), AgentError> {
        let mut line = serde_json::to_string(event)
            .map_err(|error| AgentError::Events(std::io::Error::other(error)))?;
        if line.len() >= MAX_EVENT_BYTES {
            return Err(AgentError::EventTooLarge { bytes: line.len(), limit: MAX_EVENT_BYTES });
        }
        line.push('\n');
        self.out
            .write_all(line.as_bytes())
            .and_then(|()| self.out.flush())
            .map_err(AgentError::Events)
    }

    /// Writes a piece of what the model says.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), AgentError> {
        if text.is_empty() {
            return Ok(());
        }
        self.emit(&AgentEvent::Text { text: text.to_owned() })
    }
}
