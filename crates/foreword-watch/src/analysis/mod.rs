//! From a capture to its report. Pure: files, prices, the scanner and the token counter are arguments.

mod cache;
pub(crate) mod cause;
pub(crate) mod compare;
pub(crate) mod conversations;
mod danger;
mod files;
mod sections;
mod sources;
mod waste;

use std::collections::{BTreeMap, HashMap};

use foreword::{Prices, Timestamp, TokenCounter};
use foreword_guard::Scanner;

use self::compare::Relation;
use crate::capture::{Capture, RecordedCall};
use crate::report::{
    CallReport, Conversation, Origin, Part, Region, RegionTokens, Report, SectionTokens,
    SourceShare, Stretch, Totals,
};
use crate::wire::{AnswerFacts, ModelRequest, PartKind, RequestPart, read_answer, read_request};

pub use self::files::ProjectFiles;
pub(crate) use self::sections::{MarkdownSection, heading_above, sections};

/// Tokens that an image or another file counts as: about the most that providers charge for one.
const MEDIA_TOKENS: u64 = 1_500;

/// How a report is made.
pub struct ReportOptions<'o> {
    pub counter: &'o dyn TokenCounter,
    pub prices: &'o Prices,
    /// Whether parts have their texts: those of the latest call of every conversation.
    pub with_texts: bool,
}

/// A call with what was read from it.
struct ReadCall<'c> {
    call: &'c RecordedCall,
    request: Option<ModelRequest>,
    answer: AnswerFacts,
    /// Tokens of each part of the request.
    tokens: Vec<u64>,
    /// Origins of each part.
    stretches: Vec<Vec<Stretch>>,
}

/// Makes the report of a capture. Without `files`, nothing is known about where text comes from.
#[must_use]
pub fn report(
    capture: &Capture,
    files: Option<&ProjectFiles>,
    scanner: &Scanner,
    options: &ReportOptions<'_>,
) -> Report {
    let mut counted = Counted::new(options.counter);
    let mut attributed = Attributed::new(files);
    let calls: Vec<ReadCall<'_>> =
        capture.calls.iter().map(|call| read(call, &mut counted, &mut attributed)).collect();
    let latest = latest_calls(&calls);
    let mut report = Report {
        capture: Some(capture.info.clone()).filter(|info| !info.id.is_empty()),
        tokenizer: options.counter.id().to_owned(),
        prices_date: options.prices.date.clone(),
        notes: capture.damage.clone(),
        ..Report::default()
    };
    for read in &calls {
        let with_text = options.with_texts && latest.contains(&read.call.facts.number);
        let call = call_report(read, &calls, &mut counted, options, with_text);
        report.calls.push(call);
    }
    report.conversations = conversations(&report.calls, &calls);
    report.sources = source_shares(&calls, &latest);
    report.totals = totals(&report.calls, options.prices);
    report.waste = waste::find(&calls, &latest, &mut counted);
    report.dangers = danger::find(&calls, scanner);
    notes(&mut report, capture, files, &calls);
    report
}

fn read<'c>(
    call: &'c RecordedCall,
    counted: &mut Counted<'_>,
    attributed: &mut Attributed<'_>,
) -> ReadCall<'c> {
    let facts = &call.facts;
    let request = read_request(Some(facts.api), &facts.path, &call.request).ok();
    let parts = request.as_ref().map_or(&[][..], |request| request.parts.as_slice());
    let tokens: Vec<u64> = parts.iter().map(|part| counted.part(part)).collect();
    let stretches = parts.iter().map(|part| attributed.part(part, counted)).collect();
    let answer = read_answer(facts.api, &call.response);
    ReadCall { call, request, answer, tokens, stretches }
}

impl ReadCall<'_> {
    fn parts(&self) -> &[RequestPart] {
        self.request.as_ref().map_or(&[], |request| request.parts.as_slice())
    }

    fn number(&self) -> usize {
        self.call.facts.number
    }

    /// The parts with their tokens, as they are cached.
    fn cached(&self) -> Vec<(&RequestPart, u64)> {
        let all = self.parts().iter().zip(self.tokens.iter().copied());
        all.filter(|(part, _)| part.kind != PartKind::Transport).collect()
    }

    /// Who wrote a line of a part.
    fn origin(&self, place: &str, line: usize) -> Origin {
        let at = self.parts().iter().position(|part| part.place == place);
        let stretches = at.and_then(|at| self.stretches.get(at));
        let stretch = stretches.and_then(|all| all.iter().rfind(|stretch| stretch.line <= line));
        let Some(stretch) = stretch else { return Origin::Vendor };
        match &stretch.origin {
            // The line of the file, as near as the stretch tells.
            Origin::File { path, lines: [first, last], exact } => {
                let line = (first + line.saturating_sub(stretch.line)).min(*last);
                Origin::File { path: path.clone(), lines: [line, line], exact: *exact }
            }
            other => other.clone(),
        }
    }
}

