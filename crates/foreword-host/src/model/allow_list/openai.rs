//! Chat Completions, as OpenAI and many servers speak it.

use super::Shape::{self, Data, DataUrl, Either, False, List, Object, One, Scalar, Schema, Word};

pub(super) static BODY: Shape = Object(&[
    ("model", &Scalar),
    ("messages", &List(&MESSAGE)),
    ("max_tokens", &Scalar),
    ("max_completion_tokens", &Scalar),
    ("stream", &Scalar),
    ("stream_options", &Object(&[("include_usage", &Scalar), ("include_obfuscation", &Scalar)])),
    ("tools", &List(&TOOL)),
    ("tool_choice", &Either(&[&Scalar, &NAMED_TOOL])),
    ("parallel_tool_calls", &Scalar),
    ("temperature", &Scalar),
    ("top_k", &Scalar),
    ("top_p", &Scalar),
    ("min_p", &Scalar),
    ("frequency_penalty", &Scalar),
    ("presence_penalty", &Scalar),
    ("repetition_penalty", &Scalar),
    ("logit_bias", &Data),
    ("logprobs", &Scalar),
    ("top_logprobs", &Scalar),
    ("seed", &Scalar),
    ("stop", &Either(&[&Scalar, &List(&Scalar)])),
    ("user", &Scalar),
    ("response_format", &RESPONSE_FORMAT),
    ("reasoning_effort", &Scalar),
    ("verbosity", &Scalar),
    ("prompt_cache_key", &Scalar),
    ("prompt_cache_retention", &Scalar),
    ("safety_identifier", &Scalar),
    ("service_tier", &Word(&["auto", "default", "flex"])),
    // Several answers cost several times as much, and stored ones stay with the provider.
    ("n", &One),
    ("store", &False),
]);

static MESSAGE: Shape = Object(&[
    ("role", &Word(&["system", "developer", "user", "assistant", "tool"])),
    ("content", &Either(&[&Scalar, &List(&PART)])),
    ("name", &Scalar),
    ("refusal", &Scalar),
    ("reasoning", &Scalar),
    ("reasoning_content", &Scalar),
    ("reasoning_text", &Scalar),
    ("tool_calls", &List(&TOOL_CALL)),
    ("tool_call_id", &Scalar),
]);

static PART: Shape = Object(&[
    ("type", &Word(&["text", "refusal", "image_url", "file"])),
    ("text", &Scalar),
    ("refusal", &Scalar),
    ("image_url", &Either(&[&DataUrl, &Object(&[("url", &DataUrl), ("detail", &Scalar)])])),
    ("file", &Object(&[("file_data", &DataUrl), ("filename", &Scalar)])),
    ("cache_control", &CACHE_CONTROL),
]);

static TOOL_CALL: Shape = Object(&[
    ("id", &Scalar),
    ("index", &Scalar),
    ("type", &Word(&["function"])),
    ("function", &Object(&[("name", &Scalar), ("arguments", &Scalar)])),
]);

/// A tool that the agent runs. Those that the provider runs have other types.
static TOOL: Shape = Object(&[
    ("type", &Word(&["function"])),
    (
        "function",
        &Object(&[
            ("name", &Scalar),
            ("description", &Scalar),
            ("parameters", &Schema),
            ("strict", &Scalar),
        ]),
    ),
    ("cache_control", &CACHE_CONTROL),
]);

static NAMED_TOOL: Shape =
    Object(&[("type", &Word(&["function"])), ("function", &Object(&[("name", &Scalar)]))]);

static RESPONSE_FORMAT: Shape = Object(&[
    ("type", &Word(&["text", "json_object", "json_schema"])),
    (
        "json_schema",
        &Object(&[
            ("name", &Scalar),
            ("description", &Scalar),
            ("schema", &Schema),
            ("strict", &Scalar),
        ]),
    ),
]);

static CACHE_CONTROL: Shape = Object(&[("type", &Word(&["ephemeral"])), ("ttl", &Scalar)]);
