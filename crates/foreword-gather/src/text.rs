//! Files into texts: with their source, cut to the workspace's limit.

use foreword::{Document, Source, Untrusted, cut_document, cut_untrusted, estimate};
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

/// A text cut so that it costs at most so many tokens, with a note of what is missing.
pub(crate) fn document_within(document: &Document, name: &str, tokens: usize) -> Document {
    match chars_within(document.inspect(), tokens) {
        None => document.clone(),
        Some(chars) => {
            shrink(chars, tokens, |chars| cut_document(document, name, chars), |cut| cut.inspect())
        }
    }
}

/// The same for text of lower authority.
pub(crate) fn untrusted_within(text: &Untrusted, name: &str, tokens: usize) -> Untrusted {
    match chars_within(text.inspect(), tokens) {
        None => text.clone(),
        Some(chars) => {
            shrink(chars, tokens, |chars| cut_untrusted(text, name, chars), |cut| cut.inspect())
        }
    }
}

/// About how many characters cost so many tokens; nothing if the text costs no more.
fn chars_within(text: &str, tokens: usize) -> Option<usize> {
    let costs = estimate(text) as usize;
    (costs > tokens).then(|| text.chars().count().saturating_mul(tokens) / costs.max(1))
}

/// Cuts again until the note of what is missing fits as well.
fn shrink<T>(
    mut chars: usize,
    tokens: usize,
    cut: impl Fn(usize) -> T,
    text: impl Fn(&T) -> &str,
) -> T {
    loop {
        let shorter = cut(chars);
        if chars == 0 || estimate(text(&shorter)) as usize <= tokens {
            return shorter;
        }
        chars = chars * 9 / 10;
    }
}
