//! Lost cache prefixes, one finding for each cause.

use std::collections::BTreeMap;

use foreword_page::{Excerpt, Finding, Level, Page, grouped};

use super::{MAX_ROWS, money, more, writer};
use crate::report::{CacheBreak, Report};

pub(super) fn cache(report: &Report, page: &mut Page) {
    page.heading("Cache");
    let breaks = breaks(report);
    if breaks.is_empty() {
        page.paragraph("No call lost a prefix that an earlier call had sent.");
    }
    for broken in breaks.iter().take(MAX_ROWS) {
        page.finding(&broken.finding());
    }
    more(breaks.len(), page);
}

/// Lost prefixes with the same cause in the same place, which one change would repair.
struct Breaks<'r> {
    /// The first call that lost it, and the one it is compared with.
    first: (usize, usize),
    lost: &'r CacheBreak,
    provider_read: Option<u64>,
    calls: Vec<usize>,
    lost_tokens: u64,
    lost_usd: Option<f64>,
}

fn breaks(report: &Report) -> Vec<Breaks<'_>> {
    let mut places = BTreeMap::new();
    let mut out: Vec<Breaks<'_>> = Vec::new();
    for call in &report.calls {
        let Some(cache) = &call.cache else { continue };
        let Some(lost) = &cache.broken else { continue };
        let key = (call.conversation, lost.cause, &lost.place, lost.line, &lost.origin);
        let at = *places.entry(key).or_insert(out.len());
        match out.get_mut(at) {
            Some(known) => {
                known.calls.push(call.number);
                known.lost_tokens = known.lost_tokens.saturating_add(lost.lost_tokens);
                known.lost_usd = known.lost_usd.zip(lost.lost_usd).map(|(sum, usd)| sum + usd);
            }
            None => out.push(Breaks {
                first: (call.number, cache.previous),
                lost,
                provider_read: cache.provider_read_tokens,
                calls: vec![call.number],
                lost_tokens: lost.lost_tokens,
                lost_usd: lost.lost_usd,
            }),
        }
    }
    out
}

impl Breaks<'_> {
    fn finding(&self) -> Finding {
        let Self { first: (call, previous), lost, .. } = self;
        let cost = self.lost_usd.map_or(String::new(), |usd| format!(", {} extra", money(usd)));
        let section = lost.section.as_ref().map_or(String::new(), |s| format!(", section “{s}”"));
        let mut reasons = vec![
            format!(
                "First differing byte {} in {}, line {}{section}",
                grouped(lost.byte as u64),
                lost.place,
                lost.line
            ),
            format!("Written by: {}", writer(&lost.origin)),
        ];
        if let Some(read) = self.provider_read {
            let read = grouped(read);
            reasons.push(format!("The provider read {read} tokens from its cache in call {call}"));
        }
        reasons.push(format!("To fix it: {}", lost.advice));
        Finding {
            level: Level::Warning,
            label: lost.cause.name().to_owned(),
            title: format!("{} tokens read again{cost}", grouped(self.lost_tokens)),
            place: self.place(),
            reasons,
            excerpts: vec![side(*previous, &lost.before), side(*call, &lost.after)],
        }
    }

    /// `call 2`, `calls 2, 3 and 4` or `60 calls from call 2 on`.
    fn place(&self) -> String {
        const MAX_NAMED: usize = 6;
        let all: Vec<String> = self.calls.iter().map(usize::to_string).collect();
        match all.as_slice() {
            [only] => format!("call {only}"),
            [first @ .., last] if all.len() <= MAX_NAMED => {
                format!("calls {} and {last}", first.join(", "))
            }
            _ => format!("{} calls from call {} on", all.len(), self.first.0),
        }
    }
}

/// One side of a difference: the report puts brackets around the text from the first differing byte on.
fn side(call: usize, text: &str) -> Excerpt {
    let (same, other) = text.split_once('⟦').unwrap_or(("", text));
    let other = other.strip_suffix('⟧').unwrap_or(other);
    // The line that differs says enough.
    let line = other.lines().next().unwrap_or_default();
    Excerpt {
        caption: format!("Call {call}"),
        before: same.to_owned(),
        marked: line.to_owned(),
        ..Excerpt::default()
    }
}
