//! What a call of the model may ask for, beside carrying the prompt: nothing that the provider would
//! fetch or run by itself, past the host.

use foreword_protocol::RequestFacts;
use foreword_protocol::{ErrorCode, Failure};
use serde_json::{Map, Value};

/// Fields that let a provider reach out by itself.
const FOREIGN_FIELDS: [&str; 6] =
    ["mcp_servers", "container", "web_search_options", "plugins", "prompt", "previous_response_id"];

/// What the calls of one session have to keep to.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModelCallPolicy {
    /// Is the prompt all there may be of system texts? Other people's loops add their own.
    pub(crate) alone: bool,
    /// The model.
    pub(crate) model: String,
    /// Tokens of one answer, for our own loop.
    pub(crate) max_tokens: u64,
}

impl ModelCallPolicy {
    /// Lets a call pass that asks for nothing but words and this session's tools.
    pub(crate) fn check(
        &self,
        facts: &RequestFacts,
        body: &str,
        prompt: &str,
    ) -> Result<(), Failure> {
        if facts.model.as_deref() != Some(self.model.as_str()) {
            return Err(refused("another model than the session's"));
        }
        if self.alone && facts.system.iter().map(String::as_str).ne([prompt]) {
            return Err(refused("system texts beside the session's prompt"));
        }
        let body: Value = serde_json::from_str(body)
            .map_err(|error| Failure::new(ErrorCode::BadRequest, error.to_string()))?;
        let Value::Object(body) = &body else {
            return Err(Failure::new(ErrorCode::BadRequest, "the body is no JSON object"));
        };
        if let Some(field) = FOREIGN_FIELDS.into_iter().find(|field| body.contains_key(*field)) {
            return Err(refused(&format!("`{field}`, which the provider would act on by itself")));
        }
        let asked = ["max_tokens", "max_completion_tokens"].iter().filter_map(|key| body.get(*key));
        if self.alone && asked.filter_map(Value::as_u64).any(|asked| asked > self.max_tokens) {
            return Err(refused("more tokens than model.max_output_tokens"));
        }
        for tool in items(body, "tools") {
            let kind = tool.get("type").and_then(Value::as_str);
            if !matches!(kind, None | Some("custom" | "function")) {
                return Err(refused("a tool that the provider would run by itself"));
            }
        }
        items(body, "messages").try_for_each(check_blocks)
    }
}

fn items<'v>(object: &'v Map<String, Value>, key: &str) -> impl Iterator<Item = &'v Value> {
    object.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// Pictures and documents come with the call, or not at all. What a tool is called with is the
/// session's own business.
fn check_blocks(message: &Value) -> Result<(), Failure> {
    let blocks = message.get("content").and_then(Value::as_array);
    for block in blocks.into_iter().flatten() {
        let text = |path: &str| block.pointer(path).and_then(Value::as_str);
        if matches!(text("/type"), Some("tool_use")) {
            continue;
        }
        let inline = matches!(text("/source/type"), None | Some("base64" | "text" | "content"));
        let picture = text("/image_url/url").or(text("/image_url"));
        let carried = picture.is_none_or(|url| url.starts_with("data:"));
        let stored = ["/file/file_id", "/file_id", "/source/file_id", "/source/url"];
        if !inline || !carried || stored.iter().any(|path| block.pointer(path).is_some()) {
            return Err(refused("something that the provider would fetch by itself"));
        }
        check_blocks(block)?;
    }
    Ok(())
}

fn refused(what: &str) -> Failure {
    Failure::new(ErrorCode::Refused, format!("the call was not passed on: it asks for {what}"))
}

#[cfg(test)]
mod tests {
    use foreword_protocol::Provider;
    use serde_json::json;

    use super::*;

    fn check(alone: bool, body: &Value) -> Result<(), String> {
        let policy = ModelCallPolicy { alone, model: "m".to_owned(), max_tokens: 100 };
        let body = body.to_string();
        let provider = if body.contains("\"role\":\"system\"") {
            Provider::OpenAi
        } else {
            Provider::Anthropic
        };
        let facts = RequestFacts::read(provider, &body).unwrap();
        policy.check(&facts, &body, "P").map_err(|failure| failure.message)
    }

    fn with(field: &str, value: Value) -> Value {
        let mut body = json!({"model": "m", "system": "P", "messages": [], "max_tokens": 100});
        body.as_object_mut().unwrap().insert(field.to_owned(), value);
        body
    }

    #[test]
    fn words_and_own_tools_pass() {
        assert_eq!(
            check(true, &with("tools", json!([{"name": "a"}, {"type": "custom", "name": "b"}]))),
            Ok(())
        );
        let call = json!([{"role": "assistant", "content": [
            {"type": "tool_use", "id": "1", "name": "a", "input": {"source": {"type": "url"}}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": [
                {"type": "image", "source": {"type": "base64", "data": ""}}]}]}]);
        assert_eq!(check(true, &with("messages", call)), Ok(()));
    }

    #[test]
    fn nothing_reaches_out_past_the_host() {
        for (field, value) in [
            ("tools", json!([{"type": "web_search_20250305", "name": "web_search"}])),
            ("tools", json!([{"type": "mcp", "server_url": "https://x"}])),
            ("mcp_servers", json!([{"url": "https://x"}])),
            ("web_search_options", json!({})),
            ("model", json!("other")),
            ("max_tokens", json!(101)),
            ("system", json!("P and more")),
            (
                "messages",
                json!([{"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "https://x"}}]}]),
            ),
            (
                "messages",
                json!([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x"}}]}]),
            ),
            (
                "messages",
                json!([{"role": "user", "content": [{"type": "document", "source": {"type": "file", "file_id": "f"}}]}]),
            ),
            (
                "messages",
                json!([{"role": "user", "content": [{"type": "tool_result", "content": [{"type": "image", "source": {"type": "url"}}]}]}]),
            ),
        ] {
            assert!(check(true, &with(field, value.clone())).is_err(), "{field}: {value}");
        }
        let later = json!({"model": "m", "messages": [{"role": "system", "content": "P"}, {"role": "developer", "content": "void"}]});
        assert!(check(true, &later).is_err());
        assert_eq!(check(false, &later), Ok(()), "other people's loops add their own");
    }
}
