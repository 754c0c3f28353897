//! A report as text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use foreword::visible_line;
use foreword_watch::{
    CacheBreak, CallReport, Danger, Origin, Part, Region, Report, Severity, SourceShare, Waste,
    WasteKind,
};

use crate::terminal::{counted, paint, plain_line};

/// Lines of a list before the rest is counted.
const MAX_LINES: usize = 12;
const MAX_CALLS: usize = 60;
/// The width of a bar for the whole request.
const BAR: usize = 24;

pub(crate) fn text(report: &Report) -> String {
    let mut out = String::new();
    head(report, &mut out);
    if report.capture.is_some() {
        calls(report, &mut out);
    }
    composition(report, &mut out);
    sources(&report.sources, &mut out);
    cache(report, &mut out);
    waste(&report.waste, &mut out);
    dangers(&report.dangers, &mut out);
    if !report.notes.is_empty() {
        title("notes", &mut out);
        for note in report.notes.iter().take(MAX_LINES) {
            let _ = writeln!(out, "  {}", plain_line(note, 300));
        }
    }
    out
}

fn title(text: &str, out: &mut String) {
    let _ = writeln!(out, "\n{}", paint(text, "34"));
}

fn head(report: &Report, out: &mut String) {
    let totals = &report.totals;
    let Some(capture) = &report.capture else {
        let api = report.calls.first().map_or("request", |call| call.api.name());
        let model = report.calls.first().map_or("", |call| call.model.as_str());
        let model =
            if model.is_empty() { String::new() } else { format!(", {}", visible_line(model)) };
        let _ = writeln!(
            out,
            "{api}{model}: {} tokens ({})",
            thousands(totals.tokens),
            report.tokenizer
        );
        return;
    };
    let _ = write!(
        out,
        "capture {}: {}, {} tokens sent ({})",
        paint(&visible_line(&capture.id), "34"),
        counted(totals.calls as u64, "call"),
        thousands(totals.tokens),
        report.tokenizer
    );
    if let Some(cost) = totals.cost_usd {
        let _ = write!(out, ", {} (prices of {})", money(cost), visible_line(&report.prices_date));
    }
    if totals.failed > 0 {
        let _ = write!(out, ", {} failed", totals.failed);
    }
    out.push('\n');
    if !totals.unpriced_models.is_empty() {
        let models = totals.unpriced_models.join(", ");
        let _ =
            writeln!(out, "no price for {}; add one with --prices FILE", plain_line(&models, 200));
    }
}

fn calls(report: &Report, out: &mut String) {
    title("calls", out);
    let width =
        report.calls.iter().map(|call| call.model.chars().count()).max().unwrap_or(5).clamp(5, 32);
    let _ = writeln!(
        out,
        "  {:>4}  {:width$}  {:>6}  {:>8}  {:>9}  {:>9}  {:>9}  {:>7}  {:>9}",
        "#", "model", "status", "time", "tokens", "growth", "cached", "output", "cost"
    );
    for call in report.calls.iter().take(MAX_CALLS) {
        let usage = |number: fn(&foreword::Usage) -> u64| {
            call.usage.as_ref().map_or("-".to_owned(), |usage| thousands(number(usage)))
        };
        let status = if call.status == 0 { "-".to_owned() } else { call.status.to_string() };
        let _ = write!(
            out,
            "  {:>4}  {:width$}  {status:>6}  {:>8}  {:>9}  {:>9}  {:>9}  {:>7}  {:>9}",
            call.number,
            plain_line(&call.model, 32),
            seconds(call.total_ms),
            thousands(call.tokens.total),
            format!(
                "{}{}",
                if call.growth < 0 { "-" } else { "+" },
                thousands(call.growth.unsigned_abs())
            ),
            usage(|usage| usage.cache_read_tokens),
            usage(|usage| usage.output_tokens),
            call.cost_usd.map_or("-".to_owned(), money),
        );
        if let Some(broken) = call.cache.as_ref().and_then(|cache| cache.broken.as_ref()) {
            let _ =
                write!(out, "  {}", paint(&format!("cache lost: {}", broken.cause.name()), "33"));
        }
        if let Some(problem) = &call.problem {
            let _ = write!(out, "  {}", paint(&plain_line(problem, 100), "31"));
        }
        out.push('\n');
    }
    if let Some(more @ 1..) = report.calls.len().checked_sub(MAX_CALLS) {
        let _ = writeln!(out, "  {more} more; pass `--json` to list them");
    }
}

