//! Characters that nobody sees, and where they are needed all the same.

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

/// The class of a character that may be invisible, by itself; context decides the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Invisible {
    /// Joins or separates: needed in some scripts and in emoji.
    Joiner,
    /// A zero-width space: a legitimate line-break hint in scripts without spaces.
    Space,
    /// Never needed inside a word.
    Filler,
    /// Changes the order of display.
    Bidi,
    /// Marks a direction and changes nothing else.
    Mark,
    Tag,
    Variation,
    Control,
}

pub(super) fn classify(c: char) -> Option<Invisible> {
    Some(match c {
        '\u{200C}' | '\u{200D}' => Invisible::Joiner,
        '\u{200B}' => Invisible::Space,
        '\u{2060}'..='\u{2064}'
        | '\u{FEFF}'
        | '\u{180E}'
        | '\u{115F}'
        | '\u{1160}'
        | '\u{3164}'
        | '\u{FFA0}'
        | '\u{206A}'..='\u{206F}'
        | '\u{FFF9}'..='\u{FFFB}' => Invisible::Filler,
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => Invisible::Bidi,
        '\u{200E}' | '\u{200F}' | '\u{061C}' | '\u{00AD}' | '\u{034F}' => Invisible::Mark,
        '\u{E0000}'..='\u{E007F}' => Invisible::Tag,
        '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}' => Invisible::Variation,
        '\u{0}'..='\u{8}' | '\u{E}'..='\u{1F}' | '\u{7F}'..='\u{84}' | '\u{86}'..='\u{9F}' => {
            Invisible::Control
        }
        _ => return None,
    })
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
