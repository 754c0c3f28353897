//! Files into texts: with their source, cut to the workspace's limit.

use foreword::{Document, Source, Untrusted, cut_document, cut_untrusted};
use foreword_workspace::SourceFile;

/// Makes texts of files, under one limit.
pub(crate) struct Texts {
    pub(crate) max_chars: usize,
}

impl Texts {
    /// Text of the operator or the user.
    pub(crate) fn document(&self, file: SourceFile) -> Document {
        let path = file.path.clone();
        let document = Document::new(file.text).from_source(source(&path, file.first_line));
        cut_document(&document, &path, self.max_chars)
    }

    /// Text of lower authority.
    pub(crate) fn untrusted(&self, file: SourceFile) -> Untrusted {
        let path = file.path.clone();
        let text = Untrusted::new(file.text).from_source(source(&path, file.first_line));
        cut_untrusted(&text, &path, self.max_chars)
    }
}

fn source(path: &str, first_line: usize) -> Source {
    Source { path: path.into(), first_line: u32::try_from(first_line).unwrap_or(u32::MAX) }
}

/// A file that may be absent.
pub(crate) fn optional(texts: &Texts, file: Option<SourceFile>) -> Document {
    file.map_or_else(Document::default, |file| texts.document(file))
}
