//! Text out of bytes that arrive in pieces.

/// Keeps the beginning of a character until the rest of it comes.
#[derive(Debug, Default)]
pub struct Utf8Pieces {
    rest: Vec<u8>,
}

impl Utf8Pieces {
    /// The text of all whole characters so far. Bytes that are no UTF-8 become U+FFFD.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        let mut all = std::mem::take(&mut self.rest);
        all.extend_from_slice(bytes);
        let mut text = String::with_capacity(all.len());
        let mut chunks = all.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            text.push_str(chunk.valid());
            let invalid = chunk.invalid();
            if invalid.is_empty() {
                continue;
            }
            let could_go_on = chunks.peek().is_none()
                && std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
            if could_go_on {
                self.rest = invalid.to_vec();
            } else {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        text
    }

    /// What is left at the end.
    pub fn finish(self) -> String {
        if self.rest.is_empty() { String::new() } else { char::REPLACEMENT_CHARACTER.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_give_the_same_text_as_the_whole() {
        let bytes = "añ→😀\u{10ffff}z".as_bytes();
        for size in 1..6 {
            let mut pieces = Utf8Pieces::default();
            let mut text: String = bytes.chunks(size).map(|piece| pieces.push(piece)).collect();
            text += &pieces.finish();
            assert_eq!(text.as_bytes(), bytes);
        }
        let mut pieces = Utf8Pieces::default();
        assert_eq!(pieces.push(b"a\xffb\xe2\x82"), "a\u{fffd}b");
        assert_eq!(pieces.finish(), "\u{fffd}");
    }
}
