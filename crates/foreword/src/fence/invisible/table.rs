//! The table of characters that a reader does not see.
//!
//! Everything that removes, reports or escapes invisible characters asks this table; what to do about
//! a class is up to the caller.

/// Why a character is not seen.
///
/// ```
/// use foreword::Invisible;
///
/// assert_eq!(Invisible::of('\u{202e}'), Some(Invisible::Bidi));
/// assert_eq!(Invisible::of('a'), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Invisible {
    /// Joins or separates letters; some scripts and emoji need it.
    Joiner,
    /// A zero-width space: a line-break hint in scripts without spaces.
    Space,
    /// Never needed inside a word: word joiners, fillers, shorthand and musical controls,
    /// noncharacters.
    Filler,
    /// Changes the order in which text is shown.
    Bidi,
    /// A direction mark, a soft hyphen or a combining joiner: changes little else.
    Mark,
    /// A tag character: an invisible copy of ASCII.
    Tag,
    /// A variation selector.
    Variation,
    /// A line break other than LF.
    Break,
    /// A control character other than a line break or a tab.
    Control,
}

impl Invisible {
    /// The class of a character; `None` for everything a reader sees, and for blanks, tabs and LF.
    #[must_use]
    pub const fn of(c: char) -> Option<Self> {
        Some(match c {
            '\t' | '\n' | ' '..='~' => return None,
            '\r' | '\u{0B}' | '\u{0C}' | '\u{85}' | '\u{2028}' | '\u{2029}' => Self::Break,
            '\0'..='\u{1F}' | '\u{7F}'..='\u{9F}' => Self::Control,
            '\u{200C}' | '\u{200D}' => Self::Joiner,
            '\u{200B}' => Self::Space,
            '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => Self::Bidi,
            '\u{200E}' | '\u{200F}' | '\u{061C}' | '\u{AD}' | '\u{034F}' => Self::Mark,
            '\u{FE00}'..='\u{FE0F}'
            | '\u{E0100}'..='\u{E01EF}'
            | '\u{180B}'..='\u{180D}'
            | '\u{180F}' => Self::Variation,
            '\u{E0000}'..='\u{E0FFF}' => Self::Tag,
            '\u{115F}'
            | '\u{1160}'
            | '\u{17B4}'
            | '\u{17B5}'
            | '\u{180E}'
            | '\u{2060}'..='\u{2065}'
            | '\u{206A}'..='\u{206F}'
            | '\u{3164}'
            | '\u{FDD0}'..='\u{FDEF}'
            | '\u{FEFF}'
            | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFFB}'
            | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}' => Self::Filler,
            _ if c as u32 & 0xFFFE == 0xFFFE => Self::Filler,
            _ => return None,
        })
    }
}
