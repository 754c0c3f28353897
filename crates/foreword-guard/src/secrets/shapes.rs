//! The shapes of secrets, and how each is tried at one place of a text.
//!
//! Every trial looks at a bounded stretch, and says so when the text ends before it can decide: so the
//! same shapes serve a text that comes in pieces.

use crate::secrets::pem;

/// How far a trial looks for a digit.
const LOOK: usize = 64;
/// The longest first part of a JSON web token.
const MAX_JWT_HEAD: usize = 4096;
/// The longest name, and the longest password, in a URL.
const MAX_USER: usize = 128;
const MAX_PASSWORD: usize = 256;
/// The most that may stand between a name and its value.
const MAX_SEPARATOR: usize = 12;

/// Schemes before the token of a header.
const SCHEMES: [&str; 4] = ["bearer", "basic", "token", "apikey"];

/// Bytes that go on with a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// `A-Z a-z 0-9`
    Alnum,
    /// `A-Z 0-9`
    Upper,
    /// `0-9 a-f`
    Hex,
    /// Those of base64 for URLs.
    Url,
    /// Those of base64.
    Base64,
    /// Those of a token in a header.
    Token,
    /// All but blanks, quotes and `;`.
    Bare,
}

impl Class {
    pub(crate) fn has(self, b: u8) -> bool {
        match self {
            Self::Alnum => b.is_ascii_alphanumeric(),
            Self::Upper => b.is_ascii_uppercase() || b.is_ascii_digit(),
            Self::Hex => matches!(b, b'0'..=b'9' | b'a'..=b'f'),
            Self::Url => b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'),
            Self::Base64 => b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='),
            Self::Token => {
                b.is_ascii_alphanumeric()
                    || matches!(b, b'-' | b'_' | b'.' | b'~' | b'+' | b'/' | b'=')
            }
            Self::Bare => !b.is_ascii_whitespace() && !matches!(b, b';' | b'"' | b'\'' | b'`'),
        }
    }
}

/// The characters after a format's prefix.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    /// At least this many, including a digit.
    AtLeast(usize, Class),
    /// Exactly this many.
    Exactly(usize, Class),
    /// A separator and a value of that shape.
    Value(&'static Shape),
    /// A separator, the name of a scheme, blanks, and a token.
    Header,
    /// Two groups behind a dot.
    SendGrid,
    Jwt,
    Pem,
    /// `user:password@` of a URL.
    UserInfo,
}

/// How a secret continues after the part that was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tail {
    /// It does not.
    Ends,
    /// While there are bytes of that class.
    While(Class),
    /// The same, and dots between them.
    Dotted(Class),
    /// As a private key, whose first line of data it is in.
    Pem,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begins {
    Yes,
    No,
    More,
}

/// Whether a text begins with a word.
pub(crate) fn begins(text: &[u8], word: &str, exact: bool, last: bool) -> Begins {
    let length = text.len().min(word.len());
    let (seen, expected) = (text.get(..length), word.as_bytes().get(..length));
    let (Some(seen), Some(expected)) = (seen, expected) else { return Begins::No };
    let same = if exact { seen == expected } else { seen.eq_ignore_ascii_case(expected) };
    match (same, length == word.len()) {
        (true, true) => Begins::Yes,
        (true, false) if !last => Begins::More,
        _ => Begins::No,
    }
}

/// What trying a shape found out.
pub(crate) enum Shaped {
    No,
    More,
    Yes { lead: usize, length: usize, tail: Tail },
}

/// Tries a shape at a place of a text; `last` says that nothing follows.
pub(crate) fn try_shape(shape: Shape, at: usize, rest: &[u8], last: bool) -> Shaped {
    let text = rest.get(at..).unwrap_or_default();
    match shape {
        Shape::AtLeast(least, class) => {
            let look = least.max(LOOK);
            let run = run(text, look, |b| class.has(b));
            if run == text.len() && run < look && !last {
                return Shaped::More;
            }
            let random = least == 1
                || text.iter().take(run).any(u8::is_ascii_digit)
                || (class == Class::Token && is_mixed(text.get(..run).unwrap_or_default()));
            if run < least || !random || (class == Class::Bare && is_placeholder(text)) {
                return Shaped::No;
            }
            Shaped::Yes { lead: at, length: run, tail: Tail::While(class) }
        }
        Shape::Exactly(count, class) => {
            let run = run(text, count + 1, |b| class.has(b));
            if run == text.len() && run <= count && !last {
                return Shaped::More;
            }
            if run != count {
                return Shaped::No;
            }
            Shaped::Yes { lead: at, length: count, tail: Tail::Ends }
        }
        Shape::Value(shape) => {
            let gap = run(text, MAX_SEPARATOR + 1, is_separator);
            if gap == text.len() && gap <= MAX_SEPARATOR && !last {
                return Shaped::More;
            }
            if gap == 0 || gap > MAX_SEPARATOR {
                return Shaped::No;
            }
            try_shape(*shape, at + gap, rest, last)
        }
        Shape::Header => header(at, rest, last),
        Shape::SendGrid => send_grid(at, rest, last),
        Shape::Jwt => jwt(at, rest, last),
        Shape::Pem => match pem::opening(rest, last) {
            pem::Opening::No => Shaped::No,
            pem::Opening::More => Shaped::More,
            pem::Opening::Yes { length } => Shaped::Yes { lead: 0, length, tail: Tail::Pem },
        },
        Shape::UserInfo => user_info(at, rest, last),
    }
}

