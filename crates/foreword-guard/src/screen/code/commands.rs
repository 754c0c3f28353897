//! What commands of a shell do, by their name and words. Also for programs that other languages start.

mod administration;
mod files;
mod interpreter;
mod launch;
mod tools;
mod transfer;

use std::borrow::Cow;

use super::calls::formats::filled;
use super::effect::Act;
use super::language::Language;
use super::machine::Machine;
use super::places::{is_agent_file, is_precious};
use super::settings::at_path;
use super::text::unescape;
use super::value::{Marks, Origin, Value};
use tools::credential;

/// Programs that run the rest of their words.
const RUNNERS: [&str; 15] = [
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
];

/// Programs that pass on what they read.
const FILTERS: [&str; 43] = [
    "get-childitem",
    "gci",
    "ls",
    "sqlite3",
    "import-csv",
    "hexdump",
    "iconv",
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
        let whole = name;
        let name = whole.rsplit(['/', '\\']).next().unwrap_or_default();
        let name = match name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            true => Cow::Owned(name.to_ascii_lowercase()),
            false => Cow::Borrowed(name),
        };
        let name = name.strip_suffix(".exe").unwrap_or(&name);
        if first.disguised {
            self.add(Act::Disguise, whole, first.marks.clone(), line);
        }
        if matches!(name, "start-process" | "start" | "saps") {
            return self.start_process(rest, stdin, line);
        }
        if RUNNERS.contains(&name) {
            return self.run_rest(name, rest, stdin, line);
        }
        let mut flow = all_marks(rest, stdin);
        let is_pool = |t: &str| t.starts_with("stratum+") || t.starts_with("--donate-level");
        if name == "xmrig" || rest.iter().filter_map(Value::as_text).any(is_pool) {
            self.add(Act::Mine, name, Marks::default(), line);
        }
        if whole.contains('/')
            && let Some(staged) = self.staged_at(whole)
            && staged.has(&Origin::Fetched)
        {
            self.add(Act::Evaluate, whole, staged, line);
        }
        if let Some(value) = self.small_tool(name, rest, stdin, line) {
            return value;
        }
        let administers = self.administer(name, rest, line);
        match name {
            _ if administers => {}
            "curl" | "wget" | "http" | "https" | "xh" | "aria2c" | "invoke-webrequest" | "iwr"
            | "invoke-restmethod" | "irm" | "start-bitstransfer" => {
                return self.transfer(name, rest, stdin, line);
            }
            "bash" | "sh" | "zsh" | "dash" | "ksh" | "fish" | "python" | "python3" | "node"
            | "perl" | "ruby" | "php" | "osascript" | "pwsh" | "powershell" | "bun" | "deno"
            | "source" | "." | "cmd" | "tsx" | "uv" | "lua" | "wscript" | "cscript" | "mshta"
            | "java" | "mono" | "rundll32" | "regsvr32" | "msiexec" => {
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
            "printf" if has(rest, &["-v"]) => {
                let mut words = rest.iter().skip_while(|w| w.as_text() != Some("-v")).skip(1);
                let name = words.next().and_then(Value::constant).unwrap_or_default().to_owned();
                let words: Vec<Value> = words.cloned().collect();
                if let Some((template, args)) = words.split_first() {
                    let value = filled(template, args, &[]);
                    self.set_variable(&name, value);
                }
                return Value::default();
            }
            "echo" | "printf" | "write-output" | "print" => {
                let rest: Vec<Value> = rest
                    .iter()
                    .filter(|w| {
                        !matches!(w.as_text(), Some("-n" | "-e" | "-en" | "-ne" | "%s" | "%s\\n"))
                    })
                    .cloned()
                    .collect();
                let mut value = Value::joined(&rest, " ");
                if name == "printf" {
                    value.text = value.text.map(|text| unescape(&text).as_str().into());
                }
                return value;
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
                if rest.iter().all(|w| {
                    w.as_text()
                        .is_some_and(|t| t.starts_with('-') || t.eq_ignore_ascii_case("env:"))
                }) && (name != "get-childitem" || !rest.is_empty()) =>
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
                let found = Value::marked(flow.clone());
                self.note_deletion(&found, line);
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
            "nc" | "ncat" | "netcat" | "telnet" | "socat" => {
                self.connect(name, rest, stdin, line);
                let target = Value::joined(rest, " ").as_text().unwrap_or_default().to_owned();
                flow.add(&self.mark(Origin::Fetched, target, line));
            }
            "certutil" if has(rest, &["-decode", "/decode", "-decodehex"]) => {
                let mut paths = operands(rest).filter(|w| w.as_text() != Some("/decode"));
                let from = paths.next().map(|from| self.read_path(from, line)).unwrap_or_default();
                let to = paths.next().and_then(Value::as_text).unwrap_or_default().to_owned();
                let mut content = Value::marked(from.marks);
                content.marks.add(&self.mark(Origin::Decoded, "encoded data", line));
                self.write_path(&to, &content, line);
                return Value::default();
            }
            "certutil" | "bitsadmin" if operands(rest).any(has_address) => {
                let url = operands(rest).find(|w| has_address(w)).and_then(Value::as_text);
                let url = url.unwrap_or_default().to_owned();
                self.add(Act::Http, &url, Marks::default(), line);
                let fetched = Value::marked(self.mark(Origin::Fetched, url, line));
                let to = operands(rest).last().and_then(Value::as_text).unwrap_or_default();
                self.write_path(to, &fetched, line);
                return Value::default();
            }
            "pg_dump" | "pg_dumpall" | "mysqldump" | "mongodump" | "mongoexport" => {
                flow.add(&self.mark(Origin::Files, "a database", line));
            }
            "claude" | "codex" | "gemini" if has(rest, &["mcp"]) && has(rest, &["add"]) => {
                self.add(Act::Write, ".mcp.json", Marks::default(), line);
            }
            "netsh" if has(rest, &["key=clear"]) => {
                let marks = self.mark(Origin::Credential, "passwords of wireless networks", line);
                self.add(Act::ReadSecret, "passwords of wireless networks", marks.clone(), line);
                return Value::marked(marks);
            }
            "ssh" => {
                let target = operands(rest).next().and_then(Value::as_text).unwrap_or_default();
                let target = target.to_owned();
                self.tunnel(name, rest, line);
                self.add(Act::Copy, &target, flow.clone(), line);
            }
            "wc" | "test" | "[" | "[[" | "ls" | "stat" | "du" | "df"
                if name != "ls" || rest.is_empty() =>
            {
                return Value::default();
            }
            "dig" | "nslookup" | "host" | "resolve-dnsname" | "ping" => {
                let target = Value::joined(rest, " ");
                let target = target.as_text().unwrap_or_default().to_owned();
                self.add(Act::Lookup, &target, flow.clone(), line);
                flow.add(&self.mark(Origin::Fetched, target, line));
            }
            "mail" | "mailx" | "sendmail" | "mutt" | "msmtp" | "swaks" | "send-mailmessage" => {
                let target = Value::joined(rest, " ");
                self.add(Act::Mail, target.as_text().unwrap_or_default(), flow.clone(), line);
            }
            "ngrok" | "cloudflared" | "lt" | "localtunnel" | "bore" | "frpc" | "chisel"
            | "tailscale" | "autossh" | "systemsetup" => self.tunnel(name, rest, line),
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
                let text = text.as_text().unwrap_or_default();
                flow.add(&self.staged_in(text));
                let text = text.to_ascii_lowercase();
                let starts = ["load", "enable", "bootstrap", "/create", "create", "submit"];
                // What a unit does that is enabled is found where it is written.
                let starts = name != "systemctl" && text.split(' ').any(|w| starts.contains(&w));
                if name == "at"
                    && let Some(code) = stdin.filter(|code| code.text.is_some())
                {
                    self.run_code(Language::Shell, code, line);
                } else if name == "at" || starts || name.contains('-') {
                    self.add(Act::Persist, &format!("{name} {text}"), flow.clone(), line);
                }
            }
            "reg" | "set-itemproperty" | "new-itemproperty" => {
                let text = Value::joined(rest, " ");
                let text = text.as_text().unwrap_or_default().to_owned();
                if text.to_ascii_lowercase().contains("currentversion\\run") {
                    flow.add(&self.staged_in(&text));
                    let target = format!("Run key of the registry ({text})");
                    self.add(Act::Persist, &target, flow.clone(), line);
                }
            }
            "security" if has(rest, &["add-trusted-cert"]) => {
                self.add(Act::Lower, "security add-trusted-cert", Marks::default(), line);
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
                let mut text = Value::joined(rest, " ").all_texts();
                for value in stdin.into_iter().flat_map(Value::alternatives) {
                    text.push_str(&value.all_texts());
                }
                self.add(Act::Clip, &text, flow.clone(), line);
            }
            "screencapture" | "scrot" | "gnome-screenshot" | "import" if !rest.is_empty() => {
                flow.add(&self.mark(Origin::Screen, "the screen", line));
            }
            "script" if has(rest, &["-q"]) => {
                self.add(Act::Lower, "records what is typed", flow.clone(), line);
            }
            // Which system it is says nothing about whose.
            "uname" if !has(rest, &["-a", "-n", "--all", "--nodename"]) => {
                return Value::default();
            }
            "sha256sum" | "sha1sum" | "sha512sum" | "md5sum" | "shasum" | "b3sum" | "cksum"
            | "get-filehash" => {
                if has(rest, &["-c", "--check", "--status"]) {
                    self.checked.insert(self.file);
                }
                return Value::default();
            }
            "whoami" | "hostname" | "uname" | "id" | "ifconfig" | "systeminfo" | "sw_vers"
            | "system_profiler" => {
                flow.add(&self.mark(Origin::HostFacts, name, line));
            }
            "sleep" | "start-sleep" => self.add(Act::Program, "sleep", Marks::default(), line),
            "git" => {
                if let Some(value) = self.git(rest, line) {
                    return value;
                }
            }
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
        if matches!(name, "jq" | "yq")
            && let [path, file] = operands(rest).collect::<Vec<_>>().as_slice()
            && let Some(value) = file
                .as_text()
                .and_then(|file| self.asset(file))
                .and_then(|text| at_path(text, path.constant()?))
        {
            return value;
        }
        if FILTERS.contains(&name) {
            // What is looked for is no file.
            let patterns = ["grep", "egrep", "sed", "awk", "jq", "yq", "select-string"];
            let skip = usize::from(patterns.contains(&name) && operands(rest).count() > 1);
            for path in operands(rest).skip(skip).filter(|w| looks_like_path(w)) {
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
        if let Some(file) = self.program_at(whole)
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
        // Options whose value is a word of its own.
        let valued = |text: &str| match name {
            "nice" => text == "-n",
            "sudo" | "doas" => matches!(text, "-u" | "-g" | "-p"),
            "exec" => text == "-a",
            "env" => matches!(text, "-u" | "-C"),
            "ionice" => matches!(text, "-c" | "-n"),
            "timeout" => matches!(text, "-s" | "-k"),
            "stdbuf" => matches!(text, "-o" | "-i" | "-e"),
            _ => false,
        };
        let mut takes = false;
        let Some(at) = rest.iter().position(|w| {
            if std::mem::take(&mut takes) {
                return false;
            }
            takes = w.as_text().is_some_and(valued);
            !is_option(w)
        }) else {
            if name == "env" {
                return Value::marked(self.mark(Origin::Environment, "all variables", line));
            }
            return Value::default();
        };
        self.add(Act::Program, name, Marks::default(), line);
        self.run_words(rest.get(at..).unwrap_or_default(), stdin, line)
    }
}

fn has_address(word: &Value) -> bool {
    word.as_text().is_some_and(|text| text.contains("://"))
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
