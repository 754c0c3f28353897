//! One request body on its own, and whether a prompt is in it byte for byte.

use foreword_guard::Scanner;
use serde::Serialize;

use crate::analysis::{ProjectFiles, ReportOptions, report};
use crate::capture::{Capture, Credentials, RecordedCall, secrets_in};
use crate::error::WatchError;
use crate::report::{CaptureInfo, Region, Report};
use crate::wire::{Caching, PartKind, read_request};

/// Reports on one request body, as if it had been captured.
pub fn check_request(
    body: &str,
    files: Option<&ProjectFiles>,
    scanner: &Scanner,
    options: &ReportOptions<'_>,
) -> Result<Report, WatchError> {
    let request =
        read_request(None, "", body).map_err(|error| WatchError::Body(error.to_string()))?;
    let credentials = Credentials::default();
    let secrets = request.parts.iter().flat_map(|part| secrets_in(part, &credentials)).collect();
    let call = RecordedCall::of_body(request.api, secrets, credentials.redact_body(body));
    let capture =
        Capture { info: CaptureInfo::default(), calls: vec![call], others: 0, damage: Vec::new() };
    let mut made = report(&capture, files, scanner, options);
    if files.is_none() {
        made.notes.clear();
    }
    Ok(made)
}

/// Whether a prompt is in a request as it was built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptCheck {
    /// Whether the system prompt is there, byte for byte.
    pub is_present: bool,
    /// If not: the first byte of the prompt that differs, and both sides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_difference: Option<PromptDifference>,
    /// Text of the system region before the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreign_before: Option<String>,
    /// Text of the system region behind the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreign_after: Option<String>,
    /// Whether the request marks the end of the stable part for the cache; absent where the provider caches
    /// by itself or the prompt is not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_marked_at_boundary: Option<bool>,
}

/// Where a prompt and a request part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptDifference {
    pub byte: usize,
    /// The line of the prompt, from 1.
    pub line: usize,
    pub expected: String,
    pub found: String,
}

impl PromptCheck {
    /// Whether there is nothing to change.
    #[must_use]
    pub fn is_right(&self) -> bool {
        self.is_present
            && self.foreign_before.is_none()
            && self.is_marked_at_boundary != Some(false)
    }
}

/// Compares a request with the prompt that was built: the system prompt, of which the first `stable` bytes
/// stay the same between sessions.
pub fn check_prompt(body: &str, system: &str, stable: usize) -> Result<PromptCheck, WatchError> {
    let request =
        read_request(None, "", body).map_err(|error| WatchError::Body(error.to_string()))?;
    let parts = request.parts.iter();
    let parts: Vec<_> = parts
        .filter(|part| part.region == Region::System && part.kind != PartKind::Transport)
        .collect();
    // Blocks of a prompt follow one another without anything between them; some programs join them with
    // line breaks, which is another text.
    let sent: String = parts.iter().map(|part| part.text.as_str()).collect();
    let at = if system.is_empty() { None } else { sent.find(system) };
    let Some(at) = at else {
        return Ok(PromptCheck {
            is_present: false,
            first_difference: Some(first_difference(system, &sent)),
            foreign_before: None,
            foreign_after: None,
            is_marked_at_boundary: None,
        });
    };
    let excerpt = |text: &str| {
        let text = foreword_guard::redact(text.trim()).text;
        (!text.is_empty()).then(|| text.chars().take(200).collect::<String>())
    };
    let mut end = 0;
    let mut marked = false;
    for part in &parts {
        end += part.text.len();
        marked |= part.cache_mark
            && (end == at + stable || (stable == system.len() && end == at + system.len()));
    }
    Ok(PromptCheck {
        is_present: true,
        first_difference: None,
        foreign_before: excerpt(sent.get(..at).unwrap_or_default()),
        foreign_after: excerpt(sent.get(at + system.len()..).unwrap_or_default()),
        is_marked_at_boundary: (request.caching == Caching::Marks && stable > 0).then_some(marked),
    })
}

/// The first byte in which the prompt differs from where the request follows it the longest.
fn first_difference(system: &str, sent: &str) -> PromptDifference {
    let start: String = system.chars().take(24).collect();
    let at = if start.is_empty() { 0 } else { sent.find(&start).unwrap_or(0) };
    let from = sent.get(at..).unwrap_or_default();
    let byte = crate::analysis::compare::common_prefix(system, from);
    let shown = |text: &str| {
        let rest = text.get(byte..).unwrap_or_default();
        foreword_guard::redact(&rest.chars().take(60).collect::<String>()).text
    };
    let head = system.get(..byte).unwrap_or_default();
    PromptDifference {
        byte,
        line: 1 + head.matches('\n').count(),
        expected: shown(system),
        found: shown(from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(blocks: &[(&str, bool)]) -> String {
        let blocks: Vec<_> = blocks
            .iter()
            .map(|(text, mark)| {
                let mut block = serde_json::json!({"type": "text", "text": text});
                if *mark {
                    block["cache_control"] = serde_json::json!({"type": "ephemeral"});
                }
                block
            })
            .collect();
        serde_json::json!({"model": "claude", "system": blocks, "messages": []}).to_string()
    }

    #[test]
    fn a_prompt_is_found_byte_for_byte() {
        let (stable, session) = ("You are Pickle.\n", "On Linux.\n");
        let system = format!("{stable}{session}");
        let check = |blocks: &[(&str, bool)]| {
            check_prompt(&request(blocks), &system, stable.len()).unwrap()
        };
        assert!(check(&[(stable, true), (session, true)]).is_right());
        let unmarked = check(&[(&system, true)]);
        assert_eq!((unmarked.is_present, unmarked.is_marked_at_boundary), (true, Some(false)));
        let foreign = check(&[("You are Claude Code.", false), (stable, true), (session, true)]);
        assert_eq!(foreign.foreign_before.as_deref(), Some("You are Claude Code."));
        assert!(!foreign.is_right());
        let after = check(&[(stable, true), (session, true), ("Today is Tuesday.", false)]);
        assert_eq!(after.foreign_after.as_deref(), Some("Today is Tuesday."));
        assert!(after.is_right());
        let changed = check(&[(stable, true), ("On Linux!\n", true)]);
        let difference = changed.first_difference.unwrap();
        assert_eq!((changed.is_present, difference.byte, difference.line), (false, 24, 2));
        assert_eq!((difference.expected.as_str(), difference.found.as_str()), (".\n", "!\n"));
        let header =
            check(&[("x-anthropic-billing-header: a", false), (stable, true), (session, true)]);
        assert!(header.is_right());
        let openai = serde_json::json!({"messages": [{"role": "system", "content": system}]});
        let openai = check_prompt(&openai.to_string(), &system, stable.len()).unwrap();
        assert_eq!((openai.is_right(), openai.is_marked_at_boundary), (true, None));
    }
}
