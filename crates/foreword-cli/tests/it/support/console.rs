//! Runs the console sessions of a page of Markdown, and compares what they show with what happens.
//!
//! A page is read from top to bottom:
//!
//! - A code block whose info string has `file=PATH` is written to that file.
//! - A comment `<!-- model … -->` has one JSON object per line: the next answers of a model on loopback,
//!   `{"text": "…"}` or `{"tool": "name", "input": {…}}`.
//! - In a `console` block, a line that starts with `$ ` is a command for bash, which continues on the next
//!   line after a `\`. The lines below it are what it prints, standard error included. Directory and exported
//!   variables last until the end of the page.
//!
//! What is printed must be the same, except that:
//!
//! - `…` on a line of its own stands for any lines, and within a line for any text;
//! - runs of spaces, and bars, are as good as one;
//! - times, durations, random IDs, hashes and ports stand for any other of their kind, and a command may use
//!   an ID that the page showed before;
//! - in tables of `explain`, tokens of the runtime section and totals may differ by 30, its share by as much
//!   as those tokens are, and other shares by a 30th, because a prompt names the path of its workspace;
//! - the home directory is called `/home/ada`, and the clock of `build` and `explain` stands still.
//!
//! To write a page, run its test with `SHOW_CONSOLE=1` and `--no-capture`: it prints what each command prints.

use std::collections::VecDeque;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use regex_lite::Regex;
use serde_json::Value;

use super::host::KEY;
use super::model::{Answer, ModelServer, text};
use super::{NOW, Scratch, example};

/// What a page has, in order.
enum Step<'p> {
    File(&'p str, &'p str),
    Answers(&'p str),
    Command { command: String, shown: Vec<&'p str> },
}

/// A page that is being run.
pub(crate) struct Console {
    scratch: Scratch,
    home: PathBuf,
    directory: PathBuf,
    answers: Arc<Mutex<VecDeque<Answer>>>,
    model: ModelServer,
}

impl Console {
    /// An empty home with the examples of the repository in it.
    pub(crate) fn new() -> Self {
        let scratch = Scratch::new(&[]);
        let home = scratch.path().canonicalize().unwrap().join("home");
        super::copy(&example(""), &home.join("examples"));
        scratch.write(
            "home/.gitconfig",
            "[user]\nname = Ada\nemail = ada@example.org\n[init]\ndefaultBranch = main\n",
        );
        let program = env!("CARGO_BIN_EXE_foreword");
        scratch.write(
            "bin/foreword",
            format!(
                "#!/bin/sh\ncase \"$1 $*\" in\n*--now*) ;;\nbuild*|explain*) exec '{program}' \"$@\" --now {NOW} ;;\n\
                 esac\nexec '{program}' \"$@\"\n"
            ),
        );
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(scratch.join("bin/foreword"), executable).unwrap();
        let answers: Arc<Mutex<VecDeque<Answer>>> = Arc::default();
        let next = Arc::clone(&answers);
        let model = ModelServer::start(move |_, asked| {
            let answer = next.lock().unwrap().pop_front();
            answer.unwrap_or_else(|| panic!("the page has no answer for {}", asked.last_message()))
        });
        Self { directory: home.clone(), scratch, home, answers, model }
    }

    /// Runs everything that a page shows; the commands that were compared.
    pub(crate) fn run(&mut self, page: &str) -> Vec<String> {
        let (mut commands, mut names) = (Vec::new(), Names::new());
        for step in steps(page) {
            match step {
                Step::File(path, text) => {
                    let path = self.directory.join(path);
                    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                    std::fs::write(path, text).unwrap();
                }
                Step::Answers(lines) => {
                    let answers = lines.lines().map(answer);
                    self.answers.lock().unwrap().extend(answers);
                }
                Step::Command { command, shown } => {
                    let own = names.iter().fold(command.clone(), |command, (shown, said)| {
                        command.replace(shown.as_str(), said)
                    });
                    let said = self.command(&own);
                    if std::env::var_os("SHOW_CONSOLE").is_some() {
                        eprintln!("$ {command}\n{said}");
                    }
                    let said: Vec<&str> = said.lines().collect();
                    let is_table = command.starts_with("foreword explain");
                    let numbers = if is_table { Numbers::Near } else { Numbers::Same };
                    let Some(found) = same(&shown, &said, numbers) else {
                        let (shown, said) = (shown.join("\n"), said.join("\n"));
                        panic!("$ {command}\n--- the page shows\n{shown}\n--- it prints\n{said}\n");
                    };
                    names.extend(found);
                    commands.push(command);
                }
            }
        }
        assert!(self.answers.lock().unwrap().is_empty(), "answers that nobody asked for");
        commands
    }

    /// Runs one command and gives what a terminal would show.
    fn command(&mut self, command: &str) -> String {
        let state = self.scratch.join("variables");
        let script = format!(
            "[ -e '{0}' ] && . '{0}'\n{command}\nexport -p > '{0}'\npwd -P > '{0}.pwd'\n",
            state.display()
        );
        let (mut reader, writer) = std::io::pipe().unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        let mut bash = Command::new("bash");
        bash.args(["--norc", "-c", &script]).current_dir(&self.directory).env_clear();
        bash.env("PATH", format!("{}:/usr/bin:{path}", self.scratch.join("bin").display()));
        bash.env("HOME", &self.home).env("LANG", "C.UTF-8").env("USER", "ada");
        bash.env("ANTHROPIC_BASE_URL", &self.model.url).env("ANTHROPIC_API_KEY", KEY);
        bash.stdin(Stdio::null()).stdout(writer.try_clone().unwrap()).stderr(writer);
        let mut child = bash.spawn().unwrap();
        drop(bash);
        let mut said = Vec::new();
        std::io::Read::read_to_end(&mut reader, &mut said).unwrap();
        child.wait().unwrap();
        if let Ok(now_in) = std::fs::read_to_string(state.with_extension("pwd")) {
            self.directory = now_in.trim_end().into();
        }
        let said = String::from_utf8(said).unwrap();
        assert!(!said.contains("panicked at"), "{command}\n{said}");
        said.replace(self.home.to_str().unwrap(), "/home/ada")
    }
}

fn answer(line: &str) -> Answer {
    let answer: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}"));
    match (&answer["text"], &answer["tool"]) {
        (said, Value::String(tool)) => Answer::Tools(
            said.as_str().unwrap_or_default().to_owned(),
            vec![(tool.clone(), answer["input"].clone())],
        ),
        (Value::String(said), _) => text(said),
        _ => panic!("neither a text nor a tool: {line}"),
    }
}

