//! The report of a capture, as plain data.
//!
//! Everything that shows a report (the terminal, `--json`, an HTML page) reads these types and computes
//! nothing of its own. Texts are redacted before they get here. Numbers called `tokens` are counted by
//! [`Report::tokenizer`]; those in [`Usage`] are the provider's own.

use foreword::Usage;
use serde::{Deserialize, Serialize};

/// What was found in a capture.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "WatchReport"))]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Absent for a single request that was not captured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<CaptureInfo>,
    /// How tokens were counted: `estimate`, `o200k` or `cl100k`.
    pub tokenizer: String,
    /// The date of the price table.
    pub prices_date: String,
    pub totals: Totals,
    /// The calls in the order in which they were made.
    pub calls: Vec<CallReport>,
    /// The calls that share a prompt, one entry per conversation.
    pub conversations: Vec<Conversation>,
    /// Where the text of the latest call of every conversation comes from, the largest share first.
    pub sources: Vec<SourceShare>,
    /// The most expensive first.
    pub waste: Vec<Waste>,
    /// The most serious first.
    pub dangers: Vec<Danger>,
    /// What the report could not find out, and why.
    pub notes: Vec<String>,
}

/// A capture.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CaptureInfo {
    pub id: String,
    /// RFC 3339.
    pub started_at: String,
    /// The program with its arguments, redacted; empty for `watch --proxy`.
    pub command: Vec<String>,
    /// The directory whose files the text was compared with.
    pub directory: String,
    /// What the program exited with, once it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
}

/// Sums over all calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ReportTotals"))]
#[serde(rename_all = "camelCase")]
pub struct Totals {
    pub calls: usize,
    /// Calls that the provider refused or that broke off.
    pub failed: usize,
    /// Tokens of all requests together.
    pub tokens: u64,
    /// Tokens of the largest request.
    pub max_tokens: u64,
    /// What the provider counted, over the calls for which it said so.
    pub usage: Usage,
    /// US dollars; absent if no model has a known price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Models without a price, which the cost leaves out.
    pub unpriced_models: Vec<String>,
    /// How many calls lost a cached prefix.
    pub cache_breaks: usize,
    /// Tokens that were sent before and had to be read again.
    pub lost_tokens: u64,
    /// What these cost beyond the price of cached tokens, in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_usd: Option<f64>,
}

/// The API a request was written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ModelApi"))]
#[serde(rename_all = "kebab-case")]
pub enum Api {
    /// Anthropic Messages.
    AnthropicMessages,
    /// OpenAI Chat Completions.
    OpenaiChat,
    /// OpenAI Responses.
    OpenaiResponses,
    /// Gemini `generateContent` and `streamGenerateContent`.
    GeminiGenerate,
}

impl Api {
    /// The name shown to people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AnthropicMessages => "Anthropic Messages",
            Self::OpenaiChat => "OpenAI Chat Completions",
            Self::OpenaiResponses => "OpenAI Responses",
            Self::GeminiGenerate => "Gemini generateContent",
        }
    }
}

/// One call of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CallReport {
    /// From 1, in the capture.
    pub number: usize,
    /// RFC 3339.
    pub at: String,
    /// The index of its conversation in [`Report::conversations`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<usize>,
    pub api: Api,
    pub model: String,
    /// The HTTP status; 0 if there was no answer.
    pub status: u16,
    /// Why the call failed or cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    pub first_byte_ms: f64,
    pub total_ms: f64,
    /// Tokens of the whole request, and of its three regions.
    pub tokens: RegionTokens,
    /// Tokens more than the previous call of the conversation.
    pub growth: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// What the request is made of, in the order in which providers cache it: tools, system, messages.
    pub parts: Vec<Part>,
    /// Compared with the previous call of the conversation; absent for the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<Cache>,
}

/// Tokens by region of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RegionTokens {
    pub total: u64,
    pub tools: u64,
    pub system: u64,
    pub messages: u64,
}

/// The region of a request that a part belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "RequestRegion"))]
#[serde(rename_all = "kebab-case")]
pub enum Region {
    Tools,
    System,
    Messages,
}