/// Counts tokens, each text once.
struct Counted<'o> {
    counter: &'o dyn TokenCounter,
    known: HashMap<[u8; 32], u64>,
}

impl<'o> Counted<'o> {
    fn new(counter: &'o dyn TokenCounter) -> Self {
        Self { counter, known: HashMap::new() }
    }

    fn text(&mut self, text: &str) -> u64 {
        let counter = self.counter;
        let key = *blake3::hash(text.as_bytes()).as_bytes();
        *self.known.entry(key).or_insert_with(|| u64::from(counter.count(text)))
    }

    fn part(&mut self, part: &RequestPart) -> u64 {
        if part.is_media { MEDIA_TOKENS } else { self.text(&part.text) }
    }
}

/// Finds the origins of texts, each once.
struct Attributed<'f> {
    files: Option<&'f ProjectFiles>,
    known: HashMap<[u8; 32], Vec<Stretch>>,
}

impl<'f> Attributed<'f> {
    fn new(files: Option<&'f ProjectFiles>) -> Self {
        Self { files, known: HashMap::new() }
    }

    fn part(&mut self, part: &RequestPart, counted: &mut Counted<'_>) -> Vec<Stretch> {
        let kind = format!("{:?} {:?} {}", part.kind, part.tool, part.text);
        let key = *blake3::hash(kind.as_bytes()).as_bytes();
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let mut found = sources::stretches(part, self.files);
        for stretch in &mut found {
            let [start, end] = stretch.range;
            stretch.tokens = if part.is_media {
                MEDIA_TOKENS
            } else {
                counted.text(part.text.get(start..end).unwrap_or_default())
            };
        }
        self.known.insert(key, found.clone());
        found
    }
}

