//! Programs that Windows starts apart: `Start-Process`, `start`.

use crate::screen::code::machine::Machine;
use crate::screen::code::value::{Marks, Value};

/// Options of `Start-Process` that stand alone, and those with a value.
const ALONE: [&str; 5] =
    ["-wait", "-passthru", "-nonewwindow", "-loaduserprofile", "-usenewenvironment"];
const VALUED: [&str; 8] = [
    "-windowstyle",
    "-verb",
    "-workingdirectory",
    "-credential",
    "-redirectstandardinput",
    "-redirectstandardoutput",
    "-redirectstandarderror",
    "-erroraction",
];

impl Machine<'_> {
    /// `Start-Process program -ArgumentList words`, `start "" /b program words`.
    pub(super) fn start_process(
        &mut self,
        rest: &[Value],
        stdin: Option<&Value>,
        line: u32,
    ) -> Value {
        let mut words: Vec<Value> = Vec::new();
        let mut list = rest.iter();
        let mut in_arguments = false;
        while let Some(word) = list.next() {
            let text = word.as_text().unwrap_or_default().trim();
            let lower = text.to_ascii_lowercase();
            let is_switch = !in_arguments
                && words.is_empty()
                && (text.is_empty() && word.text.is_some()
                    || text.starts_with('/') && text.len() <= 5);
            match lower.as_str() {
                "-filepath" => words.splice(0..0, list.next().cloned()).for_each(drop),
                "-argumentlist" | "-args" => in_arguments = true,
                _ if ALONE.contains(&lower.as_str()) || is_switch => {}
                _ if VALUED.contains(&lower.as_str()) => {
                    list.next();
                }
                // One text may hold several words.
                _ if in_arguments && text.contains(' ') && text.starts_with(['-', '/']) => {
                    let parts = text.split(' ').filter(|part| !part.is_empty()).take(64);
                    words.extend(parts.map(|part| Value {
                        text: Some(part.trim_matches(['"', '\'']).into()),
                        ..word.clone()
                    }));
                }
                _ => words.push(word.clone()),
            }
        }
        self.run_words(&words, stdin, line)
    }

    /// Where the files that a text names came from, as far as programs wrote them.
    pub(super) fn staged_in(&self, text: &str) -> Marks {
        let mut marks = Marks::default();
        for (path, staged) in self.staged.iter().filter(|(path, _)| path.len() > 6) {
            if text.contains(path.as_str()) {
                marks.add(&staged.marks);
            }
        }
        marks
    }
}
