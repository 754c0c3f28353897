//! What functions of the languages and their common libraries do.

use std::rc::Rc;

use super::effect::Act;
use super::language::Language;
use super::machine::{Machine, is_passive};
use super::places::is_precious;
use super::text::Encoding;
use super::value::{Marks, Origin, Value};

/// Libraries whose calls are requests.
const HTTP: [&str; 22] = [
    "requests",
    "httpx",
    "aiohttp",
    "axios",
    "got",
    "superagent",
    "needle",
    "urllib",
    "urllib2",
    "urllib3",
    "undici",
    "ky",
    "http",
    "https",
    "Net.HTTP",
    "HTTParty",
    "Faraday",
    "RestClient",
    "node-fetch",
    "cloudscraper",
    "curl_cffi",
    "net.webclient",
];
/// Methods that make a request.
const REQUESTS: [&str; 24] = [
    "get",
    "post",
    "put",
    "patch",
    "delete",
    "request",
    "head",
    "urlopen",
    "send",
    "fetch",
    "open",
    "urlretrieve",
    "post_form",
    "get_response",
    "start",
    "uploadstring",
    "uploaddata",
    "uploadfile",
    "downloadstring",
    "downloadfile",
    "downloaddata",
    "stream",
    "sendbeacon",
    "options",
];

/// The parts of a call.
pub(super) struct Parts<'a> {
    pub(super) receiver: Option<&'a Value>,
    pub(super) args: &'a [Value],
    pub(super) named: &'a [(String, Value)],
    pub(super) line: u32,
}

impl<'a> Parts<'a> {
    fn first(&self) -> Option<&'a Value> {
        self.args.first().or_else(|| self.named.first().map(|(_, value)| value))
    }

    fn named(&self, names: &[&str]) -> Option<&'a Value> {
        self.named.iter().find(|(key, _)| names.contains(&key.as_str())).map(|(_, value)| value)
    }

    /// Everything that flows into the call.
    fn marks(&self) -> Marks {
        let mut marks = self.receiver.map(Value::all_marks).unwrap_or_default();
        for value in self.args.iter().chain(self.named.iter().map(|(_, value)| value)) {
            marks.add(&value.all_marks());
        }
        marks
    }

    fn has_text(&self, wanted: &[&str]) -> bool {
        let values = self.args.iter().chain(self.named.iter().map(|(_, value)| value));
        let mut texts = values.filter_map(Value::constant);
        texts.any(|text| wanted.iter().any(|w| text.eq_ignore_ascii_case(w)))
    }
}

