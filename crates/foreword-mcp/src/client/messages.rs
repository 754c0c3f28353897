//! Tools and answers of a server, as plain data.

use rmcp::model::{CallToolResult, Tool};
use serde_json::Value;

/// A tool as a server offers it. Nothing in it is to be believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedTool {
    pub name: String,
    pub description: String,
    /// The JSON Schema of its arguments.
    pub input_schema: Value,
}

/// What a tool answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolAnswer {
    /// Its texts; what is no text is named in brackets.
    pub text: String,
    /// Whether the tool says that it failed.
    pub is_error: bool,
}

impl OfferedTool {
    pub(super) fn of(tool: &Tool) -> Self {
        let description = tool.description.as_deref().or(tool.title.as_deref());
        Self {
            name: tool.name.to_string(),
            description: description.unwrap_or_default().to_owned(),
            input_schema: Value::Object(tool.input_schema.as_ref().clone()),
        }
    }
}

impl ToolAnswer {
    pub(super) fn of(result: &CallToolResult) -> Self {
        let blocks = serde_json::to_value(&result.content).unwrap_or_default();
        let mut texts: Vec<String> = blocks.as_array().into_iter().flatten().map(text_of).collect();
        if texts.is_empty()
            && let Some(structured) = &result.structured_content
        {
            texts.push(serde_json::to_string_pretty(structured).unwrap_or_default());
        }
        Self { text: texts.join("\n"), is_error: result.is_error.unwrap_or(false) }
    }
}

/// A block of an answer as a model can read it.
fn text_of(block: &Value) -> String {
    let field = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default();
    let inside = |name: &str| {
        block.get("resource").and_then(|resource| resource.get(name)).and_then(Value::as_str)
    };
    match field("type") {
        "text" => field("text").to_owned(),
        "resource" => match inside("text") {
            Some(text) => text.to_owned(),
            None => format!("[resource {}, not shown]", inside("uri").unwrap_or_default()),
        },
        "resource_link" => format!("[link {}]", field("uri")),
        kind @ ("image" | "audio") => {
            format!(
                "[{kind} {}, {} bytes of base64, not shown]",
                field("mimeType"),
                field("data").len()
            )
        }
        kind => format!("[{kind}, not shown]"),
    }
}
