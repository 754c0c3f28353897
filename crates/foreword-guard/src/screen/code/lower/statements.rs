//! Statements: definitions, assignments, imports, loops.

use super::Lowerer;
use crate::screen::code::ir::{Expr, Function, Stmt, Target};
use tree_sitter::Node;

impl<'t> Lowerer<'t> {
    pub(super) fn block(&mut self, node: Node<'_>) -> Vec<Stmt> {
        let mut out = Vec::new();
        for child in self.children(node) {
            self.statement(child, &mut out);
        }
        out
    }

    fn statement(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        self.deeper((), |this| this.statement_here(node, out));
    }

    fn statement_here(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        match node.kind() {
            "import_statement" | "import_from_statement" | "future_import_statement" => {
                self.import(node, out);
            }
            "function_definition"
            | "function_declaration"
            | "generator_function_declaration"
            | "method_definition"
            | "method"
            | "singleton_method" => {
                if let Some(name) = self.field_text(node, "name") {
                    let function = self.function(node);
                    out.push(Stmt::Define { name, function });
                }
            }
            "return_statement" | "return" | "yield" => {
                let value = Expr::Unknown(self.expressions(node));
                out.push(Stmt::Return(value));
            }
            "lexical_declaration" | "variable_declaration" => {
                for child in self.children(node) {
                    self.declarator(child, out);
                }
            }
            "variable_declarator" | "public_field_definition" | "field_definition" => {
                self.declarator(node, out);
            }
            "for_statement" | "for_in_statement" | "for"
                if node
                    .child_by_field_name("left")
                    .or(node.child_by_field_name("pattern"))
                    .is_some() =>
            {
                self.iteration(node, out);
            }
            "while_statement" | "while" => self.repetition(node, out),
            "with_item" => self.with_item(node, out),
            kind if is_compound(kind) => {
                for child in self.children(node) {
                    self.statement(child, out);
                }
            }
            "assignment"
            | "augmented_assignment"
            | "assignment_expression"
            | "augmented_assignment_expression"
            | "operator_assignment" => {
                self.assignment(node, out);
            }
            _ => {
                let value = self.expression(node);
                if !matches!(value, Expr::Unknown(ref parts) if parts.is_empty()) {
                    out.push(Stmt::Do(value));
                }
            }
        }
    }

    fn declarator(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let name = node.child_by_field_name("name").or(node.child_by_field_name("property"));
        let (Some(name), Some(value)) = (name, node.child_by_field_name("value")) else { return };
        let targets = self.targets(name);
        let value = self.expression(value);
        match (targets.as_slice(), value) {
            ([Target { name, field: None }], Expr::Function(function)) => {
                out.push(Stmt::Define { name: name.clone(), function: *function });
            }
            (_, value) => out.push(Stmt::Bind { targets, value, extends: false }),
        }
    }

    pub(super) fn assignment(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let (Some(left), Some(right)) =
            (node.child_by_field_name("left"), node.child_by_field_name("right"))
        else {
            return;
        };
        let extends = node.kind().starts_with("augmented") || node.kind().starts_with("operator");
        let targets = self.targets(left);
        let value = self.expression(right);
        out.push(Stmt::Bind { targets, value, extends });
    }

