//! One part of a document with the way back to where it stands.

/// How a part reaches a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PartKind {
    /// Shown.
    Visible,
    /// In an attribute: a description of an image, a tooltip, metadata.
    Attribute,
    /// In a comment.
    Comment,
    /// Styled so that it is not shown.
    Hidden,
    /// In a script or style sheet.
    Script,
}

impl PartKind {
    /// Whether a person who looks at the document does not see it.
    pub(crate) fn is_hidden(self) -> bool {
        matches!(self, Self::Comment | Self::Hidden)
    }

    /// Where a person has to look, as the end of a sentence.
    pub(crate) fn describe(self) -> Option<&'static str> {
        match self {
            Self::Visible => None,
            Self::Attribute => Some("in an attribute"),
            Self::Comment => Some("in a comment"),
            Self::Hidden => Some("in hidden text"),
            Self::Script => Some("in a script"),
        }
    }
}

/// Text taken out of a document.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) kind: PartKind,
    pub(crate) text: String,
    /// Pieces in order: where each starts in `text`, where it starts in the document and how long it
    /// is there. A part without pieces is the document.
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    here: usize,
    there: usize,
    length: usize,
}

impl Part {
    pub(crate) fn empty(kind: PartKind) -> Self {
        Self { kind, text: String::new(), pieces: Vec::new() }
    }

    /// A text that is read as it is.
    pub(crate) fn whole(text: &str) -> Self {
        Self { kind: PartKind::Visible, text: text.to_owned(), pieces: Vec::new() }
    }

    /// Adds text that stands at `there` in the document and takes `length` bytes of it.
    pub(crate) fn push(&mut self, text: &str, there: usize, length: usize) {
        if text.is_empty() {
            return;
        }
        let here = self.text.len();
        self.text.push_str(text);
        // a piece that continues the last one, unchanged, needs no entry
        if let Some(last) = self.pieces.last_mut()
            && last.there + last.length == there
            && here - last.here == last.length
            && text.len() == length
        {
            last.length += length;
            return;
        }
        self.pieces.push(Piece { here, there, length });
    }

    /// Separates what was added from what comes.
    pub(crate) fn separate(&mut self, by: char) {
        if !self.text.is_empty() && !self.text.ends_with(by) {
            self.text.push(by);
        }
    }

    /// The place in the document of an offset in the text.
    pub(crate) fn original_offset(&self, offset: usize) -> usize {
        let next = self.pieces.partition_point(|piece| piece.here <= offset);
        match next.checked_sub(1).and_then(|i| self.pieces.get(i)) {
            Some(piece) => piece.there + (offset - piece.here).min(piece.length),
            None => self.pieces.first().map_or(offset, |piece| piece.there),
        }
    }

    /// The same part of a document in which this one's document begins at `by`.
    pub(crate) fn shifted(mut self, by: usize) -> Self {
        if self.pieces.is_empty() {
            self.pieces.push(Piece { here: 0, there: 0, length: self.text.len() });
        }
        for piece in &mut self.pieces {
            piece.there += by;
        }
        self
    }

    /// The same text as if all of it stood in one place.
    pub(crate) fn placed(mut self, there: usize, length: usize) -> Self {
        self.pieces = vec![Piece { here: 0, there, length }];
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_lead_back_to_the_document() {
        let mut part = Part::empty(PartKind::Visible);
        part.push("one ", 10, 4);
        part.push("two", 14, 3);
        assert_eq!(part.pieces.len(), 1, "they are next to each other");
        part.separate('\n');
        part.push("&", 40, 5);
        part.push("end", 45, 3);
        assert_eq!(part.text, "one two\n&end");
        let places: Vec<usize> = [0, 5, 7, 8, 9, 12].map(|at| part.original_offset(at)).into();
        assert_eq!(places, [10, 15, 17, 40, 45, 48]);
        assert_eq!(part.shifted(100).original_offset(9), 145);
        assert_eq!(Part::whole("text").original_offset(2), 2);
        assert_eq!(Part::whole("text").shifted(7).original_offset(2), 9);
    }
}
