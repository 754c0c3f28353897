//! Follows values through the programs of one folder, without running anything.
//!
//! Every statement counts as done once, in order; branches are not chosen between. Functions are
//! followed through what they are given and what they return, across files. The programs are walked a
//! few times, because a function may be called before the walk has seen what it does.

mod flow;
mod functions;
mod modules;
pub(super) mod payments;
mod templates;
mod values;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Bound;
use std::rc::Rc;
use std::sync::Arc;

use modules::{file_name, plain_module};
pub(super) use values::{BACKWARDS, FORM_INPUT, REQUEST_INPUT, is_passive};

use super::effect::{Act, Effect};
use super::ir::{Function, Stmt, Target};
use super::language::{Language, Parsers};
use super::places::{secret_at, secret_directory};
use super::value::{Mark, Marks, Origin, Value};

/// Walks over all programs: what one file collects, a second encodes and a third sends is found.
const PASSES: usize = 3;
/// Code within code within code is followed this deep.
const MAX_NESTED: usize = 3;
/// Calls within calls are followed this deep.
const MAX_DEPTH: usize = 200;
/// Expressions that are looked at in all passes over a folder.
const MAX_STEPS: usize = 3_000_000;
/// Functions are followed anew for each caller this deep, and for so many expressions in a pass.
const MAX_FOLLOWED: usize = 3;
const MAX_FOLLOWED_STEPS: usize = 60_000;
/// Effects that are kept.
const MAX_EFFECTS: usize = 2_000;
/// Characters of an effect's target that are kept.
const MAX_TARGET: usize = 300;
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
    /// A hook of an agent: its input is what the user tells the agent.
    Hook,
}

/// Values by name.
type Scope = BTreeMap<Arc<str>, Value>;

#[derive(Debug, Default)]
struct Summary {
    args: Vec<Value>,
    result: Value,
    function: Option<Arc<Function>>,
    /// What it puts into its parameters.
    filled: Vec<Marks>,
    /// Where it is called, and whether there are other places.
    site: Option<(usize, u32)>,
    several: bool,
    /// How a shell calls it: whether it was walked at each call so far.
    calls: Calls,
}

/// Whether the calls of a shell's function show all that it does.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Calls {
    #[default]
    None,
    Walked,
    /// Some call was too deep, or one too many.
    LeftOut,
}

pub(crate) struct Machine<'a> {
    programs: &'a [Program],
    pub(super) file: usize,
    /// The first program file with each name.
    by_name: HashMap<&'a str, usize>,
    globals: Vec<Scope>,
    scopes: Vec<Scope>,
    /// Whether a name with a dot in it has a value.
    dotted: bool,
    /// The functions of each program.
    functions: Vec<BTreeMap<Arc<str>, Summary>>,
    /// The function that is being walked.
    inside: Option<Arc<str>>,
    /// Constant texts are looked at in the first pass.
    first_pass: bool,
    /// The kinds of secrets whose places each program names.
    named: Vec<(usize, &'static str)>,
    /// What functions without a name return.
    returned: Vec<Value>,
    /// The functions that are followed for their callers, and the expressions left for that.
    followed: Vec<(usize, Arc<str>)>,
    follow_steps: usize,
    /// What the function that was followed last put into its parameters.
    filled: Vec<Marks>,
    /// What is put into a name also goes to another: an archive writes to a buffer.
    conduits: HashMap<Arc<str>, Arc<str>>,
    /// The programs that a program of a shell reads in.
    pub(super) sourced: HashMap<usize, Vec<usize>>,
    /// Code that a program writes to a file is being looked at.
    pub(super) writing: bool,
    /// The host that a program last connected to.
    pub(super) connected: HashMap<usize, String>,
    /// The texts of other files of the folder, by name.
    assets: &'a HashMap<String, String>,
    /// What programs wrote to files, by path.
    pub(super) staged: BTreeMap<String, Value>,
    /// The directories of a person that each program walks through.
    pub(super) walked: HashMap<usize, String>,
    /// The programs that hold an address for payments.
    pays: HashSet<usize>,
    /// The programs that compare what they fetch with a checksum.
    pub(super) checked: HashSet<usize>,
    /// What programs print, by file.
    pub(super) printed: Vec<Marks>,
    pub(super) effects: Vec<Effect>,
    /// Where each effect stands among the effects.
    seen: BTreeMap<(usize, u32, Act, Rc<str>), usize>,
    parsers: Parsers,
    parsed: HashMap<(Language, Arc<str>), Rc<Vec<Stmt>>>,
    /// Where the unknown parts of code in a string came from.
    holes: Vec<Marks>,
    nested: usize,
    depth: usize,
    steps: usize,
    /// The language of the text that is read as a program.
    speaks: Option<Language>,
    /// The texts that were read as programs in this walk.
    templates: usize,
    /// The line of the last call.
    near: u32,
    /// The line that code in a string is reported at.
    at_line: Option<u32>,
}

