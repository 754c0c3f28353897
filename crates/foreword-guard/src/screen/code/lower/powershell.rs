//! From a syntax tree to the common form: PowerShell.

use std::sync::Arc;

use tree_sitter::Node;

use super::{Lowerer, MAX_STAGES};
use crate::screen::code::ir::{Call, Command, Expr, Function, Stmt, Target};

impl<'t> Lowerer<'t> {
    pub(super) fn powershell_block(&mut self, node: Node<'t>) -> Vec<Stmt> {
        let mut out = Vec::new();
        for child in self.children(node) {
            self.powershell_statement(child, &mut out);
        }
        out
    }

    fn powershell_statement(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        self.deeper((), |this| match node.kind() {
            "pipeline" | "pipeline_chain" | "command" => {
                if let Some(assignment) =
                    this.children(node).into_iter().find(|n| n.kind() == "assignment_expression")
                {
                    this.powershell_assignment(assignment, out);
                } else {
                    let value = this.powershell_value(node);
                    out.push(Stmt::Do(value));
                }
            }
            "assignment_expression" => this.powershell_assignment(node, out),
            "function_statement" => {
                let children = this.children(node);
                let name = children.iter().find(|n| n.kind() == "function_name");
                let name = name.map(|n| this.source(*n)).unwrap_or_default().into();
                let params = this.powershell_params(node);
                let body = this.powershell_block(node);
                let body = body.into_iter().map(|statement| match statement {
                    Stmt::Do(value) => Stmt::Return(value),
                    other => other,
                });
                let function = Arc::new(Function { params, body: body.collect() });
                out.push(Stmt::Define { name, function });
            }
            "foreach_statement" => {
                let children = this.children(node);
                let variable = children.iter().find(|n| n.kind() == "variable");
                let list = children.iter().find(|n| n.kind() == "pipeline");
                if let (Some(variable), Some(list)) = (variable, list) {
                    let name = this.source(*variable).to_ascii_lowercase();
                    let value = Expr::Each(Box::new(this.powershell_value(*list)));
                    let targets = vec![Target::whole(name)];
                    out.push(Stmt::Bind { targets, value, extends: false });
                }
                for child in children.iter().filter(|n| n.kind() == "statement_block") {
                    let body = this.powershell_block(*child);
                    out.extend(body);
                }
            }
            "function_name" | "function_parameter_declaration" | "param_block" => {}
            _ => {
                let body = this.powershell_block(node);
                out.extend(body);
            }
        });
    }

    /// The parameters that a function declares, in front of its body or in it.
    fn powershell_params(&mut self, node: Node<'t>) -> Vec<Arc<str>> {
        let mut out = Vec::new();
        let mut left = vec![node];
        for _ in 0..64 {
            let Some(node) = left.pop() else { break };
            for child in self.children(node) {
                match child.kind() {
                    "script_parameter" => {
                        let inner = self.children(child);
                        let variable = inner.iter().find(|n| n.kind() == "variable");
                        out.extend(variable.map(|v| self.source(*v).to_ascii_lowercase().into()));
                    }
                    "function_parameter_declaration"
                    | "param_block"
                    | "parameter_list"
                    | "script_block" => left.push(child),
                    _ => {}
                }
            }
        }
        out
    }

    fn powershell_assignment(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        let children = self.children(node);
        let (Some(left), Some(right)) = (children.first(), children.last()) else { return };
        let name = self.source(*left).trim().to_ascii_lowercase();
        let value = self.powershell_value(*right);
        let extends = self.source(node).contains("+=");
        out.push(Stmt::Bind { targets: vec![Target::whole(name)], value, extends });
    }

