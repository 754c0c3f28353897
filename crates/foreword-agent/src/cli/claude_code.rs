//! The `claude` program.
//!
//! It gets the system prompt as a file and sends it, byte for byte, as its last system block. What
//! it would do besides is switched off: settings and memory files of the workspace, side calls of
//! the model (the host would refuse them, they lack the prompt), updates and telemetry.

use foreword::Prompt;
use foreword_protocol::{AgentEvent, Job, LocalTool, RunnerKind, StopReason, Usage};
use serde::Deserialize as _;
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

const NAME: &str = "claude";
const ADVICE: &str = "install it with `npm install -g @anthropic-ai/claude-code@2.1.197`";

/// Runs a turn, and gives its last event.
pub(crate) fn run(
    job: &Job,
    prompt: &Prompt,
    events: &mut Events<'_>,
    surroundings: &Surroundings,
) -> Result<AgentEvent, AgentError> {
    let host = Host::new(job);
    let key = random_name().map_err(AgentError::Private)?;
    let own: Vec<String> = host
        .tools()
        .iter()
        .map(|tool| format!("{}{}", RunnerKind::MCP_PREFIX, tool.name))
        .collect();
    let settings = Settings { host, model: job.model.clone(), key: key.clone(), call_token: None };
    let bridge = Bridge::start(job.bridge_port, settings).map_err(AgentError::Bridge)?;
    let dir = PrivateDir::new(&surroundings.temp_dir).map_err(AgentError::Private)?;
    let input = conversation::text(&job.history, prompt.turn_context(), &job.message);
    let mut program = Program::new(NAME, ADVICE, job, surroundings, &dir, input)?;
    let system = dir.write("system.md", prompt.system()).map_err(AgentError::Private)?;
    let mcp = dir
        .write("mcp.json", &mcp_config(job, !own.is_empty()).to_string())
        .map_err(AgentError::Private)?;
    let built_in: Vec<String> = job.tools.iter().filter_map(|tool| built_in(&tool.name)).collect();
    let allowed: Vec<&str> = built_in.iter().chain(&own).map(String::as_str).collect();
    let command = &mut program.command;
    command
        .args(["--print", "--output-format", "stream-json", "--verbose"])
        .args(["--include-partial-messages", "--strict-mcp-config", "--no-session-persistence"])
        .args(["--disable-slash-commands", "--setting-sources", "", "--permission-mode", "dontAsk"])
        .arg("--system-prompt-file")
        .arg(&system)
        .arg("--mcp-config")
        .arg(&mcp)
        .args(["--model", &job.model, "--max-turns", &job.limits.max_steps.to_string()])
        // With an equals sign: the lists may be empty, and take all that follows otherwise.
        .arg(format!("--tools={}", built_in.join(",")))
        .arg(format!("--allowed-tools={}", allowed.join(",")))
        .arg(format!("--disallowed-tools={}", denied(job).join(",")))
        .env("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{}", bridge.port()))
        .env("ANTHROPIC_API_KEY", &key)
        .env("ANTHROPIC_SMALL_FAST_MODEL", &job.model)
        .env("ANTHROPIC_DEFAULT_HAIKU_MODEL", &job.model)
        .env("CLAUDE_CONFIG_DIR", dir.directory("config").map_err(AgentError::Private)?)
        .env("CLAUDE_CODE_MAX_OUTPUT_TOKENS", job.limits.max_output_tokens.to_string())
        .env("BASH_DEFAULT_TIMEOUT_MS", (job.limits.command_seconds * 1000).to_string())
        .env("BASH_MAX_TIMEOUT_MS", (job.limits.command_seconds * 1000).to_string())
        .env("BASH_MAX_OUTPUT_LENGTH", job.limits.max_tool_output_bytes.to_string())
        .env("MAX_THINKING_TOKENS", "0")
        // Our tools are offered from the start, and none of them waits to be searched for.
        .env("ENABLE_TOOL_SEARCH", "false")
        .env("MCP_TIMEOUT", "30000")
        // The host has tried again already.
        .env("CLAUDE_CODE_MAX_RETRIES", "0");
    for name in SWITCHES {
        command.env(name, "1");
    }

    let mut said = Said::new(events);
    let mut result = None;
    let ended = program.run(&mut |event| {
        take(event, &mut said)?;
        if text(event, "type") != "result" {
            return Ok(Listen::On);
        }
        result = Some(event.clone());
        Ok(Listen::Enough)
    })?;
    let Some(result) = result else { return Err(ended.without_result(NAME)) };
    finish(&result, said)
}

