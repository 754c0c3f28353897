//! From a syntax tree to the common form: Python, JavaScript, TypeScript and Ruby.
//!
//! One walk for all of them: their grammars name things alike, and where they differ the names do too.

use tree_sitter::Node;

use super::ir::{Call, Expr, Function, Stmt, Target};
use super::language::Language;
use super::text::{number, unescape};

/// Deeper trees are cut off; no person writes them.
const MAX_DEPTH: usize = 120;
/// Nodes that are looked at in one file.
const MAX_NODES: usize = 400_000;

/// Lowers one file.
pub(crate) struct Lowerer<'t> {
    pub(super) text: &'t str,
    depth: usize,
    left: usize,
}

/// The statements of a program.
pub(crate) fn lower(language: Language, text: &str) -> Vec<Stmt> {
    let Some(tree) = language.parse(text) else { return Vec::new() };
    let mut lowerer = Lowerer { text, depth: 0, left: MAX_NODES };
    let root = tree.root_node();
    match language {
        Language::Shell => lowerer.shell_block(root),
        Language::PowerShell => lowerer.powershell_block(root),
        _ => lowerer.block(root),
    }
}

impl<'t> Lowerer<'t> {
    pub(super) fn source(&self, node: Node<'_>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    pub(super) fn line(&self, node: Node<'_>) -> u32 {
        u32::try_from(node.start_position().row).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// The named children, comments aside.
    pub(super) fn children<'n>(&mut self, node: Node<'n>) -> Vec<Node<'n>> {
        let mut cursor = node.walk();
        let children: Vec<_> =
            node.named_children(&mut cursor).filter(|n| n.kind() != "comment").collect();
        self.left = self.left.saturating_sub(children.len());
        if self.left == 0 { Vec::new() } else { children }
    }

    /// Goes one level down, unless that is too deep.
    pub(super) fn deeper<T>(&mut self, otherwise: T, work: impl FnOnce(&mut Self) -> T) -> T {
        if self.depth >= MAX_DEPTH {
            return otherwise;
        }
        self.depth += 1;
        let done = work(self);
        self.depth -= 1;
        done
    }

    fn field_text(&self, node: Node<'_>, field: &str) -> Option<String> {
        node.child_by_field_name(field).map(|child| self.source(child).to_owned())
    }

    fn block(&mut self, node: Node<'_>) -> Vec<Stmt> {
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

    fn assignment(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
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

    fn function(&mut self, node: Node<'_>) -> Function {
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

    fn expressions(&mut self, node: Node<'_>) -> Vec<Expr> {
        self.children(node).into_iter().map(|child| self.expression(child)).collect()
    }

    pub(super) fn expression(&mut self, node: Node<'_>) -> Expr {
        self.deeper(Expr::Unknown(Vec::new()), |this| this.expression_here(node))
    }

    fn expression_here(&mut self, node: Node<'_>) -> Expr {
        match node.kind() {
            "identifier"
            | "constant"
            | "instance_variable"
            | "global_variable"
            | "this"
            | "self"
            | "super"
            | "shorthand_property_identifier" => Expr::Name(self.source(node).to_owned()),
            "string" | "template_string" | "heredoc_body" | "bare_string" | "string_array" => {
                self.text_expression(node)
            }
            "concatenated_string" | "chained_string" => Expr::Join(self.expressions(node)),
            "simple_symbol" => Expr::Text(self.source(node).trim_start_matches(':').to_owned()),
            "integer" | "number" => {
                number(self.source(node)).map_or(Expr::Unknown(Vec::new()), Expr::Number)
            }
            "attribute" | "member_expression" => {
                let object = node.child_by_field_name("object");
                let name =
                    node.child_by_field_name("attribute").or(node.child_by_field_name("property"));
                match (object, name) {
                    (Some(object), Some(name)) => {
                        let object = self.expression(object);
                        Expr::Member(Box::new(object), self.source(name).to_owned())
                    }
                    _ => Expr::Unknown(self.expressions(node)),
                }
            }
            "scope_resolution" => {
                let name = self.source(node).replace("::", ".");
                Expr::Name(name)
            }
            "subscript" | "subscript_expression" | "element_reference" => self.index(node),
            "binary_operator" | "binary_expression" | "binary" => self.binary(node),
            "call" | "call_expression" | "new_expression" | "method_call" | "command_call" => {
                self.call(node)
            }
            "subshell" => {
                // Ruby's backticks.
                let text = self.text_expression(node);
                let line = self.line(node);
                let callee = Expr::Name("system".into());
                Expr::Call(Box::new(Call { callee, args: vec![text], named: Vec::new(), line }))
            }
            "arrow_function"
            | "function_expression"
            | "function"
            | "lambda"
            | "generator_function"
            | "block"
            | "do_block" => Expr::Function(Box::new(self.function(node))),
            "function_definition" | "function_declaration" => Expr::Unknown(Vec::new()),
            "object" | "dictionary" | "hash" => self.map(node),
            "list" | "array" | "tuple" | "set" => Expr::List(self.expressions(node)),
            "assignment" | "assignment_expression" | "named_expression" => {
                let right = node.child_by_field_name("right").or(node.child_by_field_name("value"));
                right.map_or(Expr::Unknown(Vec::new()), |right| self.expression(right))
            }
            "parenthesized_expression"
            | "await_expression"
            | "await"
            | "as_expression"
            | "non_null_expression"
            | "satisfies_expression"
            | "expression_statement"
            | "interpolation"
            | "template_substitution"
            | "parenthesized_statements" => match node.named_child(0) {
                Some(inner) => self.expression(inner),
                None => Expr::Unknown(Vec::new()),
            },
            "type_annotation"
            | "type_arguments"
            | "type_identifier"
            | "regex"
            | "comment"
            | "interface_declaration"
            | "type_alias_declaration"
            | "type"
            | "true"
            | "false"
            | "none"
            | "null"
            | "undefined" => Expr::Unknown(Vec::new()),
            _ => Expr::Unknown(self.expressions(node)),
        }
    }

    fn index(&mut self, node: Node<'_>) -> Expr {
        let object = node.child_by_field_name("value").or(node.child_by_field_name("object"));
        let index = node
            .child_by_field_name("subscript")
            .or(node.child_by_field_name("index"))
            .or_else(|| node.named_child(1));
        match (object, index) {
            (Some(object), Some(index)) if index.kind() == "slice" => {
                let reversed = self.source(index).replace(' ', "") == "::-1";
                let object = self.expression(object);
                if !reversed {
                    return Expr::Unknown(vec![object]);
                }
                let callee = Expr::Name("reversed".into());
                let line = self.line(node);
                Expr::Call(Box::new(Call { callee, args: vec![object], named: Vec::new(), line }))
            }
            (Some(object), Some(index)) => {
                let (object, index) = (self.expression(object), self.expression(index));
                Expr::Index(Box::new(object), Box::new(index))
            }
            _ => Expr::Unknown(self.expressions(node)),
        }
    }

    /// A chain of the same kind of operator is one list, however long it is.
    fn binary(&mut self, node: Node<'_>) -> Expr {
        let operator = |n: Node<'_>| n.child_by_field_name("operator").map(|o| o.kind().to_owned());
        let own = operator(node).unwrap_or_default();
        let mut right_to_left = Vec::new();
        let mut at = node;
        loop {
            right_to_left.extend(at.child_by_field_name("right"));
            let Some(left) = at.child_by_field_name("left") else { break };
            if left.kind() == node.kind() && operator(left).as_deref() == Some(own.as_str()) {
                at = left;
            } else {
                right_to_left.push(left);
                break;
            }
        }
        self.left = self.left.saturating_sub(right_to_left.len());
        if self.left == 0 {
            return Expr::Unknown(Vec::new());
        }
        let mut parts = Vec::new();
        for (place, part) in right_to_left.into_iter().rev().enumerate() {
            if own == "/" && place > 0 {
                parts.push(Expr::Text("/".into()));
            }
            parts.push(self.expression(part));
        }
        match own.as_str() {
            "+" | "/" | "<<" => Expr::Join(parts),
            "%" => match parts.into_iter().next() {
                Some(first) => Expr::Join(vec![first, Expr::Unknown(self.last_operand(node))]),
                None => Expr::Unknown(Vec::new()),
            },
            _ => Expr::Unknown(parts),
        }
    }

    fn last_operand(&mut self, node: Node<'_>) -> Vec<Expr> {
        let right = node.child_by_field_name("right");
        right.map(|right| vec![self.expression(right)]).unwrap_or_default()
    }

    fn call(&mut self, node: Node<'_>) -> Expr {
        let line = self.line(node);
        let callee = if let Some(callee) =
            node.child_by_field_name("function").or(node.child_by_field_name("constructor"))
        {
            self.expression(callee)
        } else {
            // Ruby: a receiver and a method.
            let method = self.field_text(node, "method").unwrap_or_default();
            match node.child_by_field_name("receiver") {
                Some(receiver) => {
                    let receiver = self.expression(receiver);
                    Expr::Member(Box::new(receiver), method)
                }
                None => Expr::Name(method),
            }
        };
        let mut args = Vec::new();
        let mut named = Vec::new();
        if let Some(list) = node.child_by_field_name("arguments") {
            if list.kind() == "template_string" {
                args.push(self.expression(list));
            } else if list.kind() == "generator_expression" {
                args.push(Expr::Unknown(self.expressions(list)));
            } else {
                for child in self.children(list) {
                    match child.kind() {
                        "keyword_argument" | "pair" => {
                            let key =
                                self.field_text(child, "name").or(self.field_text(child, "key"));
                            let value = child.child_by_field_name("value");
                            if let (Some(key), Some(value)) = (key, value) {
                                let key = key.trim_matches([':', '"', '\'']).to_owned();
                                named.push((key, self.expression(value)));
                            }
                        }
                        _ => args.push(self.expression(child)),
                    }
                }
            }
        }
        if let Some(block) = node.child_by_field_name("block") {
            args.push(self.expression(block));
        }
        if matches!(&callee, Expr::Name(name) if name == "require")
            && let [Expr::Text(module)] = args.as_slice()
        {
            return Expr::Name(format!("require:{module}"));
        }
        Expr::Call(Box::new(Call { callee, args, named, line }))
    }

    fn map(&mut self, node: Node<'_>) -> Expr {
        let mut entries = Vec::new();
        for child in self.children(node) {
            match child.kind() {
                "pair" => {
                    let key = child.child_by_field_name("key");
                    let key = key.map(|key| self.source(key).trim_matches(['"', '\'', ':', '`']));
                    let key = key.unwrap_or_default().to_owned();
                    if let Some(value) = child.child_by_field_name("value") {
                        entries.push((key, self.expression(value)));
                    }
                }
                "shorthand_property_identifier" => {
                    let name = self.source(child).to_owned();
                    entries.push((name.clone(), Expr::Name(name)));
                }
                "method_definition" => {
                    let name = self.field_text(child, "name").unwrap_or_default();
                    let function = self.function(child);
                    entries.push((name, Expr::Function(Box::new(function))));
                }
                _ => entries.push((String::new(), self.expression(child))),
            }
        }
        Expr::Map(entries)
    }

    /// The constant text of a string.
    fn string(&mut self, node: Node<'_>) -> String {
        match self.text_expression(node) {
            Expr::Text(text) => text,
            _ => self.source(node).trim_matches(['"', '\'', '`']).to_owned(),
        }
    }

    /// A string with what is put into it.
    fn text_expression(&mut self, node: Node<'_>) -> Expr {
        let mut parts: Vec<Expr> = Vec::new();
        let mut text = String::new();
        for child in self.children(node) {
            match child.kind() {
                "string_content" | "string_fragment" | "heredoc_content" => {
                    let raw = self.source(child);
                    if child.named_child_count() == 0 {
                        text.push_str(raw);
                    } else {
                        text.push_str(&unescape(raw));
                    }
                }
                "escape_sequence" => text.push_str(&unescape(self.source(child))),
                "interpolation" | "template_substitution" => {
                    if !text.is_empty() {
                        parts.push(Expr::Text(std::mem::take(&mut text)));
                    }
                    parts.push(self.expression(child));
                }
                _ => {}
            }
        }
        if parts.is_empty() {
            return Expr::Text(text);
        }
        if !text.is_empty() {
            parts.push(Expr::Text(text));
        }
        Expr::Join(parts)
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