    fn powershell_value(&mut self, node: Node<'t>) -> Expr {
        self.deeper(Expr::Unknown(Vec::new()), |this| match node.kind() {
            "pipeline" | "pipeline_chain" => {
                let mut value: Option<Expr> = None;
                let mut stages = this.children(node).into_iter();
                let early = stages.len().saturating_sub(MAX_STAGES);
                if early > 0 {
                    let early = stages.by_ref().take(early).map(|part| this.powershell_value(part));
                    value = Some(Expr::Unknown(early.collect()));
                }
                for part in stages {
                    if let Some(before) = value.take_if(|_| this.is_block_command(part)) {
                        // `… | ForEach-Object { … $_ … }`
                        let body = this.powershell_block(part).into_iter().map(|s| match s {
                            Stmt::Do(value) => Stmt::Return(value),
                            other => other,
                        });
                        let function = Function { params: vec!["$_".into()], body: body.collect() };
                        let callee = Expr::Function(Box::new(function));
                        let args = vec![Expr::Each(Box::new(before))];
                        let line = this.line(part);
                        let call = Call { callee, args, named: Vec::new(), line };
                        value = Some(Expr::Call(Box::new(call)));
                        continue;
                    }
                    let next = this.powershell_value(part);
                    value = Some(match (next, value) {
                        (Expr::Command(mut command), Some(before)) => {
                            command.stdin = Some(before);
                            Expr::Command(command)
                        }
                        (next, Some(before)) => Expr::Unknown(vec![before, next]),
                        (next, None) => next,
                    });
                }
                value.unwrap_or(Expr::Unknown(Vec::new()))
            }
            "command" => this.powershell_command(node),
            "variable" | "braced_variable" => {
                let name = this.source(node).to_ascii_lowercase();
                if matches!(name.as_str(), "$true" | "$false") {
                    return Expr::Text(name.into());
                }
                match name.strip_prefix("$env:") {
                    Some(variable) => {
                        Expr::Name(format!("${}", variable.to_ascii_uppercase()).into())
                    }
                    None => Expr::Name(name.into()),
                }
            }
            "verbatim_string_characters" | "verbatim_here_string_characters" => {
                Expr::Text(this.source(node).trim_matches(['\'', '@']).into())
            }
            "expandable_string_literal" | "expandable_here_string_literal" => {
                this.powershell_string(node)
            }
            "generic_token"
            | "command_parameter"
            | "command_argument_sep"
            | "type_name"
            | "simple_name"
            | "member_name"
            | "path_command_name_token"
            | "command_name" => Expr::Text(this.source(node).replace('`', "").into()),
            "expression_with_unary_operator" => this.powershell_unary(node),
            "range_expression" | "range_argument_expression" if node.named_child_count() == 2 => {
                let ends = this.powershell_parts(node);
                this.powershell_call(node, Expr::Name("range-of".into()), ends)
            }
            "element_access" => {
                let mut parts = this.powershell_parts(node).into_iter();
                let (Some(object), Some(place)) = (parts.next(), parts.next()) else {
                    return Expr::Unknown(Vec::new());
                };
                Expr::Index(Box::new(object), Box::new(place))
            }
            "format_expression" | "comparison_expression" if node.named_child_count() == 3 => {
                this.powershell_operator(node)
            }
            "decimal_integer_literal" | "hexadecimal_integer_literal" => {
                crate::screen::code::text::number(this.source(node))
                    .map_or(Expr::Unknown(Vec::new()), Expr::Number)
            }
            "invokation_expression" | "member_access" => this.powershell_member(node),
            "additive_expression" | "additive_argument_expression"
                if node.named_child_count() > 1 =>
            {
                let parts = this.children(node).into_iter().map(|n| this.powershell_value(n));
                Expr::Join(parts.collect())
            }
            "array_expression" | "array_literal_expression" if node.named_child_count() > 1 => {
                let parts = this.children(node).into_iter().map(|n| this.powershell_value(n));
                Expr::List(parts.collect())
            }
            _ => {
                let parts: Vec<Expr> =
                    this.children(node).into_iter().map(|n| this.powershell_value(n)).collect();
                match <[Expr; 1]>::try_from(parts) {
                    Ok([only]) => only,
                    Err(parts) => Expr::Unknown(parts),
                }
            }
        })
    }

    fn powershell_parts(&mut self, node: Node<'t>) -> Vec<Expr> {
        self.children(node).into_iter().map(|n| self.powershell_value(n)).collect()
    }

    fn powershell_call(&self, node: Node<'t>, callee: Expr, args: Vec<Expr>) -> Expr {
        let line = self.line(node);
        Expr::Call(Box::new(Call { callee, args, named: Vec::new(), line }))
    }