/// What the largest request is made of.
fn composition(report: &Report, out: &mut String) {
    let Some(call) = report.calls.iter().max_by_key(|call| (call.tokens.total, call.number)) else {
        return;
    };
    if call.tokens.total == 0 {
        return;
    }
    if report.capture.is_some() {
        title(&format!("contents of call {}", call.number), out);
    } else {
        title("contents", out);
    }
    for (region, tokens) in [
        (Region::Tools, call.tokens.tools),
        (Region::System, call.tokens.system),
        (Region::Messages, call.tokens.messages),
    ] {
        let parts: Vec<&Part> = call.parts.iter().filter(|part| part.region == region).collect();
        if parts.is_empty() {
            continue;
        }
        row(region.name(), 0, tokens, call, "", out);
        for (label, tokens, origin) in rows(region, &parts) {
            row(&label, 2, tokens, call, &origin, out);
        }
    }
}

fn row(label: &str, indent: usize, tokens: u64, call: &CallReport, origin: &str, out: &mut String) {
    let share = tokens.saturating_mul(1000) / call.tokens.total.max(1);
    let filled = usize::try_from(share).unwrap_or(1000) * BAR / 1000;
    let label = format!("{:indent$}{}", "", plain_line(label, 40 - indent));
    let bar: String = "█".repeat(filled) + &"·".repeat(BAR.saturating_sub(filled));
    let line = format!(
        "  {label:40}  {:>9}  {:>3}%  {bar}  {}",
        thousands(tokens),
        share / 10,
        plain_line(origin, 80)
    );
    let _ = writeln!(out, "{}", line.trim_end());
}

/// The rows of a region: sections of system blocks, the largest tools, kinds of messages.
fn rows(region: Region, parts: &[&Part]) -> Vec<(String, u64, String)> {
    let mut rows = Vec::new();
    match region {
        Region::System => {
            for part in parts {
                let mark = if part.cache_mark { " (cache mark)" } else { "" };
                rows.push((format!("{}{mark}", part.place), part.tokens, main_origin(part)));
                let top = part
                    .sections
                    .iter()
                    .map(|section| section.level)
                    .filter(|level| *level > 0)
                    .min();
                for section in part
                    .sections
                    .iter()
                    .filter(|section| Some(section.level) == top)
                    .take(MAX_LINES)
                {
                    // A section with those below it, up to the next of its own level.
                    let below = part.sections.iter().skip_while(|other| other.line <= section.line);
                    let below = below.take_while(|other| other.level > section.level);
                    let tokens = section.tokens + below.map(|other| other.tokens).sum::<u64>();
                    let origin = section.origin.as_ref().map_or(String::new(), Origin::name);
                    let title =
                        format!("  {} {}", "#".repeat(usize::from(section.level)), section.title);
                    rows.push((title, tokens, origin));
                }
            }
        }
        Region::Tools => {
            let mut sorted = parts.to_vec();
            sorted.sort_by_key(|part| std::cmp::Reverse(part.tokens));
            for part in sorted.iter().take(5) {
                rows.push((part.label.clone(), part.tokens, main_origin(part)));
            }
            let rest = sorted.get(5..).unwrap_or_default();
            if !rest.is_empty() {
                let tokens = rest.iter().map(|part| part.tokens).sum();
                rows.push((counted(rest.len() as u64, "other tool"), tokens, String::new()));
            }
        }
        Region::Messages => {
            let mut kinds: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
            for part in parts {
                let entry = kinds.entry(part.label.as_str()).or_default();
                entry.0 += 1;
                entry.1 += part.tokens;
            }
            let mut kinds: Vec<_> = kinds.into_iter().collect();
            kinds.sort_by_key(|(_, (_, tokens))| std::cmp::Reverse(*tokens));
            for (label, (count, tokens)) in kinds.into_iter().take(MAX_LINES) {
                let times = if count == 1 { String::new() } else { format!(" ×{count}") };
                rows.push((format!("{label}{times}"), tokens, String::new()));
            }
        }
    }
    rows
}

