//! Commands that run code or take an encoding off it.

use super::{has, looks_like_path, operands};
use crate::screen::code::effect::Act;
use crate::screen::code::language::Language;
use crate::screen::code::machine::Machine;
use crate::screen::code::text::Encoding;
use crate::screen::code::value::{Marks, Origin, Value};

impl Machine<'_> {
    /// An interpreter with a script, with code in a word, or with code on its input.
    pub(super) fn interpreter(
        &mut self,
        name: &str,
        rest: &[Value],
        stdin: Option<&Value>,
        line: u32,
    ) -> Value {
        let language = match name {
            "python" | "python3" | "uv" => Language::Python,
            "node" | "bun" | "deno" | "tsx" => Language::JavaScript,
            "ruby" => Language::Ruby,
            "pwsh" | "powershell" => Language::PowerShell,
            _ => Language::Shell,
        };
        let mut words = rest.iter();
        while let Some(word) = words.next() {
            let text = word.as_text().unwrap_or_default().to_ascii_lowercase();
            let takes_code =
                matches!(text.as_str(), "-c" | "-e" | "--eval" | "-command" | "/c" | "-p")
                    || text.starts_with('-')
                        && !text.starts_with("--")
                        && text.ends_with('c')
                        && text.len() <= 5;
            let valued = matches!(
                text.as_str(),
                "-w" | "-windowstyle" | "-ep" | "-ex" | "-exec" | "-executionpolicy" | "-version"
            );
            if valued && language == Language::PowerShell {
                words.next();
                continue;
            }
            if text == "-m" && language == Language::Python {
                let module: Vec<Value> = words.cloned().collect();
                if let Some(("pip", rest)) =
                    module.split_first().map(|(m, rest)| (m.as_text().unwrap_or_default(), rest))
                {
                    self.install("pip", rest, line);
                }
                return Value::default();
            }
            let encoded = language == Language::PowerShell
                && (text.starts_with("-enc") || matches!(text.as_str(), "-e" | "-ec"));
            if takes_code && !encoded {
                let rest: Vec<Value> = match language {
                    Language::PowerShell => words.cloned().collect(),
                    _ => words.next().cloned().into_iter().collect(),
                };
                let code = Value::joined(&rest, " ");
                if name == "osascript" {
                    return self.apple_script(&code, line);
                }
                return self.run_code(language, &code, line);
            }
            if encoded {
                let code = words.next().cloned().unwrap_or_default();
                let code = self.decoded(&code, Encoding::Base64, line);
                return self.run_code(Language::PowerShell, &code, line);
            }
            if matches!(name, "cmd" | "wscript" | "cscript")
                && text.starts_with('/')
                && text.len() <= 12
                && !text.get(2..).is_some_and(|rest| rest.contains('/'))
            {
                continue;
            }
            // The program is the input; the words that follow are for it.
            if text == "-" && stdin.is_some() {
                break;
            }
            if text.starts_with('-') && text.len() > 1 || matches!(text.as_str(), "run" | "-") {
                continue;
            }
            // A script: fetched before, put together here, or one of the folder.
            let path = word.as_text().unwrap_or_default().trim_start_matches("./").to_owned();
            if matches!(name, "source" | ".")
                && let Some(file) = self.program_at(&path)
            {
                let list = self.sourced.entry(self.file).or_default();
                if !list.contains(&file) && list.len() < 16 {
                    list.push(file);
                }
            }
            let mut marks = word.all_marks();
            if let Some(staged) = self.staged_at(&path) {
                marks.add(&staged);
            }
            // `deno run https://…`, `mshta https://…`
            if path.starts_with("http://") || path.starts_with("https://") {
                marks.add(&self.mark(Origin::Fetched, path.clone(), line));
            }
            if marks.has(&Origin::Fetched) || marks.has(&Origin::Decoded) {
                self.add(Act::Evaluate, &path, marks, line);
            }
            self.add(Act::Program, &format!("{name} {path}"), Marks::default(), line);
            // A data file that is run is a program, whatever its name says.
            if self.program_at(&path).is_none()
                && let Some(code) = self.asset(&path)
            {
                let code = Value::text(code);
                return self.run_code(language, &code, line);
            }
            let printed = self.program_at(&path).and_then(|file| self.printed.get(file)).cloned();
            return Value::marked(printed.unwrap_or_default());
        }
        let is_shell = matches!(
            name,
            "sh" | "bash" | "zsh" | "dash" | "ksh" | "fish" | "cmd" | "powershell" | "pwsh"
        );
        if is_shell && stdin.is_none_or(|code| code.text.is_none() && code.marks.is_empty()) {
            self.add(Act::Shell, name, Marks::default(), line);
        }
        match stdin {
            Some(code) => self.run_code(language, code, line),
            None => {
                self.add(Act::Program, name, Marks::default(), line);
                Value::default()
            }
        }
    }

    fn apple_script(&mut self, code: &Value, line: u32) -> Value {
        let text = code.as_text().unwrap_or_default();
        let lower = text.to_ascii_lowercase();
        if lower.contains("hidden answer")
            || lower.contains("display dialog") && lower.contains("password")
        {
            self.add(Act::AskPassword, text, Marks::default(), line);
        }
        if let Some((_, command)) = lower.split_once("do shell script") {
            let command = command.trim_start().trim_start_matches('"');
            let command = command.split('"').next().unwrap_or_default();
            let code = Value { text: Some(command.into()), ..code.clone() };
            return self.run_code(Language::Shell, &code, line);
        }
        self.add(Act::Program, "osascript", Marks::default(), line);
        Value::default()
    }

    /// Encoders and decoders.
    pub(super) fn transcode(
        &mut self,
        name: &str,
        rest: &[Value],
        stdin: Option<&Value>,
        line: u32,
    ) -> Value {
        let mut input = stdin.cloned().unwrap_or_default();
        if name == "openssl" && has(rest, &["s_client"]) {
            let target = Value::joined(rest, " ").as_text().unwrap_or_default().to_owned();
            self.add(Act::Connect, &target, input.all_marks(), line);
            return Value::default();
        }
        if stdin.is_none() {
            for path in operands(rest).filter(|w| looks_like_path(w)) {
                let read = self.read_path(path, line);
                input = input.or(&read);
            }
        }
        let decodes = has(rest, &["-d", "-D", "--decode", "-r", "enc"])
            || matches!(name, "gunzip" | "zcat" | "uudecode");
        let encoding = match name {
            "base64" if decodes => Encoding::Base64,
            "base32" if decodes => Encoding::Base32,
            "xxd" if decodes => Encoding::Hex,
            "rev" => Encoding::Reversed,
            "tr" if rest
                .iter()
                .any(|w| w.as_text().is_some_and(|t| t.contains("N-Z") || t.contains("n-z"))) =>
            {
                Encoding::Rot13
            }
            "openssl"
                if decodes
                    && has(rest, &["-base64", "-a"])
                    && !has(rest, &["-aes-256-cbc", "-pass"]) =>
            {
                Encoding::Base64
            }
            "openssl" | "gunzip" | "zcat" | "uudecode" if decodes => Encoding::Opaque,
            _ => return Value::marked(input.all_marks()),
        };
        self.decoded(&input, encoding, line)
    }

    /// A value without its encoding.
    pub(crate) fn decoded(&mut self, value: &Value, encoding: Encoding, line: u32) -> Value {
        let mut out = Value::marked(value.all_marks());
        let plain =
            value.constant().and_then(|text| crate::screen::code::text::decode(text, encoding));
        match plain {
            Some(text) => {
                out.text = Value::text(text).text;
                out.disguised = true;
            }
            None if encoding != Encoding::Percent => {
                out.marks.add(&self.mark(Origin::Decoded, "encoded data", line));
                out.disguised = value.text.is_some();
            }
            None => out.text = value.text.clone(),
        }
        out
    }
}