/// Everything that the programs of a folder do. `body` says what a program consists of.
pub(crate) fn effects(
    programs: &[Program],
    assets: &HashMap<String, String>,
    mut body: impl FnMut(usize) -> Arc<Vec<Stmt>>,
) -> Vec<Effect> {
    let mut by_name = HashMap::new();
    for (file, program) in programs.iter().enumerate() {
        if program.kind == ProgramKind::File {
            by_name.entry(file_name(&program.path)).or_insert(file);
        }
    }
    let mut machine = Machine {
        programs,
        file: 0,
        by_name,
        globals: programs.iter().map(|_| Scope::new()).collect(),
        scopes: Vec::new(),
        dotted: false,
        functions: programs.iter().map(|_| BTreeMap::new()).collect(),
        inside: None,
        returned: Vec::new(),
        first_pass: true,
        named: Vec::new(),
        followed: Vec::new(),
        follow_steps: 0,
        filled: Vec::new(),
        conduits: HashMap::new(),
        sourced: HashMap::new(),
        writing: false,
        connected: HashMap::new(),
        assets,
        staged: BTreeMap::new(),
        walked: HashMap::new(),
        pays: HashSet::new(),
        checked: HashSet::new(),
        printed: programs.iter().map(|_| Marks::default()).collect(),
        effects: Vec::new(),
        seen: BTreeMap::new(),
        parsers: Parsers::default(),
        parsed: HashMap::new(),
        holes: Vec::new(),
        nested: 0,
        depth: 0,
        steps: 0,
        speaks: None,
        templates: 0,
        near: 0,
        at_line: None,
    };
    let mut known = None;
    for pass in 0..PASSES {
        // A walk that learned nothing would be repeated with the same result.
        let size = machine.knowledge();
        if pass > 1 && known == Some(size) {
            break;
        }
        known = Some(size);
        machine.effects.clear();
        machine.seen.clear();
        machine.follow_steps = MAX_FOLLOWED_STEPS;
        machine.templates = 0;
        for file in 0..programs.len() {
            machine.file = file;
            let body = body(file);
            if machine.first_pass {
                machine.announce(&body);
                machine.hear();
            }
            machine.block(&body);
        }
        machine.first_pass = false;
    }
    for (file, what) in std::mem::take(&mut machine.named) {
        machine.file = file;
        machine.add(Act::NameSecret, what, Marks::default(), 0);
    }
    machine.effects
}

