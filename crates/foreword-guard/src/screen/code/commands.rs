//! What commands of a shell do, by their name and words. Also for programs that other languages start.

use super::effect::Act;
use super::language::Language;
use super::machine::Machine;
use super::places::{is_agent_file, is_precious, starts_on_its_own};
use super::text::Encoding;
use super::value::{HOLE, Marks, Origin, Value};

/// Programs that run the rest of their words.
const RUNNERS: [&str; 16] = [
    "sudo",
    "doas",
    "env",
    "nohup",
    "time",
    "timeout",
    "nice",
    "ionice",
    "command",
    "builtin",
    "exec",
    "stdbuf",
    "setsid",
    "busybox",
    "caffeinate",
    "start-process",
];

/// Programs that pass on what they read.
const FILTERS: [&str; 36] = [
    "cat",
    "head",
    "tail",
    "less",
    "more",
    "tac",
    "sort",
    "uniq",
    "cut",
    "sed",
    "awk",
    "grep",
    "egrep",
    "jq",
    "yq",
    "strings",
    "rev",
    "fold",
    "paste",
    "column",
    "nl",
    "od",
    "bat",
    "zip",
    "tar",
    "gzip",
    "xz",
    "bzip2",
    "zstd",
    "7z",
    "get-content",
    "gc",
    "type",
    "out-string",
    "convertto-json",
    "select-string",
];

