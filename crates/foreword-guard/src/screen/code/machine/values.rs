//! What an expression stands for: names, members, entries.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::payments::is_payment_address;
use super::{MAX_DEPTH, MAX_STEPS, Machine, plain_module};
use crate::screen::code::effect::Act;
use crate::screen::code::ir::{Expr, INSTANCE};
use crate::screen::code::language::{Dialect, Language};
use crate::screen::code::places::{is_secret_name, names_secret};
use crate::screen::code::settings::settings;
use crate::screen::code::value::{HOLE, Marks, Origin, Value};

/// Where what a visitor of a page sends came from.
pub(crate) const REQUEST_INPUT: &str = "a visitor's request";

/// Where what a server or a page is sent came from, as far as its name says so.
pub(crate) const FORM_INPUT: &str = "a form or a request";

/// The places of a text from its end to its start.
pub(crate) const BACKWARDS: &str = "backwards";

/// Kinds of secrets whose places are kept, over all programs.
const MAX_NAMED: usize = 128;

impl Machine<'_> {
    pub(crate) fn value(&mut self, expr: &Expr) -> Value {
        self.steps += 1;
        if self.depth >= MAX_DEPTH || self.steps > MAX_STEPS {
            return Value::default();
        }
        self.depth += 1;
        let value = self.value_here(expr);
        self.depth -= 1;
        value
    }

    fn value_here(&mut self, expr: &Expr) -> Value {
        match expr {
            Expr::Text(text) => {
                let mut value = Value::text(Arc::clone(text));
                if (self.first_pass || self.nested > 0)
                    && self.named.len() < MAX_NAMED
                    && let Some(what) = names_secret(text)
                    && !self.named.contains(&(self.file, what))
                {
                    self.named.push((self.file, what));
                }
                if self.first_pass && is_payment_address(text) {
                    self.pays.insert(self.file);
                }
                if let Some(marks) = self.holes.last()
                    && text.contains(HOLE)
                {
                    value.marks = marks.clone();
                }
                self.note_template(&value);
                value
            }
            Expr::Number(number) => Value { number: Some(*number), ..Value::default() },
            Expr::Name(name) => self.name(name),
            Expr::Join(parts) => {
                let parts = self.values(parts);
                let whole = Value::joined(&parts, "");
                self.note_pieces(&parts, &whole);
                self.note_template(&whole);
                whole
            }
            Expr::Unknown(parts) => {
                if let [one] = parts.as_slice() {
                    return self.value(one);
                }
                let mut out = Value::default();
                for part in parts {
                    let part = self.value(part);
                    out.marks.add(&part.all_marks());
                    // A choice between texts is the first that is known.
                    out.text = out.text.or(part.text);
                }
                out
            }
            Expr::List(items) => {
                let items = self.values(items);
                let mut out = Value::default();
                for item in &items {
                    out.marks.add(&item.all_marks());
                    out.marks.add(&self.environment(item, 0));
                }
                out.items = Some(Rc::new(items));
                out.holding()
            }
            Expr::Map(entries) => {
                let mut fields = BTreeMap::new();
                let mut marks = Marks::default();
                for (key, value) in entries {
                    let value = self.value(value);
                    marks.add(&value.all_marks());
                    if key.is_empty() {
                        marks.add(&self.environment(&value, 0));
                        // A spread or computed entry.
                        for (name, inner) in value.fields.iter().flat_map(|fields| fields.iter()) {
                            fields.insert(Arc::clone(name), inner.clone());
                        }
                    }
                    fields.insert(Arc::clone(key), value);
                }
                Value { marks, fields: Some(Rc::new(fields)), ..Value::default() }.holding()
            }
            Expr::Member(object, name) => {
                if let Expr::Name(own) = object.as_ref()
                    && matches!(own.as_ref(), "this" | "self")
                    && let Some(value) = self.lookup(name)
                {
                    return value.clone();
                }
                if self.dotted
                    && let Expr::Name(own) = object.as_ref()
                    && let Some(value) = self.lookup(&format!("{own}.{name}"))
                {
                    return value.clone();
                }
                let is_request = is_request(object, name);
                let object = self.value(object);
                let mut value = self.member(&object, name, 0);
                if is_request && object.text.is_none() && object.fields.is_none() {
                    value.marks.add(&self.mark(Origin::Fetched, FORM_INPUT, 0));
                }
                value
            }
            Expr::Index(object, index) => {
                let (object, index) = (self.value(object), self.value(index));
                self.entry(&object, &index)
            }
            Expr::Choice(parts) => Value::one_of(self.values(parts)),
            Expr::Each(list) => {
                let list = self.value(list);
                let mut one = list.each();
                one.marks.add(&self.environment(&list, 0));
                one
            }
            Expr::Gather(inner) => self.value(inner).gathered(),
            Expr::Call(call) => self.call(call),
            Expr::Function(function) => {
                let args = Vec::new();
                self.walk_inline(function, &args)
            }
            Expr::Command(command) => self.command(command),
        }
    }

    pub(super) fn values(&mut self, list: &[Expr]) -> Vec<Value> {
        list.iter().map(|one| self.value(one)).collect()
    }

    /// An entry of a list or an object.
    pub(super) fn entry(&mut self, object: &Value, index: &Value) -> Value {
        if !self.environment(object, 0).is_empty() {
            // Each variable that the name may be; all, if the name is one of all.
            let mut value = Value::marked(index.marks.clone());
            for name in index.alternatives().filter_map(Value::constant) {
                let one = self.variable(name, 0);
                value = value.or(&one);
            }
            return value;
        }
        if let (Some(name), None, Some(items)) = (index.constant(), index.number, &object.items)
            && let Some(item) = name.parse().ok().and_then(|place: usize| items.get(place))
        {
            return item.clone();
        }
        if let Some(text) = object.constant().filter(|_| object.items.is_none())
            && let Some(letters) = letters(text, index)
        {
            return Value { disguised: true, ..Value::text(letters) };
        }
        if let Some(value) = object.entry_of_table(index) {
            return value;
        }
        match (index.constant(), index.number, &object.items) {
            (_, Some(number), Some(items)) => {
                let item = usize::try_from(number).ok().and_then(|at| items.get(at));
                item.cloned().unwrap_or_else(|| Value::marked(object.marks.clone()))
            }
            (Some(name), ..) => {
                let mut value = self.member(object, name, 0);
                value.disguised |= index.disguised;
                value
            }
            _ => Value {
                marks: object.all_marks(),
                text: object.text.clone(),
                path: object.path.clone(),
                ..Value::default()
            },
        }
    }

    pub(super) fn name(&mut self, name: &Arc<str>) -> Value {
        if let Some(module) = name.strip_prefix("require:") {
            return match self.module_at(module) {
                _ if module.ends_with(".json") && self.asset(module).is_some() => {
                    self.asset(module).and_then(settings).unwrap_or_default()
                }
                Some(file) => Value { module: Some(file), ..Value::path(module) },
                None => Value::path(plain_module(module)),
            };
        }
        if let Some(value) = self.lookup(name) {
            return value.clone();
        }
        if name.as_ref() == INSTANCE {
            return Value { module: Some(self.file), ..Value::default() };
        }
        if name.as_ref() == "request-input" {
            return Value::marked(self.mark(Origin::Fetched, REQUEST_INPUT, 0));
        }
        if matches!(name.as_ref(), "__file__" | "__dirname" | "__filename" | "__dir__" | "__DIR__")
        {
            return Value::text(".");
        }
        if matches!(
            name.as_ref(),
            "DB_PASSWORD" | "AUTH_KEY" | "SECURE_AUTH_KEY" | "NONCE_KEY" | "AUTH_SALT"
        ) && self.language() == Language::Loose(Dialect::Php)
        {
            return Value::marked(self.mark(Origin::Credential, "the site's passwords", 0));
        }
        match name.strip_prefix('$') {
            Some(variable) if !variable.is_empty() => self.variable(variable, 0),
            _ => Value::path(Arc::clone(name)),
        }
    }

    /// A variable of the environment.
    pub(crate) fn variable(&mut self, name: &str, line: u32) -> Value {
        match name {
            "HOME" | "USERPROFILE" | "home" => return Value::text("~"),
            "LOCALAPPDATA" | "APPDATA" => return Value::text("~/AppData"),
            "TEMP" | "TMP" | "TMPDIR" => return Value::text("/tmp"),
            "0" | "BASH_SOURCE" | "psscriptroot" => return Value::text("."),
            _ => {}
        }
        let mut value = Value::default();
        if is_secret_name(name) {
            value.marks = self.mark(Origin::SecretVariable, name, line);
            self.add(Act::ReadSecret, name, value.marks.clone(), line);
        }
        value
    }

    /// All variables of the environment, if a value stands for them.
    pub(crate) fn environment(&self, value: &Value, line: u32) -> Marks {
        let whole = value.path.as_deref().is_some_and(|path| {
            matches!(path, "os.environ" | "process.env" | "ENV" | "Deno.env" | "Bun.env")
        });
        if !whole {
            return Marks::default();
        }
        self.mark(Origin::Environment, "all variables", line)
    }

    /// A member of an object or module.
    pub(crate) fn member(&mut self, object: &Value, name: &str, line: u32) -> Value {
        if let Some(field) = object.field(name) {
            if object.others.is_none() {
                return field.clone();
            }
            let fields = object.alternatives().filter_map(|value| value.field(name));
            return Value::one_of(fields.cloned());
        }
        if let Some(file) = object.module {
            return self.exported(file, name);
        }
        match object.path.as_deref() {
            Some(
                "process.env" | "os.environ" | "ENV" | "Deno.env" | "Bun.env" | "import.meta.env",
            ) => {
                if matches!(
                    name,
                    "get"
                        | "copy"
                        | "items"
                        | "keys"
                        | "values"
                        | "fetch"
                        | "to_h"
                        | "toObject"
                        | "setdefault"
                        | "update"
                ) {
                    return Value::path(format!(
                        "{}.{name}",
                        object.path.as_deref().unwrap_or_default()
                    ));
                }
                self.variable(name, line)
            }
            Some(path) => {
                let whole = [path, ".", name].concat();
                match whole.as_str() {
                    "sys.executable" => return Value::text("python3"),
                    "process.execPath" => return Value::text("node"),
                    _ => {}
                }
                let mut marks = object.marks.clone();
                if ["responseText", "responseBody", "responseXML"]
                    .iter()
                    .any(|member| name.eq_ignore_ascii_case(member))
                    && let Some(host) = self.connected.get(&self.file).cloned()
                {
                    marks.add(&self.mark(Origin::Fetched, host, line));
                }
                if matches!(whole.as_str(), "document.cookie" | "window.document.cookie") {
                    marks.add(&self.mark(Origin::Page, "cookies", line));
                }
                Value { marks, disguised: object.disguised, ..Value::path(whole) }
            }
            None => Value {
                path: Some(format!(".{name}").into()),
                marks: object.all_marks(),
                text: object.text.clone().filter(|_| is_passive(name)),
                disguised: object.disguised,
                ..Value::default()
            },
        }
    }
}

