//! Splits text and identifiers in any language into index terms.

/// A word in lower case, and whether its script writes words without spaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    pub(crate) text: &'a str,
    pub(crate) unspaced: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Other,
    Spaced,
    Unspaced,
}

/// Passes to `sink` every word of `text`: letters and digits, divided at `_`, at changes of case
/// (`getUserData`, `HTTPServer`) and where the script changes between spaced and unspaced.
pub(crate) fn each_word(text: &str, mut sink: impl FnMut(Word<'_>)) {
    let mut word = String::new();
    let mut before = (Class::Other, '\0');
    let mut flush = |word: &mut String, class: Class| {
        if !word.is_empty() {
            sink(Word { text: word, unspaced: class == Class::Unspaced });
            word.clear();
        }
    };
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let class = class(c);
        let hump = c.is_uppercase()
            && (before.1.is_lowercase()
                || before.1.is_numeric()
                || (before.1.is_uppercase()
                    && rest.peek().is_some_and(|next| next.is_lowercase())));
        if class != before.0 || (hump && class == Class::Spaced) {
            flush(&mut word, before.0);
        }
        if c.is_ascii_alphanumeric() {
            word.push(c.to_ascii_lowercase());
        } else if class != Class::Other {
            word.extend(c.to_lowercase());
        }
        before = (class, c);
    }
    flush(&mut word, before.0);
}

fn class(c: char) -> Class {
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' => Class::Spaced,
        '\0'..='\u{7f}' => Class::Other,
        // Thai, Lao, Khmer and Burmese; kana and Han; Hangul, whose endings stick to the word.
        '\u{e00}'..='\u{eff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}'
        | '\u{20000}'..='\u{3ffff}' => Class::Unspaced,
        // Marks are part of their word: accents, Arabic vowels, the vowel signs of India.
        '\u{300}'..='\u{36f}' | '\u{64b}'..='\u{65f}' | '\u{900}'..='\u{dff}' => Class::Spaced,
        c if c.is_alphanumeric() => Class::Spaced,
        _ => Class::Other,
    }
}

/// Passes to `sink` the index terms of `text`: stems, and pairs of characters in scripts
/// without spaces.
pub(crate) fn each_term(text: &str, mut sink: impl FnMut(&str)) {
    let mut stem = String::new();
    each_word(text, |word| terms_of(word, &mut stem, &mut sink));
}

/// The same for one word, with room for its stem that is kept between words.
pub(crate) fn terms_of(word: Word<'_>, stem: &mut String, mut sink: impl FnMut(&str)) {
    if !word.unspaced {
        stem.clear();
        stem.push_str(word.text);
        cut(stem);
        return sink(stem);
    }
    let starts = || word.text.char_indices().map(|(start, _)| start);
    let ends = starts().skip(2).chain(std::iter::once(word.text.len()));
    for (start, end) in starts().zip(ends) {
        sink(word.text.get(start..end).unwrap_or_default());
    }
}

/// Cuts the common endings of English words. Other alphabets are left as they are: character
/// grams find their relatives.
fn cut(word: &mut String) {
    if word.len() <= 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return;
    }
    let ends =
        |word: &str, end: &str, longer_than: usize| word.len() > longer_than && word.ends_with(end);
    if ends(word, "ies", 4) {
        word.truncate(word.len() - 3);
        word.push('y');
    } else if ends(word, "s", 3) && !word.ends_with("ss") && !word.ends_with("us") {
        word.pop();
    }
    for (end, longer_than) in [("ing", 5), ("ed", 4), ("ly", 5), ("er", 5), ("ion", 6)] {
        if ends(word, end, longer_than) {
            word.truncate(word.len() - end.len());
            break;
        }
    }
    if ends(word, "e", 3) {
        word.pop();
    }
    if let [.., a, b] = word.as_bytes()
        && word.len() > 4
        && a == b
        && !matches!(b, b's' | b'l')
    {
        word.pop();
    }
}

/// The words of an identifier, separated by spaces, as written: `get_userData` is `get user Data`.
pub(crate) fn spelled_out(name: &str) -> String {
    let mut words = String::new();
    let mut before = '\0';
    let mut rest = name.chars().peekable();
    while let Some(c) = rest.next() {
        let hump = c.is_uppercase()
            && (before.is_lowercase()
                || before.is_numeric()
                || (before.is_uppercase() && rest.peek().is_some_and(|next| next.is_lowercase())));
        let letter = class(c) != Class::Other;
        if (hump || !letter) && !words.is_empty() && !words.ends_with(' ') {
            words.push(' ');
        }
        if letter {
            words.push(c);
        }
        before = c;
    }
    words.truncate(words.trim_end().len());
    words
}

/// The text that stands for an item when it is embedded: its name in words, then its description,
/// which is left out where it only repeats the name.
#[must_use]
pub fn embedding_text(name: &str, description: &str) -> String {
    let words = spelled_out(name);
    let description = description.trim();
    if description.is_empty() || repeats(name, description) {
        return words;
    }
    format!("{words}: {description}")
}

/// Whether a description says no more than the name.
pub(crate) fn repeats(name: &str, description: &str) -> bool {
    // Spelling out keeps every letter, and nearly all descriptions have more of them than the name.
    // Going through them until the name's are used up is all that costs for most.
    let is_letter = |c: &char| class(*c) != Class::Other;
    let count = name.chars().filter(is_letter).count();
    description.chars().filter(is_letter).take(count + 1).count() == count
        && spelled_out(description).to_lowercase() == spelled_out(name).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn terms(text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        each_term(text, |term| terms.push(term.to_owned()));
        terms
    }

    #[test]
    fn identifiers_are_words_too() {
        let expected = ["get", "user", "data", "http", "server2", "turn", "off"];
        assert_eq!(terms("get_userData HTTPServer2 turn.off"), expected);
        assert_eq!(spelled_out("GET /albums/{id}"), "GET albums id");
        assert_eq!(spelled_out("HassTurnOff"), "Hass Turn Off");
        assert_eq!(spelled_out("__x__"), "x");
    }

    #[test]
    fn scripts_without_spaces_are_pairs() {
        assert_eq!(terms("打开灯 ok"), ["打开", "开灯", "ok"]);
        assert_eq!(terms("灯"), ["灯"]);
        assert_eq!(terms("git提交"), ["git", "提交"]);
    }

    #[test]
    fn endings_are_cut_alike() {
        for same in
            [["playing", "plays"], ["cities", "city"], ["stopped", "stop"], ["created", "create"]]
        {
            let [a, b] = same.map(terms);
            assert_eq!(a, b);
        }
        assert_eq!(terms("está était"), ["está", "était"]);
    }

    #[test]
    fn a_description_that_repeats_the_name_is_left_out() {
        assert_eq!(embedding_text("play_music", "Play music."), "play music");
        assert_eq!(embedding_text("play_music", " Starts a song "), "play music: Starts a song");
        assert_eq!(embedding_text("play", ""), "play");
    }

    proptest! {
        #[test]
        fn any_text_has_words(text: String) {
            each_word(&text, |word| assert!(!word.text.is_empty()));
            each_term(&text, |term| assert!(!term.is_empty()));
            let _ = spelled_out(&text);
        }
    }
}
