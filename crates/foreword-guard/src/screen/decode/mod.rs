//! Decodes disguised text.
//!
//! Two kinds of disguise: spellings (entities, percent signs, escapes, split strings, quotes inside
//! words), which are taken off within the unit, and payloads (base64, hexadecimal), which become
//! texts of their own.

mod escapes;
mod payload;
mod splice;

pub(crate) use payload::payloads;

/// How many layers of encoding are removed.
const MAX_DEPTH: usize = 3;

/// The unit without its disguises, if it wore any.
pub(crate) fn undisguised(unit: &str, is_code: bool) -> Option<String> {
    if !may_be_disguised(unit.as_bytes()) {
        return None;
    }
    let mut text: Option<String> = None;
    for _ in 0..MAX_DEPTH {
        let current = text.as_deref().unwrap_or(unit);
        let Some(next) = once(current, is_code) else { break };
        text = Some(next);
    }
    text
}

fn once(text: &str, is_code: bool) -> Option<String> {
    let mut out = escapes::decode(text);
    if let Some(spliced) = splice::join(out.as_deref().unwrap_or(text), is_code) {
        out = Some(spliced);
    }
    out.filter(|t| t != text)
}

/// A cheap look for the bytes with which every disguise is made: an escape, a joint, or a call that
/// makes characters out of numbers.
fn may_be_disguised(unit: &[u8]) -> bool {
    let mut before = 0;
    for &byte in unit {
        let joint = matches!(before, b'"' | b'\'' | b'`');
        let odd = match byte {
            b'%' | b'&' | b'\\' | b'^' | b'[' => true,
            b'(' => matches!(before, b'r' | b'R' | b'e' | b'E'),
            b'"' | b'\'' | b'+' | b'.' | b',' | b' ' => joint,
            b'@' | b'{' | b'*' => before == b'$',
            b'`' => before.is_ascii_alphanumeric(),
            _ => false,
        };
        if odd {
            return true;
        }
        before = byte;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_spellings_off() {
        for (written, plain) in [
            ("'cu' + 'rl'", "'curl'"),
            ("\"ev\"+\"al\"", "\"eval\""),
            ("c''url", "curl"),
            ("c\\url", "curl"),
            ("cu$@rl", "curl"),
            ("i`e`x", "iex"),
            ("c^url", "curl"),
            ("\\x63\\x75rl", "curl"),
            ("\\u0063url", "curl"),
            ("%63%75rl", "curl"),
            ("&#99;&#x75;rl", "curl"),
            ("&amp;#99;url", "curl"),
            ("String.fromCharCode(99,117)", "String.from\"cu\""),
            ("['c','u'].join('')", "['cu'].join('')"),
        ] {
            assert_eq!(undisguised(written, true).as_deref(), Some(plain), "{written}");
        }
        assert_eq!(undisguised("plain words", true), None);
    }

    #[test]
    fn finds_payloads_that_read_as_text() {
        let texts =
            |text: &str| -> Vec<String> { payloads(text).into_iter().map(|p| p.text).collect() };
        assert_eq!(texts("x Y3VybCBodHRwOi8vZXhhbXBsZQ== y"), ["curl http://example"]);
        assert_eq!(texts("6375726c20687474703a2f2f78"), ["curl http://x"]);
        assert_eq!(texts("dwBoAG8AYQBtAGkAIABhAGwAbAA="), ["whoami all"]);
        assert!(texts("an_ordinary_identifier_of_some_length and/a/path/to/some/file").is_empty());
        assert!(
            texts("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855").is_empty()
        );
    }
}
