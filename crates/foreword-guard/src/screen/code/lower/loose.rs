//! From tokens to the common form, for languages without a grammar: Go, Rust, Java, PHP, Perl, Lua and
//! so on.
//!
//! Calls, members, texts and assignments look alike in all of them; everything else is left out. Blocks
//! are walked where they stand, so a program does what any part of it does.

mod expressions;
mod texts;
mod tokens;

use std::sync::Arc;

use crate::screen::code::ir::{Function, Stmt, Target};
use crate::screen::code::language::Dialect;
use tokens::{Placed, Token, tokens};

/// Deeper nesting is left out.
const MAX_DEPTH: usize = 60;

/// The statements of a program.
pub(super) fn loose(text: &str, dialect: Dialect) -> Vec<Stmt> {
    let signs = dialect.signs();
    let tokens = tokens(text, signs);
    let mut parser = Parser { tokens: &tokens, dialect, dots: signs.dots, at: 0, depth: 0 };
    let mut out = Vec::new();
    while parser.at < tokens.len() {
        parser.statements(&mut out);
        parser.at += 1;
    }
    out
}

struct Parser<'t> {
    tokens: &'t [Placed<'t>],
    dialect: Dialect,
    /// A dot joins texts.
    dots: bool,
    at: usize,
    depth: usize,
}

/// Words before a name that say what it is.
const MODIFIERS: [&str; 16] = [
    "let", "mut", "var", "val", "my", "our", "local", "const", "final", "auto", "static", "set",
    "Dim", "Set", "ref", "private",
];
/// Words that a function stands behind.
const DEFINERS: [&str; 7] = ["func", "fn", "function", "sub", "fun", "def", "proc"];

impl<'t> Parser<'t> {
    fn peek(&self, ahead: usize) -> Option<&'t Token<'t>> {
        self.tokens.get(self.at + ahead).map(|(token, _)| token)
    }

    fn sign(&self, sign: char) -> bool {
        self.peek(0) == Some(&Token::Sign(sign))
    }

