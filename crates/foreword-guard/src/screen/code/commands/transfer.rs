//! Commands that move data over the network: `curl`, `scp`, `nc` and the like.

use super::{all_marks, operands};
use crate::screen::code::calls::network::is_proof_header;
use crate::screen::code::effect::Act;
use crate::screen::code::machine::Machine;
use crate::screen::code::places::{METADATA, is_metadata};
use crate::screen::code::value::{HOLE, Marks, Origin, Value};
use crate::screen::known_hosts::is_code_host;

/// Whether a header holds something else than a proof of who calls: `X-Data: …`.
fn carries_data(header: &Value) -> bool {
    let name = header.as_text().and_then(|text| text.split_once(':')).map(|(name, _)| name);
    name.is_some_and(|name| !name.contains(HOLE) && !is_proof_header(name))
}

impl Machine<'_> {
    /// `curl` and its like: requests, uploads and downloads.
    pub(super) fn transfer(
        &mut self,
        name: &str,
        rest: &[Value],
        stdin: Option<&Value>,
        line: u32,
    ) -> Value {
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
                "-h" | "--header" if words.peek().is_some_and(|w| carries_data(w)) => {
                    data.add(&words.next().map(Value::all_marks).unwrap_or_default());
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
                _ if name == "wget" && text.ends_with("O-") => out = Some(Value::text("-")),
                _ if name == "wget" && text.starts_with('-') && text.ends_with('O') => {
                    out = words.next().cloned();
                }
                _ if bundled('O') => out = Some(Value::default()),
                _ if bundled('o') => out = words.next().cloned(),
                _ if bundled('d') => {
                    sends = true;
                    data.add(&words.next().map(Value::all_marks).unwrap_or_default());
                }
                _ if bundled('F') || bundled('T') => {
                    sends = true;
                    if let Some(value) = words.next() {
                        data.add(&value.all_marks());
                        let content = value.as_text().unwrap_or_default();
                        let path = content.rsplit_once('@').map_or(content, |(_, path)| path);
                        if text.ends_with('T') || content.contains('@') {
                            data.add(&self.read_path(&Value::text(path), line).marks);
                        }
                    }
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
        if url.is_some_and(|url| url.disguised) && target.contains("://") {
            let marks = url.map(|url| url.marks.clone()).unwrap_or_default();
            self.add(Act::Disguise, &target, marks, line);
        }
        for other in url.into_iter().flat_map(|url| url.alternatives().skip(1)) {
            if let Some(other) = other.as_text().filter(|t| t.contains("://")) {
                self.add_with_proof(Act::Http, other, data.clone(), proof.clone(), line);
            }
        }
        if let Some(stdin) = stdin.filter(|_| sends) {
            // Only what names the input reads it, but a hole may be that name.
            if data.is_empty() && !stdin.marks.has(&Origin::Conversation) {
                data.add(&stdin.all_marks());
            }
        }
        self.add_with_proof(Act::Http, &target, data, proof, line);
        let mut fetched = Value::marked(self.mark(Origin::Fetched, target.clone(), line));
        if is_metadata(&target) {
            fetched.marks.add(&self.mark(Origin::Credential, METADATA, line));
        }
        let to_file = out.or_else(|| (name == "wget" || name == "aria2c").then(Value::default));
        match to_file {
            Some(path) if path.as_text() != Some("-") => {
                let last = target.rsplit('/').next().unwrap_or_default().to_owned();
                let path = path.as_text().map_or(last, str::to_owned);
                self.write_path(&path, &fetched, line);
                Value::default()
            }
            _ => fetched,
        }
    }

    pub(super) fn copy(&mut self, name: &str, rest: &[Value], line: u32) {
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

    /// What was fetched from a stranger and is unpacked lies in a directory.
    pub(super) fn unpack(&mut self, name: &str, rest: &[Value], stdin: Option<&Value>) -> bool {
        let mut marks = stdin.map(Value::all_marks).unwrap_or_default();
        for archive in operands(rest).filter_map(Value::as_text) {
            marks.add(&self.staged_at(archive).unwrap_or_default());
        }
        let known = |detail: &str| {
            let host = detail.split("://").nth(1).unwrap_or(detail).split('/').next();
            host.is_some_and(is_code_host)
        };
        let foreign = marks.iter().any(|m| m.origin == Origin::Fetched && !known(&m.detail));
        let packs = |t: &str| t.starts_with('-') && t.contains('c') && !t.starts_with("--");
        if !foreign
            || self.checked.contains(&self.file)
            || name.ends_with("tar") && rest.iter().filter_map(Value::as_text).any(packs)
        {
            return false;
        }
        let directory = |w: &&Value| {
            w.as_text()
                .is_some_and(|t| matches!(t, "-C" | "-d" | "--directory" | "-DestinationPath"))
        };
        let to = rest.iter().skip_while(|w| !directory(w)).nth(1).and_then(Value::as_text);
        let to = to.unwrap_or(".").to_owned();
        self.stage(&to, &Value::marked(marks));
        true
    }

    /// `tar`, `zip` and the like: what goes in is in the archive.
    pub(super) fn pack(&mut self, name: &str, rest: &[Value], line: u32) -> Option<Value> {
        let list: Vec<&Value> = operands(rest).collect();
        let letters = list.first().and_then(|w| w.as_text()).unwrap_or_default();
        let bundled = |w: &&Value| {
            let text = w.as_text().unwrap_or_default();
            text.starts_with('-') && !text.starts_with("--") && text.contains('c')
        };
        let packs = match name {
            "tar" | "bsdtar" => {
                rest.iter().any(|w| bundled(&w))
                    || letters.len() <= 5
                        && letters.starts_with(['c', 'z', 'j', 'J'])
                        && letters.contains('c')
            }
            _ => true,
        };
        if !packs {
            return None;
        }
        let old_style = name == "tar" && !letters.is_empty() && !letters.contains(['/', '.', '~']);
        let names_archive = |w: &Value| {
            w.as_text().is_some_and(|t| {
                t.starts_with("--file")
                    || t.starts_with('-') && !t.starts_with("--") && t.contains('f')
            })
        };
        let printed = matches!(name, "tar" | "bsdtar")
            && !rest.iter().any(names_archive)
            && !(old_style && letters.contains('f'));
        let list = if old_style || name == "7z" { list.get(1..) } else { list.get(..) };
        let nowhere = Value::default();
        let (archive, sources) = match name {
            _ if printed => (&nowhere, list?),
            "compress-archive" => list.and_then(|l| l.split_last()).map(|(a, s)| (*a, s))?,
            _ => list.and_then(|l| l.split_first()).map(|(a, s)| (*a, s))?,
        };
        let mut read = Value::default();
        for source in sources {
            let one = self.read_path(source, line);
            read = read.or(&Value::marked(one.marks));
        }
        let text = archive.as_text().unwrap_or_default();
        if text == "-" || text.is_empty() {
            return Some(Value::marked(read.marks));
        }
        let text = text.to_owned();
        self.add(Act::Write, &text, read.marks.clone(), line);
        self.stage(&text, &read);
        Some(Value::default())
    }

    pub(super) fn connect(&mut self, name: &str, rest: &[Value], stdin: Option<&Value>, line: u32) {
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
}
