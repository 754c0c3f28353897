//! The `pi` program.
//!
//! It gets the system prompt as a file and sends it first, with the date and the directory behind
//! it. It knows no MCP, so a small extension gives it the tools of the host, through the bridge.

use foreword::Prompt;
use foreword_protocol::{AgentEvent, Job, LocalTool, Provider, RunnerKind, StopReason, Usage};
use serde_json::{Value, json};

use super::conversation;
use super::program::{Listen, Program};
use super::said::{Said, content_text};
use crate::bridge::{Bridge, Settings};
use crate::error::AgentError;
use crate::events::Events;
use crate::host::Host;
use crate::private_dir::{PrivateDir, random_name};
use crate::run::Surroundings;

const NAME: &str = "pi";
const ADVICE: &str = "install it with `npm install -g @mariozechner/pi-coding-agent@0.73.1`";
const EXTENSION: &str = include_str!("pi_extension.js");

/// Runs a turn, and gives its last event.
pub(crate) fn run(
    job: &Job,
    prompt: &Prompt,
    events: &mut Events<'_>,
    surroundings: &Surroundings,
) -> Result<AgentEvent, AgentError> {
    let private = AgentError::Private;
    let host = Host::new(job);
    let key = random_name().map_err(private)?;
    let token = random_name().map_err(private)?;
    let tools = serde_json::to_string(host.tools()).unwrap_or_default();
    let own: Vec<String> = host.tools().iter().map(|tool| tool.name.clone()).collect();
    let settings = Settings {
        host,
        model: job.model.clone(),
        key: key.clone(),
        call_token: Some(token.clone()),
    };
    let bridge = Bridge::start(job.bridge_port, settings).map_err(AgentError::Bridge)?;
    let address = format!("http://127.0.0.1:{}", bridge.port());
    let dir = PrivateDir::new(&surroundings.temp_dir).map_err(private)?;
    let input = conversation::text(&job.history, prompt.turn_context(), &job.message);
    let mut program = Program::new(NAME, ADVICE, job, surroundings, &dir, input)?;
    let config = dir.directory("agent").map_err(private)?;
    dir.write("agent/models.json", &models(job, &address, &key).to_string()).map_err(private)?;
    dir.write("agent/settings.json", &SETTINGS.replace('\n', "")).map_err(private)?;
    let system = dir.write("system.md", prompt.system()).map_err(private)?;
    let enabled: Vec<String> = job
        .tools
        .iter()
        .filter_map(|tool| built_in(&tool.name))
        .chain(own.iter().cloned())
        .collect();
    let command = &mut program.command;
    command
        .args(["--print", "--mode", "json", "--no-session", "--offline"])
        .args(["--provider", "foreword", "--model", &job.model, "--thinking", "off"])
        .arg("--system-prompt")
        .arg(&system)
        // Without this it looks for more in the workspace.
        .args(["--append-system-prompt", "", "--no-context-files", "--no-skills"])
        .args(["--no-prompt-templates", "--no-themes", "--no-extensions"])
        .env("PI_CODING_AGENT_DIR", &config)
        .env("PI_OFFLINE", "1")
        .env("PI_SKIP_VERSION_CHECK", "1")
        .env("PI_TELEMETRY", "0");
    if enabled.is_empty() {
        command.arg("--no-tools");
    } else {
        command.args(["--tools", &enabled.join(",")]);
    }
    if !enabled.is_empty() {
        command
            .arg("--extension")
            .arg(dir.write("foreword.js", EXTENSION).map_err(private)?)
            .env("FOREWORD_BRIDGE", &address)
            .env("FOREWORD_CALL_TOKEN", &token)
            .env("FOREWORD_TOOLS", dir.write("tools.json", &tools).map_err(private)?);
    }

    let mut turn = PiTurn { said: Said::new(events), steps: 0, last: None, ended: false };
    let max_steps = job.limits.max_steps;
    let ended = program.run(&mut |event| turn.take(event, max_steps))?;
    turn.finish(max_steps).unwrap_or_else(|| Err(ended.without_result(NAME)))
}

/// No summaries behind the person's back, and no attempts besides the host's.
const SETTINGS: &str = r#"{"compaction":{"enabled":false},
"retry":{"enabled":false,"provider":{"maxRetries":0}},
"enableInstallTelemetry":false,"quietStartup":true}"#;

