//! One request body on its own, and whether a prompt is in it byte for byte.

use foreword_guard::Scanner;
use serde::Serialize;

use crate::analysis::{ProjectFiles, ReportOptions, report};
use crate::capture::{Capture, Credentials, RecordedCall, secrets_in};
use crate::error::WatchError;
use crate::report::{CaptureInfo, Region, Report};
use crate::turn_context::{self, TurnContextPlace};
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

/// A prompt as it was built.
#[derive(Clone, Copy, Debug)]
pub struct ExpectedPrompt<'p> {
    /// The system prompt.
    pub system: &'p str,
    /// So many bytes of it, from the start, stay the same between sessions.
    pub stable_bytes: usize,
    /// The turn context; `None` if it is not to be looked for.
    pub turn_context: Option<&'p str>,
}

/// Whether a prompt is in a request as it was built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PromptCheck {
    /// Whether there is nothing to change: the prompt is there, no other text comes before it, and it can be
    /// cached.
    pub is_right: bool,
    /// Whether the system prompt is there, byte for byte.
    pub is_present: bool,
    /// If not: the first byte of the prompt that differs, and both sides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_difference: Option<PromptDifference>,
    /// Text of the system region before the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreign_before: Option<String>,
    /// Text of the system region behind the prompt, without the turn context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreign_after: Option<String>,
    /// Whether the request marks the end of the stable part for the cache; absent where the provider caches
    /// by itself or the prompt is not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_marked_at_boundary: Option<bool>,
    /// Whether the request marks the end of the whole system prompt for the cache, which then holds for the
    /// session; absent like the above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_marked_at_end: Option<bool>,
    /// Where the turn context is; absent if it was not looked for or is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_context: Option<TurnContextPlace>,
}

/// Where a prompt and a request part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PromptDifference {
    /// The first byte of the prompt that differs.
    pub byte: usize,
    /// The line of the prompt, from 1.
    pub line: usize,
    /// The prompt from there, redacted.
    pub expected: String,
    /// The request from there, redacted.
    pub found: String,
}

