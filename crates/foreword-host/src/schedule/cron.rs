//! Recurring times in the five fields of cron, in UTC.
//!
//! Supports `*`, lists, ranges, steps, names of months and weekdays, and `@daily` and the like. As in
//! every cron, a day matches if either its day field or its weekday field does, unless one is `*`.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use foreword::{CALENDAR_CYCLE, Date};

const MAX_BYTES: usize = 256;
/// The years 0000 to 9999.
const SECONDS: RangeInclusive<i64> = -62_167_219_200..=253_402_300_799;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const ALIASES: [(&str, &str); 7] = [
    ("@hourly", "0 * * * *"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@weekly", "0 0 * * 0"),
    ("@monthly", "0 0 1 * *"),
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
];

/// A recurring time in UTC, to the minute.
///
/// ```
/// use foreword_host::Cron;
///
/// let weekdays = Cron::parse("30 9 * * MON-FRI")?;
/// let friday = foreword::Timestamp::parse("2026-02-27T09:30:00Z").map(|t| t.unix()).unwrap_or(0);
/// let next = weekdays.next_after(friday).map(foreword::Timestamp::from_unix);
/// assert_eq!(next.map(|t| t.to_string()).as_deref(), Some("2026-03-02 09:30 UTC"));
/// # Ok::<(), foreword_host::CronError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Cron {
    text: String,
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// Whether a day must match both fields, because one of them is `*`.
    both: bool,
}

/// Why a text is not a cron expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CronError {
    #[error(
        "a schedule has five fields (minute hour day month weekday), this one has {0}; write for example `30 9 * * MON-FRI` or `@daily`"
    )]
    Fields(usize),
    #[error(
        "unknown schedule `{0}`; use @hourly, @daily, @midnight, @weekly, @monthly, @yearly or @annually"
    )]
    Alias(String),
    #[error("invalid {field} `{part}`: {rule}")]
    Field { field: &'static str, part: String, rule: String },
    #[error("`{0}` never runs: the calendar has no such day")]
    Never(String),
    #[error("a schedule has at most {MAX_BYTES} bytes")]
    TooLong,
}

struct Field {
    name: &'static str,
    values: RangeInclusive<u32>,
    names: &'static [&'static str],
    /// The number of the first name.
    first: u32,
}

const FIELDS: [Field; 5] = [
    Field { name: "minute", values: 0..=59, names: &[], first: 0 },
    Field { name: "hour", values: 0..=23, names: &[], first: 0 },
    Field { name: "day", values: 1..=31, names: &[], first: 0 },
    Field { name: "month", values: 1..=12, names: &MONTHS, first: 1 },
    Field { name: "weekday", values: 0..=7, names: &WEEKDAYS, first: 0 },
];

impl Cron {
    /// Parses five fields, or `@daily` and the like.
    pub fn parse(text: &str) -> Result<Self, CronError> {
        let text = text.trim();
        if text.len() > MAX_BYTES {
            return Err(CronError::TooLong);
        }
        let mut fields_text = text;
        if text.starts_with('@') {
            let lower = text.to_ascii_lowercase();
            let alias = ALIASES.iter().find(|(alias, _)| *alias == lower);
            fields_text = alias.ok_or_else(|| CronError::Alias(text.to_owned()))?.1;
        }
        let parts: Vec<&str> = fields_text.split_whitespace().collect();
        let [minute, hour, day, month, weekday] = parts.as_slice() else {
            return Err(CronError::Fields(parts.len()));
        };
        let [minutes, hours, days, months, weekdays] = &FIELDS;
        let seventh = weekdays.read(weekday)?;
        let cron = Self {
            text: text.to_owned(),
            minutes: minutes.read(minute)?,
            hours: hours.read(hour)?,
            days: days.read(day)?,
            months: months.read(month)?,
            // Sunday is 0 and 7.
            weekdays: (seventh | seventh >> 7) & 0x7F,
            both: day.starts_with('*') || weekday.starts_with('*'),
        };
        if cron.next_after(0).is_none() {
            return Err(CronError::Never(text.to_owned()));
        }
        Ok(cron)
    }

    /// The schedule as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The first matching minute after `unix_seconds`; `None` if there is none before the year 10000.
    #[must_use]
    pub fn next_after(&self, unix_seconds: i64) -> Option<i64> {
        if !SECONDS.contains(&unix_seconds) {
            return None;
        }
        let minute = unix_seconds.div_euclid(60) + 1;
        let today = minute.div_euclid(1440);
        if self.is_on(today)
            && let Some(found) = self.in_day(minute.rem_euclid(1440))
        {
            return within(today, found);
        }
        let first = self.in_day(0)?;
        let mut day = today + 1;
        // The calendar repeats with its weekdays: a time that has not come by then never comes.
        while day <= today + CALENDAR_CYCLE + 1 {
            let date = Date::from_days(day);
            if !has(self.months, date.month) {
                day += date.month_length() - date.day + 1;
                continue;
            }
            if self.is_on(day) {
                return within(day, first);
            }
            day += 1;
        }
        None
    }

