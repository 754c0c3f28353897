//! Calls that read, write and delete files.

use super::Parts;
use crate::screen::code::effect::Act;
use crate::screen::code::machine::Machine;
use crate::screen::code::places::is_precious;
use crate::screen::code::value::{Marks, Origin, Value};

impl Machine<'_> {
    /// Files that are read, written and deleted.
    pub(super) fn files(&mut self, path: &str, last: &str, parts: &Parts<'_>) -> Option<Value> {
        let line = parts.line;
        let first = parts.first_or_nothing();
        let receiver = parts.receiver_or_nothing();
        match last {
            "Path" | "PurePath" | "PosixPath" | "URL" | "URI" | "String" | "str" | "File" => {
                Some(Value::joined(parts.args, "/").or(first))
            }
            "home" | "homedir" => Some(Value::text("~")),
            "expanduser" | "abspath" | "realpath" | "normpath" | "resolve" | "expandvars"
            | "fspath"
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
            "joinpath" => {
                let mut all = vec![receiver.clone()];
                all.extend(parts.args.iter().cloned());
                Some(Value::joined(&all, "/"))
            }
            "open" | "createReadStream" | "createWriteStream"
                if !path.starts_with("webbrowser") && !path.contains("Image") =>
            {
                let target = if parts.args.is_empty() { receiver } else { first };
                let target = if target.text.is_some() { target } else { receiver };
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
            "read" if matches!(path, "File.read" | "IO.read") => Some(self.read_path(first, line)),
            "read_text" | "read_bytes" | "read" | "readlines" | "readText"
                if receiver.text.is_some() && receiver.path.as_deref() != Some("open-file") =>
            {
                Some(self.read_path(receiver, line))
            }
            "readFileSync" | "readFile" | "readTextFile" | "readTextFileSync" | "read_file"
            | "readJSONSync" | "readallbytes" | "readalltext" | "binread" | "readdirSync"
            | "listdir" | "scandir" | "glob" | "iglob" | "rglob" | "walk" | "globSync" => {
                let target =
                    if first.text.is_some() || parts.receiver.is_none() { first } else { receiver };
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
                    .unwrap_or(receiver);
                let target = file.as_text().unwrap_or_default().to_owned();
                let content = Value { marks: parts.marks(), ..first.clone() };
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
                self.write_path(&target, first, line);
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
                let target = target.as_text().unwrap_or_default().to_owned();
                if is_precious(&target) {
                    self.add(Act::Delete, &target, Marks::default(), line);
                }
                Some(Value::default())
            }
            _ => None,
        }
    }
}
