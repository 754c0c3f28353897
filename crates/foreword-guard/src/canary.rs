//! The canary of a session: a token that appears only in its prompt, so any text that contains it
//! discloses the prompt.

mod alphabet;
mod decoded;
pub(crate) mod detector;
mod grouped;
mod listed;
mod lookalike;
mod readings;
mod runs;
mod shifted;
mod tokens;

use std::fmt;

use crate::canary::runs::Runs;

/// The prefix of every canary.
const PREFIX: &str = "fwc";
/// Five bits per character, without the ambiguous `i`, `l`, `o` and `u`.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// Characters for 128 bits.
const BODY: usize = 26;
/// Characters of a whole canary.
pub(crate) const LENGTH: usize = PREFIX.len() + BODY;

/// What is looked for: the canaries as they are written, and as distances between letters.
#[derive(Debug)]
struct Words {
    plain: Runs,
    shifted: Runs,
}

/// A token that appears only in the prompt of one session.
///
/// `fwc` and 26 small letters and digits, 128 bits of them random. Its `Debug` does not show it, so
/// that it does not end up in a log.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Canary(String);

impl Canary {
    /// A canary from sixteen random bytes.
    #[must_use]
    pub fn from_random(bytes: [u8; 16]) -> Self {
        // Two zero bits pad 128 bits to 26 whole characters.
        let number = u128::from_be_bytes(bytes);
        let body = (0..BODY).map(|place| {
            let shift = 123 - 5 * i32::try_from(place).unwrap_or_default();
            let five = if shift >= 0 { number >> shift } else { number << -shift };
            let digit = usize::try_from(five & 31).unwrap_or_default();
            char::from(ALPHABET.get(digit).copied().unwrap_or_default())
        });
        Self(PREFIX.chars().chain(body).collect())
    }

    /// Parses a stored canary; `None` if the text is not one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let body = text.strip_prefix(PREFIX)?.as_bytes();
        let (last, _) = body.split_last()?;
        let digit = |b: &u8| ALPHABET.iter().position(|a| a == b);
        let fits = body.len() == BODY
            && body.iter().all(|b| digit(b).is_some())
            && digit(last).is_some_and(|value| value.is_multiple_of(4));
        fits.then(|| Self(text.to_owned()))
    }

    /// The token, for the prompt.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Canary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Canary({PREFIX}…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn it_is_short_plain_and_not_shown() {
        let canary = Canary::from_random([0; 16]);
        assert_eq!(canary.as_str(), "fwc00000000000000000000000000");
        let canary = Canary::from_random([0xFF; 16]);
        assert_eq!(canary.as_str(), "fwczzzzzzzzzzzzzzzzzzzzzzzzzw");
        assert_eq!(canary.as_str().len(), LENGTH);
        assert_eq!(format!("{canary:?}"), "Canary(fwc…)");
    }

    #[test]
    fn what_is_none_is_not_read_as_one() {
        for text in [
            "",
            "fwc",
            "fwczzzzzzzzzzzzzzzzzzzzzzzzzz",
            "fwc0000000000000000000000000",
            "fwc000000000000000000000000000",
            "FWC00000000000000000000000000",
            "fwc0000000000000000000000000o",
            "fwc0000000000000000000000000é",
            "xwc00000000000000000000000000",
        ] {
            assert_eq!(Canary::parse(text), None, "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_one_differs_and_is_read_again(a: [u8; 16], b: [u8; 16]) {
            let canary = Canary::from_random(a);
            prop_assert!(canary.as_str().bytes().all(|b| b.is_ascii_alphanumeric()));
            prop_assert_eq!(Canary::parse(canary.as_str()), Some(canary.clone()));
            prop_assert_eq!(canary == Canary::from_random(b), a == b);
        }
    }
}
