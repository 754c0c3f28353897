//! `check_request` and `watch_report`: what programs send to their models.

use std::path::PathBuf;

use foreword::{Estimate, TokenCounter};
use foreword_watch::{
    CaptureStore, ExpectedPrompt, ProjectFiles, PromptCheck, Report, ReportOptions, check_prompt,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::prompt::{PromptParams, counter};
use crate::environment::captures_dir;
use crate::failure::Failure;
use crate::options::Tokenizer;
use crate::service::Service;

/// A request body, and the prompt that should be in it: one that was built (`prompt`), or one to build (`build`).
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CheckRequestParams {
    /// The body of a request to Anthropic Messages, OpenAI Chat Completions, OpenAI Responses or Gemini, as a JSON
    /// object or as its text.
    body: RequestBody,
    /// The prompt that should be in it.
    prompt: Option<BuiltPrompt>,
    /// The parameters of `build`, for the prompt that should be in it.
    build: Option<PromptParams>,
    /// A directory whose files to look for in the text.
    directory: Option<PathBuf>,
    /// How tokens are counted.
    #[serde(default)]
    tokenizer: Tokenizer,
}

/// The body of a request.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum RequestBody {
    Text(String),
    Json(Map<String, Value>),
}

/// A prompt that was built.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "ExpectedPrompt")]
struct BuiltPrompt {
    /// The system prompt.
    system: String,
    /// The part of it that stays the same between sessions; a prefix of `system`.
    #[serde(default)]
    stable: String,
    /// The turn context; not looked for if absent.
    turn_context: Option<String>,
}

/// The report of one request, and whether the prompt is in it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CheckRequestAnswer {
    #[serde(flatten)]
    report: Report,
    /// Whether the prompt is in the request as it was built; absent without a prompt to look for.
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<PromptCheck>,
}

/// A capture of `foreword watch`.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct WatchReportParams {
    /// The ID of the capture, or a part of it; the latest if absent.
    id: Option<String>,
    /// The directory whose files to look for in the text; by default the one the program ran in.
    directory: Option<PathBuf>,
    /// Whether to include the text of the latest calls, redacted.
    with_texts: bool,
    /// How tokens are counted.
    tokenizer: Tokenizer,
}

pub(crate) fn check_request(
    service: &Service,
    params: CheckRequestParams,
) -> Result<CheckRequestAnswer, Failure> {
    let CheckRequestParams { body, prompt, build, directory, tokenizer } = params;
    let body = match body {
        RequestBody::Text(text) => text,
        RequestBody::Json(fields) => serde_json::to_string(&fields)?,
    };
    let check = match (prompt, build) {
        (None, None) => None,
        (Some(prompt), None) => {
            if !prompt.system.starts_with(&prompt.stable) {
                return Err(Failure::usage("`stable` is not the beginning of `system`")
                    .hint("pass both as `build` returned them"));
            }
            Some(check_prompt(
                &body,
                &ExpectedPrompt {
                    system: &prompt.system,
                    stable_bytes: prompt.stable.len(),
                    turn_context: prompt.turn_context.as_deref(),
                },
            )?)
        }
        (None, Some(build)) => {
            // Without a time of its own, the turn context would have another one than the request.
            let is_timed = build.now.is_some() || build.context.is_some();
            let built = service.compile(build)?.prompt;
            Some(check_prompt(
                &body,
                &ExpectedPrompt {
                    system: built.system(),
                    stable_bytes: built.system_at_cache_boundary().0.len(),
                    turn_context: is_timed.then(|| built.turn_context()),
                },
            )?)
        }
        (Some(_), Some(_)) => {
            return Err(Failure::usage("pass `prompt` or `build`, not both"));
        }
    };
    let files = directory.and_then(|own| ProjectFiles::read(&own, std::env::home_dir().as_deref()));
    let report = with_options(tokenizer, false, |options| {
        Ok(foreword_watch::check_request(&body, files.as_ref(), service.scanner()?, options)?)
    })?;
    Ok(CheckRequestAnswer { report, prompt: check })
}

pub(crate) fn watch_report(
    service: &Service,
    params: WatchReportParams,
) -> Result<Report, Failure> {
    let WatchReportParams { id, directory, with_texts, tokenizer } = params;
    let store = CaptureStore::new(captures_dir()?);
    let capture = store.read(&store.resolve(id.as_deref())?)?;
    let directory = directory.unwrap_or_else(|| PathBuf::from(&capture.info.directory));
    let files = ProjectFiles::read(&directory, std::env::home_dir().as_deref());
    with_options(tokenizer, with_texts, |options| {
        Ok(foreword_watch::report(&capture, files.as_ref(), service.scanner()?, options))
    })
}

fn with_options<T>(
    tokenizer: Tokenizer,
    with_texts: bool,
    work: impl FnOnce(&ReportOptions<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let exact = counter(tokenizer)?;
    let prices = foreword_host::load_prices(None)?;
    let counter = exact.as_deref().unwrap_or(&Estimate as &dyn TokenCounter);
    work(&ReportOptions { counter, prices: &prices, with_texts })
}
