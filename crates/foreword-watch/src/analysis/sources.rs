//! Where text comes from: lines of files by exact and near match, and what is left.

use std::collections::BTreeMap;
use std::ops::Range;

use super::files::{Place, ProjectFiles, hash, words};
use crate::report::{Origin, Stretch};
use crate::wire::{PartKind, RequestPart};

/// Characters of exactly matching lines that are no accident.
const MIN_EXACT: usize = 20;
/// Lines that a match is followed for, to choose between places.
const MAX_FOLLOWED: usize = 40;
/// Places that are compared.
const MAX_CANDIDATES: usize = 48;
/// Shorter lines are not searched for by their words.
const MIN_NEAR: usize = 8;
/// Words of a line that must be in the file's line.
const NEAR_SHARE: f64 = 0.7;
/// The same, for a line beside one that matches.
const NEAR_SHARE_BESIDE: f64 = 0.5;
/// Longer lines are not compared word by word.
const MAX_NEAR: usize = 4_000;

/// A line of text and the line of a file it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Match {
    place: Place,
    exact: bool,
}

/// The origins of a part's text, in order and without gaps.
pub(super) fn stretches(part: &RequestPart, files: Option<&ProjectFiles>) -> Vec<Stretch> {
    let text = part.text.as_str();
    if text.is_empty() {
        return Vec::new();
    }
    let whole =
        |origin: Origin| vec![Stretch { range: [0, text.len()], line: 1, tokens: 0, origin }];
    if matches!(part.kind, PartKind::Assistant | PartKind::ToolCall) {
        return whole(Origin::Model);
    }
    if part.is_media {
        return whole(rest_of(part, false));
    }
    let Some(files) = files else { return whole(Origin::Unknown) };
    if part.kind == PartKind::ToolDefinition {
        return whole(definition_origin(part, files));
    }
    let lines = line_ranges(text);
    let numbered = part.kind == PartKind::ToolResult;
    let shown: Vec<&str> = lines
        .iter()
        .map(|range| text.get(range.clone()).unwrap_or_default().trim())
        .map(|line| if numbered { without_number(line) } else { line })
        .collect();
    let matches = find(&shown, files);
    let reminders = reminder_lines(&shown);
    let origins = matches.iter().enumerate().map(|(at, found)| match found {
        Some(found) => origin_of(*found, files),
        None => rest_of(part, reminders.get(at).copied().unwrap_or_default()),
    });
    merge(&lines, &shown, origins.collect())
}

/// The origin of text that is in no file.
fn rest_of(part: &RequestPart, in_reminder: bool) -> Origin {
    match part.kind {
        PartKind::User if !in_reminder => Origin::User,
        PartKind::Assistant | PartKind::ToolCall => Origin::Model,
        PartKind::ToolResult => {
            Origin::Tool { name: part.tool.clone().unwrap_or_else(|| "a tool".to_owned()) }
        }
        _ => Origin::Vendor,
    }
}

fn origin_of(found: Match, files: &ProjectFiles) -> Origin {
    let line = found.place.line as usize + 1;
    let path = files.files.get(found.place.file as usize).map(|file| file.path.clone());
    Origin::File { path: path.unwrap_or_default(), lines: [line, line], exact: found.exact }
}

/// The origin of a tool: a file with its description, the MCP server in its name, or the program.
fn definition_origin(part: &RequestPart, files: &ProjectFiles) -> Origin {
    let value: serde_json::Value = serde_json::from_str(&part.text).unwrap_or_default();
    let described = ["/description", "/function/description"];
    let description = described.iter().find_map(|path| value.pointer(path)?.as_str());
    let lines: Vec<&str> = description.unwrap_or_default().lines().map(str::trim).collect();
    let filled = lines.iter().filter(|line| !line.is_empty()).count();
    let found: Vec<Match> = find(&lines, files).into_iter().flatten().collect();
    if let Some(first) = found.first()
        && found.len() * 2 >= filled
    {
        let same = found.iter().filter(|found| found.place.file == first.place.file);
        let numbers: Vec<usize> = same.map(|found| found.place.line as usize + 1).collect();
        let path = files.files.get(first.place.file as usize).map(|file| file.path.clone());
        return Origin::File {
            path: path.unwrap_or_default(),
            lines: [
                numbers.iter().min().copied().unwrap_or(1),
                numbers.iter().max().copied().unwrap_or(1),
            ],
            exact: found.iter().all(|found| found.exact),
        };
    }
    let server = part.tool.as_deref().and_then(|name| name.strip_prefix("mcp__"));
    match server.and_then(|rest| rest.split_once("__")) {
        Some((server, _)) => Origin::Mcp { server: server.to_owned() },
        None => Origin::Vendor,
    }
}

