//! The results of tools in a program's request, as the model may read them.
//!
//! A program puts what its own tools answered into its next request. Before that leaves, the host judges
//! each new result, and what came from outside is fenced, as for the native runner. The program repeats
//! its conversation with every request, so each result is fenced alike every time. A request without
//! external results goes out byte for byte.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, PoisonError};

use foreword_protocol::{Action, Client, ClientError, ToolResult};
use serde_json::Value;

use crate::host::Host;

/// Results that are remembered; beyond that the host is asked again.
const MAX_REMEMBERED: usize = 100_000;

/// What the host said of each result so far, by call and content.
#[derive(Debug, Default)]
pub(super) struct Results {
    judged: Mutex<HashMap<u64, Option<String>>>,
    hasher: RandomState,
}

/// A call of a tool: its name and what it was called with.
type Calls = HashMap<String, (String, Value)>;

impl Results {
    /// The body with its external results fenced; nothing if it may go out as it is.
    pub(super) fn fenced(
        &self,
        body: &str,
        host: &Host,
        client: &mut Option<Client>,
    ) -> Result<Option<String>, ClientError> {
        // Most requests of a conversation have results, most conversations have no external ones.
        let is_concerned = ["\"tool_result\"", "\"tool_call_id\"", "\"role\":\"system\""];
        if !is_concerned.iter().any(|mark| body.contains(mark)) {
            return Ok(None);
        }
        // What is no JSON is refused by the host.
        let Ok(mut parsed) = serde_json::from_str::<Value>(body) else { return Ok(None) };
        let mut changed = lower_system_messages(&mut parsed);
        let Some(messages) = parsed.get_mut("messages").and_then(Value::as_array_mut) else {
            return Ok(None);
        };
        let calls = calls(messages);
        for message in messages {
            if text(message, "role") == "tool" {
                let id = text(message, "tool_call_id").to_owned();
                changed |= self.fence(message.get_mut("content"), &id, &calls, host, client)?;
                continue;
            }
            let blocks = message.get_mut("content").and_then(Value::as_array_mut);
            for block in blocks.into_iter().flatten() {
                if text(block, "type") == "tool_result" {
                    let id = text(block, "tool_use_id").to_owned();
                    changed |= self.fence(block.get_mut("content"), &id, &calls, host, client)?;
                }
            }
        }
        Ok(changed.then(|| parsed.to_string()))
    }

    /// Fences a result in place; whether it had to.
    fn fence(
        &self,
        content: Option<&mut Value>,
        id: &str,
        calls: &Calls,
        host: &Host,
        client: &mut Option<Client>,
    ) -> Result<bool, ClientError> {
        let Some(content) = content else { return Ok(false) };
        let plain = match &*content {
            Value::String(text) => text.clone(),
            Value::Array(parts) => {
                let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
                texts.collect::<Vec<_>>().join("\n")
            }
            _ => return Ok(false),
        };
        let Some(fenced) = self.judge(id, plain, calls, host, client)? else { return Ok(false) };
        match content {
            Value::Array(parts) => {
                // The first text takes all; pictures and marks stay.
                let mut fenced = Some(Value::String(fenced));
                parts.retain_mut(|part| match part.get_mut("text") {
                    Some(text) => fenced.take().map(|fenced| *text = fenced).is_some(),
                    None => true,
                });
            }
            content => *content = Value::String(fenced),
        }
        Ok(true)
    }

    /// What the host says of a result: the fenced text, or nothing if it may be read plain.
    fn judge(
        &self,
        id: &str,
        content: String,
        calls: &Calls,
        host: &Host,
        client: &mut Option<Client>,
    ) -> Result<Option<String>, ClientError> {
        let key = self.hasher.hash_one((id, &content));
        let known = || self.judged.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(judged) = known().get(&key) {
            return Ok(judged.clone());
        }
        let (name, input) = calls.get(id).cloned().unwrap_or_default();
        let name = if name.is_empty() { "tool".to_owned() } else { name };
        let mut connected = match client.take() {
            Some(client) => client,
            None => host.connect()?,
        };
        let report = ToolResult { id: id.to_owned(), name, input, content, fault: None };
        let judged = connected.call(Action::ToolResult(report))?;
        *client = Some(connected);
        let fenced = judged.get("content").and_then(Value::as_str).map(str::to_owned);
        let mut known = known();
        if known.len() >= MAX_REMEMBERED {
            known.clear();
        }
        known.insert(key, fenced.clone());
        Ok(fenced)
    }
}

/// Gives reminders that Claude Code puts into a conversation as the system the authority of a user; whether
/// there were any. Only the session's prompt speaks as the system, and the host refuses any other.
fn lower_system_messages(body: &mut Value) -> bool {
    // In the other format the prompt itself is such a message.
    if body.get("system").is_none() {
        return false;
    }
    let messages = body.get_mut("messages").and_then(Value::as_array_mut).into_iter().flatten();
    let mut lowered = false;
    for role in messages.filter_map(|message| message.get_mut("role")) {
        if role == "system" {
            *role = Value::String("user".to_owned());
            lowered = true;
        }
    }
    lowered
}

/// The calls of tools in a conversation, by their ids, in the format of any provider.
fn calls(messages: &[Value]) -> Calls {
    let mut calls = Calls::new();
    for message in messages {
        for call in parts(message, "tool_calls") {
            let name = call.pointer("/function/name").and_then(Value::as_str).unwrap_or_default();
            let arguments = call.pointer("/function/arguments").and_then(Value::as_str);
            let input = serde_json::from_str(arguments.unwrap_or_default()).unwrap_or_default();
            calls.insert(text(call, "id").to_owned(), (name.to_owned(), input));
        }
        for block in parts(message, "content").filter(|block| text(block, "type") == "tool_use") {
            let input = block.get("input").cloned().unwrap_or_default();
            calls.insert(text(block, "id").to_owned(), (text(block, "name").to_owned(), input));
        }
    }
    calls
}

fn parts<'v>(value: &'v Value, field: &str) -> impl Iterator<Item = &'v Value> {
    value.get(field).and_then(Value::as_array).into_iter().flatten()
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::lower_system_messages;
    use serde_json::json;

    #[test]
    fn only_the_prompt_speaks_as_the_system() {
        let mut body = json!({"system": [{"type": "text", "text": "P"}], "messages": [
            {"role": "user", "content": "hi"}, {"role": "system", "content": "a reminder"}]});
        assert!(lower_system_messages(&mut body));
        assert_eq!(body["messages"][1], json!({"role": "user", "content": "a reminder"}));
        assert!(!lower_system_messages(&mut body));
        let mut openai = json!({"messages": [{"role": "system", "content": "P"}]});
        assert!(!lower_system_messages(&mut openai));
        assert_eq!(openai["messages"][0]["role"], "system");
        assert!(!lower_system_messages(&mut json!({"system": "P", "messages": "none"})));
    }
}
