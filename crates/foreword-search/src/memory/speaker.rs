//! Who said a memory: the name before its first colon, as in "Ada: I moved to Porto".

/// The longest name, in bytes.
const MAX_NAME: usize = 40;
/// The most words of a name.
const MAX_WORDS: usize = 4;

/// The speaker of a text, if it begins with one.
pub(crate) fn speaker(text: &str) -> Option<&str> {
    let head = text.get(..text.floor_char_boundary(MAX_NAME + 2)).unwrap_or_default();
    let (name, rest) = head.split_once(':')?;
    let is_name = name.starts_with(char::is_alphabetic)
        && !name.starts_with(char::is_lowercase)
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '.' | '-' | '\'' | '_'))
        && name.split(' ').count() <= MAX_WORDS;
    (is_name && rest.starts_with([' ', '\n'])).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_a_colon_make_a_speaker() {
        assert_eq!(speaker("Ada: I moved"), Some("Ada"));
        assert_eq!(speaker("Dr. Ana-Maria O'Neil: yes"), Some("Dr. Ana-Maria O'Neil"));
        assert_eq!(speaker("Иван: привет"), Some("Иван"));
        assert_eq!(speaker("王: 你好"), Some("王"));
        for text in [
            "https://example.com",
            "http: x",
            "no speaker here",
            "",
            ":",
            "A very long sentence that goes on: x",
            "Meeting at 10:30",
            "12: no",
        ] {
            assert_eq!(speaker(text), None, "{text}");
        }
    }
}
