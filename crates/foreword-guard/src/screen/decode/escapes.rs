//! Characters written as numbers: entities, percent signs, escapes, character codes.

/// Decodes every escaped character in `text`; `None` if there are none.
pub(super) fn decode(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out: Vec<u8> = Vec::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let found = match byte {
            b'%' => percent(bytes, at),
            b'&' => entity(bytes, at),
            b'\\' => escape(bytes, at),
            b'c' | b'C' | b'[' => codes(bytes, at),
            _ => None,
        };
        match found {
            Some((decoded, len)) => {
                out.extend_from_slice(bytes.get(copied..at).unwrap_or_default());
                out.extend_from_slice(decoded.as_slice());
                at += len;
                copied = at;
            }
            None => at += 1,
        }
    }
    if copied == 0 {
        return None;
    }
    out.extend_from_slice(bytes.get(copied..).unwrap_or_default());
    Some(String::from_utf8_lossy(&out).into_owned())
}

type Decoded = Option<(Vec<u8>, usize)>;

fn hex(bytes: &[u8], from: usize, len: usize) -> Option<u32> {
    let digits = bytes.get(from..from + len)?;
    digits.iter().try_fold(0u32, |n, b| Some(n * 16 + char::from(*b).to_digit(16)?))
}

fn utf8(code: u32) -> Option<Vec<u8>> {
    let c = char::from_u32(code).filter(|c| !c.is_control() || *c == '\n' || *c == '\t')?;
    Some(c.to_string().into_bytes())
}

/// `%63`: only of letters, digits and marks that matter; a plain `%20` is a blank.
fn percent(bytes: &[u8], at: usize) -> Decoded {
    let code = hex(bytes, at + 1, 2)?;
    (0x20..0x7F).contains(&code).then(|| u8::try_from(code).ok()).flatten().map(|b| (vec![b], 3))
}

/// `&#99;`, `&#x63;`, and the few names that hide code.
fn entity(bytes: &[u8], at: usize) -> Decoded {
    const NAMED: [(&[u8], u8); 8] = [
        (b"&lt;", b'<'),
        (b"&gt;", b'>'),
        (b"&amp;", b'&'),
        (b"&quot;", b'"'),
        (b"&apos;", b'\''),
        (b"&lpar;", b'('),
        (b"&rpar;", b')'),
        (b"&nbsp;", b' '),
    ];
    let rest = bytes.get(at..)?;
    if let Some((name, byte)) = NAMED.iter().find(|(name, _)| rest.starts_with(name)) {
        return Some((vec![*byte], name.len()));
    }
    let digits = rest.strip_prefix(b"&#")?;
    let (digits, radix, start) = match digits.strip_prefix(b"x").or(digits.strip_prefix(b"X")) {
        Some(hex) => (hex, 16, 3),
        None => (digits, 10, 2),
    };
    let len = digits.iter().take(7).take_while(|b| char::from(**b).is_digit(radix)).count();
    let text = std::str::from_utf8(digits.get(..len)?).ok()?;
    let code = u32::from_str_radix(text, radix).ok()?;
    let end = start + len + usize::from(digits.get(len) == Some(&b';'));
    utf8(code).map(|c| (c, end))
}

/// `\x63`, `\u0063`, `\u{63}`, `\143`.
fn escape(bytes: &[u8], at: usize) -> Decoded {
    let (code, len) = match bytes.get(at + 1)? {
        b'x' => (hex(bytes, at + 2, 2)?, 4),
        b'u' if bytes.get(at + 2) == Some(&b'{') => {
            let digits = bytes.get(at + 3..)?.iter().take(6).take_while(|b| b.is_ascii_hexdigit());
            let len = digits.count();
            if bytes.get(at + 3 + len) != Some(&b'}') {
                return None;
            }
            (hex(bytes, at + 3, len)?, len + 4)
        }
        b'u' => (hex(bytes, at + 2, 4)?, 6),
        b'U' => (hex(bytes, at + 2, 8)?, 10),
        b'0'..=b'3' => {
            let digits = bytes.get(at + 1..at + 4)?;
            let code =
                digits.iter().try_fold(0, |n, b| Some(n * 8 + char::from(*b).to_digit(8)?))?;
            (code, 4)
        }
        _ => return None,
    };
    if code == 0x0A || code == 0x0D {
        return None;
    }
    utf8(code).map(|c| (c, len))
}

/// `String.fromCharCode(99,117)`, `chr(99)`, `[char]99`: the numbers become a quoted string.
fn codes(bytes: &[u8], at: usize) -> Decoded {
    const CALLS: [&[u8]; 3] = [b"charcode(", b"chr(", b"[char]"];
    let rest = bytes.get(at..at.saturating_add(16).min(bytes.len()))?.to_ascii_lowercase();
    let call = CALLS.iter().find(|call| rest.starts_with(call))?;
    let mut end = at + call.len();
    let mut out = vec![b'"'];
    loop {
        while matches!(bytes.get(end), Some(b' ' | b',' | b'\n' | b'(')) {
            end += 1;
        }
        let len = bytes
            .get(end..)?
            .iter()
            .take(5)
            .take_while(|b| b.is_ascii_hexdigit() || **b == b'x')
            .count();
        if len == 0 {
            break;
        }
        let digits = std::str::from_utf8(bytes.get(end..end + len)?).ok()?;
        let code = match digits.strip_prefix("0x") {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => digits.parse().ok()?,
        };
        out.extend(utf8(code)?);
        end += len;
        if call.starts_with(b"[") {
            break;
        }
    }
    if out.len() < 2 {
        return None;
    }
    out.push(b'"');
    let close = usize::from(bytes.get(end) == Some(&b')'));
    Some((out, end + close - at))
}