/// The lines of a text, each with its line break.
fn line_ranges(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        ranges.push(start..start + line.len());
        start += line.len();
    }
    ranges
}

/// A line without the number that tools put before the lines of a file.
fn without_number(line: &str) -> &str {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let Some((_, rest)) = line.split_at_checked(digits).filter(|_| (1..=7).contains(&digits))
    else {
        return line;
    };
    ["→", "\t", ": ", "| ", " | ", ":"]
        .iter()
        .find_map(|mark| rest.strip_prefix(mark))
        .map_or(line, str::trim)
}

/// Lines between `<system-reminder>` and its end, which programs add to what the person wrote.
fn reminder_lines(lines: &[&str]) -> Vec<bool> {
    let mut inside = false;
    let is_inside = |line: &&str| {
        let before = inside;
        if line.contains("<system-reminder>") {
            inside = true;
        }
        let now = inside;
        if line.contains("</system-reminder>") {
            inside = false;
        }
        before || now
    };
    lines.iter().map(is_inside).collect()
}

/// The lines of files that these lines come from. Time is linear in the text.
fn find(lines: &[&str], files: &ProjectFiles) -> Vec<Option<Match>> {
    let mut found: Vec<Option<Match>> = vec![None; lines.len()];
    let mut at = 0;
    while at < lines.len() {
        let run = longest_run(lines, at, files);
        let Some((place, length, characters)) = run.filter(|(_, _, count)| *count >= MIN_EXACT)
        else {
            at += 1;
            continue;
        };
        let _ = characters;
        let mut line = place.line;
        let own = files.files.get(place.file as usize);
        for slot_at in at..at + length {
            let text = lines.get(slot_at).copied().unwrap_or_default();
            // Blank lines on either side do not count.
            while own.and_then(|file| file.lines.get(line as usize)).is_some_and(String::is_empty)
                && !text.is_empty()
            {
                line += 1;
            }
            if text.is_empty() {
                continue;
            }
            if let Some(slot) = found.get_mut(slot_at) {
                *slot = Some(Match { place: Place { file: place.file, line }, exact: true });
            }
            line += 1;
        }
        at += length;
    }
    for at in 0..lines.len() {
        if found.get(at).is_some_and(Option::is_none) {
            let near = near(lines, at, &found, files);
            if let (Some(place), Some(slot)) = (near, found.get_mut(at)) {
                *slot = Some(Match { place, exact: false });
            }
        }
    }
    found
}

/// The place whose lines go on like the text from a line on: the place, how many lines of the text, and
/// how many characters.
fn longest_run(lines: &[&str], at: usize, files: &ProjectFiles) -> Option<(Place, usize, usize)> {
    let first = lines.get(at).filter(|line| !line.is_empty())?;
    let places = files.lines.get(&hash(first))?;
    let mut best: Option<(Place, usize, usize)> = None;
    for place in places.iter().take(MAX_CANDIDATES) {
        let Some(file) = files.files.get(place.file as usize) else { continue };
        let mut theirs =
            file.lines.iter().skip(place.line as usize).filter(|line| !line.is_empty());
        let (mut length, mut characters) = (0, 0);
        let rest = lines.get(at..).unwrap_or_default();
        // A chosen run is followed to its end; here, far enough to choose.
        for (offset, line) in rest.iter().enumerate().take(MAX_FOLLOWED) {
            if line.is_empty() {
                continue;
            }
            if theirs.next().is_none_or(|theirs| theirs != line) {
                break;
            }
            length = offset + 1;
            characters += line.len();
        }
        if best.is_none_or(|(_, _, most)| characters > most) && length > 0 {
            best = Some((*place, length, characters));
        }
    }
    best
}

