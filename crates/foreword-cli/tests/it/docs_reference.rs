//! The reference pages are generated from the code. `UPDATE_DOCS=1` writes them anew.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;

use crate::support::{Foreword, generated};

const WORKSPACE_SETTINGS: &str = include_str!("../../../foreword-workspace/src/text/foreword.toml");
const OWN_SETTINGS: &str = include_str!("../../../foreword-workspace/src/text/settings.toml");

/// Options that every command has; the page shows them once.
const EVERYWHERE: [&str; 6] =
    ["-w, --workspace", "--json", "-q, --quiet", "-v, --verbose", "-h, --help", "-V, --version"];

#[test]
fn the_page_on_the_command_line_has_every_command_and_option() {
    let mut out = String::new();
    command(&mut Vec::new(), &mut out);
    assert!(out.matches("\n## ").count() > 25, "{out}");
    generated::check("reference/command-line.md", &[("commands", out)]);
}

/// The help of a command and of those in it, as Markdown.
fn command(name: &mut Vec<String>, out: &mut String) {
    let mut args = name.clone();
    args.push("--help".to_owned());
    let help = Foreword::new(&args).env("COLUMNS", "1000").run().ok().stdout;
    let (about, rest) = help.split_once("\nUsage: ").unwrap();
    let (usage, rest) = rest.split_once('\n').unwrap();
    if name.is_empty() {
        writeln!(out, "\n## Options of every command\n").unwrap();
    } else {
        let marks = "#".repeat(name.len() + 1);
        writeln!(out, "\n{marks} foreword {}\n\n{}\n", name.join(" "), prose(about)).unwrap();
        writeln!(out, "```text\n{usage}\n```\n").unwrap();
    }
    let mut inside = Vec::new();
    for section in format!("\n{rest}").split("\n\n").fold(Vec::<String>::new(), |mut all, part| {
        let is_title = part
            .trim_start_matches('\n')
            .lines()
            .next()
            .is_some_and(|line| line.ends_with(':') && !line.starts_with(' '));
        match all.last_mut() {
            Some(last) if !is_title && (part.starts_with(' ') || part.trim().is_empty()) => {
                last.push_str("\n\n");
                last.push_str(part);
            }
            _ => all.push(part.to_owned()),
        }
        all
    }) {
        let section = section.trim_matches('\n');
        let Some((title, body)) = section.split_once(":\n") else { continue };
        match title {
            "Commands" => inside.extend(names(body)),
            "Examples" if !name.is_empty() => {
                let lines: Vec<&str> =
                    body.lines().map(|line| line.get(2..).unwrap_or("")).collect();
                writeln!(out, "```text\n{}\n```\n", lines.join("\n").trim_end()).unwrap();
            }
            "Examples" => {}
            _ => options(title, body, name.is_empty(), out),
        }
    }
    for next in inside {
        name.push(next);
        command(name, out);
        name.pop();
    }
}

fn names(body: &str) -> impl Iterator<Item = String> {
    let lines = body.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = lines.filter_map(|line| line.split_whitespace().next().map(str::to_owned));
    names.filter(|name| name != "help")
}

/// One option or argument per line, with its values below it.
fn options(title: &str, body: &str, all: bool, out: &mut String) {
    let mut entries: Vec<(String, Vec<String>)> = Vec::new();
    for line in body.lines() {
        let depth = line.len() - line.trim_start().len();
        match entries.last_mut() {
            _ if depth < 8 && !line.trim().is_empty() => {
                entries.push((line.trim().to_owned(), Vec::new()));
            }
            Some((_, text)) => text.push(line.trim().to_owned()),
            None => {}
        }
    }
    entries.retain(|(flag, _)| all || !EVERYWHERE.iter().any(|known| flag.starts_with(known)));
    if entries.is_empty() {
        return;
    }
    if !matches!(title, "Options" | "Arguments" | "Global options") {
        writeln!(out, "{title}:\n").unwrap();
    }
    for (flag, text) in entries {
        let (values, words): (Vec<String>, Vec<String>) =
            text.into_iter().partition(|line| line.starts_with("- "));
        let words = words.into_iter().filter(|line| line != "Possible values:" && !line.is_empty());
        let words: Vec<String> = words.collect();
        writeln!(out, "- `{flag}`: {}", prose(&words.join(" ")).trim_end()).unwrap();
        for value in values {
            let (value, meaning) = value[2..].split_once(':').unwrap_or((&value[2..], ""));
            writeln!(out, "  - `{value}`: {}", prose(meaning.trim())).unwrap();
        }
    }
    out.push('\n');
}

