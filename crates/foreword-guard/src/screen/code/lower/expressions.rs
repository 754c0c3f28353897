//! Expressions: calls, texts, lists, members.

use super::Lowerer;
use crate::screen::code::ir::{Call, Expr};
use crate::screen::code::text::{number, unescape};
use tree_sitter::Node;

impl<'t> Lowerer<'t> {
    pub(super) fn expressions(&mut self, node: Node<'_>) -> Vec<Expr> {
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

    pub(super) fn map(&mut self, node: Node<'_>) -> Expr {
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
    pub(super) fn string(&mut self, node: Node<'_>) -> String {
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
