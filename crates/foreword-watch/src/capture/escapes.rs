//! A text with the escapes of JSON read, and where each of its bytes came from.

use std::ops::Range;

/// The text, and where it differs in length from the one it was made of.
pub(super) struct Unescaped {
    text: String,
    /// The escapes: where their character is, and which bytes it was written with.
    escapes: Vec<(usize, Range<usize>)>,
}

impl Unescaped {
    /// Reads the escapes of ASCII characters in a text; nothing if none could hide a secret.
    ///
    /// Line breaks and quotes are written with escapes all the time. Only a text that also writes
    /// characters so that it would not have to (`\\/`, `\\u002d`) is read.
    pub(super) fn of(text: &str) -> Option<Self> {
        if !text.contains("\\/") && !text.contains("\\u00") {
            return None;
        }
        let mut out = Self { text: String::with_capacity(text.len()), escapes: Vec::new() };
        let mut rest = text;
        while let Some(at) = rest.find('\\') {
            let (before, escape) = rest.split_at_checked(at).unwrap_or((rest, ""));
            out.text.push_str(before);
            let (c, length) = read(escape).unwrap_or(('\\', 1));
            if length > 1 {
                let start = text.len() - escape.len();
                out.escapes.push((out.text.len(), start..start + length));
            }
            out.text.push(c);
            rest = escape.get(length..).unwrap_or_default();
        }
        out.text.push_str(rest);
        Some(out)
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The bytes of the text it was made of that a range stands for.
    pub(super) fn origin(&self, range: Range<usize>) -> Range<usize> {
        let Some(last) = range.end.checked_sub(1) else { return 0..0 };
        self.byte(range.start).start..self.byte(last).end
    }

    fn byte(&self, at: usize) -> Range<usize> {
        let after = self.escapes.partition_point(|(place, _)| *place <= at);
        match after.checked_sub(1).and_then(|before| self.escapes.get(before)) {
            None => at..at + 1,
            Some((place, written)) if *place == at => written.clone(),
            Some((place, written)) => {
                let start = written.end + (at - place - 1);
                start..start + 1
            }
        }
    }
}

/// The ASCII character at the beginning of a text that starts with a backslash, and its length.
fn read(escape: &str) -> Option<(char, usize)> {
    let c = match escape.as_bytes().get(1)? {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        c @ (b'"' | b'\\' | b'/') => char::from(*c),
        b'u' => {
            let digits = escape.get(2..6).filter(|it| it.bytes().all(|b| b.is_ascii_hexdigit()))?;
            let byte = u8::from_str_radix(digits.strip_prefix("00")?, 16).ok()?;
            return byte.is_ascii().then_some((char::from(byte), 6));
        }
        _ => return None,
    };
    Some((c, 2))
}
