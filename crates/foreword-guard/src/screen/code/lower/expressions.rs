//! Expressions: calls, texts, lists, members.

use std::sync::Arc;

use super::Lowerer;
use crate::screen::code::ir::{Call, Expr, Function, Stmt};
use crate::screen::code::text::{number, unescape};
use tree_sitter::Node;

impl<'t> Lowerer<'t> {
    pub(super) fn expressions(&mut self, node: Node<'t>) -> Vec<Expr> {
        self.children(node).into_iter().map(|child| self.expression(child)).collect()
    }

    pub(super) fn expression(&mut self, node: Node<'t>) -> Expr {
        self.deeper(Expr::Unknown(Vec::new()), |this| this.expression_here(node))
    }

    fn expression_here(&mut self, node: Node<'t>) -> Expr {
        match self.kind_of(node).expression {
            ExpressionKind::Name => Expr::Name(self.source(node).into()),
            ExpressionKind::Text => self.text_expression(node),
            ExpressionKind::Join => Expr::Join(self.expressions(node)),
            ExpressionKind::Symbol => Expr::Text(self.source(node).trim_start_matches(':').into()),
            ExpressionKind::Number => {
                number(self.source(node)).map_or(Expr::Unknown(Vec::new()), Expr::Number)
            }
            ExpressionKind::Member => {
                let object = node.child_by_field_id(self.words.object);
                let name = node
                    .child_by_field_id(self.words.attribute)
                    .or_else(|| node.child_by_field_id(self.words.property));
                match (object, name) {
                    (Some(object), Some(name)) => {
                        let object = self.expression(object);
                        Expr::Member(Box::new(object), self.source(name).into())
                    }
                    _ => Expr::Unknown(self.expressions(node)),
                }
            }
            ExpressionKind::Scope => Expr::Name(self.source(node).replace("::", ".").into()),
            ExpressionKind::Index => self.index(node),
            ExpressionKind::Binary => self.binary(node),
            ExpressionKind::Call => self.call(node),
            ExpressionKind::Subshell => {
                // Ruby's backticks.
                let text = self.text_expression(node);
                let line = self.line(node);
                let callee = Expr::Name("system".into());
                Expr::Call(Box::new(Call { callee, args: vec![text], named: Vec::new(), line }))
            }
            ExpressionKind::Function => Expr::Function(Box::new(self.function(node))),
            ExpressionKind::Map => self.map(node),
            ExpressionKind::List => Expr::List(self.expressions(node)),
            ExpressionKind::Choice => {
                let condition = node.child_by_field_id(self.words.condition);
                let mut parts = self.children(node);
                match condition {
                    Some(condition) => parts.retain(|part| *part != condition),
                    // Python: `this if condition else that`.
                    None if parts.len() == 3 => {
                        parts.remove(1);
                    }
                    None => {}
                }
                Expr::Choice(parts.into_iter().map(|part| self.expression(part)).collect())
            }
            ExpressionKind::Comprehension => self.comprehension(node),
            ExpressionKind::Assignment => {
                let right = node
                    .child_by_field_id(self.words.right)
                    .or_else(|| node.child_by_field_id(self.words.value));
                right.map_or(Expr::Unknown(Vec::new()), |right| self.expression(right))
            }
            ExpressionKind::Inner => match node.named_child(0) {
                Some(inner) => self.expression(inner),
                None => Expr::Unknown(Vec::new()),
            },
            ExpressionKind::Nothing => Expr::Unknown(Vec::new()),
            ExpressionKind::Other => Expr::Unknown(self.expressions(node)),
        }
    }

    /// `[f(x) for x in xs]`: what `f` makes of any of them.
    fn comprehension(&mut self, node: Node<'t>) -> Expr {
        let line = self.line(node);
        let mut body = Vec::new();
        let mut results = Vec::new();
        for child in self.children(node) {
            match self.kind(child) {
                "for_in_clause" => self.loop_names(child, &mut body),
                "if_clause" => {
                    let condition = Expr::Unknown(self.expressions(child));
                    body.push(Stmt::Do(condition));
                }
                "pair" => results.extend(child.child_by_field_id(self.words.value)),
                _ => results.push(child),
            }
        }
        for result in results {
            let result = self.expression(result);
            body.push(Stmt::Return(result));
        }
        let callee = Expr::Function(Box::new(Function { params: Vec::new(), body }));
        let call = Call { callee, args: Vec::new(), named: Vec::new(), line };
        Expr::Gather(Box::new(Expr::Call(Box::new(call))))
    }

