//! Follows values through the programs of one folder, without running anything.
//!
//! Every statement counts as done once, in order; branches are not chosen between. Functions are
//! followed through what they are given and what they return, across files. The programs are walked a
//! few times, because a function may be called before the walk has seen what it does.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use super::effect::{Act, Effect};
use super::ir::{Call, Command, Expr, Function, Stmt, Target};
use super::language::Language;
use super::lower::lower;
use super::places::{is_secret_name, secret_at};
use super::value::{HOLE, Mark, Marks, Origin, Value};

/// Walks over all programs: what one file collects, a second encodes and a third sends is found.
const PASSES: usize = 3;
/// Code within code within code is followed this deep.
const MAX_NESTED: usize = 3;
/// Calls within calls are followed this deep.
const MAX_DEPTH: usize = 200;
/// Expressions that are looked at in all passes over a folder.
const MAX_STEPS: usize = 3_000_000;
/// Effects that are kept.
const MAX_EFFECTS: usize = 2_000;
/// Longer pieces of code inside strings are not parsed.
const MAX_INNER_CODE: usize = 8 * 1024;

/// A program of the folder.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) path: String,
    pub(crate) language: Language,
    pub(crate) kind: ProgramKind,
    /// How many lines lie above it in its file.
    pub(crate) lines_above: u32,
    pub(crate) body: Vec<Stmt>,
}

/// What a program is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProgramKind {
    /// A file of its own.
    File,
    /// A fence in a document, for its reader to see.
    Fence,
    /// A piece of a manifest, of settings or of a page.
    Embedded,
}

#[derive(Debug, Default)]
struct Summary {
    args: Vec<Value>,
    result: Value,
}

pub(crate) struct Machine<'a> {
    programs: &'a [Program],
    pub(super) file: usize,
    globals: Vec<HashMap<String, Value>>,
    scopes: Vec<HashMap<String, Value>>,
    functions: HashMap<(usize, String), Summary>,
    /// The function that is being walked.
    inside: Option<(usize, String)>,
    /// What functions without a name return.
    returned: Vec<Value>,
    /// What programs wrote to files, by path.
    pub(super) staged: HashMap<String, Value>,
    /// What programs print, by file.
    pub(super) printed: Vec<Marks>,
    pub(super) effects: Vec<Effect>,
    seen: HashSet<(usize, u32, Act, String)>,
    parsed: HashMap<(Language, String), Rc<Vec<Stmt>>>,
    /// Where the unknown parts of code in a string came from.
    holes: Vec<Marks>,
    nested: usize,
    depth: usize,
    steps: usize,
    /// The line that code in a string is reported at.
    at_line: Option<u32>,
}

/// Everything that the programs of a folder do.
pub(crate) fn effects(programs: &[Program]) -> Vec<Effect> {
    let mut machine = Machine {
        programs,
        file: 0,
        globals: programs.iter().map(|_| HashMap::new()).collect(),
        scopes: Vec::new(),
        functions: HashMap::new(),
        inside: None,
        returned: Vec::new(),
        staged: HashMap::new(),
        printed: programs.iter().map(|_| Marks::default()).collect(),
        effects: Vec::new(),
        seen: HashSet::new(),
        parsed: HashMap::new(),
        holes: Vec::new(),
        nested: 0,
        depth: 0,
        steps: 0,
        at_line: None,
    };
    for pass in 0..PASSES {
        if pass > 0 && pass + 1 < PASSES && programs.len() == 1 && machine.functions.is_empty() {
            break;
        }
        machine.effects.clear();
        machine.seen.clear();
        for (file, program) in programs.iter().enumerate() {
            machine.file = file;
            machine.block(&program.body);
        }
    }
    machine.effects
}

