//! Days of the Gregorian calendar, counted from 1970-01-01.

/// Days after which the calendar repeats: 400 years.
pub const CALENDAR_CYCLE: i64 = 146_097;
/// From 0000-03-01 to 1970-01-01. Years that begin in March have their leap day at the end.
const MARCH_0000: i64 = 719_468;

/// A day by its year, month and day of the month.
///
/// ```
/// use foreword::Date;
///
/// let leap = Date::new(2024, 2, 29).unwrap();
/// assert_eq!(Date::from_days(leap.days() + 1), Date::new(2024, 3, 1).unwrap());
/// assert_eq!(Date::new(2023, 2, 29), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    /// The year; 0 is 1 BC.
    pub year: i64,
    /// The month, from 1.
    pub month: i64,
    /// The day of the month, from 1.
    pub day: i64,
}

impl Date {
    /// A date, if there is such a day.
    pub fn new(year: i64, month: i64, day: i64) -> Option<Self> {
        let date = Self { year, month, day };
        ((1..=12).contains(&month) && (1..=date.month_length()).contains(&day)).then_some(date)
    }

    /// The date of a day.
    pub fn from_days(days: i64) -> Self {
        let shifted = days + MARCH_0000;
        let era = shifted.div_euclid(CALENDAR_CYCLE);
        let day_of_era = shifted.rem_euclid(CALENDAR_CYCLE);
        let year_of_era =
            (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * from_march + 2) / 5 + 1;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        Self { year: year_of_era + era * 400 + i64::from(month <= 2), month, day }
    }

    /// The day. One past the end of its month is a day of the next.
    pub fn days(self) -> i64 {
        let year = self.year - i64::from(self.month <= 2);
        let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let day_of_year = (153 * ((self.month + 9) % 12) + 2) / 5 + self.day - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        era * CALENDAR_CYCLE + day_of_era - MARCH_0000
    }

    /// How many days its month has.
    pub fn month_length(self) -> i64 {
        let Self { year, month, .. } = self;
        match month {
            2 => 28 + i64::from(year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_days_that_exist_are_dates() {
        assert_eq!(Date::new(1970, 1, 1).map(Date::days), Some(0));
        assert_eq!(Date::new(2026, 2, 26).map(Date::days), Some(20_510));
        assert!(Date::new(2000, 2, 29).is_some() && Date::new(2024, 2, 29).is_some());
        for (year, month, day) in
            [(1900, 2, 29), (2026, 2, 29), (2026, 4, 31), (2026, 13, 1), (2026, 1, 0)]
        {
            assert_eq!(Date::new(year, month, day), None, "{year}-{month}-{day}");
        }
    }

    proptest! {
        #[test]
        fn a_day_is_its_date(days in -800_000_i64..800_000) {
            let date = Date::from_days(days);
            prop_assert_eq!(date.days(), days);
            prop_assert_eq!(Date::new(date.year, date.month, date.day), Some(date));
        }
    }
}
