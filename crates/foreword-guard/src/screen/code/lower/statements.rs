//! Statements: definitions, assignments, imports, loops.

use std::sync::Arc;

use super::Lowerer;
use crate::screen::code::ir::{Expr, Function, INSTANCE, REST, Stmt, Target};
use tree_sitter::Node;

impl<'t> Lowerer<'t> {
    pub(super) fn block(&mut self, node: Node<'t>) -> Vec<Stmt> {
        let mut out = Vec::new();
        for child in self.children(node) {
            self.statement(child, &mut out);
        }
        out
    }

    fn statement(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        self.deeper((), |this| this.statement_here(node, out));
    }

    fn statement_here(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        match self.kind_of(node).statement {
            StatementKind::Import => self.import(node, out),
            StatementKind::Define => {
                if let Some(name) = self.field_text(node, self.words.name) {
                    let function = self.function(node);
                    out.push(Stmt::Define { name: name.into(), function: Arc::new(function) });
                }
            }
            StatementKind::Return => {
                let value = Expr::Unknown(self.expressions(node));
                out.push(Stmt::Return(value));
            }
            StatementKind::Declaration => {
                for child in self.children(node) {
                    self.declarator(child, out);
                }
            }
            StatementKind::Declarator => self.declarator(node, out),
            StatementKind::Iteration if self.iterated(node).is_some() => self.iteration(node, out),
            StatementKind::Repetition => self.repetition(node, out),
            StatementKind::With => self.with_item(node, out),
            StatementKind::Compound | StatementKind::Iteration => {
                let before = out.len();
                for child in self.children(node) {
                    self.statement(child, out);
                }
                if self.kind(node).starts_with("class_d") {
                    self.name_constructor(node, out.get_mut(before..).unwrap_or_default());
                }
            }
            StatementKind::Assignment => self.assignment(node, out),
            StatementKind::Expression => {
                let value = self.expression(node);
                if !matches!(value, Expr::Unknown(ref parts) if parts.is_empty()) {
                    out.push(Stmt::Do(value));
                }
            }
        }
    }