impl Region {
    /// The name shown to people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::System => "system",
            Self::Messages => "messages",
        }
    }
}

/// A tool, a system block, or a block of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "RequestPart"))]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// Where it is in the request: `system[1]`, `tools[3]`, `messages[4].content[0]`.
    pub place: String,
    pub region: Region,
    /// For people: the tool's name, the role, `tool result of Read`.
    pub label: String,
    pub tokens: u64,
    /// Of the whole request, from 0 to 1.
    pub share: f64,
    /// Whether the request asks the provider to cache everything up to here.
    pub cache_mark: bool,
    /// Markdown sections of a system block, in order; empty for others and for text without headings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<SectionTokens>,
    /// Where the text comes from, in order. The stretches cover it without gaps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stretches: Vec<Stretch>,
    /// The text, redacted; only if the report was asked for texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// A Markdown section of a system block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SectionTokens {
    /// The heading without its marks; empty for the text before the first.
    pub title: String,
    /// 1 to 6; 0 for the text before the first heading.
    pub level: u8,
    /// The line of the block it starts on, from 1.
    pub line: usize,
    /// Bytes of the block's text.
    pub range: [usize; 2],
    pub tokens: u64,
    /// The origin of most of its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

/// A stretch of text with one origin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Stretch {
    /// Bytes of the part's text.
    pub range: [usize; 2],
    /// The first line of the part's text, from 1.
    pub line: usize,
    pub tokens: u64,
    pub origin: Origin,
}

/// Where text comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TextOrigin"))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Origin {
    /// A file of the project, or one of the person's own instruction files.
    File {
        /// Relative to the directory of the capture, or starting with `~/`.
        path: String,
        /// First and last line, from 1.
        lines: [usize; 2],
        /// Whether every line is the file's, apart from blanks at its ends.
        exact: bool,
    },
    /// In no file: the program brought it.
    Vendor,
    /// A tool of an MCP server.
    Mcp { server: String },
    /// What the person wrote.
    User,
    /// What the model wrote before.
    Model,
    /// What a tool returned.
    Tool { name: String },
    /// The directory of the capture is gone, so nothing can be compared.
    Unknown,
}

impl Origin {
    /// The name shown to people, such as `CLAUDE.md:3-9`, or `≈CLAUDE.md:3` if the text is only similar.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::File { path, lines: [first, last], exact } => {
                let about = if *exact { "" } else { "≈" };
                if first == last {
                    format!("{about}{path}:{first}")
                } else {
                    format!("{about}{path}:{first}-{last}")
                }
            }
            Self::Vendor => "vendor".to_owned(),
            Self::Mcp { server } => format!("MCP server {server}"),
            Self::User => "user".to_owned(),
            Self::Model => "model".to_owned(),
            Self::Tool { name } => format!("result of {name}"),
            Self::Unknown => "unknown".to_owned(),
        }
    }
}

/// What the files and other origins contribute to the latest calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SourceShare {
    /// The path of a file, or the name of another origin.
    pub name: String,
    /// Whether `name` is a path.
    pub is_file: bool,
    pub tokens: u64,
    /// Of all tokens of these calls, from 0 to 1.
    pub share: f64,
    /// The lines that were found, as ranges from 1; empty for other origins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<[usize; 2]>,
}

/// Calls that build on one another or share a prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Conversation {
    /// The numbers of its calls.
    pub calls: Vec<usize>,
    pub api: Api,
    pub model: String,
    /// The beginning of the first user message, on one line.
    pub title: String,
    pub cache_breaks: usize,
    pub lost_tokens: u64,
}

/// What a call has in common with the previous one of its conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "CacheUse"))]
#[serde(rename_all = "camelCase")]
pub struct Cache {
    /// The number of the call it is compared with.
    pub previous: usize,
    /// Bytes that both calls start with, of tools, system and messages.
    pub common_bytes: usize,
    pub common_tokens: u64,
    /// Tokens of the previous call that could have been read from the cache.
    pub reusable_tokens: u64,
    /// What the provider says it read from its cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_read_tokens: Option<u64>,
    /// The difference, if it lies before the end of what could have been reused, or if the request does
    /// not use the cache at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<CacheBreak>,
}

