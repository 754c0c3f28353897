//! Calls that ask for the environment, the clipboard, the screen or the machine.

use super::Parts;
use crate::screen::code::effect::Act;
use crate::screen::code::machine::{FORM_INPUT, Machine};
use crate::screen::code::value::{Marks, Origin, Value};

impl Machine<'_> {
    /// The environment, the clipboard, the screen, facts about the machine.
    pub(super) fn machine_facts(
        &mut self,
        path: &str,
        last: &str,
        parts: &Parts<'_>,
    ) -> Option<Value> {
        let line = parts.line;
        let first = parts.first_or_nothing();
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
                "update" => Value::default(),
                _ => whole(self),
            });
        }
        match last {
            "getenv" | "GetEnvironmentVariable" | "getenvironmentvariable" => {
                let variable = first.constant().unwrap_or_default().to_owned();
                let fallback = parts.args.get(1).cloned().unwrap_or_default();
                Some(self.variable(&variable, line).or(&fallback))
            }
            "dict" | "keys" | "entries" | "stringify" | "dumps" | "assign" | "str" | "repr"
            | "items" | "from_iter" | "list" | "sorted" | "values" | "urlencode" | "dump"
                if parts.args.iter().any(is_environment) =>
            {
                Some(whole(self).or(&Value::marked(parts.marks())))
            }
            "FormData" | "serializeArray" | "serialize"
                if last == "FormData" || path.starts_with('.') || path.starts_with('$') =>
            {
                Some(Value::marked(self.mark(Origin::Fetched, FORM_INPUT, line)))
            }
            "querySelector" | "getElementById" | "querySelectorAll" | "getElementsByName"
                if path.starts_with("document.") =>
            {
                Some(Value::marked(self.mark(Origin::Fetched, FORM_INPUT, line)))
            }
            "getenvironmentvariables" => Some(whole(self)),
            "paste" if path.contains("clip") => {
                Some(Value::marked(self.mark(Origin::Clipboard, "the clipboard", line)))
            }
            "readText" | "read" | "readSync" if path.contains("clipboard") => {
                Some(Value::marked(self.mark(Origin::Clipboard, "the clipboard", line)))
            }
            "copy" | "writeText" | "write" | "writeSync" | "copySync" if path.contains("clip") => {
                let text = first.all_texts();
                self.add(Act::Clip, &text, parts.marks(), line);
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
            "cookies" | "get_cookies" | "storage_state" | "storageState" | "getAllCookies"
                if parts.receiver.is_some_and(|r| r.text.is_none())
                    && !path.starts_with("requests")
                    && !path.starts_with("http") =>
            {
                let mut marks = parts.marks();
                marks.add(&self.mark(Origin::Page, "cookies", line));
                Some(Value::marked(marks))
            }
            "send"
                if parts.has_text(&[
                    "Network.getAllCookies",
                    "Network.getCookies",
                    "Storage.getCookies",
                ]) =>
            {
                Some(Value::marked(self.mark(Origin::Page, "cookies", line)))
            }
            "getAll" if path.contains("cookies") => {
                Some(Value::marked(self.mark(Origin::Page, "cookies", line)))
            }
            "chrome" | "firefox" | "edge" | "brave" | "load" | "safari"
                if path.contains("browser_cookie3") || path.contains("browsercookie") =>
            {
                let marks =
                    self.mark(Origin::SecretFile, "cookies of a browser (browser_cookie3)", line);
                self.add(Act::ReadSecret, path, marks.clone(), line);
                Some(Value::marked(marks))
            }
            "CryptUnprotectData" | "decrypt_chrome" | "unprotect" => {
                let mut marks = parts.marks();
                marks.add(&self.mark(Origin::Credential, "secrets of Windows", line));
                self.add(Act::ReadSecret, path, marks.clone(), line);
                Some(Value::marked(marks))
            }
            "getpass" | "askpass" | "promptforcredential" | "prompt_password" => {
                Some(Value::marked(self.mark(Origin::Typed, "a typed password", line)))
            }
            "clipboard_get" | "GetClipboardData" | "readSync" | "gettext"
                if last != "readSync" && last != "gettext" || path.contains("clip") =>
            {
                Some(Value::marked(self.mark(Origin::Clipboard, "the clipboard", line)))
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
}
