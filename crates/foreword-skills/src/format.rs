//! The Agent Skills format: a header of `name`, `description` and a few more, then markdown.
//!
//! [`SkillDocument`] reads what people have, in all of YAML: unknown keys, missing fields and broken
//! headers are faults to report, and the text can still be imported, shown and screened. [`validate`]
//! is the format's own judgement, the same as that of its reference validator.

pub(crate) mod complete_header;
pub(crate) mod draft;
pub(crate) mod file_path;
pub(crate) mod fit_name;
pub(crate) mod folder;
pub(crate) mod name;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use foreword_workspace::{
    Field, FieldValue as Value, Fields, HeaderFault, HeaderNote, HeaderSplit,
    MAX_DESCRIPTION_CHARS, MAX_HEADER_BYTES, escaped, read_fields, split_header,
};
use serde::Serialize;

use crate::format::name::{is_same_name, name_faults, strip};

/// The longest text of `compatibility`, in characters.
pub const MAX_COMPATIBILITY_CHARS: usize = 500;
/// The fields of the format.
const FIELDS: [&str; 6] =
    ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];
/// Spellings of `allowed-tools` in clients.
const ALLOWED_TOOLS: [&str; 4] = ["allowed-tools", "allowed_tools", "allowedTools", "tools"];
/// Fields under which clients look for something to run.
const COMMAND_FIELDS: [&str; 6] =
    ["hooks", "install", "scripts", "setup", "command", "postinstall"];
/// More commands are not looked at.
const MAX_COMMANDS: usize = 100;
/// The first line of the header's own text when it follows a line of `---`.
const FIRST_HEADER_LINE: usize = 2;

/// Where a text departs from the format, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FormatFault {
    /// The field it is about, where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The line in the text, from 1.
    pub line: usize,
    /// What is wrong, for the author.
    pub message: String,
}

impl FormatFault {
    pub(crate) fn at(line: usize, message: impl Into<String>) -> Self {
        Self { field: None, line, message: message.into() }
    }

    fn of(field: &str, line: usize, message: impl Into<String>) -> Self {
        Self { field: Some(field.to_owned()), line, message: message.into() }
    }
}

impl From<HeaderNote> for FormatFault {
    fn from(note: HeaderNote) -> Self {
        Self::at(note.line, note.message)
    }
}

impl fmt::Display for FormatFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// A skill's text, taken apart leniently.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkillDocument {
    /// The name, as the header gives it; `None` if it is missing or blank.
    pub name: Option<String>,
    /// When to use the skill; `None` if it is missing or blank.
    pub description: Option<String>,
    /// The licence, if it is a text.
    pub license: Option<String>,
    /// What the skill needs around it, if it is a text.
    pub compatibility: Option<String>,
    /// The texts under `metadata`; what is no text is left out.
    pub metadata: BTreeMap<String, String>,
    /// The permissions the skill declares: `allowed-tools` in any of its spellings, given as a list
    /// or in one text.
    pub allowed_tools: Vec<String>,
    /// Commands that a client may run on its own because the header says so: hooks and install
    /// steps.
    pub commands: Vec<HeaderCommand>,
    /// The text after the header; all of it, if there is none or it cannot be told apart.
    pub body: String,
    /// The line of the text, from 1, on which the body starts.
    pub body_first_line: usize,
    /// Where the text departs from the format; see [`validate`].
    pub faults: Vec<FormatFault>,
}

/// A command in a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderCommand {
    /// The field it is in, such as `hooks`.
    pub field: String,
    /// The command, package or address.
    pub text: String,
    /// The line of the text, from 1, on which its field starts.
    pub line: usize,
}

