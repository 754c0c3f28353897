//! Lines of bounded length out of a file of any size.

use std::io::{self, BufRead};

/// A line without its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// At most so many bytes as were asked for.
    pub(super) bytes: Vec<u8>,
    /// How many were left out.
    pub(super) left_out: u64,
}

/// The next line; of a longer one, the first `limit` bytes.
pub(super) fn next_line(input: &mut impl BufRead, limit: usize) -> io::Result<Option<Line>> {
    let mut line = Line { bytes: Vec::new(), left_out: 0 };
    let mut any = false;
    loop {
        let buffer = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            buffer => buffer?,
        };
        if buffer.is_empty() {
            return Ok(any.then_some(line));
        }
        any = true;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let piece = buffer.get(..end.unwrap_or(buffer.len())).unwrap_or_default();
        let room = limit.saturating_sub(line.bytes.len()).min(piece.len());
        line.bytes.extend_from_slice(piece.get(..room).unwrap_or_default());
        line.left_out = line.left_out.saturating_add((piece.len() - room) as u64);
        let used = piece.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            return Ok(Some(line));
        }
    }
}