/// Reads a page; blocks of other languages are of no concern here.
fn steps(page: &str) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    let mut rest = page;
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        rest = after;
        if line == "<!-- model" {
            let (answers, after) = rest.split_once("\n-->").unwrap();
            steps.push(Step::Answers(answers));
            rest = after;
        } else if let Some(info) = line.strip_prefix("```") {
            let end = if rest.starts_with("```") {
                0
            } else {
                rest.find("\n```").unwrap_or_else(|| panic!("a block has no end: {line}")) + 1
            };
            let (block, after) = rest.split_at(end);
            rest = after.split_once('\n').map_or("", |(_, after)| after);
            let file = info.split(' ').find_map(|word| word.strip_prefix("file="));
            if let Some(file) = file {
                steps.push(Step::File(file, block));
            } else if info == "console" {
                steps.extend(commands(block));
            }
        }
    }
    steps
}

fn commands(block: &str) -> Vec<Step<'_>> {
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    for line in block.lines() {
        match (line.strip_prefix("$ "), found.last_mut()) {
            (Some(command), _) => found.push((command.to_owned(), Vec::new())),
            (None, Some((command, shown))) if shown.is_empty() && command.ends_with('\\') => {
                command.push('\n');
                command.push_str(line);
            }
            (None, Some((_, shown))) => shown.push(line),
            (None, None) => panic!("a console block starts with a command, not with {line}"),
        }
    }
    found.into_iter().map(|(command, shown)| Step::Command { command, shown }).collect()
}

/// How numbers are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbers {
    Same,
    Near,
}

/// What stands for what: random values of the page, and those of this run.
type Names = Vec<(String, String)>;

fn same(shown: &[&str], said: &[&str], numbers: Numbers) -> Option<Names> {
    match (shown, said) {
        ([], []) => Some(Names::new()),
        (["…", rest @ ..], _) => (0..=said.len())
            .find_map(|from| same(rest, said.get(from..).unwrap_or_default(), numbers)),
        ([line, rest @ ..], [said, others @ ..]) => {
            let mut names = same_line(line, said, numbers)?;
            names.extend(same(rest, others, numbers)?);
            Some(names)
        }
        ([line], []) | ([], [line]) => line.trim().is_empty().then(Names::new),
        _ => None,
    }
}

