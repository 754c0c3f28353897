//! Calls of functions, and code that stands in strings.

use std::rc::Rc;
use std::sync::Arc;

use super::flow::is_filling;
use super::values::{FORM_INPUT, is_request};
use super::{Calls, MAX_FOLLOWED, MAX_INNER_CODE, MAX_NESTED, Machine, Scope};
use crate::screen::code::effect::Act;
use crate::screen::code::ir::{Call, Command, Expr, Function, Stmt};
use crate::screen::code::language::Language;
use crate::screen::code::lower::lower;
use crate::screen::code::places::{secret_at, secret_directory};
use crate::screen::code::value::{HOLE, Marks, Origin, Value};

/// Modules whose functions are never those of the folder, even by the same name.
const MODULES: [&str; 16] = [
    "subprocess",
    "os",
    "shutil",
    "requests",
    "httpx",
    "json",
    "sys",
    "smtplib",
    "socket",
    "fs",
    "child_process",
    "axios",
    "http",
    "https",
    "File",
    "FileUtils",
];

impl Machine<'_> {
    pub(super) fn call(&mut self, call: &Call) -> Value {
        self.near = call.line;
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
                (Some(object), Expr::Name(own)) if !matches!(own.as_ref(), "this" | "self") => {
                    self.member(object, name, call.line)
                }
                (Some(object), inner) if !matches!(inner, Expr::Name(_)) => {
                    self.member(object, name, 0)
                }
                _ => self.value(&call.callee),
            },
            Expr::Index(_, index) => {
                let index = self.value(index);
                self.entry(receiver.as_ref().unwrap_or(&Value::NOTHING), &index)
            }
            other => self.value(other),
        };
        if let Expr::Member(object, name) = &call.callee
            && is_request(object, name)
            && receiver.as_ref().is_none_or(|r| r.text.is_none() && r.fields.is_none())
        {
            // Ruby calls what it reads: `request.headers`.
            self.values(&call.args);
            return Value::marked(self.mark(Origin::Fetched, FORM_INPUT, call.line));
        }
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
        let named: Vec<(Arc<str>, Value)> =
            call.named.iter().map(|(key, value)| (Arc::clone(key), self.value(value))).collect();
        self.filled.clear();
        let mut value = self.apply(&callee, receiver.as_ref(), &args, &named, call.line);
        // What a function put into its parameters is in what was handed over.
        for (arg, marks) in call.args.iter().zip(std::mem::take(&mut self.filled)) {
            if !marks.is_empty() && matches!(arg, Expr::Name(_)) {
                self.fill(arg, &[], &marks, call.line);
            }
        }
        if let Expr::Member(object, method) = &call.callee {
            if matches!(method.as_ref(), "save" | "savefig" | "to_csv" | "pipe" | "dump")
                && let Some(to @ Expr::Name(_)) = call.args.first()
                && let Some(from) = receiver.as_ref().map(Value::all_marks)
                && !from.is_empty()
            {
                self.fill(to, &[], &from, call.line);
            }
            if is_filling(method) {
                let mut marks = Marks::default();
                for value in args.iter().chain(named.iter().map(|(_, value)| value)) {
                    marks.add(&value.all_marks());
                    let archive = receiver.as_ref().and_then(|r| r.path.as_deref());
                    let archive = archive.is_some_and(|path| {
                        ["open-file", "zip", "Zip", "tar", "Tar", "archiv"]
                            .iter()
                            .any(|part| path.contains(part))
                    });
                    if archive && matches!(method.as_ref(), "add" | "write" | "file" | "directory")
                        || method.starts_with("addLocal")
                    {
                        marks.add(&self.packed(value, call.line));
                    }
                }
                self.fill(object, &args, &marks, call.line);
            } else if method.as_ref() == "pipe"
                && let Some(to) = call.args.first()
            {
                self.pipe(object, to);
            }
        }
        if !functions.is_empty() {
            // A function that is handed over is called with what it is handed over to.
            let mut given = receiver.unwrap_or_default();
            if given.path.as_deref().is_some_and(|p| matches!(p, "WebSocket" | "socket")) {
                // What arrives is not the address.
                given.text = None;
            }
            given.marks = given.all_marks();
            for arg in &args {
                given.marks.add(&arg.marks);
            }
            given.marks.add(&value.marks);
            if value
                .path
                .as_deref()
                .is_some_and(|p| matches!(p, "open-file" | "Net.HTTP" | "socket"))
            {
                // `File.open(…) { |file| … }`
                given = value.clone();
            }
            let items = given.items.clone();
            let each = given.each();
            let marks = given.marks;
            let pairs = each.items.as_ref().map_or(0, |pair| pair.len());
            let given = Value { marks, items: each.items.clone(), ..each };
            let maps = matches!(&call.callee, Expr::Member(_, name)
                if matches!(name.as_ref(), "map" | "flatMap" | "collect" | "flat_map" | "then"));
            let mut mapped = None;
            for function in functions {
                let params = function.params.len();
                let args: Vec<Value> = match &given.items {
                    // `each do |name, value|`
                    Some(pair) if params > 1 && pairs >= params => {
                        let one = |item: &Value| {
                            let mut item = item.clone();
                            item.marks.add(&given.marks);
                            item
                        };
                        pair.iter().take(params).map(one).collect()
                    }
                    _ => vec![given.clone(); params],
                };
                let result = self.walk_inline(function, &args);
                value.marks.add(&result.all_marks());
                mapped = Some(result).filter(|_| maps && items.is_some());
            }
            value.items = match mapped {
                Some(result) => result.gathered().items,
                None => items.or(value.items),
            };
        }
        value
    }

    /// Calls what `callee` names: a function of the folder, or one that the language brings.
    fn apply(
        &mut self,
        callee: &Value,
        receiver: Option<&Value>,
        args: &[Value],
        named: &[(Arc<str>, Value)],
        line: u32,
    ) -> Value {
        // PHP: a text is called by its name.
        let by_text = callee.constant().filter(|t| self.language().is_loose() && t.len() < 40);
        let path = callee.path.as_deref().or(by_text).unwrap_or_default();
        let last = path.rsplit(['.', ':']).next().unwrap_or_default();
        let by_name = path.starts_with("function:");
        let own =
            callee.module.or(Some(self.file)).filter(|_| by_name || path.starts_with("self."));
        // `file.read()` is no call of the folder's own `read`.
        let library = receiver.is_some_and(|r| r.text.is_some() || !r.marks.is_empty())
            && matches!(
                last,
                "read"
                    | "write"
                    | "get"
                    | "post"
                    | "send"
                    | "open"
                    | "join"
                    | "load"
                    | "loads"
                    | "dump"
                    | "copy"
                    | "run"
                    | "append"
                    | "add"
                    | "close"
                    | "encode"
                    | "decode"
                    | "json"
                    | "text"
                    | "items"
                    | "split"
                    | "strip"
                    | "replace"
                    | "format"
            );
        let of_module =
            receiver.and_then(|r| r.path.as_deref()).is_some_and(|path| MODULES.contains(&path));
        let method = || {
            !library
                && !of_module
                && path.contains('.')
                && self.functions.get(self.file).is_some_and(|own| own.contains_key(last))
        };
        let file = match own {
            Some(file) => Some(file),
            None if method() => Some(self.file),
            None => receiver.and_then(|r| r.module),
        };
        if let Some(file) = file
            && let Some(summary) = self.functions.get_mut(file).and_then(|own| own.get_mut(last))
        {
            for (place, arg) in args.iter().chain(named.iter().map(|(_, value)| value)).enumerate()
            {
                let arg = Value { marks: arg.all_marks(), ..arg.clone() };
                match summary.args.get_mut(place) {
                    Some(known) => *known = std::mem::take(known).or(&arg),
                    None => summary.args.push(arg),
                }
            }
            let result = summary.result.clone();
            let site = (self.file, line);
            summary.several |= *summary.site.get_or_insert(site) != site;
            // What its only caller hands over is what it was walked with.
            if !summary.several || self.first_pass {
                self.filled.clone_from(&summary.filled);
                return result;
            }
            let Some(function) = summary.function.clone() else { return result };
            let name: Arc<str> = last.into();
            let key = (file, name);
            if self.followed.len() >= MAX_FOLLOWED
                || self.follow_steps == 0
                || self.followed.contains(&key)
            {
                return result;
            }
            let mut scope: Scope = function.bound(args, Value::list).collect();
            for (name, value) in named.iter().filter(|(name, _)| function.params.contains(name)) {
                scope.insert(Arc::clone(name), value.clone());
            }
            let (value, after) = self.follow(key, &function, scope);
            self.filled = function
                .params
                .iter()
                .map(|param| after.get(param).map(Value::all_marks).unwrap_or_default())
                .collect();
            return value;
        }
        let mut value = self.builtin(path, callee, receiver, args, named, line);
        value.disguised |= callee.disguised && value.text.is_some();
        value
    }

    /// What packing a file puts into an archive.
    fn packed(&mut self, path: &Value, line: u32) -> Marks {
        let secret = path.alternatives().any(|v| v.as_text().is_some_and(is_private));
        if secret { self.read_path(path, line).marks } else { Marks::default() }
    }

    /// Walks a function as one caller calls it, and says what it returns and what became of its
    /// parameters.
    fn follow(
        &mut self,
        key: (usize, Arc<str>),
        function: &Function,
        scope: Scope,
    ) -> (Value, Scope) {
        let file = std::mem::replace(&mut self.file, key.0);
        let scopes = std::mem::take(&mut self.scopes);
        let before = self.steps;
        self.followed.push(key);
        self.dotted |= scope.keys().any(|name| name.contains('.'));
        self.scopes.push(scope);
        self.returned.push(Value::default());
        self.block(&function.body);
        let value = self.returned.pop().unwrap_or_default();
        let after = self.scopes.pop().unwrap_or_default();
        self.followed.pop();
        self.follow_steps = self.follow_steps.saturating_sub(self.steps - before);
        self.scopes = scopes;
        self.file = file;
        (value, after)
    }

    /// The program that defines a function of a shell: this one, or one that it reads in.
    fn shell_function(&self, name: &str) -> Option<usize> {
        let defines =
            |file: &usize| self.functions.get(*file).is_some_and(|f| f.contains_key(name));
        let read_in = self.sourced.get(&self.file).into_iter().flatten().copied();
        std::iter::once(self.file).chain(read_in).find(defines)
    }

    /// Calls a function of a shell: its words are `$1` and so on.
    fn call_by_words(&mut self, name: &str, words: &[Value], stdin: Option<&Value>) -> Value {
        let Some(file) = self.shell_function(name) else { return Value::default() };
        let key = (file, name.into());
        let follows = self.followed.len() < MAX_FOLLOWED
            && self.follow_steps > 0
            && !self.followed.contains(&key);
        let own = self.functions.get_mut(file).and_then(|own| own.get_mut(name));
        let Some(summary) = own else { return Value::default() };
        let Some(function) = summary.function.clone().filter(|_| follows) else {
            summary.calls = Calls::LeftOut;
            return summary.result.clone();
        };
        if summary.calls == Calls::None {
            summary.calls = Calls::Walked;
        }
        let rest = words.get(1..).unwrap_or_default();
        let mut scope = Scope::new();
        let shell = self.language() == Language::Shell;
        for (place, word) in rest.iter().take(9).enumerate() {
            scope.insert(format!("${}", place + 1).into(), word.clone());
        }
        let operands = rest
            .iter()
            .filter(|w| shell || !w.as_text().is_some_and(|t| t.starts_with('-') && t.len() > 1));
        for (param, word) in function.params.iter().zip(operands) {
            scope.insert(Arc::clone(param), word.clone());
        }
        let all = Value { items: Some(Rc::new(rest.to_vec())), ..Value::default() };
        scope.insert("$@".into(), all.clone());
        scope.insert("$*".into(), all.clone());
        scope.insert("$args".into(), all);
        if let Some(stdin) = stdin {
            scope.insert("<stdin>".into(), stdin.clone());
            scope.insert("$input".into(), stdin.clone());
        }
        self.follow(key, &function, scope).0
    }

    pub(super) fn command(&mut self, command: &Command) -> Value {
        let mut words = Vec::with_capacity(command.words.len());
        for word in &command.words {
            let word = self.value(word);
            match &word.items {
                // `"$@"` and `"${list[@]}"` are as many words as they have entries.
                Some(items) if word.text.is_none() && items.len() <= 64 => {
                    words.extend(items.iter().cloned());
                }
                _ => words.push(word),
            }
        }
        let stdin = match &command.stdin {
            Some(stdin) => Some(self.value(stdin)),
            None => self.lookup("<stdin>").cloned(),
        };
        let name = words.first().and_then(Value::constant).unwrap_or_default();
        let output = if self.shell_function(name).is_some() {
            self.call_by_words(name, &words, stdin.as_ref())
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

    /// Walks the body of a function; what it returns is kept by whoever called.
    pub(super) fn walk(&mut self, function: &Function, args: &[Value]) -> Scope {
        let scope = function.bound(args, Value::list).collect();
        self.dotted |= function.params.iter().any(|name| name.contains('.'));
        self.scopes.push(scope);
        self.block(&function.body);
        self.note_chooser(function);
        self.scopes.pop().unwrap_or_default()
    }

    /// Walks a function without a name and says what it returns.
    pub(super) fn walk_inline(&mut self, function: &Function, args: &[Value]) -> Value {
        self.returned.push(Value::default());
        self.walk(function, args);
        self.returned.pop().unwrap_or_default()
    }

    /// Runs code in a string, in the language it is written in.
    pub(crate) fn run_code(&mut self, language: Language, code: &Value, line: u32) -> Value {
        let foreign = [Origin::Fetched, Origin::Decoded].iter().any(|o| code.marks.has(o));
        // A value put into code that is otherwise written here is no code of its own.
        let whole = code.as_text().is_none_or(|text| {
            text.trim_start_matches(['(', ' ', '"', '?', '>']).starts_with(HOLE)
        });
        if foreign && (whole || code.disguised) {
            let target = code.as_text().unwrap_or_default().to_owned();
            self.add(Act::Evaluate, &target, code.marks.clone(), line);
        }
        let Some(text) = &code.text else { return Value::marked(code.marks.clone()) };
        if code.disguised {
            self.add(Act::Disguise, text, code.marks.clone(), line);
        }
        if text.len() > MAX_INNER_CODE || self.nested >= MAX_NESTED {
            return Value::marked(code.marks.clone());
        }
        let key = (language, Arc::clone(text));
        let body = match self.parsed.get(&key) {
            Some(body) => Rc::clone(body),
            None => {
                let body = Rc::new(lower(&mut self.parsers, language, text));
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

/// Whether a path holds something private.
fn is_private(path: &str) -> bool {
    secret_at(path).is_some() || secret_directory(path).is_some()
}