impl Machine<'_> {
    /// Calls a function that the language or a library brings.
    pub(super) fn builtin(
        &mut self,
        path: &str,
        callee: &Value,
        receiver: Option<&Value>,
        args: &[Value],
        named: &[(String, Value)],
        line: u32,
    ) -> Value {
        let parts = Parts { receiver, args, named, line };
        let last = path.rsplit('.').next().unwrap_or_default();
        let lower = last.to_ascii_lowercase();
        if callee.disguised && !last.is_empty() {
            self.add(Act::Disguise, path, callee.marks.clone(), line);
        }
        if let Some(value) = self.running(path, last, &parts) {
            return value;
        }
        if let Some(value) = self.networking(path, &lower, &parts) {
            return value;
        }
        if let Some(value) = self.decoding(path, last, &parts) {
            return value;
        }
        if let Some(value) = self.files(path, last, &parts) {
            return value;
        }
        if let Some(value) = self.machine_facts(path, last, &parts) {
            return value;
        }
        self.texts(last, &parts)
    }

    /// Programs and code that run.
    fn running(&mut self, path: &str, last: &str, parts: &Parts<'_>) -> Option<Value> {
        let line = parts.line;
        let first = parts.first().cloned().unwrap_or_default();
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
        if starts && processes.contains(&root) || bare {
            return Some(self.start(&first, parts, line));
        }
        if starts && path.contains("child_process") {
            return Some(self.start(&first, parts, line));
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
                "runInThisContext" | "runInNewContext" | "runInContext" | "class_eval" | "_compile"
                | "execScript",
            ) => Some(self.run_code(language, &first, line)),
            ("compile", _) if language == Language::Python => Some(first),
            ("Function" | "AsyncFunction", _) => {
                let code = parts.args.last().cloned().unwrap_or_default();
                Some(self.run_code(language, &code, line))
            }
            ("setTimeout" | "setInterval", _) if first.text.is_some() => {
                Some(self.run_code(language, &first, line))
            }
            (_, "loads" | "load")
                if ["pickle", "marshal", "dill", "cloudpickle"]
                    .iter()
                    .any(|m| path.contains(m)) =>
            {
                Some(self.run_code(language, &first, line))
            }
            ("import" | "__import__" | "importlib.import_module" | "require", _) => {
                let name = first.constant().unwrap_or_default().to_owned();
                if name.is_empty() {
                    return Some(Value::marked(first.marks));
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
                Some(self.run_code(Language::PowerShell, &first, line))
            }
            _ => None,
        }
    }

    /// A program is started: with words, or with a line for a shell.
    fn start(&mut self, first: &Value, parts: &Parts<'_>, line: u32) -> Value {
        let mut words: Vec<Value> = match &first.items {
            Some(items) => items.as_ref().clone(),
            None => Vec::new(),
        };
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

    /// Requests, connections, mails.
    fn networking(&mut self, path: &str, last: &str, parts: &Parts<'_>) -> Option<Value> {
        let line = parts.line;
        let is_http = HTTP.iter().any(|root| {
            path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
                || path.to_ascii_lowercase().contains("session")
                || path.to_ascii_lowercase().contains("webclient")
        });
        let by_url = || {
            let texts = parts.args.iter().chain(parts.named.iter().map(|(_, v)| v));
            texts.take(3).any(|v| {
                v.as_text().is_some_and(|t| t.starts_with("http://") || t.starts_with("https://"))
            })
        };
        let fetches = matches!(
            path,
            "fetch"
                | "axios"
                | "got"
                | "request"
                | "urlopen"
                | "URI.open"
                | "sendBeacon"
                | "$.ajax"
                | "$.post"
                | "$.get"
                | "globalThis.fetch"
                | "window.fetch"
                | "nodeFetch"
                | "fetchJson"
        );
        if matches!(path, "urllib.request.Request" | "Request" | "request.Request" | "http.Request")
        {
            let mut request = parts.first().cloned().unwrap_or_default();
            let mut data = Marks::default();
            for value in parts.args.iter().skip(1) {
                data.add(&value.all_marks());
            }
            data.add(&parts.named(&["data"]).map(Value::all_marks).unwrap_or_default());
            request.marks.add(&data);
            if let Some(headers) = parts.named(&["headers"]) {
                let fields = [("headers".to_owned(), headers.clone())];
                request.fields = Some(Rc::new(fields.into_iter().collect()));
            }
            return Some(request);
        }
        if fetches || REQUESTS.contains(&last) && (is_http || by_url()) {
            return Some(self.request(parts));
        }
        if last == "open" && path.contains("XMLHttpRequest")
            || path.ends_with(".open") && parts.has_text(&["POST", "GET", "PUT"])
        {
            return Some(self.request(parts));
        }
        match (path, last) {
            (_, "send" | "sendall" | "sendto" | "write" | "end")
                if [
                    "socket",
                    "XMLHttpRequest",
                    "WebSocket",
                    "net.",
                    "tls.",
                    "http.request",
                    "https.request",
                    "websocket",
                ]
                .iter()
                .any(|p| path.contains(p)) =>
            {
                self.add(Act::Connect, path, parts.marks(), line);
                Some(Value::path(path))
            }
            (_, "connect" | "createconnection" | "connect_ex" | "create_connection")
                if path.contains("socket")
                    || path.contains("net")
                    || path.contains("tls")
                    || path.starts_with('.') =>
            {
                let marks = parts.marks();
                let host = parts.first().map(address_of).unwrap_or_default();
                if path.starts_with('.') && host.is_empty() {
                    return None;
                }
                self.add(Act::Connect, &host, marks, line);
                Some(Value::path("socket"))
            }
            (_, "dup2")
                if parts
                    .args
                    .iter()
                    .any(|v| v.path.as_deref().is_some_and(|p| p.contains("fileno"))) =>
            {
                self.add(Act::RemoteShell, "os.dup2", Marks::default(), line);
                Some(Value::default())
            }
            (
                "WebSocket"
                | "TCPSocket.new"
                | "TCPSocket.open"
                | "websocket.create_connection"
                | "net.sockets.tcpclient",
                _,
            ) => {
                let target = parts.first().map(address_of).unwrap_or_default();
                self.add(Act::Connect, &target, parts.marks(), line);
                Some(Value::path("WebSocket"))
            }
            (
                _,
                "gethostbyname" | "getaddrinfo" | "resolve" | "resolve4" | "resolvetxt" | "lookup",
            ) if path.contains("dns") || path.contains("socket") || path.contains("resolver") => {
                let first = parts.first().cloned().unwrap_or_default();
                self.add(Act::Lookup, first.as_text().unwrap_or_default(), first.all_marks(), line);
                Some(Value::default())
            }
            (_, "sendmail" | "send_message" | "sendmessage")
                if path.contains("smtp")
                    || path.contains("SMTP")
                    || path.contains("transporter")
                    || path.contains("mail") =>
            {
                self.add(Act::Mail, path, parts.marks(), line);
                Some(Value::default())
            }
            (_, "smtp" | "smtp_ssl") => Some(Value::path("smtplib.SMTP")),
            (
                _,
                "storbinary" | "storlines" | "put" | "upload_file" | "upload_fileobj"
                | "put_object",
            ) if ["ftp", "sftp", "paramiko", "s3", "boto3"]
                .iter()
                .any(|p| path.to_ascii_lowercase().contains(p)) =>
            {
                self.add(Act::Copy, path, parts.marks(), line);
                Some(Value::default())
            }
            _ => None,
        }
    }

    fn request(&mut self, parts: &Parts<'_>) -> Value {
        let line = parts.line;
        let is_url = |v: &&Value| v.as_text().is_some_and(|t| t.contains("://"));
        let options = parts.args.iter().filter(|v| v.fields.is_some());
        let by_name = |v: &Value, names: &[&str]| names.iter().find_map(|n| v.field(n).cloned());
        let from_options =
            options.clone().find_map(|v| by_name(v, &["url", "uri", "hostname", "host"]));
        let named = parts.named(&["url", "uri"]).cloned();
        let url = parts.args.iter().find(is_url).cloned().or(named).or(from_options);
        let url = url.or_else(|| parts.args.first().cloned()).unwrap_or_default();
        let proofs = ["headers", "auth", "cookies", "Authorization", "token"];
        let (mut data, mut proof) = (url.marks.clone(), Marks::default());
        for value in parts.args {
            match &value.fields {
                Some(fields) => {
                    for (name, field) in fields.iter() {
                        let to =
                            if proofs.contains(&name.as_str()) { &mut proof } else { &mut data };
                        to.add(&field.all_marks());
                    }
                    if fields.len() <= 1 {
                        data.add(&value.marks);
                    }
                }
                None => data.add(&value.all_marks()),
            }
        }
        for (name, value) in parts.named {
            let to = if proofs.contains(&name.as_str()) { &mut proof } else { &mut data };
            to.add(&value.all_marks());
        }
        let target = url.as_text().unwrap_or_default().to_owned();
        self.add_with_proof(Act::Http, &target, data, proof, line);
        Value {
            path: Some("response".into()),
            ..Value::marked(self.mark(Origin::Fetched, target, line))
        }
    }

    /// What takes an encoding off.
    fn decoding(&mut self, path: &str, last: &str, parts: &Parts<'_>) -> Option<Value> {
        let line = parts.line;
        let first = parts.first().cloned().unwrap_or_default();
        let encoding = match last {
            "b64decode" | "urlsafe_b64decode" | "standard_b64decode" | "atob" | "decode64"
            | "urlsafe_decode64" | "strict_decode64" | "frombase64string" | "decodebytes"
            | "a2b_base64" => Encoding::Base64,
            "b32decode" => Encoding::Base32,
            "fromhex" | "unhexlify" | "a2b_hex" | "b16decode" => Encoding::Hex,
            "decompress" | "inflate" | "gunzipSync" | "inflateSync" | "decrypt" | "b85decode"
            | "a85decode" => Encoding::Opaque,
            "unescape" | "decodeURIComponent" | "unquote" => Encoding::Percent,
            "reversed" | "reverse"
                if first.text.is_some() || parts.receiver.is_some_and(|r| r.text.is_some()) =>
            {
                Encoding::Reversed
            }
            "from" if path == "Buffer.from" => {
                if parts.has_text(&["base64", "base64url"]) {
                    Encoding::Base64
                } else if parts.has_text(&["hex"]) {
                    Encoding::Hex
                } else if first.items.is_some() {
                    return Some(self.text_of_codes(&first));
                } else {
                    return Some(first);
                }
            }
            "decode"
                if path.contains("codecs")
                    || parts.has_text(&["rot13", "rot_13", "hex", "base64"]) =>
            {
                if parts.has_text(&["rot13", "rot_13"]) {
                    Encoding::Rot13
                } else if parts.has_text(&["hex", "hex_codec"]) {
                    Encoding::Hex
                } else if parts.has_text(&["base64", "base64_codec"]) {
                    Encoding::Base64
                } else {
                    return Some(first.or(parts.receiver.unwrap_or(&Value::default())));
                }
            }
            "fromCharCode" | "fromCodePoint" | "chr" | "bytes" | "bytearray" | "pack" => {
                if first.items.is_some() || first.number.is_some() {
                    let codes = if first.items.is_some() {
                        first
                    } else {
                        Value { items: Some(Rc::new(parts.args.to_vec())), ..Value::default() }
                    };
                    return Some(self.text_of_codes(&codes));
                }
                let receiver = parts.receiver.filter(|_| last == "pack");
                return Some(receiver.unwrap_or(&first).clone());
            }
            _ => return None,
        };
        let text = if first.text.is_some() || encoding != Encoding::Reversed {
            first
        } else {
            parts.receiver.cloned().unwrap_or_default()
        };
        // A file that a program decodes for its own use is no code.
        if encoding == Encoding::Opaque && text.text.is_none() && text.marks.is_empty() {
            return Some(text);
        }
        Some(self.decoded(&text, encoding, line))
    }

    /// A text written as character codes.
    fn text_of_codes(&mut self, codes: &Value) -> Value {
        let items = codes.items.iter().flat_map(|items| items.iter());
        let text: Option<String> = items
            .map(|item| item.number.and_then(|n| u32::try_from(n).ok()).and_then(char::from_u32))
            .collect();
        let mut value = Value::marked(codes.all_marks());
        value.text = text.filter(|text| text.len() > 2).map(|text| text.as_str().into());
        value.disguised = value.text.is_some();
        value
    }

    /// Files that are read, written and deleted.
    fn files(&mut self, path: &str, last: &str, parts: &Parts<'_>) -> Option<Value> {
        let line = parts.line;
        let first = parts.first().cloned().unwrap_or_default();
        let receiver = parts.receiver.cloned().unwrap_or_default();
        match last {
            "Path" | "PurePath" | "PosixPath" | "URL" | "URI" | "String" | "str" | "File" => {
                Some(Value::joined(parts.args, "/").or(&first))
            }
            "home" | "homedir" => Some(Value::text("~")),
            "expanduser" | "abspath" | "realpath" | "normpath" | "resolve" | "expandvars"
            | "fspath"
                if !parts.args.is_empty() =>
            {
                let text = first.as_text().map(|t| t.replace("$HOME", "~"));
                Some(Value { text: text.map(|t| t.as_str().into()), ..first })
            }
            "join"
                if path.ends_with("path.join")
                    || path == "join"
                    || path.ends_with("File.join")
                    || path == "path.posix.join" =>
            {
                Some(Value::joined(parts.args, "/"))
            }
            "joinpath" => {
                let mut all = vec![receiver];
                all.extend(parts.args.iter().cloned());
                Some(Value::joined(&all, "/"))
            }
            "open" | "createReadStream" | "createWriteStream"
                if !path.starts_with("webbrowser") && !path.contains("Image") =>
            {
                let target = if parts.args.is_empty() { &receiver } else { &first };
                let target = if target.text.is_some() { target } else { &receiver };
                let mode = parts.args.get(1).or(parts.named(&["mode"])).and_then(Value::constant);
                let mode = mode.unwrap_or(if last == "createWriteStream" { "w" } else { "r" });
                let mode_first = parts.args.first().and_then(Value::constant).unwrap_or_default();
                let writes = mode.starts_with(['w', 'a', 'x'])
                    || target.text == receiver.text
                        && matches!(mode_first, "w" | "a" | "wb" | "ab");
                if writes {
                    let mut file = Value::path("open-file");
                    file.text = target.text.clone();
                    return Some(file);
                }
                Some(self.read_path(target, line))
            }
            "read" if matches!(path, "File.read" | "IO.read") => Some(self.read_path(&first, line)),
            "read_text" | "read_bytes" | "read" | "readlines" | "readText"
                if receiver.text.is_some() && receiver.path.as_deref() != Some("open-file") =>
            {
                Some(self.read_path(&receiver, line))
            }
            "readFileSync" | "readFile" | "readTextFile" | "readTextFileSync" | "read_file"
            | "readJSONSync" | "readallbytes" | "readalltext" | "binread" | "readdirSync"
            | "listdir" | "scandir" | "glob" | "iglob" | "rglob" | "walk" | "globSync" => {
                let target = if first.text.is_some() || parts.receiver.is_none() {
                    &first
                } else {
                    &receiver
                };
                Some(self.read_path(target, line))
            }
            "load_dotenv" | "dotenv_values" => {
                Some(Value::marked(self.mark(Origin::SecretFile, ".env", line)))
            }
            "write" | "writelines" | "dump" | "print"
                if receiver.path.as_deref() == Some("open-file")
                    || parts.args.iter().any(|v| v.path.as_deref() == Some("open-file")) =>
            {
                let file = parts
                    .args
                    .iter()
                    .find(|v| v.path.as_deref() == Some("open-file"))
                    .unwrap_or(&receiver);
                let target = file.as_text().unwrap_or_default().to_owned();
                let content = Value { marks: parts.marks(), ..first };
                self.write_path(&target, &content, line);
                Some(Value::default())
            }
            "writeFileSync" | "writeFile" | "appendFileSync" | "appendFile" | "writeTextFile"
            | "outputFile" | "outputFileSync" | "writealltext" | "writeallbytes"
            | "appendalltext" => {
                let target = first.as_text().unwrap_or_default().to_owned();
                let content = parts.args.get(1).cloned().unwrap_or_default();
                self.write_path(&target, &content, line);
                Some(Value::default())
            }
            "write_text" | "write_bytes" => {
                let target = receiver.as_text().unwrap_or_default().to_owned();
                self.write_path(&target, &first, line);
                Some(Value::default())
            }
            "copyfile" | "copy" | "copy2" | "copyFileSync" | "copytree" | "move" | "rename"
            | "renameSync" | "symlink" | "cpSync"
                if parts.args.len() >= 2 =>
            {
                let read = self.read_path(&first, line);
                let target =
                    parts.args.get(1).and_then(Value::as_text).unwrap_or_default().to_owned();
                self.write_path(&target, &read, line);
                Some(Value::default())
            }
            "rmtree" | "rmSync" | "rm" | "rmdir" | "remove" | "unlink" | "unlinkSync" | "rm_rf"
            | "rimraf" | "removeSync" => {
                let target = if first.text.is_some() { &first } else { &receiver };
                let target = target.as_text().unwrap_or_default().to_owned();
                if is_precious(&target) {
                    self.add(Act::Delete, &target, Marks::default(), line);
                }
                Some(Value::default())
            }
            _ => None,
        }
    }

    /// The environment, the clipboard, the screen, facts about the machine.
    fn machine_facts(&mut self, path: &str, last: &str, parts: &Parts<'_>) -> Option<Value> {
        let line = parts.line;
        let first = parts.first().cloned().unwrap_or_default();
        let environment = ["os.environ", "process.env", "ENV", "Deno.env", "Bun.env"];
        let is_environment =
            |v: &Value| v.path.as_deref().is_some_and(|p| environment.contains(&p));
        let whole = |machine: &Self| {
            Value::marked(machine.mark(Origin::Environment, "all variables", line))
        };
        if let Some(name) = environment.iter().find_map(|e| path.strip_prefix(e)?.strip_prefix('.'))
        {
            return Some(match name {
                "get" | "fetch" | "pop" | "setdefault" => {
                    let variable = first.constant().unwrap_or_default().to_owned();
                    let fallback = parts.args.get(1).cloned().unwrap_or_default();
                    self.variable(&variable, line).or(&fallback)
                }
                "copy" if parts.args.is_empty() => Value::path("os.environ"),
                "update" | "keys" => Value::default(),
                _ => whole(self),
            });
        }
        match last {
            "getenv" | "GetEnvironmentVariable" | "getenvironmentvariable" => {
                let variable = first.constant().unwrap_or_default().to_owned();
                let fallback = parts.args.get(1).cloned().unwrap_or_default();
                Some(self.variable(&variable, line).or(&fallback))
            }
            "dict" | "entries" | "stringify" | "dumps" | "assign" | "str" | "repr" | "items"
            | "from_iter" | "list" | "sorted" | "values" | "urlencode" | "dump"
                if parts.args.iter().any(is_environment) =>
            {
                Some(whole(self).or(&Value::marked(parts.marks())))
            }
            "getenvironmentvariables" => Some(whole(self)),
            "paste" if path.contains("clip") => {
                Some(Value::marked(self.mark(Origin::Clipboard, "the clipboard", line)))
            }
            "readText" if path.contains("clipboard") => {
                Some(Value::marked(self.mark(Origin::Clipboard, "the clipboard", line)))
            }
            "copy" | "writeText" if path.contains("clip") => {
                self.add(Act::Clip, path, parts.marks(), line);
                Some(Value::default())
            }
            "grab" | "screenshot"
                if ["ImageGrab", "pyautogui", "mss"].iter().any(|p| path.contains(p)) =>
            {
                Some(Value::marked(self.mark(Origin::Screen, "the screen", line)))
            }
            "Listener" | "on_press" | "hook"
                if path.contains("keyboard") || path.contains("pynput") =>
            {
                self.add(Act::Lower, "records what is typed", Marks::default(), line);
                Some(Value::marked(self.mark(Origin::Screen, "the keyboard", line)))
            }
            "get_password" | "getPassword" | "findCredentials" if path.contains("key") => {
                let marks = self.mark(Origin::Credential, "the keyring", line);
                self.add(Act::ReadSecret, "the keyring", marks.clone(), line);
                Some(Value::marked(marks))
            }
            "getItem" if path.contains("localStorage") || path.contains("sessionStorage") => {
                Some(Value::marked(self.mark(Origin::Page, "storage", line)))
            }
            "gethostname" | "getuser" | "getlogin" | "hostname" | "userInfo" | "node" | "uname"
            | "networkInterfaces"
                if ["socket", "getpass", "os", "platform"].iter().any(|p| path.starts_with(p)) =>
            {
                Some(Value::marked(self.mark(Origin::HostFacts, last, line)))
            }
            "sleep" | "setTimeout" => {
                self.add(Act::Program, "sleep", Marks::default(), line);
                Some(Value::default())
            }
            "print" | "log" | "write" | "puts"
                if matches!(path, "print" | "console.log" | "puts") || path.contains("stdout") =>
            {
                let marks = parts.marks();
                if let Some(printed) = self.printed.get_mut(self.file) {
                    printed.add(&marks);
                }
                Some(Value::default())
            }
            _ => None,
        }
    }

    /// What is done to texts and lists, and everything that is not known.
    fn texts(&mut self, last: &str, parts: &Parts<'_>) -> Value {
        let first = parts.first().cloned().unwrap_or_default();
        let receiver = parts.receiver.cloned().unwrap_or_default();
        let mut value = match last {
            "join" => {
                let (list, between) = if receiver.items.is_some() {
                    (receiver.items.clone(), first.constant().unwrap_or_default().to_owned())
                } else {
                    (first.items, receiver.constant().unwrap_or_default().to_owned())
                };
                match list {
                    Some(list) => {
                        let mut value = Value::joined(&list, &between);
                        // Short pieces put together are a disguise; a list of words is none.
                        let short = |v: &Value| {
                            v.as_text().is_some_and(|t| t.len() <= 6 && !t.contains('/'))
                        };
                        value.disguised |=
                            between.is_empty() && list.len() >= 3 && list.iter().all(short);
                        value
                    }
                    None => Value::default(),
                }
            }
            "replace" | "replaceAll" | "gsub" if parts.args.len() >= 2 => {
                let text = receiver.constant().zip(parts.args.first().and_then(Value::constant));
                let with = parts.args.get(1).and_then(Value::constant);
                let text = text.zip(with).filter(|((_, from), _)| !from.is_empty());
                let text = text.map(|((text, from), with)| text.replace(from, with));
                Value { text: text.map(|t| t.as_str().into()), ..Value::default() }
            }
            "format" => receiver.clone(),
            "first-of" => {
                let known = parts.args.iter().find(|v| v.text.is_some());
                known.cloned().unwrap_or_default()
            }
            "concat" | "append" | "push" if receiver.text.is_some() => {
                let mut all = vec![receiver.clone()];
                all.extend(parts.args.iter().cloned());
                Value::joined(&all, "")
            }
            _ if is_passive(last) && receiver.text.is_some() => receiver.clone(),
            "map" | "filter" | "split" | "slice" | "flat" | "reverse" => {
                Value { items: receiver.items.clone(), ..Value::default() }
            }
            "encodeURIComponent" | "quote" | "bytes" | "str" | "String" | "encode"
            | "b64encode" | "hexlify" | "btoa" => Value {
                text: first.text.filter(|_| last != "btoa" && last != "b64encode"),
                ..Value::default()
            },
            _ => Value::default(),
        };
        let path = match last {
            // What makes an object of a library keeps its name.
            _ if last.chars().next().is_some_and(char::is_uppercase)
                || matches!(last, "socket" | "session" | "client" | "create" | "request") =>
            {
                receiver.path.as_deref().map_or(last.to_owned(), |p| format!("{p}.{last}"))
            }
            _ => String::new(),
        };
        if !path.is_empty() {
            value.path = Some(path.into());
        }
        value.marks.add(&parts.marks());
        value
    }
}

/// `("host", 443)`, `{host: …, port: …}` or a text.
fn address_of(value: &Value) -> String {
    let host = value.items.as_ref().and_then(|items| items.first()).or(value.field("host"));
    host.unwrap_or(value).as_text().unwrap_or_default().to_owned()
}
