//! The characters of an encoding and their values.

/// The value of a character that is not in the alphabet.
pub(crate) const NONE: u8 = u8::MAX;

/// The value of each ASCII character.
pub(crate) type Alphabet = [u8; 128];

/// An alphabet by its characters in order.
#[expect(clippy::indexing_slicing, clippy::cast_possible_truncation, reason = "at compile time")]
pub(crate) const fn alphabet(characters: &[u8]) -> Alphabet {
    let mut table = [NONE; 128];
    let mut at = 0;
    while at < characters.len() {
        table[characters[at] as usize] = at as u8;
        at += 1;
    }
    table
}

/// The same for an alphabet of capital letters that are also written small.
#[expect(clippy::indexing_slicing, clippy::cast_possible_truncation, reason = "at compile time")]
pub(crate) const fn in_any_case(characters: &[u8]) -> Alphabet {
    let mut table = alphabet(characters);
    let mut at = 0;
    while at < characters.len() {
        table[characters[at].to_ascii_lowercase() as usize] = at as u8;
        at += 1;
    }
    table
}

pub(crate) static BASE64: Alphabet = base64();
pub(crate) static HEX: Alphabet = in_any_case(b"0123456789ABCDEF");

/// base64, in the standard alphabet and in that of URLs.
#[expect(clippy::indexing_slicing, reason = "at compile time")]
const fn base64() -> Alphabet {
    let mut table = alphabet(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
    table[b'-' as usize] = 62;
    table[b'_' as usize] = 63;
    table
}

/// The value of a character.
pub(crate) fn value(alphabet: &Alphabet, b: u8) -> Option<u8> {
    match alphabet.get(usize::from(b)) {
        Some(&value) if value != NONE => Some(value),
        _ => None,
    }
}
