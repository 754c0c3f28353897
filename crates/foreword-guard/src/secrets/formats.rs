//! The formats of secrets: prefix, allowed preceding character, and shape.

use std::sync::LazyLock;

use crate::secrets::SecretKind as Kind;
use crate::secrets::shapes::Class::{self, Alnum, Base64, Hex, Token, Upper, Url};
use crate::secrets::shapes::Shape::{self, AtLeast, Exactly};
use crate::secrets::shapes::{Begins, Shaped, Tail, begins, try_shape};

/// The characters allowed before a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Anything,
    /// No letter or digit, unless it is that of an escape such as `\n`.
    Edge,
    /// Nor `-` and `_`.
    WordEdge,
}

#[derive(Debug)]
struct Format {
    kind: Kind,
    start: &'static str,
    /// Whether case matters in the start.
    exact: bool,
    before: Before,
    shape: Shape,
}

const fn format(kind: Kind, start: &'static str, before: Before, shape: Shape) -> Format {
    Format { kind, start, exact: true, before, shape }
}

/// A name with a value behind it, in any case.
const fn named(kind: Kind, start: &'static str, shape: Shape) -> Format {
    Format { kind, start, exact: false, before: Anything, shape }
}

use Before::{Anything, Edge, WordEdge};

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
    named(Kind::AwsSecret, "aws_secret_access_key", Shape::Value(&Exactly(40, Base64))),
    named(Kind::AwsSecret, "secretaccesskey", Shape::Value(&Exactly(40, Base64))),
    named(Kind::AwsSecret, "secret_access_key", Shape::Value(&Exactly(40, Base64))),
    named(Kind::AwsSecret, "aws_session_token", Shape::Value(&AtLeast(64, Base64))),
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
    named(Kind::Password, ";password=", AtLeast(1, Class::Bare)),
    named(Kind::Password, ";pwd=", AtLeast(1, Class::Bare)),
    format(Kind::Password, "://", Anything, Shape::UserInfo),
];

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

/// The result of trying a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trial {
    /// No match.
    None,
    /// The text ends too soon to say.
    More,
    /// There is one: `lead` bytes on, `length` bytes at least.
    Found { kind: Kind, lead: usize, length: usize, tail: Tail },
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
            Self::WordEdge => !Url.has(before) || escape,
        }
    }
}
