//! What two calls have in common, and what the first difference is.

use serde::{Deserialize, Serialize};

use super::cause::{self, Texts};
use crate::report::{Cause, Region};
use crate::wire::{ModelRequest, PartKind, RequestPart};

/// How a call follows an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Relation {
    /// It goes on with the same conversation, so everything in the earlier call could be reused.
    Continues,
    /// It starts another conversation with the same prompt, so tools and system could be reused.
    SharesPrompt,
}

/// A comparison of two calls, made on the bytes as they were sent and stored with the call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Comparison {
    /// The number of the earlier call.
    pub(crate) previous: usize,
    pub(crate) relation: Relation,
    /// How many parts of the call are the same, from the first on.
    pub(crate) common_parts: usize,
    /// How many bytes of the next part are the same.
    pub(crate) offset: usize,
    /// Bytes that are the same altogether.
    pub(crate) common_bytes: usize,
    /// How many parts of the earlier call could have been reused.
    pub(crate) reusable_parts: usize,
    /// The first difference, if it is before the end of what could have been reused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) difference: Option<Difference>,
}

/// The first difference between two calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Difference {
    pub(crate) cause: Cause,
    pub(crate) region: Region,
    /// In the later call, or in the earlier one if the later is shorter.
    pub(crate) place: String,
    /// The line in that part, from 1.
    pub(crate) line: usize,
    /// Both sides; redacted before they are stored.
    pub(crate) before: String,
    pub(crate) after: String,
    /// What else a person should know, such as the names of tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) detail: Option<String>,
}

/// Bytes shown before and behind the first difference.
const SHOWN_BEFORE: usize = 40;
const SHOWN_AFTER: usize = 60;

/// The parts that are cached: those for the provider alone are left out.
pub(crate) fn cached_parts(request: &ModelRequest) -> Vec<&RequestPart> {
    request.parts.iter().filter(|part| part.kind != PartKind::Transport).collect()
}

/// Compares a call with an earlier one.
pub(crate) fn compare(
    previous: usize,
    relation: Relation,
    earlier: &ModelRequest,
    later: &ModelRequest,
) -> Comparison {
    let (old, new) = (cached_parts(earlier), cached_parts(later));
    let same = |(old, new): &(&&RequestPart, &&RequestPart)| {
        old.kind == new.kind && old.text == new.text && old.tool == new.tool
    };
    let common_parts = old.iter().zip(&new).take_while(same).count();
    let reusable_parts = match relation {
        Relation::Continues => old.len(),
        Relation::SharesPrompt => {
            old.iter().take_while(|part| part.region != Region::Messages).count()
        }
    };
    let sides = (old.get(common_parts), new.get(common_parts));
    let offset = match sides {
        (Some(old), Some(new)) if old.kind == new.kind => common_prefix(&old.text, &new.text),
        _ => 0,
    };
    let whole: usize = new.iter().take(common_parts).map(|part| part.text.len()).sum();
    let changed_model = relation == Relation::Continues && earlier.model != later.model;
    let difference = if changed_model {
        Some(Difference {
            cause: Cause::ModelChanged,
            region: Region::Tools,
            place: "model".to_owned(),
            line: 1,
            before: earlier.model.clone(),
            after: later.model.clone(),
            detail: None,
        })
    } else if common_parts < reusable_parts {
        Some(difference(relation, &old, &new, common_parts, offset))
    } else {
        None
    };
    Comparison {
        previous,
        relation,
        common_parts: if changed_model { 0 } else { common_parts },
        offset: if changed_model { 0 } else { offset },
        common_bytes: if changed_model { 0 } else { whole + offset },
        reusable_parts,
        difference,
    }
}

fn difference(
    relation: Relation,
    old: &[&RequestPart],
    new: &[&RequestPart],
    at: usize,
    offset: usize,
) -> Difference {
    let (before, after) = (old.get(at).copied(), new.get(at).copied());
    let part = after.or(before);
    let region = part.map_or(Region::Messages, |part| part.region);
    let text = |part: Option<&RequestPart>| part.map_or(String::new(), |part| part.text.clone());
    let (before_text, after_text) = (text(before), text(after));
    // Where one side has another kind of part, nothing in it corresponds.
    let aligned = before.zip(after).is_some_and(|(before, after)| before.kind == after.kind);
    let texts = Texts { before: &before_text, after: &after_text, offset };
    let (cause, detail) = cause::find(relation, region, old, new, aligned.then_some(texts));
    let line_text = if after.is_some() { &after_text } else { &before_text };
    Difference {
        cause,
        region,
        place: part.map_or("messages".to_owned(), |part| part.place.clone()),
        line: 1 + line_text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count(),
        before: shown(&before_text, offset),
        after: shown(&after_text, offset),
        detail,
    }
}

/// The text around a byte, with the rest from there on in brackets.
fn shown(text: &str, offset: usize) -> String {
    let at = text.floor_char_boundary(offset);
    let from = text.floor_char_boundary(at.saturating_sub(SHOWN_BEFORE));
    let to = text.ceil_char_boundary(at.saturating_add(SHOWN_AFTER).min(text.len()));
    let head = text.get(from..at).unwrap_or_default();
    // Lines before the one that differs add nothing.
    let head = head.rsplit('\n').next().unwrap_or_default();
    let tail = text.get(at..to).unwrap_or_default();
    // Nor do the lines behind it, unless it is the line break that differs.
    let line_end = tail.char_indices().find(|(at, c)| *at > 0 && *c == '\n').map(|(at, _)| at);
    let to = line_end.map_or(to, |end| at + end);
    let tail = text.get(at..to).unwrap_or_default();
    let start = if from == 0 || head.len() < at - from { "" } else { "…" };
    let end = if to < text.len() { "…" } else { "" };
    format!("{start}{head}⟦{tail}{end}⟧")
}

/// How many bytes two texts start with, up to a character boundary.
pub(crate) fn common_prefix(one: &str, other: &str) -> usize {
    let same = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    one.floor_char_boundary(same).min(other.floor_char_boundary(same))
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
