//! Real programs under `foreword watch`: Claude Code, pi, Codex, and the SDKs of Anthropic, OpenAI, Google and Vercel.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::model::{Answer, Asked, ModelServer, text, tool};
use crate::support::{Run, Scratch, command};

const HOUSE_RULES: &str = "# House rules\n\nAlways answer in one word, whatever the question may be.\nNever touch the file called ledger.txt in this project.\n";

/// What must not be stored.
const KEY: &str = "0123456789abcdefghijklmnop";

fn scratch() -> Scratch {
    let scratch = Scratch::new(&[
        ("CLAUDE.md", HOUSE_RULES),
        ("notes.txt", "The parser fails on an empty line, because it reads past the end.\n"),
    ]);
    std::fs::create_dir_all(scratch.join("home")).unwrap();
    scratch
}

fn path() -> String {
    foreword_testing::npm_path().into_string().unwrap()
}

/// Watches a program, and gives its run and its report.
fn watch(scratch: &Scratch, model: &ModelServer, args: &[&str]) -> (Run, Value) {
    let set = |args: &[&str]| {
        scratch
            .command(args)
            .env("PATH", path())
            .env("HOME", scratch.join("home"))
            .env("ANTHROPIC_BASE_URL", &model.url)
            .env("OPENAI_BASE_URL", format!("{}/v1", model.url))
            .env("GOOGLE_GEMINI_BASE_URL", &model.url)
            .env("GEMINI_API_KEY", format!("AIza{KEY}"))
            .env("ANTHROPIC_API_KEY", format!("sk-ant-{KEY}"))
            .env("OPENAI_API_KEY", format!("sk-proj-{KEY}"))
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("FOREWORD_STATE_DIR", scratch.join("state"))
    };
    let run = set(&[&["watch", "--"], args].concat()).run();
    assert_eq!(run.status, 0, "{}{}", run.stdout, run.stderr);
    let report = set(&["watch", "report", "--json"]).run().ok().json();
    let stored = std::fs::read_dir(scratch.join("state/captures")).unwrap();
    for file in stored {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        assert!(!text.contains(KEY), "no key is stored");
    }
    (run, report)
}

fn source<'r>(report: &'r Value, name: &str) -> &'r Value {
    let sources = report["sources"].as_array().unwrap().iter();
    sources.into_iter().find(|source| source["name"] == name).unwrap_or(&Value::Null)
}

#[test]
fn claude_code_is_watched() {
    if foreword_testing::npm_program("claude").is_none() {
        return;
    }
    let scratch = scratch();
    let notes = scratch.join("notes.txt").canonicalize().unwrap();
    let model = ModelServer::start(move |_, asked: &Asked| {
        if asked.last_message().contains("reads past the end") {
            return text("Fixed.");
        }
        tool("Read", json!({"file_path": notes}))
    });
    let (run, report) = watch(&scratch, &model, &["claude", "-p", "Why does the parser fail?"]);
    assert_eq!(run.stdout.trim(), "Fixed.");
    let calls = report["calls"].as_array().unwrap();
    assert!(calls.len() >= 2, "{report}");
    assert!(
        source(&report, "CLAUDE.md")["lines"].to_string().contains("[1,4]"),
        "{}",
        report["sources"]
    );
    assert!(
        source(&report, "notes.txt")["lines"].to_string().contains("[1,1]"),
        "{}",
        report["sources"]
    );
    assert_eq!(source(&report, "vendor")["isFile"], false);
    // Claude Code keeps its cache from one call to the next.
    assert_eq!(report["totals"]["cacheBreaks"], 0, "{}", run.stderr);
    let last = calls.last().unwrap();
    assert!(last["cache"]["commonTokens"].as_u64().unwrap() > 5_000, "{}", last["cache"]);
    assert!(last["tokens"]["tools"].as_u64().unwrap() > 1_000);
    let unused =
        report["waste"].as_array().unwrap().iter().filter(|waste| waste["kind"] == "unused-tool");
    assert!(unused.count() > 3);
}

