//! Calls that read, write and delete files.

use super::Parts;
use crate::screen::code::effect::APPENDED;
use crate::screen::code::effect::Act;
use crate::screen::code::machine::Machine;
use crate::screen::code::places::{is_key_pattern, is_personal, is_precious};
use crate::screen::code::settings::settings;
use crate::screen::code::value::{Marks, Origin, Value};

impl Machine<'_> {
    /// Files that are read, written and deleted.
    pub(super) fn files(&mut self, path: &str, last: &str, parts: &Parts<'_>) -> Option<Value> {
        let line = parts.line;
        let first = parts.first_or_nothing();
        let receiver = parts.receiver_or_nothing();
        match last {
            "URL" if first.as_text().is_some_and(|t| t.starts_with('.')) => Some(first.clone()),
            "Path" | "PurePath" | "PosixPath" | "URL" | "URI" | "String" | "str" | "File" => {
                Some(Value::joined(parts.args, "/").or(first))
            }
            "file" if path == "Bun.file" => Some(self.read_path(first, line)),
            "encrypt" | "encrypt_file" | "encryptFile" => {
                let marks = parts.marks();
                if marks.iter().any(|m| m.origin == Origin::Files && is_personal(&m.detail)) {
                    self.add(Act::Delete, "files of the user, encrypted", marks.clone(), line);
                }
                Some(Value::marked(marks))
            }
            "home" | "homedir" => Some(Value::text("~")),
            "expanduser" | "expand_path" | "abspath" | "realpath" | "normpath" | "resolve"
            | "expandvars" | "fspath"
                if !parts.args.is_empty() =>
            {
                let text = first.as_text().map(|t| t.replace("$HOME", "~"));
                Some(Value { text: text.map(|t| t.as_str().into()), ..first.clone() })
            }
            "join"
                if path.ends_with("path.join")
                    || path == "join"
                    || path.ends_with("File.join")
                    || path == "path.posix.join" =>
            {
                Some(Value::joined(parts.args, "/"))
            }
            "with_name" | "with_suffix" if first.text.is_some() => Some(first.clone()),
            "joinpath" => {
                let mut all = vec![receiver.clone()];
                all.extend(parts.args.iter().cloned());
                Some(Value::joined(&all, "/"))
            }
            // Perl: a name with a tilde, and no pattern.
            "glob"
                if first.constant().is_some_and(|t| t.starts_with('~') && !t.contains('*'))
                    && self.language().is_loose() =>
            {
                Some(first.clone())
            }
            "dirname" if !parts.args.is_empty() => {
                let above = |t: &str| match t.rsplit_once('/') {
                    Some((above, _)) if !above.is_empty() => above.to_owned(),
                    _ => ".".to_owned(),
                };
                let text = first.as_text().map(|t| above(t).as_str().into());
                Some(Value { text, others: None, ..first.clone() })
            }
            "mkdtemp"
            | "mkstemp"
            | "mktemp"
            | "NamedTemporaryFile"
            | "TemporaryDirectory"
            | "mkdtempSync"
            | "mktmpdir"
            | "gettempdir"
            | "tmpdir"
            | "gettemppath"
            | "gettempfilename"
            | "TemporaryFile"
            | "SpooledTemporaryFile" => {
                let mut file = Value::text(format!("/tmp/tmp.{line}"));
                if matches!(last, "NamedTemporaryFile" | "TemporaryFile" | "mkstemp") {
                    file.path = Some("open-file".into());
                }
                Some(file)
            }
            "ZipFile" | "TarFile"
                if parts.has_text(&["w", "a", "x", "w:gz", "w:bz2", "w:xz"])
                    && first.text.is_some() =>
            {
                let mut file = Value::path("open-file");
                file.text = first.text.clone();
                Some(file)
            }
            "make_archive" => {
                let base = first.as_text().unwrap_or_default();
                let format = parts.args.get(1).and_then(Value::constant).unwrap_or("zip");
                let archive =
                    format!("{base}.{}", if format == "gztar" { "tar.gz" } else { format });
                let root = parts.args.get(2).or(parts.named(&["root_dir"]));
                let read = root.map(|root| self.read_path(root, line)).unwrap_or_default();
                self.stage(&archive, &read);
                Some(Value { marks: read.marks, ..Value::text(archive) })
            }
            "writeZip" => {
                let target = first.as_text().unwrap_or_default().to_owned();
                self.write_path(&target, &Value::marked(receiver.all_marks()), line);
                Some(Value::default())
            }
            "extractall" | "unpack_archive" | "extractAllTo" => {
                let target = parts.args.get(usize::from(last == "unpack_archive"));
                let target = target.or(parts.named(&["path", "extract_dir"]));
                let target = target.and_then(Value::as_text).unwrap_or(".").to_owned();
                self.stage(&target, &Value::marked(parts.marks()));
                Some(Value::default())
            }
            "copyfileobj" if parts.args.len() >= 2 => {
                let to = parts.args.get(1).and_then(Value::as_text).unwrap_or_default().to_owned();
                self.write_path(&to, &Value::marked(first.all_marks()), line);
                Some(Value::default())
            }
            "connect" | "Database" if path.contains("sqlite") => Some(self.read_path(first, line)),
            "launchPersistentContext" | "launch_persistent_context" => {
                let named = parts.named(&["user_data_dir"]);
                Some(self.read_path(named.unwrap_or(first), line))
            }
            "load_file" | "readlines" | "safe_load_file" | "read_csv" | "loadtxt" | "addfile"
                if first.text.is_some() && receiver.path.as_deref() != Some("open-file") =>
            {
                Some(self.read_path(first, line))
            }
            "load" | "loads" | "parse" | "safe_load"
                if first.constant().is_some()
                    && ["yaml", "toml", "YAML", "TOML"].iter().any(|part| path.contains(part)) =>
            {
                let mut value = first.constant().and_then(settings).unwrap_or_default();
                value.marks.add(&parts.marks());
                Some(value)
            }
            "load" | "loads" | "parse" | "parseJSON"
                if path.to_ascii_lowercase().contains("json") =>
            {
                let json = first.constant().filter(|t| t.trim_start().starts_with(['{', '[']));
                let json = json.and_then(|text| serde_json::from_str(text).ok());
                let mut value = match json {
                    Some(json) => Value::of_json(&json, 0),
                    None => Value::default(),
                };
                value.marks.add(&parts.marks());
                Some(value)
            }
            "items" | "entries" | "values" | "each_pair" | "to_a" | "keys" => {
                let object = if parts.args.is_empty() { receiver } else { first };
                match last {
                    "keys" => {
                        let mut value = Value { fields: object.fields.clone(), ..Value::default() };
                        value = object.fields.as_ref().map(|_| value.each().gathered())?;
                        value.marks.add(&object.marks);
                        Some(value)
                    }
                    "values" => object.entries(false),
                    _ => object.entries(true),
                }
            }
            // A number that stands for a file, which `mkstemp` gave.
            "fdopen" => Some(Value { text: first.text.clone(), ..Value::path("open-file") }),
            // Go, Java and C++, where a file is opened to be written.
            "OpenFile" | "Create" | "FileWriter" | "FileOutputStream" | "ofstream"
                if first.text.is_some() && self.language().is_loose() =>
            {
                Some(Value { text: first.text.clone(), ..Value::path("open-file") })
            }
            "open" | "createReadStream" | "createWriteStream"
                if !path.starts_with("webbrowser") && !path.contains("Image") =>
            {
                let target = if parts.args.is_empty() { receiver } else { first };
                let is_mode = |v: &Value| {
                    v.constant()
                        .is_some_and(|t| matches!(t, "r" | "rb" | "rt" | "w" | "wb" | "a" | "ab"))
                };
                // `path.open("rb")`
                let of_receiver = receiver.text.is_some() && target.text.is_none()
                    || is_mode(target) && parts.receiver.is_some() && receiver.module.is_none();
                let target = if of_receiver { receiver } else { target };
                let mode = parts.args.get(1).or(parts.named(&["mode"])).and_then(Value::constant);
                let mode = mode.unwrap_or(if last == "createWriteStream" { "w" } else { "r" });
                let mode_first = parts.args.first().and_then(Value::constant).unwrap_or_default();
                let writes = mode.starts_with(['w', 'a', 'x'])
                    || mode.contains('+')
                    || target.text == receiver.text
                        && matches!(mode_first, "w" | "a" | "wb" | "ab");
                let skill = |v: &Value| v.as_text().is_some_and(|t| t.ends_with("/SKILL.md"));
                if (mode.starts_with('a') || mode_first.starts_with('a'))
                    && target.alternatives().any(skill)
                {
                    self.add(Act::Write, APPENDED, Marks::default(), line);
                }
                if writes {
                    let mut file = Value::path("open-file");
                    file.text = target.text.clone();
                    return Some(file);
                }
                Some(self.read_path(target, line))
            }
            "read" if matches!(path, "File.read" | "IO.read") => Some(self.read_path(first, line)),
            // What was opened is a file of the folder, and its text is known.
            "read" | "readlines"
                if receiver.as_text().is_some_and(|t| t.contains('\n') || t.starts_with('{')) =>
            {
                Some(receiver.clone())
            }
            "read_text" | "read_bytes" | "read" | "readlines" | "readText"
                if receiver.text.is_some() && receiver.path.as_deref() != Some("open-file") =>
            {
                Some(self.read_path(receiver, line))
            }
            "readFileSync" | "readFile" | "readTextFile" | "readTextFileSync" | "read_file"
            | "readJSONSync" | "readallbytes" | "readalltext" | "binread" | "readdirSync"
            | "listdir" | "scandir" | "glob" | "iglob" | "rglob" | "walk" | "globSync" => {
                let globs =
                    last.contains("glob") && receiver.text.is_some() && first.text.is_some();
                let under;
                let target = if globs {
                    under = Value::joined(&[receiver.clone(), first.clone()], "/");
                    &under
                } else if first.text.is_some()
                    || first.items.is_some()
                    || parts.receiver.is_none()
                    || receiver.text.is_none()
                {
                    first
                } else {
                    receiver
                };
                let mut read = self.read_path(target, line);
                if target.alternatives().any(|v| v.as_text().is_some_and(is_key_pattern)) {
                    let what = format!("key files ({})", target.as_text().unwrap_or_default());
                    read.marks.add(&self.mark(Origin::SecretFile, what, line));
                    self.add(Act::ReadSecret, "key files", read.marks.clone(), line);
                }
                if last.contains("glob") || matches!(last, "walk" | "listdir" | "scandir") {
                    read.text = None;
                }
                Some(read)
            }
            "load_dotenv" | "dotenv_values" => {
                Some(Value::marked(self.mark(Origin::SecretFile, ".env", line)))
            }
            "write" | "writelines" | "dump" | "print" | "puts" | "printf" | "Write"
            | "WriteString" | "Fprintf" | "Fprintln" | "Fprint" | "write_all"
                if receiver.path.as_deref() == Some("open-file")
                    || parts.args.iter().any(|v| v.path.as_deref() == Some("open-file")) =>
            {
                let file = parts
                    .args
                    .iter()
                    .find(|v| v.path.as_deref() == Some("open-file"))
                    .unwrap_or(receiver);
                let target = file.as_text().unwrap_or_default().to_owned();
                self.note_overwriting(file, first, line);
                let mut content = Value { marks: parts.marks(), ..first.clone() };
                if content.path.as_deref() == Some("open-file") {
                    content.text = None;
                }
                self.write_path(&target, &content, line);
                Some(Value::default())
            }
            "writeFileSync" | "writeFile" | "appendFileSync" | "appendFile" | "writeTextFile"
            | "outputFile" | "outputFileSync" | "writealltext" | "writeallbytes"
            | "appendalltext" => {
                let content = parts.args.get(1).cloned().unwrap_or_default();
                self.note_overwriting(first, &content, line);
                for target in first.alternatives() {
                    self.write_path(target.as_text().unwrap_or_default(), &content, line);
                }
                Some(Value::default())
            }
            "write_text" | "write_bytes" => {
                self.note_overwriting(receiver, first, line);
                for target in receiver.alternatives() {
                    self.write_path(target.as_text().unwrap_or_default(), first, line);
                }
                Some(Value::default())
            }
            "copyfile" | "copy" | "copy2" | "copyFileSync" | "copytree" | "move" | "rename"
            | "renameSync" | "symlink" | "cpSync"
                if parts.args.len() >= 2 =>
            {
                let read = self.read_path(first, line);
                let target =
                    parts.args.get(1).and_then(Value::as_text).unwrap_or_default().to_owned();
                self.write_path(&target, &read, line);
                Some(Value::default())
            }
            "rmtree" | "rmSync" | "rm" | "rmdir" | "remove" | "unlink" | "unlinkSync" | "rm_rf"
            | "rimraf" | "removeSync" => {
                let target = if first.text.is_some() { first } else { receiver };
                for target in target.alternatives() {
                    let target = target.as_text().unwrap_or_default();
                    if is_precious(target) {
                        self.add(Act::Delete, target, Marks::default(), line);
                    } else if target.contains("_history") || target.starts_with("/var/log") {
                        self.add(Act::Lower, &format!("deletes {target}"), Marks::default(), line);
                    }
                }
                Some(Value::default())
            }
            _ => None,
        }
    }
}