/// What changes from run to run, and what may stand in its place.
const VOLATILE: [(&str, &str); 11] = [
    (r"…", r".*"),
    (
        r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}[0-9:.]*",
        r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+",
    ),
    (r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b", r"[0-9]{4}-[0-9]{2}-[0-9]{2}"),
    (r"[0-9]{8}-[0-9]{6}-[0-9a-f]{8}", r"([0-9]{8}-[0-9]{6}-[0-9a-f]{8})"),
    (r"127\.0\.0\.1:[0-9]+", r"127\.0\.0\.1:[0-9]+"),
    (r"\b[0-9.]+ (?:ms|s)\b", r"[0-9.]+ (?:ms|s)"),
    (r"\b(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{12})\b", r"([0-9a-f]+)"),
    (r"\b[a-z]*[0-9][a-z0-9]*[a-z][a-z0-9]*\b", ID),
    (r"[█▉▊▋▌▍▎▏·]+", r"[█▉▊▋▌▍▎▏·]*"),
    (r"[0-9][0-9,]*(?:\.[0-9]+)?", NUMBER),
    (r"\s+", r"\s+"),
];
const ID: &str = "([a-z0-9]{10})";
const NUMBER: &str = r"([0-9][0-9,]*(?:\.[0-9]+)?)";

fn same_line(line: &str, said: &str, numbers: Numbers) -> Option<Names> {
    let pieces: Vec<&str> = VOLATILE.iter().map(|(piece, _)| *piece).collect();
    let volatile = Regex::new(&pieces.join("|")).unwrap();
    let whole: Vec<Regex> =
        VOLATILE.iter().map(|(piece, _)| Regex::new(&format!("^(?:{piece})$")).unwrap()).collect();
    let (mut pattern, mut at, mut groups) = ("^".to_owned(), 0, Vec::new());
    for found in volatile.find_iter(line) {
        pattern += &regex_lite::escape(&line[at..found.start()]);
        at = found.end();
        let piece = found.as_str();
        let kind = whole.iter().position(|regex| regex.is_match(piece)).unwrap();
        match VOLATILE[kind].1 {
            // Other words with digits are what they are.
            ID if piece.len() != 10 => pattern += &regex_lite::escape(piece),
            NUMBER if numbers == Numbers::Same => pattern += &regex_lite::escape(piece),
            other => {
                pattern += other;
                if other.starts_with('(') {
                    groups.push(piece);
                }
            }
        }
    }
    pattern += &regex_lite::escape(&line[at..]);
    let captures = Regex::new(&format!("{pattern}\\s*$")).unwrap().captures(said)?;
    let mut names = Names::new();
    for (at, shown) in groups.into_iter().enumerate() {
        let said = &captures[at + 1];
        match (number(shown), number(said)) {
            (Some(value), Some(other)) => {
                let names_path = line.starts_with("runtime");
                let counts_path = names_path || line.contains(" tokens");
                let allowed = match (shown.contains('.'), counts_path) {
                    (true, _) if names_path => value.max(1.0),
                    (true, _) => 0.1 + value * 0.035,
                    (false, true) => 30.0,
                    (false, false) => 0.0,
                };
                if (value - other).abs() > allowed {
                    return None;
                }
            }
            _ => names.push((shown.to_owned(), said.to_owned())),
        }
    }
    Some(names)
}

fn number(text: &str) -> Option<f64> {
    text.replace(',', "").parse().ok()
}

#[test]
fn what_changes_from_run_to_run_is_not_compared() {
    let line = |shown, said| same_line(shown, said, Numbers::Same).is_some();
    assert!(line("wrote 6 files", "wrote   6 files"));
    assert!(!line("wrote 6 files", "wrote 7 files"));
    let names = same_line("proposal uvy3zgftc4)", "proposal abcdefghij)", Numbers::Same);
    assert_eq!(names, Some(vec![("uvy3zgftc4".to_owned(), "abcdefghij".to_owned())]));
    assert!(!line("proposal checklists)", "proposal abcdefghij)"));
    assert!(line("committed x as bc32c849b6e8", "committed x as 123456789012"));
    assert!(line("at 2026-02-26T14:30:00Z in 40 ms", "at 2027-01-01T00:00:00Z in 1.5 ms"));
    assert!(line("http://127.0.0.1:7070/v1", "http://127.0.0.1:1/v1"));
    assert!(line("a … b", "a long way to b") && !line("a … b", "a long way to c"));
    assert!(same(&["a", "…", "d"], &["a", "b", "c", "d"], Numbers::Same).is_some());
    assert!(same(&["a", "…", "d"], &["a", "b", "c"], Numbers::Same).is_none());
    let near = |shown, said| same_line(shown, said, Numbers::Near).is_some();
    assert!(near("runtime 60 ██ 2.4%", "runtime 56 █▏ 2.2%"));
    assert!(near("runtime 60 ██ 2.4%", "runtime 88 █▏ 3.5%"));
    assert!(!near("runtime 60 ██ 2.4%", "runtime 91 █▏ 3.6%"));
    assert!(near("rules 57 ██ 2.2%", "rules 57 █▏ 2.3%"));
    assert!(!near("rules 57 ██ 2.2%", "rules 57 █▏ 2.5%"));
    assert!(!near("identity 60 ██ 4.5%", "identity 61 ██ 4.5%"));
}
