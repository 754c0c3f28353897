//! `foreword serve --stdio`: one JSON request per line, one answer per line, without start-up cost.

use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use foreword::{Context, Hints, Profile, PromptMode, RuntimeContext, Timestamp};
use foreword_gather::{Assembler, Gathered, Request};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::args::{AnyMode, parse_mode};
use crate::commands::{build, explain, lint};
use crate::error::CliError;
use crate::inputs;
use crate::json::SCHEMA_VERSION;
use crate::terminal::Terminal;

/// The limit of a request, so that a client cannot exhaust memory.
const MAX_REQUEST_BYTES: u64 = 64 << 20;

/// Answer JSON requests, one per line
#[derive(Args, Debug)]
#[command(after_help = "\
Methods: build, explain, lint, ping. `params` takes `context`, or `workspace` with `agent`, `task`, `mode` and the
other fields of a Context.

Request: {\"id\": 1, \"method\": \"build\", \"params\": {\"context\": {…}, \"blueprint\": \"standard\"}}
Answer:  {\"schemaVersion\": 1, \"id\": 1, \"result\": {…}}
Error:   {\"schemaVersion\": 1, \"id\": 1, \"error\": {\"kind\": …, \"message\": …, \"hints\": […]}}

Examples:
  echo '{\"id\": 1, \"method\": \"ping\"}' | foreword serve --stdio
  echo '{\"id\": 1, \"method\": \"build\", \"params\": {\"task\": \"hi\"}}' | foreword serve --stdio -w my-agent")]
pub(crate) struct ServeArgs {
    /// Read requests from standard input and answer on standard output
    #[arg(long, required = true)]
    stdio: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    #[serde(default, rename = "id")]
    _id: Value,
    method: String,
    #[serde(default)]
    params: Params,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Params {
    context: Option<Value>,
    workspace: Option<PathBuf>,
    agent: Option<String>,
    blueprint: Option<String>,
    task: Option<String>,
    #[serde(deserialize_with = "either_mode")]
    mode: Option<AnyMode>,
    prompt_mode: Option<PromptMode>,
    hints: Hints,
    reply_gate: Option<bool>,
    user_id: Option<String>,
    model: Option<String>,
    channel: Option<String>,
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
}

/// Accepts either kind of mode, like `--mode`.
fn either_mode<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<AnyMode>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| parse_mode(&text).map_err(serde::de::Error::custom)).transpose()
}

pub(crate) fn run(workspace: &Path, _: &ServeArgs, _: &Terminal) -> Result<(), CliError> {
    let mut input = io::stdin().lock();
    let mut output = io::stdout().lock();
    let mut line = Vec::new();
    let mut assemblers = Assemblers::default();
    loop {
        line.clear();
        let read = input.by_ref().take(MAX_REQUEST_BYTES).read_until(b'\n', &mut line);
        let read = read
            .map_err(|error| CliError::internal(format!("cannot read standard input: {error}")))?;
        if read == 0 {
            return Ok(());
        }
        let too_long = read as u64 == MAX_REQUEST_BYTES && !line.ends_with(b"\n");
        if !too_long && line.trim_ascii().is_empty() {
            continue;
        }
        let answer = if too_long {
            skip_line(&mut input)?;
            let error =
                CliError::usage(format!("request is longer than {} MiB", MAX_REQUEST_BYTES >> 20));
            failure(&Value::Null, &error)
        } else {
            answer(workspace, &line, &mut assemblers)
        };
        let mut text = answer.to_string();
        text.push('\n');
        if output.write_all(text.as_bytes()).and_then(|()| output.flush()).is_err() {
            // The client went away.
            return Ok(());
        }
    }
}

fn skip_line(input: &mut impl BufRead) -> Result<(), CliError> {
    input
        .skip_until(b'\n')
        .map_err(|error| CliError::internal(format!("cannot read standard input: {error}")))?;
    Ok(())
}

/// An assembler for each recently used workspace, so that unchanged files are read once.
#[derive(Default)]
struct Assemblers(Vec<Assembler>);

impl Assemblers {
    const MAX: usize = 16;

    fn of(&mut self, root: &Path) -> &Assembler {
        let known = self.0.iter().position(|assembler| assembler.root() == root);
        let assembler = match known {
            Some(place) => self.0.remove(place),
            None => Assembler::new(root),
        };
        if self.0.len() >= Self::MAX {
            self.0.remove(0);
        }
        self.0.push_mut(assembler)
    }
}

fn answer(workspace: &Path, line: &[u8], assemblers: &mut Assemblers) -> Value {
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(error) => {
            return failure(&Value::Null, &CliError::usage(format!("invalid request: {error}")));
        }
    };
    if !value.is_object() {
        return failure(&Value::Null, &CliError::usage("invalid request: expected a JSON object"));
    }
    let id = value.get("id").cloned().unwrap_or_default();
    let call: Call = match serde_json::from_value(value) {
        Ok(call) => call,
        Err(error) => return failure(&id, &CliError::usage(format!("invalid request: {error}"))),
    };
    match handle(workspace, call, assemblers) {
        Ok(result) => json!({"schemaVersion": SCHEMA_VERSION, "id": id, "result": result}),
        Err(error) => failure(&id, &error),
    }
}

fn failure(id: &Value, error: &CliError) -> Value {
    json!({"schemaVersion": SCHEMA_VERSION, "id": id, "error": {"kind": error.kind.as_str(), "message": error.message, "hints": error.hints}})
}

fn handle(workspace: &Path, call: Call, assemblers: &mut Assemblers) -> Result<Value, CliError> {
    let Call { method, params, .. } = call;
    let root = params.workspace.clone().unwrap_or_else(|| workspace.to_path_buf());
    match method.as_str() {
        "ping" => Ok(json!({"version": env!("CARGO_PKG_VERSION")})),
        "build" | "explain" => {
            let gathered = resolve(&root, params, assemblers)?;
            let (prompt, build_time_ms) = build::compile(&gathered, None);
            let manifest = build::manifest(&prompt, build_time_ms);
            let mut result = if method == "build" {
                serde_json::to_value(&manifest)?
            } else {
                explain::without_text(&manifest)?
            };
            if let (Some(fields), false) = (result.as_object_mut(), gathered.warnings.is_empty()) {
                fields.insert("warnings".to_owned(), json!(gathered.warnings));
            }
            Ok(result)
        }
        "lint" => {
            let findings =
                lint::findings(&root, params.agent.as_deref(), params.blueprint.as_deref())?;
            Ok(serde_json::to_value(findings)?)
        }
        other => {
            let known = ["build", "explain", "lint", "ping"];
            let error = CliError::usage(format!("unknown method `{other}`"));
            Err(match foreword::nearest(other, known) {
                Some(near) => error.hint(format!("did you mean `{near}`?")),
                None => error.hint(format!("methods: {}", known.join(", "))),
            })
        }
    }
}

fn resolve(root: &Path, params: Params, assemblers: &mut Assemblers) -> Result<Gathered, CliError> {
    let given = [params.mode, params.prompt_mode.map(AnyMode::Prompt)];
    let (mode, prompt_mode) = inputs::modes(&given.into_iter().flatten().collect::<Vec<_>>())?;
    let mut request = Request {
        agent: params.agent,
        blueprint: params.blueprint,
        task: params.task,
        mode,
        prompt_mode,
        hints: params.hints,
        reply_gate: params.reply_gate,
        user_id: params.user_id,
        model: params.model,
        channel: params.channel,
        profile: params.profile,
        sandbox_type: params.sandbox_type,
        taint_ratio: params.taint_ratio,
        taint_threshold: params.taint_threshold,
        context_window: params.context_window,
        history_tokens: params.history_tokens,
        reserved_tokens: params.reserved_tokens,
        output_reserve: params.output_reserve,
        max_prompt_tokens: params.max_prompt_tokens,
        canary: params.canary,
        runtime_context: params.runtime_context,
        now: params.now,
        cwd: params.cwd,
        ..inputs::user_request()?
    };
    if let Some(context) = params.context {
        return inputs::with_context(Context::from_value(context)?, &request);
    }
    request.now = request.now.or_else(|| Some(inputs::clock()));
    Ok(assemblers.of(root).assemble(&request)?)
}
