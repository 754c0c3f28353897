//! Chats as memories: one for each message, or several for a long one.
//!
//! Reads lines of JSON in three forms: `{"role", "text", "time"}` and its usual spellings, transcripts
//! of Claude Code, and transcripts of pi. What people and assistants said is kept; tool calls and
//! their results, system messages and the thoughts of a model are not. A memory begins with its
//! speaker, so that questions about a person find what that person said.

use foreword::Timestamp;
use foreword_store::MemoryKind;
use serde_json::{Map, Value};

use crate::index::words::each_term;
use crate::memory::days::written_date;
use crate::memory::memories::NewEntry;
use crate::memory::split::pieces;
use crate::memory::words::is_common;

/// The longest piece of a message, in bytes: a few sentences.
const MAX_PIECE: usize = 700;
/// The longest name of a speaker, in bytes.
const MAX_SPEAKER: usize = 60;
/// Elements that programs put into a person's message.
const WRAPPERS: [&str; 10] = [
    "system-reminder",
    "command-name",
    "command-message",
    "command-args",
    "command-contents",
    "local-command-stdout",
    "local-command-caveat",
    "bash-input",
    "bash-stdout",
    "bash-stderr",
];

/// Why a line is no part of a chat.
#[derive(Debug, thiserror::Error)]
pub enum ChatError {
    /// It is no JSON object.
    #[error("invalid chat line: {0}")]
    Json(#[from] serde_json::Error),
    /// It is a message without a speaker.
    #[error("a message needs a `role` such as user or assistant")]
    NoRole,
}

/// A chat that is read line by line.
#[derive(Debug, Default)]
pub struct Chat {
    kind: MemoryKind,
    session: Option<String>,
    /// Whether tools have answered: what an assistant says afterwards may come from outside.
    tools_answered: bool,
    /// Messages that became memories.
    pub messages: usize,
    /// Lines that did not: tool results, system messages, acknowledgements.
    pub skipped: usize,
}

impl Chat {
    /// A chat whose memories are of a kind.
    #[must_use]
    pub fn new(kind: MemoryKind) -> Self {
        Self { kind, ..Self::default() }
    }

    /// Whether a file that begins with this line is a chat rather than exported memories.
    #[must_use]
    pub fn begins_with(line: &str) -> bool {
        let object: Result<Map<String, Value>, _> = serde_json::from_str(line);
        object.is_ok_and(|object| {
            ["role", "type", "speaker"].iter().any(|field| object.contains_key(*field))
        })
    }

    /// The memories of a line; none if it is not a message.
    pub fn read(&mut self, line: &str) -> Result<Vec<NewEntry>, ChatError> {
        let line: Map<String, Value> = serde_json::from_str(line)?;
        if let Some(session) = text_of(&line, &["sessionId", "session_id", "session"]) {
            self.session = Some(session.to_owned());
        }
        let form = line.get("type").and_then(Value::as_str).unwrap_or_default();
        if form == "session" {
            self.session = text_of(&line, &["id"]).map(str::to_owned);
        }
        let message = line.get("message").and_then(Value::as_object).unwrap_or(&line);
        let role = text_of(message, &["role"]);
        let name = text_of(message, &["name", "speaker", "author"]);
        let Some(role) = role.or(name) else {
            // A line of a transcript that is not a message says so in its type.
            if form.is_empty() {
                return Err(ChatError::NoRole);
            }
            self.skipped += 1;
            return Ok(Vec::new());
        };
        let content = ["text", "content"].iter().find_map(|field| message.get(*field));
        let is_tool = matches!(role, "tool" | "toolResult" | "function" | "bashExecution");
        self.tools_answered |= is_tool || content.is_some_and(has_tool_result);
        let set = |field: &str| line.get(field).and_then(Value::as_bool).unwrap_or(false);
        let left_out = is_tool
            || matches!(role, "system" | "developer")
            || ["isMeta", "isSidechain", "isCompactSummary", "isApiErrorMessage"]
                .iter()
                .any(|field| set(field));
        let text = if left_out { String::new() } else { content.map(said).unwrap_or_default() };
        if !tells_something(&text) {
            self.skipped += 1;
            return Ok(Vec::new());
        }
        self.messages += 1;
        let (speaker, assistant) = match role {
            "user" | "human" => (name.unwrap_or("User"), false),
            "assistant" | "ai" | "model" | "bot" => (name.unwrap_or("Assistant"), true),
            other => (name.unwrap_or(other), false),
        };
        let speaker: String = speaker.chars().filter(|c| !c.is_control()).collect();
        let speaker = speaker.trim();
        let speaker = speaker.get(..speaker.floor_char_boundary(MAX_SPEAKER)).unwrap_or_default();
        let (date, created_at) = time_of(message).or_else(|| time_of(&line)).unwrap_or_default();
        let source = self.session.as_deref().map(|session| {
            let session = session.get(..session.floor_char_boundary(200)).unwrap_or_default();
            format!("chat {session}")
        });
        let entry = |piece: &str| NewEntry {
            kind: self.kind.clone(),
            date: date.clone(),
            created_at,
            tainted: assistant && self.tools_answered,
            source: source.clone(),
            ..NewEntry::new(format!("{speaker}: {piece}"))
        };
        Ok(pieces(&text, MAX_PIECE).into_iter().map(entry).collect())
    }
}

fn text_of<'a>(object: &'a Map<String, Value>, fields: &[&str]) -> Option<&'a str> {
    let found = fields.iter().find_map(|field| object.get(*field)?.as_str());
    found.filter(|text| !text.trim().is_empty())
}