impl Machine<'_> {
    pub(super) fn language(&self) -> Language {
        self.programs.get(self.file).map_or(Language::Shell, |program| program.language)
    }

    /// The program of the folder that a path names.
    pub(super) fn program_at(&self, path: &str) -> Option<usize> {
        let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let wanted = name(path);
        (!wanted.is_empty())
            .then(|| {
                self.programs
                    .iter()
                    .position(|p| p.kind == ProgramKind::File && name(&p.path) == wanted)
            })
            .flatten()
    }

    /// The program that a module's name stands for.
    fn module_at(&self, module: &str) -> Option<usize> {
        let stem = |path: &str| {
            let name = path.rsplit('/').next().unwrap_or_default();
            name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned()
        };
        let relative = module.starts_with('.');
        let last = module.trim_start_matches('.').rsplit(['/']).next().unwrap_or_default();
        let last = last
            .trim_end_matches(".js")
            .trim_end_matches(".ts")
            .trim_end_matches(".mjs")
            .trim_end_matches(".cjs");
        let last =
            if relative || !module.contains('.') { last } else { module.rsplit('.').next()? };
        let own = self.programs.get(self.file)?.language;
        self.programs.iter().enumerate().position(|(index, program)| {
            index != self.file
                && program.kind == ProgramKind::File
                && family(program.language) == family(own)
                && stem(&program.path) == last
        })
    }

    pub(super) fn mark(&self, origin: Origin, detail: impl Into<String>, line: u32) -> Marks {
        let line = self.at_line.unwrap_or(line);
        Marks::one(Mark { origin, detail: detail.into(), file: self.file, line })
    }

    pub(super) fn add(&mut self, act: Act, target: &str, marks: Marks, line: u32) {
        self.add_with_proof(act, target, marks, Marks::default(), line);
    }

    pub(super) fn add_with_proof(
        &mut self,
        act: Act,
        target: &str,
        marks: Marks,
        proof: Marks,
        line: u32,
    ) {
        let line = self.at_line.unwrap_or(line);
        let target: String = target.chars().take(300).collect();
        if self.effects.len() >= MAX_EFFECTS {
            return;
        }
        if !self.seen.insert((self.file, line, act, target.clone())) {
            let same = |e: &&mut Effect| {
                e.file == self.file && e.line == line && e.act == act && e.target == target
            };
            if let Some(known) = self.effects.iter_mut().rev().find(same) {
                known.marks.add(&marks);
                known.proof.add(&proof);
            }
            return;
        }
        self.effects.push(Effect { act, target, marks, proof, file: self.file, line });
    }

    pub(super) fn block(&mut self, body: &[Stmt]) {
        for statement in body {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Bind { targets, value, extends } => {
                let value = self.value(value);
                for target in targets {
                    self.bind(target, &value, *extends);
                }
            }
            Stmt::Import { module, member, local, line } => {
                self.import(module, member.as_deref(), local, *line);
            }
            Stmt::Define { name, function } => {
                let key = (self.file, name.clone());
                let args = self.functions.entry(key.clone()).or_default().args.clone();
                let before = self.inside.replace(key);
                self.walk(function, &args);
                self.inside = before;
                let value = Value::path(format!("function:{name}"));
                self.bind(&Target::whole(name.clone()), &value, false);
            }
            Stmt::Do(value) => {
                self.value(value);
            }
            Stmt::Return(value) => {
                let value = self.value(value);
                if let Some(last) = self.returned.last_mut() {
                    *last = std::mem::take(last).or(&value);
                } else if let Some(summary) =
                    self.inside.as_ref().and_then(|key| self.functions.get_mut(key))
                {
                    summary.result = std::mem::take(&mut summary.result).or(&value);
                }
            }
            Stmt::Endless { body, line } => {
                let before = self.effects.len();
                self.block(body);
                let network = |e: &Effect| matches!(e.act, Act::Http | Act::Connect);
                let waits = self.effects.iter().skip(before).any(|e| e.target == "sleep");
                let found = self.effects.iter().skip(before).find(|e| network(e));
                if let Some(target) = found.map(|e| e.target.clone())
                    && !waits
                {
                    self.add(Act::Flood, &target, Marks::default(), *line);
                }
            }
        }
    }

    fn import(&mut self, module: &str, member: Option<&str>, local: &str, line: u32) {
        if module.starts_with("https://") || module.starts_with("http://") {
            self.add(Act::LoadRemote, module, Marks::default(), line);
        }
        let value = match (self.module_at(module), member) {
            (Some(file), Some(member)) => self.exported(file, member),
            (Some(file), None) => Value { module: Some(file), ..Value::path(module) },
            (None, Some(member)) => Value::path(format!("{}.{member}", plain_module(module))),
            (None, None) => Value::path(plain_module(module)),
        };
        if !local.is_empty() {
            self.bind(&Target::whole(local), &value, false);
        }
    }

    /// What another file of the folder calls so.
    fn exported(&self, file: usize, member: &str) -> Value {
        let known = self.globals.get(file).and_then(|globals| globals.get(member)).cloned();
        let mut value = known.unwrap_or_default();
        if self.functions.contains_key(&(file, member.to_owned())) {
            value.module = Some(file);
            value.path = Some(format!("function:{member}").into());
        }
        value
    }

    fn bind(&mut self, target: &Target, value: &Value, extends: bool) {
        let mut value = match &target.field {
            Some(field) => self.member(value, field, 0),
            None => value.clone(),
        };
        let name = target.name.trim_start_matches("this.").trim_start_matches("self.");
        let inner = |scope: &HashMap<String, Value>| scope.contains_key(name);
        let own = self.scopes.iter().rposition(inner);
        let is_member = name.len() != target.name.len() || name.contains('.');
        if is_member || extends {
            let before = self.lookup(name).cloned().unwrap_or_default();
            value = if extends { Value::joined(&[before, value], "") } else { value };
        }
        if let Some((root, _)) = name.split_once('.')
            && let Some(whole) = self.lookup(root)
        {
            // What an object is given is part of it.
            let mut whole = whole.clone();
            whole.marks.add(&value.marks);
            let root = Target::whole(root);
            self.bind(&root, &whole, false);
        }
        let globals = self.globals.get_mut(self.file);
        let scope = match own {
            Some(at) => self.scopes.get_mut(at),
            None if is_member => globals,
            None => self.scopes.last_mut().or(globals),
        };
        if let Some(scope) = scope {
            scope.insert(name.to_owned(), value);
        }
    }

    fn lookup(&self, name: &str) -> Option<&Value> {
        let local = self.scopes.iter().rev().find_map(|scope| scope.get(name));
        local.or_else(|| self.globals.get(self.file).and_then(|globals| globals.get(name)))
    }

    /// Walks the body of a function; what it returns is kept by whoever called.
    fn walk(&mut self, function: &Function, args: &[Value]) {
        let nothing = Value::default();
        let values = args.iter().chain(std::iter::repeat(&nothing));
        let scope = function.params.iter().cloned().zip(values.cloned()).collect();
        self.scopes.push(scope);
        self.block(&function.body);
        self.scopes.pop();
    }

    /// Walks a function without a name and says what it returns.
    pub(super) fn walk_inline(&mut self, function: &Function, args: &[Value]) -> Value {
        self.returned.push(Value::default());
        self.walk(function, args);
        self.returned.pop().unwrap_or_default()
    }

    fn values(&mut self, list: &[Expr]) -> Vec<Value> {
        list.iter().map(|one| self.value(one)).collect()
    }

    pub(super) fn value(&mut self, expr: &Expr) -> Value {
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
                let mut value = Value::text(text);
                if text.contains(HOLE)
                    && let Some(marks) = self.holes.last()
                {
                    value.marks = marks.clone();
                }
                value
            }
            Expr::Number(number) => Value { number: Some(*number), ..Value::default() },
            Expr::Name(name) => self.name(name),
            Expr::Join(parts) => {
                let parts = self.values(parts);
                Value::joined(&parts, "")
            }
            Expr::Unknown(parts) => {
                let parts = self.values(parts);
                match parts.as_slice() {
                    [one] => one.clone(),
                    _ => {
                        let mut out = Value::default();
                        for part in &parts {
                            out.marks.add(&part.all_marks());
                        }
                        // A choice between texts is the first that is known.
                        out.text = parts.iter().find_map(|part| part.text.clone());
                        out
                    }
                }
            }
            Expr::List(items) => {
                let items = self.values(items);
                let mut out = Value::default();
                for item in &items {
                    out.marks.add(&item.all_marks());
                }
                out.items = Some(Rc::new(items));
                out
            }
            Expr::Map(entries) => {
                let mut fields = BTreeMap::new();
                let mut marks = Marks::default();
                for (key, value) in entries {
                    let value = self.value(value);
                    marks.add(&value.all_marks());
                    if key.is_empty() {
                        // A spread or computed entry.
                        for (name, inner) in value.fields.iter().flat_map(|fields| fields.iter()) {
                            fields.insert(name.clone(), inner.clone());
                        }
                    }
                    fields.insert(key.clone(), value);
                }
                Value { marks, fields: Some(Rc::new(fields)), ..Value::default() }
            }
            Expr::Member(object, name) => {
                if let Expr::Name(own) = object.as_ref()
                    && matches!(own.as_str(), "this" | "self")
                    && let Some(value) = self.lookup(name)
                {
                    return value.clone();
                }
                if let Expr::Name(own) = object.as_ref()
                    && let Some(value) = self.lookup(&format!("{own}.{name}"))
                {
                    return value.clone();
                }
                let object = self.value(object);
                self.member(&object, name, 0)
            }
            Expr::Index(object, index) => {
                let (object, index) = (self.value(object), self.value(index));
                match (index.constant(), index.number, &object.items) {
                    (_, Some(number), Some(items)) => {
                        let item = usize::try_from(number).ok().and_then(|at| items.get(at));
                        item.cloned().unwrap_or_else(|| Value::marked(object.marks.clone()))
                    }
                    (Some(name), ..) => {
                        let mut value = self.member(&object, name, 0);
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
            Expr::Call(call) => self.call(call),
            Expr::Function(function) => {
                let args = Vec::new();
                self.walk_inline(function, &args)
            }
            Expr::Command(command) => self.command(command),
        }
    }

    fn name(&mut self, name: &str) -> Value {
        if let Some(module) = name.strip_prefix("require:") {
            return match self.module_at(module) {
                Some(file) => Value { module: Some(file), ..Value::path(module) },
                None => Value::path(plain_module(module)),
            };
        }
        if let Some(value) = self.lookup(name) {
            return value.clone();
        }
        match name.strip_prefix('$') {
            Some(variable) if !variable.is_empty() => self.variable(variable, 0),
            _ => Value::path(name),
        }
    }

    /// A variable of the environment.
    pub(super) fn variable(&mut self, name: &str, line: u32) -> Value {
        if matches!(name, "HOME" | "USERPROFILE") {
            return Value::text("~");
        }
        let mut value = Value::default();
        if is_secret_name(name) {
            value.marks = self.mark(Origin::SecretVariable, name, line);
            self.add(Act::ReadSecret, name, value.marks.clone(), line);
        }
        value
    }

    /// A member of an object or module.
    pub(super) fn member(&mut self, object: &Value, name: &str, line: u32) -> Value {
        if let Some(field) = object.field(name) {
            return field.clone();
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
                let mut value = Value::path(format!("{path}.{name}"));
                value.marks = object.marks.clone();
                value.disguised = object.disguised;
                let whole = value.path.as_deref().unwrap_or_default().to_owned();
                if matches!(whole.as_str(), "document.cookie" | "window.document.cookie") {
                    value.marks.add(&self.mark(Origin::Page, "cookies", line));
                }
                value
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

    fn call(&mut self, call: &Call) -> Value {
        // What a call is on: `object.method(…)`.
        let receiver = match &call.callee {
            Expr::Member(object, _) | Expr::Index(object, _) => Some(self.value(object)),
            _ => None,
        };
        let callee = match &call.callee {
            Expr::Function(function) => {
                let args = self.values(&call.args);
                return self.walk_inline(function, &args);
            }
            Expr::Member(object, name) => match (&receiver, object.as_ref()) {
                (Some(object), Expr::Name(own)) if !matches!(own.as_str(), "this" | "self") => {
                    self.member(object, name, call.line)
                }
                _ => self.value(&call.callee),
            },
            other => self.value(other),
        };
        let mut functions: Vec<&Function> = Vec::new();
        let mut args = Vec::with_capacity(call.args.len());
        for arg in &call.args {
            match arg {
                Expr::Function(function) => {
                    functions.push(function);
                    args.push(Value::default());
                }
                other => args.push(self.value(other)),
            }
        }
        let named: Vec<(String, Value)> =
            call.named.iter().map(|(key, value)| (key.clone(), self.value(value))).collect();
        let mut value = self.apply(&callee, receiver.as_ref(), &args, &named, call.line);
        if !functions.is_empty() {
            // A function that is handed over is called with what it is handed over to.
            let mut given = receiver.unwrap_or_default();
            given.marks = given.all_marks();
            for arg in &args {
                given.marks.add(&arg.marks);
            }
            given.marks.add(&value.marks);
            let items = given.items.take();
            let item = items.as_ref().and_then(|items| items.first()).cloned();
            let given = item.map_or(given.clone(), |item| Value { marks: given.marks, ..item });
            for function in functions {
                let args = vec![given.clone(); function.params.len()];
                let result = self.walk_inline(function, &args);
                value.marks.add(&result.all_marks());
            }
            value.items = items.or(value.items);
        }
        value
    }

    /// Calls what `callee` names: a function of the folder, or one that the language brings.
    fn apply(
        &mut self,
        callee: &Value,
        receiver: Option<&Value>,
        args: &[Value],
        named: &[(String, Value)],
        line: u32,
    ) -> Value {
        let path = callee.path.as_deref().unwrap_or_default().to_owned();
        let last = path.rsplit(['.', ':']).next().unwrap_or_default().to_owned();
        let by_name = path.starts_with("function:");
        let own =
            callee.module.or(Some(self.file)).filter(|_| by_name || path.starts_with("self."));
        let method = || {
            let key = (self.file, last.clone());
            (path.starts_with('.') || path.contains('.')) && self.functions.contains_key(&key)
        };
        let key = match own {
            Some(file) => Some((file, last.clone())),
            None if method() => Some((self.file, last.clone())),
            None => receiver.and_then(|r| r.module).map(|file| (file, last.clone())),
        };
        if let Some(key) = key
            && let Some(summary) = self.functions.get_mut(&key)
        {
            for (place, arg) in args.iter().chain(named.iter().map(|(_, value)| value)).enumerate()
            {
                let arg = Value { marks: arg.all_marks(), ..arg.clone() };
                match summary.args.get_mut(place) {
                    Some(known) => *known = std::mem::take(known).or(&arg),
                    None => summary.args.push(arg),
                }
            }
            return summary.result.clone();
        }
        let mut value = self.builtin(&path, callee, receiver, args, named, line);
        value.disguised |= callee.disguised && value.text.is_some();
        value
    }

    fn command(&mut self, command: &Command) -> Value {
        let words = self.values(&command.words);
        let stdin = command.stdin.as_ref().map(|stdin| self.value(stdin));
        let name = words.first().and_then(Value::constant).unwrap_or_default().to_owned();
        let own = (self.file, name);
        let output = if let Some(summary) = self.functions.get(&own) {
            summary.result.clone()
        } else {
            self.run_words(&words, stdin.as_ref(), command.line)
        };
        for target in &command.writes {
            let target = self.value(target);
            self.redirect(&target, &output, stdin.as_ref(), &words, command.line);
        }
        if command.writes.is_empty()
            && let Some(printed) = self.printed.get_mut(self.file)
        {
            printed.add(&output.marks);
        }
        output
    }

    /// Reads a file: what it holds, if that is known, and that it was read.
    pub(super) fn read_path(&mut self, path: &Value, line: u32) -> Value {
        let mut value = Value::default();
        let Some(text) = path.as_text() else {
            value.marks = path.marks.clone();
            value.marks.add(&self.mark(Origin::Files, "files", line));
            return value;
        };
        let text = text.to_owned();
        if let Some(staged) = self.staged.get(&text) {
            value = staged.clone();
        }
        match secret_at(&text) {
            Some(what) => {
                value.marks.add(&self.mark(Origin::SecretFile, format!("{what} ({text})"), line));
                self.add(Act::ReadSecret, &text, value.marks.clone(), line);
            }
            None => value.marks.add(&self.mark(Origin::Files, text, line)),
        }
        value.marks.add(&path.marks);
        value
    }

    /// Runs code in a string, in the language it is written in.
    pub(super) fn run_code(&mut self, language: Language, code: &Value, line: u32) -> Value {
        let foreign = [Origin::Fetched, Origin::Decoded].iter().any(|o| code.marks.has(o));
        // A value put into code that is otherwise written here is no code of its own.
        let whole = code
            .as_text()
            .is_none_or(|text| text.trim_start_matches(['(', ' ', '"']).starts_with(HOLE));
        if foreign && (whole || code.disguised) {
            let target = code.as_text().unwrap_or_default().to_owned();
            self.add(Act::Evaluate, &target, code.marks.clone(), line);
        }
        let Some(text) = code.as_text() else { return Value::marked(code.marks.clone()) };
        if code.disguised {
            self.add(Act::Disguise, text, code.marks.clone(), line);
        }
        if text.len() > MAX_INNER_CODE || self.nested >= MAX_NESTED {
            return Value::marked(code.marks.clone());
        }
        let key = (language, text.to_owned());
        let body = match self.parsed.get(&key) {
            Some(body) => Rc::clone(body),
            None => {
                let body = Rc::new(lower(language, text));
                self.parsed.insert(key, Rc::clone(&body));
                body
            }
        };
        self.nested += 1;
        self.holes.push(code.marks.clone());
        let before = self.at_line.replace(self.at_line.unwrap_or(line));
        let function = Function { params: Vec::new(), body: Vec::new() };
        let mut value = self.walk_inline(&function, &[]);
        self.returned.push(Value::default());
        for statement in body.iter() {
            if let Stmt::Do(expr) = statement {
                let printed = self.value(expr);
                value.marks.add(&printed.all_marks());
                value.text = printed.text.or(value.text);
            } else {
                self.statement(statement);
            }
        }
        self.returned.pop();
        self.at_line = before;
        self.holes.pop();
        self.nested -= 1;
        value
    }
}

fn family(language: Language) -> u8 {
    match language {
        Language::JavaScript | Language::TypeScript | Language::Tsx => 0,
        Language::Python => 1,
        Language::Shell => 2,
        Language::PowerShell => 3,
        Language::Ruby => 4,
    }
}

/// `node:fs/promises` is `fs`.
fn plain_module(module: &str) -> &str {
    let module = module.strip_prefix("node:").unwrap_or(module);
    module.strip_suffix("/promises").unwrap_or(module)
}

/// Members that leave a text as it is, more or less.
pub(super) fn is_passive(name: &str) -> bool {
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