/// Compares a request with the prompt that was built.
pub fn check_prompt(body: &str, prompt: &ExpectedPrompt<'_>) -> Result<PromptCheck, WatchError> {
    let request =
        read_request(None, "", body).map_err(|error| WatchError::Body(error.to_string()))?;
    let ExpectedPrompt { system, stable_bytes: stable, turn_context } = *prompt;
    let parts = request.parts.iter();
    let parts: Vec<_> = parts
        .filter(|part| part.region == Region::System && part.kind != PartKind::Transport)
        .collect();
    // Blocks of a prompt follow one another without anything between them; some programs join them with
    // line breaks, which is another text.
    let sent: String = parts.iter().map(|part| part.text.as_str()).collect();
    let at = if system.is_empty() { None } else { sent.find(system) };
    let turn_context = turn_context.filter(|text| !text.is_empty());
    let end = at.map(|at| at + system.len());
    let place = turn_context.map(|text| turn_context::find(&request.parts, text, end));
    let (Some(at), Some(end)) = (at, end) else {
        return Ok(PromptCheck {
            is_right: false,
            is_present: false,
            first_difference: Some(first_difference(system, &sent)),
            foreign_before: None,
            foreign_after: None,
            is_marked_at_boundary: None,
            is_marked_at_end: None,
            turn_context: place,
        });
    };
    let excerpt = |text: &str| {
        let text = foreword_guard::redact(text.trim()).text;
        (!text.is_empty()).then(|| text.chars().take(200).collect::<String>())
    };
    let mut part_end = 0;
    let (mut at_boundary, mut at_end) = (false, false);
    for part in &parts {
        part_end += part.text.len();
        at_boundary |= part.cache_mark && part_end == at + stable;
        at_end |= part.cache_mark && part_end == end;
    }
    let marked =
        |is_marked: bool| (request.caching == Caching::Marks && stable > 0).then_some(is_marked);
    let behind = sent.get(end..).unwrap_or_default();
    let behind =
        turn_context.map_or_else(|| behind.to_owned(), |text| behind.replacen(text, "", 1));
    let foreign_before = excerpt(sent.get(..at).unwrap_or_default());
    let is_marked_at_boundary = marked(at_boundary);
    Ok(PromptCheck {
        is_right: foreign_before.is_none()
            && is_marked_at_boundary != Some(false)
            && place.is_none_or(TurnContextPlace::is_right),
        is_present: true,
        first_difference: None,
        foreign_before,
        foreign_after: excerpt(&behind),
        is_marked_at_boundary,
        is_marked_at_end: marked(at_end),
        turn_context: place,
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
            let expected =
                ExpectedPrompt { system: &system, stable_bytes: stable.len(), turn_context: None };
            check_prompt(&request(blocks), &expected).unwrap()
        };
        assert!(check(&[(stable, true), (session, true)]).is_right);
        let unmarked = check(&[(&system, true)]);
        assert_eq!((unmarked.is_present, unmarked.is_marked_at_boundary), (true, Some(false)));
        assert_eq!(unmarked.is_marked_at_end, Some(true));
        let foreign = check(&[("You are Claude Code.", false), (stable, true), (session, true)]);
        assert_eq!(foreign.foreign_before.as_deref(), Some("You are Claude Code."));
        assert!(!foreign.is_right);
        let after = check(&[(stable, true), (session, true), ("Today is Tuesday.", false)]);
        assert_eq!(after.foreign_after.as_deref(), Some("Today is Tuesday."));
        assert!(after.is_right);
        let changed = check(&[(stable, true), ("On Linux!\n", true)]);
        let difference = changed.first_difference.unwrap();
        assert_eq!((changed.is_present, difference.byte, difference.line), (false, 24, 2));
        assert_eq!((difference.expected.as_str(), difference.found.as_str()), (".\n", "!\n"));
        let header =
            check(&[("x-anthropic-billing-header: a", false), (stable, true), (session, true)]);
        assert!(header.is_right);
        let openai = serde_json::json!({"messages": [{"role": "system", "content": system}]});
        let expected =
            ExpectedPrompt { system: &system, stable_bytes: stable.len(), turn_context: None };
        let openai = check_prompt(&openai.to_string(), &expected).unwrap();
        assert_eq!((openai.is_right, openai.is_marked_at_boundary), (true, None));
    }

    #[test]
    fn the_turn_context_belongs_in_front_of_the_newest_message() {
        const SYSTEM: &str = "You are Pickle.\n";
        let turn = "## Memory\n\n- Ada likes tea\n";
        let check = |system: serde_json::Value, messages: serde_json::Value| {
            let body =
                serde_json::json!({"model": "claude", "system": system, "messages": messages});
            let expected = ExpectedPrompt {
                system: SYSTEM,
                stable_bytes: SYSTEM.len(),
                turn_context: Some(turn),
            };
            let check = check_prompt(&body.to_string(), &expected).unwrap();
            (check.turn_context.unwrap(), check.is_right, check.foreign_after)
        };
        let user = |text: &str| serde_json::json!({"role": "user", "content": text});
        let model = |text: &str| serde_json::json!({"role": "assistant", "content": text});
        let cached = |text: &str| serde_json::json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}});
        let plain = |text: &str| serde_json::json!({"type": "text", "text": text});
        let own = || serde_json::json!([cached(SYSTEM)]);
        let joined = format!("{turn}\nPlan my week");
        let reversed = format!("Plan my week\n\n{turn}");
        let both =
            serde_json::json!({"role": "user", "content": [plain(turn), plain("Plan my week")]});
        use TurnContextPlace::*;
        for (messages, place) in [
            (
                serde_json::json!([user("Hi"), model("Hello"), user(turn), user("Plan my week")]),
                BeforeUserMessage,
            ),
            (serde_json::json!([user("Hi"), model("Hello"), both]), BeforeUserMessage),
            (serde_json::json!([user(&joined)]), BeforeUserMessage),
            (serde_json::json!([user(turn)]), BeforeUserMessage),
            (serde_json::json!([user(&reversed)]), AfterUserMessage),
            (
                serde_json::json!([user("Plan my week"), model("Reading"), user(turn)]),
                AfterUserMessage,
            ),
            (
                serde_json::json!([user(turn), user("Hi"), model("Hello"), user("Plan my week")]),
                InCachedPrefix,
            ),
            (serde_json::json!([user("## Memory\n- Ada likes tea")]), Missing),
        ] {
            let (found, right, foreign) = check(own(), messages.clone());
            assert_eq!((found, foreign), (place, None), "{messages}");
            assert_eq!(right, !matches!(place, InCachedPrefix | Missing), "{messages}");
        }
        let asked = serde_json::json!([user("Plan my week")]);
        let behind = serde_json::json!([cached(SYSTEM), plain(turn)]);
        assert_eq!(check(behind, asked.clone()), (AfterSystemPrompt, true, None));
        let marked = serde_json::json!([cached(SYSTEM), cached(turn)]);
        assert_eq!(check(marked, asked.clone()), (InCachedPrefix, false, None));
        let before = serde_json::json!([plain(turn), cached(SYSTEM)]);
        assert_eq!(check(before, asked).0, InCachedPrefix);
    }
}