/// Text of the program in Markdown.
fn prose(text: &str) -> String {
    let mut out = String::new();
    for (at, part) in text.trim().split('`').enumerate() {
        if at > 0 {
            out.push('`');
        }
        out.push_str(&if at % 2 == 0 {
            part.replace('<', "&lt;").replace('*', "\\*").replace('|', "\\|")
        } else {
            part.to_owned()
        });
    }
    out
}

#[test]
fn the_pages_on_settings_have_every_key() {
    for (page, template, least) in [
        ("reference/foreword-toml.md", WORKSPACE_SETTINGS, 60),
        ("reference/settings-toml.md", OWN_SETTINGS, 25),
    ] {
        let (text, keys) = settings(template);
        assert!(keys >= least, "{page}: {keys} keys");
        generated::check(page, &[("settings", text)]);
    }
}

/// The documented template of a settings file as tables; and how many keys it has.
fn settings(template: &str) -> (String, usize) {
    let mut out = String::new();
    let (mut about, mut keys, mut count, mut is_table): (Vec<&str>, Vec<&str>, usize, bool) =
        (Vec::new(), Vec::new(), 0, false);
    // The introduction belongs to the file itself.
    let body = template.split_once("\n\n").unwrap().1;
    for line in body.lines().chain([""]) {
        let key = line.strip_prefix('#').filter(|text| !text.starts_with(' ') && !text.is_empty());
        if let Some(key) = key {
            keys.push(key);
            count += usize::from(!key.starts_with('['));
        } else if !keys.is_empty() {
            if !is_table {
                out.push_str("| key with its default or an example | meaning |\n|---|---|\n");
                is_table = true;
            }
            let cell: Vec<String> =
                keys.iter().map(|key| format!("`{}`", key.replace('|', "\\|"))).collect();
            let meaning =
                if about.is_empty() { "as above".into() } else { prose(&about.join(" ")) };
            writeln!(out, "| {} | {meaning} |", cell.join("<br>")).unwrap();
            (about, keys) = (Vec::new(), Vec::new());
        }
        if key.is_some() {
            continue;
        }
        if let Some(text) = line.strip_prefix('#') {
            about.push(text.strip_prefix(' ').unwrap_or(text));
        } else if line.starts_with('[') {
            is_table = false;
            let name = line.trim_matches(['[', ']']);
            writeln!(out, "\n## {name}\n\n{}", paragraph(&about)).unwrap();
            about = Vec::new();
        } else if line.is_empty() && !about.is_empty() && keys.is_empty() {
            // A comment on what has no key of its own.
            is_table = false;
            writeln!(out, "\n{}", paragraph(&about)).unwrap();
            about = Vec::new();
        }
    }
    (out, count)
}

/// Comment lines as a paragraph, with indented lines as code.
fn paragraph(lines: &[&str]) -> String {
    let (code, words): (Vec<&str>, Vec<&str>) =
        lines.iter().partition(|line| line.starts_with("    "));
    let mut text = prose(&words.join(" "));
    if !text.is_empty() {
        text.push('\n');
    }
    if !code.is_empty() {
        let code: Vec<&str> = code.iter().map(|line| line.trim_start()).collect();
        write!(text, "\n```toml\n{}\n```\n", code.join("\n")).unwrap();
    }
    text
}

#[test]
fn the_pages_on_schemas_have_every_field() {
    for (page, schema) in [
        ("reference/context.md", "context"),
        ("reference/blueprint.md", "blueprint"),
        ("reference/manifest.md", "prompt"),
    ] {
        let schema = Foreword::new(&["schema", schema]).run().ok().json();
        let defaults = if page == "reference/context.md" {
            serde_json::to_value(foreword::Context::default()).unwrap()
        } else {
            Value::Null
        };
        let fields = schema["properties"].as_object().unwrap();
        let text = Schema { root: &schema }.tables(&defaults);
        for field in fields.keys() {
            assert!(text.contains(&format!("| `{field}` | ")), "{page}: {field}");
        }
        generated::check(page, &[("fields", text)]);
    }
}