impl Machine<'_> {
    /// How much is known that one walk hands to the next: values only ever grow.
    fn knowledge(&self) -> (usize, usize) {
        let (mut marks, mut texts) = (0, 0);
        let mut add = |value: &Value| {
            let (more_marks, more_texts) = value.size();
            marks += more_marks;
            texts += more_texts;
        };
        self.globals.iter().flat_map(BTreeMap::values).for_each(&mut add);
        self.staged.values().for_each(&mut add);
        for summary in self.functions.iter().flat_map(BTreeMap::values) {
            summary.args.iter().for_each(&mut add);
            // What a function returns that is never called is no news to anyone.
            if summary.site.is_some() || summary.calls != Calls::None {
                add(&summary.result);
            }
        }
        let printed: usize = self.printed.iter().map(Marks::len).sum();
        let functions: usize = self.functions.iter().map(BTreeMap::len).sum();
        (marks + printed + functions, texts)
    }

    /// What a hook of an agent reads.
    fn hear(&mut self) {
        if self.programs.get(self.file).is_some_and(|program| program.kind == ProgramKind::Hook) {
            let told = self.mark(Origin::Conversation, "what the user tells the agent", 1);
            self.bind(&Target::whole("<stdin>"), Value::marked(told), false);
        }
    }

    /// Functions may be called above the place where they are defined.
    fn announce(&mut self, body: &[Stmt]) {
        let (own, globals) = (self.functions.get_mut(self.file), self.globals.get_mut(self.file));
        let (Some(own), Some(globals)) = (own, globals) else { return };
        for statement in body {
            if let Stmt::Define { name, function } = statement {
                let summary = own.entry(Arc::clone(name)).or_default();
                summary.function.get_or_insert_with(|| Arc::clone(function));
                let value = Value::path(format!("function:{name}"));
                globals.entry(Arc::clone(name)).or_insert(value);
            }
        }
    }

    pub(super) fn language(&self) -> Language {
        if let Some(language) = self.speaks {
            return language;
        }
        self.programs.get(self.file).map_or(Language::Shell, |program| program.language)
    }

    /// Whether the program stands in a document.
    pub(super) fn in_fence(&self) -> bool {
        self.programs.get(self.file).is_some_and(|program| program.kind == ProgramKind::Fence)
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
        if self.effects.len() >= MAX_EFFECTS {
            return;
        }
        let end = target.char_indices().nth(MAX_TARGET).map_or(target.len(), |(end, _)| end);
        let target: Rc<str> = target.get(..end).unwrap_or_default().into();
        let key = (self.file, line, act, Rc::clone(&target));
        if let Some(known) = self.seen.get(&key).and_then(|at| self.effects.get_mut(*at)) {
            known.marks.add(&marks);
            known.proof.add(&proof);
            return;
        }
        self.seen.insert(key, self.effects.len());
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
                self.note_conduit(targets, value);
                let value = self.value(value);
                if let Some((last, others)) = targets.split_last() {
                    for target in others {
                        self.bind(target, value.clone(), *extends);
                    }
                    self.bind(last, value, *extends);
                }
            }
            Stmt::Import { module, member, local, line } => {
                self.import(module, member.as_deref(), local, *line);
            }
            Stmt::Define { name, function } => {
                let functions = self.functions.get_mut(self.file);
                let summary = functions.map(|own| own.entry(Arc::clone(name)).or_default());
                if summary.as_ref().is_some_and(|own| own.calls == Calls::Walked) {
                    // Its callers walk it, and say what its words are.
                    return;
                }
                let args = summary.map(|summary| {
                    summary.function.get_or_insert_with(|| Arc::clone(function));
                    let mut args = summary.args.clone();
                    if let Some(rest) = function.rest().filter(|_| summary.several) {
                        // The words of several callers are no words of any.
                        args.truncate(rest);
                    }
                    args
                });
                let args = args.unwrap_or_default();
                let before = self.inside.replace(Arc::clone(name));
                let returned = std::mem::take(&mut self.returned);
                let after = self.walk(function, &args);
                self.returned = returned;
                self.inside = before;
                let filled = function
                    .params
                    .iter()
                    .map(|param| after.get(param).map(Value::all_marks).unwrap_or_default())
                    .collect();
                let own = self.functions.get_mut(self.file).and_then(|own| own.get_mut(name));
                if let Some(summary) = own {
                    summary.filled = filled;
                }
                let value = Value::path(format!("function:{name}"));
                self.bind(&Target::whole(Arc::clone(name)), value, false);
            }
            Stmt::Default { name, value } => {
                let given = self.lookup(name);
                if given.is_none_or(|v| v.size() == (0, 0) && v.number.is_none()) {
                    let value = self.value(value);
                    self.bind(&Target::whole(Arc::clone(name)), value, false);
                }
            }
            Stmt::Do(value) => {
                self.value(value);
            }
            Stmt::Return(value) => {
                let value = self.value(value);
                if let Some(last) = self.returned.last_mut() {
                    *last = std::mem::take(last).or(&value);
                } else if let Some(name) = &self.inside
                    && let Some(own) = self.functions.get_mut(self.file)
                    && let Some(summary) = own.get_mut(name)
                {
                    summary.result = std::mem::take(&mut summary.result).or(&value);
                }
            }
            Stmt::Endless { body, line } => {
                let before = self.effects.len();
                self.block(body);
                let network = |e: &Effect| matches!(e.act, Act::Http | Act::Connect);
                let waits = self.effects.iter().skip(before).any(|e| &*e.target == "sleep");
                let found = self.effects.iter().skip(before).find(|e| network(e));
                if let Some(target) = found.map(|e| Rc::clone(&e.target))
                    && !waits
                {
                    self.add(Act::Flood, &target, Marks::default(), *line);
                }
            }
        }
    }

    pub(super) fn bind(&mut self, target: &Target, value: Value, extends: bool) {
        let mut value = value;
        for field in &target.fields {
            value = self.part(&value, field);
        }
        let name = own_name(&target.name);
        if name == "$HISTFILE" && value.as_text() == Some("/dev/null") {
            self.add(Act::Lower, "HISTFILE=/dev/null", Marks::default(), 0);
        }
        if let Some(entry) = &target.entry {
            return self.put(name, entry, value);
        }
        let is_member = name.len() != target.name.len() || name.contains('.');
        if name.ends_with(".src") && value.text.is_some() && !value.marks.is_empty() {
            // A picture whose address carries something.
            let address = value.as_text().unwrap_or_default().to_owned();
            if address.contains("://") {
                self.add(Act::Http, &address, value.all_marks(), self.near);
            }
        }
        if [".bcc", ".cc"].iter().any(|field| name.to_ascii_lowercase().ends_with(field))
            && let Some(to) = value.constant().filter(|text| text.contains('@'))
        {
            // Whoever else gets a mail stands in the program.
            self.add(Act::Mail, to, value.all_marks(), self.near);
        }
        if extends {
            let before = self.lookup(name).cloned().unwrap_or_default();
            value = match (&before.items, &value.items) {
                (Some(own), Some(more)) if own.len() + more.len() <= 256 => {
                    let items = own.iter().chain(more.iter()).cloned().collect();
                    let mut both = Value::marked(before.all_marks());
                    both.marks.add(&value.all_marks());
                    Value { items: Some(Rc::new(items)), ..both }
                }
                _ => Value::joined(&[before, value], ""),
            };
        }
        if let Some((root, _)) = name.split_once('.') {
            self.dotted = true;
            // What an object is given is part of it.
            if let Some(mut whole) = self.lookup(root).cloned() {
                whole.marks.add(&value.marks);
                let field = name.rsplit('.').next().unwrap_or_default();
                let fields = whole.fields.take().unwrap_or_default();
                if fields.len() < 64 && (value.text.is_some() || value.fields.is_some()) {
                    let mut fields = fields;
                    Rc::make_mut(&mut fields).insert(field.into(), value.clone());
                    whole.fields = Some(fields);
                } else {
                    whole.fields = Some(fields).filter(|fields| !fields.is_empty());
                }
                self.bind(&Target::whole(root), whole.holding(), false);
            }
        }
        // `self.token = token`: the object has its own.
        self.note_payee(name, &value);
        let is_own = name.len() != target.name.len();
        if !is_own
            && let Some(known) = self.scopes.iter_mut().rev().find_map(|scope| scope.get_mut(name))
        {
            *known = value;
            return;
        }
        let globals = self.globals.get_mut(self.file);
        let scope = if is_member { globals } else { self.scopes.last_mut().or(globals) };
        if let Some(scope) = scope {
            let is_whole = name.len() == target.name.len();
            scope.insert(if is_whole { Arc::clone(&target.name) } else { name.into() }, value);
        }
    }

    fn lookup(&self, name: &str) -> Option<&Value> {
        let local = self.scopes.iter().rev().find_map(|scope| scope.get(name));
        local.or_else(|| self.globals.get(self.file).and_then(|globals| globals.get(name)))
    }

    /// Reads a file: what it holds, if that is known, and that it was read.
    pub(super) fn read_path(&mut self, path: &Value, line: u32) -> Value {
        let mut value = self.read_one(path, line);
        for other in path.others.iter().flat_map(|others| others.iter()) {
            let other = self.read_one(other, line);
            value = value.or(&other);
        }
        value
    }

    fn read_one(&mut self, path: &Value, line: u32) -> Value {
        let mut value = Value::default();
        let Some(text) = path.as_text() else {
            value.marks = path.marks.clone();
            if let Some(items) = &path.items {
                for item in items.iter().take(32).filter(|item| item.text.is_some()) {
                    let read = self.read_one(&item.clone(), line);
                    value.marks.add(&read.marks);
                }
            }
            value.marks.add(&self.mark(Origin::Files, "files", line));
            return value;
        };
        if let Some(staged) = self.staged.get(text.trim_start_matches("./")) {
            value = staged.clone();
        } else if let Some(asset) = self.asset(text) {
            // What the skill brings is not the user's.
            return Value { marks: path.marks.clone(), ..Value::text(asset) };
        } else if text.len() > 3 && !self.staged.is_empty() {
            // A directory holds what was put into it.
            let directory = [text, "/"].concat();
            let within = |(key, _): &(&String, &Value)| key.starts_with(&directory);
            let from = (Bound::Included(directory.as_str()), Bound::Unbounded);
            for (_, staged) in self.staged.range::<str, _>(from).take_while(within) {
                value.marks.add(&staged.marks);
            }
        }
        match secret_at(text).or_else(|| secret_directory(text)) {
            Some(what) => {
                value.marks.add(&self.mark(Origin::SecretFile, format!("{what} ({text})"), line));
                self.add(Act::ReadSecret, text, value.marks.clone(), line);
            }
            None => value.marks.add(&self.mark(Origin::Files, text, line)),
        }
        value.marks.add(&path.marks);
        value
    }
}

/// What an object calls its own member.
fn own_name(mut name: &str) -> &str {
    for prefix in ["this.", "self."] {
        while let Some(rest) = name.strip_prefix(prefix) {
            name = rest;
        }
    }
    name
}
