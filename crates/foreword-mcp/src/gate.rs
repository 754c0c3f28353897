//! Admits requests that carry the token.

use http::HeaderMap;
use http::header::AUTHORIZATION;

use crate::error::ServeError;

/// The shortest token.
pub(crate) const MIN_TOKEN_CHARS: usize = 16;

/// Knows a token by its digest. Digests are compared in constant time.
pub(crate) struct Gate(blake3::Hash);

impl Gate {
    pub(crate) fn new(token: &str) -> Result<Self, ServeError> {
        let fits =
            token.len() >= MIN_TOKEN_CHARS && token.bytes().all(|byte| byte.is_ascii_graphic());
        if fits { Ok(Self(blake3::hash(token.as_bytes()))) } else { Err(ServeError::BadToken) }
    }

    /// Do these headers carry the token, once?
    pub(crate) fn admits(&self, headers: &HeaderMap) -> bool {
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let (Some(value), None) = (values.next(), values.next()) else {
            return false;
        };
        let Some((scheme, token)) = value.to_str().ok().and_then(|text| text.split_once(' '))
        else {
            return false;
        };
        scheme.eq_ignore_ascii_case("bearer") && blake3::hash(token.trim().as_bytes()) == self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef";

    fn admitted(values: &[&str]) -> bool {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, value.parse().unwrap());
        }
        Gate::new(TOKEN).unwrap().admits(&headers)
    }

    #[test]
    fn the_token_opens_and_nothing_else_does() {
        assert!(admitted(&["Bearer 0123456789abcdef"]));
        assert!(admitted(&["bearer  0123456789abcdef "]));
        for values in [
            &[][..],
            &[""],
            &["Bearer"],
            &["Bearer "],
            &["0123456789abcdef"],
            &["Basic 0123456789abcdef"],
            &["Bearer 0123456789abcde"],
            &["Bearer 0123456789abcdef0"],
            &["Bearer 0123456789abcdef", "Bearer 0123456789abcdef"],
        ] {
            assert!(!admitted(values), "{values:?}");
        }
    }

    #[test]
    fn a_token_must_be_worth_its_name() {
        for token in ["", "short", "0123456789 abcdef", "0123456789abcdef\n", "ä123456789abcdef"] {
            assert!(matches!(Gate::new(token), Err(ServeError::BadToken)), "{token:?}");
        }
    }
}
