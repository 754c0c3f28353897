//! Server-sent events: the data of each, from text in pieces of any size.

use crate::model::MAX_STREAM_LINE_BYTES;
use crate::model::error::ProviderError;

/// Puts events together.
#[derive(Debug, Default)]
pub(crate) struct Events {
    line: String,
    data: String,
    has_data: bool,
    /// The last piece ended with CR, so an LF at the start of the next belongs to it.
    after_cr: bool,
}

impl Events {
    /// Takes a piece; `each` gets the data of every event that it completes.
    pub(crate) fn push(
        &mut self,
        mut piece: &str,
        each: &mut dyn FnMut(&str) -> Result<(), ProviderError>,
    ) -> Result<(), ProviderError> {
        if piece.is_empty() {
            return Ok(());
        }
        if std::mem::take(&mut self.after_cr) {
            piece = piece.strip_prefix('\n').unwrap_or(piece);
        }
        while let Some((line, rest)) = piece.split_once(['\n', '\r']) {
            let ended_with_cr = piece.as_bytes().get(line.len()) == Some(&b'\r');
            if self.line.is_empty() {
                self.end_line(line, each)?;
            } else {
                self.grow(line)?;
                let line = std::mem::take(&mut self.line);
                self.end_line(&line, each)?;
            }
            piece = if ended_with_cr && rest.is_empty() {
                self.after_cr = true;
                rest
            } else if ended_with_cr {
                rest.strip_prefix('\n').unwrap_or(rest)
            } else {
                rest
            };
        }
        self.grow(piece)
    }

    /// The end of the stream; an event that lacks its blank line counts.
    pub(crate) fn finish(
        &mut self,
        each: &mut dyn FnMut(&str) -> Result<(), ProviderError>,
    ) -> Result<(), ProviderError> {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.end_line(&line, each)?;
        }
        self.end_line("", each)
    }

    fn grow(&mut self, piece: &str) -> Result<(), ProviderError> {
        check(self.line.len() + piece.len())?;
        self.line.push_str(piece);
        Ok(())
    }

    fn end_line(
        &mut self,
        line: &str,
        each: &mut dyn FnMut(&str) -> Result<(), ProviderError>,
    ) -> Result<(), ProviderError> {
        if line.is_empty() {
            if !std::mem::take(&mut self.has_data) {
                return Ok(());
            }
            let data = std::mem::take(&mut self.data);
            return each(&data);
        }
        let Some(value) = line
            .strip_prefix("data")
            .and_then(|rest| if rest.is_empty() { Some("") } else { rest.strip_prefix(':') })
        else {
            return Ok(());
        };
        let value = value.strip_prefix(' ').unwrap_or(value);
        check(self.data.len() + value.len())?;
        if std::mem::replace(&mut self.has_data, true) {
            self.data.push('\n');
        }
        self.data.push_str(value);
        Ok(())
    }
}

fn check(length: usize) -> Result<(), ProviderError> {
    if length > MAX_STREAM_LINE_BYTES {
        return Err(ProviderError::TooLarge { limit: MAX_STREAM_LINE_BYTES });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(pieces: &[&str]) -> Vec<String> {
        let mut events = Events::default();
        let mut all = Vec::new();
        let mut each = |data: &str| {
            all.push(data.to_owned());
            Ok(())
        };
        for piece in pieces {
            events.push(piece, &mut each).unwrap();
        }
        events.finish(&mut each).unwrap();
        all
    }

    #[test]
    fn line_ends_comments_and_fields_are_understood() {
        let text =
            ": hello\r\nevent: x\r\ndata: one\r\ndata:two\r\n\r\nid: 7\n\ndata\n\rdata: last";
        assert_eq!(events(&[text]), ["one\ntwo", "", "last"]);
        let letters: Vec<String> = text.chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        assert_eq!(events(&letters), ["one\ntwo", "", "last"]);
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let mut events = Events::default();
        let piece = "x".repeat(1 << 20);
        let mut pushed = 0;
        let error = loop {
            pushed += 1;
            if let Err(error) = events.push(&piece, &mut |_| Ok(())) {
                break error;
            }
        };
        assert_eq!(error, ProviderError::TooLarge { limit: MAX_STREAM_LINE_BYTES });
        assert_eq!(pushed, 9);
    }
}
