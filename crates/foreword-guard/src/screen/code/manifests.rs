//! Commands that stand in files other than programs: manifests, settings, pages.

use serde_json::Value as Json;

use super::language::Language;

/// Code found in a file.
#[derive(Debug)]
pub(crate) struct Embedded {
    pub(crate) language: Language,
    pub(crate) code: String,
    pub(crate) line: u32,
    /// Runs on its own, when something is installed or opened, such as `postinstall`.
    pub(crate) trigger: Option<String>,
}

/// Pieces that are looked at in one file.
const MAX_PIECES: usize = 64;

/// The code in a file that is no program.
pub(crate) fn embedded(path: &str, text: &str) -> Vec<Embedded> {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let extension = name.rsplit('.').next().unwrap_or_default();
    let mut found = match (name.as_str(), extension) {
        (_, "json" | "jsonc") => json(&name, text),
        ("makefile" | "gnumakefile" | "justfile", _) | (_, "mk") => makefile(text),
        (_, "pth") => {
            lines(text, Language::Python, "python start-up", |line| line.starts_with("import"))
        }
        ("setup.cfg" | "pyproject.toml", _) => Vec::new(),
        ("dockerfile", _) | (_, "dockerfile") => dockerfile(text),
        (_, "svg" | "html" | "htm" | "xhtml") => markup(text),
        (_, "yml" | "yaml") => yaml(text),
        _ => Vec::new(),
    };
    found.truncate(MAX_PIECES);
    found
}

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

/// `package.json`, agents' settings with hooks, MCP servers.
fn json(name: &str, text: &str) -> Vec<Embedded> {
    let Ok(value) = serde_json::from_str::<Json>(text) else { return Vec::new() };
    let mut found = Vec::new();
    let line_of = |needle: &str| {
        let at = text.find(needle).unwrap_or(0);
        let above = text.get(..at).unwrap_or_default().matches('\n').count();
        u32::try_from(above).unwrap_or(0) + 1
    };
    if let Some(scripts) = value.get("scripts").and_then(Json::as_object) {
        for (key, command) in scripts {
            let Some(code) = command.as_str() else { continue };
            let hook = NPM_HOOKS.contains(&key.as_str());
            found.push(Embedded {
                language: Language::Shell,
                code: code.to_owned(),
                line: line_of(&format!("\"{key}\"")),
                trigger: hook.then(|| format!("{name}: {key}")),
            });
        }
    }
    if let Some(hooks) = value.get("hooks") {
        commands(hooks, &mut |code| {
            let line = line_of("\"hooks\"");
            let trigger = Some(format!("{name}: hook"));
            found.push(Embedded { language: Language::Shell, code, line, trigger });
        });
    }
    for key in ["mcpServers", "servers"] {
        let servers = value.get(key).and_then(Json::as_object);
        for (server, settings) in servers.into_iter().flatten() {
            let command = settings.get("command").and_then(Json::as_str);
            let Some(command) = command else { continue };
            let args = settings.get("args").and_then(Json::as_array);
            let args = args.into_iter().flatten().filter_map(Json::as_str);
            let words: Vec<String> = std::iter::once(command).chain(args).map(quoted).collect();
            let line = line_of(&format!("\"{server}\""));
            let trigger = Some(format!("{name}: MCP server {server}"));
            found.push(Embedded {
                language: Language::Shell,
                code: words.join(" "),
                line,
                trigger,
            });
        }
    }
    found
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', ""))
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

/// The recipes of a Makefile.
fn makefile(text: &str) -> Vec<Embedded> {
    lines(text, Language::Shell, "", |line| line.starts_with('\t') || line.starts_with("    "))
}

fn dockerfile(text: &str) -> Vec<Embedded> {
    let mut found = lines(text, Language::Shell, "", |line| line.starts_with("RUN "));
    for piece in &mut found {
        piece.code = piece.code.trim_start_matches("RUN ").to_owned();
    }
    found
}

/// `run: command` of workflows and the like.
fn yaml(text: &str) -> Vec<Embedded> {
    let keys = ["run:", "command:", "postinstall:", "script:", "entrypoint:"];
    let is_command = |line: &str| {
        let line = line.trim_start().trim_start_matches("- ");
        keys.iter().any(|key| line.strip_prefix(key).is_some_and(|rest| rest.trim().len() > 2))
    };
    let mut found = lines(text, Language::Shell, "", is_command);
    for piece in &mut found {
        let code = piece.code.split_once(':').map_or("", |(_, code)| code).trim();
        piece.code = code.trim_matches(['"', '\'']).to_owned();
    }
    found
}

fn lines(
    text: &str,
    language: Language,
    trigger: &str,
    wanted: impl Fn(&str) -> bool,
) -> Vec<Embedded> {
    let found = (1..).zip(text.lines()).filter(|(_, line)| wanted(line));
    let found = found.map(|(line, code)| Embedded {
        language,
        code: code.trim().trim_start_matches(['@', '-']).to_owned(),
        line,
        trigger: (!trigger.is_empty()).then(|| trigger.to_owned()),
    });
    found.take(MAX_PIECES).collect()
}

/// The scripts and event handlers of a page or picture.
fn markup(text: &str) -> Vec<Embedded> {
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = lower.get(at..).and_then(|rest| rest.find("<script")) {
        let start = at + start;
        let Some(open) = lower.get(start..).and_then(|rest| rest.find('>')) else { break };
        let body = start + open + 1;
        let end = lower
            .get(body..)
            .and_then(|rest| rest.find("</script"))
            .map_or(lower.len(), |e| body + e);
        let code = text.get(body..end).unwrap_or_default();
        let code = code.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        let above = text.get(..body).unwrap_or_default().matches('\n').count();
        if !code.trim().is_empty() {
            found.push(Embedded {
                language: Language::JavaScript,
                code,
                line: u32::try_from(above).unwrap_or(0) + 1,
                trigger: Some("script in a page".into()),
            });
        }
        at = end.max(start + 1);
        if found.len() >= MAX_PIECES {
            break;
        }
    }
    for (line, raw) in (1..).zip(text.lines()).take(20_000) {
        let lower = raw.to_ascii_lowercase();
        for event in ["onload=", "onerror=", "onbegin="] {
            let Some(at) = lower.find(event) else { continue };
            let rest = raw.get(at + event.len()..).unwrap_or_default();
            let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
            let code = quote.and_then(|q| rest.get(1..).and_then(|rest| rest.split(q).next()));
            let trigger = Some(event.trim_end_matches('=').to_owned());
            found.extend(code.map(|code| Embedded {
                language: Language::JavaScript,
                code: code.to_owned(),
                line,
                trigger,
            }));
        }
    }
    found
}
