//! A tool of the workspace: a program that its `tools.toml` names.
//!
//! `{name}` in a word of its command stands for an argument of the call. A word that is only such a
//! placeholder is left out where the call has no such argument and its schema no default, so optional
//! flags need no shell. `{{name}}` stands for the text `{name}`. A command without placeholders reads all arguments as one JSON object on standard input.

use std::process::Command;

use foreword_protocol::CommandTool;
use serde_json::Value;

use super::ToolError;
use super::program::{self, Bounds};

/// Tells a program which tool it is called as.
const NAME_VARIABLE: &str = "FOREWORD_TOOL";

/// Runs the program of a tool with the arguments of a call, which were checked and have their defaults.
pub(crate) fn run(name: &str, tool: &CommandTool, input: &Value) -> Result<String, ToolError> {
    let has_placeholders = tool.command.iter().any(|word| Pieces(word).any(is_placeholder));
    let words: Vec<String> = tool.command.iter().filter_map(|word| filled(word, input)).collect();
    let Some((program, args)) = words.split_first() else {
        return Err(ToolError::Command(format!("`{name}` has no command")));
    };
    if words.iter().any(|word| word.contains('\0')) {
        return Err(ToolError::Command("an argument holds a NUL character".to_owned()));
    }
    let stdin = (!has_placeholders).then(|| input.to_string().into_bytes());
    let mut command = Command::new(program);
    command.args(args).current_dir(&tool.cwd).env(NAME_VARIABLE, name);
    let bounds = Bounds { seconds: tool.seconds, max_output_bytes: tool.max_output_bytes };
    program::run(name, &mut command, stdin, bounds)
}

/// A word with its placeholders replaced; nothing if it is a placeholder without a value.
fn filled(word: &str, input: &Value) -> Option<String> {
    let value = |name: &str| input.get(name).filter(|value| !value.is_null()).map(text_of);
    let mut pieces = Pieces(word);
    if let (Some(Piece::Placeholder(name)), None) = (pieces.next(), pieces.next()) {
        return value(name);
    }
    let text = Pieces(word).map(|piece| match piece {
        Piece::Text(text) => text.to_owned(),
        Piece::Placeholder(name) => value(name).unwrap_or_default(),
    });
    Some(text.collect())
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn is_placeholder(piece: Piece<'_>) -> bool {
    matches!(piece, Piece::Placeholder(_))
}

#[derive(Clone, Copy)]
enum Piece<'w> {
    Text(&'w str),
    /// `{name}`, without its braces.
    Placeholder(&'w str),
}

/// The pieces of a word, in order.
struct Pieces<'w>(&'w str);

impl<'w> Iterator for Pieces<'w> {
    type Item = Piece<'w>;

    fn next(&mut self) -> Option<Piece<'w>> {
        let word = self.0;
        if word.is_empty() {
            return None;
        }
        // The first brace that begins a placeholder or a literal one; all before it is text.
        let starts = word.match_indices('{').map(|(at, _)| at);
        let found = starts.filter_map(|at| Some((at, brace_at(word.get(at..)?)?))).next();
        match found {
            Some((0, Brace::Placeholder(name))) => {
                self.0 = word.get(name.len() + 2..).unwrap_or_default();
                Some(Piece::Placeholder(name))
            }
            Some((0, Brace::Literal(text))) => {
                self.0 = word.get(text.len() + 2..).unwrap_or_default();
                Some(Piece::Text(text))
            }
            Some((at, _)) => {
                self.0 = word.get(at..).unwrap_or_default();
                Some(Piece::Text(word.get(..at).unwrap_or_default()))
            }
            None => {
                self.0 = "";
                Some(Piece::Text(word))
            }
        }
    }
}

/// What begins with an opening brace.
enum Brace<'w> {
    /// `{name}`: the name.
    Placeholder(&'w str),
    /// `{{name}}`: the text `{name}`.
    Literal(&'w str),
}

fn brace_at(text: &str) -> Option<Brace<'_>> {
    let inner = text.get(1..)?;
    if let Some(name) = inner.strip_prefix('{').and_then(name_at)
        && text.get(name.len() + 2..).is_some_and(|rest| rest.starts_with("}}"))
    {
        return text.get(1..name.len() + 3).map(Brace::Literal);
    }
    name_at(inner).map(Brace::Placeholder)
}

