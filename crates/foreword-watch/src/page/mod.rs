//! The report of a capture as one HTML file.

mod cache;
mod request;

use foreword_page::{Excerpt, Fact, Finding, Level, Page, Table, grouped};

use self::cache::cache;
use self::request::composition;
use crate::report::{CallReport, Danger, Origin, Report, Severity, Totals, WasteKind};

/// Conversations whose latest request is shown in full, the largest first.
const MAX_CONVERSATIONS: usize = 5;
/// Rows of a table; a page is for people.
const MAX_ROWS: usize = 500;

/// A page with what was sent, where it came from, and what broke the cache, was wasted or is dangerous.
///
/// It holds the texts of the report's parts, if the report was asked for texts.
#[must_use]
pub fn report_page(report: &Report) -> String {
    let mut page = Page::new(&title(report), &lead(report));
    page.facts(&facts(report));
    for note in &report.notes {
        page.paragraph(note);
    }
    dangers(report, &mut page);
    cache(report, &mut page);
    waste(report, &mut page);
    calls(report, &mut page);
    sources(report, &mut page);
    requests(report, &mut page);
    page.finish("foreword watch report --html")
}

fn title(report: &Report) -> String {
    match &report.capture {
        Some(capture) => format!("Capture {}", capture.id),
        None => "Request".to_owned(),
    }
}

fn lead(report: &Report) -> String {
    let Some(capture) = &report.capture else { return String::new() };
    let what = match capture.command.as_slice() {
        [] => "Requests through the proxy".to_owned(),
        words => short(&words.join(" "), 200),
    };
    let ended = capture.exit_code.map_or(String::new(), |code| format!(", exit code {code}"));
    format!("{what}, started {}{ended}", capture.started_at)
}

fn facts(report: &Report) -> Vec<Fact> {
    let Totals { calls, failed, tokens, max_tokens, usage, cost_usd, .. } = &report.totals;
    let totals = &report.totals;
    let fact = |name, value, note| Fact { name, value, note };
    let some = |count: usize, what: &str| {
        if count == 0 { String::new() } else { format!("{count} {what}") }
    };
    let mut facts = vec![
        fact("Calls", calls.to_string(), some(*failed, "failed")),
        fact(
            "Tokens sent",
            grouped(*tokens),
            format!("{}; largest request {}", report.tokenizer, grouped(*max_tokens)),
        ),
        fact(
            "Read from cache",
            format!("{} tokens", grouped(usage.cache_read_tokens)),
            "as the provider counts".to_owned(),
        ),
        fact(
            "Cache breaks",
            totals.cache_breaks.to_string(),
            match (totals.lost_tokens, totals.lost_usd) {
                (0, _) => String::new(),
                (lost, Some(usd)) => {
                    format!("{} tokens read again, {} extra", grouped(lost), money(usd))
                }
                (lost, None) => format!("{} tokens read again", grouped(lost)),
            },
        ),
    ];
    if let Some(cost) = cost_usd {
        let without = match totals.unpriced_models.as_slice() {
            [] => format!("prices of {}", report.prices_date),
            models => format!("without {}", models.join(", ")),
        };
        facts.push(fact("Cost", money(*cost), without));
    }
    facts
}

fn dangers(report: &Report, page: &mut Page) {
    if report.dangers.is_empty() {
        return;
    }
    page.heading("Danger");
    for danger in report.dangers.iter().take(MAX_ROWS) {
        page.finding(&danger_finding(danger));
    }
    more(report.dangers.len(), page);
}

fn danger_finding(danger: &Danger) -> Finding {
    Finding {
        level: match danger.severity {
            Severity::Note => Level::Note,
            Severity::Warning => Level::Warning,
            Severity::Error => Level::Danger,
        },
        label: danger.kind.name().to_owned(),
        title: danger.message.clone(),
        place: format!("call {}", danger.call),
        reasons: Vec::new(),
        excerpts: vec![Excerpt {
            caption: format!(
                "{}, line {}, from {}",
                danger.place,
                danger.line,
                writer(&danger.origin)
            ),
            marked: danger.excerpt.clone(),
            ..Excerpt::default()
        }],
    }
}

fn waste(report: &Report, page: &mut Page) {
    if report.waste.is_empty() {
        return;
    }
    let row = |waste: &crate::report::Waste| {
        let times = match waste.kind {
            WasteKind::UnusedTool => format!("{} calls", waste.times),
            WasteKind::RepeatedText | WasteKind::RepeatedRead => format!("{} times", waste.times),
        };
        vec![
            waste.kind.name().to_owned(),
            short(&waste.what, 200),
            short(
                &waste.places.iter().map(|place| near(place)).collect::<Vec<_>>().join(", "),
                200,
            ),
            times,
            grouped(waste.tokens),
        ]
    };
    page.heading("Waste").table(
        "Waste",
        &Table {
            columns: vec![
                ("Kind", false),
                ("What", false),
                ("Where", false),
                ("How often", true),
                ("Tokens", true),
            ],
            rows: report.waste.iter().take(MAX_ROWS).map(row).collect(),
        },
    );
    more(report.waste.len(), page);
}