    /// `-1`, `-join $list`, `[char]104`.
    fn powershell_unary(&mut self, node: Node<'t>) -> Expr {
        let source = self.source(node);
        if let Some(number) = crate::screen::code::text::number(source) {
            return Expr::Number(number);
        }
        let mut parts = self.powershell_parts(node);
        if source.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("-join")) {
            let callee = Expr::Member(Box::new(Expr::Text("".into())), "join".into());
            return self.powershell_call(node, callee, parts);
        }
        if source.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("[char"))
            && let Some(codes) = parts.pop()
        {
            return self.powershell_call(node, Expr::Name("chr".into()), vec![codes]);
        }
        match <[Expr; 1]>::try_from(parts) {
            Ok([only]) => only,
            Err(parts) => Expr::Unknown(parts),
        }
    }

    /// `$list -join ''`, `'{0}' -f $x`, `$text -replace 'a', 'b'`.
    fn powershell_operator(&mut self, node: Node<'t>) -> Expr {
        let children = self.children(node);
        let [left, operator, right] = children.as_slice() else {
            return Expr::Unknown(self.powershell_parts(node));
        };
        let operator = self.source(*operator).to_ascii_lowercase();
        let (left, right) = (self.powershell_value(*left), self.powershell_value(*right));
        let (object, member, args) = match operator.as_str() {
            "-join" => (right, "join", vec![left]),
            "-f" => (left, "format", vec![right]),
            "-replace" | "-creplace" | "-ireplace" => match right {
                Expr::List(parts) => (left, "replace", parts),
                other => (left, "replace", vec![other, Expr::Text("".into())]),
            },
            _ => return Expr::Unknown(vec![left, right]),
        };
        let callee = Expr::Member(Box::new(object), member.into());
        self.powershell_call(node, callee, args)
    }

    fn is_block_command(&self, node: Node<'t>) -> bool {
        let source = self.source(node).trim_start().to_ascii_lowercase();
        source.contains('{')
            && ["foreach-object", "where-object", "% ", "? ", "%{"]
                .iter()
                .any(|name| source.starts_with(name))
    }

    fn powershell_command(&mut self, node: Node<'t>) -> Expr {
        let line = self.line(node);
        let (mut words, mut writes) = (Vec::new(), Vec::new());
        for child in self.children(node) {
            match child.kind() {
                "command_elements" => {
                    for element in self.children(child) {
                        match element.kind() {
                            "command_argument_sep" => {}
                            "redirection" => writes.push(self.powershell_value(element)),
                            _ => words.push(self.powershell_value(element)),
                        }
                    }
                }
                "command_invokation_operator" => {}
                _ => words.push(self.powershell_value(child)),
            }
        }
        // A call on a parenthesised object is parsed apart from it; its text still says what it does.
        let source = self.source(node);
        if source.to_ascii_lowercase().contains("downloadstring") {
            words.push(Expr::Text(source.into()));
        }
        Expr::Command(Box::new(Command { words, stdin: None, writes, line }))
    }

    /// `$x.Method(args)`, `[Type]::Method(args)`.
    fn powershell_member(&mut self, node: Node<'t>) -> Expr {
        let line = self.line(node);
        let children = self.children(node);
        let Some(object) = children.first() else { return Expr::Unknown(Vec::new()) };
        let object = match object.kind() {
            "type_literal" => Expr::Name(
                self.source(*object).trim_matches(['[', ']']).to_ascii_lowercase().into(),
            ),
            _ => self.powershell_value(*object),
        };
        let member = children.iter().find(|n| n.kind() == "member_name");
        let member = member.map(|n| self.source(*n).to_ascii_lowercase()).unwrap_or_default();
        let callee = Expr::Member(Box::new(object), member.into());
        let list = children.iter().find(|n| n.kind() == "argument_list");
        let Some(list) = list else { return callee };
        let mut parts = self.children(*list);
        while let [only] = parts.as_slice()
            && only.kind().ends_with("_list")
        {
            parts = self.children(*only);
        }
        let args = parts.into_iter().map(|n| self.powershell_value(n)).collect();
        Expr::Call(Box::new(Call { callee, args, named: Vec::new(), line }))
    }

    /// A string with what is put into it.
    fn powershell_string(&mut self, node: Node<'t>) -> Expr {
        let source = self.source(node);
        let mut parts = Vec::new();
        let mut at = 0;
        for child in self.children(node) {
            let start = child.start_byte().saturating_sub(node.start_byte());
            parts.push(Expr::Text(source.get(at..start).unwrap_or_default().into()));
            parts.push(self.powershell_value(child));
            at = child.end_byte().saturating_sub(node.start_byte());
        }
        parts.push(Expr::Text(source.get(at..).unwrap_or_default().into()));
        if let Some(Expr::Text(first)) = parts.first_mut() {
            *first = first.trim_start_matches(['"', '@']).into();
        }
        if let Some(Expr::Text(last)) = parts.last_mut()
            && !last.ends_with("`\"\"")
        {
            *last = last.trim_end_matches(['"', '@']).into();
        }
        for part in &mut parts {
            if let Expr::Text(text) = part
                && text.contains('`')
            {
                *text = text.replace('`', "").into();
            }
        }
        Expr::Join(parts)
    }
}
