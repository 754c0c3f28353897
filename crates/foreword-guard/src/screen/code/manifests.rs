//! Commands that stand in files other than programs: manifests, settings, pages.

mod json;
mod markup;
mod yaml;

use super::language::Language;
use json::quoted;

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
    let is_image = name.starts_with("dockerfile");
    let mut found = match (if is_image { "dockerfile" } else { &name }, extension) {
        (_, "json" | "jsonc" | "code-workspace") => json::json(&name, text),
        (_, "ipynb") => json::notebook(text),
        ("makefile" | "gnumakefile" | "justfile", _) | (_, "mk") => makefile(text),
        (_, "pth") => {
            lines(text, Language::Python, "python start-up", |line| line.starts_with("import"))
        }
        ("dockerfile" | "containerfile", _) | (_, "dockerfile") => dockerfile(text),
        (_, "svg" | "html" | "htm" | "xhtml" | "hta") => markup::markup(text),
        (_, "yml" | "yaml") => yaml::yaml(text),
        ("cmakelists.txt", _) | (_, "cmake") => cmake(text),
        ("pip.conf" | "pip.ini" | ".npmrc" | ".yarnrc" | ".pypirc" | "pipfile", _) => sources(text),
        (_, "txt") if name.contains("requirement") || name.contains("constraint") => sources(text),
        ("pyproject.toml" | "setup.cfg", _) => {
            let mut found = settings(text);
            found.extend(sources(text));
            found
        }
        (_, "toml" | "tf" | "hcl" | "ini" | "cfg" | "conf") => settings(text),
        (_, "service" | "timer" | "desktop" | "plist") => units(text),
        _ => Vec::new(),
    };
    found.truncate(MAX_PIECES);
    found
}

/// Lines with those that they go on in: `\\` at the end.
fn continued(text: &str) -> impl Iterator<Item = (u32, String)> {
    let mut lines = (1..).zip(text.lines());
    std::iter::from_fn(move || {
        let (start, line) = lines.next()?;
        let mut whole = line.to_owned();
        while whole.ends_with('\\') && whole.len() < 16 * 1024 {
            whole.pop();
            let Some((_, more)) = lines.next() else { break };
            whole.push(' ');
            whole.push_str(more.trim());
        }
        Some((start, whole))
    })
}

fn shell(line: u32, code: impl Into<String>) -> Embedded {
    Embedded { language: Language::Shell, code: code.into(), line, trigger: None }
}

/// The recipes of a Makefile, and the commands in its variables.
fn makefile(text: &str) -> Vec<Embedded> {
    let mut found = Vec::new();
    for (line, raw) in continued(text).take(20_000) {
        if raw.starts_with('\t') || raw.starts_with("  ") {
            let code = raw.trim().trim_start_matches(['@', '-']).replace("$$", "$");
            found.push(shell(line, code));
        } else if let Some((_, command)) = raw.split_once("$(shell ") {
            let code = command.strip_suffix(')').unwrap_or(command).replace("$$", "$");
            found.push(shell(line, code));
        }
        if found.len() >= MAX_PIECES {
            break;
        }
    }
    found
}

/// What is run while an image is built, and when it starts.
fn dockerfile(text: &str) -> Vec<Embedded> {
    let mut found = Vec::new();
    let mut document: Option<(String, Embedded)> = None;
    for (line, raw) in continued(text).take(20_000) {
        if let Some((end, piece)) = &mut document {
            if raw.trim() == end {
                found.extend(document.take().map(|(_, piece)| piece));
            } else {
                piece.code.push_str(&raw);
                piece.code.push('\n');
            }
            continue;
        }
        let (verb, rest) = raw.trim().split_once(' ').unwrap_or_default();
        match verb.to_ascii_uppercase().as_str() {
            "RUN" | "CMD" | "ENTRYPOINT" => {
                let rest = rest.trim();
                if let Some(end) = rest.strip_prefix("<<") {
                    let end = end.trim_start_matches('-').trim_matches(['"', '\'']).to_owned();
                    document = Some((end, shell(line, "")));
                } else if rest.starts_with('[') {
                    let words: Vec<String> = serde_json::from_str(rest).unwrap_or_default();
                    let words: Vec<String> = words.iter().map(|w| quoted(w)).collect();
                    found.push(shell(line, words.join(" ")));
                } else {
                    let code = rest.split(' ').skip_while(|w| w.starts_with("--mount"));
                    found.push(shell(line, code.collect::<Vec<_>>().join(" ")));
                }
            }
            "ADD" if rest.contains("://") => {
                let mut words = rest.split(' ').filter(|w| !w.starts_with("--"));
                let (url, to) = (words.next().unwrap_or_default(), words.next().unwrap_or("."));
                found.push(shell(line, format!("curl -o {} {}", quoted(to), quoted(url))));
            }
            _ => {}
        }
        if found.len() >= MAX_PIECES {
            break;
        }
    }
    found.extend(document.map(|(_, piece)| piece));
    found
}