#[test]
fn codex_is_watched_through_its_settings() {
    if foreword_testing::npm_program("codex").is_none() {
        return;
    }
    let scratch = scratch();
    scratch.write("AGENTS.md", HOUSE_RULES);
    let model = ModelServer::start(|_, _| {
        let message = json!({"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "Done.", "annotations": []}]});
        let response = |status: &str, output: Value| json!({"id": "r", "object": "response", "created_at": 1, "status": status, "model": "gpt-5", "output": output, "usage": {"input_tokens": 40, "output_tokens": 2, "total_tokens": 42, "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}});
        let events = [
            json!({"type": "response.created", "sequence_number": 0, "response": response("in_progress", json!([]))}),
            json!({"type": "response.output_item.done", "sequence_number": 1, "output_index": 0, "item": message}),
            json!({"type": "response.completed", "sequence_number": 2, "response": response("completed", json!([message]))}),
        ];
        let body: String = events
            .iter()
            .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()))
            .collect();
        Answer::Raw(200, vec![("content-type".to_owned(), "text/event-stream".to_owned())], body)
    });
    let shell = r#"codex exec --skip-git-repo-check -c model_provider=w -c "model_providers.w={name=\"w\",base_url=\"$OPENAI_BASE_URL\",wire_api=\"responses\",env_key=\"OPENAI_API_KEY\"}" -m gpt-5 "Say hi" </dev/null"#;
    let (run, report) = watch(&scratch, &model, &["sh", "-c", shell]);
    assert!(run.stdout.contains("Done."), "{}{}", run.stdout, run.stderr);
    assert_eq!(report["calls"][0]["api"], "openai-responses");
    assert_eq!(report["calls"][0]["usage"]["outputTokens"], 2);
    assert!(source(&report, "AGENTS.md")["tokens"].as_u64().unwrap() > 10, "{}", report["sources"]);
}

#[test]
fn pi_is_watched_through_its_settings() {
    if foreword_testing::npm_program("pi").is_none() {
        return;
    }
    let scratch = scratch();
    let model = ModelServer::saying(vec![text("Done.")]);
    let mut proxy = command()
        .args(["watch", "--proxy", "0", "-w"])
        .arg(scratch.path())
        .env("ANTHROPIC_BASE_URL", &model.url)
        .env("FOREWORD_STATE_DIR", scratch.join("state"))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(proxy.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("ANTHROPIC_BASE_URL=") {
        line.clear();
        assert!(said.read_line(&mut line).unwrap() > 0);
    }
    let url = line.split('=').nth(1).unwrap().split_whitespace().next().unwrap();
    let models = json!({"providers": {"watched": {"baseUrl": url, "api": "anthropic-messages", "apiKey": "test-key-0123456789", "models": [{"id": "claude-sonnet-4", "name": "Sonnet", "reasoning": false, "input": ["text"], "contextWindow": 200000, "maxTokens": 1000, "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}]}}});
    scratch.write("pi-agent/models.json", models.to_string());
    let pi = std::process::Command::new("pi")
        .args(["--print", "--provider", "watched", "--model", "claude-sonnet-4", "Say hi"])
        .current_dir(scratch.path())
        .env_clear()
        .env("PATH", path())
        .env("HOME", scratch.join("home"))
        .env("PI_CODING_AGENT_DIR", scratch.join("pi-agent"))
        .env("PI_OFFLINE", "1")
        .stdin(Stdio::null())
        .output();
    let pid = rustix::process::Pid::from_child(&proxy);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    proxy.wait().unwrap();
    let pi = pi.unwrap();
    assert!(pi.status.success(), "{}{rest}", String::from_utf8_lossy(&pi.stderr));
    assert!(rest.contains("watch #1  claude-sonnet-4"), "{rest}");
    assert!(rest.contains("CLAUDE.md:1-4"), "{rest}");
}

/// Runs a Python program with an SDK against a model that answers the same to every call.
fn python(variable: &str, sdk: &str, program: &str) -> Option<(Run, Value)> {
    let python = foreword_testing::required_variable(variable, sdk)?;
    let scratch = scratch();
    scratch.write("agent.py", format!("rules = open('CLAUDE.md').read()\n{program}"));
    let model = ModelServer::saying(vec![text("Done.")]);
    Some(watch(&scratch, &model, &[python.to_str().unwrap(), "agent.py"]))
}

#[test]
fn the_anthropic_sdk_is_watched() {
    let program = "import anthropic\n\
         with anthropic.Anthropic().messages.stream(model='claude-sonnet-4-5', max_tokens=9, system=rules, messages=[{'role': 'user', 'content': 'Hello there'}]) as stream:\n\
         \x20   print(''.join(stream.text_stream))\n";
    let Some((run, report)) = python("FOREWORD_ANTHROPIC_PYTHON", "anthropic", program) else {
        return;
    };
    assert_eq!(run.stdout, "Done.\n");
    assert_eq!(report["calls"][0]["api"], "anthropic-messages");
    assert_eq!(report["calls"][0]["usage"]["cacheWriteTokens"], 5);
    assert_eq!(source(&report, "CLAUDE.md")["lines"], json!([[1, 4]]));
}

#[test]
fn the_openai_sdk_is_watched() {
    let program = "import openai\n\
         stream = openai.OpenAI().chat.completions.create(model='gpt-5', stream=True, messages=[{'role': 'system', 'content': rules}, {'role': 'user', 'content': 'Hello'}])\n\
         print(''.join(chunk.choices[0].delta.content or '' for chunk in stream if chunk.choices))\n";
    let Some((run, report)) = python("FOREWORD_OPENAI_PYTHON", "openai", program) else { return };
    assert_eq!(run.stdout, "Done.\n");
    assert_eq!(report["calls"][0]["api"], "openai-chat");
    assert_eq!(report["calls"][0]["usage"]["cacheReadTokens"], 7);
    assert_eq!(source(&report, "CLAUDE.md")["lines"], json!([[1, 4]]));
}

/// Runs a JavaScript program with an SDK from npm.
fn javascript(sdk: &str, model: &ModelServer, program: &str) -> Option<(Run, Value)> {
    let npm = foreword_testing::required_variable("FOREWORD_TEST_NPM", sdk)?;
    let modules = Path::new(&npm).join("node_modules");
    if !modules.join(sdk).exists() {
        foreword_testing::skip(sdk, "not installed; `cargo xtask test` installs it");
        return None;
    }
    let scratch = scratch();
    std::os::unix::fs::symlink(&modules, scratch.join("node_modules")).unwrap();
    let head = "import { readFileSync } from 'node:fs';\nconst rules = readFileSync('CLAUDE.md', 'utf8');\n";
    scratch.write("agent.mjs", format!("{head}{program}"));
    Some(watch(&scratch, model, &["node", "agent.mjs"]))
}

#[test]
fn the_vercel_sdk_is_watched() {
    let model = ModelServer::saying(vec![text("Done.")]);
    let program = "import { streamText } from 'ai';\n\
         import { createOpenAI } from '@ai-sdk/openai';\n\
         const openai = createOpenAI({ baseURL: process.env.OPENAI_BASE_URL });\n\
         const { textStream } = streamText({ model: openai.chat('gpt-5'), system: rules, prompt: 'Hello' });\n\
         for await (const piece of textStream) process.stdout.write(piece);\n";
    let Some((run, report)) = javascript("ai", &model, program) else { return };
    assert_eq!(run.stdout, "Done.");
    assert_eq!(report["calls"][0]["api"], "openai-chat");
    assert_eq!(source(&report, "CLAUDE.md")["lines"], json!([[1, 4]]));
}

#[test]
fn the_gemini_sdk_is_watched() {
    let model = ModelServer::start(|_, _| {
        let event = json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "Done."}]}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 40, "candidatesTokenCount": 2, "cachedContentTokenCount": 7, "totalTokenCount": 42}});
        let stream = ("content-type".to_owned(), "text/event-stream".to_owned());
        Answer::Raw(200, vec![stream], format!("data: {event}\r\n\r\n"))
    });
    let program = "import { GoogleGenAI } from '@google/genai';\n\
         const ai = new GoogleGenAI({ apiKey: process.env.GEMINI_API_KEY });\n\
         const stream = await ai.models.generateContentStream({ model: 'gemini-2.5-pro', contents: 'Hello', config: { systemInstruction: rules } });\n\
         for await (const piece of stream) process.stdout.write(piece.text);\n";
    let Some((run, report)) = javascript("@google/genai", &model, program) else { return };
    assert_eq!(run.stdout, "Done.");
    let call = &report["calls"][0];
    assert_eq!(
        (&call["api"], &call["model"]),
        (&json!("gemini-generate"), &json!("gemini-2.5-pro"))
    );
    assert_eq!(call["usage"]["cacheReadTokens"], 7);
    assert_eq!(source(&report, "CLAUDE.md")["lines"], json!([[1, 4]]));
}
