//! Long texts, cut so that a model can read them and knows what is missing.

/// The start and the end of something that may be long. Takes no more memory than `limit`.
#[derive(Debug)]
pub(crate) struct HeadAndTail {
    limit: usize,
    head: Vec<u8>,
    tail: std::collections::VecDeque<u8>,
    total: usize,
}

impl HeadAndTail {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, head: Vec::new(), tail: std::collections::VecDeque::new(), total: 0 }
    }

    pub(crate) fn push(&mut self, mut bytes: &[u8]) {
        self.total = self.total.saturating_add(bytes.len());
        let room = (self.limit / 2).saturating_sub(self.head.len());
        if let Some((head, rest)) = bytes.split_at_checked(room) {
            self.head.extend_from_slice(head);
            bytes = rest;
        } else {
            self.head.extend_from_slice(bytes);
            return;
        }
        let most = self.limit - self.limit / 2;
        let skip = bytes.len().saturating_sub(most);
        let bytes = bytes.get(skip..).unwrap_or_default();
        let excess = (self.tail.len() + bytes.len()).saturating_sub(most);
        self.tail.drain(..excess.min(self.tail.len()));
        self.tail.extend(bytes);
    }

    /// The text, with a note where something was left out.
    pub(crate) fn text(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        let left_out = self.total.saturating_sub(self.head.len() + tail.len());
        if left_out == 0 {
            let whole = [self.head.as_slice(), &tail].concat();
            return String::from_utf8_lossy(&whole).into_owned();
        }
        let head = String::from_utf8_lossy(&self.head);
        let tail = String::from_utf8_lossy(&tail);
        format!("{head}\n[… {left_out} bytes left out …]\n{tail}")
    }
}

/// At most `limit` bytes of a text, and a note of what was left out.
pub(crate) fn cut(text: String, limit: usize) -> String {
    if text.len() <= limit {
        return text;
    }
    let end = text.floor_char_boundary(limit);
    let left_out = text.len() - end;
    let shown = text.get(..end).unwrap_or_default();
    format!("{shown}\n[… {left_out} bytes left out …]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_and_end_are_kept() {
        for size in [1, 3, 1000] {
            let mut output = HeadAndTail::new(10);
            for piece in (0..100u8).map(|n| b'a' + n % 26).collect::<Vec<_>>().chunks(size) {
                output.push(piece);
            }
            assert_eq!(output.text(), "abcde\n[… 90 bytes left out …]\nrstuv");
        }
        let mut output = HeadAndTail::new(10);
        output.push("añ→😀".as_bytes());
        assert_eq!(output.text(), "añ→😀");
    }

    #[test]
    fn a_cut_is_noted() {
        assert_eq!(cut("short".into(), 5), "short");
        assert_eq!(cut("añb".into(), 2), "a\n[… 3 bytes left out …]");
    }
}