/// The name in front of a closing brace.
fn name_at(text: &str) -> Option<&str> {
    let (name, _) = text.split_once('}')?;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (!name.is_empty() && name.bytes().all(is_name)).then_some(name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Instant;

    use serde_json::json;

    use super::*;

    fn tool(command: &[&str]) -> CommandTool {
        CommandTool {
            command: command.iter().map(|word| (*word).to_owned()).collect(),
            defaults: BTreeMap::new(),
            cwd: std::env::temp_dir(),
            seconds: 10,
            max_output_bytes: 100,
        }
    }

    fn run(command: &[&str], input: &Value) -> Result<String, String> {
        super::run("t", &tool(command), input).map_err(|error| error.to_string())
    }

    #[test]
    fn arguments_take_the_place_of_placeholders() {
        let input = json!({"a": "x; rm -rf /", "n": 3, "list": ["y"], "none": null});
        let said =
            run(&["printf", "<%s>", "{a}", "{n}{list}", "{none}", "-{b}-", "{", "{}"], &input);
        assert_eq!(said.unwrap(), "<x; rm -rf /><3[\"y\"]><--><{><{}>\n");
        let said = run(&["printf", "<%s>", "{{a}}", "-{{n}}{n}", "{{n}", "{{}}"], &input);
        assert_eq!(said.unwrap(), "<{a}><-{n}3><{3><{{}}>\n");
        // Only literal braces: the arguments come as JSON.
        assert_eq!(run(&["cat", "-"], &json!({"a": 1})).unwrap(), "{\"a\":1}\n");
    }

    #[test]
    fn arguments_that_a_call_leaves_out_have_the_defaults_of_the_schema() {
        let defaults = BTreeMap::from([("n".to_owned(), json!(10)), ("a".to_owned(), json!("x"))]);
        let with = |command: &[&str], input: Value| {
            let tool = CommandTool { defaults: defaults.clone(), ..tool(command) };
            super::run("t", &tool, &tool.arguments(&input)).unwrap()
        };
        assert_eq!(with(&["echo", "-n", "{n}", "{a}"], json!({"a": "y"})), "10 y\n");
        assert_eq!(with(&["echo", "{n}"], json!({"n": null})), "10\n");
        assert_eq!(with(&["cat"], json!({"b": 1})), "{\"a\":\"x\",\"b\":1,\"n\":10}\n");
    }

    #[test]
    fn a_command_without_placeholders_reads_json() {
        let input = json!({"a": [1, {"b": "ü"}]});
        assert_eq!(run(&["cat"], &input).unwrap(), "{\"a\":[1,{\"b\":\"ü\"}]}\n");
        // It need not read it, however much there is.
        let much = json!({"a": "x".repeat(1 << 20)});
        assert_eq!(run(&["true"], &much).unwrap(), "[No output.]\n");
    }

    #[test]
    fn output_time_and_failure_are_reported() {
        let said = run(&["sh", "-c", "yes | head -c 5000"], &json!({})).unwrap();
        assert!(said.contains("4900 bytes left out") && said.len() < 200, "{said}");
        let failed = run(&["sh", "-c", "echo no >&2; exit 3"], &json!({})).unwrap_err();
        assert_eq!(failed, "no\n[exit status: 3]");
        let missing = run(&["/no/such/program"], &json!({})).unwrap_err();
        assert_eq!(missing, "t cannot run: there is no program `/no/such/program` in the sandbox");
        let directory = run(&["/tmp"], &json!({})).unwrap_err();
        assert_eq!(
            directory,
            "t cannot run: `/tmp` is not executable; run `chmod +x` on it, or name its interpreter first"
        );
        let start = Instant::now();
        let slow = CommandTool { seconds: 1, ..tool(&["sh", "-c", "echo a; sleep 60"]) };
        let error = super::run("t", &slow, &json!({})).unwrap_err().to_string();
        assert_eq!(error, "a\n[Stopped after 1 seconds.]");
        assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
        assert!(run(&["echo", "{a}"], &json!({"a": "x\u{0}y"})).unwrap_err().contains("NUL"));
    }

    /// The figure of docs/benchmarks.md: what a tool costs beyond running its program.
    #[test]
    #[ignore = "a measurement; run it with --release or on a quiet machine"]
    fn overhead_over_the_program_itself() {
        let rounds = 200;
        let mut direct = Vec::new();
        let mut as_tool = Vec::new();
        for _ in 0..rounds {
            let start = Instant::now();
            let _ = Command::new("true").output().unwrap();
            direct.push(start.elapsed());
            let start = Instant::now();
            let _ = run(&["true"], &json!({}));
            as_tool.push(start.elapsed());
        }
        direct.sort_unstable();
        as_tool.sort_unstable();
        let (direct, as_tool) = (direct[rounds / 2], as_tool[rounds / 2]);
        println!("direct {direct:?}, as a tool {as_tool:?}, overhead {:?}", as_tool - direct);
        assert!((as_tool - direct).as_secs_f64() < 0.005, "{direct:?} {as_tool:?}");
    }
}
