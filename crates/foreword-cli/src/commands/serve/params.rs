//! The parameters of the methods.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::ValueEnum;
use foreword::{Context, Hints, Profile, PromptMode, RuntimeContext, Timestamp};
use foreword_gather::Request;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::args::{AnyMode, Tokenizer, parse_mode};
use crate::commands::build::Format;
use crate::commands::skill::PolicyName;
use crate::error::CliError;
use crate::inputs;

/// A prompt to build.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct Source {
    pub(super) context: Option<Value>,
    pub(super) workspace: Option<PathBuf>,
    pub(super) agent: Option<String>,
    pub(super) blueprint: Option<String>,
    task: Option<String>,
    #[serde(deserialize_with = "either_mode")]
    mode: Option<AnyMode>,
    prompt_mode: Option<PromptMode>,
    hints: Hints,
    reply_gate: Option<bool>,
    user_id: Option<String>,
    model: Option<String>,
    channel: Option<String>,
    agent_type: Option<String>,
    profile: Option<Profile>,
    sandbox_type: Option<String>,
    taint_ratio: Option<f64>,
    taint_threshold: Option<f64>,
    context_window: Option<u64>,
    history_tokens: Option<u64>,
    reserved_tokens: Option<u64>,
    output_reserve: Option<u64>,
    max_prompt_tokens: Option<u64>,
    canary: Option<String>,
    runtime_context: Option<RuntimeContext>,
    now: Option<Timestamp>,
    cwd: Option<PathBuf>,
    /// For `build`: the provider whose request to make.
    #[serde(deserialize_with = "value_enum")]
    pub(super) format: Format,
    #[serde(deserialize_with = "value_enum")]
    pub(super) tokenizer: Tokenizer,
    /// For `explain`: one byte of the prompt.
    pub(super) at: Option<usize>,
}

impl Source {
    /// The request, and a complete Context if there is one.
    pub(super) fn request(self) -> Result<(Request, Option<Context>), CliError> {
        let given = [self.mode, self.prompt_mode.map(AnyMode::Prompt)];
        let (mode, prompt_mode) = inputs::modes(&given.into_iter().flatten().collect::<Vec<_>>())?;
        let request = Request {
            agent: self.agent,
            blueprint: self.blueprint,
            task: self.task,
            mode,
            prompt_mode,
            hints: self.hints,
            reply_gate: self.reply_gate,
            user_id: self.user_id,
            model: self.model,
            channel: self.channel,
            agent_type: self.agent_type,
            profile: self.profile,
            sandbox_type: self.sandbox_type,
            taint_ratio: self.taint_ratio,
            taint_threshold: self.taint_threshold,
            context_window: self.context_window,
            history_tokens: self.history_tokens,
            reserved_tokens: self.reserved_tokens,
            output_reserve: self.output_reserve,
            max_prompt_tokens: self.max_prompt_tokens,
            canary: self.canary,
            runtime_context: self.runtime_context,
            now: self.now,
            cwd: self.cwd,
            ..inputs::user_request()?
        };
        Ok((request, self.context.map(Context::from_value).transpose()?))
    }
}

/// Two prompts to compare: each a prompt to build, or a saved result of `build`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sides {
    pub(super) a: Value,
    pub(super) b: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Text {
    pub(super) text: String,
}

/// A skill to screen: its text, and the other files of its folder.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Screen {
    pub(super) text: String,
    #[serde(default)]
    pub(super) files: BTreeMap<String, String>,
    pub(super) name: Option<String>,
    #[serde(default = "import_policy", deserialize_with = "value_enum")]
    pub(super) policy: PolicyName,
}

fn import_policy() -> PolicyName {
    PolicyName::Import
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Place {
    pub(super) workspace: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Named {
    pub(super) workspace: Option<PathBuf>,
    #[serde(alias = "skill")]
    pub(super) name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct MemorySearch {
    pub(super) workspace: Option<PathBuf>,
    pub(super) query: String,
    #[serde(default = "usual_limit")]
    pub(super) limit: usize,
    pub(super) kind: Option<String>,
    #[serde(default)]
    pub(super) all: bool,
    pub(super) min_score: Option<f32>,
    pub(super) agent: Option<String>,
    pub(super) user: Option<String>,
    pub(super) session: Option<String>,
}

fn usual_limit() -> usize {
    10
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MemoryAdd {
    pub(super) workspace: Option<PathBuf>,
    pub(super) text: String,
    #[serde(default = "usual_kind")]
    pub(super) kind: String,
    pub(super) agent: Option<String>,
    pub(super) user: Option<String>,
    pub(super) session: Option<String>,
    #[serde(default)]
    pub(super) tainted: bool,
    pub(super) source: Option<String>,
    pub(super) date: Option<String>,
    pub(super) importance: Option<f64>,
}

fn usual_kind() -> String {
    "note".to_owned()
}

/// Accepts the names that the command line accepts.
fn value_enum<'de, D: Deserializer<'de>, T: ValueEnum>(deserializer: D) -> Result<T, D::Error> {
    let name = String::deserialize(deserializer)?;
    T::from_str(&name, false).map_err(|_| {
        let names = T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let names: Vec<String> = names.map(|value| format!("`{}`", value.get_name())).collect();
        serde::de::Error::custom(format!("unknown value `{name}`, expected {}", names.join(", ")))
    })
}

/// Accepts either kind of mode, like `--mode`.
fn either_mode<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<AnyMode>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| parse_mode(&text).map_err(serde::de::Error::custom)).transpose()
}