    fn line(&self) -> u32 {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |(_, line)| *line)
    }

    /// Statements up to a brace that closes more than was opened.
    fn statements(&mut self, out: &mut Vec<Stmt>) {
        while let Some(token) = self.peek(0) {
            match token {
                Token::Sign('}') => return,
                Token::Sign('{') => {
                    self.at += 1;
                    self.block(out);
                }
                Token::Line | Token::Sign(';' | ')' | ']' | ',') => self.at += 1,
                Token::Name(word) if DEFINERS.contains(word) && self.defines() => self.define(out),
                _ => {
                    let before = self.at;
                    self.statement(out);
                    self.at = self.at.max(before + 1);
                }
            }
        }
    }

    /// The statements after a brace, and the brace that closes them.
    fn block(&mut self, out: &mut Vec<Stmt>) {
        if self.depth < MAX_DEPTH {
            self.depth += 1;
            self.statements(out);
            self.depth -= 1;
        }
        self.at += 1;
    }

    /// `func name(`.
    fn defines(&self) -> bool {
        matches!((self.peek(1), self.peek(2)), (Some(Token::Name(_)), Some(Token::Sign('('))))
    }

    fn define(&mut self, out: &mut Vec<Stmt>) {
        let Some(Token::Name(name)) = self.peek(1) else { return };
        self.at += 3;
        let mut params: Vec<Arc<str>> = Vec::new();
        let mut fresh = true;
        while let Some(token) = self.peek(0) {
            match token {
                Token::Sign(')') => break,
                Token::Sign(',') => fresh = true,
                Token::Name(word) if fresh && !MODIFIERS.contains(word) => {
                    // PHP names the type first.
                    let typed = matches!(self.peek(1), Some(Token::Name(_)))
                        && matches!(self.peek(2), Some(Token::Sign(',' | ')' | '=')))
                        && word.chars().all(|c| c.is_ascii_lowercase())
                        && matches!(*word, "string" | "array" | "int" | "mixed" | "bool");
                    if !typed {
                        params.push((*word).into());
                        fresh = false;
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
        // What it returns, up to its body.
        while let Some(token) = self.peek(0) {
            match token {
                Token::Sign('{') => break,
                Token::Sign(';' | '}') | Token::Line => return,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        let mut body = Vec::new();
        self.block(&mut body);
        let function = Arc::new(Function { params, body });
        out.push(Stmt::Define { name: (*name).into(), function });
    }

    fn statement(&mut self, out: &mut Vec<Stmt>) {
        if let Some(Token::Name("return")) = self.peek(0) {
            self.at += 1;
            let value = self.expression();
            return out.push(Stmt::Return(value));
        }
        // `while ($line = read($in))`
        if let (Some(Token::Name("while" | "if" | "until" | "unless")), Some(Token::Sign('('))) =
            (self.peek(0), self.peek(1))
        {
            let before = self.at;
            self.at += 2;
            if let Some((targets, extends)) = self.assigned() {
                let value = self.expression();
                return out.push(Stmt::Bind { targets, value, extends });
            }
            self.at = before;
        }
        if let Some(targets) = self.assigned() {
            let extends = targets.1;
            let value = self.expression();
            return out.push(Stmt::Bind { targets: targets.0, value, extends });
        }
        let value = self.expression();
        out.push(Stmt::Do(value));
    }

    /// The names before a `=`, which is left behind; and whether the value is added to them.
    fn assigned(&mut self) -> Option<(Vec<Target>, bool)> {
        let mut names: Vec<(String, bool)> = Vec::new();
        let mut typed = false;
        for ahead in 0..24 {
            match self.peek(ahead)? {
                Token::Name("to") if ahead >= 2 => return self.bind(names, ahead + 1, false),
                Token::Name(word) if !MODIFIERS.contains(word) => {
                    let member = ahead > 0 && self.is_member(ahead);
                    match names.last_mut() {
                        Some((name, open)) if member && *open => {
                            name.push('.');
                            name.push_str(word);
                        }
                        Some(last) if last.1 && !typed => *last = ((*word).to_owned(), true),
                        _ if !typed => names.push(((*word).to_owned(), true)),
                        _ => {}
                    }
                }
                Token::Sign(',') => {
                    if let Some(last) = names.last_mut() {
                        last.1 = false;
                    }
                }
                Token::Sign(':') if self.peek(ahead + 1) != Some(&Token::Sign('=')) => typed = true,
                Token::Sign('=') => {
                    let next = self.peek(ahead + 1);
                    let before = ahead.checked_sub(1).and_then(|a| self.peek(a));
                    let compares = matches!(next, Some(Token::Sign('=' | '>' | '~')))
                        || matches!(before, Some(Token::Sign('!' | '<' | '=')))
                        || matches!(before, Some(Token::Sign('>'))) && !typed;
                    let extends = matches!(before, Some(Token::Sign('+' | '.')));
                    return (!compares).then(|| self.bind(names, ahead + 1, extends)).flatten();
                }
                // R: `name <- value`.
                Token::Sign('<') if self.peek(ahead + 1) == Some(&Token::Sign('-')) => {
                    return self.bind(names, ahead + 2, false);
                }
                Token::Sign('(' | ')' | '{' | '}' | ';' | '"') | Token::Line | Token::Text(_) => {
                    // `(a, b) = …`, `name["entry"] = …`
                    if ahead == 0 && self.sign('(')
                        || matches!(self.peek(ahead), Some(Token::Text(_))) && names.len() == 1
                    {
                        continue;
                    }
                    return None;
                }
                _ => {}
            }
        }
        None
    }

    fn is_member(&self, ahead: usize) -> bool {
        let before = |back: usize| ahead.checked_sub(back).and_then(|at| self.peek(at));
        matches!(before(1), Some(Token::Sign('.')))
            || before(1) == Some(&Token::Sign('>')) && before(2) == Some(&Token::Sign('-'))
    }

    fn bind(
        &mut self,
        names: Vec<(String, bool)>,
        passed: usize,
        extends: bool,
    ) -> Option<(Vec<Target>, bool)> {
        if names.is_empty() {
            return None;
        }
        self.at += passed;
        Some((names.into_iter().take(8).map(|(name, _)| Target::whole(name)).collect(), extends))
    }
}
