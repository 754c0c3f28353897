//! What a model call must carry and may ask for: the session's prompt, the session's model, and
//! nothing that the provider would fetch or run on its own, past the host.

use foreword_protocol::{ErrorCode, Failure, ModelCall, Provider, RequestFacts};

use crate::model::allow_list::{self, NotAllowed};

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

/// How many tokens a call may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallSize {
    /// An estimate of what the model will read.
    pub(crate) prompt_tokens: u64,
    /// The most tokens the model may write.
    pub(crate) output_tokens: u64,
}

impl ModelCallPolicy {
    /// Checks a call; returns how large it is.
    pub(crate) fn check(&self, call: &ModelCall, provider: Provider) -> Result<CallSize, Failure> {
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
        let output_tokens = facts.max_tokens.unwrap_or(self.max_tokens);
        if self.exclusive && output_tokens > self.max_tokens {
            return Err(refused("it asks for more tokens than model.max_output_tokens"));
        }
        match allow_list::check(provider, call.body.get()) {
            Ok(prompt_tokens) => Ok(CallSize { prompt_tokens, output_tokens }),
            Err(NotAllowed::Unreadable(error)) => {
                Err(Failure::new(ErrorCode::BadRequest, error.to_string()))
            }
            Err(error @ NotAllowed::Refused { .. }) => Err(refused(&error.to_string())),
        }
    }
}

fn refused(reason: &str) -> Failure {
    Failure::new(ErrorCode::Refused, format!("model call refused: {reason}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

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
