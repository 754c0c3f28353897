//! Texts that programs hide: escapes, numbers, encodings, rotated alphabets.

/// Decoded texts are cut here.
const MAX_DECODED: usize = 64 * 1024;

/// A whole number, in decimal, hexadecimal, octal or binary.
pub(crate) fn number(text: &str) -> Option<i64> {
    let text = text.replace('_', "").to_ascii_lowercase();
    let radix = |prefix: &str, radix| {
        text.strip_prefix(prefix).and_then(|digits| i64::from_str_radix(digits, radix).ok())
    };
    radix("0x", 16)
        .or_else(|| radix("0o", 8))
        .or_else(|| radix("0b", 2))
        .or_else(|| text.parse().ok())
}

/// `\x63`, `\u0063`, `\143`, `\n` as what they stand for.
pub(crate) fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match rest.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('x') => push_code(&mut out, &mut rest, 16, 2),
            Some('u') => {
                if let Some(inner) = rest.as_str().strip_prefix('{') {
                    let digits: String =
                        inner.chars().take_while(char::is_ascii_hexdigit).collect();
                    out.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
                    for _ in 0..digits.len() + 2 {
                        rest.next();
                    }
                } else {
                    push_code(&mut out, &mut rest, 16, 4);
                }
            }
            Some('U') => push_code(&mut out, &mut rest, 16, 8),
            Some(first @ '0'..='7') => {
                let more: String =
                    rest.as_str().chars().take(2).take_while(|c| ('0'..='7').contains(c)).collect();
                for _ in 0..more.len() {
                    rest.next();
                }
                let code = u32::from_str_radix(&format!("{first}{more}"), 8).ok();
                out.extend(code.and_then(char::from_u32));
            }
            Some('\n') | None => {}
            Some(other) => out.push(other),
        }
    }
    out
}

fn push_code(out: &mut String, rest: &mut std::str::Chars<'_>, radix: u32, length: usize) {
    let digits: String =
        rest.as_str().chars().take(length).take_while(char::is_ascii_hexdigit).collect();
    for _ in 0..digits.len() {
        rest.next();
    }
    out.extend(u32::from_str_radix(&digits, radix).ok().and_then(char::from_u32));
}

/// How something was encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Base64,
    Base32,
    Hex,
    Rot13,
    Percent,
    Reversed,
    /// Compressed or encrypted: cannot be read here.
    Opaque,
}

/// The text behind an encoding, as far as it is readable.
pub(crate) fn decode(text: &str, encoding: Encoding) -> Option<String> {
    let bytes = match encoding {
        Encoding::Base64 => base64(text)?,
        Encoding::Base32 => base32(text)?,
        Encoding::Hex => hex(text)?,
        Encoding::Rot13 => return Some(text.chars().map(rot13).collect()),
        Encoding::Percent => percent(text),
        Encoding::Reversed => return Some(text.chars().rev().take(MAX_DECODED).collect()),
        Encoding::Opaque => return None,
    };
    let zeros = bytes.iter().skip(1).step_by(2).filter(|byte| **byte == 0).count();
    if bytes.len() >= 4 && zeros * 2 + 1 >= bytes.len() {
        let units = bytes
            .chunks_exact(2)
            .map(|pair| pair.iter().rev().fold(0_u16, |n, byte| (n << 8) | u16::from(*byte)));
        return String::from_utf16(&units.collect::<Vec<_>>()).ok();
    }
    String::from_utf8(bytes).ok()
}

fn base64(text: &str) -> Option<Vec<u8>> {
    bits(text, 6, |byte| {
        Some(match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        })
    })
}

fn base32(text: &str) -> Option<Vec<u8>> {
    bits(text, 5, |byte| {
        Some(match byte.to_ascii_uppercase() {
            upper @ b'A'..=b'Z' => upper - b'A',
            digit @ b'2'..=b'7' => digit - b'2' + 26,
            _ => return None,
        })
    })
}

fn bits(text: &str, width: u32, value: impl Fn(u8) -> Option<u8>) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let (mut buffer, mut held) = (0_u32, 0_u32);
    let digits = text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=');
    for byte in digits.take(MAX_DECODED) {
        buffer = ((buffer << width) | u32::from(value(byte)?)) & 0xFFFF;
        held += width;
        if held >= 8 {
            held -= 8;
            out.push(u8::try_from((buffer >> held) & 0xFF).ok()?);
        }
    }
    (!out.is_empty()).then_some(out)
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text
        .trim_start_matches("0x")
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b':' | b'\\' | b'x'))
        .take(MAX_DECODED)
        .collect();
    let pair = |pair: &[u8]| {
        let text = std::str::from_utf8(pair).ok()?;
        u8::from_str_radix(text, 16).ok()
    };
    (digits.len() >= 2).then(|| digits.chunks_exact(2).map(pair).collect()).flatten()
}

fn rot13(c: char) -> char {
    let turn = |base: u8, byte: u8| char::from((byte - base + 13) % 26 + base);
    match u8::try_from(c) {
        Ok(byte @ b'a'..=b'z') => turn(b'a', byte),
        Ok(byte @ b'A'..=b'Z') => turn(b'A', byte),
        _ => c,
    }
}

fn percent(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let code = (byte == b'%')
            .then(|| bytes.get(at + 1..at + 3))
            .flatten()
            .and_then(|pair| std::str::from_utf8(pair).ok())
            .and_then(|pair| u8::from_str_radix(pair, 16).ok());
        match code {
            Some(code) => {
                out.push(code);
                at += 3;
            }
            None => {
                out.push(byte);
                at += 1;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_taken_off() {
        for (text, encoding, plain) in [
            ("Y3VybCAteA==", Encoding::Base64, "curl -x"),
            ("dwBoAG8AYQBtAGkA", Encoding::Base64, "whoami"),
            ("MN2XE3A=", Encoding::Base32, "curl"),
            ("6375726c", Encoding::Hex, "curl"),
            ("phey", Encoding::Rot13, "curl"),
            ("%63url", Encoding::Percent, "curl"),
            ("lruc", Encoding::Reversed, "curl"),
        ] {
            assert_eq!(decode(text, encoding).as_deref(), Some(plain), "{text}");
        }
        assert_eq!(decode("not base64!", Encoding::Base64), None);
    }

    #[test]
    fn escapes_and_numbers_are_read() {
        assert_eq!(unescape(r"\x63\u0075\u{72}\154\n\q"), "curl\nq");
        assert_eq!(number("0x1F"), Some(31));
        assert_eq!(number("1_000"), Some(1000));
    }
}
