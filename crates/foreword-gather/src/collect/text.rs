//! Texts cut to a number of tokens.

use foreword::{Document, Untrusted, cut_document, cut_untrusted, estimate};

/// A text cut to at most `tokens` tokens, with a note on what is missing.
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

/// About how many characters `tokens` tokens buy; `None` if the whole text fits.
fn chars_within(text: &str, tokens: usize) -> Option<usize> {
    let costs = estimate(text) as usize;
    (costs > tokens).then(|| text.chars().count().saturating_mul(tokens) / costs.max(1))
}

/// Cuts again until the note fits as well.
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
