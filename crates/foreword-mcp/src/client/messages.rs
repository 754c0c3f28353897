//! Tools and answers of a server, as plain data.

use rmcp::model::{CallToolResult, Tool};
use serde_json::Value;

use super::McpClientError;

/// How much of a name an error repeats.
const MAX_NAME_CHARS: usize = 64;

/// A tool as a server offers it. Nothing in it is to be believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedTool {
    pub name: String,
    pub description: String,
    /// The JSON Schema of its arguments.
    pub input_schema: Value,
}

/// The list of a server's tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OfferedTools {
    pub tools: Vec<OfferedTool>,
    /// Entries that are no tools, each with what is wrong, as the rest of a sentence about the server.
    pub left_out: Vec<String>,
}

impl OfferedTools {
    /// Reads a page entry by entry: one that is wrong does not take the others with it. Gives the next page.
    pub(super) fn add_page(&mut self, page: &Value) -> Result<Option<String>, McpClientError> {
        let Some(entries) = page.get("tools").and_then(Value::as_array) else {
            let message = "its answer has no list of `tools`".to_owned();
            return Err(McpClientError::Protocol(message));
        };
        for (at, entry) in entries.iter().enumerate() {
            match serde_json::from_value::<Tool>(entry.clone()) {
                Ok(tool) => self.tools.push(OfferedTool::of(&tool)),
                Err(error) => {
                    let name = entry.get("name").and_then(Value::as_str);
                    let name = name.map(|name| name.chars().take(MAX_NAME_CHARS).collect());
                    let name: String = name.unwrap_or_else(|| format!("number {}", at + 1));
                    let fault = match entry.get("inputSchema") {
                        None => "it has no `inputSchema`".to_owned(),
                        Some(_) => error.to_string(),
                    };
                    self.left_out.push(format!("tool `{name}` is left out: {fault}"));
                }
            }
        }
        Ok(page.get("nextCursor").and_then(Value::as_str).map(str::to_owned))
    }
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
