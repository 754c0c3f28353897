//! `[limits.turn]`, `[limits.session]` and `[limits.day]`: what agents may spend, in the person's
//! `settings.toml`, and lower in a workspace's `foreword.toml`.

use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

const UNLIMITED: &str = "unlimited";

/// What agents may spend in one turn, session or day.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PeriodLimits {
    /// Tokens that models read and write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<SpendingLimit>,
    /// US dollars, by the price table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<SpendingLimit>,
    /// Minutes that turns take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minutes: Option<SpendingLimit>,
}

/// A positive number, or `"unlimited"`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct SpendingLimit(f64);

impl SpendingLimit {
    /// A limit; `None` if the number is not positive. Infinity is no limit.
    #[must_use]
    pub fn new(amount: f64) -> Option<Self> {
        (amount > 0.0).then_some(Self(amount))
    }

    /// The number; infinity for `"unlimited"`.
    #[must_use]
    pub fn amount(self) -> f64 {
        self.0
    }
}

impl Serialize for SpendingLimit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() {
            serializer.serialize_f64(self.0)
        } else {
            serializer.serialize_str(UNLIMITED)
        }
    }
}

impl<'de> Deserialize<'de> for SpendingLimit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberOrWord;

        impl Visitor<'_> for NumberOrWord {
            type Value = SpendingLimit;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a positive number or \"{UNLIMITED}\"")
            }

            #[expect(clippy::cast_precision_loss, reason = "a limit need not be exact")]
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<SpendingLimit, E> {
                self.visit_f64(number as f64)
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<SpendingLimit, E> {
                let limit = SpendingLimit::new(number).filter(|limit| limit.0.is_finite());
                limit.ok_or_else(|| E::invalid_value(de::Unexpected::Float(number), &self))
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<SpendingLimit, E> {
                if word == UNLIMITED {
                    return Ok(SpendingLimit(f64::INFINITY));
                }
                Err(E::invalid_value(de::Unexpected::Str(word), &self))
            }
        }
        deserializer.deserialize_any(NumberOrWord)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_positive_or_unlimited() {
        let parse = |text: &str| toml::from_str::<PeriodLimits>(text).map_err(|e| e.to_string());
        let limits = parse("tokens = 1000\ncost = 0.5\nminutes = 'unlimited'").unwrap();
        let amounts = [limits.tokens, limits.cost, limits.minutes];
        assert_eq!(amounts.map(|limit| limit.unwrap().amount()), [1000.0, 0.5, f64::INFINITY]);
        assert_eq!(parse(&toml::to_string(&limits).unwrap()).unwrap(), limits);
        for wrong in ["tokens = 0", "cost = -1", "cost = inf", "cost = nan", "minutes = 'none'"] {
            let error = parse(wrong).unwrap_err();
            assert!(error.contains("a positive number or \"unlimited\""), "{wrong}: {error}");
        }
        assert!(parse("token = 1").is_err());
    }
}
