//! Where a text needs invisible characters, and what their runs can spell.

use foreword::Invisible;

/// What kind of invisible character was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HiddenKind {
    /// Zero-width spaces and joiners inside text that has no use for them.
    ZeroWidth,
    /// Embeddings, overrides and isolates that change the order in which text is shown.
    Bidi,
    /// Tag characters: an invisible copy of ASCII.
    Tag,
    /// More variation selectors in a row than any character has use for.
    Variation,
    /// Control characters, such as the escape that starts a terminal sequence.
    Control,
}

/// The class of an invisible character. Line breaks are structure here, not something hidden.
pub(super) fn classify(c: char) -> Option<Invisible> {
    Invisible::of(c).filter(|class| *class != Invisible::Break)
}

/// Whether a character belongs to a script in which joiners shape letters.
pub(super) fn needs_joiners(c: char) -> bool {
    matches!(c,
        '\u{0600}'..='\u{08FF}' | '\u{0900}'..='\u{0DFF}' | '\u{0E00}'..='\u{109F}'
        | '\u{1780}'..='\u{18AF}' | '\u{A8E0}'..='\u{A8FF}' | '\u{FB50}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFE}')
}

/// Whether a character belongs to a script written without spaces between words.
pub(super) fn lacks_spaces(c: char) -> bool {
    matches!(c,
        '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}'
        | '\u{2E80}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}' | '\u{FF00}'..='\u{FF9F}'
        | '\u{20000}'..='\u{3FFFF}')
}

/// Whether a character can be part of an emoji sequence.
pub(super) fn is_pictograph(c: char) -> bool {
    matches!(c,
        '\u{2190}'..='\u{21FF}' | '\u{2300}'..='\u{27BF}' | '\u{2900}'..='\u{297F}' | '\u{2B00}'..='\u{2BFF}'
        | '\u{3030}' | '\u{303D}' | '\u{3297}' | '\u{3299}' | '\u{1F000}'..='\u{1FAFF}' | '\u{FE0F}' | '\u{00A9}'
        | '\u{00AE}' | '\u{203C}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{20E3}')
}

/// The byte that a run of variation selectors can smuggle.
pub(super) fn variation_byte(c: char) -> Option<u8> {
    match u32::from(c) {
        n @ 0xFE00..=0xFE0F => u8::try_from(n - 0xFE00).ok(),
        n @ 0xE0100..=0xE01EF => u8::try_from(n - 0xE0100 + 16).ok(),
        _ => None,
    }
}
