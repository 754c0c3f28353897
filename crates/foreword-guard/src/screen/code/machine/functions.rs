//! Calls of functions, and code that stands in strings.

use std::rc::Rc;
use std::sync::Arc;

use super::{MAX_INNER_CODE, MAX_NESTED, Machine};
use crate::screen::code::effect::Act;
use crate::screen::code::ir::{Call, Command, Expr, Function, Stmt};
use crate::screen::code::language::Language;
use crate::screen::code::lower::lower;
use crate::screen::code::value::{HOLE, Origin, Value};

impl Machine<'_> {
    pub(super) fn call(&mut self, call: &Call) -> Value {
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
        named: &[(Arc<str>, Value)],
        line: u32,
    ) -> Value {
        let path = callee.path.as_deref().unwrap_or_default();
        let last = path.rsplit(['.', ':']).next().unwrap_or_default();
        let by_name = path.starts_with("function:");
        let own =
            callee.module.or(Some(self.file)).filter(|_| by_name || path.starts_with("self."));
        let method = || {
            path.contains('.')
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
            return summary.result.clone();
        }
        let mut value = self.builtin(path, callee, receiver, args, named, line);
        value.disguised |= callee.disguised && value.text.is_some();
        value
    }

    pub(super) fn command(&mut self, command: &Command) -> Value {
        let words = self.values(&command.words);
        let stdin = command.stdin.as_ref().map(|stdin| self.value(stdin));
        let name = words.first().and_then(Value::constant).unwrap_or_default();
        let own = self.functions.get(self.file).and_then(|own| own.get(name));
        let output = if let Some(summary) = own {
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

    /// Walks the body of a function; what it returns is kept by whoever called.
    pub(super) fn walk(&mut self, function: &Function, args: &[Value]) {
        let nothing = Value::default();
        let values = args.iter().chain(std::iter::repeat(&nothing));
        let scope = function.params.iter().cloned().zip(values.cloned()).collect();
        self.dotted |= function.params.iter().any(|name| name.contains('.'));
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

    /// Runs code in a string, in the language it is written in.
    pub(crate) fn run_code(&mut self, language: Language, code: &Value, line: u32) -> Value {
        let foreign = [Origin::Fetched, Origin::Decoded].iter().any(|o| code.marks.has(o));
        // A value put into code that is otherwise written here is no code of its own.
        let whole = code
            .as_text()
            .is_none_or(|text| text.trim_start_matches(['(', ' ', '"']).starts_with(HOLE));
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
