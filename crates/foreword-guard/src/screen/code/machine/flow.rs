//! How values get into other values: entries, buffers, files of the folder.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::{Machine, file_name, own_name};
use crate::screen::code::ir::{Expr, Target};
use crate::screen::code::value::{HOLE, Marks, Value};

/// Entries of a list or an object that are kept.
const MAX_ENTRIES: usize = 64;

impl Machine<'_> {
    /// A part of a value: a field by its name, an entry by its place.
    pub(super) fn part(&mut self, value: &Value, field: &Arc<str>) -> Value {
        let Ok(place) = field.parse::<usize>() else { return self.member(value, field, 0) };
        let known = value.alternatives().filter_map(|v| v.items.as_ref()?.get(place).cloned());
        let known: Vec<Value> = known.collect();
        if known.is_empty() { value.clone() } else { Value::one_of(known) }
    }

    /// `name[entry] = value`.
    pub(super) fn put(&mut self, name: &str, entry: &Arc<str>, value: Value) {
        let mut whole = self.take(name);
        whole.marks.add(&value.all_marks());
        let fields = whole.fields.get_or_insert_with(|| Rc::new(BTreeMap::new()));
        if !entry.is_empty() && fields.len() < MAX_ENTRIES {
            Rc::make_mut(fields).insert(Arc::clone(entry), value);
        }
        self.rebind(name, whole.holding());
    }

    /// The value of a name, which gets a new one at once.
    fn take(&mut self, name: &str) -> Value {
        if let Some(known) = self.scopes.iter_mut().rev().find_map(|scope| scope.get_mut(name)) {
            return std::mem::take(known);
        }
        let globals = self.globals.get_mut(self.file);
        let known = globals.and_then(|globals| globals.get_mut(name));
        known.map(std::mem::take).unwrap_or_default()
    }

    /// Gives a name that is known, or one of this file, its value.
    fn rebind(&mut self, name: &str, value: Value) {
        if let Some(known) = self.scopes.iter_mut().rev().find_map(|scope| scope.get_mut(name)) {
            *known = value;
            return;
        }
        // A variable of the file stays one, also if a function changes it.
        let globals = self.globals.get_mut(self.file);
        if let Some(known) = globals.and_then(|globals| globals.get_mut(name)) {
            *known = value;
            return;
        }
        self.bind(&Target::whole(name), value, false);
    }

    /// Gives a variable of a shell its value.
    pub(crate) fn set_variable(&mut self, name: &str, value: Value) {
        self.bind(&Target::whole(format!("${name}")), value, false);
    }

    /// A method puts its arguments into the object that it is called on.
    pub(super) fn fill(&mut self, object: &Expr, args: &[Value], marks: &Marks, line: u32) {
        let Some(name) = root_name(object) else { return };
        let mut at: Arc<str> = own_name(&name).into();
        // An archive writes to a buffer, which writes to a stream.
        for step in 0..3 {
            let mut whole = self.take(&at);
            whole.marks.add(marks);
            if step == 0
                && let Some(items) = &mut whole.items
                && items.len() < MAX_ENTRIES
            {
                Rc::make_mut(items).extend(args.iter().cloned());
            } else if step == 0
                && whole.text.is_none()
                && args.iter().any(|arg| arg.text.is_some() || arg.fields.is_some())
                && whole.fields.as_ref().is_none_or(|fields| fields.len() < MAX_ENTRIES)
            {
                let fields = whole.fields.get_or_insert_default();
                let place: Arc<str> = format!("+{}", fields.len()).into();
                let given = Some(Rc::new(args.to_vec()));
                let given = Value { items: given, ..Value::marked(marks.clone()) };
                Rc::make_mut(fields).insert(place, given.holding());
            }
            let path = whole.text.clone().filter(|_| whole.path.as_deref() == Some("open-file"));
            self.rebind(&at, whole.holding());
            if let Some(path) = path {
                self.write_path(&path, &Value::marked(marks.clone()), line);
            }
            let Some(next) = self.conduits.get(&at) else { break };
            at = Arc::clone(next);
        }
    }

    /// `archive = ZipFile(buffer)`: what is put into the archive is in the buffer.
    pub(super) fn note_conduit(&mut self, targets: &[Target], value: &Expr) {
        let ([target], Expr::Call(call)) = (targets, value) else { return };
        let callee = match &call.callee {
            Expr::Member(_, name) | Expr::Name(name) => name.as_ref(),
            _ => return,
        };
        let wraps = matches!(
            callee,
            "open"
                | "ZipFile"
                | "TarFile"
                | "GzipFile"
                | "BZ2File"
                | "LZMAFile"
                | "writer"
                | "DictWriter"
                | "TextIOWrapper"
                | "BufferedWriter"
                | "new"
        );
        let buffers = call.args.iter().chain(call.named.iter().map(|(_, value)| value));
        let buffer = buffers.take(3).find_map(|arg| match arg {
            Expr::Name(name) => Some(Arc::clone(name)),
            // `self.archive = ZipFile(self.buffer)`
            Expr::Member(object, _) if matches!(object.as_ref(), Expr::Name(_)) => root_name(arg),
            _ => None,
        });
        let own: Arc<str> = own_name(&target.name).into();
        if let Some(buffer) = buffer.filter(|name| wraps && *name != own)
            && self.conduits.len() < MAX_ENTRIES
        {
            self.conduits.insert(own, buffer);
        }
    }

    /// `archive.pipe(output)`.
    pub(super) fn pipe(&mut self, from: &Expr, to: &Expr) {
        if let (Some(from), Some(to)) = (root_name(from), root_name(to))
            && from != to
            && self.conduits.len() < MAX_ENTRIES
        {
            self.conduits.insert(from, to);
        }
    }

    /// The text of a file that lies in the folder.
    pub(crate) fn asset(&self, path: &str) -> Option<&str> {
        let outside = path.starts_with(['/', '~', '$']) || path.contains("://");
        let name = file_name(path);
        if outside || name.is_empty() || name.contains([HOLE, '*']) {
            return None;
        }
        self.assets.get(name).map(String::as_str)
    }
}

/// The name at the root of `name`, `name[x]`, `this.name`.
fn root_name(expr: &Expr) -> Option<Arc<str>> {
    match expr {
        Expr::Name(name) => Some(Arc::clone(name)),
        Expr::Index(object, _) => root_name(object),
        Expr::Member(object, name) => match object.as_ref() {
            Expr::Name(own) if matches!(own.as_ref(), "this" | "self") => Some(Arc::clone(name)),
            other => root_name(other),
        },
        _ => None,
    }
}

/// Methods that put their arguments into what they are called on.
pub(super) fn is_filling(method: &str) -> bool {
    matches!(
        method,
        "append"
            | "push"
            | "extend"
            | "add"
            | "insert"
            | "update"
            | "set"
            | "write"
            | "writestr"
            | "writelines"
            | "writerow"
            | "writerows"
            | "unshift"
            | "appendleft"
            | "addFile"
            | "addLocalFile"
            | "addLocalFolder"
            | "add_file"
            | "addfile"
            | "file"
            | "directory"
            | "put"
            | "concat"
            | "setdefault"
            | "attach"
            | "set_payload"
            | "set_content"
            | "add_attachment"
            | "set_form_data"
            | "merge!"
            | "store"
            | "field"
            | "body"
    )
}
