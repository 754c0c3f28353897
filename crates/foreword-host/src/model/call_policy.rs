//! What a model call must carry and may ask for: the session's prompt, the session's model, and
//! nothing that the provider would fetch or run on its own, past the host.

use foreword_protocol::{ErrorCode, Failure, ModelCall, Provider, RequestFacts};
use serde_json::{Map, Value};

/// Fields that make a provider fetch or run something on its own.
const PROVIDER_SIDE_FIELDS: [&str; 6] =
    ["mcp_servers", "container", "web_search_options", "plugins", "prompt", "previous_response_id"];
const MAX_PATH_CHARS: usize = 100;

/// What the model calls of one session must comply with.
#[derive(Clone, Debug)]
pub(crate) struct ModelCallPolicy {
    /// The system text that every call must contain, byte for byte.
    pub(crate) system: String,
    /// Whether that must be the only system text, and `max_tokens` applies. Third-party loops add
    /// texts of their own.
    pub(crate) exclusive: bool,
    pub(crate) model: String,
    /// The most tokens one answer may have.
    pub(crate) max_tokens: u64,
}

impl ModelCallPolicy {
    /// Checks a call; returns what it says about itself.
    pub(crate) fn check(
        &self,
        call: &ModelCall,
        provider: Provider,
    ) -> Result<RequestFacts, Failure> {
        let path = call.path.split('?').next().unwrap_or_default();
        if path != provider.path() {
            let path: String = path.chars().take(MAX_PATH_CHARS).collect();
            let expected = provider.path();
            return Err(refused(&format!("its path is `{path}` instead of `{expected}`")));
        }
        let facts = RequestFacts::read(provider, call.body.get())
            .map_err(|error| Failure::new(ErrorCode::BadRequest, error.to_string()))?;
        if !facts.system_contains(&self.system) {
            return Err(refused("its system text does not contain the session's prompt"));
        }
        if self.exclusive && facts.system.iter().ne([&self.system]) {
            return Err(refused("it has system texts besides the session's prompt"));
        }
        if facts.model.as_deref() != Some(self.model.as_str()) {
            return Err(refused("it names another model than the session's"));
        }
        self.check_body(call.body.get())?;
        Ok(facts)
    }

    fn check_body(&self, body: &str) -> Result<(), Failure> {
        let body: Value = serde_json::from_str(body)
            .map_err(|error| Failure::new(ErrorCode::BadRequest, error.to_string()))?;
        let Value::Object(body) = &body else {
            return Err(Failure::new(ErrorCode::BadRequest, "the body is not a JSON object"));
        };
        if let Some(field) = PROVIDER_SIDE_FIELDS.into_iter().find(|name| body.contains_key(*name))
        {
            let reason = format!("the provider would act on its field `{field}` without the host");
            return Err(refused(&reason));
        }
        let limits =
            ["max_tokens", "max_completion_tokens"].iter().filter_map(|key| body.get(*key));
        if self.exclusive && limits.filter_map(Value::as_u64).any(|limit| limit > self.max_tokens) {
            return Err(refused("it asks for more tokens than model.max_output_tokens"));
        }
        for tool in items(body, "tools") {
            let kind = tool.get("type").and_then(Value::as_str);
            if !matches!(kind, None | Some("custom" | "function")) {
                return Err(refused("it has a tool that the provider would run without the host"));
            }
        }
        items(body, "messages").try_for_each(check_blocks)
    }
}

fn items<'v>(object: &'v Map<String, Value>, key: &str) -> impl Iterator<Item = &'v Value> {
    object.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// Refuses images and documents that the provider would have to fetch. Arguments of tool calls are
/// not looked at: they go to tools, not to the provider.
fn check_blocks(message: &Value) -> Result<(), Failure> {
    let blocks = message.get("content").and_then(Value::as_array);
    for block in blocks.into_iter().flatten() {
        let text = |path: &str| block.pointer(path).and_then(Value::as_str);
        if matches!(text("/type"), Some("tool_use")) {
            continue;
        }
        let inline = matches!(text("/source/type"), None | Some("base64" | "text" | "content"));
        let picture = text("/image_url/url").or(text("/image_url"));
        let is_data = picture.is_none_or(|url| url.starts_with("data:"));
        let stored = ["/file/file_id", "/file_id", "/source/file_id", "/source/url"];
        if !inline || !is_data || stored.iter().any(|path| block.pointer(path).is_some()) {
            return Err(refused(
                "it refers to something that the provider would fetch without the host",
            ));
        }
        check_blocks(block)?;
    }
    Ok(())
}

fn refused(reason: &str) -> Failure {
    Failure::new(ErrorCode::Refused, format!("model call refused: {reason}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    fn model_call(path: &str, body: &str) -> ModelCall {
        let body = serde_json::value::RawValue::from_string(body.to_owned()).unwrap();
        ModelCall { path: path.to_owned(), headers: BTreeMap::new(), body }
    }

    fn policy(system: &str, exclusive: bool) -> ModelCallPolicy {
        let (system, model) = (system.to_owned(), "m".to_owned());
        ModelCallPolicy { system, exclusive, model, max_tokens: 100 }
    }

    fn check(exclusive: bool, body: &Value) -> Result<(), String> {
        let body = body.to_string();
        let provider = if body.contains("\"role\":\"system\"") {
            Provider::OpenAi
        } else {
            Provider::Anthropic
        };
        let checked = policy("P", exclusive).check(&model_call(provider.path(), &body), provider);
        checked.map(drop).map_err(|failure| failure.message)
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

    #[test]
    fn only_a_call_with_the_prompt_passes() {
        let prompt = "Be good.\n\nNever lie.";
        let check = |path: &str, body: &str| {
            let checked = policy(prompt, false).check(&model_call(path, body), Provider::Anthropic);
            checked.map_err(|failure| failure.code).map(drop)
        };
        let system =
            |system: Value| json!({"model": "m", "system": system, "messages": []}).to_string();
        assert_eq!(check("/v1/messages?beta=true", &system(prompt.into())), Ok(()));
        let blocks = json!([{"type": "text", "text": "Be good.\n\n"}, {"type": "text", "text": "Never lie."}]);
        assert_eq!(check("/v1/messages", &system(blocks)), Ok(()));
        let refused = Err(ErrorCode::Refused);
        assert_eq!(check("/v1/messages", &system("Be good.\n\nNever  lie.".into())), refused);
        assert_eq!(check("/v1/messages", r#"{"model": "m", "messages": []}"#), refused);
        assert_eq!(check("/v1/files", &system(prompt.into())), refused);
        assert_eq!(check("/v1/messages/../files", &system(prompt.into())), refused);
        let twice = format!(
            r#"{{"model":"m","system":"{0}","system":"evil","messages":[]}}"#,
            "Be good.\\n\\nNever lie."
        );
        assert_eq!(check("/v1/messages", &twice), Err(ErrorCode::BadRequest));
    }
}
