//! Our own prose, with places for values.
//!
//! The text of a module lives in a `.md` file beside it. `{{name}}` marks a place; everything else is
//! written as it stands. Templates are cut up and measured once per process.

use std::sync::LazyLock;

use crate::tokens::estimate::Measured;

/// A piece of a template.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Piece {
    /// Written as it stands. `measured` is there where the piece starts a line.
    Text { text: &'static str, measured: Option<Measured> },
    /// A place for a value.
    Slot(&'static str),
}

/// Prose of ours with places for values, made from an embedded file.
///
/// ```
/// use foreword::Template;
///
/// let template = Template::new("builtin:taint", "{{share}} of this session is external.");
/// assert_eq!(template.slots().collect::<Vec<_>>(), ["share"]);
/// ```
#[derive(Debug)]
pub struct Template {
    pub(crate) name: &'static str,
    pub(crate) pieces: Vec<Piece>,
}

/// A template that is cut up when it is first used.
///
/// ```
/// use foreword::{LazyTemplate, Template};
///
/// static GREETING: LazyTemplate = LazyTemplate::new(|| Template::new("builtin:greeting", "Hello {{name}}."));
/// assert_eq!(GREETING.slots().collect::<Vec<_>>(), ["name"]);
/// ```
pub type LazyTemplate = LazyLock<Template>;

impl Template {
    /// Cuts `text` at its places. `name` is what manifests call it, such as `builtin:security`.
    pub fn new(name: &'static str, text: &'static str) -> Self {
        let mut pieces = Vec::new();
        let mut rest = text.trim_end();
        let mut at_line_start = true;
        while let Some((before, slot, after)) = next_slot(rest) {
            push_text(&mut pieces, before, at_line_start);
            pieces.push(Piece::Slot(slot));
            at_line_start = false;
            rest = after;
        }
        push_text(&mut pieces, rest, at_line_start);
        Self { name, pieces }
    }

    /// The places, in order.
    pub fn slots(&self) -> impl Iterator<Item = &'static str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Slot(name) => Some(*name),
            Piece::Text { .. } => None,
        })
    }
}

/// Text after a place is cut at its first line break, so that the rest can be measured in advance.
fn push_text(pieces: &mut Vec<Piece>, text: &'static str, at_line_start: bool) {
    if text.is_empty() {
        return;
    }
    if at_line_start {
        pieces.push(Piece::Text { text, measured: Some(Measured::of(text)) });
        return;
    }
    let cut = text.find('\n').map_or(text.len(), |at| at + 1);
    let (head, tail) = text.split_at_checked(cut).unwrap_or((text, ""));
    pieces.push(Piece::Text { text: head, measured: None });
    if !tail.is_empty() {
        pieces.push(Piece::Text { text: tail, measured: Some(Measured::of(tail)) });
    }
}

/// The text before the first `{{name}}`, the name, and the text after it.
pub(crate) fn next_slot(text: &str) -> Option<(&str, &str, &str)> {
    let mut searched = 0;
    loop {
        let open = searched + text.get(searched..)?.find("{{")?;
        searched = open + 2;
        // A name is short, so that text full of braces is not searched again and again.
        let inner = text.get(searched..)?;
        let window = inner
            .get(..inner.len().min(MAX_NAME))
            .or_else(|| first_chars(inner))
            .unwrap_or_default();
        let Some(close) = window.find("}}") else { continue };
        let name = inner.get(..close)?.trim();
        if !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            return Some((text.get(..open)?, name, inner.get(close + 2..)?));
        }
    }
}

/// The longest `{{name}}`, in bytes.
const MAX_NAME: usize = 64;

/// About as much, where the cut would fall inside a character.
fn first_chars(text: &str) -> Option<&str> {
    let end = (0..=MAX_NAME).rev().find(|end| text.is_char_boundary(*end))?;
    text.get(..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_found_and_the_rest_is_kept() {
        let template = Template::new("t", "a {{ one }} b\nc {{two}}{{three}}\n{{ not a name }} {{");
        assert_eq!(template.slots().collect::<Vec<_>>(), ["one", "two", "three"]);
        let text: String = template
            .pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text { text, .. } => (*text).to_owned(),
                Piece::Slot(name) => format!("<{name}>"),
            })
            .collect();
        assert_eq!(text, "a <one> b\nc <two><three>\n{{ not a name }} {{");
    }
}