/// The model behind the bridge.
fn models(job: &Job, address: &str, key: &str) -> Value {
    let (api, base) = match job.provider {
        Provider::Anthropic => ("anthropic-messages", address.to_owned()),
        Provider::OpenAi => ("openai-completions", format!("{address}/v1")),
    };
    json!({"providers": {"foreword": {
        "baseUrl": base,
        "api": api,
        "apiKey": key,
        "compat": {"supportsDeveloperRole": false, "supportsReasoningEffort": false, "supportsStore": false, "maxTokensField": "max_tokens"},
        "models": [{
            "id": job.model,
            "reasoning": false,
            "input": ["text"],
            "contextWindow": job.context.context_window,
            "maxTokens": job.limits.max_output_tokens,
        }],
    }}})
}

/// Its own tool that does what one of ours does.
fn built_in(name: &str) -> Option<String> {
    LocalTool::named(name)?;
    Some(RunnerKind::Pi.tool_name(name).unwrap_or_else(|| name.to_owned()))
}

struct PiTurn<'a, 'b> {
    said: Said<'a, 'b>,
    steps: u32,
    /// How the model ended its last message, and why it failed.
    last: Option<(String, String)>,
    ended: bool,
}

impl PiTurn<'_, '_> {
    fn take(&mut self, event: &Value, max_steps: u32) -> Result<Listen, AgentError> {
        let message = event.get("message").unwrap_or(&Value::Null);
        match text(event, "type") {
            "turn_start" => {
                self.steps += 1;
                if self.steps > max_steps {
                    return Ok(Listen::Enough);
                }
            }
            "message_update" => {
                let update = event.get("assistantMessageEvent").unwrap_or(&Value::Null);
                if text(update, "type") == "text_delta" {
                    self.said.piece(text(update, "delta"))?;
                }
            }
            "message_end" if text(message, "role") == "assistant" => self.message(message)?,
            "message_end" if text(message, "role") == "toolResult" => {
                let is_error = message.get("isError").and_then(Value::as_bool).unwrap_or(false);
                let answer = content_text(message.get("content").unwrap_or(&Value::Null));
                self.said.result(text(message, "toolCallId"), answer, is_error)?;
            }
            "agent_end" => {
                self.ended = true;
                return Ok(Listen::Enough);
            }
            _ => {}
        }
        Ok(Listen::On)
    }

    fn message(&mut self, message: &Value) -> Result<(), AgentError> {
        for block in message.get("content").and_then(Value::as_array).into_iter().flatten() {
            match text(block, "type") {
                "text" => self.said.text(text(block, "text"))?,
                "toolCall" => {
                    let input = block.get("arguments").unwrap_or(&Value::Null);
                    self.said.call(text(block, "id"), text(block, "name"), input)?;
                }
                _ => {}
            }
        }
        if let Some(usage) = message.get("usage") {
            let tokens = |key: &str| usage.get(key).and_then(Value::as_u64).unwrap_or(0);
            self.said.usage = self.said.usage.and(Usage {
                input_tokens: tokens("input"),
                output_tokens: tokens("output"),
                cache_read_tokens: tokens("cacheRead"),
                cache_write_tokens: tokens("cacheWrite"),
            });
        }
        let word = text(message, "stopReason").to_owned();
        self.last = Some((word, text(message, "errorMessage").chars().take(2000).collect()));
        Ok(())
    }

    /// The last event; nothing if the program ended before the turn did.
    fn finish(self, max_steps: u32) -> Option<Result<AgentEvent, AgentError>> {
        if self.steps > max_steps {
            return Some(Ok(self.said.done(StopReason::MaxSteps)));
        }
        let (word, message) = self.last.filter(|_| self.ended)?;
        Some(match word.as_str() {
            "error" | "aborted" => Err(AgentError::Program { program: NAME, message }),
            "stop" => Ok(self.said.done(StopReason::EndTurn)),
            "length" => Ok(self.said.done(StopReason::MaxTokens)),
            "toolUse" => Ok(self.said.done(StopReason::ToolUse)),
            word => Ok(self.said.done(StopReason::Other(word.to_owned()))),
        })
    }
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