/// What was said: the text itself, or the text blocks of a list.
fn said(content: &Value) -> String {
    let text = match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| match block {
                Value::String(text) => Some(text.as_str()),
                _ if block.get("type")?.as_str()? == "text" => block.get("text")?.as_str(),
                _ => None,
            });
            texts.collect::<Vec<_>>().join("\n\n")
        }
        _ => String::new(),
    };
    WRAPPERS.iter().fold(text, |text, tag| without_element(&text, tag))
}

fn has_tool_result(content: &Value) -> bool {
    let is_result = |block: &Value| {
        block.get("type").and_then(Value::as_str).is_some_and(|form| form.contains("tool_result"))
    };
    content.as_array().is_some_and(|blocks| blocks.iter().any(is_result))
}

/// The text without the elements of a name; one that is not closed ends with the text.
fn without_element(text: &str, tag: &str) -> String {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, inside)) = rest.split_once(&open) {
        kept.push_str(before);
        rest = inside.split_once(&close).map_or("", |(_, after)| after);
    }
    kept + rest
}

/// Whether a text has a word that not every text has: "ok, thanks" need not be remembered.
fn tells_something(text: &str) -> bool {
    const PLEASANTRIES: [&str; 12] =
        ["ok", "okay", "thank", "hi", "hello", "hey", "sure", "great", "cool", "bye", "lol", "nic"];
    let mut tells = false;
    each_term(text, |term| tells |= !is_common(term) && !PLEASANTRIES.contains(&term));
    tells
}

