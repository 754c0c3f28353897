//! A document as what it is: HTML, JSON, a mail, text from a PDF, or plain text.
//!
//! What a reader sees and what is hidden from them are different parts: an instruction in a comment,
//! or in text that is styled away, was not written for people.

mod html;
mod json;
mod mail;
mod part;
mod style;
mod wrapped;

pub(crate) use part::{Part, PartKind};

/// Longer documents are read as plain text from here on; parsing them again gains little.
const MAX_NESTED: usize = 4 << 20;

/// The parts of a document, what is visible first.
///
/// Nothing of the text is left out: what is neither shown nor hidden, such as a script, is a part of
/// its own. There are few parts, and together they are about as long as the text.
pub(crate) fn parts(text: &str) -> Vec<Part> {
    let mut found = read(text);
    found.retain(|part| !part.text.trim().is_empty());
    if found.is_empty() { vec![Part::whole(text)] } else { found }
}

fn read(text: &str) -> Vec<Part> {
    if html::is_html(text) {
        return html::read(text);
    }
    if let Some(part) = json::read(text) {
        return vec![part];
    }
    if let Some(parts) = mail::read(text) {
        return parts;
    }
    let mut parts = vec![wrapped::read(text).unwrap_or_else(|| Part::whole(text))];
    // Markdown and plain text may hold comments and hidden elements too.
    if html::has_hidden_markup(text) {
        parts.extend(html::read(text).into_iter().filter(|part| part.kind.is_hidden()));
    }
    parts
}
