//! The cost of a character outside ASCII, by its script.
//!
//! o200k spends a token on five Arabic or Cyrillic letters or three Thai ones,
//! nearly one on a Han character, and two or three on a character it has
//! rarely seen. Like the table of pairs these are the mean numbers of tokens
//! that begin at such a character in real text; scripts for which there was
//! little text have theirs from the Universal Declaration of Human Rights, and
//! symbols from the mean over the block.

use super::pairs::{LATIN, MARK, OTHER};

/// What a character of one script costs, in hundredths of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    /// Tells one script from the next; never 0.
    pub(super) id: u8,
    /// What stands for it in the table of pairs.
    pub(super) symbol: u8,
    /// The cost after a character of the same script.
    pub(super) inside: u16,
    /// The cost after a blank, which words and most marks join.
    pub(super) after_space: u16,
    /// The cost after anything else.
    pub(super) first: u16,
}

impl Kind {
    /// Equality that works at compile time.
    const fn same(self, other: Self) -> bool {
        self.id == other.id
            && self.symbol == other.symbol
            && self.inside == other.inside
            && self.after_space == other.after_space
            && self.first == other.first
    }
}

/// A Latin letter with a diacritic. Besides its own tokens it carries what the
/// words around it cost more than the English ones the pairs were weighed by.
const fn latin(id: u8, each: u16) -> Kind {
    Kind { id, symbol: LATIN, inside: each, after_space: each, first: each }
}

/// The letters of a script.
const fn letters(id: u8, inside: u16) -> Kind {
    Kind { id, symbol: OTHER, inside, after_space: 1, first: 97 }
}

/// Punctuation.
const fn marks(id: u8, inside: u16, after_space: u16) -> Kind {
    Kind { id, symbol: MARK, inside, after_space, first: 98 }
}

/// Anything else.
const fn signs(id: u8, inside: u16, after_space: u16, first: u16) -> Kind {
    Kind { id, symbol: OTHER, inside, after_space, first }
}

/// Characters that cost the same everywhere, mostly as so many bytes.
const fn rare(each: u16) -> Kind {
    signs(1, each, each, each)
}

const HAN: Kind = signs(40, 78, 48, 90);
const HANGUL: Kind = signs(41, 60, 5, 98);

/// Looks up `c`, which is not ASCII.
#[inline]
pub(super) fn kind(c: char) -> Kind {
    let code = u32::from(c);
    match PAGES.get(code as usize / PAGE) {
        Some(page) if page.id != MIXED.id => *page,
        _ => match code {
            0x4E00..=0x9FFF => HAN,
            0xAC00..=0xD7AF => HANGUL,
            _ => lookup(code),
        },
    }
}

/// Code points in a page.
const PAGE: usize = 16;

/// In place of a page whose characters are not all of one kind.
const MIXED: Kind = Kind { id: 0, symbol: 0, inside: 0, after_space: 0, first: 0 };

/// [`lookup`] by page, for the scripts below the Han characters: the twenty
/// comparisons it takes on average are most of the time otherwise.
static PAGES: [Kind; 0x3100 / PAGE] = pages();

#[expect(
    clippy::indexing_slicing,
    reason = "runs at compile time, where an index out of bounds is an error"
)]
const fn pages() -> [Kind; 0x3100 / PAGE] {
    let mut pages = [MIXED; 0x3100 / PAGE];
    let mut page = 0x80 / PAGE;
    while page < pages.len() {
        let start = (page * PAGE) as u32;
        let kind = lookup(start);
        let mut code = start + 1;
        let mut uniform = true;
        while code < start + PAGE as u32 {
            uniform &= kind.same(lookup(code));
            code += 1;
        }
        if uniform {
            pages[page] = kind;
        }
        page += 1;
    }
    pages
}

