//! Commands that find, write and delete files.

use super::{all_marks, operands};
use crate::screen::code::effect::Act;
use crate::screen::code::language::Language;
use crate::screen::code::machine::Machine;
use crate::screen::code::places::{
    is_agent_file, is_precious, secret_directory, starts_on_its_own,
};
use crate::screen::code::value::{HOLE, Marks, Origin, Value};

impl Machine<'_> {
    pub(super) fn delete(&mut self, rest: &[Value], line: u32) {
        let text = Value::joined(rest, " ");
        let recursive = text.as_text().is_some_and(|t| {
            t.split(' ').any(|w| w.starts_with('-') && w.to_ascii_lowercase().contains('r'))
                || t.contains("--recursive")
                || t.contains("/s")
        });
        for path in operands(rest).flat_map(Value::alternatives) {
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
        let wanted = text.split_once("-name").map(|(_, wanted)| wanted).unwrap_or_default();
        let seeks = secret.iter().any(|s| wanted.contains(s)) || secret_directory(&start).is_some();
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
    pub(crate) fn stage(&mut self, path: &str, value: &Value) {
        if self.staged.len() < 500 && !path.is_empty() {
            let value = Value { marks: value.all_marks(), ..Value::default() };
            let name = path.trim_start_matches("./");
            // A file with a name that is not known is somewhere in its directory.
            let unnamed = |n: &str| n == "\u{fffc}" || n.ends_with("/\u{fffc}");
            let name = if unnamed(name) { name.trim_end_matches(['/', HOLE]) } else { name };
            let name = if name.is_empty() { "." } else { name }.to_owned();
            let known = self.staged.remove(&name).unwrap_or_default();
            self.staged.insert(name, known.or(&value));
        }
    }

    /// Where what lies at a path, or in the directory around it, came from.
    pub(crate) fn staged_at(&self, path: &str) -> Option<Marks> {
        let path = path.trim_start_matches("./");
        if path.is_empty() || self.staged.is_empty() {
            return None;
        }
        if let Some(staged) = self.staged.get(path) {
            return Some(staged.marks.clone());
        }
        let mut above = path;
        for _ in 0..8 {
            let Some((front, _)) = above.rsplit_once('/') else { break };
            above = front;
            if let Some(staged) = self.staged.get(above).filter(|_| above.len() > 1) {
                return Some(staged.marks.clone());
            }
        }
        let own = !path.starts_with(['/', '~', '$']) && !self.in_fence();
        self.staged.get(".").filter(|_| own).map(|staged| staged.marks.clone())
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
        for other in target.others.iter().flat_map(|others| others.iter()) {
            self.redirect(other, output, stdin, words, line);
        }
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

    /// A program that is written to a file does what it does when it runs.
    fn written_code(&mut self, path: &str, text: &str, line: u32) {
        if text.len() < 16 || !text.contains(' ') || self.writing {
            return;
        }
        let name = path.rsplit('/').next().unwrap_or_default();
        let language = match starts_on_its_own(path) {
            _ if name.ends_with(".pth") => Some(Language::Python),
            Some("git hook" | "shell start-up file") if !text.starts_with("#!") => {
                Some(Language::Shell)
            }
            _ => Language::of_file(path, text),
        };
        if let Some(language) = language {
            self.writing = true;
            let code = Value::text(text.trim_start_matches(['\n', ' ']));
            self.run_code(language, &code, line);
            self.writing = false;
        }
    }

    /// A file is written.
    pub(crate) fn write_path(&mut self, path: &str, content: &Value, line: u32) {
        self.stage(path, content);
        let marks = content.all_marks();
        let starts = starts_on_its_own(path).is_some();
        let text = match content.as_text() {
            Some(text) => text.to_owned(),
            None if starts || is_agent_file(path) => content.all_texts(),
            None => String::new(),
        };
        self.written_code(path, &text, line);
        if path.contains("_history") && path.starts_with(['~', '/']) {
            self.add(Act::Lower, &format!("overwrites {path}"), Marks::default(), line);
        }
        if starts {
            self.add(Act::Persist, &format!("{path}: {text}"), marks, line);
        } else {
            let text = if is_agent_file(path) { text.as_str() } else { "" };
            let target = if text.is_empty() { path.to_owned() } else { format!("{path}: {text}") };
            self.add(Act::Write, &target, marks, line);
        }
    }
}