    /// The names on the left side.
    fn targets(&mut self, node: Node<'_>) -> Vec<Target> {
        match node.kind() {
            "object_pattern"
            | "array_pattern"
            | "pattern_list"
            | "tuple_pattern"
            | "list_pattern"
            | "left_assignment_list"
            | "tuple"
            | "list"
            | "expression_list" => {
                let mut out = Vec::new();
                for child in self.children(node) {
                    match child.kind() {
                        "shorthand_property_identifier_pattern" => {
                            let name = self.source(child).to_owned();
                            out.push(Target { field: Some(name.clone()), name });
                        }
                        "pair_pattern" => {
                            let (key, value) =
                                (self.field_text(child, "key"), self.field_text(child, "value"));
                            if let (Some(field), Some(name)) = (key, value) {
                                out.push(Target { name, field: Some(field) });
                            }
                        }
                        _ => out.extend(self.targets(child)),
                    }
                }
                out
            }
            // `a.b = x` and `a[i] = x` also change `a`.
            "subscript" | "subscript_expression" | "element_reference" => {
                let object =
                    node.child_by_field_name("value").or(node.child_by_field_name("object"));
                object.map(|object| self.targets(object)).unwrap_or_default()
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

    fn iteration(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let left = node.child_by_field_name("left").or(node.child_by_field_name("pattern"));
        let right = node.child_by_field_name("right").or(node.child_by_field_name("value"));
        if let (Some(left), Some(right)) = (left, right) {
            let targets = self.targets(left);
            let value = Expr::Unknown(vec![self.expression(right)]);
            out.push(Stmt::Bind { targets, value, extends: false });
        }
        if let Some(body) = node.child_by_field_name("body") {
            self.statement(body, out);
        }
    }

    fn repetition(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let condition = self.field_text(node, "condition").unwrap_or_default();
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

    fn with_item(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let Some(value) = node.child_by_field_name("value") else { return };
        let alias = value.child_by_field_name("alias");
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

    fn import(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let line = self.line(node);
        if let Some(source) = node.child_by_field_name("source") {
            let module = self.string(source);
            self.imported_names(node, &module, line, out);
            return;
        }
        let module = self.field_text(node, "module_name");
        for child in self.children(node) {
            if module.is_some() && Some(child) == node.child_by_field_name("module_name") {
                continue;
            }
            let (name, local) = match child.kind() {
                "aliased_import" => (
                    self.field_text(child, "name").unwrap_or_default(),
                    self.field_text(child, "alias").unwrap_or_default(),
                ),
                "dotted_name" => {
                    let name = self.source(child).to_owned();
                    let local = match &module {
                        Some(_) => name.clone(),
                        None => name.split('.').next().unwrap_or_default().to_owned(),
                    };
                    (name, local)
                }
                _ => continue,
            };
            out.push(match &module {
                Some(module) => {
                    Stmt::Import { module: module.clone(), member: Some(name), local, line }
                }
                None => {
                    let module = if child.kind() == "dotted_name" { local.clone() } else { name };
                    Stmt::Import { module, member: None, local, line }
                }
            });
        }
    }

    fn imported_names(&mut self, node: Node<'_>, module: &str, line: u32, out: &mut Vec<Stmt>) {
        let mut found = false;
        for clause in self.children(node).into_iter().filter(|n| n.kind() == "import_clause") {
            for child in self.children(clause) {
                let mut add = |member: Option<String>, local: String| {
                    let module = module.to_owned();
                    out.push(Stmt::Import { module, member, local, line });
                };
                found = true;
                match child.kind() {
                    "identifier" => add(None, self.source(child).to_owned()),
                    "namespace_import" => {
                        if let Some(name) = child.named_child(0) {
                            add(None, self.source(name).to_owned());
                        }
                    }
                    _ => {
                        for one in self.children(child) {
                            if let Some(name) = self.field_text(one, "name") {
                                let local = self.field_text(one, "alias").unwrap_or(name.clone());
                                let module = module.to_owned();
                                let member = Some(name);
                                out.push(Stmt::Import { module, member, local, line });
                            }
                        }
                    }
                }
            }
        }
        if !found {
            let module = module.to_owned();
            out.push(Stmt::Import { module, member: None, local: String::new(), line });
        }
    }

    pub(super) fn function(&mut self, node: Node<'_>) -> Function {
        let params =
            node.child_by_field_name("parameters").or(node.child_by_field_name("parameter"));
        let params = params.map(|params| self.params(params)).unwrap_or_default();
        let mut body = Vec::new();
        if let Some(inner) = node.child_by_field_name("body") {
            if is_compound(inner.kind()) {
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
        Function { params, body }
    }

    fn params(&mut self, node: Node<'_>) -> Vec<String> {
        if node.kind() == "identifier" {
            return vec![self.source(node).to_owned()];
        }
        let mut out = Vec::new();
        for child in self.children(node) {
            let name = child
                .child_by_field_name("pattern")
                .or(child.child_by_field_name("name"))
                .or(child.child_by_field_name("left"))
                .unwrap_or(child);
            let targets = self.targets(name);
            out.push(targets.into_iter().next().map(|target| target.name).unwrap_or_default());
        }
        out
    }
}

/// Nodes that hold statements.
fn is_compound(kind: &str) -> bool {
    matches!(
        kind,
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
            | "for_statement"
            | "for_in_statement"
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
            | "for"
            | "begin_block"
            | "if_modifier"
            | "unless_modifier"
            | "internal_module"
            | "namespace"
            | "sequence_expression"
            | "ambient_declaration"
            | "ERROR"
    )
}
