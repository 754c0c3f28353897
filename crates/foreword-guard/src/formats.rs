//! The formats of secrets: a table, and how each line of it is tried at one place of a text.
//!
//! Every trial looks at a bounded stretch, and says so when the text ends before it can decide: so the
//! same table serves a text that comes in pieces.

use std::sync::LazyLock;

use crate::pem;
use crate::secrets::SecretKind;

/// How far a trial looks for a digit.
const LOOK: usize = 64;
/// The longest first part of a JSON web token.
const LONGEST_JWT_HEAD: usize = 4096;
/// The longest name, and the longest password, in a URL.
const LONGEST_USER: usize = 128;
const LONGEST_PASSWORD: usize = 256;
/// The most that may stand between a name and its value.
const LONGEST_SEPARATOR: usize = 12;

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
    Value,
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
            Self::Value => !b.is_ascii_whitespace() && !matches!(b, b';' | b'"' | b'\'' | b'`'),
        }
    }
}

/// What may stand in front of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Anything,
    /// No letter or digit, unless it is that of an escape such as `\n`.
    Edge,
    /// Nor `-` and `_`.
    WordEdge,
}

/// What stands behind the start of a format.
#[derive(Debug, Clone, Copy)]
enum Shape {
    /// So many or more, one of them a digit.
    AtLeast(usize, Class),
    /// So many, then something else.
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

#[derive(Debug)]
struct Format {
    kind: SecretKind,
    start: &'static str,
    /// Whether case matters in the start.
    exact: bool,
    before: Before,
    shape: Shape,
}

const fn format(kind: SecretKind, start: &'static str, before: Before, shape: Shape) -> Format {
    Format { kind, start, exact: true, before, shape }
}

/// A name with a value behind it, in any case.
const fn named(kind: SecretKind, start: &'static str, shape: Shape) -> Format {
    Format { kind, start, exact: false, before: Before::Anything, shape }
}

use Before::{Anything, Edge, WordEdge};
use Class::{Alnum, Hex, Token, Upper, Url, Value};
use SecretKind as Kind;
use Shape::{AtLeast, Exactly};

/// The longer start first where one starts with the other.
const FORMATS: &[Format] = &[
    format(Kind::Anthropic, "sk-ant-", Anything, AtLeast(20, Url)),
    format(Kind::OpenRouter, "sk-or-v1-", Anything, AtLeast(32, Hex)),
    format(Kind::OpenAi, "sk-proj-", Anything, AtLeast(20, Url)),
    format(Kind::OpenAi, "sk-svcacct-", Anything, AtLeast(20, Url)),
    format(Kind::OpenAi, "sk-admin-", Anything, AtLeast(20, Url)),
    format(Kind::OpenAi, "sk-", WordEdge, AtLeast(32, Alnum)),
    format(Kind::AwsKeyId, "AKIA", Edge, Exactly(16, Upper)),
    format(Kind::AwsKeyId, "ASIA", Edge, Exactly(16, Upper)),
    named(Kind::AwsSecret, "aws_secret_access_key", Shape::Value(&Exactly(40, Class::Base64))),
    named(Kind::AwsSecret, "secretaccesskey", Shape::Value(&Exactly(40, Class::Base64))),
    named(Kind::AwsSecret, "secret_access_key", Shape::Value(&Exactly(40, Class::Base64))),
    named(Kind::AwsSecret, "aws_session_token", Shape::Value(&AtLeast(64, Class::Base64))),
    format(Kind::GitHub, "ghp_", Edge, AtLeast(36, Alnum)),
    format(Kind::GitHub, "gho_", Edge, AtLeast(36, Alnum)),
    format(Kind::GitHub, "ghs_", Edge, AtLeast(36, Alnum)),
    format(Kind::GitHub, "ghu_", Edge, AtLeast(36, Alnum)),
    format(Kind::GitHub, "ghr_", Edge, AtLeast(36, Alnum)),
    format(Kind::GitHub, "github_pat_", Anything, AtLeast(36, Url)),
    format(Kind::GitLab, "glpat-", Anything, AtLeast(20, Url)),
    format(Kind::GitLab, "glrt-", Edge, AtLeast(20, Url)),
    format(Kind::GitLab, "gldt-", Edge, AtLeast(20, Url)),
    format(Kind::Slack, "xoxa-", Edge, AtLeast(20, Url)),
    format(Kind::Slack, "xoxb-", Edge, AtLeast(20, Url)),
    format(Kind::Slack, "xoxp-", Edge, AtLeast(20, Url)),
    format(Kind::Slack, "xoxr-", Edge, AtLeast(20, Url)),
    format(Kind::Slack, "xoxs-", Edge, AtLeast(20, Url)),
    format(Kind::Slack, "xapp-", Edge, AtLeast(20, Url)),
    format(Kind::Slack, "hooks.slack.com/services/", Edge, AtLeast(20, Token)),
    format(Kind::Google, "AIza", Edge, Exactly(35, Url)),
    format(Kind::Google, "GOCSPX-", Edge, AtLeast(20, Url)),
    format(Kind::Google, "ya29.", WordEdge, AtLeast(30, Url)),
    format(Kind::Stripe, "sk_live_", Anything, AtLeast(16, Alnum)),
    format(Kind::Stripe, "rk_live_", Anything, AtLeast(16, Alnum)),
    format(Kind::Stripe, "whsec_", Edge, AtLeast(24, Alnum)),
    format(Kind::Npm, "npm_", Edge, Exactly(36, Alnum)),
    format(Kind::PyPi, "pypi-", Edge, AtLeast(50, Url)),
    format(Kind::HuggingFace, "hf_", WordEdge, AtLeast(30, Alnum)),
    format(Kind::SendGrid, "SG.", WordEdge, Shape::SendGrid),
    format(Kind::Twilio, "SK", WordEdge, Exactly(32, Hex)),
    named(Kind::Twilio, "twilio_auth_token", Shape::Value(&Exactly(32, Hex))),
    format(Kind::Jwt, "eyJ", WordEdge, Shape::Jwt),
    format(Kind::PrivateKey, "-----BEGIN ", Anything, Shape::Pem),
    named(Kind::Authorization, "authorization", Shape::Header),
    named(Kind::Authorization, "x-api-key", Shape::Value(&AtLeast(16, Token))),
    named(Kind::Password, ";password=", AtLeast(1, Value)),
    named(Kind::Password, ";pwd=", AtLeast(1, Value)),
    format(Kind::Password, "://", Anything, Shape::UserInfo),
];

/// Names of schemes that stand in front of the token of a header.
const SCHEMES: [&str; 4] = ["bearer", "basic", "token", "apikey"];

/// The formats by the first byte of their start.
static BY_FIRST: LazyLock<Vec<Vec<&'static Format>>> = LazyLock::new(|| {
    let mut by_first: Vec<Vec<&Format>> = vec![Vec::new(); 256];
    for format in FORMATS {
        let Some(first) = format.start.bytes().next() else { continue };
        let other = if format.exact { first } else { first.to_ascii_uppercase() };
        for (b, list) in (0..=u8::MAX).zip(&mut by_first) {
            if b == first || b == other {
                list.push(format);
            }
        }
    }
    by_first
});