impl SkillDocument {
    /// Takes a text apart. Whatever cannot be read is a fault, and the rest is there.
    ///
    /// `expected_name` is the name of its folder, or of its file without `.md`.
    #[must_use]
    pub fn parse(text: &str, expected_name: Option<&str>) -> Self {
        let faults = validate(text, expected_name);
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let split = split_header(text).unwrap_or(HeaderSplit {
            header: None,
            body: text,
            body_first_line: 1,
        });
        let fields =
            split.header.map(|header| read_fields(header, FIRST_HEADER_LINE)).unwrap_or_default();
        let text_of = |key| fields.text(key).map(|text| text.trim().to_owned());
        Self {
            name: text_of("name"),
            description: text_of("description"),
            license: text_of("license"),
            compatibility: text_of("compatibility"),
            metadata: metadata(&fields),
            allowed_tools: allowed_tools(&fields),
            commands: commands(&fields),
            body: split.body.to_owned(),
            body_first_line: split.body_first_line,
            faults,
        }
    }
}

fn metadata(fields: &Fields) -> BTreeMap<String, String> {
    let Some(Field { value: Value::Map(entries), .. }) = fields.get("metadata") else {
        return BTreeMap::new();
    };
    let texts = entries.iter().filter_map(|(key, value)| match value {
        Value::Text(text) => Some((key.clone(), text.clone())),
        _ => None,
    });
    texts.collect()
}

