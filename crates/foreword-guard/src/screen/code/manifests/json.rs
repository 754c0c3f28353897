//! `package.json`, settings of editors and agents, notebooks.

use serde_json::Value as Json;

use super::Pieces;
use crate::screen::code::language::Language;

/// npm's hooks that run without being called.
const NPM_HOOKS: [&str; 8] = [
    "preinstall",
    "install",
    "postinstall",
    "prepare",
    "prepublish",
    "preprepare",
    "postprepare",
    "prestart",
];

/// `package.json`, agents' settings with hooks, MCP servers. What runs on its own comes first, so that
/// nothing else takes its room.
pub(super) fn json(name: &str, text: &str, found: &mut Pieces) {
    let Some(value) = read(text) else { return };
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let line_of = |key: &str| {
        let at = text.find(&format!("\"{key}\"")).unwrap_or(0);
        u32::try_from(ends.partition_point(|end| *end < at)).unwrap_or(0) + 1
    };
    let mut add = |key: &str, code: String, trigger: Option<String>| {
        found.add(Language::Shell, code, trigger, || line_of(key));
    };
    let mut ordinary = Vec::new();
    for (key, command) in value.get("scripts").and_then(Json::as_object).into_iter().flatten() {
        if NPM_HOOKS.contains(&key.as_str()) || key.starts_with("post-") {
            let trigger = Some(format!("{name}: {key}"));
            each_command(command, &mut |code| add(key, code, trigger.clone()));
        } else {
            ordinary.push((key, command));
        }
    }
    for key in CONTAINER_HOOKS {
        let Some(hook) = value.get(key) else { continue };
        let trigger = Some(format!("{name}: {key}"));
        each_command(hook, &mut |code| add(key, code, trigger.clone()));
    }
    for key in ["statusLine", "apiKeyHelper", "awsAuthRefresh", "otelHeadersHelper"] {
        let trigger = Some(format!("{name}: {key}"));
        match value.get(key) {
            Some(Json::String(code)) => add(key, code.clone(), trigger),
            Some(other) => commands(other, &mut |code| add(key, code, trigger.clone())),
            None => {}
        }
    }
    let mut hooks = Vec::new();
    if let Some(all) = value.get("hooks") {
        commands(all, &mut |code| hooks.push(code));
    }
    for code in hooks {
        found.hook(code, format!("{name}: hook"), || line_of("hooks"));
    }
    let mut add = |key: &str, code: String, trigger: Option<String>| {
        found.add(Language::Shell, code, trigger, || line_of(key));
    };
    for key in ["mcpServers", "servers", "mcp_servers", "context_servers"] {
        let servers = value.get(key).and_then(Json::as_object);
        for (server, settings) in servers.into_iter().flatten() {
            let command = settings.get("command").and_then(Json::as_str);
            let Some(command) = command else { continue };
            let args = settings.get("args").and_then(Json::as_array);
            let args = args.into_iter().flatten().filter_map(Json::as_str);
            let words: Vec<String> = std::iter::once(command).chain(args).map(quoted).collect();
            add(server, words.join(" "), Some(format!("{name}: MCP server {server}")));
        }
    }
    let tasks = value.get("tasks").and_then(Json::as_array).into_iter().flatten();
    let opens = |task: &Json| {
        task.pointer("/runOptions/runOn").and_then(Json::as_str) == Some("folderOpen")
    };
    let (opening, others): (Vec<&Json>, Vec<&Json>) = tasks.partition(|task| opens(task));
    for task in opening.into_iter().chain(others) {
        let Some(command) = task.get("command").and_then(Json::as_str) else { continue };
        let args = task.get("args").and_then(Json::as_array).into_iter().flatten();
        let args = args.filter_map(Json::as_str).map(quoted);
        let words: Vec<String> = std::iter::once(command.to_owned()).chain(args).collect();
        let trigger = opens(task).then(|| format!("{name}: when the folder is opened"));
        add("tasks", words.join(" "), trigger);
    }
    for key in ["dependencies", "devDependencies", "optionalDependencies"] {
        let packages = value.get(key).and_then(Json::as_object);
        for (package, source) in packages.into_iter().flatten() {
            let source = source.as_str().unwrap_or_default();
            if source.contains("://") {
                add(package, format!("npm install {}", quoted(source)), None);
            }
        }
    }
    for (key, command) in ordinary {
        each_command(command, &mut |code| add(key, code, None));
    }
}

pub(super) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', ""))
}