/// What a server is sent: `req.body`, `request.headers`, `ctx.request.query`.
pub(super) fn is_request(object: &Expr, member: &str) -> bool {
    let own = match object {
        Expr::Name(name) | Expr::Member(_, name) => name.as_ref(),
        _ => return false,
    };
    matches!(own, "req" | "request")
        && matches!(
            member,
            "body"
                | "query"
                | "headers"
                | "params"
                | "cookies"
                | "form"
                | "args"
                | "values"
                | "rawBody"
                | "GET"
                | "POST"
                | "raw_post"
                | "query_string"
                | "get_json"
        )
}

/// Members that leave a text as it is, more or less.
pub(crate) fn is_passive(name: &str) -> bool {
    matches!(
        name,
        "strip"
            | "trim"
            | "expanduser"
            | "resolve"
            | "absolute"
            | "encode"
            | "decode"
            | "toString"
            | "to_s"
            | "as_posix"
            | "lower"
            | "upper"
            | "toLowerCase"
            | "href"
            | "full_url"
            | "valueOf"
            | "str"
            | "path"
            | "name"
            | "rstrip"
            | "lstrip"
            | "parent"
    )
}

/// The letters of a text at some places, which may be counted from its end: `'cba'[-1..-3]`.
fn letters(text: &str, places: &Value) -> Option<String> {
    if places.path.as_deref() == Some(BACKWARDS) {
        return Some(text.chars().rev().collect());
    }
    let letters: Vec<char> = text.chars().take(4_096).collect();
    let one = |place: &Value| {
        let at = place.number?;
        let at = if at < 0 { at.checked_add(i64::try_from(letters.len()).ok()?)? } else { at };
        letters.get(usize::try_from(at).ok()?).copied()
    };
    let places = places.items.as_ref().filter(|places| places.len() > 1)?;
    let found: String = places.iter().filter_map(one).collect();
    Some(found).filter(|found| found.chars().count() > 1)
}