fn allowed_tools(fields: &Fields) -> Vec<String> {
    let field = ALLOWED_TOOLS.iter().find_map(|key| fields.get(key));
    match field.map(|field| &field.value) {
        Some(Value::Text(text)) => tools_in(text),
        Some(Value::List(list)) => list
            .iter()
            .filter_map(|item| match item {
                Value::Text(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// Where the commands of hooks and install steps stand, at any depth.
fn commands(fields: &Fields) -> Vec<HeaderCommand> {
    let mut found = Vec::new();
    for field in &fields.list {
        let inside = COMMAND_FIELDS.contains(&field.key.as_str());
        collect_commands(&field.value, inside, field, &mut found);
    }
    found.truncate(MAX_COMMANDS);
    found
}

fn collect_commands(value: &Value, inside: bool, field: &Field, found: &mut Vec<HeaderCommand>) {
    match value {
        Value::Text(text) if inside && !text.trim().is_empty() => {
            let text = text.trim().to_owned();
            found.push(HeaderCommand { field: field.key.clone(), text, line: field.place.line });
        }
        Value::List(items) => {
            items.iter().for_each(|item| collect_commands(item, inside, field, found));
        }
        Value::Map(entries) => {
            for (key, value) in entries {
                let names_one = matches!(key.as_str(), "command" | "run" | "package" | "url");
                let inside_next = match value {
                    Value::Text(_) => inside && names_one,
                    _ => inside || COMMAND_FIELDS.contains(&key.as_str()),
                };
                collect_commands(value, inside_next, field, found);
            }
        }
        _ => {}
    }
}

/// Tools in one text: between blanks or commas, which inside brackets belong to the tool.
fn tools_in(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let mut tools = vec![String::new()];
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (c == ',' || c.is_whitespace()) {
            tools.push(String::new());
        } else if let Some(tool) = tools.last_mut() {
            tool.push(c);
        }
    }
    tools.retain(|tool| !tool.is_empty());
    tools
}

/// What the Agent Skills format has against a text; nothing, if it is valid.
///
/// `expected_name` is the name of its folder, or of its file without `.md`. The verdict is that of
/// the reference validator, with its way of finding the header: it ends at the second `---`, also
/// in the middle of a line. Only a header past [`MAX_HEADER_BYTES`] or past all sense in depth and
/// number of values is refused although the reference would read it.
#[must_use]
pub fn validate(text: &str, expected_name: Option<&str>) -> Vec<FormatFault> {
    let header = match reference_header(text) {
        Ok(header) => header,
        Err(fault) => return vec![fault],
    };
    let header = unix_lines(header);
    if let Some(fault) = unprintable(&header) {
        return vec![fault];
    }
    let mut fields = read_fields(&header, 1);
    let mut faults: Vec<FormatFault> =
        std::mem::take(&mut fields.faults).into_iter().map(FormatFault::from).collect();
    if fields.broken {
        return faults;
    }
    for Field { key, place, .. } in &fields.list {
        if !FIELDS.contains(&key.as_str()) {
            let known = FIELDS.join(", ");
            let message = format!("unknown field `{}`; the format has {known}", escaped(key));
            faults.push(FormatFault::of(key, place.line, message));
        }
    }
    faults.extend(check_name(&fields, expected_name));
    faults.extend(check_text(&fields, "description", MAX_DESCRIPTION_CHARS, true));
    faults.extend(check_text(&fields, "compatibility", MAX_COMPATIBILITY_CHARS, false));
    faults.sort_by_key(|fault| fault.line);
    faults
}

fn check_name(fields: &Fields, expected_name: Option<&str>) -> Vec<FormatFault> {
    let Some(field) = fields.get("name") else {
        return vec![FormatFault::of("name", 1, "the header has no `name`")];
    };
    let line = field.place.line;
    let Value::Text(name) = &field.value else {
        return vec![FormatFault::of("name", line, "`name` must be text")];
    };
    let mut faults: Vec<_> = name_faults(name)
        .into_iter()
        .map(|error| FormatFault::of("name", line, error.to_string()))
        .collect();
    if let Some(expected) = expected_name
        && !strip(name).is_empty()
        && !is_same_name(name, expected)
    {
        let message = format!(
            "the name `{}` differs from the name of its folder or file, `{}`",
            escaped(strip(name)),
            escaped(expected)
        );
        faults.push(FormatFault::of("name", line, message));
    }
    faults
}

fn check_text(fields: &Fields, key: &str, longest: usize, required: bool) -> Option<FormatFault> {
    let Some(field) = fields.get(key) else {
        return required.then(|| FormatFault::of(key, 1, format!("the header has no `{key}`")));
    };
    let line = field.place.line;
    let Value::Text(text) = &field.value else {
        return Some(FormatFault::of(key, line, format!("`{key}` must be text")));
    };
    if required && strip(text).is_empty() {
        return Some(FormatFault::of(key, line, format!("`{key}` is empty")));
    }
    let length = text.chars().count();
    (length > longest).then(|| {
        let message = format!("`{key}` is {length} characters long, more than {longest}");
        FormatFault::of(key, line, message)
    })
}

/// The header as the reference finds it: from the `---` the text starts with to the next one.
fn reference_header(text: &str) -> Result<&str, FormatFault> {
    let Some(rest) = text.strip_prefix("---") else {
        let message = match text.strip_prefix('\u{feff}') {
            Some(rest) if rest.starts_with("---") => {
                "the file starts with a byte order mark: the header must come first"
            }
            _ => "there is no header: the file must start with a line of `---`",
        };
        return Err(FormatFault::at(1, message));
    };
    let Some((header, _)) = rest.split_once("---") else {
        return Err(FormatFault::at(1, HeaderFault::Unclosed.to_string()));
    };
    if header.len() > MAX_HEADER_BYTES {
        return Err(FormatFault::at(1, HeaderFault::TooLarge { size: header.len() }.to_string()));
    }
    Ok(header)
}

/// The first character that YAML does not allow in a text.
fn unprintable(header: &str) -> Option<FormatFault> {
    let allowed = |c: char| match c {
        '\t' | '\n' | '\u{85}' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        _ => !c.is_control(),
    };
    let (offset, c) = header.char_indices().find(|(_, c)| !allowed(*c))?;
    let line = 1 + header.bytes().take(offset).filter(|byte| *byte == b'\n').count();
    let message = format!("the header contains the control character U+{:04X}", u32::from(c));
    Some(FormatFault::at(line, message))
}

/// Line breaks as the reference reads them: CRLF and CR are LF.
fn unix_lines(text: &str) -> Cow<'_, str> {
    if text.contains('\r') {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
#[path = "format_tests.rs"]
mod tests;
