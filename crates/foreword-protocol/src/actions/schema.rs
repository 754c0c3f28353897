//! The published schemas: what a call may look like, for programs in any language.

use std::borrow::Cow;
use std::marker::PhantomData;

use foreword::Named;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use crate::actions::action::{ActionInfo, actions};

/// The schema of a type that is written as a name: the core, which owns such types, knows no schemas.
pub(crate) struct NameSchema<T>(PhantomData<T>);

impl<T: Named> JsonSchema for NameSchema<T> {
    fn schema_name() -> Cow<'static, str> {
        std::any::type_name::<T>().rsplit("::").next().unwrap_or_default().into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<Value> = T::names()
            .into_iter()
            .map(|(name, about)| json!({"description": about, "type": "string", "const": name}))
            .collect();
        json_schema!({"description": T::ABOUT, "oneOf": names})
    }
}

/// The JSON Schema of an action's arguments, complete in itself.
pub fn action_schema(action: &ActionInfo) -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut generator = SchemaGenerator::new(settings);
    let mut schema = (action.schema)(&mut generator).to_value();
    if let Some(object) = schema.as_object_mut() {
        // A tool without arguments takes an empty object, and some readers want to be told.
        object.entry("type").or_insert_with(|| "object".into());
        object.entry("properties").or_insert_with(|| Value::Object(Map::new()));
        object.entry("additionalProperties").or_insert(Value::Bool(false));
        object.remove("title");
    }
    schema
}

/// Everything that travels over the socket, as one JSON Schema.
pub fn schema() -> Value {
    let calls: Vec<Value> = actions()
        .iter()
        .map(|action| {
            json!({
                "title": action.name,
                "description": action.description,
                "type": "object",
                "properties": {
                    "id": {"type": "integer", "minimum": 0, "description": "Increases with every call on a connection."},
                    "token": {"type": "string", "description": "The session's token."},
                    "action": {"const": action.name},
                    "args": action_schema(action),
                },
                "required": ["id", "token", "action"],
                "additionalProperties": false,
                "x-agent-tool": action.is_tool(),
                "x-sensitive": action.is_sensitive(),
            })
        })
        .collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Foreword IPC",
        "description": "One JSON object a line over the session's Unix socket. Each call is answered by a line with its id: `ok` and `result`, or `error`; `stream` lines come before.",
        "oneOf": calls,
        "$defs": {
            "reply": {
                "type": "object",
                "properties": {
                    "id": {"type": ["integer", "null"]},
                    "ok": {"type": "boolean"},
                    "result": {},
                    "error": {
                        "type": "object",
                        "properties": {
                            "code": {"enum": ["bad_request", "unknown_action", "bad_token", "replayed_id", "too_large", "rate_limited", "timed_out", "tainted", "refused", "not_found", "limit", "unavailable", "internal"]},
                            "message": {"type": "string"},
                        },
                        "required": ["code", "message"],
                    },
                    "stream": {"type": "object"},
                },
                "required": ["id"],
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_has_a_closed_schema() {
        for action in actions() {
            let schema = action_schema(action);
            assert_eq!(schema["type"], "object", "{}", action.name);
            assert_eq!(schema["additionalProperties"], false, "{}", action.name);
            assert!(schema.get("$defs").is_none(), "{} is not complete in itself", action.name);
        }
        assert_eq!(schema()["oneOf"].as_array().map(Vec::len), Some(actions().len()));
    }
}
