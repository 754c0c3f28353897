//! Anthropic Messages.

use super::Shape::{self, Data, Either, Inline, List, Object, Scalar, Schema, Word};

pub(super) static BODY: Shape = Object(&[
    ("model", &Scalar),
    ("max_tokens", &Scalar),
    ("messages", &List(&MESSAGE)),
    ("system", &Either(&[&Scalar, &List(&SYSTEM_BLOCK)])),
    ("tools", &List(&TOOL)),
    ("tool_choice", &TOOL_CHOICE),
    ("stream", &Scalar),
    ("temperature", &Scalar),
    ("top_k", &Scalar),
    ("top_p", &Scalar),
    ("stop_sequences", &List(&Scalar)),
    ("metadata", &Object(&[("user_id", &Scalar)])),
    ("thinking", &THINKING),
    ("output_config", &Object(&[("effort", &Scalar), ("format", &OUTPUT_FORMAT)])),
    ("output_format", &OUTPUT_FORMAT),
    ("context_management", &Object(&[("edits", &List(&CONTEXT_EDIT))])),
    ("cache_control", &CACHE_CONTROL),
    ("service_tier", &Word(&["auto", "standard_only"])),
]);

static MESSAGE: Shape = Object(&[
    ("role", &Word(&["user", "assistant"])),
    ("content", &Either(&[&Scalar, &List(&BLOCK)])),
]);

static SYSTEM_BLOCK: Shape = Object(&[
    ("type", &Word(&["text"])),
    ("text", &Scalar),
    ("cache_control", &CACHE_CONTROL),
    ("citations", &CITATIONS),
]);

static BLOCK: Shape = Object(&[
    (
        "type",
        &Word(&[
            "text",
            "image",
            "document",
            "tool_use",
            "tool_result",
            "thinking",
            "redacted_thinking",
        ]),
    ),
    ("text", &Scalar),
    ("source", &SOURCE),
    ("title", &Scalar),
    ("context", &Scalar),
    ("citations", &CITATIONS),
    ("id", &Scalar),
    ("name", &Scalar),
    ("input", &Data),
    ("caller", &Object(&[("type", &Word(&["direct"]))])),
    ("tool_use_id", &Scalar),
    ("content", &Either(&[&Scalar, &List(&RESULT_BLOCK)])),
    ("is_error", &Scalar),
    ("thinking", &Scalar),
    ("signature", &Scalar),
    ("data", &Scalar),
    ("cache_control", &CACHE_CONTROL),
]);

/// A block in the result of a tool or in a document.
static RESULT_BLOCK: Shape = Object(&[
    ("type", &Word(&["text", "image", "document"])),
    ("text", &Scalar),
    ("source", &SOURCE),
    ("title", &Scalar),
    ("context", &Scalar),
    ("citations", &CITATIONS),
    ("cache_control", &CACHE_CONTROL),
]);

/// The content of an image or a document. A `url` and a `file` are what the provider would fetch.
static SOURCE: Shape = Object(&[
    ("type", &Word(&["base64", "text", "content"])),
    ("media_type", &Scalar),
    ("data", &Inline),
    ("content", &Either(&[&Scalar, &List(&RESULT_BLOCK)])),
]);

/// Whether a document is cited, or where a text cites one.
static CITATIONS: Shape = Either(&[
    &Object(&[("enabled", &Scalar)]),
    &List(&Object(&[
        ("type", &Word(&["char_location", "page_location", "content_block_location"])),
        ("cited_text", &Scalar),
        ("document_index", &Scalar),
        ("document_title", &Scalar),
        ("start_char_index", &Scalar),
        ("end_char_index", &Scalar),
        ("start_page_number", &Scalar),
        ("end_page_number", &Scalar),
        ("start_block_index", &Scalar),
        ("end_block_index", &Scalar),
    ])),
]);

/// A tool that the agent runs. Those that the provider runs have other types.
static TOOL: Shape = Object(&[
    ("type", &Word(&["custom"])),
    ("name", &Scalar),
    ("description", &Scalar),
    ("input_schema", &Schema),
    ("input_examples", &List(&Data)),
    ("allowed_callers", &List(&Word(&["direct"]))),
    ("eager_input_streaming", &Scalar),
    ("strict", &Scalar),
    ("cache_control", &CACHE_CONTROL),
]);

static TOOL_CHOICE: Shape = Object(&[
    ("type", &Word(&["auto", "any", "tool", "none"])),
    ("name", &Scalar),
    ("disable_parallel_tool_use", &Scalar),
]);

static THINKING: Shape = Object(&[
    ("type", &Word(&["enabled", "disabled", "adaptive"])),
    ("budget_tokens", &Scalar),
    ("display", &Scalar),
]);

static OUTPUT_FORMAT: Shape = Object(&[("type", &Word(&["json_schema"])), ("schema", &Schema)]);

/// Removing old tool results or thoughts. Compaction is not here: the provider would call a model.
static CONTEXT_EDIT: Shape = Object(&[
    ("type", &Word(&["clear_thinking_20251015", "clear_tool_uses_20250919"])),
    ("keep", &Data),
    ("trigger", &Data),
    ("clear_at_least", &Data),
    ("clear_tool_inputs", &Data),
    ("exclude_tools", &List(&Scalar)),
]);

static CACHE_CONTROL: Shape =
    Object(&[("type", &Word(&["ephemeral"])), ("ttl", &Scalar), ("scope", &Scalar)]);
