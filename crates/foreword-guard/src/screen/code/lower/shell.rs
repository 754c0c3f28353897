//! From a syntax tree to the common form: shells.

use std::sync::Arc;

use tree_sitter::Node;

use super::{Lowerer, MAX_STAGES};
use crate::screen::code::ir::{Call, Command, Expr, Function, Stmt, Target};
use crate::screen::code::text::unescape;

impl<'t> Lowerer<'t> {
    pub(super) fn shell_block(&mut self, node: Node<'t>) -> Vec<Stmt> {
        let mut out = Vec::new();
        for child in self.children(node) {
            self.shell_statement(child, &mut out);
        }
        out
    }

    fn shell_statement(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        self.deeper((), |this| match this.kind(node) {
            "command" | "pipeline" | "redirected_statement" | "test_command" => {
                let value = this.shell_value(node, None);
                out.push(Stmt::Do(value));
            }
            "variable_assignment" => this.shell_assignment(node, out),
            "function_definition" => {
                let name = node.child_by_field_id(this.words.name);
                let name = name.map(|name| this.source(name)).unwrap_or_default().into();
                let body = node.child_by_field_id(this.words.body);
                let body = body.map(|body| this.shell_block(body)).unwrap_or_default();
                let body = body.into_iter().map(printing).collect();
                let function = Arc::new(Function { params: Vec::new(), body });
                out.push(Stmt::Define { name, function });
            }
            "while_statement" => {
                let condition = node.child_by_field_id(this.words.condition);
                let condition = condition.map(|c| this.source(c)).unwrap_or_default();
                let body = this.shell_block(node);
                let always = matches!(
                    condition.trim().trim_end_matches(';'),
                    "true" | ":" | "[ 1 ]" | "[[ 1 ]]" | "((1))"
                );
                let ends = ["break", "return", "sleep", "exit"];
                if always && !ends.iter().any(|word| this.source(node).contains(word)) {
                    out.push(Stmt::Endless { body, line: this.line(node) });
                } else {
                    out.extend(body);
                }
            }
            "for_statement" => {
                let mut values = Vec::new();
                let variable = node.child_by_field_id(this.words.variable);
                let name = variable.map(|v| this.source(v).to_owned()).unwrap_or_default();
                for child in this.children(node) {
                    if Some(child) == variable {
                        continue;
                    }
                    if this.kind(child) == "do_group" {
                        let value = match std::mem::take(&mut values) {
                            mut one if one.len() == 1 => {
                                Expr::Each(Box::new(one.pop().unwrap_or(Expr::Unknown(one))))
                            }
                            several => Expr::Choice(several),
                        };
                        let targets = vec![Target::whole(format!("${name}"))];
                        out.push(Stmt::Bind { targets, value, extends: false });
                        out.extend(this.shell_block(child));
                    } else {
                        values.push(this.shell_word(child));
                    }
                }
            }
            "word" | "comment" | "heredoc_body" | "variable_name" => {}
            _ => {
                let body = this.shell_block(node);
                out.extend(body);
            }
        });
    }

    fn shell_assignment(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        let Some(name) = node.child_by_field_id(self.words.name) else { return };
        let targets = vec![Target::whole(format!("${}", self.source(name)))];
        let value = node.child_by_field_id(self.words.value);
        let value = value.map_or(Expr::Text("".into()), |value| self.shell_word(value));
        let extends = self.source(node).contains("+=");
        out.push(Stmt::Bind { targets, value, extends });
    }

    /// What a command, a pipeline or a group prints.
    fn shell_value(&mut self, node: Node<'t>, stdin: Option<Expr>) -> Expr {
        self.deeper(Expr::Unknown(Vec::new()), |this| match this.kind(node) {
            "command" => this.shell_command(node, stdin),
            "pipeline" => {
                let mut value = stdin;
                let mut stages = this.children(node).into_iter();
                let early = stages.len().saturating_sub(MAX_STAGES);
                if early > 0 {
                    let early =
                        stages.by_ref().take(early).map(|part| this.shell_value(part, None));
                    value = Some(Expr::Unknown(value.into_iter().chain(early).collect()));
                }
                for part in stages {
                    value = Some(this.shell_value(part, value));
                }
                value.unwrap_or(Expr::Unknown(Vec::new()))
            }
            "redirected_statement" => this.redirected(node, stdin),
            "while_statement" | "subshell" | "compound_statement" | "for_statement"
            | "if_statement" | "list" | "case_statement" | "negated_command" | "do_group" => {
                // What flows in is read inside, by `read` or by a command that reads its input.
                let params = this.read_names(node);
                let body = match this.kind(node) {
                    "while_statement" | "for_statement" => {
                        let mut body = Vec::new();
                        this.shell_statement(node, &mut body);
                        body.into_iter().map(printing).collect()
                    }
                    _ => this.shell_group(node, stdin.as_ref()),
                };
                let args =
                    params.iter().map(|_| stdin.clone().unwrap_or(Expr::Unknown(Vec::new())));
                let args = args.collect();
                let callee = Expr::Function(Box::new(Function { params, body }));
                let line = this.line(node);
                Expr::Call(Box::new(Call { callee, args, named: Vec::new(), line }))
            }
            "variable_assignment" | "declaration_command" => {
                let mut body = Vec::new();
                this.shell_statement(node, &mut body);
                let callee = Expr::Function(Box::new(Function { params: Vec::new(), body }));
                let line = this.line(node);
                Expr::Call(Box::new(Call { callee, args: Vec::new(), named: Vec::new(), line }))
            }
            _ => this.shell_word(node),
        })
    }

