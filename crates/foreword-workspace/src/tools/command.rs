//! The program behind a tool of `tools.toml`: how it is started, and what its arguments look like.
//!
//! Arguments reach it as JSON on standard input, or in place of `{placeholders}` in its command.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::workspace::Workspace;

/// Seconds a command may run where the entry does not say.
const DEFAULT_SECONDS: u64 = 60;
const MAX_SECONDS: u64 = 86_400;
/// Bytes of output where the entry does not say.
const DEFAULT_OUTPUT_BYTES: u64 = 64 << 10;
/// A result travels in one line of the host's socket, escaped.
const MAX_OUTPUT_BYTES: u64 = 256 << 10;
/// Words of a command, and bytes of all of them together.
const MAX_WORDS: usize = 256;
const MAX_COMMAND_BYTES: usize = 16 << 10;
/// Model providers accept longer names, but not all of them do.
const MAX_NAME_CHARS: usize = 64;

/// A program that carries out a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCommand {
    /// The program and its arguments, with `{placeholders}`.
    pub command: Vec<String>,
    /// The JSON Schema of the tool's arguments; an object.
    pub parameters: Value,
    /// Seconds it may run.
    pub seconds: u64,
    /// Bytes of its output that a model sees.
    pub max_output_bytes: u64,
}

/// What stands at the path of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramFile {
    /// A file that can be started.
    Executable,
    /// A file without the permission for it, or a directory.
    NotExecutable,
    /// Nothing.
    Missing,
}

impl Workspace {
    /// What stands at the path of a tool's program, from the root of the workspace.
    #[must_use]
    pub fn program(&self, path: &str) -> ProgramFile {
        match std::fs::metadata(self.root().join(path)) {
            Err(_) => ProgramFile::Missing,
            Ok(about) if about.is_file() && is_executable(&about) => ProgramFile::Executable,
            Ok(_) => ProgramFile::NotExecutable,
        }
    }
}

#[cfg(unix)]
fn is_executable(about: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    about.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &std::fs::Metadata) -> bool {
    true
}

/// The keys of an entry that are about its command.
pub(crate) struct RawCommand {
    pub(crate) command: Option<Vec<String>>,
    pub(crate) parameters: Option<Value>,
    pub(crate) timeout: Option<u64>,
    pub(crate) max_output: Option<u64>,
}

/// What is wrong with a key.
pub(crate) struct CommandFault {
    pub(crate) key: &'static str,
    pub(crate) message: String,
}

fn fault<T>(key: &'static str, message: impl Into<String>) -> Result<T, CommandFault> {
    Err(CommandFault { key, message: message.into() })
}

impl RawCommand {
    /// The command of the tool of this name; `None` if it has none.
    pub(crate) fn check(self, name: &str) -> Result<Option<ToolCommand>, CommandFault> {
        let Some(command) = self.command else {
            let set = [
                ("parameters", self.parameters.is_some()),
                ("timeout", self.timeout.is_some()),
                ("max_output", self.max_output.is_some()),
            ];
            return match set.into_iter().find(|(_, is_set)| *is_set) {
                Some((key, _)) => fault(key, "needs a `command`"),
                None => Ok(None),
            };
        };
        if !is_callable_name(name) {
            return fault(
                "name",
                format!(
                    "is `{}`; a tool with a command has a name of at most {MAX_NAME_CHARS} letters, digits, `_` and `-`",
                    name.escape_debug()
                ),
            );
        }
        match command.first() {
            Some(program) if !program.trim().is_empty() => {}
            _ => return fault("command", "is empty; write the program and its arguments"),
        }
        if command.first().is_some_and(|program| !placeholders(program).is_empty()) {
            return fault("command", "must not take its program from a placeholder");
        }
        let bytes: usize = command.iter().map(String::len).sum();
        if command.len() > MAX_WORDS || bytes > MAX_COMMAND_BYTES {
            return fault(
                "command",
                format!("is longer than {MAX_WORDS} words or {MAX_COMMAND_BYTES} bytes"),
            );
        }
        if command.iter().any(|word| word.contains('\0')) {
            return fault("command", "contains a NUL character");
        }
        let named: BTreeSet<&str> = command.iter().flat_map(|word| placeholders(word)).collect();
        let parameters = match self.parameters {
            Some(parameters) => checked_schema(parameters, &named)?,
            None => schema_of(&named),
        };
        let seconds = self.timeout.unwrap_or(DEFAULT_SECONDS);
        if !(1..=MAX_SECONDS).contains(&seconds) {
            return fault(
                "timeout",
                format!("is {seconds}, it must be between 1 and {MAX_SECONDS}"),
            );
        }
        let max_output_bytes = self.max_output.unwrap_or(DEFAULT_OUTPUT_BYTES);
        if !(1..=MAX_OUTPUT_BYTES).contains(&max_output_bytes) {
            return fault(
                "max_output",
                format!("is {max_output_bytes}, it must be between 1 and {MAX_OUTPUT_BYTES}"),
            );
        }
        Ok(Some(ToolCommand { command, parameters, seconds, max_output_bytes }))
    }
}

