//! Commands that stand in files other than programs: manifests, settings, pages.

mod json;
mod make;
mod markup;
mod shape;
mod sql;
mod yaml;

use super::language::Language;
use json::quoted;
use shape::Shape;

/// Code found in a file.
#[derive(Debug)]
pub(crate) struct Embedded {
    pub(crate) language: Language,
    pub(crate) code: String,
    pub(crate) line: u32,
    /// Runs on its own, when something is installed or opened, such as `postinstall`.
    pub(crate) trigger: Option<String>,
    /// Its input is what the user tells an agent.
    pub(crate) hears: bool,
}

/// Pieces that are looked at in one file.
const MAX_PIECES: usize = 128;

/// The first pieces of a file, and how many there are beyond.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    pub(crate) kept: Vec<Embedded>,
    pub(crate) left_out: usize,
}

impl Pieces {
    /// Keeps a piece if there is room. Where it stands is asked only then.
    fn add(
        &mut self,
        language: Language,
        code: impl Into<String>,
        trigger: Option<String>,
        line: impl FnOnce() -> u32,
    ) {
        let code = code.into();
        if code.trim().is_empty() {
            return;
        }
        if self.kept.len() < MAX_PIECES {
            self.kept.push(Embedded { language, code, line: line(), trigger, hears: false });
        } else {
            self.left_out += 1;
        }
    }

    fn is_full(&self) -> bool {
        self.kept.len() >= MAX_PIECES
    }

    /// A command that an agent runs with what the user tells it.
    fn hook(&mut self, code: String, trigger: String, line: impl FnOnce() -> u32) {
        let before = self.kept.len();
        self.add(Language::Shell, code, Some(trigger), line);
        if let Some(added) = self.kept.get_mut(before) {
            added.hears = true;
        }
    }

    fn shell(&mut self, line: u32, code: impl Into<String>) {
        self.add(Language::Shell, code, None, || line);
    }
}