/// `execute_process(COMMAND …)`.
fn cmake(text: &str) -> Vec<Embedded> {
    let lines = (1..).zip(text.lines()).take(20_000);
    let commands = lines.filter_map(|(line, raw)| {
        let (_, command) = raw.split_once("COMMAND ")?;
        let end = command.find(" OUTPUT_").unwrap_or(command.len());
        Some(shell(line, command.get(..end)?.trim_end_matches(')')))
    });
    commands.take(MAX_PIECES).collect()
}

/// Where packages come from, as the command that would fetch them.
fn sources(text: &str) -> Vec<Embedded> {
    let lines = (1..).zip(text.lines()).take(20_000);
    let found = lines.filter_map(|(line, raw)| {
        let raw = raw.trim();
        let address = raw.find("http").and_then(|at| raw.get(at..))?;
        let address = address.split([' ', '"', '\'', ';', '#']).next().unwrap_or_default();
        let key = raw.to_ascii_lowercase();
        let is_index = ["index", "registry", "-i ", "url = ", "find-links"]
            .iter()
            .any(|word| key.starts_with(word) || key.trim_start_matches('-').starts_with(word))
            || key.contains("registry=");
        let code = match () {
            () if raw.starts_with('#') || !address.contains("://") => return None,
            () if is_index => format!("pip install --index-url {}", quoted(address)),
            () if raw.contains('@') || raw.starts_with("http") || raw.starts_with("git+") => {
                format!("pip install {}", quoted(address))
            }
            () => return None,
        };
        Some(shell(line, code))
    });
    found.take(MAX_PIECES).collect()
}

/// `command = "…"` of tools and tasks.
fn settings(text: &str) -> Vec<Embedded> {
    let keys = ["command", "cmd", "run", "script", "shell", "entrypoint", "program", "exec"];
    let mut section = String::new();
    let mut found = Vec::new();
    for (line, raw) in (1..).zip(text.lines()).take(20_000) {
        let raw = raw.trim();
        if raw.starts_with('[') {
            section = raw.to_ascii_lowercase();
            continue;
        }
        let Some((key, value)) = raw.split_once('=') else { continue };
        let (key, value) = (key.trim(), value.trim());
        let tasks = ["task", "script", "hook"].iter().any(|word| section.contains(word));
        let is_task = tasks && !section.contains("project.scripts");
        if !keys.contains(&key) && !is_task {
            continue;
        }
        let value = match value.strip_prefix('[') {
            Some(words) => words.trim_end_matches(']').replace(',', " "),
            None => value.trim_matches(['"', '\'']).to_owned(),
        };
        if value.contains(' ') {
            found.push(shell(line, value));
        }
        if found.len() >= MAX_PIECES {
            break;
        }
    }
    found
}

/// What a service, a job or a menu entry starts.
fn units(text: &str) -> Vec<Embedded> {
    let mut found = Vec::new();
    let mut words = Vec::new();
    for (line, raw) in (1..).zip(text.lines()).take(20_000) {
        let raw = raw.trim();
        if let Some((key, command)) = raw.split_once('=')
            && key.starts_with("Exec")
        {
            let code = command.trim_start_matches(['-', '@', '+', '!']);
            found.push(shell(line, code));
        }
        for part in raw.split("<string>").skip(1) {
            words.push(part.split("</string>").next().unwrap_or_default());
        }
    }
    if !words.is_empty() {
        let words = words.iter().skip_while(|word| !word.contains('/'));
        let words: Vec<String> = words.take(16).map(|word| quoted(word)).collect();
        found.push(shell(1, words.join(" ")));
    }
    found.truncate(MAX_PIECES);
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