/// How a secret goes on behind what a trial looked at.
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

/// What a trial found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trial {
    /// There is none.
    None,
    /// The text ends too soon to say.
    More,
    /// There is one: `lead` bytes on, `length` bytes at least.
    Found { kind: SecretKind, lead: usize, length: usize, tail: Tail },
}

/// Can a format start with this byte?
pub(crate) fn starts_one(b: u8) -> bool {
    BY_FIRST.get(usize::from(b)).is_some_and(|formats| !formats.is_empty())
}

/// Tries all formats at the start of `rest`; `before` are the two bytes in front of it, and `last` says
/// that nothing follows.
pub(crate) fn trial(rest: &[u8], before: [u8; 2], last: bool) -> Trial {
    let Some(formats) = rest.first().and_then(|b| BY_FIRST.get(usize::from(*b))) else {
        return Trial::None;
    };
    for format in formats {
        if !format.before.allows(before) {
            continue;
        }
        let found = match begins(rest, format.start, format.exact, last) {
            Begins::No => continue,
            Begins::More => return Trial::More,
            Begins::Yes => try_shape(format.shape, format.start.len(), rest, last),
        };
        match found {
            Shaped::No => {}
            Shaped::More => return Trial::More,
            Shaped::Yes { lead, length, tail } => {
                // A value behind a name leaves the name; a format is replaced from its start.
                let whole = format.exact && !matches!(format.shape, Shape::UserInfo);
                let (lead, length) = if whole { (0, lead + length) } else { (lead, length) };
                return Trial::Found { kind: format.kind, lead, length, tail };
            }
        }
    }
    Trial::None
}