    /// What a loop puts its values into.
    fn iterated(&self, node: Node<'t>) -> Option<Node<'t>> {
        node.child_by_field_id(self.words.left)
            .or_else(|| node.child_by_field_id(self.words.pattern))
    }

    fn declarator(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        let name = node
            .child_by_field_id(self.words.name)
            .or_else(|| node.child_by_field_id(self.words.property));
        let (Some(name), Some(value)) = (name, node.child_by_field_id(self.words.value)) else {
            return;
        };
        let targets = self.targets(name);
        let value = self.expression(value);
        match (targets.as_slice(), value) {
            ([Target { name, .. }], Expr::Function(function)) => {
                let function = Arc::new(*function);
                out.push(Stmt::Define { name: Arc::clone(name), function });
            }
            (_, value) => out.push(Stmt::Bind { targets, value, extends: false }),
        }
    }

    pub(super) fn assignment(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        let (Some(left), Some(right)) =
            (node.child_by_field_id(self.words.left), node.child_by_field_id(self.words.right))
        else {
            return;
        };
        let extends =
            self.kind(node).starts_with("augmented") || self.kind(node).starts_with("operator");
        let targets = self.targets(left);
        let value = self.expression(right);
        match (targets.as_slice(), value) {
            // `exports.name = () => …`, `name = lambda x: …`
            ([Target { name, entry: None, .. }], Expr::Function(function)) => {
                let name = name.rsplit('.').next().unwrap_or(name).into();
                out.push(Stmt::Define { name, function: Arc::new(*function) });
            }
            ([Target { name, .. }], Expr::Map(entries)) if name.as_ref() == "module.exports" => {
                for (name, value) in entries {
                    match value {
                        Expr::Function(function) => {
                            out.push(Stmt::Define { name, function: Arc::new(*function) });
                        }
                        value => out.push(Stmt::Do(value)),
                    }
                }
            }
            (_, value) => out.push(Stmt::Bind { targets, value, extends }),
        }
    }

    /// The names on the left side.
    fn targets(&mut self, node: Node<'t>) -> Vec<Target> {
        match self.kind(node) {
            "object_pattern"
            | "array_pattern"
            | "pattern_list"
            | "tuple_pattern"
            | "list_pattern"
            | "left_assignment_list"
            | "tuple"
            | "list"
            | "expression_list"
            | "destructured_left_assignment" => {
                let mut out = Vec::new();
                for (place, child) in self.children(node).into_iter().enumerate() {
                    match self.kind(child) {
                        "shorthand_property_identifier_pattern" => {
                            let name: Arc<str> = self.source(child).into();
                            out.push(Target::field(Arc::clone(&name), name));
                        }
                        "pair_pattern" => {
                            let (key, value) = (
                                self.field_text(child, self.words.key),
                                self.field_text(child, self.words.value),
                            );
                            if let (Some(field), Some(name)) = (key, value) {
                                out.push(Target::field(name, field));
                            }
                        }
                        _ => {
                            let place: Arc<str> = place.to_string().into();
                            for mut target in self.targets(child) {
                                if target.entry.is_none() {
                                    target.fields.insert(0, Arc::clone(&place));
                                }
                                out.push(target);
                            }
                        }
                    }
                }
                out
            }
            // `a.b = x` and `a[i] = x` also change `a`.
            "subscript" | "subscript_expression" | "element_reference" => {
                let object = node
                    .child_by_field_id(self.words.value)
                    .or_else(|| node.child_by_field_id(self.words.object));
                let index = node
                    .child_by_field_id(self.words.subscript)
                    .or_else(|| node.child_by_field_id(self.words.index))
                    .or_else(|| node.named_child(1));
                let entry: Arc<str> = match index {
                    Some(index) if self.kind(index) == "string" => self.string(index),
                    _ => "".into(),
                };
                let mut targets = object.map(|object| self.targets(object)).unwrap_or_default();
                for target in &mut targets {
                    target.entry = Some(Arc::clone(&entry));
                }
                targets
            }
            "identifier"
            | "member_expression"
            | "attribute"
            | "constant"
            | "instance_variable"
            | "global_variable"
            | "property_identifier"
            | "private_property_identifier" => {
                vec![Target::whole(self.source(node))]
            }
            _ => self.children(node).into_iter().flat_map(|child| self.targets(child)).collect(),
        }
    }

    fn iteration(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        self.loop_names(node, out);
        if let Some(body) = node.child_by_field_id(self.words.body) {
            self.statement(body, out);
        }
    }

    /// The names that go through the entries of a list.
    pub(super) fn loop_names(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        let left = self.iterated(node);
        let right = node
            .child_by_field_id(self.words.right)
            .or_else(|| node.child_by_field_id(self.words.value));
        if let (Some(left), Some(right)) = (left, right) {
            let targets = self.targets(left);
            let value = Expr::Each(Box::new(self.expression(right)));
            out.push(Stmt::Bind { targets, value, extends: false });
        }
    }

    fn repetition(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        let condition = self.field_text(node, self.words.condition).unwrap_or_default();
        let always =
            matches!(condition.trim_matches(['(', ')', ' ']), "true" | "True" | "1" | "!0");
        let mut body = Vec::new();
        for child in self.children(node) {
            self.statement(child, &mut body);
        }
        let ends = ["break", "return", "sleep", "exit"];
        if always && !ends.iter().any(|word| self.source(node).contains(word)) {
            out.push(Stmt::Endless { body, line: self.line(node) });
        } else {
            out.append(&mut body);
        }
    }

    fn with_item(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        let Some(value) = node.child_by_field_id(self.words.value) else { return };
        let alias = value.child_by_field_id(self.words.alias);
        let inner = if alias.is_some() { value.named_child(0).unwrap_or(value) } else { value };
        let value = self.expression(inner);
        match alias {
            Some(alias) => {
                let targets = self.targets(alias);
                out.push(Stmt::Bind { targets, value, extends: false });
            }
            None => out.push(Stmt::Do(value)),
        }
    }

    fn import(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        let line = self.line(node);
        if let Some(source) = node.child_by_field_id(self.words.source) {
            let module = self.string(source);
            self.imported_names(node, &module, line, out);
            return;
        }
        let from = node.child_by_field_id(self.words.module_name);
        let module: Option<Arc<str>> = from.map(|from| self.source(from).into());
        for child in self.children(node) {
            if from == Some(child) {
                continue;
            }
            let (name, local) = match self.kind(child) {
                "aliased_import" => (
                    self.field_text(child, self.words.name).unwrap_or_default(),
                    self.field_text(child, self.words.alias).unwrap_or_default(),
                ),
                "dotted_name" => {
                    let name = self.source(child);
                    let local = match &module {
                        Some(_) => name,
                        None => name.split('.').next().unwrap_or_default(),
                    };
                    (name, local)
                }
                _ => continue,
            };
            let is_dotted = self.kind(child) == "dotted_name";
            let (module, member) = match &module {
                Some(module) => (Arc::clone(module), Some(name.into())),
                None => (if is_dotted { local } else { name }.into(), None),
            };
            out.push(Stmt::Import { module, member, local: local.into(), line });
        }
    }

    fn imported_names(
        &mut self,
        node: Node<'t>,
        module: &Arc<str>,
        line: u32,
        out: &mut Vec<Stmt>,
    ) {
        let mut found = false;
        let mut add = |member: Option<&str>, local: &str| {
            let (module, member) = (Arc::clone(module), member.map(Arc::from));
            out.push(Stmt::Import { module, member, local: local.into(), line });
        };
        for clause in self.children(node) {
            if self.kind(clause) != "import_clause" {
                continue;
            }
            for child in self.children(clause) {
                found = true;
                match self.kind(child) {
                    "identifier" => add(None, self.source(child)),
                    "namespace_import" => {
                        if let Some(name) = child.named_child(0) {
                            add(None, self.source(name));
                        }
                    }
                    _ => {
                        for one in self.children(child) {
                            if let Some(name) = self.field_text(one, self.words.name) {
                                let local = self.field_text(one, self.words.alias);
                                add(Some(name), local.unwrap_or(name));
                            }
                        }
                    }
                }
            }
        }
        if !found {
            add(None, "");
        }
    }

    /// A class is called by its name, and what it gives back is an object of this file.
    fn name_constructor(&self, node: Node<'t>, methods: &mut [Stmt]) {
        let Some(class) = self.field_text(node, self.words.name) else { return };
        for method in methods {
            if let Stmt::Define { name, function } = method
                && matches!(name.as_ref(), "constructor" | "__init__")
            {
                let mut whole = Function::clone(function);
                whole.body.push(Stmt::Return(Expr::Name(INSTANCE.into())));
                (*name, *function) = (class.into(), Arc::new(whole));
            }
        }
    }

    pub(super) fn function(&mut self, node: Node<'t>) -> Function {
        let params = node
            .child_by_field_id(self.words.parameters)
            .or_else(|| node.child_by_field_id(self.words.parameter));
        let mut body = Vec::new();
        let params = params.map(|params| self.params(params, &mut body)).unwrap_or_default();
        if let Some(inner) = node.child_by_field_id(self.words.body) {
            let kind = self.kind_of(inner).statement;
            // `chunk => all += chunk` does something, too.
            if matches!(
                kind,
                StatementKind::Compound | StatementKind::Iteration | StatementKind::Assignment
            ) {
                self.statement(inner, &mut body);
            } else {
                let value = self.deeper(Expr::Unknown(Vec::new()), |this| this.expression(inner));
                body.push(Stmt::Return(value));
            }
        } else {
            // Ruby's methods may have no body of their own.
            for child in self.children(node).into_iter().skip(1) {
                self.statement(child, &mut body);
            }
        }
        // Ruby: the last value is what a method returns.
        let returns =
            matches!(self.kind(node), "method" | "singleton_method" | "do_block" | "block");
        if returns && let Some(Stmt::Do(_)) = body.last() {
            let last = body.pop();
            body.extend(last.map(|last| match last {
                Stmt::Do(value) => Stmt::Return(value),
                other => other,
            }));
        }
        Function { params, body }
    }

    fn params(&mut self, node: Node<'t>, body: &mut Vec<Stmt>) -> Vec<Arc<str>> {
        if self.kind(node) == "identifier" {
            return vec![self.source(node).into()];
        }
        let mut out = Vec::new();
        for child in self.children(node) {
            let name = child
                .child_by_field_id(self.words.pattern)
                .or_else(|| child.child_by_field_id(self.words.name))
                .or_else(|| child.child_by_field_id(self.words.left))
                .unwrap_or(child);
            let name_kind = self.kind(name);
            let targets = self.targets(name);
            if targets.len() > 1 || targets.iter().any(|target| !target.fields.is_empty()) {
                // `function ({a, b})`: the parts have names, the whole has none.
                let whole: Arc<str> = format!("parameter {}", out.len()).into();
                let value = Expr::Name(Arc::clone(&whole));
                body.push(Stmt::Bind { targets, value, extends: false });
                out.push(whole);
                continue;
            }
            let name: Arc<str> = targets.into_iter().next().map_or("".into(), |target| target.name);
            // A method is called on its object, not with it.
            if out.is_empty() && matches!(name.as_ref(), "self" | "cls") {
                continue;
            }
            let default = child
                .child_by_field_id(self.words.value)
                .or_else(|| child.child_by_field_id(self.words.right));
            if let Some(default) = default {
                let value = self.expression(default);
                body.push(Stmt::Default { name: Arc::clone(&name), value });
            }
            // TypeScript: `constructor(private token: string)`.
            let source = self.source(child);
            if ["private ", "public ", "protected ", "readonly "]
                .iter()
                .any(|w| source.starts_with(w))
            {
                let targets = vec![Target::whole(format!("this.{name}"))];
                let value = Expr::Name(Arc::clone(&name));
                body.push(Stmt::Bind { targets, value, extends: false });
            }
            // `*args` and `...args` take what is left.
            let takes_rest = [name_kind, self.kind(child)].iter().any(|kind| {
                matches!(*kind, "rest_pattern" | "list_splat_pattern" | "splat_parameter")
            });
            out.push(if takes_rest { format!("{REST}{name}").into() } else { name });
        }
        out
    }
}

/// What a node is as a statement.
#[derive(Debug, Clone, Copy)]
pub(super) enum StatementKind {
    Import,
    Define,
    Return,
    Declaration,
    Declarator,
    Iteration,
    Repetition,
    With,
    /// Holds statements.
    Compound,
    Assignment,
    Expression,
}

impl StatementKind {
    /// By the name of the node in its grammar.
    pub(super) fn of(name: &str) -> Self {
        match name {
            "import_statement" | "import_from_statement" | "future_import_statement" => {
                Self::Import
            }
            "function_definition"
            | "function_declaration"
            | "generator_function_declaration"
            | "method_definition"
            | "method"
            | "singleton_method" => Self::Define,
            "return_statement" | "return" | "yield" => Self::Return,
            "lexical_declaration" | "variable_declaration" => Self::Declaration,
            "variable_declarator" | "public_field_definition" | "field_definition" => {
                Self::Declarator
            }
            "for_statement" | "for_in_statement" | "for" => Self::Iteration,
            "while_statement" | "while" => Self::Repetition,
            "with_item" => Self::With,
            "program"
            | "module"
            | "block"
            | "statement_block"
            | "body_statement"
            | "class_body"
            | "class_definition"
            | "class_declaration"
            | "class"
            | "singleton_class"
            | "abstract_class_declaration"
            | "decorated_definition"
            | "export_statement"
            | "if_statement"
            | "else_clause"
            | "elif_clause"
            | "try_statement"
            | "except_clause"
            | "except_group_clause"
            | "catch_clause"
            | "finally_clause"
            | "with_statement"
            | "with_clause"
            | "do_statement"
            | "switch_statement"
            | "switch_body"
            | "switch_case"
            | "switch_default"
            | "labeled_statement"
            | "match_statement"
            | "case_clause"
            | "expression_statement"
            | "if"
            | "unless"
            | "elsif"
            | "else"
            | "then"
            | "do"
            | "begin"
            | "ensure"
            | "rescue"
            | "case"
            | "when"
            | "until"
            | "begin_block"
            | "if_modifier"
            | "unless_modifier"
            | "internal_module"
            | "namespace"
            | "sequence_expression"
            | "ambient_declaration"
            | "ERROR" => Self::Compound,
            "assignment"
            | "augmented_assignment"
            | "assignment_expression"
            | "augmented_assignment_expression"
            | "operator_assignment" => Self::Assignment,
            _ => Self::Expression,
        }
    }
}