/// What a development container runs on its own.
const CONTAINER_HOOKS: [&str; 6] = [
    "initializeCommand",
    "onCreateCommand",
    "updateContentCommand",
    "postCreateCommand",
    "postStartCommand",
    "postAttachCommand",
];

/// The commands that a value holds: a line, words, or several by name.
fn each_command(value: &Json, each: &mut dyn FnMut(String)) {
    match value {
        Json::String(code) => each(code.trim_start_matches('@').to_owned()),
        Json::Array(items) => {
            let words: Vec<&str> = items.iter().filter_map(Json::as_str).collect();
            // Composer lists commands, others the words of one.
            if words.iter().any(|word| word.contains(' ') && !word.starts_with('-')) {
                words.iter().for_each(|word| each((*word).to_owned()));
            } else {
                each(words.into_iter().map(quoted).collect::<Vec<_>>().join(" "));
            }
        }
        Json::Object(named) => named.values().for_each(|value| each_command(value, each)),
        _ => {}
    }
}

/// A text as JSON, also with the comments and the last commas that editors allow.
fn read(text: &str) -> Option<Json> {
    if let Ok(value) = serde_json::from_str(text) {
        return Some(value);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['"', '/', ',']) {
        let (before, from) = rest.split_at_checked(at)?;
        out.push_str(before);
        let end = match from.as_bytes() {
            [b'"', ..] => {
                let end = closing_quote(from);
                out.push_str(from.get(..end)?);
                end
            }
            [b'/', b'/', ..] => from.find('\n').unwrap_or(from.len()),
            [b'/', b'*', ..] => from.find("*/").map_or(from.len(), |end| end + 2),
            [b',', ..] => {
                let next = from.get(1..)?.trim_start();
                out.push_str(if next.starts_with(['}', ']']) { "" } else { "," });
                1
            }
            _ => {
                out.push('/');
                1
            }
        };
        rest = from.get(end..)?;
    }
    out.push_str(rest);
    serde_json::from_str(&out).ok()
}

/// Where a text in quotes ends.
fn closing_quote(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !escaped => return at + 1,
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

/// The cells of a notebook: Python, and the commands in it.
pub(super) fn notebook(text: &str, found: &mut Pieces) {
    let Ok(value) = serde_json::from_str::<Json>(text) else { return };
    let cells = value.get("cells").and_then(Json::as_array).into_iter().flatten();
    let (mut python, mut shell) = (String::new(), String::new());
    for cell in cells.filter(|c| c.get("cell_type").and_then(Json::as_str) == Some("code")) {
        let source = match cell.get("source") {
            Some(Json::String(text)) => text.clone(),
            Some(Json::Array(lines)) => lines.iter().filter_map(Json::as_str).collect(),
            _ => continue,
        };
        let magics = ["%%bash", "%%sh", "%%script", "%%system", "%%!"];
        let whole = magics.iter().any(|magic| source.starts_with(magic));
        for line in source.lines() {
            let command = line.trim_start().strip_prefix('!').or(Some(line).filter(|_| whole));
            let line_magics = ["%pip ", "%conda ", "%system ", "%sx "];
            let command = command.or_else(|| {
                let magic = line_magics.iter().find(|magic| line.starts_with(**magic))?;
                let skip = if magic.starts_with("%s") { magic.len() } else { 1 };
                line.get(skip..)
            });
            let python_call = command.filter(|_| !whole).and_then(in_python);
            if let Some(call) = python_call {
                python.push_str(&call);
                python.push('\n');
                continue;
            }
            let out = if command.is_some() { &mut shell } else { &mut python };
            out.push_str(command.unwrap_or(line));
            out.push('\n');
        }
    }
    found.add(Language::Python, python, None, || 1);
    found.add(Language::Shell, shell, None, || 1);
}

/// A command with values of the notebook in it, as Python writes it: `!curl -d {token} …`.
fn in_python(command: &str) -> Option<String> {
    let is_name = |name: &str| {
        !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.[]\"'()".contains(c))
    };
    let (_, after) = command.split_once('{')?;
    let (name, _) = after.split_once('}')?;
    (is_name(name) && !command.contains("\"\"\""))
        .then(|| format!("os.system(f\"\"\"{command} \"\"\")"))
}

/// Every `command` below a value.
fn commands(value: &Json, each: &mut dyn FnMut(String)) {
    match value {
        Json::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Json::String(text) if key == "command" => each(text.clone()),
                    other => commands(other, each),
                }
            }
        }
        Json::Array(items) => items.iter().for_each(|item| commands(item, each)),
        _ => {}
    }
}