/// Why a cached prefix was lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CacheBreak {
    pub cause: Cause,
    /// Where the first differing byte is: `system[0]`, `tools[3]`.
    pub place: String,
    /// Of the compared bytes.
    pub byte: usize,
    /// The line in that part, from 1.
    pub line: usize,
    /// The heading above it, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// Both sides around the first differing byte, redacted, on one line.
    pub before: String,
    pub after: String,
    /// Who wrote that line.
    pub origin: Origin,
    pub lost_tokens: u64,
    /// What that cost beyond the price of cached tokens, in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_usd: Option<f64>,
    /// What to change.
    pub advice: String,
}

/// The known causes of a lost cache prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "CacheBreakCause"))]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// A date or time.
    Clock,
    /// A number that changes with every call.
    Counter,
    /// A random identifier.
    Identifier,
    /// The same lines or tools in another order.
    UnstableOrder,
    /// Tools were added, removed or described differently.
    ToolListChanged,
    /// Earlier messages were changed or removed.
    HistoryRewritten,
    /// Other text before the messages changed.
    PromptChanged,
    /// No `cache_control` where the provider needs one.
    BreakpointMissing,
    /// `cache_control` only behind text that changes.
    BreakpointMisplaced,
    /// The conversation went on with another model.
    ModelChanged,
}

impl Cause {
    /// The name shown to people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Clock => "clock",
            Self::Counter => "counter",
            Self::Identifier => "random identifier",
            Self::UnstableOrder => "unstable order",
            Self::ToolListChanged => "tool list changed",
            Self::HistoryRewritten => "history rewritten",
            Self::PromptChanged => "prompt changed",
            Self::BreakpointMissing => "cache breakpoint missing",
            Self::BreakpointMisplaced => "cache breakpoint misplaced",
            Self::ModelChanged => "model changed",
        }
    }
}

/// Tokens that did nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Waste {
    pub kind: WasteKind,
    /// What: an excerpt, a tool's name, a path.
    pub what: String,
    /// Where: parts of a request, files with lines, or the tools' server.
    pub places: Vec<String>,
    /// How often.
    pub times: usize,
    /// Over all calls.
    pub tokens: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WasteKind {
    /// The same text more than once in one request.
    RepeatedText,
    /// A tool that no answer called.
    UnusedTool,
    /// A tool that was called again with the same arguments and gave the same result.
    RepeatedRead,
}

impl WasteKind {
    /// The name shown to people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::RepeatedText => "repeated text",
            Self::UnusedTool => "unused tool",
            Self::RepeatedRead => "repeated read",
        }
    }
}

/// Something in a request that a person should look at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "RequestDanger"))]
#[serde(rename_all = "camelCase")]
pub struct Danger {
    pub kind: DangerKind,
    pub severity: Severity,
    /// The first call it was sent in.
    pub call: usize,
    /// The part it is in.
    pub place: String,
    /// The line in that part, from 1.
    pub line: usize,
    pub origin: Origin,
    /// What was found, for people.
    pub message: String,
    /// The text, redacted, on one line.
    pub excerpt: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DangerKind {
    /// Text from a tool that reads as an instruction to the model.
    Injection,
    /// A credential in a request body.
    Secret,
    /// Text of lower authority that claims a higher one.
    AuthorityClaim,
    /// Characters that a person cannot see.
    InvisibleCharacters,
    /// Text that the program added to the person's own prompt.
    ForeignText,
}

impl DangerKind {
    /// The name shown to people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Injection => "injection",
            Self::Secret => "secret",
            Self::AuthorityClaim => "authority claim",
            Self::InvisibleCharacters => "invisible characters",
            Self::ForeignText => "foreign text",
        }
    }
}

/// From harmless to serious.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "DangerSeverity"))]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    Note,
    Warning,
    Error,
}
