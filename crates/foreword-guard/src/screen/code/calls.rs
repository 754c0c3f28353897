//! What functions of the languages and their common libraries do.

mod builders;
mod embedders;
mod files;
pub(super) mod formats;
pub(super) mod network;
pub(super) mod processes;
mod sockets;
mod surroundings;
mod texts;
mod walks;

use std::borrow::Cow;
use std::sync::Arc;

use super::effect::Act;
use super::machine::Machine;
use super::value::{Marks, Value};

/// The parts of a call.
pub(super) struct Parts<'a> {
    pub(super) receiver: Option<&'a Value>,
    pub(super) args: &'a [Value],
    pub(super) named: &'a [(Arc<str>, Value)],
    pub(super) line: u32,
}

impl<'a> Parts<'a> {
    fn first(&self) -> Option<&'a Value> {
        self.args.first().or_else(|| self.named.first().map(|(_, value)| value))
    }

    fn first_or_nothing(&self) -> &'a Value {
        self.first().unwrap_or(&Value::NOTHING)
    }

    fn receiver_or_nothing(&self) -> &'a Value {
        self.receiver.unwrap_or(&Value::NOTHING)
    }

    fn named(&self, names: &[&str]) -> Option<&'a Value> {
        self.named.iter().find(|(key, _)| names.contains(&key.as_ref())).map(|(_, value)| value)
    }

    /// Everything that flows into the call.
    fn marks(&self) -> Marks {
        let mut marks = self.receiver.map(Value::all_marks).unwrap_or_default();
        for value in self.args.iter().chain(self.named.iter().map(|(_, value)| value)) {
            marks.add(&value.all_marks());
        }
        marks
    }

    /// The arguments alone.
    fn given(&self) -> Marks {
        let mut marks = Marks::default();
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
        named: &[(Arc<str>, Value)],
        line: u32,
    ) -> Value {
        let parts = Parts { receiver, args, named, line };
        let last = path.rsplit('.').next().unwrap_or_default();
        let lower = match last.bytes().any(|byte| byte.is_ascii_uppercase()) {
            true => Cow::Owned(last.to_ascii_lowercase()),
            false => Cow::Borrowed(last),
        };
        if callee.disguised && !last.is_empty() {
            self.add(Act::Disguise, path, callee.marks.clone(), line);
        }
        self.note_walk(last, &parts);
        if let Some(value) = self.building(path, last, &parts) {
            return value;
        }
        if let Some(value) = self.embedded(path, last, &parts) {
            return value;
        }
        if let Some(value) = self.sockets(path, last, &parts) {
            return value;
        }
        if let Some(value) = self.loosely(path, last, &parts) {
            return value;
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
}
