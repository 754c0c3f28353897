//! Calls that start programs or run code.

use super::Parts;
use crate::screen::code::effect::Act;
use crate::screen::code::language::Language;
use crate::screen::code::machine::Machine;
use crate::screen::code::value::{Origin, Value};

/// How an effect says that data made objects, which may run code.
pub(crate) const PICKLE: &str = "pickle";

impl Machine<'_> {
    /// Programs and code that run.
    pub(super) fn running(&mut self, path: &str, last: &str, parts: &Parts<'_>) -> Option<Value> {
        let line = parts.line;
        let first = parts.first_or_nothing();
        let processes = [
            "subprocess",
            "child_process",
            "os",
            "Open3",
            "Kernel",
            "IO",
            "Process",
            "execa",
            "shelljs",
            "zx",
            "Bun",
            "Deno",
            "asyncio",
            "commands",
            "pty",
            "popen2",
        ];
        let root = path.split('.').next().unwrap_or_default();
        let starts = matches!(
            last,
            "run"
                | "Popen"
                | "call"
                | "check_call"
                | "check_output"
                | "getoutput"
                | "getstatusoutput"
                | "system"
                | "popen"
                | "spawn"
                | "spawnSync"
                | "exec"
                | "execSync"
                | "execFile"
                | "execFileSync"
                | "fork"
                | "execv"
                | "execve"
                | "execvp"
                | "execl"
                | "execlp"
                | "capture2"
                | "capture3"
                | "capture2e"
                | "popen3"
                | "create_subprocess_exec"
                | "create_subprocess_shell"
                | "Command"
                | "startfile"
                | "posix_spawn"
                | "execa"
                | "spawnl"
                | "spawnv"
                | "spawnlp"
        );
        let bare = matches!(
            path,
            "system"
                | "exec"
                | "spawn"
                | "execSync"
                | "spawnSync"
                | "execFile"
                | "Popen"
                | "execa"
                | "execaCommand"
                | "$"
        ) && !(path == "exec" && self.language() == Language::Python);
        let rake = path == "sh" && self.language() == Language::Ruby;
        if starts && processes.contains(&root) || bare || rake {
            return Some(self.start(first, parts, line));
        }
        if path == "get_ipython" {
            return Some(Value::path(path));
        }
        // A notebook hands commands to a shell.
        if path.contains("get_ipython") && matches!(last, "system" | "system_raw" | "getoutput") {
            return Some(self.start(first, parts, line));
        }
        if matches!(last, "run_cell_magic" | "run_line_magic") {
            let code = parts.args.last().unwrap_or(first);
            return Some(match first.constant() {
                Some("bash" | "sh" | "script" | "system" | "sx" | "!") => {
                    self.run_code(Language::Shell, code, line)
                }
                _ => Value::default(),
            });
        }
        if starts && path.contains("child_process") {
            return Some(self.start(first, parts, line));
        }
        let language = self.language();
        match (path, last) {
            (
                "eval" | "exec" | "window.eval" | "globalThis.eval" | "builtins.eval"
                | "builtins.exec" | "global.eval" | "instance_eval" | "__builtins__.eval"
                | "__builtins__.exec",
                _,
            )
            | (
                _,
                "instance_eval" | "module_eval" | "runInThisContext" | "runInNewContext"
                | "runInContext" | "class_eval" | "_compile" | "execScript",
            ) => Some(self.run_code(language, first, line)),
            ("compile", _) if language == Language::Python => Some(first.clone()),
            ("Function" | "AsyncFunction", _) => {
                let code = parts.args.last().cloned().unwrap_or_default();
                Some(self.run_code(language, &code, line))
            }
            ("setTimeout" | "setInterval", _) if first.text.is_some() => {
                Some(self.run_code(language, first, line))
            }
            (_, "loads" | "load")
                if ["pickle", "dill", "cloudpickle"].iter().any(|m| path.contains(m)) =>
            {
                let marks = first.all_marks();
                if marks.has(&Origin::Fetched) || marks.has(&Origin::Decoded) || first.disguised {
                    self.add(Act::Evaluate, PICKLE, marks.clone(), line);
                }
                Some(Value::marked(marks))
            }
            (
                _,
                "spec_from_file_location" | "SourceFileLoader" | "run_path" | "CDLL" | "dlopen",
            )
            | ("require_relative" | "load", _) => {
                let place = usize::from(last.starts_with("spec") || last.starts_with("Source"));
                let file = parts.args.get(place)?;
                let staged = self.staged_at(file.as_text()?)?;
                if staged.has(&Origin::Fetched) || staged.has(&Origin::Decoded) {
                    let target = file.as_text().unwrap_or_default().to_owned();
                    self.add(Act::Evaluate, &target, staged, line);
                }
                Some(Value::default())
            }
            (_, "loads" | "load") if path.contains("marshal") => {
                let mut marks = first.all_marks();
                if first.disguised || marks.has(&Origin::Decoded) {
                    marks.add(&self.mark(Origin::Decoded, "encoded data", line));
                    self.add(Act::Evaluate, "", marks.clone(), line);
                    return Some(Value::marked(marks));
                }
                Some(self.run_code(language, first, line))
            }
            (_, "Worker")
                if first.marks.has(&Origin::Fetched) || first.marks.has(&Origin::Decoded) =>
            {
                self.add(Act::Evaluate, "", first.marks.clone(), line);
                Some(Value::default())
            }
            // Bytes that become code of the machine.
            (
                _,
                "create_string_buffer"
                | "memmove"
                | "from_buffer_copy"
                | "from_buffer"
                | "RtlMoveMemory",
            ) if path.contains("ctypes") => {
                let marks = parts.given();
                if marks.has(&Origin::Fetched) || marks.has(&Origin::Decoded) {
                    self.add(Act::Evaluate, "", marks.clone(), line);
                }
                Some(Value::marked(marks))
            }
            ("import" | "__import__" | "importlib.import_module" | "require", _)
            | (_, "_load" | "require") => {
                let name = first.constant().unwrap_or_default().to_owned();
                if name.is_empty() {
                    let marks = first.all_marks();
                    if marks.has(&Origin::Decoded) || marks.has(&Origin::Fetched) {
                        self.add(Act::Evaluate, "", marks.clone(), line);
                    }
                    return Some(Value::marked(marks));
                }
                if name.starts_with("http://") || name.starts_with("https://") {
                    self.add(Act::LoadRemote, &name, first.marks.clone(), line);
                } else if first.disguised {
                    self.add(Act::Disguise, &name, first.marks.clone(), line);
                }
                Some(Value {
                    disguised: first.disguised,
                    ..Value::path(name.strip_prefix("node:").unwrap_or(&name))
                })
            }
            (_, "getattr") if parts.args.len() >= 2 => {
                let (object, name) = (parts.args.first()?, parts.args.get(1)?);
                let text = name.constant()?.to_owned();
                let mut value = self.member(object, &text, line);
                value.disguised |= name.disguised;
                Some(value)
            }
            ("invoke-expression" | "iex", _) => {
                Some(self.run_code(Language::PowerShell, first, line))
            }
            _ => None,
        }
    }

    /// A program is started: with words, or with a line for a shell.
    pub(super) fn start(&mut self, first: &Value, parts: &Parts<'_>, line: u32) -> Value {
        let mut out = Value::default();
        for other in first.others.iter().flat_map(|others| others.iter()) {
            let started = self.start_one(other, parts, line);
            out.marks.add(&started.marks);
        }
        let mut value = self.start_one(first, parts, line);
        value.marks.add(&out.marks);
        value
    }

    fn start_one(&mut self, first: &Value, parts: &Parts<'_>, line: u32) -> Value {
        // `[tool, *options]` is one list.
        let mut words: Vec<Value> = match Value::list(std::slice::from_ref(first)).items {
            Some(items) if first.items.is_some() => Value::list(&items).items,
            _ => None,
        }
        .map(|items| items.to_vec())
        .unwrap_or_default();
        let stdin = parts.named(&["input", "stdin"]);
        if words.is_empty() {
            let more = parts.args.get(1).and_then(|v| v.items.as_ref());
            let flat = parts.args.iter().skip(1).take_while(|v| v.text.is_some());
            let flat: Vec<Value> = flat.cloned().collect();
            if let Some(more) = more {
                words.push(first.clone());
                words.extend(more.iter().cloned());
            } else if !flat.is_empty() && first.as_text().is_some_and(|t| !t.contains(' ')) {
                words.push(first.clone());
                words.extend(flat);
            }
        }
        if words.is_empty() {
            let mut code = first.clone();
            code.marks = first.all_marks();
            let mut out = self.run_code(Language::Shell, &code, line);
            out.marks.add(&stdin.map(Value::all_marks).unwrap_or_default());
            return out;
        }
        self.run_words(&words, stdin, line)
    }
}
