//! Letters of other alphabets that look like ASCII letters.
//!
//! A compact table of our own: the letters with which Latin words are forged in practice. A full
//! confusables table would also fold letters that are not confused in practice.

/// The ASCII letter that `c` looks like.
pub(crate) fn ascii(c: char) -> Option<char> {
    Some(match c {
        // Cyrillic
        'а' => 'a',
        'в' => 'b',
        'с' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'ҽ' => 'e',
        'ѕ' => 's',
        'і' | 'ї' => 'i',
        'ј' => 'j',
        'к' => 'k',
        'ӏ' => 'l',
        'м' => 'm',
        'н' => 'h',
        'һ' => 'h',
        'о' => 'o',
        'р' => 'p',
        'ԛ' => 'q',
        'г' => 'r',
        'т' => 't',
        'у' | 'ү' => 'y',
        'ѵ' => 'v',
        'ԝ' => 'w',
        'х' => 'x',
        'ո' => 'n',
        'ս' => 'u',
        'օ' => 'o',
        // Greek
        'α' => 'a',
        'ε' => 'e',
        'η' => 'n',
        'ι' => 'i',
        'κ' => 'k',
        'ν' => 'v',
        'ο' => 'o',
        'ρ' => 'p',
        'τ' => 't',
        'υ' => 'u',
        'χ' => 'x',
        'β' => 'b',
        // Latin letters that do not decompose
        'ɑ' => 'a',
        'ɡ' => 'g',
        'ɩ' => 'i',
        'ʟ' => 'l',
        'ɴ' => 'n',
        'ʀ' => 'r',
        'ꜱ' => 's',
        'ᴀ' => 'a',
        'ᴄ' => 'c',
        'ᴅ' => 'd',
        'ᴇ' => 'e',
        'ɢ' => 'g',
        'ʜ' => 'h',
        'ɪ' => 'i',
        'ᴊ' => 'j',
        'ᴋ' => 'k',
        'ᴍ' => 'm',
        'ᴏ' => 'o',
        'ᴘ' => 'p',
        'ᴛ' => 't',
        'ᴜ' => 'u',
        'ᴠ' => 'v',
        'ᴡ' => 'w',
        'ʏ' => 'y',
        'ᴢ' => 'z',
        _ => return None,
    })
}

/// Whether `c` is a letter of an alphabet that has lookalikes of Latin letters.
pub(super) fn is_foreign_letter(c: char) -> bool {
    matches!(c, '\u{0370}'..='\u{058F}' | '\u{1F00}'..='\u{1FFF}') && c.is_alphabetic()
}

/// Folds the forged words of `line` into `out`; tells whether any word was forged.
///
/// A word that mixes ASCII with lookalikes is forged. A word of lookalikes alone is folded only
/// on a line that has no letter which could be nothing but Cyrillic or Greek: such a line is text in
/// that language. `mark` is called with the place here and in the line before each character that is
/// not part of a word, and after each character that was folded.
pub(super) fn fold_line(line: &str, out: &mut String, mut mark: impl FnMut(usize, usize)) -> bool {
    let native = line.chars().any(|c| is_foreign_letter(c) && ascii(c).is_none());
    let mut forged = false;
    let mut at = 0;
    for piece in line.split_inclusive(|c: char| !is_word(c)) {
        let word = piece.trim_end_matches(|c: char| !is_word(c));
        mark(out.len(), at);
        if is_forged(word, native) {
            forged |= word.bytes().any(|b| b.is_ascii_alphabetic());
            for (index, c) in word.char_indices() {
                out.push(ascii(c).unwrap_or(c));
                mark(out.len(), at + index + c.len_utf8());
            }
        } else {
            out.push_str(word);
        }
        out.push_str(piece.get(word.len()..).unwrap_or_default());
        at += piece.len();
    }
    forged
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_forged(word: &str, native: bool) -> bool {
    let has_ascii = word.bytes().any(|b| b.is_ascii_alphabetic());
    !word.is_ascii()
        && word.chars().count() > 2
        && (has_ascii || !native)
        && word.chars().all(|c| c.is_ascii() || ascii(c).is_some())
}