fn calls(report: &Report, page: &mut Page) {
    let row = |call: &CallReport| {
        let cached = call.usage.as_ref().map(|usage| grouped(usage.cache_read_tokens));
        let problem = call.problem.as_deref().unwrap_or_default();
        vec![
            call.number.to_string(),
            format!("{} ({})", short(&call.model, 60), call.api.name()),
            match call.status {
                0 => short(&format!("no answer {problem}"), 120),
                status => short(&format!("{status} {problem}"), 120),
            },
            grouped(call.tokens.total),
            growth(call.growth),
            cached.unwrap_or_else(|| "–".to_owned()),
            call.cost_usd.map_or("–".to_owned(), money),
            format!("{:.0} ms", call.first_byte_ms),
        ]
    };
    page.heading("Calls").table(
        "Calls",
        &Table {
            columns: vec![
                ("Call", true),
                ("Model", false),
                ("Status", false),
                ("Tokens", true),
                ("Growth", true),
                ("From cache", true),
                ("Cost", true),
                ("First byte", true),
            ],
            rows: report.calls.iter().take(MAX_ROWS).map(row).collect(),
        },
    );
    more(report.calls.len(), page);
}

fn sources(report: &Report, page: &mut Page) {
    if report.sources.is_empty() {
        return;
    }
    let row = |source: &crate::report::SourceShare| {
        let lines: Vec<String> = source
            .lines
            .iter()
            .map(
                |[first, last]| {
                    if first == last { first.to_string() } else { format!("{first}-{last}") }
                },
            )
            .collect();
        vec![
            source.name.clone(),
            short(&lines.join(", "), 120),
            grouped(source.tokens),
            format!("{:.1}%", source.share * 100.0),
        ]
    };
    page.heading("Sources").table(
        "Sources",
        &Table {
            columns: vec![("Source", false), ("Lines", false), ("Tokens", true), ("Share", true)],
            rows: report.sources.iter().take(MAX_ROWS).map(row).collect(),
        },
    );
    more(report.sources.len(), page);
}

/// The latest request of every conversation, or all requests if they belong to none.
fn requests(report: &Report, page: &mut Page) {
    let call = |number: usize| report.calls.iter().find(|call| call.number == number);
    let mut latest: Vec<(&CallReport, &str)> = report
        .conversations
        .iter()
        .filter_map(|conversation| {
            Some((call(*conversation.calls.last()?)?, conversation.title.as_str()))
        })
        .collect();
    if latest.is_empty() {
        latest = report.calls.iter().map(|call| (call, "")).collect();
    }
    latest.sort_by_key(|(call, _)| std::cmp::Reverse(call.tokens.total));
    for (call, title) in latest.iter().take(MAX_CONVERSATIONS) {
        page.heading(&format!("Request {}", call.number));
        if !title.is_empty() {
            page.paragraph(&format!("The latest of the conversation “{}”.", short(title, 120)));
        }
        page.composition(&composition(call));
    }
    if latest.len() > MAX_CONVERSATIONS {
        let left = latest.len() - MAX_CONVERSATIONS;
        page.paragraph(&format!("{left} smaller conversations are not shown in full."));
    }
}

/// Who wrote a text, with file and lines.
fn writer(origin: &Origin) -> String {
    match origin {
        Origin::File { path, exact: true, .. } if path.starts_with("~/") => origin.name(),
        Origin::File { .. } => near(&origin.name()),
        _ => origin.name(),
    }
}

/// A place whose name says with a tilde that a text is nearly that of a file.
fn near(place: &str) -> String {
    match place.strip_prefix('~') {
        Some(path) if !path.starts_with('/') => format!("{path} (near match)"),
        _ => place.to_owned(),
    }
}

/// Says how many rows a page leaves out.
fn more(count: usize, page: &mut Page) {
    if count > MAX_ROWS {
        let left = grouped((count - MAX_ROWS) as u64);
        page.paragraph(&format!("{left} more are in the JSON report."));
    }
}

fn growth(tokens: i64) -> String {
    let sign = if tokens < 0 { "−" } else { "+" };
    format!("{sign}{}", grouped(tokens.unsigned_abs()))
}

fn money(usd: f64) -> String {
    if usd < 1.0 { format!("${usd:.4}") } else { format!("${usd:.2}") }
}

/// Text on one line, cut after `max` characters.
fn short(text: &str, max: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = line.chars().take(max).collect();
    if cut.len() < line.len() { format!("{cut}…") } else { cut }
}