fn main_origin(part: &Part) -> String {
    let mut by_name: BTreeMap<String, u64> = BTreeMap::new();
    for stretch in &part.stretches {
        let name = match &stretch.origin {
            Origin::File { path, .. } if part.stretches.len() > 1 => path.clone(),
            other => other.name(),
        };
        *by_name.entry(name).or_default() += stretch.tokens;
    }
    let mut names: Vec<(String, u64)> = by_name.into_iter().collect();
    names.sort_by_key(|(_, tokens)| std::cmp::Reverse(*tokens));
    let names: Vec<String> = names.into_iter().take(3).map(|(name, _)| name).collect();
    names.join(", ")
}

fn sources(sources: &[SourceShare], out: &mut String) {
    if sources.is_empty() {
        return;
    }
    title("where the text comes from", out);
    for source in sources.iter().take(MAX_LINES) {
        let ranges = source.lines.iter().take(4).map(|[first, last]| {
            if first == last { first.to_string() } else { format!("{first}-{last}") }
        });
        let mut lines = ranges.collect::<Vec<_>>().join(",");
        if source.lines.len() > 4 {
            lines.push_str(",…");
        }
        let colon = if lines.is_empty() { "" } else { ":" };
        let name = plain_line(&format!("{}{colon}{lines}", source.name), 56);
        let share = percent(source.share);
        let _ = writeln!(out, "  {name:56}  {:>9}  {share:>4}", thousands(source.tokens));
    }
    if let Some(more @ 1..) = sources.len().checked_sub(MAX_LINES) {
        let _ = writeln!(out, "  {more} more; pass `--json` to list them");
    }
}

fn cache(report: &Report, out: &mut String) {
    let compared: Vec<_> =
        report.calls.iter().filter_map(|call| Some((call, call.cache.as_ref()?))).collect();
    if compared.is_empty() {
        return;
    }
    title("cache", out);
    let common: u64 = compared.iter().map(|(_, cache)| cache.common_tokens).sum();
    let reusable: u64 = compared.iter().map(|(_, cache)| cache.reusable_tokens).sum();
    let read: Option<u64> =
        compared.iter().filter_map(|(_, cache)| cache.provider_read_tokens).reduce(|a, b| a + b);
    let said = read.map_or(String::new(), |read| {
        format!("; the provider read {} from its cache", thousands(read))
    });
    let _ = writeln!(
        out,
        "  {} of {} reusable tokens stayed the same{said}",
        thousands(common.min(reusable)),
        thousands(reusable)
    );
    // Calls that lost the cache for the same reason at the same place are told together.
    let mut groups: Vec<(&CacheBreak, Vec<usize>, u64, f64)> = Vec::new();
    for (call, cache) in &compared {
        let Some(broken) = &cache.broken else { continue };
        let same = |known: &CacheBreak| {
            known.cause == broken.cause && known.place == broken.place && known.line == broken.line
        };
        let dollars = broken.lost_usd.unwrap_or(0.0);
        match groups.iter_mut().find(|(known, ..)| same(known)) {
            Some((_, numbers, tokens, cost)) => {
                numbers.push(call.number);
                *tokens += broken.lost_tokens;
                *cost += dollars;
            }
            None => groups.push((broken, vec![call.number], broken.lost_tokens, dollars)),
        }
    }
    groups.sort_by_key(|(_, _, tokens, _)| std::cmp::Reverse(*tokens));
    for (broken, numbers, tokens, cost) in groups.iter().take(MAX_LINES) {
        let numbers: Vec<String> = numbers.iter().take(10).map(ToString::to_string).collect();
        let calls = if numbers.len() == 1 { "call" } else { "calls" };
        let price = if *cost > 0.0 { format!(", {}", money(*cost)) } else { String::new() };
        let _ = writeln!(
            out,
            "  {} in {} {}: {} tokens read again{price}",
            paint(broken.cause.name(), "33"),
            calls,
            numbers.join(", "),
            thousands(*tokens),
        );
        let section = broken
            .section
            .as_ref()
            .map_or(String::new(), |section| format!(", section \"{}\"", plain_line(section, 60)));
        let _ = writeln!(
            out,
            "    at {} line {}{section}, byte {}; written by {}",
            visible_line(&broken.place),
            broken.line,
            thousands(broken.byte as u64),
            plain_line(&broken.origin.name(), 120)
        );
        if !(broken.before.is_empty() && broken.after.is_empty()) {
            let _ = writeln!(out, "    - {}", visible_line(&broken.before));
            let _ = writeln!(out, "    + {}", visible_line(&broken.after));
        }
        let _ = writeln!(out, "    fix: {}", plain_line(&broken.advice, 300));
    }
}