/// How many bytes at the start, at most `most`, are of a kind.
fn run(text: &[u8], most: usize, is: impl Fn(u8) -> bool) -> usize {
    text.iter().take(most).take_while(|b| is(**b)).count()
}

fn is_separator(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'"' | b'\'' | b'`' | b':' | b'=' | b'>' | b',' | b'\\' | b'|')
}

/// `$PASSWORD`, `<password>`, `{{password}}`, `***`, a note of ours.
fn is_placeholder(value: &[u8]) -> bool {
    value.first().is_some_and(|b| b"$<{[*%".contains(b))
}

/// Letters of both cases, as in base64 by chance without a digit, and not as in a name.
fn is_mixed(text: &[u8]) -> bool {
    let upper = text.iter().filter(|b| b.is_ascii_uppercase()).count();
    let lower = text.iter().filter(|b| b.is_ascii_lowercase()).count();
    text.len() >= 16 && upper >= 4 && lower >= 4
}

fn header(at: usize, rest: &[u8], last: bool) -> Shaped {
    let text = rest.get(at..).unwrap_or_default();
    let gap = run(text, MAX_SEPARATOR + 1, is_separator);
    if gap == text.len() && gap <= MAX_SEPARATOR && !last {
        return Shaped::More;
    }
    if gap == 0 || gap > MAX_SEPARATOR {
        return Shaped::No;
    }
    let text = text.get(gap..).unwrap_or_default();
    for scheme in SCHEMES {
        match begins(text, scheme, false, last) {
            Begins::No => {}
            Begins::More => return Shaped::More,
            Begins::Yes => {
                let blanks = text.get(scheme.len()..).unwrap_or_default();
                let blank =
                    run(blanks, MAX_SEPARATOR + 1, |b| matches!(b, b' ' | b'\t' | b':' | b'='));
                if blank == blanks.len() && blank <= MAX_SEPARATOR && !last {
                    return Shaped::More;
                }
                if blank == 0 || blank > MAX_SEPARATOR {
                    return Shaped::No;
                }
                return try_shape(
                    Shape::AtLeast(12, Class::Token),
                    at + gap + scheme.len() + blank,
                    rest,
                    last,
                );
            }
        }
    }
    Shaped::No
}

fn send_grid(at: usize, rest: &[u8], last: bool) -> Shaped {
    let text = rest.get(at..).unwrap_or_default();
    let first = run(text, 33, |b| Class::Url.has(b));
    if first == text.len() && !last && first <= 32 {
        return Shaped::More;
    }
    if !(16..=32).contains(&first) || text.get(first) != Some(&b'.') {
        return Shaped::No;
    }
    try_shape(Shape::AtLeast(32, Class::Url), at + first + 1, rest, last)
}

fn jwt(at: usize, rest: &[u8], last: bool) -> Shaped {
    let text = rest.get(at..).unwrap_or_default();
    let head = run(text, MAX_JWT_HEAD + 1, |b| Class::Url.has(b));
    if head == text.len() && !last && head <= MAX_JWT_HEAD {
        return Shaped::More;
    }
    if !(8..=MAX_JWT_HEAD).contains(&head) {
        return Shaped::No;
    }
    match begins(text.get(head..).unwrap_or_default(), ".eyJ", true, last) {
        Begins::No => Shaped::No,
        Begins::More => Shaped::More,
        Begins::Yes => Shaped::Yes { lead: at, length: head + 4, tail: Tail::Dotted(Class::Url) },
    }
}

fn user_info(at: usize, rest: &[u8], last: bool) -> Shaped {
    let text = rest.get(at..).unwrap_or_default();
    let is_info = |b: u8| !b.is_ascii_whitespace() && !b"@/\"'`<>?#".contains(&b);
    let user = run(text, MAX_USER + 1, |b| is_info(b) && b != b':');
    if user == text.len() && user <= MAX_USER {
        return if last { Shaped::No } else { Shaped::More };
    }
    if user > MAX_USER || text.get(user) != Some(&b':') {
        return Shaped::No;
    }
    let secret = text.get(user + 1..).unwrap_or_default();
    if is_placeholder(secret) {
        return Shaped::No;
    }
    let length = run(secret, MAX_PASSWORD + 1, is_info);
    if length == secret.len() && length <= MAX_PASSWORD {
        return if last { Shaped::No } else { Shaped::More };
    }
    if length == 0 || secret.get(length) != Some(&b'@') {
        return Shaped::No;
    }
    Shaped::Yes { lead: at + user + 1, length, tail: Tail::Ends }
}