    /// Whether the minute of these seconds matches.
    #[must_use]
    pub fn matches(&self, unix_seconds: i64) -> bool {
        let minute = unix_seconds.div_euclid(60);
        let in_day = minute.rem_euclid(1440);
        SECONDS.contains(&unix_seconds)
            && self.is_on(minute.div_euclid(1440))
            && has(self.hours, in_day / 60)
            && has(self.minutes, in_day % 60)
    }

    /// The first matching minute of a day, from `from` on.
    fn in_day(&self, from: i64) -> Option<i64> {
        let matches = |minute: &i64| has(self.hours, minute / 60) && has(self.minutes, minute % 60);
        (from..1440).find(matches)
    }

    fn is_on(&self, day: i64) -> bool {
        let date = Date::from_days(day);
        let (by_day, by_weekday) =
            (has(self.days, date.day), has(self.weekdays, (day + 4).rem_euclid(7)));
        let fits = if self.both { by_day && by_weekday } else { by_day || by_weekday };
        fits && has(self.months, date.month)
    }
}

fn has(set: u64, value: i64) -> bool {
    u32::try_from(value)
        .ok()
        .and_then(|value| set.checked_shr(value))
        .is_some_and(|set| set & 1 == 1)
}

fn within(day: i64, minute: i64) -> Option<i64> {
    Some((day * 1440 + minute) * 60).filter(|seconds| SECONDS.contains(seconds))
}

impl fmt::Display for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Cron {
    type Err = CronError;

    fn from_str(text: &str) -> Result<Self, CronError> {
        Self::parse(text)
    }
}

impl Field {
    /// The values of a field, one bit each.
    fn read(&self, text: &str) -> Result<u64, CronError> {
        text.split(',').try_fold(0, |all, part| Ok(all | self.part(part)?))
    }

    fn part(&self, part: &str) -> Result<u64, CronError> {
        let wrong =
            |rule: String| CronError::Field { field: self.name, part: part.to_owned(), rule };
        let (range, step) = match part.split_once('/') {
            None => (part, None),
            Some((range, step)) => {
                let number = number(step).filter(|step| *step > 0);
                let rule = "a step is a number above 0, as in `*/15`";
                (range, Some(number.ok_or_else(|| wrong(rule.to_owned()))?))
            }
        };
        let value = |text: &str| self.value(text).ok_or_else(|| wrong(self.rule()));
        let (from, to) = match (range, range.split_once('-')) {
            ("*", _) => (*self.values.start(), *self.values.end()),
            (_, Some((from, to))) => (value(from)?, value(to)?),
            // `5/10` continues to the end of the range, `5` does not.
            (_, None) => {
                let from = value(range)?;
                (from, if step.is_some() { *self.values.end() } else { from })
            }
        };
        if from > to {
            return Err(wrong("a range goes from the smaller to the larger value".to_owned()));
        }
        let step = usize::try_from(step.unwrap_or(1)).unwrap_or(usize::MAX);
        Ok((from..=to).step_by(step).fold(0, |all, value| all | 1 << value))
    }

    fn value(&self, text: &str) -> Option<u32> {
        let named =
            (self.first..).zip(self.names).find(|(_, name)| text.eq_ignore_ascii_case(name));
        let value = named.map(|(value, _)| value).or_else(|| number(text))?;
        self.values.contains(&value).then_some(value)
    }

    fn rule(&self) -> String {
        let (from, to) = (self.values.start(), self.values.end());
        let names = match self.names {
            [first, .., last] => {
                format!(
                    ", names from {} to {}",
                    first.to_ascii_uppercase(),
                    last.to_ascii_uppercase()
                )
            }
            _ => String::new(),
        };
        format!(
            "use `*`, numbers from {from} to {to}{names}, lists (`1,5`), ranges (`1-5`) or steps (`*/2`)"
        )
    }
}

/// Digits only: no sign, no space.
fn number(text: &str) -> Option<u32> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

#[cfg(test)]
#[allow(clippy::string_slice, reason = "texts of tests are ASCII")]
mod tests {
    use super::*;
    use foreword::Timestamp;
    use proptest::prelude::*;

    fn next(cron: &str, after: &str) -> Option<String> {
        let after = Timestamp::parse(after).unwrap().unix();
        Cron::parse(cron)
            .unwrap()
            .next_after(after)
            .map(|next| Timestamp::from_unix(next).to_string())
    }

