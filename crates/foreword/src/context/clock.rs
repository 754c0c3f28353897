//! The time as the caller gives it. The core never reads a clock.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::context::date::Date;

/// An RFC 3339 timestamp, shown in UTC to the minute.
///
/// ```
/// use foreword::Timestamp;
///
/// let time = Timestamp::parse("2026-02-26T15:30:07+01:00").unwrap();
/// assert_eq!(time.to_string(), "2026-02-26 14:30 UTC");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timestamp {
    text: String,
    seconds: i64,
}

impl Timestamp {
    /// Reads `2026-02-26T14:30:00Z` and the like.
    pub fn parse(text: &str) -> Option<Self> {
        let seconds = parse_seconds(text)?;
        Some(Self { text: text.to_owned(), seconds })
    }

    /// The time so many seconds after the start of 1970.
    pub fn from_unix(seconds: i64) -> Self {
        let mut time = Self { text: String::new(), seconds };
        let (year, month, day, hour, minute) = time.civil();
        let second = seconds.rem_euclid(60);
        time.text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z");
        time
    }

    /// The time as it was given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Seconds since the start of 1970.
    pub fn unix(&self) -> i64 {
        self.seconds
    }

    /// Year, month, day, hour and minute in UTC.
    fn civil(&self) -> (i64, i64, i64, i64, i64) {
        let minutes = self.seconds.div_euclid(60);
        let minute = minutes.rem_euclid(1440);
        let Date { year, month, day } = Date::from_days(minutes.div_euclid(1440));
        (year, month, day, minute / 60, minute % 60)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day, hour, minute) = self.civil();
        write!(f, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            serde::de::Error::custom(format!(
                "`now` must be an RFC 3339 time such as 2026-02-26T14:30:00Z, not `{text}`"
            ))
        })
    }
}

fn parse_seconds(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = bytes.get(from..to)?;
        digits
            .iter()
            .all(u8::is_ascii_digit)
            .then(|| digits.iter().fold(0, |n, d| n * 10 + i64::from(d - b'0')))
    };
    let is = |at: usize, c: u8| bytes.get(at) == Some(&c);
    let separated = is(4, b'-') && is(7, b'-') && is(13, b':') && is(16, b':');
    if !separated || !matches!(bytes.get(10)?, b'T' | b't' | b' ') {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let date = Date::new(year, month, day)?;
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let mut at = 19;
    if is(at, b'.') {
        let digits = bytes.get(at + 1..)?.iter().take_while(|b| b.is_ascii_digit()).count();
        if digits == 0 {
            return None;
        }
        at += 1 + digits;
    }
    let offset = match bytes.get(at..)? {
        b"Z" | b"z" => 0,
        [sign @ (b'+' | b'-'), _, _, b':', _, _] => {
            let (hours, minutes) = (number(at + 1, at + 3)?, number(at + 4, at + 6)?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            (hours * 60 + minutes) * if *sign == b'-' { -1 } else { 1 }
        }
        _ => return None,
    };
    Some((date.days() * 1440 + hour * 60 + minute - offset) * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_in_utc_to_the_minute() {
        let shown = |text| Timestamp::parse(text).map(|t| t.to_string());
        assert_eq!(shown("2026-02-26T14:30:00Z").as_deref(), Some("2026-02-26 14:30 UTC"));
        assert_eq!(shown("2026-03-01T00:15:30.123+01:00").as_deref(), Some("2026-02-28 23:15 UTC"));
        assert_eq!(shown("1969-12-31T23:59:59-00:01").as_deref(), Some("1970-01-01 00:00 UTC"));
        let unix = Timestamp::from_unix(1_772_116_200);
        assert_eq!(unix.to_string(), "2026-02-26 14:30 UTC");
        assert_eq!(unix.unix(), 1_772_116_200);
        assert_eq!(Timestamp::parse(&unix.text), Some(unix));
        let odd = Timestamp::parse("2026-02-26T15:30:07.9+01:00").map(|time| time.unix());
        assert_eq!(odd, Some(1_772_116_207));
        for bad in [
            "",
            "2026-02-26",
            "2026-02-30T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-02-26T14:30:00",
            "2026-02-26T14:30:00.Z",
            "2026-02-26T24:00:00Z",
        ] {
            assert_eq!(shown(bad), None, "{bad}");
        }
    }
}
