//! Finds and replaces secrets in text.
//!
//! A secret is known by the format its maker gave it ([`formats`](crate::secrets::formats)), by what stands
//! around it (`Authorization: Bearer …`, a password in a URL), or because the caller named it. Hashes,
//! UUIDs, commits, encoded images and words have none of these and are left alone; so are placeholders
//! without a digit.

pub(crate) mod formats;
pub(crate) mod pem;
pub(crate) mod redactor;
pub(crate) mod shapes;

use std::fmt;
use std::ops::Range;

use crate::secrets::redactor::Redactor;

/// What kind of secret was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum SecretKind {
    /// A secret the caller named.
    Given,
    /// A key of Anthropic.
    Anthropic,
    /// A key of OpenAI.
    OpenAi,
    /// A key of OpenRouter.
    OpenRouter,
    /// The id of an access key of AWS.
    AwsKeyId,
    /// A secret key or session token of AWS.
    AwsSecret,
    /// A token of GitHub.
    GitHub,
    /// A token of GitLab.
    GitLab,
    /// A token of Slack.
    Slack,
    /// A key or token of Google.
    Google,
    /// A key of Stripe.
    Stripe,
    /// A token of npm.
    Npm,
    /// A token of PyPI.
    PyPi,
    /// A token of Hugging Face.
    HuggingFace,
    /// A key of SendGrid.
    SendGrid,
    /// A key of Twilio.
    Twilio,
    /// A JSON web token.
    Jwt,
    /// A private key, from its first line to its last.
    PrivateKey,
    /// The value of `Authorization` or `x-api-key`.
    Authorization,
    /// The password of a connection string.
    Password,
}

impl SecretKind {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Given => "credential",
            Self::Anthropic => "anthropic key",
            Self::OpenAi => "openai key",
            Self::OpenRouter => "openrouter key",
            Self::AwsKeyId => "aws key id",
            Self::AwsSecret => "aws secret",
            Self::GitHub => "github token",
            Self::GitLab => "gitlab token",
            Self::Slack => "slack token",
            Self::Google => "google key",
            Self::Stripe => "stripe key",
            Self::Npm => "npm token",
            Self::PyPi => "pypi token",
            Self::HuggingFace => "hugging face token",
            Self::SendGrid => "sendgrid key",
            Self::Twilio => "twilio key",
            Self::Jwt => "json web token",
            Self::PrivateKey => "private key",
            Self::Authorization => "authorization",
            Self::Password => "password",
        }
    }
}

impl fmt::Display for SecretKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A secret that was replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// What kind.
    pub kind: SecretKind,
    /// Where it stood, in bytes of the text as given.
    pub range: Range<usize>,
}

/// A text without its secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Redacted {
    /// The text with a note such as `[redacted: github token]` in the place of each secret.
    pub text: String,
    /// The replaced secrets in order, at most [`MAX_REPORTED_SECRETS`].
    pub found: Vec<Secret>,
}

/// How many secrets of one text are named; all are replaced.
pub const MAX_REPORTED_SECRETS: usize = 1_000;

/// Replaces what looks like a secret. The time is linear in the text.
#[must_use]
pub fn redact(text: &str) -> Redacted {
    redact_with(text, &[])
}

/// The same, and every given secret wherever it stands, such as the host's own credential. Given ones
/// of fewer than eight bytes are passed over: they would be found everywhere.
#[must_use]
pub fn redact_with(text: &str, given: &[&str]) -> Redacted {
    let mut redactor = Redactor::new(given);
    let mut out = String::with_capacity(text.len());
    redactor.push(text, &mut out);
    let found = redactor.finish(&mut out);
    Redacted { text: out, found }
}
