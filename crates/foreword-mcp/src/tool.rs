//! Tools and their results, in the words of the protocol.

use std::sync::Arc;

use foreword_protocol::Failure;
use rmcp::model::{CallToolResult, ContentBlock, Tool, ToolAnnotations};
use serde_json::{Value, json};

use crate::backend::ToolInfo;

/// A tool as it is listed.
pub(crate) fn tool(info: ToolInfo) -> Tool {
    let schema = match info.input_schema {
        Value::Object(schema) => schema,
        // Any other value is not a schema of arguments, so accept any object.
        _ => serde_json::Map::from_iter([("type".to_owned(), "object".into())]),
    };
    let mut hints = ToolAnnotations::new().read_only(info.read_only);
    if !info.read_only {
        hints = hints.destructive(info.sensitive);
    }
    Tool::new(info.name, info.description, Arc::new(schema)).with_annotations(hints)
}

/// The result of a call: the value for programs, and its text for a model.
pub(crate) fn result(value: Value) -> CallToolResult {
    match value {
        Value::String(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
        // Structured content must be an object, so other values are wrapped in one.
        value if !value.is_object() => CallToolResult::structured(json!({"result": value})),
        value => CallToolResult::structured(value),
    }
}

/// The error of a call, for the model.
pub(crate) fn failed(failure: &Failure) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(&failure.message)]);
    result.structured_content =
        Some(json!({"error": {"code": failure.code.as_str(), "message": failure.message}}));
    result
}

#[cfg(test)]
mod tests {
    use foreword_protocol::ErrorCode;

    use super::*;

    fn written(result: &CallToolResult) -> Value {
        let mut value = serde_json::to_value(result).unwrap();
        value.as_object_mut().unwrap().remove("resultType");
        value
    }

    #[test]
    fn results_are_for_programs_and_for_models() {
        assert_eq!(
            written(&result(json!({"a": 1}))),
            json!({
                "content": [{"type": "text", "text": "{\"a\":1}"}],
                "structuredContent": {"a": 1},
                "isError": false,
            })
        );
        assert_eq!(written(&result(json!([1])))["structuredContent"], json!({"result": [1]}));
        assert_eq!(
            written(&result(json!("a text"))),
            json!({"content": [{"type": "text", "text": "a text"}], "isError": false})
        );
        let failure = Failure::new(ErrorCode::Tainted, "the session is tainted");
        assert_eq!(
            written(&failed(&failure)),
            json!({
                "content": [{"type": "text", "text": "the session is tainted"}],
                "structuredContent": {"error": {"code": "tainted", "message": "the session is tainted"}},
                "isError": true,
            })
        );
    }

    #[test]
    fn hints_say_what_a_tool_does() {
        let info = |read_only, sensitive| ToolInfo {
            name: "t".to_owned(),
            description: "d".to_owned(),
            input_schema: json!({"type": "object"}),
            read_only,
            sensitive,
        };
        let hints = |read_only, sensitive| {
            serde_json::to_value(tool(info(read_only, sensitive))).unwrap()["annotations"].take()
        };
        assert_eq!(hints(true, false), json!({"readOnlyHint": true}));
        assert_eq!(hints(false, false), json!({"readOnlyHint": false, "destructiveHint": false}));
        assert_eq!(hints(false, true), json!({"readOnlyHint": false, "destructiveHint": true}));
    }
}
