//! Tokens that did nothing: repeated text, tools that nobody called, files that were read again.

use std::collections::{BTreeMap, BTreeSet};

use super::{Counted, ReadCall, one_line};
use crate::report::{Origin, Waste, WasteKind};
use crate::wire::{PartKind, RequestPart};

/// Bytes of a paragraph that is worth mentioning.
const MIN_PARAGRAPH: usize = 120;
/// Tokens of a result that is worth mentioning.
const MIN_RESULT: u64 = 40;
/// Findings of one kind.
const MAX_FINDINGS: usize = 100;

pub(super) fn find(
    calls: &[ReadCall<'_>],
    latest: &[usize],
    counted: &mut Counted<'_>,
) -> Vec<Waste> {
    let mut all = unused_tools(calls);
    for read in calls.iter().filter(|read| latest.contains(&read.number())) {
        let same =
            |other: &&ReadCall<'_>| other.call.facts.conversation == read.call.facts.conversation;
        let in_conversation = calls.iter().filter(same).count().max(1) as u64;
        all.extend(repeated_texts(read, in_conversation, counted));
        all.extend(repeated_reads(read));
    }
    all.sort_by(|one, other| other.tokens.cmp(&one.tokens).then(one.what.cmp(&other.what)));
    all
}

/// Tools that were sent and that no answer called, over the whole capture.
fn unused_tools(calls: &[ReadCall<'_>]) -> Vec<Waste> {
    let mut called: BTreeSet<&str> = BTreeSet::new();
    for read in calls {
        called.extend(read.answer.called.iter().map(String::as_str));
        let before = read.parts().iter().filter(|part| part.kind == PartKind::ToolCall);
        called.extend(before.filter_map(|part| part.tool.as_deref()));
    }
    let mut unused: BTreeMap<&str, (usize, u64, BTreeSet<String>)> = BTreeMap::new();
    for read in calls {
        for ((part, tokens), stretches) in
            read.parts().iter().zip(&read.tokens).zip(&read.stretches)
        {
            let Some(name) = part.tool.as_deref().filter(|_| part.kind == PartKind::ToolDefinition)
            else {
                continue;
            };
            if !called.contains(name) {
                let entry = unused.entry(name).or_default();
                entry.0 += 1;
                entry.1 += tokens;
                entry.2.extend(stretches.iter().map(|stretch| stretch.origin.name()));
            }
        }
    }
    let waste = unused.into_iter().map(|(name, (times, tokens, origins))| Waste {
        kind: WasteKind::UnusedTool,
        what: name.to_owned(),
        places: origins.into_iter().collect(),
        times,
        tokens,
    });
    let mut waste: Vec<Waste> = waste.collect();
    waste.sort_by_key(|waste| std::cmp::Reverse(waste.tokens));
    waste.truncate(MAX_FINDINGS);
    waste
}

/// Paragraphs that are in a request more than once.
fn repeated_texts(read: &ReadCall<'_>, calls: u64, counted: &mut Counted<'_>) -> Vec<Waste> {
    let mut places: BTreeMap<&str, Vec<(String, PartKind)>> = BTreeMap::new();
    for part in read.parts() {
        let is_said = matches!(part.kind, PartKind::System | PartKind::User | PartKind::ToolResult);
        if !is_said || part.is_media {
            continue;
        }
        for (line, paragraph) in paragraphs(&part.text) {
            let origin = match read.origin(&part.place, line) {
                origin @ Origin::File { .. } => {
                    format!("{}:{line} ({})", part.place, origin.name())
                }
                _ => format!("{}:{line}", part.place),
            };
            places.entry(paragraph).or_default().push((origin, part.kind));
        }
    }
    let mut waste = Vec::new();
    for (paragraph, found) in places {
        // What tools returned twice is named with the call.
        let from_tools = found.iter().all(|(_, kind)| *kind == PartKind::ToolResult);
        if found.len() < 2 || from_tools || waste.len() >= MAX_FINDINGS {
            continue;
        }
        waste.push(Waste {
            kind: WasteKind::RepeatedText,
            what: one_line(paragraph, 80),
            times: found.len(),
            tokens: counted.text(paragraph) * (found.len() as u64 - 1) * calls,
            places: found.into_iter().map(|(place, _)| place).collect(),
        });
    }
    waste
}

/// Paragraphs of a length worth mentioning, with the lines they start on.
fn paragraphs(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let (mut start, mut first_line, mut at) = (None, 1, 0);
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if line.trim().is_empty() {
            if let Some(from) = start.take() {
                found.push((first_line, from..at));
            }
        } else if start.is_none() {
            start = Some(at);
            first_line = number + 1;
        }
        at += line.len();
    }
    if let Some(from) = start {
        found.push((first_line, from..at));
    }
    let paragraphs =
        found.into_iter().map(|(line, range)| (line, text.get(range).unwrap_or_default().trim()));
    paragraphs.filter(|(_, paragraph)| paragraph.len() >= MIN_PARAGRAPH).collect()
}

/// Calls of a tool with the same arguments and the same result.
fn repeated_reads(read: &ReadCall<'_>) -> Vec<Waste> {
    let mut results: BTreeMap<&str, (&RequestPart, u64)> = BTreeMap::new();
    for (part, tokens) in read.parts().iter().zip(&read.tokens) {
        if let Some(id) = part.call_id.as_deref().filter(|_| part.kind == PartKind::ToolResult) {
            results.insert(id, (part, *tokens));
        }
    }
    // By tool, arguments and result: the places of the results, with their tokens.
    type Call<'c> = (&'c str, &'c str, &'c str);
    let mut groups: BTreeMap<Call<'_>, Vec<(String, u64)>> = BTreeMap::new();
    for part in read.parts().iter().filter(|part| part.kind == PartKind::ToolCall) {
        let result = part.call_id.as_deref().and_then(|id| results.get(id));
        let (Some(tool), Some((result, tokens))) = (part.tool.as_deref(), result) else { continue };
        if *tokens >= MIN_RESULT {
            let key = (tool, part.text.as_str(), result.text.as_str());
            groups.entry(key).or_default().push((result.place.clone(), *tokens));
        }
    }
    let repeated = groups.into_iter().filter(|(_, found)| found.len() > 1);
    let waste = repeated.map(|((tool, arguments, _), found)| Waste {
        kind: WasteKind::RepeatedRead,
        what: one_line(&format!("{tool} {}", subject(arguments)), 100),
        times: found.len(),
        tokens: found.iter().skip(1).map(|(_, tokens)| tokens).sum(),
        places: found.into_iter().map(|(place, _)| place).collect(),
    });
    waste.take(MAX_FINDINGS).collect()
}

/// The path among the arguments of a call, or all of them.
fn subject(arguments: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(arguments).unwrap_or_default();
    ["file_path", "path", "filePath", "filename", "file", "url", "uri"]
        .iter()
        .find_map(|name| value.get(name)?.as_str().map(str::to_owned))
        .unwrap_or_else(|| arguments.to_owned())
}