/// The day and the millisecond of a message, as far as it says them.
fn time_of(message: &Map<String, Value>) -> Option<(Option<String>, Option<i64>)> {
    let fields = ["time", "timestamp", "createdAt", "created_at", "ts", "date"];
    match fields.iter().find_map(|field| message.get(*field))? {
        Value::Number(number) => {
            let number = number.as_f64()?;
            // Seconds reach this number in the year 5138.
            let ms = if number.abs() < 1e11 { number * 1000.0 } else { number };
            Some((None, Some(ms as i64)))
        }
        Value::String(text) => match Timestamp::parse(text) {
            Some(time) => Some((None, Some(time.unix().saturating_mul(1000)))),
            None => Some((Some(written_date(text)?.0), None)),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> (Chat, Vec<NewEntry>) {
        let mut chat = Chat::default();
        let entries = lines.iter().flat_map(|line| chat.read(line).unwrap()).collect();
        (chat, entries)
    }

    fn texts(entries: &[NewEntry]) -> Vec<&str> {
        entries.iter().map(|entry| entry.text.as_str()).collect()
    }

    #[test]
    fn plain_lines_are_read_in_their_usual_spellings() {
        let (chat, entries) = read(&[
            r#"{"role": "user", "text": "We moved to Porto", "time": "2026-02-26T14:30:00Z"}"#,
            r#"{"role": "assistant", "content": "Noted: Porto.", "timestamp": 1772116200}"#,
            r#"{"role": "user", "name": "Ada", "content": [{"type": "text", "text": "My cat is Miau"}], "date": "8 May, 2023"}"#,
            r#"{"role": "system", "content": "You are a helpful assistant"}"#,
            r#"{"role": "user", "text": "ok, thanks!"}"#,
            r#"{"speaker": "Grace", "text": "The server runs Debian"}"#,
        ]);
        let expected = [
            "User: We moved to Porto",
            "Assistant: Noted: Porto.",
            "Ada: My cat is Miau",
            "Grace: The server runs Debian",
        ];
        assert_eq!(texts(&entries), expected);
        assert_eq!((chat.messages, chat.skipped), (4, 2));
        assert_eq!(entries[0].created_at, Some(1_772_116_200_000));
        assert_eq!(entries[1].created_at, entries[0].created_at);
        assert_eq!(entries[2].date.as_deref(), Some("2023-05-08"));
        assert!(entries.iter().all(|entry| !entry.tainted && entry.scope.session.is_none()));
    }

    #[test]
    fn a_transcript_of_claude_code_keeps_what_was_said() {
        let (chat, entries) = read(&[
            r#"{"type":"summary","summary":"Fix login","leafUuid":"x"}"#,
            r#"{"type":"user","isSidechain":false,"sessionId":"s-1","timestamp":"2026-01-20T11:57:17.716Z","message":{"role":"user","content":"<system-reminder>be brief</system-reminder>Fix the login of the admin page"}}"#,
            r#"{"type":"assistant","sessionId":"s-1","timestamp":"2026-01-20T11:57:19Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"The session cookie expires too early."},{"type":"tool_use","id":"t","name":"Read","input":{}}]}}"#,
            r#"{"type":"user","sessionId":"s-1","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"secret page"}]}}"#,
            r#"{"type":"user","isMeta":true,"message":{"role":"user","content":"Caveat: local commands"}}"#,
            r#"{"type":"assistant","isSidechain":true,"message":{"role":"assistant","content":"sub-agent talk"}}"#,
            r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Cookies now last a week."}]}}"#,
        ]);
        let expected = [
            "User: Fix the login of the admin page",
            "Assistant: The session cookie expires too early.",
            "Assistant: Cookies now last a week.",
        ];
        assert_eq!(texts(&entries), expected);
        assert_eq!((chat.messages, chat.skipped), (3, 4));
        assert_eq!(entries[0].source.as_deref(), Some("chat s-1"));
        // After a tool has answered, the assistant may repeat what came from outside.
        assert_eq!(entries.iter().map(|e| e.tainted).collect::<Vec<_>>(), [false, false, true]);
    }

    #[test]
    fn a_transcript_of_pi_keeps_what_was_said() {
        let (_, entries) = read(&[
            r#"{"type":"session","id":"p-1","timestamp":"2024-12-03T14:00:00.000Z","cwd":"/x"}"#,
            r#"{"type":"message","timestamp":"2024-12-03T14:00:01.000Z","message":{"role":"user","content":"Use pnpm in this repository","timestamp":1733234401000}}"#,
            r#"{"type":"message","timestamp":"2024-12-03T14:00:02.000Z","message":{"role":"toolResult","toolName":"bash","content":[{"type":"text","text":"output"}]}}"#,
            r#"{"type":"model_change","timestamp":"2024-12-03T14:05:00.000Z","modelId":"x"}"#,
        ]);
        assert_eq!(texts(&entries), ["User: Use pnpm in this repository"]);
        assert_eq!(entries[0].source.as_deref(), Some("chat p-1"));
        assert_eq!(entries[0].created_at, Some(1_733_234_401_000));
    }

    #[test]
    fn a_long_message_is_several_memories_of_its_speaker() {
        let long = format!("{}\\n\\n{}", "First part. ".repeat(50), "Second part. ".repeat(50));
        let (_, entries) = read(&[&format!(r#"{{"role": "user", "text": "{long}"}}"#)]);
        assert!(entries.len() >= 2, "{}", entries.len());
        assert!(entries.iter().all(|entry| entry.text.starts_with("User: ")));
        assert!(entries.iter().all(|entry| entry.text.len() <= MAX_PIECE + "User: ".len()));
    }

    #[test]
    fn a_chat_is_told_from_exported_memories() {
        assert!(Chat::begins_with(r#"{"role": "user", "text": "x"}"#));
        assert!(Chat::begins_with(r#"{"type": "summary"}"#));
        assert!(!Chat::begins_with(r#"{"text": "x", "kind": "fact"}"#));
        assert!(!Chat::begins_with("plain text"));
        let mut chat = Chat::default();
        assert!(chat.read(r#"{"text": "who said this?"}"#).is_err());
        assert!(chat.read("{").is_err());
    }
}
