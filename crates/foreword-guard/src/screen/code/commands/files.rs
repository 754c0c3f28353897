//! Commands that find, write and delete files.

use super::{all_marks, operands};
use crate::screen::code::effect::Act;
use crate::screen::code::machine::Machine;
use crate::screen::code::places::{is_agent_file, is_precious, starts_on_its_own};
use crate::screen::code::value::{HOLE, Marks, Origin, Value};

impl Machine<'_> {
    pub(super) fn delete(&mut self, rest: &[Value], line: u32) {
        let text = Value::joined(rest, " ");
        let recursive = text.as_text().is_some_and(|t| {
            t.split(' ').any(|w| w.starts_with('-') && w.to_ascii_lowercase().contains('r'))
                || t.contains("--recursive")
                || t.contains("/s")
        });
        for path in operands(rest) {
            let path = path.as_text().unwrap_or_default().to_owned();
            if recursive && is_precious(&path) {
                self.add(Act::Delete, &path, Marks::default(), line);
            } else if path.contains("_history")
                || is_agent_file(&path)
                || path.starts_with("/var/log")
            {
                self.add(Act::Lower, &format!("deletes {path}"), Marks::default(), line);
            }
        }
    }

    pub(super) fn find(&mut self, rest: &[Value], line: u32) -> Value {
        let text = Value::joined(rest, " ");
        let text = text.as_text().unwrap_or_default().to_owned();
        let start = text.split(' ').next().unwrap_or_default().to_owned();
        if text.contains("-delete") || text.contains("-exec rm") || text.contains("-exec shred") {
            let temporary = start.contains("tmp")
                || start.contains("cache")
                || text.contains("-empty")
                || text.contains("-mtime");
            let narrow = [
                "pycache",
                ".pyc",
                "node_modules",
                ".log",
                ".tmp",
                ".bak",
                "DS_Store",
                ".cache",
                ".o",
            ];
            if !temporary && !narrow.iter().any(|n| text.contains(n)) {
                self.add(Act::Delete, &format!("find {text}"), Marks::default(), line);
            }
        }
        let secret = [
            "id_rsa",
            ".pem",
            "*.key",
            "mykey",
            "wallet",
            "credentials",
            ".env",
            "*secret*",
            "*password*",
            "*.kdbx",
            "*.ppk",
        ];
        let seeks = text.contains("-name") && secret.iter().any(|s| text.contains(s));
        let mut marks = all_marks(rest, None);
        if seeks {
            marks.add(&self.mark(Origin::SecretFile, format!("key files (find {text})"), line));
            self.add(Act::ReadSecret, &format!("find {text}"), marks.clone(), line);
        } else if start == "~" || start == "/" || start.contains("$HOME") {
            marks.add(&self.mark(Origin::Files, format!("files below {start}"), line));
        }
        Value::marked(marks)
    }

    /// What is in a file now.
    pub(super) fn stage(&mut self, path: &str, value: &Value) {
        if self.staged.len() < 500 && !path.is_empty() {
            let value = Value { marks: value.all_marks(), ..Value::default() };
            let name = path.trim_start_matches("./").to_owned();
            let known = self.staged.remove(&name).unwrap_or_default();
            self.staged.insert(name, known.or(&value));
        }
    }

    /// The output of a command goes to a file.
    pub(crate) fn redirect(
        &mut self,
        target: &Value,
        output: &Value,
        stdin: Option<&Value>,
        words: &[Value],
        line: u32,
    ) {
        let Some(path) = target.as_text() else { return };
        let path = path.to_owned();
        if path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/") {
            let name = words.first().and_then(Value::as_text).unwrap_or_default();
            let shell = matches!(
                name.rsplit('/').next().unwrap_or_default(),
                "bash" | "sh" | "zsh" | "exec" | "dash"
            );
            let act = if shell { Act::RemoteShell } else { Act::Connect };
            let mut marks = output.all_marks();
            marks.add(&stdin.map(Value::all_marks).unwrap_or_default());
            self.add(act, &path, marks, line);
            return;
        }
        if path.starts_with("/dev/")
            || path.starts_with('&')
            || path.chars().all(|c| c.is_ascii_digit() || c == HOLE)
        {
            return;
        }
        self.write_path(&path, output, line);
    }

    /// A file is written.
    pub(crate) fn write_path(&mut self, path: &str, content: &Value, line: u32) {
        self.stage(path, content);
        let marks = content.all_marks();
        if starts_on_its_own(path).is_some() {
            let text = content.as_text().unwrap_or_default();
            self.add(Act::Persist, &format!("{path}: {text}"), marks, line);
        } else {
            let text = content.as_text().filter(|_| is_agent_file(path)).unwrap_or_default();
            let target = if text.is_empty() { path.to_owned() } else { format!("{path}: {text}") };
            self.add(Act::Write, &target, marks, line);
        }
    }
}
