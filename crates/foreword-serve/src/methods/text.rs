//! `scan`, `screen`, `count` and `ping`: what needs no workspace.

use std::collections::BTreeMap;

use foreword_guard::{Scan, Scanner, Screening};
use foreword_skills::Screeners;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::prompt::counter;
use crate::failure::Failure;
use crate::options::{ScreenPolicy, Tokenizer};
use crate::service::Service;

/// A text to scan for prompt injection.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScanParams {
    /// The text: plain, HTML, JSON or mail.
    text: String,
}

/// A skill to screen: its text, and the other files of its folder.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScreenParams {
    /// The text of SKILL.md.
    text: String,
    /// The other files of the folder, by path.
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// The name of the folder.
    name: Option<String>,
    /// Who wrote the skill.
    #[serde(default)]
    policy: ScreenPolicy,
}

/// A text whose tokens to count.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CountParams {
    /// The text.
    text: String,
    /// How tokens are counted.
    #[serde(default)]
    tokenizer: Tokenizer,
}

/// The size of a text.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CountAnswer {
    /// Its tokens.
    tokens: u32,
}

/// No parameters.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PingParams {}

/// The program that answers.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PingAnswer {
    /// Its version.
    version: &'static str,
}

pub(crate) fn scan(service: &Service, params: ScanParams) -> Result<Scan, Failure> {
    let ScanParams { text } = params;
    Ok(service.scanner()?.scan(&text))
}

pub(crate) fn screen(_: &Service, params: ScreenParams) -> Result<Screening, Failure> {
    let ScreenParams { text, files, name, policy } = params;
    let mut files: BTreeMap<String, Vec<u8>> =
        files.into_iter().map(|(path, text)| (path, text.into_bytes())).collect();
    files.insert("SKILL.md".to_owned(), text.into_bytes());
    Ok(Screeners::default().screen_skill(policy.into(), &files, name.as_deref()))
}

pub(crate) fn count(_: &Service, params: CountParams) -> Result<CountAnswer, Failure> {
    let CountParams { text, tokenizer } = params;
    let tokens = match counter(tokenizer)? {
        Some(counter) => counter.count(&text),
        None => foreword::estimate(&text),
    };
    Ok(CountAnswer { tokens })
}

pub(crate) fn ping(_: &Service, _: PingParams) -> Result<PingAnswer, Failure> {
    Ok(PingAnswer { version: env!("CARGO_PKG_VERSION") })
}

/// The built-in scanner.
pub fn scanner() -> Result<Scanner, Failure> {
    Scanner::embedded()
        .map_err(|error| Failure::internal(format!("cannot load the injection scanner: {error}")))
}