/// A JSON Schema as tables: the fields of the object, then those of every type it uses.
struct Schema<'s> {
    root: &'s Value,
}

impl Schema<'_> {
    fn tables(&self, defaults: &Value) -> String {
        let mut used = BTreeSet::new();
        let mut out = self.table(self.root, defaults, &mut used);
        let mut written = BTreeSet::new();
        while let Some(name) = used.difference(&written).next().cloned() {
            let definition = &self.root["$defs"][&name];
            let about = definition["description"].as_str().unwrap_or_default();
            writeln!(out, "\n### {name}\n\n{}\n", prose(about)).unwrap();
            if definition["properties"].is_object() {
                out.push_str(&self.table(definition, &Value::Null, &mut used));
            } else if let Some(values) = definition["oneOf"].as_array() {
                for value in values {
                    let about = value["description"].as_str().unwrap_or_default();
                    writeln!(out, "- {}: {}", self.kind(value, &mut used), prose(about)).unwrap();
                }
            } else {
                writeln!(out, "{}", self.kind(&without_null(definition), &mut used)).unwrap();
            }
            written.insert(name);
        }
        out
    }

    fn table(&self, object: &Value, defaults: &Value, used: &mut BTreeSet<String>) -> String {
        let mut out = String::from("| field | type | default | meaning |\n|---|---|---|---|\n");
        let required = object["required"].as_array().cloned().unwrap_or_default();
        for (name, field) in object["properties"].as_object().unwrap() {
            let default = match (&field["default"], defaults.get(name)) {
                (Value::Null, Some(default)) => default,
                (default, _) => default,
            };
            let default = match default {
                _ if required.contains(&name.as_str().into()) => "required".to_owned(),
                Value::Null => String::new(),
                Value::Array(list) if list.is_empty() => String::new(),
                Value::Object(map) if map.is_empty() || map.values().all(|v| v == false) => {
                    String::new()
                }
                Value::String(text) if text.is_empty() => String::new(),
                default => format!("`{default}`"),
            };
            // A cell of a table is one line.
            let about = prose(field["description"].as_str().unwrap_or_default()).replace('\n', " ");
            let kind = self.kind(field, used);
            writeln!(out, "| `{name}` | {kind} | {default} | {about} |").unwrap();
        }
        out
    }

    /// The type of a value, in one cell.
    fn kind(&self, schema: &Value, used: &mut BTreeSet<String>) -> String {
        if let Some(name) = schema["$ref"].as_str().and_then(|name| name.strip_prefix("#/$defs/")) {
            // A name for a text or a choice of types tells the reader nothing.
            let definition = &self.root["$defs"][name];
            if definition["type"] == "string" {
                return "string".to_owned();
            }
            if definition["anyOf"].is_array() || definition["$ref"].is_string() {
                return self.kind(definition, used);
            }
            used.insert(name.to_owned());
            return format!("[{name}](#{})", name.to_lowercase());
        }
        if let Some(value) = schema.get("const") {
            return format!("`{value}`");
        }
        if let Some(any) = schema["anyOf"].as_array() {
            let any = any.iter().filter(|one| one["type"] != "null");
            let any: Vec<String> = any.map(|one| self.kind(one, used)).collect();
            return any.join(" or ");
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => kinds.iter().find(|kind| *kind != "null").cloned(),
            kind => Some(kind.clone()),
        };
        match kind.as_ref().and_then(Value::as_str) {
            Some("array") => format!("list of {}", self.kind(&schema["items"], used)),
            Some("object") if schema["additionalProperties"].is_object() => {
                format!("map to {}", self.kind(&schema["additionalProperties"], used))
            }
            Some(kind) => kind.to_owned(),
            None => "any".to_owned(),
        }
    }
}

fn without_null(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(fields) = schema.as_object_mut() {
        fields.remove("description");
    }
    schema
}