fn waste(waste: &[Waste], out: &mut String) {
    if waste.is_empty() {
        return;
    }
    title("waste", out);
    let tools: Vec<&Waste> =
        waste.iter().filter(|waste| waste.kind == WasteKind::UnusedTool).collect();
    if !tools.is_empty() {
        let tokens = tools.iter().map(|waste| waste.tokens).sum();
        let names: Vec<String> =
            tools.iter().take(8).map(|waste| plain_line(&waste.what, 40)).collect();
        let more = if tools.len() > 8 { ", …" } else { "" };
        let _ = writeln!(
            out,
            "  {} never called: {} tokens ({}{more})",
            counted(tools.len() as u64, "tool"),
            thousands(tokens),
            names.join(", ")
        );
    }
    for found in waste.iter().filter(|waste| waste.kind != WasteKind::UnusedTool).take(MAX_LINES) {
        let _ = writeln!(
            out,
            "  {} ×{}: {} tokens: {}",
            found.kind.name(),
            found.times,
            thousands(found.tokens),
            plain_line(&found.what, 100)
        );
        let places: Vec<String> =
            found.places.iter().take(4).map(|place| plain_line(place, 80)).collect();
        let _ = writeln!(out, "    {}", places.join(", "));
    }
}

fn dangers(dangers: &[Danger], out: &mut String) {
    if dangers.is_empty() {
        return;
    }
    title("danger", out);
    for danger in dangers.iter().take(MAX_LINES) {
        let colour = match danger.severity {
            Severity::Error => "31",
            Severity::Warning => "33",
            Severity::Note => "36",
        };
        let _ = writeln!(
            out,
            "  {}: {} (call {}, {} line {}, {})",
            paint(danger.kind.name(), colour),
            plain_line(&danger.message, 160),
            danger.call,
            visible_line(&danger.place),
            danger.line,
            plain_line(&danger.origin.name(), 100)
        );
        if !danger.excerpt.is_empty() {
            let _ = writeln!(out, "    {}", plain_line(&danger.excerpt, 140));
        }
    }
    if let Some(more @ 1..) = dangers.len().checked_sub(MAX_LINES) {
        let _ = writeln!(out, "  {more} more; pass `--json` to list them");
    }
}

fn percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

/// A number with commas between its thousands.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

pub(crate) fn money(dollars: f64) -> String {
    if dollars > 0.0 && dollars < 0.01 {
        format!("${dollars:.4}")
    } else {
        format!("${dollars:.2}")
    }
}

pub(crate) fn seconds(milliseconds: f64) -> String {
    if milliseconds < 1000.0 {
        format!("{milliseconds:.0} ms")
    } else {
        format!("{:.1} s", milliseconds / 1000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0.0, 0.0042, 1.5].map(money), ["$0.00", "$0.0042", "$1.50"]);
        assert_eq!([12.3, 2500.0].map(seconds), ["12 ms", "2.5 s"]);
    }
}
