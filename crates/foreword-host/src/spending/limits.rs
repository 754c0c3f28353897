//! What the limits are, and what a person is told when one is reached.

use foreword_store::Spent;
use foreword_workspace::{Config, PeriodLimits, Settings, SpendingLimit};
use serde::Serialize;
use thiserror::Error;

use crate::spending::prices::{as_f64, as_u64};

const MINUTE_MILLIS: f64 = 60_000.0;
const DOLLAR_MICROS: f64 = 1_000_000.0;

/// What a limit is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Period {
    /// One message of the person, with all agents it starts.
    Turn,
    Session,
    /// A calendar day in UTC, in this workspace.
    Day,
}

/// What is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    Tokens,
    Cost,
    Minutes,
}

/// Tokens, US dollars and minutes per turn, session and day where no settings say otherwise.
pub const DEFAULT_LIMITS: [(Period, [f64; 3]); 3] = [
    (Period::Turn, [5_000_000.0, 5.0, 60.0]),
    (Period::Session, [50_000_000.0, 25.0, 480.0]),
    (Period::Day, [100_000_000.0, 50.0, 960.0]),
];

/// A limit in the unit that spending is counted in: tokens, millionths of a dollar, milliseconds.
#[derive(Clone, Copy, Debug)]
struct Limit {
    period: Period,
    measure: Measure,
    amount: u64,
    /// The file in which it can be raised.
    file: &'static str,
}

/// All limits that apply to the agents of one message.
#[derive(Clone, Debug)]
pub struct Limits(Vec<Limit>);

impl Limits {
    /// The person's limits, or the defaults. A workspace can only lower them.
    #[must_use]
    pub fn of(settings: &Settings, config: &Config) -> Self {
        let (own, lower) = (&settings.limits, &config.limits);
        Self::new([own.turn, own.session, own.day], [lower.turn, lower.session, lower.day])
    }

    /// Those for turn, session and day.
    fn new(personal: [PeriodLimits; 3], workspace: [PeriodLimits; 3]) -> Self {
        let mut limits = Vec::new();
        for ((period, defaults), (own, lower)) in
            DEFAULT_LIMITS.into_iter().zip(personal.into_iter().zip(workspace))
        {
            let measures = [
                (Measure::Tokens, own.tokens, lower.tokens, 1.0),
                (Measure::Cost, own.cost, lower.cost, DOLLAR_MICROS),
                (Measure::Minutes, own.minutes, lower.minutes, MINUTE_MILLIS),
            ];
            for ((measure, own, lower, unit), default) in measures.into_iter().zip(defaults) {
                let own = own.map_or(default, SpendingLimit::amount);
                let (amount, file) = match lower.map(SpendingLimit::amount) {
                    Some(lower) if lower < own => (lower, "foreword.toml"),
                    _ => (own, "settings.toml"),
                };
                if amount.is_finite() {
                    let amount = as_u64((amount * unit).max(1.0));
                    limits.push(Limit { period, measure, amount, file });
                }
            }
        }
        Self(limits)
    }

    /// The amount of a limit; `None` where there is none.
    #[must_use]
    pub fn amount(&self, period: Period, measure: Measure) -> Option<u64> {
        let limit = self.0.iter().find(|limit| (limit.period, limit.measure) == (period, measure));
        limit.map(|limit| limit.amount)
    }

    /// Checks that what is needed next fits beside what was spent.
    pub(crate) fn check(
        &self,
        period: Period,
        spent: Spent,
        needed: Spent,
    ) -> Result<(), LimitReached> {
        for limit in self.0.iter().filter(|limit| limit.period == period) {
            let of = |spent: Spent| match limit.measure {
                Measure::Tokens => spent.tokens,
                Measure::Cost => spent.cost,
                Measure::Minutes => spent.millis,
            };
            let (used, needed) = (of(spent), of(needed));
            if used >= limit.amount || used.saturating_add(needed) > limit.amount {
                let Limit { period, measure, amount, file } = *limit;
                return Err(LimitReached { period, measure, limit: amount, used, needed, file });
            }
        }
        Ok(())
    }
}

/// A limit that is reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Error)]
#[error("{}", self.text())]
pub struct LimitReached {
    pub period: Period,
    pub measure: Measure,
    /// In tokens, millionths of a US dollar or milliseconds, as the two amounts that follow.
    pub limit: u64,
    pub used: u64,
    /// What the next model call may need at most.
    pub needed: u64,
    #[serde(skip)]
    file: &'static str,
}

