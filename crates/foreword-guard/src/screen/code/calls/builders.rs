//! Objects that are put together call by call: requests (`post(url).body(data).send()`) and commands
//! (`Command::new("sh").arg("-c")`).

use std::rc::Rc;

use super::Parts;
use crate::screen::code::effect::Act;
use crate::screen::code::language::{Dialect, Language};
use crate::screen::code::machine::Machine;
use crate::screen::code::value::{Marks, Origin, Value};

/// What a command on its way is called.
const COMMAND: &str = "command-on-its-way";
/// What a request on its way is called.
const REQUEST: &str = "request-on-its-way";

impl Machine<'_> {
    /// A step of putting an object together, or the step that sets it off.
    pub(super) fn building(&mut self, path: &str, last: &str, parts: &Parts<'_>) -> Option<Value> {
        let own = parts.receiver.and_then(|r| r.path.as_deref()).unwrap_or_default();
        if own == COMMAND {
            return self.command_step(last, parts);
        }
        if own == REQUEST || own == "response" {
            return self.request_step(last, parts);
        }
        let first = parts.first_or_nothing();
        let url = || first.as_text().is_some_and(|t| t.contains("://"));
        match last {
            "new" | "create" | "ProcessBuilder" | "Command"
                if matches!(
                    path,
                    "Command.new"
                        | "process.Command.new"
                        | "std.process.Command.new"
                        | "ProcessBuilder"
                        | "exec.Command"
                ) =>
            {
                let words = match (&first.items, parts.args.len()) {
                    (Some(items), 1) => items.as_ref().clone(),
                    _ => parts.args.to_vec(),
                };
                let mut command = Value { items: Some(Rc::new(words)), ..Value::path(COMMAND) };
                command.marks = parts.given();
                Some(command)
            }
            "curl_init" => Some(Value { text: first.text.clone(), ..Value::path(REQUEST) }),
            "curl_setopt" if first.path.as_deref() == Some(REQUEST) => {
                let value = parts.args.get(2)?;
                let target = first.as_text().unwrap_or_default().to_owned();
                if !value.all_marks().is_empty() {
                    self.add(Act::Http, &target, value.all_marks(), parts.line);
                }
                Some(Value::default())
            }
            "curl_exec" if first.path.as_deref() == Some(REQUEST) => {
                let target = first.as_text().unwrap_or_default().to_owned();
                self.add(Act::Http, &target, first.all_marks(), parts.line);
                Some(Value::marked(self.mark(Origin::Fetched, target, parts.line)))
            }
            "uri"
            | "url"
            | "URLRequest"
            | "baseUrl"
            | "newBuilder"
            | "NewRequest"
            | "NewRequestWithContext"
            | "HttpRequestMessage"
            | "HttpPost"
            | "HttpPut"
            | "openConnection"
                if url() || parts.args.iter().any(|v| v.as_text().is_some_and(is_url)) =>
            {
                let address = parts.args.iter().find(|v| v.as_text().is_some_and(is_url));
                let target = address.and_then(Value::as_text).unwrap_or_default().to_owned();
                self.add(Act::Http, &target, parts.given(), parts.line);
                let mut request = Value { text: Some(target.into()), ..Value::path(REQUEST) };
                request.marks = parts.given();
                Some(request)
            }
            "openConnection" | "openStream" if parts.receiver.is_some_and(|r| r.text.is_some()) => {
                let target = parts.receiver.and_then(Value::as_text).unwrap_or_default().to_owned();
                self.add(Act::Http, &target, Marks::default(), parts.line);
                let mut reply =
                    Value::marked(self.mark(Origin::Fetched, target.clone(), parts.line));
                (reply.text, reply.path) = (Some(target.into()), Some(REQUEST.into()));
                Some(reply)
            }
            _ => None,
        }
    }

    fn command_step(&mut self, last: &str, parts: &Parts<'_>) -> Option<Value> {
        let command = parts.receiver_or_nothing();
        match last {
            "arg" | "args" | "push" | "add" | "command" => {
                let mut command = command.clone();
                let words = Rc::make_mut(command.items.get_or_insert_default());
                for arg in parts.args.iter().filter(|_| words_fit(parts)) {
                    match &arg.items {
                        Some(items) => words.extend(items.iter().take(64).cloned()),
                        None => words.push(arg.clone()),
                    }
                }
                words.truncate(128);
                Some(command)
            }
            "spawn" | "output" | "status" | "exec" | "start" | "Run" | "Start" | "Output"
            | "CombinedOutput" | "run" => {
                let words = command.items.as_ref().map(|i| i.as_ref().clone()).unwrap_or_default();
                Some(self.run_words(&words, None, parts.line))
            }
            _ => Some(command.clone()),
        }
    }

    fn request_step(&mut self, last: &str, parts: &Parts<'_>) -> Option<Value> {
        let carries = matches!(
            last,
            "body"
                | "json"
                | "form"
                | "send"
                | "send_string"
                | "send_bytes"
                | "send_json"
                | "send_form"
                | "multipart"
                | "POST"
                | "PUT"
                | "method"
                | "setBody"
                | "data"
                | "content"
                | "Content"
                | "write"
                | "field"
                | "attach"
                | "query"
                | "setEntity"
                | "getOutputStream"
                | "bodyString"
                | "Send"
        );
        let given = parts.given();
        let receiver = parts.receiver_or_nothing();
        if !carries || given.is_empty() {
            // What only reads a reply is left to the others.
            let keeps = matches!(last, "header" | "set" | "timeout" | "headers" | "build" | "type");
            return (keeps || carries && receiver.path.as_deref() == Some(REQUEST))
                .then(|| receiver.clone());
        }
        let fetched = receiver.marks.iter().find(|m| m.origin == Origin::Fetched);
        let target = match receiver.as_text() {
            Some(text) => text.to_owned(),
            None => fetched.map(|m| m.detail.clone()).unwrap_or_default(),
        };
        self.add(Act::Http, &target, given, parts.line);
        Some(receiver.clone())
    }

    /// Calls of languages without a grammar that other languages have no name for.
    pub(super) fn loosely(&mut self, path: &str, last: &str, parts: &Parts<'_>) -> Option<Value> {
        let language = self.language();
        let Language::Loose(dialect) = language else { return None };
        let (line, first) = (parts.line, parts.first_or_nothing());
        let receiver = parts.receiver_or_nothing();
        match last {
            // LWP::Simple.
            "get" | "head" | "getprint" | "getstore" | "mirror"
                if dialect == Dialect::Perl
                    && parts.receiver.is_none()
                    && first.as_text().is_some_and(is_url) =>
            {
                Some(self.request(parts, true))
            }
            "system" | "exec" | "execute" | "popen" | "shell_exec" | "passthru" | "proc_open"
            | "system2" | "shell" | "Shell" | "qx" | "execCmd" | "execCmdEx" | "execl"
            | "execlp" | "execvp" | "execve" | "execv" | "WinExec" | "ShellExecute"
            | "ShellExecuteA" | "Run" | "run" | "cmd" | "pcntl_exec" | "spawn" | "Start"
            | "exec_shell" | "runProcess" | "readProcess" | "command" => {
                // Groovy: `"…".execute()`.
                let target = if parts.args.is_empty() { receiver } else { first };
                if target.text.is_none() && target.items.is_none() && target.marks.is_empty() {
                    return None;
                }
                if let Some(path) = target.as_text()
                    && let Some(staged) = self.staged_at(path).filter(|s| s.has(&Origin::Fetched))
                {
                    let path = path.to_owned();
                    self.add(Act::Evaluate, &path, staged, line);
                    return Some(Value::default());
                }
                if let Some(code) = target.as_text().and_then(powershell) {
                    let code = Value { text: Some(code.into()), ..target.clone() };
                    return Some(self.run_code(Language::PowerShell, &code, line));
                }
                if parts.args.is_empty() || last == "proc_open" {
                    return Some(self.run_code(Language::Shell, target, line));
                }
                Some(self.start(first, parts, line))
            }
            // Lua: what a command prints is read from it.
            "read" | "lines" if dialect == Dialect::Lua && !receiver.marks.is_empty() => {
                Some(Value::marked(receiver.all_marks()))
            }
            "Create" if path == "os.Create" => {
                Some(Value { text: first.text.clone(), ..Value::path("open-file") })
            }
            "Copy" if first.path.as_deref() == Some("open-file") => {
                let target = first.as_text().unwrap_or_default().to_owned();
                self.write_path(&target, parts.args.get(1)?, line);
                Some(Value::default())
            }
            "copy" if first.marks.has(&Origin::Fetched) && parts.args.len() >= 2 => {
                let target = parts.args.get(1).and_then(Value::as_text)?.to_owned();
                self.write_path(&target, &Value::marked(first.marks.clone()), line);
                Some(Value::default())
            }
            "download" if first.as_text().is_some_and(is_url) => Some(self.request(parts, true)),
            "include" | "source" | "dofile" if first.marks.has(&Origin::Fetched) => {
                self.add(Act::Evaluate, "", first.marks.clone(), line);
                Some(Value::default())
            }
            // Jenkins: a step hands its text to a shell.
            "sh" | "bat" if dialect == Dialect::C && first.text.is_some() => {
                Some(self.run_code(Language::Shell, first, line))
            }
            "hidden-answer" => {
                self.add(Act::AskPassword, "hidden answer", Marks::default(), line);
                Some(Value::marked(self.mark(Origin::Typed, "a typed password", line)))
            }
            "source" | "dofile" | "include" | "include_once" | "require" | "require_once"
                if first.as_text().is_some_and(is_url) =>
            {
                let target = first.as_text().unwrap_or_default().to_owned();
                let marks = self.mark(Origin::Fetched, target.clone(), line);
                self.add(Act::Evaluate, &target, marks, line);
                Some(Value::default())
            }
            "eval" | "assert" | "create_function" | "loadstring" | "load" | "dofile" | "source"
            | "evaluate" | "eval_string" | "Execute" | "ExecuteGlobal" | "EvalString"
            | "runString" => {
                let code = parts.args.last().unwrap_or(&Value::NOTHING);
                Some(self.run_code(language, code, line))
            }
            "vars" | "Environ" | "vars_os" | "GetEnvironmentVariables" | "get_env" | "environ" => {
                Some(Value::marked(self.mark(Origin::Environment, "all variables", line)))
            }
            "getenv" | "Getenv" | "env" if parts.args.is_empty() => {
                Some(Value::marked(self.mark(Origin::Environment, "all variables", line)))
            }
            "Getenv" | "var" | "var_os" | "LookupEnv" | "GetEnvironmentVariable" | "Environ$" => {
                let name = first.constant()?.to_owned();
                Some(self.variable(&name, line))
            }
            "home_dir" | "UserHomeDir" | "NSHomeDirectory" | "homeDirectory" => {
                Some(Value::text("~"))
            }
            "getProperty" if first.constant() == Some("user.home") => Some(Value::text("~")),
            "GetFolderPath" => Some(Value::text("~")),
            "ReadFile" | "read_to_string" | "readString" | "readAllBytes" | "readAllLines"
            | "file_get_contents" | "fopen" | "ReadAllText" | "ReadAllBytes" | "OpenTextFile"
            | "FileReader" | "FileInputStream" | "ifstream" | "readFile" | "readLines"
            | "slurp" | "read" | "Open" | "contentsOf" | "ReadDir" | "read_dir" | "file"
            | "lines" | "newBufferedReader" | "walk" | "Walk" | "WalkDir" | "copy" | "Copy"
                if first.text.is_some() =>
            {
                if first.as_text().is_some_and(is_url) {
                    return Some(self.request(parts, true));
                }
                Some(self.read_path(first, line))
            }
            "readText" | "readBytes" | "readLines" | "getText" | "text" | "bytes" | "eachLine"
                if receiver.text.is_some() =>
            {
                if receiver.as_text().is_some_and(is_url) {
                    let target = receiver.as_text().unwrap_or_default().to_owned();
                    self.add(Act::Http, &target, receiver.all_marks(), line);
                    return Some(Value::marked(self.mark(Origin::Fetched, target, line)));
                }
                Some(self.read_path(receiver, line))
            }
            "create"
            | "of"
            | "get"
            | "from"
            | "parse"
            | "String"
            | "string"
            | "Sprintf"
            | "sprintf"
            | "format"
            | "concat"
            | "as_bytes"
            | "as_str"
            | "NewReader"
            | "Join"
            | "join"
            | "file_path"
            | "paste0"
            | "resolve"
            | "Combine"
            | "appendingPathComponent"
            | "push"
            | "toString"
            | "to_string"
            | "unwrap"
            | "expect"
            | "getBytes"
            | "ofString"
            | "StringContent"
            | "NewBufferString"
            | "NewBuffer"
            | "getPath"
            | "GetFullPath"
                if parts.args.iter().chain(parts.receiver).any(|v| v.text.is_some()) =>
            {
                let texts = parts.receiver.into_iter().chain(parts.args);
                let texts: Vec<Value> = texts.filter(|v| v.text.is_some()).cloned().collect();
                let paths = [
                    "Join",
                    "join",
                    "Combine",
                    "of",
                    "get",
                    "resolve",
                    "file_path",
                    "push",
                    "appendingPathComponent",
                ];
                let mut value = Value::joined(&texts, if paths.contains(&last) { "/" } else { "" });
                value.path = None;
                value.marks.add(&parts.marks());
                Some(value)
            }
            "base64_decode" | "DecodeString" | "decode_base64" | "from_base64" | "b64decode"
            | "FromBase64String" | "decode" | "hex2bin" | "str_rot13" | "gzinflate"
            | "gzuncompress" | "strrev" => {
                use crate::screen::code::text::Encoding;
                let encoding = match last {
                    "hex2bin" => Encoding::Hex,
                    "str_rot13" => Encoding::Rot13,
                    "strrev" => Encoding::Reversed,
                    "gzinflate" | "gzuncompress" => Encoding::Opaque,
                    _ => Encoding::Base64,
                };
                let data = parts.args.last().unwrap_or(receiver);
                Some(self.decoded(data, encoding, line))
            }
            "PostForm" | "PostAsync" | "PutAsync" | "GetStringAsync" | "PostAsJsonAsync"
            | "UploadString" | "UploadFile" | "UploadData" | "DownloadString" | "DownloadFile"
            | "post_json" | "Post" | "Get" | "Put" | "postForm" | "httpPost" | "download_file"
            | "URLDownloadToFile" | "URLDownloadToFileA" | "httpbody" | "upload" | "uploadTask"
            | "dataTask" | "bodyHandler"
                if parts.args.iter().any(|v| {
                    v.as_text().is_some_and(is_url) || v.path.as_deref() == Some(REQUEST)
                }) =>
            {
                let reply = self.request(parts, true);
                let to = parts.args.iter().filter_map(Value::as_text).find(|t| !is_url(t));
                if last.to_ascii_lowercase().contains("download")
                    && let Some(to) = to
                {
                    let to = to.to_owned();
                    self.stage(&to, &reply);
                }
                Some(reply)
            }
            "file_put_contents" | "WriteFile" | "write_to_file" | "WriteAllText" | "writeText"
            | "writeString" | "AppendAllText" | "fs_write" | "writeLines" => {
                let (target, content) = match receiver.text.is_some() && parts.args.len() == 1 {
                    true => (receiver, first),
                    false => (first, parts.args.get(1)?),
                };
                let target = target.as_text().unwrap_or_default().to_owned();
                self.write_path(&target, content, line);
                Some(Value::default())
            }
            "write" if matches!(path, "fs.write" | "std.fs.write") => {
                let target = first.as_text().unwrap_or_default().to_owned();
                self.write_path(&target, parts.args.get(1)?, line);
                Some(Value::default())
            }
            _ => None,
        }
    }
}

fn words_fit(parts: &Parts<'_>) -> bool {
    parts.args.len() <= 64
}

fn is_url(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

/// The code in a line that starts PowerShell.
fn powershell(line: &str) -> Option<&str> {
    let lower = line.to_ascii_lowercase();
    let name = lower.split([' ', '.']).next()?.rsplit(['/', '\\']).next()?;
    if !matches!(name, "powershell" | "pwsh") {
        return None;
    }
    let flags = [" -c ", " -command ", " /c "];
    let at = flags.iter().find_map(|flag| lower.find(flag).map(|at| at + flag.len()))?;
    line.get(at..).map(|code| code.trim_matches('"'))
}