const fn lookup(code: u32) -> Kind {
    match code {
        // Latin. The letters of Vietnamese are well covered by the vocabulary.
        0xC0..=0xFF => latin(2, 95),
        0x103 | 0x111 | 0x1A1 | 0x1B0 | 0x1EA0..=0x1EFF => latin(3, 0),
        0x100..=0x24F | 0x1E00..=0x1E9F => latin(4, 160),
        0x80..=0x9F => rare(185),
        0xA0..=0xBF => marks(5, 70, 1),
        0x250..=0x2FF => rare(150),
        0x300..=0x36F => rare(100),
        // Alphabets and abjads with blanks between words.
        0x370..=0x3FF => letters(6, 29),
        0x1F00..=0x1FFF => signs(6, 154, 154, 154),
        0x410..=0x44F => letters(7, 15),
        0x400..=0x52F => signs(7, 134, 1, 100),
        0x530..=0x58F => letters(8, 25),
        0x590..=0x5FF => letters(9, 31),
        0x60C | 0x61B | 0x61F | 0x6D4 => marks(10, 90, 1),
        0x600..=0x6FF | 0x750..=0x77F => letters(11, 19),
        0x700..=0x74F | 0x780..=0x8FF => rare(200),
        0x10A0..=0x10FF => letters(12, 27),
        // Scripts of India.
        0x900..=0x97F => letters(13, 18),
        0x980..=0x9FF => letters(14, 25),
        0xA00..=0xA7F => letters(15, 52),
        0xA80..=0xAFF => letters(16, 31),
        0xB00..=0xB7F => letters(17, 60),
        0xB80..=0xBFF => letters(18, 29),
        0xC00..=0xC7F => letters(19, 38),
        0xC80..=0xCFF => letters(20, 38),
        0xD00..=0xD7F => letters(21, 34),
        0xD80..=0xDFF => letters(22, 60),
        // South-east Asia and beyond.
        0xE00..=0xE7F => letters(23, 39),
        0xE80..=0xEFF => rare(190),
        0xF00..=0xFFF => rare(155),
        0x1000..=0x109F => letters(24, 56),
        0x1780..=0x17FF => letters(25, 64),
        0x1200..=0x139F => rare(206),
        0x1100..=0x11FF | 0x3130..=0x318F => signs(26, 150, 100, 177),
        0x13A0..=0x1DFF => rare(300),
        // Joiners, punctuation and symbols.
        0x200B..=0x200F | 0x2028..=0x202F | 0x2060..=0x206F => signs(27, 100, 1, 100),
        0x2000..=0x205F => marks(28, 60, 1),
        0x2070..=0x218F => signs(29, 150, 50, 150),
        0x2190..=0x21FF => signs(30, 110, 20, 110),
        0x2200..=0x22FF => signs(31, 160, 60, 160),
        0x2500..=0x257F => signs(32, 32, 75, 127),
        0x2580..=0x25FF => signs(33, 120, 60, 120),
        0x2600..=0x26FF => signs(34, 150, 100, 140),
        0x2700..=0x27BF => signs(35, 120, 60, 145),
        0x2800..=0x28FF => rare(297),
        0x2300..=0x24FF | 0x2900..=0x2BFF => signs(36, 220, 180, 200),
        // East Asia.
        0x3000..=0x303F => marks(37, 40, 80),
        0x3040..=0x309F => signs(38, 49, 30, 97),
        0x30A0..=0x30FF | 0x31F0..=0x31FF => signs(39, 55, 3, 100),
        0xFF00..=0xFFEF => marks(42, 40, 60),
        0x3400..=0x4DBF | 0xF900..=0xFAFF => rare(290),
        0xFB50..=0xFDFF | 0xFE70..=0xFEFE => rare(190),
        0xFE00..=0xFE0F => rare(75),
        // Emoji, with their skin tones and flags.
        0x1F1E6..=0x1F1FF | 0x1F3FB..=0x1F3FF => rare(200),
        0x1F600..=0x1F64F => signs(43, 167, 88, 167),
        0x1F300..=0x1F6FF => signs(44, 180, 98, 182),
        0x1F900..=0x1FA6F => signs(45, 205, 125, 205),
        0x1FA70..=0x1FAFF => signs(46, 299, 200, 299),
        0x1D400..=0x1D7FF => rare(271),
        0x1_0000.. => rare(375),
        _ => rare(270),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_agree_with_the_ranges() {
        for c in ('\u{80}'..='\u{10FFFF}')
            .filter(|c| !matches!(c, '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}'))
        {
            assert_eq!(kind(c), lookup(u32::from(c)), "{c:?}");
            assert_ne!(kind(c).id, MIXED.id, "{c:?}");
        }
    }
}