/// Whether every model provider accepts this as the name of a tool.
fn is_callable_name(name: &str) -> bool {
    name.len() <= MAX_NAME_CHARS
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

/// The names of the placeholders in a word: `{name}` of letters, digits and `_`. `{{name}}` stands for the text
/// `{name}`, and other braces are text.
fn placeholders(word: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = word;
    while let Some((_, after)) = rest.split_once('{') {
        if let Some(literal) = after.strip_prefix('{') {
            let name = literal.split_once("}}").filter(|(name, _)| is_placeholder_name(name));
            if let Some((_, behind)) = name {
                rest = behind;
                continue;
            }
        }
        let end = after.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        let end = end.count();
        if end > 0 && after.as_bytes().get(end) == Some(&b'}') {
            found.extend(after.get(..end));
        }
        rest = after;
    }
    found
}

fn is_placeholder_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// A schema as written, if it is one of an object that knows every placeholder.
fn checked_schema(schema: Value, named: &BTreeSet<&str>) -> Result<Value, CommandFault> {
    let Value::Object(mut schema) = schema else {
        return fault("parameters", "has to be the JSON Schema of an object");
    };
    let kind = schema.entry("type").or_insert_with(|| "object".into());
    if kind != "object" {
        return fault("parameters", format!("has the type {kind}, it must be \"object\""));
    }
    if !schema.entry("properties").or_insert_with(|| json!({})).is_object() {
        return fault("parameters", "has `properties` that are not a table");
    }
    schema.entry("additionalProperties").or_insert(Value::Bool(false));
    let known =
        |name: &str| schema.get("properties").is_some_and(|known| known.get(name).is_some());
    if let Some(name) = named.iter().find(|name| !known(name)) {
        return fault("parameters", format!("does not describe the placeholder `{{{name}}}`"));
    }
    Ok(Value::Object(schema))
}

/// The schema of a command that has none: every placeholder is a text; without any, an open object.
fn schema_of(named: &BTreeSet<&str>) -> Value {
    if named.is_empty() {
        return json!({"type": "object", "properties": {}});
    }
    let text = |name: &&str| ((*name).to_owned(), json!({"type": "string"}));
    let properties: Map<String, Value> = named.iter().map(text).collect();
    json!({
        "type": "object", "properties": properties, "required": named, "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::SourceFile;
    use crate::tools::{TOOLS_FILE, parse};

    fn read(text: &str) -> Result<ToolCommand, String> {
        let text = format!("[[tool]]\nname = 'deploy'\n{text}");
        let file = SourceFile { path: TOOLS_FILE.into(), text, first_line: 1 };
        let mut tools = parse(&file).map_err(|error| error.to_string())?;
        Ok(tools.remove(0).command.unwrap())
    }

    #[test]
    fn a_command_has_limits_and_a_schema_of_its_placeholders() {
        let command = read("command = ['./deploy.sh', '--to={region}', '{{x}', '{}']").unwrap();
        assert_eq!((command.seconds, command.max_output_bytes), (60, 65536));
        assert_eq!(
            command.parameters,
            json!({
                "type": "object", "additionalProperties": false, "required": ["region", "x"],
                "properties": {"region": {"type": "string"}, "x": {"type": "string"}},
            })
        );
        let literal = read("command = ['awk', '{{print}} {x}', '{{y}}']").unwrap();
        assert_eq!(literal.parameters["required"], json!(["x"]));
        let open = read("command = ['./deploy.sh']\ntimeout = 5\nmax_output = 100").unwrap();
        assert_eq!(open.parameters, json!({"type": "object", "properties": {}}));
        assert_eq!((open.seconds, open.max_output_bytes), (5, 100));
    }

    #[test]
    fn a_schema_is_closed_and_knows_the_placeholders() {
        let command = read(
            "command = ['x', '{n}']\nparameters = { properties = { n = { type = 'integer' } } }",
        )
        .unwrap();
        assert_eq!(command.parameters["type"], "object");
        assert_eq!(command.parameters["additionalProperties"], false);
        assert_eq!(command.parameters["properties"]["n"]["type"], "integer");
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_its_line() {
        for (text, message) in [
            (
                "command = []",
                "tools.toml:2: `tool.command` is empty; write the program and its arguments",
            ),
            ("timeout = 3", "tools.toml:2: `tool.timeout` needs a `command`"),
            (
                "command = ['{x}']",
                "tools.toml:2: `tool.command` must not take its program from a placeholder",
            ),
            (
                "command = ['x', '{a}']\nparameters = { properties = { b = {} } }",
                "tools.toml:2: `tool.parameters` does not describe the placeholder `{a}`",
            ),
            (
                "command = ['x']\nparameters = { type = 'string' }",
                "tools.toml:2: `tool.parameters` has the type \"string\", it must be \"object\"",
            ),
            (
                "command = ['x']\ntimeout = 0",
                "tools.toml:2: `tool.timeout` is 0, it must be between 1 and 86400",
            ),
        ] {
            assert_eq!(read(text).unwrap_err(), message);
        }
        let file = SourceFile {
            path: TOOLS_FILE.into(),
            text: "[[tool]]\nname = 'a b'\ncommand = ['x']".into(),
            first_line: 1,
        };
        assert!(parse(&file).unwrap_err().to_string().contains("`tool.name` is `a b`"));
    }
}
