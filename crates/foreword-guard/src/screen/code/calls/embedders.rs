//! Calls of programs that carry a language in them: Windows Script, Neovim, WordPress.

use super::Parts;
use crate::screen::code::effect::Act;
use crate::screen::code::language::{Dialect, Language};
use crate::screen::code::machine::Machine;
use crate::screen::code::text::Encoding;
use crate::screen::code::value::{Marks, Origin, Value};

impl Machine<'_> {
    pub(super) fn embedded(&mut self, path: &str, last: &str, parts: &Parts<'_>) -> Option<Value> {
        let language = self.language();
        let Language::Loose(dialect) = language else { return None };
        let (line, first) = (parts.line, parts.first_or_nothing());
        let receiver = parts.receiver_or_nothing();
        match last {
            "Open" | "open" if parts.has_text(&["GET", "POST", "PUT"]) => {
                self.networking(path, "open", parts)
            }
            // Neovim: a job of its own.
            "jobstart" | "termopen" | "systemlist"
                if path.contains("fn.") || path.contains("vim") =>
            {
                Some(self.start(first, parts, line))
            }
            "loadfile" | "dofile" | "loadstring" if first.text.is_some() => {
                let target = first.as_text().unwrap_or_default().to_owned();
                match self.staged_at(&target) {
                    Some(staged) if staged.has(&Origin::Fetched) => {
                        self.add(Act::Evaluate, &target, staged, line);
                        Some(Value::default())
                    }
                    _ if last == "loadstring" => Some(self.run_code(language, first, line)),
                    _ => None,
                }
            }
            "set_role" | "add_role" if first.constant() == Some("administrator") => {
                self.add(Act::Account, "administrator", Marks::default(), line);
                Some(Value::default())
            }
            "wp_remote_post" | "wp_remote_get" | "wp_remote_request" | "wp_safe_remote_post" => {
                Some(self.request(parts, true))
            }
            // Windows Script: objects by their name, folders by what they are for.
            "CreateObject" | "GetObject" => {
                Some(Value::path(first.constant()?.to_ascii_lowercase()))
            }
            "SpecialFolders" | "ExpandEnvironmentStrings" => Some(match first.constant()? {
                "Startup" | "AllUsersStartup" => {
                    Value::text("~/AppData/Microsoft/Windows/Start Menu/Programs/Startup")
                }
                "Desktop" => Value::text("~/Desktop"),
                "MyDocuments" => Value::text("~/Documents"),
                other => {
                    Value::text(other.replace("%TEMP%", "/tmp").replace("%APPDATA%", "~/AppData"))
                }
            }),
            "StrReverse" => Some(self.decoded(first, Encoding::Reversed, line)),
            "Chr" | "ChrW" if first.number.is_some() => {
                let letter =
                    first.number.and_then(|n| u32::try_from(n).ok()).and_then(char::from_u32);
                Some(Value::text(letter.map(String::from).unwrap_or_default()))
            }
            "CreateTextFile" | "OpenTextFile" if dialect == Dialect::Basic => {
                Some(Value { text: first.text.clone(), ..Value::path("open-file") })
            }
            "Write" | "WriteLine" if receiver.path.as_deref() == Some("open-file") => {
                let target = receiver.as_text().unwrap_or_default().to_owned();
                self.write_path(&target, first, line);
                Some(Value::default())
            }
            "SaveToFile" => {
                let from = self.connected.get(&self.file).cloned()?;
                let content = Value::marked(self.mark(Origin::Fetched, from, line));
                self.write_path(first.as_text().unwrap_or_default(), &content, line);
                Some(Value::default())
            }
            _ => None,
        }
    }
}