/// The code in a file that is no program.
pub(crate) fn embedded(path: &str, text: &str) -> Pieces {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let extension = name.rsplit('.').next().unwrap_or_default();
    let is_image = name.starts_with("dockerfile");
    let mut found = Pieces::default();
    match (if is_image { "dockerfile" } else { &name }, extension) {
        (_, "json" | "jsonc" | "code-workspace") => json::json(&name, text, &mut found),
        (_, "ipynb") => json::notebook(text, &mut found),
        ("makefile" | "gnumakefile" | "justfile", _) | (_, "mk") => {
            make::makefile(text, &mut found);
        }
        (_, "pth") => imports(text, &mut found),
        ("dockerfile" | "containerfile", _) | (_, "dockerfile") => dockerfile(text, &mut found),
        (_, "svg" | "html" | "htm" | "xhtml") => markup::markup(text, &mut found),
        (_, "yml" | "yaml") => yaml::yaml(text, &mut found),
        (_, "sql" | "psql" | "pgsql" | "mysql") => sql::sql(text, &mut found),
        ("cmakelists.txt", _) | (_, "cmake") => cmake(text, &mut found),
        ("pip.conf" | "pip.ini" | ".npmrc" | ".yarnrc" | ".pypirc" | "pipfile", _) => {
            sources(text, &mut found);
        }
        (_, "txt") if name.contains("requirement") || name.contains("constraint") => {
            sources(text, &mut found);
        }
        ("pyproject.toml" | "setup.cfg", _) => {
            settings(text, &mut found);
            sources(text, &mut found);
        }
        (_, "toml" | "tf" | "hcl" | "ini" | "cfg" | "conf") => {
            settings(text, &mut found);
            units(text, &mut found);
        }
        (_, "service" | "timer" | "desktop" | "plist") => units(text, &mut found),
        _ => match Shape::of(text) {
            Some(Shape::Json) => json::json(&name, text, &mut found),
            Some(Shape::Yaml) => yaml::yaml(text, &mut found),
            Some(Shape::Image) => dockerfile(text, &mut found),
            Some(Shape::Unit) => units(text, &mut found),
            Some(Shape::Jobs) => shape::jobs(text, &mut found),
            Some(Shape::Makefile) => make::makefile(text, &mut found),
            None => {}
        },
    }
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

/// What is run while an image is built, and when it starts.
fn dockerfile(text: &str, found: &mut Pieces) {
    let mut document: Option<(String, u32, String)> = None;
    for (line, raw) in continued(text) {
        if let Some((end, start, code)) = &mut document {
            if raw.trim() == end {
                found.shell(*start, std::mem::take(code));
                document = None;
            } else {
                code.push_str(&raw);
                code.push('\n');
            }
            continue;
        }
        let (verb, rest) = raw.trim().split_once(' ').unwrap_or_default();
        match verb.to_ascii_uppercase().as_str() {
            "RUN" | "CMD" | "ENTRYPOINT" => {
                let rest = rest.trim();
                if let Some(end) = rest.strip_prefix("<<") {
                    let end = end.trim_start_matches('-').trim_matches(['"', '\'']).to_owned();
                    document = Some((end, line, String::new()));
                } else if rest.starts_with('[') {
                    let words: Vec<String> = serde_json::from_str(rest).unwrap_or_default();
                    let words: Vec<String> = words.iter().map(|w| quoted(w)).collect();
                    found.shell(line, words.join(" "));
                } else {
                    let code = rest.split(' ').skip_while(|w| w.starts_with("--mount"));
                    found.shell(line, code.collect::<Vec<_>>().join(" "));
                }
            }
            "ADD" if rest.contains("://") => {
                let mut words = rest.split(' ').filter(|w| !w.starts_with("--"));
                let (url, to) = (words.next().unwrap_or_default(), words.next().unwrap_or("."));
                found.shell(line, format!("curl -o {} {}", quoted(to), quoted(url)));
            }
            _ => {}
        }
    }
    if let Some((_, start, code)) = document {
        found.shell(start, code);
    }
}

/// `execute_process(COMMAND …)`.
fn cmake(text: &str, found: &mut Pieces) {
    for (line, raw) in (1..).zip(text.lines()) {
        let Some((_, command)) = raw.split_once("COMMAND ") else { continue };
        let command = command.split(" OUTPUT_").next().unwrap_or_default();
        found.shell(line, command.trim_end_matches(')'));
    }
}

/// Where packages come from, as the command that would fetch them.
fn sources(text: &str, found: &mut Pieces) {
    let lines = (1..).zip(text.lines());
    let commands = lines.filter_map(|(line, raw)| {
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
        Some((line, code))
    });
    commands.for_each(|(line, code)| found.shell(line, code));
}

/// `command = "…"` of tools and tasks.
fn settings(text: &str, found: &mut Pieces) {
    let keys = [
        "runner",
        "rustc-wrapper",
        "command",
        "cmd",
        "run",
        "script",
        "shell",
        "entrypoint",
        "program",
        "exec",
    ];
    let (mut section, mut command) = (String::new(), String::new());
    for (line, raw) in (1..).zip(text.lines()) {
        let raw = raw.trim();
        if raw.starts_with('[') {
            section = raw.to_ascii_lowercase();
            continue;
        }
        let Some((key, value)) = raw.split_once('=') else { continue };
        let (key, value) = (key.trim(), value.trim());
        if key == "args" && !command.is_empty() {
            let words = value.trim_matches(['[', ']']).replace(',', " ");
            found.shell(line, format!("{command} {words}"));
            command.clear();
            continue;
        }
        let tasks = ["task", "script", "hook"].iter().any(|word| section.contains(word));
        let is_task = tasks && !section.contains("project.scripts");
        if !keys.contains(&key) && !is_task {
            continue;
        }
        let value = match value.strip_prefix('[') {
            Some(words) => words.trim_end_matches(']').replace(',', " "),
            None => yaml::unquoted(value).to_owned(),
        };
        if value.contains(' ') {
            found.shell(line, value);
        } else if key == "command" {
            command = quoted(&value);
        }
    }
}

/// What a service, a job or a menu entry starts.
fn units(text: &str, found: &mut Pieces) {
    let mut words = Vec::new();
    for (line, raw) in (1..).zip(text.lines()) {
        let raw = raw.trim();
        if let Some((key, command)) = raw.split_once('=')
            && key.starts_with("Exec")
        {
            let code = command.trim_start_matches(['-', '@', '+', '!']);
            found.shell(line, code);
        }
        for part in raw.split("<string>").skip(1) {
            words.push(part.split("</string>").next().unwrap_or_default());
        }
    }
    if !words.is_empty() {
        let words = words.iter().skip_while(|word| !word.contains('/'));
        let words: Vec<String> = words.take(16).map(|word| quoted(word)).collect();
        found.shell(1, words.join(" "));
    }
}

/// The lines of a `.pth` file that Python runs whenever it starts.
fn imports(text: &str, found: &mut Pieces) {
    for (line, code) in (1..).zip(text.lines()).filter(|(_, line)| line.starts_with("import")) {
        found.add(Language::Python, code.trim(), Some("python start-up".into()), || line);
    }
}