impl LimitReached {
    fn text(&self) -> String {
        let shown = |amount| self.measure.shown(amount);
        let (limit, used) = (shown(self.limit), shown(self.used));
        let period = self.period.word();
        let state = if self.used < self.limit { "would be exceeded" } else { "is reached" };
        let mut text = format!("the limit of {limit} per {period} {state}: {used} used");
        if self.needed > 0 {
            let needed = shown(self.needed);
            text.push_str(&format!(", and the next model call may need {needed}"));
        }
        text
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        let (key, table) = (self.measure.key(), self.period.word());
        let raise = format!("raise `{key}` under [limits.{table}] in {}", self.file);
        match self.period {
            Period::Turn => format!("{raise}; the next message starts a new turn"),
            Period::Session => format!("{raise}, or start a new session"),
            Period::Day => format!("{raise}, or continue after 00:00 UTC"),
        }
    }
}

impl Period {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Session => "session",
            Self::Day => "day",
        }
    }
}

impl Measure {
    fn key(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Cost => "cost",
            Self::Minutes => "minutes",
        }
    }

    fn shown(self, amount: u64) -> String {
        match self {
            Self::Tokens => format!("{} tokens", grouped(amount)),
            Self::Cost => dollars(amount),
            Self::Minutes => format!("{:.1} minutes", as_f64(amount) / MINUTE_MILLIS),
        }
    }
}

/// An amount of millionths of a US dollar: `$1.25`, and more digits below a dollar.
#[must_use]
pub fn dollars(micros: u64) -> String {
    let amount = as_f64(micros) / DOLLAR_MICROS;
    if micros == 0 || micros >= 1_000_000 {
        format!("${amount:.2}")
    } else {
        format!("${amount:.4}")
    }
}

/// A cost in US dollars; `None` if a part of it is unknown.
#[must_use]
pub fn usd(spent: Spent) -> Option<f64> {
    (spent.unpriced_tokens == 0).then(|| as_f64(spent.cost) / DOLLAR_MICROS)
}

/// A number with commas: `5,000,000`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(amount: f64) -> Option<SpendingLimit> {
        SpendingLimit::new(amount)
    }

    fn spent(tokens: u64, cost: u64, millis: u64) -> Spent {
        Spent { tokens, cost, millis, ..Spent::default() }
    }

    #[test]
    fn a_workspace_can_only_lower_limits() {
        let none = PeriodLimits::default();
        let own = PeriodLimits { tokens: limit(1000.0), cost: limit(f64::INFINITY), minutes: None };
        let theirs = PeriodLimits { tokens: limit(2000.0), cost: limit(2.0), minutes: limit(1.0) };
        let limits = Limits::new([own, own, none], [theirs, none, none]);
        let amount = |period, measure| limits.amount(period, measure);
        assert_eq!(amount(Period::Turn, Measure::Tokens), Some(1000));
        assert_eq!(amount(Period::Turn, Measure::Cost), Some(2_000_000));
        assert_eq!(amount(Period::Turn, Measure::Minutes), Some(60_000));
        assert_eq!(amount(Period::Session, Measure::Cost), None);
        assert_eq!(amount(Period::Day, Measure::Cost), Some(50_000_000));
        let error = limits.check(Period::Turn, spent(0, 2_000_000, 0), Spent::default());
        assert!(error.unwrap_err().hint().contains("foreword.toml"));
    }

    #[test]
    fn the_settings_file_has_the_defaults() {
        for (period, [tokens, cost, minutes]) in DEFAULT_LIMITS {
            let table = format!(
                "\n[limits.{}]\n#tokens = {tokens}\n#cost = {cost}\n#minutes = {minutes}\n",
                period.word()
            );
            assert!(foreword_workspace::DEFAULT_SETTINGS_TEXT.contains(&table), "{table}");
        }
    }

    #[test]
    fn a_reached_limit_says_what_was_used_and_how_to_raise_it() {
        let none = [PeriodLimits::default(); 3];
        let limits = Limits::new(none, none);
        let reached = |period, spent, needed| limits.check(period, spent, needed).unwrap_err();
        assert!(limits.check(Period::Turn, spent(4_990_000, 0, 0), spent(10_000, 0, 0)).is_ok());
        let turn = reached(Period::Turn, spent(4_990_000, 0, 0), spent(10_001, 0, 0));
        assert_eq!(
            turn.to_string(),
            "the limit of 5,000,000 tokens per turn would be exceeded: 4,990,000 tokens used, and the next \
             model call may need 10,001 tokens"
        );
        assert_eq!(
            turn.hint(),
            "raise `tokens` under [limits.turn] in settings.toml; the next message starts a new turn"
        );
        let day = reached(Period::Day, spent(0, 50_130_000, 0), Spent::default());
        assert_eq!(day.to_string(), "the limit of $50.00 per day is reached: $50.13 used");
        let session = reached(Period::Session, spent(0, 0, 480 * 60_000), Spent::default());
        assert_eq!(
            session.to_string(),
            "the limit of 480.0 minutes per session is reached: 480.0 minutes used"
        );
        assert_eq!(dollars(1234), "$0.0012");
    }
}
