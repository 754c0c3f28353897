//! How old something may get: `24h`, `30d` or `12w`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;

const HOUR_MILLIS: i64 = 3_600_000;
/// A hundred years: anything longer is a slip of the keyboard.
const MAX_HOURS: i64 = 24 * 36_525;

/// A length of time in whole hours, days or weeks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Age {
    count: i64,
    unit: char,
}

/// A text that is no [`Age`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("expected a number of hours, days or weeks, such as `24h`, `30d` or `12w`")]
pub struct InvalidAge;

impl Age {
    /// In milliseconds.
    #[must_use]
    pub fn millis(self) -> i64 {
        self.count * hours(self.unit) * HOUR_MILLIS
    }
}

fn hours(unit: char) -> i64 {
    match unit {
        'h' => 1,
        'd' => 24,
        _ => 7 * 24,
    }
}

impl FromStr for Age {
    type Err = InvalidAge;

    fn from_str(text: &str) -> Result<Self, InvalidAge> {
        let unit = text.chars().next_back().filter(|unit| "hdw".contains(*unit));
        let unit = unit.ok_or(InvalidAge)?;
        let digits = text.trim_end_matches(unit);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let count: i64 = digits.parse().map_err(|_| InvalidAge)?;
        let fits = (1..=MAX_HOURS / hours(unit)).contains(&count);
        if is_number && fits && text.len() == digits.len() + 1 {
            Ok(Self { count, unit })
        } else {
            Err(InvalidAge)
        }
    }
}

impl fmt::Display for Age {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.count, self.unit)
    }
}

impl Serialize for Age {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Age {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_has_a_number_and_a_unit() {
        for (text, hours) in [("24h", 24), ("30d", 720), ("2w", 336)] {
            let age: Age = text.parse().unwrap();
            assert_eq!((age.millis(), age.to_string().as_str()), (hours * HOUR_MILLIS, text));
        }
        for wrong in
            ["", "d", "0d", "-1d", "+1d", "1", "1m", "1.5d", "1dd", " 1d", "99999999999d", "99999d"]
        {
            assert_eq!(wrong.parse::<Age>(), Err(InvalidAge), "{wrong}");
        }
    }
}