/// The numbers of the latest calls of all conversations, and of calls that belong to none.
fn latest_calls(calls: &[ReadCall<'_>]) -> Vec<usize> {
    let mut latest: BTreeMap<usize, usize> = BTreeMap::new();
    let mut others = Vec::new();
    for read in calls.iter().filter(|read| read.request.is_some()) {
        match read.call.facts.conversation {
            Some(conversation) => {
                latest.insert(conversation, read.number());
            }
            None => others.push(read.number()),
        }
    }
    // Calls that were refused count only if there is nothing else.
    if latest.is_empty() { others } else { latest.into_values().collect() }
}

fn call_report(
    read: &ReadCall<'_>,
    calls: &[ReadCall<'_>],
    counted: &mut Counted<'_>,
    options: &ReportOptions<'_>,
    with_text: bool,
) -> CallReport {
    let facts = &read.call.facts;
    let mut tokens = RegionTokens::default();
    for (part, count) in read.parts().iter().zip(&read.tokens) {
        tokens.total += count;
        match part.region {
            Region::Tools => tokens.tools += count,
            Region::System => tokens.system += count,
            Region::Messages => tokens.messages += count,
        }
    }
    let parts = read
        .parts()
        .iter()
        .zip(&read.tokens)
        .zip(&read.stretches)
        .map(|((part, count), stretches)| {
            part_report(part, *count, tokens.total, stretches, counted, with_text)
        })
        .collect();
    let model = read.request.as_ref().map_or(String::new(), |request| request.model.clone());
    let price = options.prices.of(&model);
    let previous = facts.comparison.as_ref().filter(|found| found.relation == Relation::Continues);
    let previous =
        previous.and_then(|found| calls.iter().find(|call| call.number() == found.previous));
    let before: u64 = previous.map_or(0, |previous| previous.tokens.iter().sum());
    CallReport {
        number: facts.number,
        at: facts.at.clone(),
        conversation: None,
        api: facts.api,
        status: facts.status,
        problem: facts.problem.clone(),
        first_byte_ms: facts.first_byte_ms,
        total_ms: facts.total_ms,
        tokens,
        growth: i64::try_from(tokens.total)
            .unwrap_or(i64::MAX)
            .saturating_sub(i64::try_from(before).unwrap_or(i64::MAX)),
        usage: read.answer.usage,
        cost_usd: read.answer.usage.zip(price).map(|(usage, price)| dollars(price.cost(usage))),
        parts,
        cache: facts
            .comparison
            .as_ref()
            .and_then(|comparison| cache::find(read, comparison, calls, counted, options)),
        model,
    }
}

fn part_report(
    part: &RequestPart,
    tokens: u64,
    total: u64,
    stretches: &[Stretch],
    counted: &mut Counted<'_>,
    with_text: bool,
) -> Part {
    let found = if part.region == Region::System { sections(&part.text) } else { Vec::new() };
    let section = |found: MarkdownSection| {
        let [start, end] = found.range;
        let overlap = |stretch: &&Stretch| {
            stretch.range[1].min(end).saturating_sub(stretch.range[0].max(start))
        };
        let main = stretches.iter().max_by_key(overlap).filter(|stretch| overlap(stretch) > 0);
        SectionTokens {
            tokens: counted.text(part.text.get(start..end).unwrap_or_default()),
            level: found.level,
            line: found.line,
            range: found.range,
            origin: main.map(|stretch| narrowed(stretch, part, found.range)),
            title: found.title,
        }
    };
    Part {
        place: part.place.clone(),
        region: part.region,
        label: part.label(),
        tokens,
        share: share(tokens, total),
        cache_mark: part.cache_mark,
        sections: found.into_iter().map(section).collect(),
        stretches: stretches.to_vec(),
        text: with_text.then(|| part.text.clone()),
    }
}

/// The origin of the bytes of a stretch that are in a range: fewer lines of a file, if it is one.
fn narrowed(stretch: &Stretch, part: &RequestPart, range: [usize; 2]) -> Origin {
    let Origin::File { path, lines: [first, last], exact } = &stretch.origin else {
        return stretch.origin.clone();
    };
    let [start, end] = [stretch.range[0].max(range[0]), stretch.range[1].min(range[1])];
    let lines =
        |from: usize, to: usize| part.text.get(from..to).unwrap_or_default().matches('\n').count();
    let own = part.text.get(start..end).unwrap_or_default().trim_end();
    let from = (first + lines(stretch.range[0], start)).min(*last);
    let to = (from + own.matches('\n').count()).min(*last);
    Origin::File { path: path.clone(), lines: [from, to], exact: *exact }
}

fn conversations(calls: &[CallReport], read: &[ReadCall<'_>]) -> Vec<Conversation> {
    let mut all: BTreeMap<usize, Conversation> = BTreeMap::new();
    for (call, read) in calls.iter().zip(read) {
        let Some(conversation) = read.call.facts.conversation else { continue };
        let first_user = read.parts().iter().find(|part| part.kind == PartKind::User);
        let entry = all.entry(conversation).or_insert_with(|| Conversation {
            calls: Vec::new(),
            api: call.api,
            model: call.model.clone(),
            title: first_user.map_or(String::new(), |part| one_line(&part.text, 80)),
            cache_breaks: 0,
            lost_tokens: 0,
        });
        entry.calls.push(call.number);
        if let Some(broken) = call.cache.as_ref().and_then(|cache| cache.broken.as_ref()) {
            entry.cache_breaks += 1;
            entry.lost_tokens += broken.lost_tokens;
        }
    }
    all.into_values().collect()
}

fn source_shares(calls: &[ReadCall<'_>], latest: &[usize]) -> Vec<SourceShare> {
    /// Tokens, and the lines of a file.
    type Found = (u64, Vec<[usize; 2]>);
    let mut all: BTreeMap<(bool, String), Found> = BTreeMap::new();
    let mut total = 0;
    for read in calls.iter().filter(|read| latest.contains(&read.number())) {
        for stretch in read.stretches.iter().flatten() {
            total += stretch.tokens;
            let (key, lines) = match &stretch.origin {
                Origin::File { path, lines, .. } => ((true, path.clone()), Some(*lines)),
                other => ((false, other.name()), None),
            };
            let entry = all.entry(key).or_default();
            entry.0 += stretch.tokens;
            entry.1.extend(lines);
        }
    }
    let mut shares: Vec<SourceShare> = all
        .into_iter()
        .map(|((is_file, name), (tokens, lines))| SourceShare {
            name,
            is_file,
            tokens,
            share: share(tokens, total),
            lines: joined(lines),
        })
        .collect();
    shares.sort_by(|one, other| other.tokens.cmp(&one.tokens).then(one.name.cmp(&other.name)));
    shares
}

/// Ranges of lines, in order and without overlaps.
fn joined(mut lines: Vec<[usize; 2]>) -> Vec<[usize; 2]> {
    lines.sort_unstable();
    let mut out: Vec<[usize; 2]> = Vec::new();
    for [first, last] in lines {
        match out.last_mut() {
            Some([_, end]) if first <= *end + 1 => *end = last.max(*end),
            _ => out.push([first, last]),
        }
    }
    out
}

fn totals(calls: &[CallReport], prices: &Prices) -> Totals {
    let mut totals = Totals { calls: calls.len(), ..Totals::default() };
    let mut unpriced: Vec<String> = Vec::new();
    for call in calls {
        totals.failed += usize::from(call.problem.is_some());
        totals.tokens += call.tokens.total;
        totals.max_tokens = totals.max_tokens.max(call.tokens.total);
        totals.usage = totals.usage.and(call.usage.unwrap_or_default());
        if prices.of(&call.model).is_none() && !call.model.is_empty() {
            unpriced.push(call.model.clone());
        }
        if let Some(cost) = call.cost_usd {
            *totals.cost_usd.get_or_insert(0.0) += cost;
        }
        if let Some(broken) = call.cache.as_ref().and_then(|cache| cache.broken.as_ref()) {
            totals.cache_breaks += 1;
            totals.lost_tokens += broken.lost_tokens;
            if let Some(lost) = broken.lost_usd {
                *totals.lost_usd.get_or_insert(0.0) += lost;
            }
        }
    }
    unpriced.sort();
    unpriced.dedup();
    totals.unpriced_models = unpriced;
    totals
}

fn notes(
    report: &mut Report,
    capture: &Capture,
    files: Option<&ProjectFiles>,
    calls: &[ReadCall<'_>],
) {
    for (index, conversation) in report.conversations.iter().enumerate() {
        for call in &mut report.calls {
            if conversation.calls.contains(&call.number) {
                call.conversation = Some(index);
            }
        }
    }
    match files {
        None => report.notes.push(format!(
            "sources are unknown: cannot read the directory {}",
            capture.info.directory
        )),
        Some(files) => {
            if !files.is_complete() {
                report.notes.push(
                    "the directory has more files than are compared; some text may count as the vendor's".to_owned(),
                );
            }
            let started =
                Timestamp::parse(&capture.info.started_at).map_or(i64::MAX, |at| at.unix());
            let named: BTreeMap<String, u64> = report
                .sources
                .iter()
                .filter(|source| source.is_file)
                .map(|source| (source.name.clone(), source.tokens))
                .collect();
            // A second of doubt: files written just before the start are not changes.
            for path in files.changed_since(started.saturating_add(1), &named) {
                report.notes.push(format!(
                    "{path} changed after the capture started; lines may have moved"
                ));
            }
        }
    }
    for read in calls {
        let Some(request) = &read.request else { continue };
        if let Some(elsewhere) = request.elsewhere {
            report.notes.push(format!("call {}: {elsewhere}", read.number()));
        }
    }
    if capture.others > 0 {
        let count = capture.others;
        report.notes.push(match count {
            1 => "1 request to another path is not part of the report".to_owned(),
            _ => format!("{count} requests to other paths are not part of the report"),
        });
    }
}

fn share(part: u64, total: u64) -> f64 {
    if total == 0 { 0.0 } else { as_f64(part) / as_f64(total) }
}

fn dollars(micros: u64) -> f64 {
    as_f64(micros) / 1_000_000.0
}

#[expect(clippy::cast_precision_loss, reason = "amounts are far below 2^53")]
fn as_f64(number: u64) -> f64 {
    number as f64
}

/// The beginning of a text, on one line.
fn one_line(text: &str, max: usize) -> String {
    let mut out = String::new();
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
        if out.chars().count() > max {
            return out.chars().take(max.saturating_sub(1)).chain(['…']).collect();
        }
    }
    out
}