    /// The statements of a group; each may be what the group prints.
    fn shell_group(&mut self, node: Node<'t>, stdin: Option<&Expr>) -> Vec<Stmt> {
        let mut out = Vec::new();
        for child in self.children(node) {
            match self.kind(child) {
                "command" | "pipeline" | "redirected_statement" => {
                    let value = self.shell_value(child, stdin.cloned());
                    out.push(Stmt::Return(value));
                }
                _ => {
                    let mut inner = Vec::new();
                    self.shell_statement(child, &mut inner);
                    out.extend(inner.into_iter().map(printing));
                }
            }
        }
        out
    }

    /// The names that `read` fills in the condition of a loop.
    fn read_names(&mut self, node: Node<'t>) -> Vec<Arc<str>> {
        let Some(condition) = node.child_by_field_id(self.words.condition) else {
            return Vec::new();
        };
        let words: Vec<&str> = self.source(condition).split_whitespace().collect();
        let read = words.iter().position(|word| *word == "read");
        let names = read.map(|at| words.into_iter().skip(at + 1)).into_iter().flatten();
        names
            .map(|name| name.trim_end_matches(';'))
            .filter(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
            .map(|name| format!("${name}").into())
            .collect()
    }

    fn shell_command(&mut self, node: Node<'t>, stdin: Option<Expr>) -> Expr {
        let line = self.line(node);
        let mut words = Vec::new();
        let (mut stdin, mut writes) = (stdin, Vec::new());
        for child in self.children(node) {
            match self.kind(child) {
                "variable_assignment" => {}
                "command_name" => {
                    let inner = child.named_child(0).unwrap_or(child);
                    words.push(self.shell_word(inner));
                }
                "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {
                    self.redirect(child, &mut stdin, &mut writes);
                }
                // `tee >(…)`: what flows in goes there too.
                "process_substitution" if self.source(child).starts_with('>') => {
                    let body = self.shell_group(child, stdin.as_ref());
                    let callee = Expr::Function(Box::new(Function { params: Vec::new(), body }));
                    let call = Call { callee, args: Vec::new(), named: Vec::new(), line };
                    words.push(Expr::Call(Box::new(call)));
                }
                _ => words.push(self.shell_word(child)),
            }
        }
        Expr::Command(Box::new(Command { words, stdin, writes, line }))
    }

    fn redirected(&mut self, node: Node<'t>, stdin: Option<Expr>) -> Expr {
        let (mut stdin, mut writes) = (stdin, Vec::new());
        let body = node.child_by_field_id(self.words.body);
        let mut piped = Vec::new();
        for child in self.children(node) {
            if Some(child) == body {
                continue;
            }
            if self.kind(child) == "heredoc_redirect" {
                piped.extend(
                    self.children(child)
                        .into_iter()
                        .filter(|n| matches!(n.kind(), "pipeline" | "command")),
                );
            }
            self.redirect(child, &mut stdin, &mut writes);
        }
        let value = match body {
            Some(body) => self.shell_value(body, stdin),
            None => stdin.unwrap_or(Expr::Unknown(Vec::new())),
        };
        let mut value = match value {
            Expr::Command(mut command) => {
                command.writes.extend(writes);
                Expr::Command(command)
            }
            other if !writes.is_empty() => {
                let words = vec![Expr::Text("cat".into())];
                let line = self.line(node);
                Expr::Command(Box::new(Command { words, stdin: Some(other), writes, line }))
            }
            other => other,
        };
        for part in piped {
            value = self.shell_value(part, Some(value));
        }
        match self.swallowed(node) {
            Some(command) => Expr::Unknown(vec![value, command]),
            None => value,
        }
    }

    /// The grammar takes a command on the next line for more files to write to.
    fn swallowed(&mut self, node: Node<'t>) -> Option<Expr> {
        let redirect =
            self.children(node).into_iter().rfind(|n| self.kind(*n) == "file_redirect")?;
        let row = redirect.start_position().row;
        let words = self.children(redirect).into_iter().filter(|n| n.start_position().row > row);
        let words: Vec<Node<'t>> = words.collect();
        let line = self.line(*words.first()?);
        let words = words.into_iter().map(|word| self.shell_word(word)).collect();
        Some(Expr::Command(Box::new(Command { words, stdin: None, writes: Vec::new(), line })))
    }