impl Machine<'_> {
    /// Runs a command; its value is what it prints.
    pub(super) fn run_words(&mut self, words: &[Value], stdin: Option<&Value>, line: u32) -> Value {
        let Some(first) = words.first() else { return Value::default() };
        let rest = words.get(1..).unwrap_or_default();
        let Some(name) = first.as_text() else {
            self.run_code(Language::Shell, first, line);
            return Value::marked(all_marks(rest, stdin));
        };
        let whole = name.to_owned();
        let name = whole.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
        let name = name.strip_suffix(".exe").unwrap_or(&name);
        if first.disguised {
            self.add(Act::Disguise, &whole, first.marks.clone(), line);
        }
        if RUNNERS.contains(&name) {
            return self.run_rest(name, rest, stdin, line);
        }
        let mut flow = all_marks(rest, stdin);
        if whole.contains('/')
            && let Some(staged) = self.staged.get(whole.trim_start_matches("./")).cloned()
            && staged.marks.has(&Origin::Fetched)
        {
            self.add(Act::Evaluate, &whole, staged.marks, line);
        }
        match name {
            "curl" | "wget" | "http" | "https" | "xh" | "aria2c" | "invoke-webrequest" | "iwr"
            | "invoke-restmethod" | "irm" | "start-bitstransfer" => {
                return self.transfer(name, rest, stdin, line);
            }
            "bash" | "sh" | "zsh" | "dash" | "ksh" | "fish" | "python" | "python3" | "node"
            | "perl" | "ruby" | "php" | "osascript" | "pwsh" | "powershell" | "bun" | "deno"
            | "source" | "." | "cmd" | "tsx" | "uv" | "lua" => {
                return self.interpreter(name, rest, stdin, line);
            }
            "eval" | "iex" | "invoke-expression" => {
                let mut code = Value::joined(rest, " ");
                if let Some(stdin) = stdin {
                    code = if rest.is_empty() { stdin.clone() } else { code.or(stdin) };
                }
                let language = if name == "eval" { Language::Shell } else { Language::PowerShell };
                let text = code.as_text().unwrap_or_default().to_owned();
                if language == Language::PowerShell
                    && text.to_ascii_lowercase().contains("downloadstring")
                {
                    let mark = self.mark(Origin::Fetched, text, line);
                    code.marks.add(&mark);
                }
                return self.run_code(language, &code, line);
            }
            "echo" | "printf" | "write-output" | "print" => {
                let rest: Vec<Value> = rest
                    .iter()
                    .filter(|w| {
                        !matches!(w.as_text(), Some("-n" | "-e" | "-en" | "-ne" | "%s" | "%s\\n"))
                    })
                    .cloned()
                    .collect();
                return Value::joined(&rest, " ");
            }
            "xargs" | "parallel" => {
                let mut words: Vec<Value> = rest.to_vec();
                words.extend(stdin.cloned());
                let skip = words
                    .iter()
                    .position(|w| !w.as_text().is_some_and(|t| t.starts_with('-') || t == "{}"));
                let words = words.get(skip.unwrap_or(0)..).unwrap_or_default().to_vec();
                return self.run_words(&words, stdin, line);
            }
            "base64" | "base32" | "xxd" | "openssl" | "gunzip" | "zcat" | "tr" | "rev"
            | "uudecode" => {
                return self.transcode(name, rest, stdin, line);
            }
            "env" | "printenv" | "set" | "get-childitem" | "export" | "declare"
                if (name != "get-childitem" || !rest.is_empty())
                    && rest.iter().all(|w| {
                        w.as_text()
                            .is_some_and(|t| t.starts_with('-') || t.eq_ignore_ascii_case("env:"))
                    }) =>
            {
                return Value::marked(self.mark(Origin::Environment, "all variables", line));
            }
            "printenv" => {
                if let Some(variable) = rest.first().and_then(Value::constant) {
                    let variable = variable.to_owned();
                    return self.variable(&variable, line);
                }
            }
            "rm" | "rmdir" | "shred" | "unlink" | "del" | "rd" | "remove-item" | "srm" | "wipe" => {
                self.delete(rest, line);
            }
            "find" => return self.find(rest, line),
            "tee" => {
                for path in operands(rest) {
                    self.redirect(path, stdin.unwrap_or(&Value::default()), None, &[], line);
                }
            }
            "cp" | "mv" | "ln" | "install" | "copy-item" | "move-item" | "rsync" => {
                self.copy(name, rest, line);
            }
            "scp" | "sftp" | "ftp" | "rclone" | "s3cmd" | "gsutil" | "azcopy" | "croc" | "tftp" => {
                self.copy(name, rest, line);
            }
            "nc" | "ncat" | "netcat" | "telnet" | "socat" => self.connect(name, rest, stdin, line),
            "ssh" => {
                let target = operands(rest).next().and_then(Value::as_text).unwrap_or_default();
                let target = target.to_owned();
                self.add(Act::Copy, &target, flow.clone(), line);
            }
            "dig" | "nslookup" | "host" | "resolve-dnsname" | "ping" => {
                let target = Value::joined(rest, " ");
                self.add(Act::Lookup, target.as_text().unwrap_or_default(), flow.clone(), line);
            }
            "mail" | "mailx" | "sendmail" | "mutt" | "msmtp" | "swaks" | "send-mailmessage" => {
                let target = Value::joined(rest, " ");
                self.add(Act::Mail, target.as_text().unwrap_or_default(), flow.clone(), line);
            }
            "crontab" if !rest.iter().any(|w| matches!(w.as_text(), Some("-l" | "-r"))) => {
                let text = stdin.and_then(Value::as_text).unwrap_or("crontab").to_owned();
                self.add(Act::Persist, &text, flow.clone(), line);
            }
            "launchctl"
            | "systemctl"
            | "schtasks"
            | "at"
            | "sc"
            | "update-rc.d"
            | "chkconfig"
            | "register-scheduledtask"
            | "new-service" => {
                let text = Value::joined(rest, " ");
                let text = text.as_text().unwrap_or_default().to_ascii_lowercase();
                let starts = ["load", "enable", "bootstrap", "/create", "create", "submit"];
                if name == "at" || starts.iter().any(|s| text.contains(s)) || name.contains('-') {
                    self.add(Act::Persist, &format!("{name} {text}"), flow.clone(), line);
                }
            }
            "reg" | "set-itemproperty" | "new-itemproperty" => {
                let text = Value::joined(rest, " ");
                if text
                    .as_text()
                    .is_some_and(|t| t.to_ascii_lowercase().contains("currentversion\\run"))
                {
                    self.add(Act::Persist, "Run key of the registry", flow.clone(), line);
                }
            }
            "security" | "gpg" | "pass" | "secret-tool" | "op" | "bw" | "gh" | "gcloud" | "aws"
            | "kubectl" | "az" | "vault" | "cmdkey" | "ssh-add" => {
                if let Some(what) = credential(name, rest) {
                    flow.add(&self.mark(Origin::Credential, what, line));
                    self.add(Act::ReadSecret, what, flow.clone(), line);
                    return Value::marked(flow);
                }
            }
            "pbpaste" | "get-clipboard" | "wl-paste" => {
                flow.add(&self.mark(Origin::Clipboard, "the clipboard", line));
            }
            "xclip" | "xsel" if has(rest, &["-o", "--output"]) => {
                flow.add(&self.mark(Origin::Clipboard, "the clipboard", line));
            }
            "pbcopy" | "xclip" | "xsel" | "clip" | "wl-copy" | "set-clipboard" => {
                self.add(Act::Clip, name, flow.clone(), line);
            }
            "screencapture" | "scrot" | "gnome-screenshot" | "import" if !rest.is_empty() => {
                flow.add(&self.mark(Origin::Screen, "the screen", line));
            }
            "script" if has(rest, &["-q"]) => {
                self.add(Act::Lower, "records what is typed", flow.clone(), line);
            }
            "whoami" | "hostname" | "uname" | "id" | "ifconfig" | "systeminfo" | "sw_vers"
            | "system_profiler" => {
                flow.add(&self.mark(Origin::HostFacts, name, line));
            }
            "sleep" | "start-sleep" => self.add(Act::Program, "sleep", Marks::default(), line),
            "git" => self.git(rest, line),
            "npm" | "pnpm" | "yarn" | "pip" | "pip3" | "pipx" | "gem" | "cargo" | "brew"
            | "apt" | "apt-get" | "npx" | "uvx" | "go" | "choco" | "winget" | "dnf" | "yum" => {
                self.install(name, rest, line);
            }
            "chmod" | "chattr" | "chflags" | "attrib" | "icacls" | "setfacl" => {
                let text = Value::joined(rest, " ");
                let text = text.as_text().unwrap_or_default();
                let wide = text.contains("777")
                    && operands(rest).any(|w| w.as_text().is_some_and(is_precious_or_system));
                if wide || operands(rest).any(|w| w.as_text().is_some_and(is_agent_file)) {
                    self.add(Act::Lower, &format!("{name} {text}"), Marks::default(), line);
                }
            }
            "setenforce" | "csrutil" | "spctl" | "ufw" | "iptables" | "history" | "unset"
            | "set-mppreference" | "add-mppreference" | "netsh" | "xattr" | "tccutil"
            | "auditctl" => {
                self.lower_defences(name, rest, line);
            }
            "dd" | "mkfs" | "mkfs.ext4" | "format" | "diskutil" | "fdisk" | "wipefs" => {
                let text = Value::joined(rest, " ");
                let text = text.as_text().unwrap_or_default().to_owned();
                if text.contains("of=/dev/") && !text.contains("of=/dev/null")
                    || name.starts_with("mkfs")
                    || text.contains("eraseDisk")
                {
                    self.add(Act::Delete, &format!("{name} {text}"), Marks::default(), line);
                }
            }
            "set-content" | "add-content" | "out-file" | "sed"
                if name != "sed" || has(rest, &["-i"]) =>
            {
                if let Some(path) =
                    operands(rest).last().filter(|_| name == "sed").or(operands(rest).next())
                {
                    let content = stdin.cloned().unwrap_or_else(|| Value::joined(rest, " "));
                    self.redirect(path, &content, None, &[], line);
                }
            }
            _ => {}
        }
        self.add(Act::Program, name, Marks::default(), line);
        if FILTERS.contains(&name) {
            for path in operands(rest).filter(|w| looks_like_path(w)) {
                let read = self.read_path(path, line);
                flow.add(&read.marks);
            }
            let text = stdin
                .filter(|_| matches!(name, "cat" | "head" | "tail"))
                .and_then(|v| v.text.clone());
            let disguised = stdin.is_some_and(|v| v.disguised);
            return Value { marks: flow, text, disguised, ..Value::default() };
        }
        // A script of the folder prints what it prints.
        if let Some(file) = self.program_at(&whole)
            && let Some(printed) = self.printed.get(file)
        {
            flow.add(printed);
        }
        Value::marked(flow)
    }

    fn run_rest(&mut self, name: &str, rest: &[Value], stdin: Option<&Value>, line: u32) -> Value {
        let is_option = |w: &Value| {
            w.as_text().is_some_and(|t| {
                t.starts_with('-')
                    || t.contains('=') && name == "env"
                    || name == "timeout" && t.chars().next().is_some_and(|c| c.is_ascii_digit())
            })
        };
        let Some(at) = rest.iter().position(|w| !is_option(w)) else {
            if name == "env" {
                return Value::marked(self.mark(Origin::Environment, "all variables", line));
            }
            return Value::default();
        };
        self.add(Act::Program, name, Marks::default(), line);
        self.run_words(rest.get(at..).unwrap_or_default(), stdin, line)
    }

    /// `curl` and its like: requests, uploads and downloads.
    fn transfer(&mut self, name: &str, rest: &[Value], stdin: Option<&Value>, line: u32) -> Value {
        let (mut data, mut proof) = (Marks::default(), Marks::default());
        let mut urls: Vec<&Value> = Vec::new();
        let mut out: Option<Value> = None;
        let mut sends = false;
        let mut words = rest.iter().peekable();
        while let Some(word) = words.next() {
            let text = word.as_text().unwrap_or_default();
            let flag = text.split('=').next().unwrap_or_default().to_ascii_lowercase();
            let bundled = |c: char| {
                name == "curl"
                    && text.starts_with('-')
                    && !text.starts_with("--")
                    && text.ends_with(c)
            };
            match flag.as_str() {
                "-d" | "--data" | "--data-binary" | "--data-raw" | "--data-urlencode" | "-f"
                | "--form" | "--upload-file" | "--json" | "--post-data" | "--post-file"
                | "--body-file" | "--form-string" | "-body" | "-infile" | "--data-ascii" => {
                    // `-f` is `--fail`, `-F` is `--form`.
                    if text == "-f" && name == "curl" {
                        continue;
                    }
                    sends = true;
                    let inline = text.split_once('=').filter(|_| text.starts_with("--"));
                    let value = match inline {
                        Some((_, value)) => Value { text: Some(value.into()), ..word.clone() },
                        None => words.next().cloned().unwrap_or_default(),
                    };
                    data.add(&value.all_marks());
                    let content = value.as_text().unwrap_or_default();
                    let reads = flag.contains("file") || flag == "-infile";
                    let path =
                        content.rsplit_once('@').map(|(_, path)| path).or(reads.then_some(content));
                    match path {
                        Some("-") => data.add(&stdin.map(Value::all_marks).unwrap_or_default()),
                        Some(path) if !path.is_empty() && flag != "--data-raw" => {
                            let path = Value {
                                text: Some(path.split(';').next().unwrap_or(path).into()),
                                ..value.clone()
                            };
                            data.add(&self.read_path(&path, line).marks);
                        }
                        _ => {}
                    }
                }
                "-t" if text == "-T" => {
                    sends = true;
                    if let Some(path) = words.next() {
                        data.add(&self.read_path(path, line).marks);
                        if path.as_text() == Some("-") {
                            data.add(&stdin.map(Value::all_marks).unwrap_or_default());
                        }
                    }
                }
                "-h" | "--header" | "-u" | "--user" | "-headers" | "-b" | "--cookie"
                | "--oauth2-bearer" => {
                    proof.add(&words.next().map(Value::all_marks).unwrap_or_default());
                }
                "-x" | "--request" | "-method" | "-a" | "--user-agent" | "-m" | "--max-time"
                | "--connect-timeout" | "-w" | "--write-out" | "--retry" | "-usebasicparsing" => {
                    if flag != "-usebasicparsing" {
                        words.next();
                    }
                }
                "-o" | "--output" | "--output-document" | "-outfile" | "-destination" => {
                    if text == "-O" && name == "curl" {
                        out = Some(Value::default());
                    } else {
                        out = words.next().cloned();
                    }
                }
                "-uri" | "-source" => {}
                _ if bundled('O') => out = Some(Value::default()),
                _ if bundled('o') => out = words.next().cloned(),
                _ if bundled('d') => {
                    sends = true;
                    data.add(&words.next().map(Value::all_marks).unwrap_or_default());
                }
                _ if text.starts_with('-') => {}
                _ => urls.push(word),
            }
        }
        let url =
            urls.iter().find(|w| w.as_text().is_some_and(|t| t.contains("://"))).or(urls.first());
        let target = url.and_then(|w| w.as_text()).unwrap_or_default().to_owned();
        for url in &urls {
            data.add(&url.all_marks());
        }
        if let Some(stdin) = stdin.filter(|_| sends) {
            // Only what names the input reads it, but a hole may be that name.
            if data.is_empty() {
                data.add(&stdin.all_marks());
            }
        }
        self.add_with_proof(Act::Http, &target, data, proof, line);
        let fetched = Value::marked(self.mark(Origin::Fetched, target.clone(), line));
        let to_file = out.or_else(|| (name == "wget" || name == "aria2c").then(Value::default));
        match to_file {
            Some(path) if path.as_text() != Some("-") => {
                let last = target.rsplit('/').next().unwrap_or_default().to_owned();
                let path = path.as_text().map_or(last, str::to_owned);
                self.add(Act::Write, &path, fetched.marks.clone(), line);
                self.stage(&path, &fetched);
                Value::default()
            }
            _ => fetched,
        }
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

    /// An interpreter with a script, with code in a word, or with code on its input.
    fn interpreter(
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
            if takes_code {
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
            if text.starts_with("-enc") || text == "-e" || text == "-ec" {
                let code = words.next().cloned().unwrap_or_default();
                let code = self.decoded(&code, Encoding::Base64, line);
                return self.run_code(Language::PowerShell, &code, line);
            }
            if text.starts_with('-') && text.len() > 1 || matches!(text.as_str(), "run" | "-") {
                continue;
            }
            // A script: fetched before, put together here, or one of the folder.
            let path = word.as_text().unwrap_or_default().trim_start_matches("./").to_owned();
            let mut marks = word.all_marks();
            if let Some(staged) = self.staged.get(&path) {
                marks.add(&staged.marks.clone());
            }
            if marks.has(&Origin::Fetched) || marks.has(&Origin::Decoded) {
                self.add(Act::Evaluate, &path, marks, line);
            }
            self.add(Act::Program, &format!("{name} {path}"), Marks::default(), line);
            let printed = self.program_at(&path).and_then(|file| self.printed.get(file)).cloned();
            return Value::marked(printed.unwrap_or_default());
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
    fn transcode(&mut self, name: &str, rest: &[Value], stdin: Option<&Value>, line: u32) -> Value {
        let mut input = stdin.cloned().unwrap_or_default();
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
    pub(super) fn decoded(&mut self, value: &Value, encoding: Encoding, line: u32) -> Value {
        let mut out = Value::marked(value.all_marks());
        let plain = value.constant().and_then(|text| super::text::decode(text, encoding));
        match plain {
            Some(text) => {
                out.text = Value::text(&text).text;
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

    fn delete(&mut self, rest: &[Value], line: u32) {
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

    fn find(&mut self, rest: &[Value], line: u32) -> Value {
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

    fn copy(&mut self, name: &str, rest: &[Value], line: u32) {
        let list: Vec<&Value> = operands(rest).collect();
        let Some((target, sources)) = list.split_last() else { return };
        let mut read = Value::default();
        for source in sources {
            let one = self.read_path(source, line);
            read = read.or(&one);
        }
        let target_text = target.as_text().unwrap_or_default().to_owned();
        let remote = |text: &str| {
            text.contains("://")
                || text
                    .split_once(':')
                    .is_some_and(|(host, _)| host.contains('@') || host.contains('.'))
        };
        if remote(&target_text)
            || !matches!(name, "cp" | "mv" | "ln" | "install" | "rsync" | "copy-item" | "move-item")
        {
            let any =
                list.iter().find_map(|w| w.as_text().filter(|t| remote(t))).unwrap_or(&target_text);
            let any = any.to_owned();
            self.add(Act::Copy, &any, read.marks, line);
        } else {
            self.redirect(target, &read, None, &[], line);
        }
    }

    fn connect(&mut self, name: &str, rest: &[Value], stdin: Option<&Value>, line: u32) {
        let text = Value::joined(rest, " ");
        let text = text.as_text().unwrap_or_default().to_owned();
        let shell = ["-e", "-c", "--exec", "--sh-exec", "EXEC:", "exec:", "SYSTEM:"];
        let runs =
            shell.iter().any(|s| text.contains(s)) && (text.contains("sh") || text.contains("cmd"));
        if runs {
            self.add(Act::RemoteShell, &format!("{name} {text}"), Marks::default(), line);
        } else if text.contains("-l") {
            self.add(Act::Listen, &text, Marks::default(), line);
        } else {
            self.add(Act::Connect, &text, all_marks(rest, stdin), line);
        }
    }

    fn git(&mut self, rest: &[Value], line: u32) {
        let text = Value::joined(rest, " ");
        let text = text.as_text().unwrap_or_default().to_owned();
        let url = rest
            .iter()
            .filter_map(Value::as_text)
            .find(|t| t.contains("://") || t.starts_with("git@"));
        let adds = text.starts_with("remote add") || text.starts_with("remote set-url");
        if adds && let Some(url) = url {
            let marks = self.mark(Origin::Files, "the repository", line);
            self.add(Act::Copy, &format!("git remote {url}"), marks, line);
        } else if text.starts_with("push")
            && (url.is_some()
                || text.contains("--force")
                || text.contains(" -f")
                || text.contains("--mirror")
                || text.contains("--all"))
        {
            let marks = self.mark(Origin::Files, "the repository", line);
            self.add(Act::Copy, &format!("git {text}"), marks, line);
        } else if text.starts_with("config")
            && [
                "core.hooksPath",
                "core.hookspath",
                "core.sshCommand",
                "core.fsmonitor",
                "credential.helper",
                "core.pager",
            ]
            .iter()
            .any(|k| text.contains(k))
        {
            self.add(Act::Persist, &format!("git {text}"), Marks::default(), line);
        } else if text.starts_with("clone")
            && let Some(url) = url
        {
            let url = url.to_owned();
            self.add(Act::Install, &format!("git clone {url}"), Marks::default(), line);
        }
    }

    fn install(&mut self, name: &str, rest: &[Value], line: u32) {
        let text = Value::joined(rest, " ");
        let text = text.as_text().unwrap_or_default().to_owned();
        let installs = matches!(name, "npx" | "uvx")
            || ["install", " i ", "add", "get"].iter().any(|w| format!(" {text} ").contains(w));
        if installs {
            self.add(Act::Install, &format!("{name} {text}"), Marks::default(), line);
        } else {
            self.add(Act::Program, &format!("{name} {text}"), Marks::default(), line);
        }
    }

    fn lower_defences(&mut self, name: &str, rest: &[Value], line: u32) {
        let text = Value::joined(rest, " ");
        let text = text.as_text().unwrap_or_default().to_owned();
        let off = match name {
            "history" => text.contains("-c"),
            "unset" => text.contains("HISTFILE"),
            "ufw" | "csrutil" | "spctl" => text.contains("disable"),
            "setenforce" => text.contains('0'),
            "iptables" => text.contains("-F"),
            "xattr" => text.contains("quarantine") || text.contains("-c"),
            "netsh" => text.contains("off"),
            "tccutil" => text.contains("reset"),
            _ => true,
        };
        if off {
            self.add(Act::Lower, &format!("{name} {text}"), Marks::default(), line);
        }
    }

    /// The output of a command goes to a file.
    pub(super) fn redirect(
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
    pub(super) fn write_path(&mut self, path: &str, content: &Value, line: u32) {
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

fn is_precious_or_system(path: &str) -> bool {
    is_precious(path) || path.starts_with("/etc") || path.starts_with("/usr")
}

fn all_marks(words: &[Value], stdin: Option<&Value>) -> Marks {
    let mut marks = stdin.map(Value::all_marks).unwrap_or_default();
    for word in words {
        marks.add(&word.all_marks());
    }
    marks
}

/// The words that are no options.
fn operands(words: &[Value]) -> impl DoubleEndedIterator<Item = &Value> {
    words.iter().filter(|w| !w.as_text().is_some_and(|t| t.starts_with('-') && t.len() > 1))
}

fn has(words: &[Value], options: &[&str]) -> bool {
    words.iter().any(|w| w.as_text().is_some_and(|t| options.contains(&t)))
}

fn looks_like_path(word: &Value) -> bool {
    word.as_text().is_some_and(|t| t.contains(['/', '.', '~']) && !t.contains(' '))
        || word.text.is_none()
}

/// What a program that manages credentials is asked for.
fn credential(name: &str, rest: &[Value]) -> Option<&'static str> {
    let text = Value::joined(rest, " ");
    let text = text.as_text().unwrap_or_default();
    let asks = |parts: &[&str]| parts.iter().any(|part| text.contains(part));
    match name {
        "security" => asks(&["find-generic-password", "find-internet-password", "dump-keychain"])
            .then_some("the keychain"),
        "gpg" => asks(&["--export-secret"]).then_some("GnuPG keys"),
        "pass" => asks(&["show"]).then_some("the password store"),
        "secret-tool" => asks(&["lookup"]).then_some("the keyring"),
        "op" | "bw" => asks(&["read", "get", "list"]).then_some("the password manager"),
        "gh" => asks(&["auth token"]).then_some("the GitHub token"),
        "gcloud" => asks(&["print-access-token", "print-identity-token"])
            .then_some("the Google Cloud token"),
        "aws" => asks(&["configure get", "get-session-token", "export-credentials"])
            .then_some("AWS credentials"),
        "kubectl" => asks(&["get secret", "get secrets"]).then_some("Kubernetes secrets"),
        "az" => asks(&["get-access-token"]).then_some("the Azure token"),
        "vault" => asks(&["read", "kv get", "print token"]).then_some("secrets of Vault"),
        _ => None,
    }
}
