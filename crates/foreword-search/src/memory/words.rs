//! The words of a memory and of a question: folded, stemmed, pairs of characters where a script
//! has no spaces.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::OnceLock;

use crate::index::words::each_term;
use unicode_normalization::UnicodeNormalization as _;

/// Maximum number of bytes of a query that are read for words.
const MAX_BYTES: usize = 64 * 1024;
/// Maximum number of bytes of a query whose words are compared one by one.
pub(crate) const MAX_LIKENESS: usize = 2048;
/// Maximum number of distinct words of a query.
pub(crate) const MAX_TERMS: usize = 64;

/// The words by which a text is found, each once, in order.
pub(crate) fn terms(text: &str) -> Vec<String> {
    let mut terms: Vec<String> = Vec::new();
    each_term(&folded(text), |term| terms.push(term.to_owned()));
    terms.sort_unstable();
    terms.dedup();
    terms
}

/// A word as a number, to be compared with many.
pub(crate) fn number(term: &str) -> u64 {
    // FNV-1a: the words are short, and a collision affects only a score.
    term.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The numbers of the words of a text, each once, in order.
pub(crate) fn numbers(text: &str) -> Vec<u64> {
    let mut numbers: Vec<u64> = Vec::new();
    each_term(&folded(text), |term| numbers.push(number(term)));
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// The words of a question that tell something; all of them, where none does.
pub(crate) fn query_terms(text: &str) -> Vec<String> {
    let end = text.floor_char_boundary(MAX_BYTES);
    let text = folded(text.get(..end).unwrap_or_default());
    let mut seen: HashSet<String> = HashSet::new();
    let mut telling: Vec<String> = Vec::new();
    let mut others: Vec<String> = Vec::new();
    each_term(&text, |term| {
        if telling.len() < MAX_TERMS && seen.insert(term.to_owned()) {
            let side = if is_common(term) { &mut others } else { &mut telling };
            side.push(term.to_owned());
        }
    });
    if telling.is_empty() {
        others.truncate(MAX_TERMS);
        return others;
    }
    telling
}

/// Without accents, and with characters in their plain form.
pub(crate) fn folded(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let accent = |c: &char| ('\u{300}'..='\u{36f}').contains(c);
    Cow::Owned(text.nfkd().filter(|c| !accent(c)).nfc().collect())
}

/// Whether a term is a word that every text of its language has.
pub(crate) fn is_common(term: &str) -> bool {
    static COMMON: OnceLock<HashSet<u64>> = OnceLock::new();
    COMMON
        .get_or_init(|| {
            let lines = include_str!("common-words.txt").lines();
            lines.filter(|line| !line.starts_with('#')).flat_map(numbers).collect()
        })
        .contains(&number(term))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_with_and_without_accents() {
        assert_eq!(terms("Preferências do usuário"), terms("preferencias do usuario"));
        assert_eq!(terms("déjà vu"), ["deja", "vu"]);
        assert_eq!(terms("Ｔａｂｓ tabs"), ["tab"]);
    }

    #[test]
    fn scripts_without_spaces_keep_their_letters() {
        assert_eq!(terms("打开灯"), ["开灯", "打开"]);
        assert_eq!(terms("한국어"), ["국어", "한국"]);
        assert_eq!(terms("สวัสดี").len(), 5);
        // A Japanese mark is part of its letter.
        assert_eq!(terms("ガス"), terms("ガス".nfd().collect::<String>().as_str()));
    }

    #[test]
    fn a_question_is_what_it_says_and_not_how_it_asks() {
        assert_eq!(query_terms("What is the deploy password?"), ["deploy", "password"]);
        assert_eq!(query_terms("qual é a senha do banco"), ["senha", "banco"]);
        assert_eq!(query_terms("quel est le mot de passe ?"), ["mot", "pass"]);
        assert_eq!(query_terms("who are you").len(), 3);
        assert!(query_terms("").is_empty());
        assert!(query_terms(&"word ".repeat(1_000_000)).contains(&"word".to_owned()));
    }
}
