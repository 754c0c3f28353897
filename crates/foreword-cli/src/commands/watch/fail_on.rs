//! `--fail-on`: what turns a report into a failed check.

use std::str::FromStr;

use foreword_watch::{DangerKind, Report, Severity};

use crate::error::CliError;
use crate::terminal::counted;

/// A condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FailOn {
    CacheBreak,
    Secret,
    Injection,
    /// A request with more tokens.
    Tokens(u64),
}

impl FromStr for FailOn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim().split_once(':') {
            None => match text.trim() {
                "cache-break" => Ok(Self::CacheBreak),
                "secret" => Ok(Self::Secret),
                "injection" => Ok(Self::Injection),
                "tokens" => Err("pass the limit as well, such as tokens:50000".to_owned()),
                _ => Err("use cache-break, secret, injection or tokens:N".to_owned()),
            },
            Some(("tokens", limit)) => {
                let limit = limit.replace(['_', ','], "");
                limit
                    .parse()
                    .map(Self::Tokens)
                    .map_err(|_| format!("`{limit}` is not a number of tokens"))
            }
            Some(_) => Err("use cache-break, secret, injection or tokens:N".to_owned()),
        }
    }
}

/// Fails if one of the conditions is met, naming all that are.
pub(super) fn check(conditions: &[FailOn], report: &Report) -> Result<(), CliError> {
    let met: Vec<String> =
        conditions.iter().filter_map(|condition| condition.met(report)).collect();
    if met.is_empty() {
        return Ok(());
    }
    let hint = match &report.capture {
        Some(capture) => format!("read the report: `foreword watch report {}`", capture.id),
        None => "read the report above".to_owned(),
    };
    Err(CliError::failed(met.join("; ")).hint(hint))
}

impl FailOn {
    /// What was found, if the condition is met.
    fn met(self, report: &Report) -> Option<String> {
        let dangers = |kind: DangerKind, least: Severity| {
            let found = report.dangers.iter();
            found.filter(|danger| danger.kind == kind && danger.severity >= least).count() as u64
        };
        match self {
            Self::CacheBreak => {
                let count = report.totals.cache_breaks as u64;
                (count > 0).then(|| format!("{} broke the cache", counted(count, "call")))
            }
            Self::Secret => {
                let count = dangers(DangerKind::Secret, Severity::Note);
                (count > 0).then(|| format!("{} sent to the provider", counted(count, "secret")))
            }
            Self::Injection => {
                // What is only flagged is in the report; about one harmless text in a hundred is.
                let count = dangers(DangerKind::Injection, Severity::Error);
                (count > 0).then(|| format!("{} found", counted(count, "prompt injection")))
            }
            Self::Tokens(limit) => {
                let most = report.totals.max_tokens;
                (most > limit).then(|| format!("a request has {most} tokens, more than {limit}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read() {
        assert_eq!("cache-break".parse(), Ok(FailOn::CacheBreak));
        assert_eq!("tokens:50_000".parse(), Ok(FailOn::Tokens(50_000)));
        for wrong in ["", "tokens", "tokens:", "tokens:x", "tokens:-1", "secrets", "secret:1"] {
            assert!(wrong.parse::<FailOn>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_met_is_named() {
        let mut report = Report::default();
        report.totals.max_tokens = 100;
        report.totals.cache_breaks = 2;
        let all = [FailOn::CacheBreak, FailOn::Secret, FailOn::Injection, FailOn::Tokens(99)];
        let error = check(&all, &report).unwrap_err();
        assert_eq!(
            error.message,
            "2 calls broke the cache; a request has 100 tokens, more than 99"
        );
        assert!(check(&[FailOn::Tokens(100), FailOn::Secret], &report).is_ok());
    }
}