    fn index(&mut self, node: Node<'t>) -> Expr {
        let object = node
            .child_by_field_id(self.words.value)
            .or_else(|| node.child_by_field_id(self.words.object));
        let index = node
            .child_by_field_id(self.words.subscript)
            .or_else(|| node.child_by_field_id(self.words.index))
            .or_else(|| node.named_child(1));
        match (object, index) {
            (Some(object), Some(index)) if self.kind(index) == "slice" => {
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
    fn binary(&mut self, node: Node<'t>) -> Expr {
        let words = self.words;
        let operator = |n: Node<'t>| {
            n.child_by_field_id(words.operator).map(|o| words.kind(o.kind_id()).name.as_str())
        };
        let own = operator(node).unwrap_or_default();
        let mut right_to_left = Vec::new();
        let mut at = node;
        loop {
            right_to_left.extend(at.child_by_field_id(self.words.right));
            let Some(left) = at.child_by_field_id(self.words.left) else { break };
            if self.kind(left) == self.kind(node) && operator(left) == Some(own) {
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
        if own == "<<" && matches!(parts.first(), Some(Expr::Name(_) | Expr::Index(..))) {
            // Ruby: something is put into a list.
            let line = self.line(node);
            let callee = Expr::Member(Box::new(parts.remove(0)), "push".into());
            return Expr::Call(Box::new(Call { callee, args: parts, named: Vec::new(), line }));
        }
        match own {
            "^" => {
                let (callee, line) = (Expr::Name("xor-of".into()), self.line(node));
                Expr::Call(Box::new(Call { callee, args: parts, named: Vec::new(), line }))
            }
            "||" | "or" | "??" => Expr::Choice(parts),
            "+" | "/" | "<<" => Expr::Join(parts),
            "%" if matches!(parts.first(), Some(Expr::Number(_))) => Expr::Unknown(parts),
            "%" => {
                let (callee, line) = (Expr::Name("filled-in".into()), self.line(node));
                Expr::Call(Box::new(Call { callee, args: parts, named: Vec::new(), line }))
            }
            _ => Expr::Unknown(parts),
        }
    }

    fn call(&mut self, node: Node<'t>) -> Expr {
        let line = self.line(node);
        let callee = if let Some(callee) = node
            .child_by_field_id(self.words.function)
            .or_else(|| node.child_by_field_id(self.words.constructor))
        {
            self.expression(callee)
        } else {
            // Ruby: a receiver and a method.
            let method = self.field_text(node, self.words.method).unwrap_or_default().into();
            match node.child_by_field_id(self.words.receiver) {
                Some(receiver) => {
                    let receiver = self.expression(receiver);
                    Expr::Member(Box::new(receiver), method)
                }
                None => Expr::Name(method),
            }
        };
        let mut args = Vec::new();
        let mut named = Vec::new();
        if let Some(list) = node.child_by_field_id(self.words.arguments) {
            if self.kind(list) == "template_string" {
                args.push(self.expression(list));
            } else if self.kind(list) == "generator_expression" {
                args.push(self.comprehension(list));
            } else {
                for child in self.children(list) {
                    match self.kind(child) {
                        "keyword_argument" | "pair" => {
                            let key = self
                                .field_text(child, self.words.name)
                                .or(self.field_text(child, self.words.key));
                            let value = child.child_by_field_id(self.words.value);
                            if let (Some(key), Some(value)) = (key, value) {
                                let key = key.trim_matches([':', '"', '\'']).into();
                                named.push((key, self.expression(value)));
                            }
                        }
                        _ => args.push(self.expression(child)),
                    }
                }
            }
        }
        if let Some(block) = node.child_by_field_id(self.words.block) {
            args.push(self.expression(block));
        }
        if matches!(&callee, Expr::Name(name) if name.as_ref() == "require")
            && let [Expr::Text(module)] = args.as_slice()
        {
            return Expr::Name(format!("require:{module}").into());
        }
        Expr::Call(Box::new(Call { callee, args, named, line }))
    }

    pub(super) fn map(&mut self, node: Node<'t>) -> Expr {
        let mut entries = Vec::new();
        for child in self.children(node) {
            match self.kind(child) {
                "pair" => {
                    let key = child.child_by_field_id(self.words.key);
                    let key = key.map(|key| self.source(key).trim_matches(['"', '\'', ':', '`']));
                    let key = key.unwrap_or_default().into();
                    if let Some(value) = child.child_by_field_id(self.words.value) {
                        entries.push((key, self.expression(value)));
                    }
                }
                "shorthand_property_identifier" => {
                    let name: Arc<str> = self.source(child).into();
                    entries.push((Arc::clone(&name), Expr::Name(name)));
                }
                "method_definition" => {
                    let name = self.field_text(child, self.words.name).unwrap_or_default();
                    let function = self.function(child);
                    entries.push((name.into(), Expr::Function(Box::new(function))));
                }
                _ => entries.push(("".into(), self.expression(child))),
            }
        }
        Expr::Map(entries)
    }

    /// The constant text of a string.
    pub(super) fn string(&mut self, node: Node<'t>) -> Arc<str> {
        match self.text_expression(node) {
            Expr::Text(text) => text,
            _ => self.source(node).trim_matches(['"', '\'', '`']).into(),
        }
    }

    /// A string with what is put into it.
    fn text_expression(&mut self, node: Node<'t>) -> Expr {
        let mut parts: Vec<Expr> = Vec::new();
        let mut text = String::new();
        for child in self.children(node) {
            match self.kind(child) {
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
                        parts.push(Expr::Text(text.as_str().into()));
                        text.clear();
                    }
                    parts.push(self.expression(child));
                }
                _ => {}
            }
        }
        if parts.is_empty() {
            return Expr::Text(text.into());
        }
        if !text.is_empty() {
            parts.push(Expr::Text(text.into()));
        }
        Expr::Join(parts)
    }
}

/// What a node is as an expression.
#[derive(Debug, Clone, Copy)]
pub(super) enum ExpressionKind {
    Name,
    Text,
    Join,
    Symbol,
    Number,
    Member,
    Scope,
    Index,
    Binary,
    Call,
    Subshell,
    Function,
    Map,
    List,
    Choice,
    Comprehension,
    Assignment,
    /// Has the value of what it holds.
    Inner,
    Nothing,
    Other,
}

impl ExpressionKind {
    /// By the name of the node in its grammar.
    pub(super) fn of(name: &str) -> Self {
        match name {
            "identifier"
            | "constant"
            | "instance_variable"
            | "global_variable"
            | "this"
            | "self"
            | "super"
            | "shorthand_property_identifier"
            | "import" => Self::Name,
            "string" | "template_string" | "heredoc_body" | "bare_string" => Self::Text,
            "concatenated_string" | "chained_string" => Self::Join,
            "simple_symbol" => Self::Symbol,
            "integer" | "number" => Self::Number,
            "attribute" | "member_expression" => Self::Member,
            "scope_resolution" => Self::Scope,
            "subscript" | "subscript_expression" | "element_reference" => Self::Index,
            "binary_operator" | "binary_expression" | "binary" => Self::Binary,
            "call" | "call_expression" | "new_expression" | "method_call" | "command_call" => {
                Self::Call
            }
            "subshell" => Self::Subshell,
            "arrow_function"
            | "function_expression"
            | "function"
            | "lambda"
            | "generator_function"
            | "block"
            | "do_block" => Self::Function,
            "object" | "dictionary" | "hash" => Self::Map,
            "list" | "array" | "tuple" | "set" | "string_array" | "expression_list" => Self::List,
            "ternary_expression"
            | "conditional_expression"
            | "conditional"
            | "boolean_operator"
            | "rescue_modifier" => Self::Choice,
            "list_comprehension"
            | "dictionary_comprehension"
            | "set_comprehension"
            | "generator_expression" => Self::Comprehension,
            "assignment" | "assignment_expression" | "named_expression" => Self::Assignment,
            "parenthesized_expression"
            | "await_expression"
            | "await"
            | "as_expression"
            | "non_null_expression"
            | "satisfies_expression"
            | "expression_statement"
            | "interpolation"
            | "template_substitution"
            | "parenthesized_statements" => Self::Inner,
            "function_definition"
            | "function_declaration"
            | "type_annotation"
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
            | "undefined" => Self::Nothing,
            _ => Self::Other,
        }
    }
}
