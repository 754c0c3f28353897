//! Words that are split: string concatenation, quotes and escapes inside words.

/// Joins split words in `text`; `None` if there are none.
pub(super) fn join(text: &str, is_code: bool) -> Option<String> {
    let bytes = text.as_bytes();
    let joins_lists = || text.contains(".join(") || text.contains("-join");
    let mut out: Vec<u8> = Vec::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let gap = match byte {
            b'"' | b'\'' | b'`' => concatenation(bytes, at, &joins_lists)
                .or_else(|| empty_quotes(bytes, at))
                .or_else(|| {
                    is_code.then(|| inside_word(bytes, at, 1)).flatten().filter(|_| byte == b'`')
                }),
            b'^' if is_code => inside_word(bytes, at, 1),
            b'\\' if is_code => backslash(bytes, at),
            b'$' if is_code => dollar(bytes, at),
            _ => None,
        };
        match gap {
            Some(len) => {
                out.extend_from_slice(bytes.get(copied..at).unwrap_or_default());
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

fn is_word(byte: Option<&u8>) -> bool {
    byte.is_some_and(u8::is_ascii_alphanumeric)
}

fn before(bytes: &[u8], at: usize) -> Option<&u8> {
    at.checked_sub(1).and_then(|i| bytes.get(i))
}

/// How many blanks a concatenation may hold; an overlong gap is not looked into.
const MAX_GAP: usize = 16;

/// `"cu" + "rl"`, `'ev'.'al'`, `"ev" "al"`, and `"c","u"` where lists are joined.
fn concatenation(bytes: &[u8], at: usize, joins_lists: &dyn Fn() -> bool) -> Option<usize> {
    let quote = bytes.get(at)?;
    if before(bytes, at).is_none_or(|b| b.is_ascii_whitespace() || matches!(b, b'(' | b'=' | b'['))
    {
        return None;
    }
    let blank = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        from + rest.iter().take(MAX_GAP).take_while(|b| b.is_ascii_whitespace()).count()
    };
    let mut next = blank(at + 1);
    match bytes.get(next)? {
        b'+' | b'.' => next = blank(next + 1),
        b',' if bytes.get(at + 1) == Some(&b',') && joins_lists() => next = blank(next + 1),
        _ => return None,
    }
    let opens = bytes.get(next).filter(|b| matches!(b, b'"' | b'\'' | b'`'))?;
    let content = bytes.get(next + 1);
    (quote == opens || content.is_some_and(|b| !b.is_ascii_whitespace())).then_some(next + 1 - at)
}

/// `c''url`, `c""url`: nothing between the quotes, a word around them.
fn empty_quotes(bytes: &[u8], at: usize) -> Option<usize> {
    let twice = bytes.get(at + 1) == bytes.get(at) && bytes.get(at) != Some(&b'`');
    (twice && is_word(before(bytes, at)) && is_word(bytes.get(at + 2))).then_some(2)
}

fn inside_word(bytes: &[u8], at: usize, len: usize) -> Option<usize> {
    (is_word(before(bytes, at)) && is_word(bytes.get(at + len))).then_some(len)
}

/// `c\url`, but not a real escape sequence.
fn backslash(bytes: &[u8], at: usize) -> Option<usize> {
    let hex = bytes.get(at + 2).is_some_and(u8::is_ascii_hexdigit);
    let escape = match bytes.get(at + 1)? {
        b'n' | b'r' | b't' | b'b' | b's' | b'd' | b'w' | b'0'..=b'9' => true,
        b'x' | b'u' => hex,
        _ => false,
    };
    if escape { None } else { inside_word(bytes, at, 1) }
}

/// `cu$@rl`, `cu${x}rl`: variables that are empty; `$'curl'`: a quoted word.
fn dollar(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at + 1)? {
        b'@' | b'*' => inside_word(bytes, at, 2),
        b'{' => {
            let rest = bytes.get(at + 2..)?;
            let name =
                rest.iter().take(MAX_GAP).take_while(|b| is_word(Some(b)) || **b == b'_').count();
            (rest.get(name) == Some(&b'}') && name > 0)
                .then(|| inside_word(bytes, at, name + 3))
                .flatten()
        }
        b'\'' if is_word(bytes.get(at + 2)) => Some(2),
        _ => None,
    }
}
