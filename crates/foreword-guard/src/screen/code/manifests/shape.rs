//! What a manifest is, told by what stands in it and not by its name.

use super::Pieces;

/// Lines that are looked at.
const MAX_LINES: usize = 400;

/// A kind of manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Json,
    Yaml,
    Image,
    Unit,
    Jobs,
    Makefile,
}

impl Shape {
    /// By the words that only this kind begins its lines with.
    pub(super) fn of(text: &str) -> Option<Self> {
        let text = text.trim_start_matches('\u{feff}');
        if text.trim_start().starts_with('{') {
            return Some(Self::Json);
        }
        let lines = || text.lines().take(MAX_LINES);
        let begins = |start: &str| lines().any(|line| line.starts_with(start));
        let all = |starts: &[&str]| starts.iter().all(|start| begins(start));
        let is_recipe = |line: &str| line.starts_with('\t') && line.trim().len() > 1;
        let is_rule = |line: &str| {
            !line.starts_with([' ', '\t', '#'])
                && line.split_once(':').is_some_and(|(target, _)| {
                    !target.is_empty() && !target.contains([' ', '"', '='])
                })
        };
        Some(match () {
            () if all(&["on:", "jobs:"])
                || begins("services:")
                || all(&["apiVersion:", "kind:"]) =>
            {
                Self::Yaml
            }
            () if begins("FROM ")
                && (begins("RUN ") || begins("CMD ") || begins("ENTRYPOINT ")) =>
            {
                Self::Image
            }
            () if begins("[Service]") || begins("[Desktop Entry]") => Self::Unit,
            () if lines().any(|line| job(line).is_some()) => Self::Jobs,
            () if lines().any(is_rule) && lines().any(is_recipe) => Self::Makefile,
            () => return None,
        })
    }
}

/// The commands of a table of jobs.
pub(super) fn jobs(text: &str, found: &mut Pieces) {
    for (line, raw) in (1..).zip(text.lines()) {
        if let Some(command) = job(raw) {
            found.shell(line, command);
        }
    }
}

/// What a line of a table of jobs starts: `*/5 * * * * command`, `@daily command`.
fn job(line: &str) -> Option<&str> {
    if let Some((when, command)) = line.strip_prefix('@').and_then(|l| l.split_once(' ')) {
        let known = ["reboot", "hourly", "daily", "weekly", "monthly", "yearly"];
        return known.contains(&when).then_some(command);
    }
    let mut rest = line;
    for _ in 0..5 {
        let (field, after) = rest.split_once([' ', '\t'])?;
        let is_time = |c: char| c.is_ascii_digit() || matches!(c, '*' | '/' | ',' | '-');
        if field.is_empty() || !field.chars().all(is_time) {
            return None;
        }
        rest = after.trim_start();
    }
    (line.contains('*')
        && rest.starts_with(|c: char| c.is_ascii_alphabetic() || "/~.(".contains(c)))
    .then_some(rest)
}