    #[test]
    fn the_next_time_in_utc() {
        for (cron, after, expected) in [
            ("* * * * *", "2026-02-26T14:30:00Z", "2026-02-26 14:31 UTC"),
            ("* * * * *", "2026-02-26T14:30:59Z", "2026-02-26 14:31 UTC"),
            ("*/15 * * * *", "2026-02-26T14:45:00Z", "2026-02-26 15:00 UTC"),
            ("5/20 9-11/2 * * *", "2026-02-26T09:46:00Z", "2026-02-26 11:05 UTC"),
            ("0 9 * * mon-fri", "2026-02-27T09:00:00Z", "2026-03-02 09:00 UTC"),
            ("0 0 29 2 *", "2026-02-26T14:30:00Z", "2028-02-29 00:00 UTC"),
            ("0 0 29 FEB *", "2096-03-01T00:00:00Z", "2104-02-29 00:00 UTC"),
            ("0 0 31 * *", "2026-04-01T00:00:00Z", "2026-05-31 00:00 UTC"),
            ("0 0 13 * 5", "2026-02-26T14:30:00Z", "2026-02-27 00:00 UTC"),
            ("0 0 13 * 5", "2026-03-06T14:30:00Z", "2026-03-13 00:00 UTC"),
            ("0 0 1 * 5", "2026-02-27T14:30:00Z", "2026-03-01 00:00 UTC"),
            ("0 0 */2 * MON", "2026-02-26T14:30:00Z", "2026-03-09 00:00 UTC"),
            ("59 23 31 12 *", "2026-12-31T23:59:00Z", "2027-12-31 23:59 UTC"),
            ("0 12 * * 7", "2026-02-26T14:30:00Z", "2026-03-01 12:00 UTC"),
            ("0 12 * * 5-7", "2026-02-28T13:00:00Z", "2026-03-01 12:00 UTC"),
            ("1,2,50 0 * Jan,dec *", "2026-02-26T14:30:00Z", "2026-12-01 00:01 UTC"),
            ("@hourly", "2026-02-26T14:30:00Z", "2026-02-26 15:00 UTC"),
            ("@daily", "2026-02-26T14:30:00Z", "2026-02-27 00:00 UTC"),
            ("@weekly", "2026-02-26T14:30:00Z", "2026-03-01 00:00 UTC"),
            ("@Monthly", "2026-02-26T14:30:00Z", "2026-03-01 00:00 UTC"),
            ("@yearly", "2026-02-26T14:30:00Z", "2027-01-01 00:00 UTC"),
            ("0 0 1 1 *", "1969-06-01T00:00:00Z", "1970-01-01 00:00 UTC"),
        ] {
            assert_eq!(next(cron, after).as_deref(), Some(expected), "{cron} after {after}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (cron, said) in [
            ("", "five fields (minute hour day month weekday), this one has 0"),
            ("* * * *", "this one has 4"),
            ("* * * * * *", "this one has 6"),
            ("60 * * * *", "invalid minute `60`: use `*`, numbers from 0 to 59"),
            ("* 24 * * *", "invalid hour `24`"),
            ("* * 0 * *", "invalid day `0`"),
            (
                "* * * 13 *",
                "invalid month `13`: use `*`, numbers from 1 to 12, names from JAN to DEC",
            ),
            ("* * * * 8", "invalid weekday `8`"),
            ("* * * * MONDAY", "invalid weekday `MONDAY`"),
            ("JAN * * * *", "invalid minute `JAN`"),
            ("*/0 * * * *", "invalid minute `*/0`: a step is a number above 0"),
            ("*/x * * * *", "a step is a number"),
            (
                "5-1 * * * *",
                "invalid minute `5-1`: a range goes from the smaller to the larger value",
            ),
            ("1,,2 * * * *", "invalid minute ``"),
            ("-1 * * * *", "invalid minute `-1`"),
            ("+1 * * * *", "invalid minute `+1`"),
            ("1-2-3 * * * *", "invalid minute `1-2-3`"),
            ("? * * * *", "invalid minute `?`"),
            ("99999999999999999999 * * * *", "invalid minute"),
            ("0 0 31 2 *", "`0 0 31 2 *` never runs"),
            ("0 0 31 4,6,9,11 *", "never runs"),
            ("@reboot", "unknown schedule `@reboot`"),
        ] {
            let error = Cron::parse(cron).unwrap_err().to_string();
            assert!(error.contains(said), "{cron}: {error}");
        }
        assert_eq!(Cron::parse(&"1,".repeat(200)), Err(CronError::TooLong));
        assert!(Cron::parse("*/4294967295 * * * *").is_ok());
    }

    #[test]
    fn time_has_two_ends() {
        let cron = Cron::parse("* * * * *").unwrap();
        for seconds in [i64::MIN, i64::MAX, 253_402_300_799, -62_167_219_201] {
            assert_eq!(cron.next_after(seconds), None);
        }
        assert!(cron.next_after(-62_167_219_200).is_some());
        // The rarest there is: a leap day on a Sunday, which waits up to forty years.
        let rare = Cron::parse("0 0 29 2 */7").unwrap();
        let mut at = 0;
        let mut times = 0;
        while let Some(next) = rare.next_after(at) {
            at = next;
            times += 1;
        }
        assert_eq!(times, (8_030 * 13usize).div_ceil(400), "thirteen in four hundred years");
    }

    fn field(values: RangeInclusive<u32>) -> impl Strategy<Value = String> {
        let (from, to) = (*values.start(), *values.end());
        let part = prop_oneof![
            3 => Just("*".to_owned()),
            2 => values.clone().prop_map(|value| value.to_string()),
            1 => (1..12u32).prop_map(|step| format!("*/{step}")),
            1 => (values, 1..9u32).prop_map(|(value, step)| format!("{value}/{step}")),
            1 => (from..=to, from..=to).prop_map(|(a, b)| format!("{}-{}", a.min(b), a.max(b))),
            1 => (from..=to, from..=to, 1..5u32)
                .prop_map(|(a, b, step)| format!("{}-{}/{step}", a.min(b), a.max(b))),
        ];
        prop_oneof![
            3 => part.clone(),
            1 => prop::collection::vec(part, 1..4).prop_map(|parts| parts.join(",")),
        ]
    }

    /// The fields as numbers, read in the simplest way there is.
    fn named(field: &str, from: u32, to: u32, value: u32) -> bool {
        field.split(',').any(|part| {
            let (range, step) = part.split_once('/').map_or((part, None), |(r, s)| (r, Some(s)));
            let (first, last) = match range.split_once('-') {
                Some((first, last)) => (first.parse().unwrap(), last.parse().unwrap()),
                None if range == "*" => (from, to),
                None => {
                    let first: u32 = range.parse().unwrap();
                    (first, if step.is_some() { to } else { first })
                }
            };
            let step: u32 = step.map_or(1, |step| step.parse().unwrap());
            (first..=last).contains(&value) && (value - first).is_multiple_of(step)
        })
    }

    fn is_named(cron: &str, seconds: i64) -> bool {
        let text = Timestamp::from_unix(seconds).as_str().to_owned();
        let at = |range: std::ops::Range<usize>| text[range].parse::<u32>().unwrap();
        let weekday = u32::try_from((seconds.div_euclid(86_400) + 4).rem_euclid(7)).unwrap();
        let fields: Vec<&str> = cron.split(' ').collect();
        let by_day = named(fields[2], 1, 31, at(8..10));
        let by_weekday =
            named(fields[4], 0, 7, weekday) || (weekday == 0 && named(fields[4], 0, 7, 7));
        let free = fields[2].starts_with('*') || fields[4].starts_with('*');
        named(fields[0], 0, 59, at(14..16))
            && named(fields[1], 0, 23, at(11..13))
            && named(fields[3], 1, 12, at(5..7))
            && if free { by_day && by_weekday } else { by_day || by_weekday }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(96) })]

        #[test]
        fn next_comes_after_fits_and_is_the_first(
            minute in field(0..=59),
            hour in field(0..=23),
            day in field(1..=31),
            month in field(1..=12),
            weekday in field(0..=7),
            after in -3_000_000_000i64..6_000_000_000,
        ) {
            let text = format!("{minute} {hour} {day} {month} {weekday}");
            let Ok(cron) = Cron::parse(&text) else {
                prop_assert!(Cron::parse(&text).unwrap_err().to_string().contains("never"));
                return Ok(());
            };
            let next = cron.next_after(after).unwrap();
            prop_assert!(next > after && next % 60 == 0);
            prop_assert!(is_named(&text, next), "{} gave {}", text, Timestamp::from_unix(next));
            prop_assert!(cron.matches(next) && cron.matches(next + 59));
            // Nothing between fits: the first days and the last ones before it, minute by minute.
            let start = after - after.rem_euclid(60) + 60;
            let near = (start..next).step_by(60).take(3 * 1440);
            let last = (start.max(next - 3 * 86_400)..next).step_by(60);
            for earlier in near.chain(last) {
                prop_assert!(!is_named(&text, earlier), "{} fits {} too", text, Timestamp::from_unix(earlier));
                prop_assert!(!cron.matches(earlier));
            }
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[*0-9a-zA-Z/,@ -]{0,40}", other in any::<String>()) {
            for text in [text, other] {
                match Cron::parse(&text) {
                    Ok(cron) => prop_assert!(cron.next_after(0).is_some()),
                    Err(error) => prop_assert!(!error.to_string().is_empty()),
                }
            }
        }
    }
}