/// The line of a file that a line was made from, by the words they share.
fn near(lines: &[&str], at: usize, found: &[Option<Match>], files: &ProjectFiles) -> Option<Place> {
    let line = lines.get(at).filter(|line| (MIN_NEAR..=MAX_NEAR).contains(&line.len()))?;
    let own = words(line);
    if own.is_empty() {
        return None;
    }
    // The lines before and behind, as far as they are known.
    let before = found.get(..at)?.iter().rev().take(4).flatten().next().map(|found| found.place);
    let behind = found.get(at + 1..)?.iter().take(4).flatten().next().map(|found| found.place);
    let beside = |place: Place| {
        [before, behind]
            .into_iter()
            .flatten()
            .any(|known| known.file == place.file && known.line.abs_diff(place.line) <= 6)
    };
    let mut counts: BTreeMap<Place, usize> = BTreeMap::new();
    for word in &own {
        for place in files.words.get(word).into_iter().flatten() {
            *counts.entry(*place).or_insert(0) += 1;
        }
    }
    let mut best: Option<(bool, f64, std::cmp::Reverse<usize>, std::cmp::Reverse<Place>)> = None;
    for (place, count) in counts {
        let share = as_f64(count) / as_f64(own.len());
        let is_beside = beside(place);
        let fits = (count >= 2 && share >= NEAR_SHARE) || (is_beside && share >= NEAR_SHARE_BESIDE);
        if !fits {
            continue;
        }
        let file = files.files.get(place.file as usize);
        let theirs = file.and_then(|file| file.lines.get(place.line as usize));
        let surplus = theirs.map_or(0, |theirs| words(theirs).len()).saturating_sub(count);
        // A line with many other words only mentions the same things.
        if surplus > 2 * own.len() + 4 {
            continue;
        }
        let rank = (is_beside, share, std::cmp::Reverse(surplus), std::cmp::Reverse(place));
        if best.as_ref().is_none_or(|best| is_better(&rank, best)) {
            best = Some(rank);
        }
    }
    best.map(|(_, _, _, place)| place.0)
}

type Rank = (bool, f64, std::cmp::Reverse<usize>, std::cmp::Reverse<Place>);

fn is_better(one: &Rank, other: &Rank) -> bool {
    one.0
        .cmp(&other.0)
        .then(one.1.total_cmp(&other.1))
        .then(one.2.cmp(&other.2))
        .then(one.3.cmp(&other.3))
        .is_gt()
}

#[expect(clippy::cast_precision_loss, reason = "counts of words are far below 2^53")]
fn as_f64(number: usize) -> f64 {
    number as f64
}

/// Joins lines of one origin. Blank lines belong to what is before them.
fn merge(lines: &[Range<usize>], shown: &[&str], origins: Vec<Origin>) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    for (at, origin) in origins.into_iter().enumerate() {
        let Some(range) = lines.get(at) else { break };
        let is_blank = shown.get(at).is_none_or(|line| line.is_empty());
        if let Some(last) = stretches.last_mut() {
            let joined =
                if is_blank { Some(last.origin.clone()) } else { join(&last.origin, &origin) };
            if let Some(joined) = joined {
                last.origin = joined;
                last.range[1] = range.end;
                continue;
            }
        }
        stretches.push(Stretch {
            range: [range.start, range.end],
            line: at + 1,
            tokens: 0,
            origin,
        });
    }
    stretches
}

/// The origin of two neighbouring stretches, if it is one.
fn join(one: &Origin, other: &Origin) -> Option<Origin> {
    match (one, other) {
        (
            Origin::File { path, lines: [first, last], exact },
            Origin::File { path: other_path, lines: [next, end], exact: other_exact },
        ) => {
            let follows = next > last && next - last <= 8;
            (path == other_path && exact == other_exact && follows).then(|| Origin::File {
                path: path.clone(),
                lines: [*first, *end],
                exact: *exact,
            })
        }
        (one, other) => (one == other).then(|| one.clone()),
    }
}

#[cfg(test)]
#[path = "sources_tests.rs"]
mod tests;