impl Before {
    fn allows(self, [earlier, before]: [u8; 2]) -> bool {
        let escape = earlier == b'\\' && matches!(before, b'n' | b'r' | b't');
        match self {
            Self::Anything => true,
            Self::Edge => !before.is_ascii_alphanumeric() || escape,
            Self::WordEdge => !Class::Url.has(before) || escape,
        }
    }
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

enum Shaped {
    No,
    More,
    Yes { lead: usize, length: usize, tail: Tail },
}

fn try_shape(shape: Shape, at: usize, rest: &[u8], last: bool) -> Shaped {
    let text = rest.get(at..).unwrap_or_default();
    match shape {
        AtLeast(least, class) => {
            let look = least.max(LOOK);
            let run = run(text, look, |b| class.has(b));
            if run == text.len() && run < look && !last {
                return Shaped::More;
            }
            let random = least == 1
                || text.iter().take(run).any(u8::is_ascii_digit)
                || (class == Token && is_mixed(text.get(..run).unwrap_or_default()));
            if run < least || !random || (class == Value && is_placeholder(text)) {
                return Shaped::No;
            }
            Shaped::Yes { lead: at, length: run, tail: Tail::While(class) }
        }
        Exactly(count, class) => {
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
            let gap = run(text, LONGEST_SEPARATOR + 1, is_separator);
            if gap == text.len() && gap <= LONGEST_SEPARATOR && !last {
                return Shaped::More;
            }
            if gap == 0 || gap > LONGEST_SEPARATOR {
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
    let gap = run(text, LONGEST_SEPARATOR + 1, is_separator);
    if gap == text.len() && gap <= LONGEST_SEPARATOR && !last {
        return Shaped::More;
    }
    if gap == 0 || gap > LONGEST_SEPARATOR {
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
                    run(blanks, LONGEST_SEPARATOR + 1, |b| matches!(b, b' ' | b'\t' | b':' | b'='));
                if blank == blanks.len() && blank <= LONGEST_SEPARATOR && !last {
                    return Shaped::More;
                }
                if blank == 0 || blank > LONGEST_SEPARATOR {
                    return Shaped::No;
                }
                return try_shape(AtLeast(12, Token), at + gap + scheme.len() + blank, rest, last);
            }
        }
    }
    Shaped::No
}

fn send_grid(at: usize, rest: &[u8], last: bool) -> Shaped {
    let text = rest.get(at..).unwrap_or_default();
    let first = run(text, 33, |b| Url.has(b));
    if first == text.len() && !last && first <= 32 {
        return Shaped::More;
    }
    if !(16..=32).contains(&first) || text.get(first) != Some(&b'.') {
        return Shaped::No;
    }
    try_shape(AtLeast(32, Url), at + first + 1, rest, last)
}

fn jwt(at: usize, rest: &[u8], last: bool) -> Shaped {
    let text = rest.get(at..).unwrap_or_default();
    let head = run(text, LONGEST_JWT_HEAD + 1, |b| Url.has(b));
    if head == text.len() && !last && head <= LONGEST_JWT_HEAD {
        return Shaped::More;
    }
    if !(8..=LONGEST_JWT_HEAD).contains(&head) {
        return Shaped::No;
    }
    match begins(text.get(head..).unwrap_or_default(), ".eyJ", true, last) {
        Begins::No => Shaped::No,
        Begins::More => Shaped::More,
        Begins::Yes => Shaped::Yes { lead: at, length: head + 4, tail: Tail::Dotted(Url) },
    }
}

fn user_info(at: usize, rest: &[u8], last: bool) -> Shaped {
    let text = rest.get(at..).unwrap_or_default();
    let is_info = |b: u8| !b.is_ascii_whitespace() && !b"@/\"'`<>?#".contains(&b);
    let user = run(text, LONGEST_USER + 1, |b| is_info(b) && b != b':');
    if user == text.len() && user <= LONGEST_USER {
        return if last { Shaped::No } else { Shaped::More };
    }
    if user > LONGEST_USER || text.get(user) != Some(&b':') {
        return Shaped::No;
    }
    let secret = text.get(user + 1..).unwrap_or_default();
    if is_placeholder(secret) {
        return Shaped::No;
    }
    let length = run(secret, LONGEST_PASSWORD + 1, is_info);
    if length == secret.len() && length <= LONGEST_PASSWORD {
        return if last { Shaped::No } else { Shaped::More };
    }
    if length == 0 || secret.get(length) != Some(&b'@') {
        return Shaped::No;
    }
    Shaped::Yes { lead: at + user + 1, length, tail: Tail::Ends }
}