/// What is not essential to a turn.
const SWITCHES: [&str; 13] = [
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS",
    "CLAUDE_CODE_DISABLE_TERMINAL_TITLE",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY",
    "CLAUDE_CODE_DISABLE_CLAUDE_MDS",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS",
    "CLAUDE_CODE_SKIP_PROMPT_HISTORY",
    "DISABLE_AUTOUPDATER",
    "DISABLE_AUTO_COMPACT",
    "DISABLE_COMPACT",
    "DISABLE_ERROR_REPORTING",
    "DISABLE_TELEMETRY",
    "DISABLE_BUG_COMMAND",
];

/// Its own tool that does what one of ours does.
fn built_in(name: &str) -> Option<String> {
    LocalTool::named(name)?;
    RunnerKind::ClaudeCode.tool_name(name)
}

/// The permission rules that ask or deny, in the words of the program. It cannot ask, so it refuses both.
fn denied(job: &Job) -> Vec<String> {
    let rules = job.restrictions.iter().filter_map(|rule| {
        let (tool, pattern) = match rule.split_once('(') {
            Some((tool, rest)) => (tool, rest.strip_suffix(')')),
            None => (rule.as_str(), None),
        };
        let tool = built_in(tool)?;
        // In its patterns, `Edit` stands for every tool that writes.
        let tool = if tool == "Write" && pattern.is_some() { "Edit".to_owned() } else { tool };
        Some(match pattern.map(|pattern| pattern.strip_suffix('*').unwrap_or(pattern)) {
            Some(start) if tool == "Bash" => {
                format!("Bash({}:*)", start.trim_end_matches([':', ' ']))
            }
            _ => match pattern {
                Some(pattern) => format!("{tool}({pattern})"),
                None => tool,
            },
        })
    });
    // A comma separates rules.
    rules.filter(|rule| !rule.contains(',')).collect()
}

/// Our server, where the agent has tools that the host carries out.
fn mcp_config(job: &Job, has_tools: bool) -> Value {
    if !has_tools {
        return json!({"mcpServers": {}});
    }
    json!({"mcpServers": {"foreword": {
        "command": job.foreword,
        "args": ["mcp", "--socket", job.socket],
        "env": {"FOREWORD_SESSION_TOKEN": job.token},
    }}})
}

fn take(event: &Value, said: &mut Said<'_, '_>) -> Result<(), AgentError> {
    // Events of a sub-agent are not the conversation's.
    if event.get("parent_tool_use_id").is_some_and(|parent| !parent.is_null()) {
        return Ok(());
    }
    let none = Vec::new();
    let content = event
        .get("message")
        .and_then(|message| message.get("content"))
        .and_then(Value::as_array)
        .unwrap_or(&none);
    match text(event, "type") {
        "stream_event" => {
            let delta = event.get("event").and_then(|event| event.get("delta"));
            if let Some(delta) = delta
                && text(delta, "type") == "text_delta"
            {
                said.piece(text(delta, "text"))?;
            }
        }
        "assistant" => {
            for block in content {
                match text(block, "type") {
                    "text" => said.text(text(block, "text"))?,
                    "tool_use" => {
                        let name = text(block, "name");
                        let name = name.strip_prefix(RunnerKind::MCP_PREFIX).unwrap_or(name);
                        let input = block.get("input").unwrap_or(&Value::Null);
                        said.call(text(block, "id"), name, input)?;
                    }
                    _ => {}
                }
            }
        }
        "user" => {
            for block in content.iter().filter(|block| text(block, "type") == "tool_result") {
                let is_error = block.get("is_error").and_then(Value::as_bool).unwrap_or(false);
                let answer = content_text(block.get("content").unwrap_or(&Value::Null));
                said.result(text(block, "tool_use_id"), answer, is_error)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn finish(result: &Value, mut said: Said<'_, '_>) -> Result<AgentEvent, AgentError> {
    if let Some(usage) = result.get("usage") {
        let tokens = |key: &str| usage.get(key).and_then(Value::as_u64).unwrap_or(0);
        said.usage = Usage {
            input_tokens: tokens("input_tokens"),
            output_tokens: tokens("output_tokens"),
            cache_read_tokens: tokens("cache_read_input_tokens"),
            cache_write_tokens: tokens("cache_creation_input_tokens"),
        };
    }
    if text(result, "subtype") == "error_max_turns" {
        return Ok(said.done(StopReason::MaxSteps));
    }
    if text(result, "subtype") != "success"
        || result.get("is_error").and_then(Value::as_bool).unwrap_or(false)
    {
        let message = match text(result, "result") {
            "" => text(result, "subtype"),
            message => message,
        };
        let message = message.chars().take(2000).collect();
        return Err(AgentError::Program { program: NAME, message });
    }
    let stop_reason = result
        .get("stop_reason")
        .and_then(|word| StopReason::deserialize(word).ok())
        .filter(|reason| *reason != StopReason::Other(String::new()))
        .unwrap_or(StopReason::EndTurn);
    Ok(said.done(stop_reason))
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