    fn redirect(&mut self, node: Node<'t>, stdin: &mut Option<Expr>, writes: &mut Vec<Expr>) {
        let line = self.line(node);
        match self.kind(node) {
            "file_redirect" => {
                let Some(destination) = node.child_by_field_id(self.words.destination) else {
                    return;
                };
                let source = self.source(node);
                let operator = source.trim_start_matches(|c: char| c.is_ascii_digit());
                let target = self.shell_word(destination);
                if operator.starts_with('<') && !operator.starts_with("<>") {
                    let words = vec![Expr::Text("cat".into()), target];
                    let cat = Command { words, stdin: None, writes: Vec::new(), line };
                    *stdin = Some(Expr::Command(Box::new(cat)));
                } else {
                    writes.push(target);
                }
            }
            "herestring_redirect" => {
                if let Some(word) = node.named_child(0) {
                    *stdin = Some(self.shell_word(word));
                }
            }
            "heredoc_redirect" => {
                for child in self.children(node) {
                    match self.kind(child) {
                        "heredoc_body" => *stdin = Some(Expr::Text(self.source(child).into())),
                        "file_redirect" => self.redirect(child, stdin, writes),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    pub(super) fn shell_word(&mut self, node: Node<'t>) -> Expr {
        self.deeper(Expr::Unknown(Vec::new()), |this| match this.kind(node) {
            "word" => Expr::Text(unescape_word(this.source(node)).into()),
            "number"
            | "string_content"
            | "variable_name"
            | "special_variable_name"
            | "regex"
            | "extglob_pattern" => Expr::Text(this.source(node).into()),
            "raw_string" => Expr::Text(this.source(node).trim_matches('\'').into()),
            "ansi_c_string" => {
                let inner = this.source(node).trim_start_matches('$').trim_matches('\'');
                Expr::Text(unescape(inner).into())
            }
            "string" | "concatenation" | "translated_string" => this.shell_string(node),
            "simple_expansion" => {
                Expr::Name(format!("${}", this.source(node).trim_start_matches('$')).into())
            }
            "expansion" => this.shell_expansion(node),
            "command_substitution" | "process_substitution" => {
                let body = this.shell_group(node, None);
                let callee = Expr::Function(Box::new(Function { params: Vec::new(), body }));
                let line = this.line(node);
                Expr::Call(Box::new(Call { callee, args: Vec::new(), named: Vec::new(), line }))
            }
            "array" => {
                let items = this.children(node).into_iter().map(|n| this.shell_word(n)).collect();
                Expr::List(items)
            }
            "command" | "pipeline" | "redirected_statement" | "subshell" => {
                this.shell_value(node, None)
            }
            _ => {
                let parts: Vec<Expr> =
                    this.children(node).into_iter().map(|n| this.shell_word(n)).collect();
                if parts.is_empty() {
                    Expr::Text(this.source(node).into())
                } else {
                    Expr::Unknown(parts)
                }
            }
        })
    }

    /// The parts of a string; blanks between two expansions are no nodes of their own.
    fn shell_string(&mut self, node: Node<'t>) -> Expr {
        let mut parts = Vec::new();
        let mut at = node.start_byte() + usize::from(self.kind(node) == "string");
        for child in self.children(node) {
            if let Some(gap) = self.text.get(at..child.start_byte())
                && !gap.is_empty()
                && self.kind(node) == "string"
            {
                parts.push(Expr::Text(gap.into()));
            }
            at = child.end_byte();
            parts.push(match self.kind(child) {
                "string_content" => Expr::Text(unescape_quoted(self.source(child)).into()),
                _ => self.shell_word(child),
            });
        }
        match parts.len() {
            0 => Expr::Text(self.source(node).trim_matches('"').into()),
            1 => parts.pop().unwrap_or(Expr::Unknown(Vec::new())),
            _ => Expr::Join(parts),
        }
    }

    /// `${NAME}`, `${NAME:-default}`.
    fn shell_expansion(&mut self, node: Node<'t>) -> Expr {
        let children = self.children(node);
        let mut parts = children.into_iter();
        let Some(first) = parts.next() else { return Expr::Unknown(Vec::new()) };
        let name = match self.kind(first) {
            "subscript" => first.child_by_field_id(self.words.name).unwrap_or(first),
            _ => first,
        };
        let variable = Expr::Name(format!("${}", self.source(name)).into());
        let rest: Vec<Expr> = parts.map(|part| self.shell_word(part)).collect();
        if rest.is_empty() {
            return variable;
        }
        let callee = Expr::Name("first-of".into());
        let mut args = vec![variable];
        args.extend(rest);
        let line = self.line(node);
        Expr::Call(Box::new(Call { callee, args, named: Vec::new(), line }))
    }
}

/// What a statement prints is what its function or group prints.
fn printing(statement: Stmt) -> Stmt {
    match statement {
        Stmt::Do(value) => Stmt::Return(value),
        other => other,
    }
}

/// A word without its backslashes.
fn unescape_word(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    let mut chars = word.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.extend(chars.next().filter(|next| *next != '\n')),
            _ => out.push(c),
        }
    }
    out
}

/// Between double quotes only some backslashes mean something.
fn unescape_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some('"' | '$' | '`' | '\\')) => out.extend(chars.next()),
            ('\\', Some('\n')) => {
                chars.next();
            }
            _ => out.push(c),
        }
    }
    out
}
