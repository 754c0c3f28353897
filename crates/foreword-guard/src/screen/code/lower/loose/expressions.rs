//! Values: names, texts, calls and what hangs on them.

use super::texts::{is_text, text_of};
use super::tokens::Token;
use super::{MAX_DEPTH, Parser};
use crate::screen::code::ir::{Call, Expr, Function};
use crate::screen::code::language::Dialect;
use crate::screen::code::text::number;

/// Members and calls that one value is followed through.
const MAX_TRAILERS: usize = 100;
/// Words that a value stands behind.
const PREFIXES: [&str; 12] =
    ["new", "await", "try", "not", "and", "or", "if", "in", "do", "then", "else", "go"];
/// Words of Basic that stand between values.
const BASIC_WORDS: [&str; 12] =
    ["Then", "And", "Or", "To", "Is", "Mod", "Not", "Else", "Xor", "Step", "Like", "As"];

impl Parser<'_> {
    /// A value, up to the end of its statement or list entry.
    pub(super) fn expression(&mut self) -> Expr {
        if self.depth >= MAX_DEPTH {
            self.at += 1;
            return Expr::Unknown(Vec::new());
        }
        self.depth += 1;
        let mut parts = Vec::new();
        let mut choices = Vec::new();
        let mut joins = true;
        let mut dotted = false;
        while let Some(token) = self.peek(0) {
            match token {
                // Lua: `condition and this or that`.
                Token::Name(word @ ("and" | "or")) if self.dialect == Dialect::Lua => {
                    self.at += 1;
                    let value = one_of(std::mem::take(&mut parts), joins, dotted);
                    // A condition is not what comes out.
                    choices.push(match *word {
                        "and" => Expr::Gather(Box::new(value)),
                        _ => value,
                    });
                }
                Token::Sign(';' | ',' | ')' | ']' | '}') => break,
                Token::Sign('{') if parts.is_empty() && self.depth > 1 => parts.push(self.braces()),
                Token::Sign('{') => break,
                Token::Line => {
                    // A line that starts with a dot goes on.
                    let lua = self.dialect == Dialect::Lua;
                    let goes_on = matches!(self.peek(1), Some(Token::Sign('.' | '+' | '|' | '&')))
                        || lua && matches!(self.peek(1), Some(Token::Name("and" | "or")))
                        || self.peek(1) == Some(&Token::Sign('-'))
                            && self.peek(2) == Some(&Token::Sign('>'));
                    if !goes_on && !parts.is_empty() {
                        break;
                    }
                    self.at += 1;
                }
                Token::Name(_) | Token::Text(_) | Token::Command(_) | Token::Number(_) => {
                    parts.push(self.operand());
                }
                Token::Sign('(') | Token::Sign('[') => parts.push(self.operand()),
                // A label: `url: …`.
                Token::Sign(':')
                    if matches!(parts.as_slice(), [Expr::Name(_)])
                        && self.peek(1) != Some(&Token::Sign(':')) =>
                {
                    parts.clear();
                    self.at += 1;
                }
                Token::Sign('^') => {
                    joins = false;
                    self.at += 1;
                }
                Token::Sign('=') if self.peek(1) == Some(&Token::Sign('>')) => {
                    // A pair or a case: what is on the left is a name.
                    parts.clear();
                    self.at += 2;
                }
                Token::Sign(sign) => {
                    dotted |= self.dots && *sign == '.';
                    self.at += 1;
                }
            }
            if parts.len() > 64 {
                break;
            }
        }
        self.depth -= 1;
        let value = one_of(parts, joins, dotted);
        if choices.is_empty() {
            return value;
        }
        choices.push(value);
        Expr::Choice(choices)
    }

    /// What stands between braces inside an expression: a function, or entries.
    fn braces(&mut self) -> Expr {
        let mut level = 0_usize;
        let mut ahead = 0;
        let mut function = false;
        while let Some(token) = self.peek(ahead) {
            match token {
                Token::Sign('{' | '(' | '[') => level += 1,
                Token::Sign('}' | ')' | ']') => {
                    level = level.saturating_sub(1);
                    if level == 0 {
                        break;
                    }
                }
                Token::Sign(';') => function = true,
                Token::Sign('=')
                    if level == 1 && self.peek(ahead + 1) != Some(&Token::Sign('>')) =>
                {
                    function = true;
                }
                _ => {}
            }
            ahead += 1;
            if function || ahead > 2_000 {
                break;
            }
        }
        self.at += 1;
        if self.depth >= MAX_DEPTH {
            return Expr::Unknown(Vec::new());
        }
        if function {
            let mut body = Vec::new();
            self.block(&mut body);
            return Expr::Function(Box::new(Function { params: Vec::new(), body }));
        }
        self.depth += 1;
        let entries = self.list('}');
        self.depth -= 1;
        Expr::List(entries)
    }

    /// Entries up to what closes them.
    fn list(&mut self, close: char) -> Vec<Expr> {
        let mut out = Vec::new();
        while let Some(token) = self.peek(0) {
            match token {
                Token::Sign(c) if *c == close => {
                    self.at += 1;
                    break;
                }
                Token::Sign(',' | ';') | Token::Line => self.at += 1,
                Token::Sign(')' | ']' | '}') => break,
                _ => {
                    let before = self.at;
                    out.push(self.entry());
                    self.at = self.at.max(before + 1);
                }
            }
        }
        out
    }

    /// An entry of a list; a block in it is a function.
    fn entry(&mut self) -> Expr {
        let first = self.expression();
        if !self.sign('{') {
            return first;
        }
        // `new String[]{…}`, `[]string{…}`: only what it holds matters.
        self.braces()
    }

    /// A name, a text or a group, with everything that hangs on it.
    fn operand(&mut self) -> Expr {
        let line = self.line();
        let mut value = match self.peek(0) {
            Some(Token::Name(word)) => {
                self.at += 1;
                if PREFIXES.contains(word) {
                    return Expr::Unknown(Vec::new());
                }
                if *word == "hidden" && self.peek(0) == Some(&Token::Name("answer")) {
                    return call(Expr::Name("hidden-answer".into()), Vec::new(), line);
                }
                // Perl: `exec { program } words`.
                if let ("exec" | "system", Some(Token::Sign('{')), Some(Token::Text(program))) =
                    (*word, self.peek(0), self.peek(1))
                {
                    self.at += 2;
                    return call(Expr::Name((*word).into()), vec![text_of(program)], line);
                }
                if self.is_shell_script(word) {
                    self.at += 1;
                    let command = self.expression();
                    return call(Expr::Name("system".into()), vec![command], line);
                }
                name(word)
            }
            Some(Token::Text(text)) => {
                self.at += 1;
                match self.dialect {
                    // Nothing is escaped there, and paths have backslashes.
                    Dialect::Basic => {
                        Expr::Text(text.replace("\"\"", "\"").replace('\\', "/").into())
                    }
                    _ => text_of(text),
                }
            }
            Some(Token::Command(text)) => {
                self.at += 1;
                call(Expr::Name("system".into()), vec![text_of(text)], line)
            }
            Some(Token::Number(text)) => {
                self.at += 1;
                number(text).map_or(Expr::Unknown(Vec::new()), Expr::Number)
            }
            Some(Token::Sign(open @ ('(' | '['))) => {
                self.at += 1;
                let close = if *open == '(' { ')' } else { ']' };
                let mut parts = self.list(close);
                match parts.len() {
                    1 if *open == '(' => parts.pop().unwrap_or(Expr::Unknown(Vec::new())),
                    _ if *open == '(' => Expr::Unknown(parts),
                    _ => Expr::List(parts),
                }
            }
            _ => return Expr::Unknown(Vec::new()),
        };
        for _ in 0..MAX_TRAILERS {
            let next = self.trailer(value);
            let ends = next.is_err();
            value = next.unwrap_or_else(|value| value);
            if ends {
                break;
            }
        }
        // `Shell "…"`, `system "…"`: a call without brackets.
        let basic = self.dialect == Dialect::Basic
            && matches!(value, Expr::Member(..))
            && matches!(self.peek(0), Some(Token::Name(word)) if !BASIC_WORDS.contains(word));
        let evaluates = matches!(&value, Expr::Name(word)
            if matches!(word.as_ref(), "eval" | "exec" | "system" | "unlink" | "rmtree"))
            && matches!(self.peek(0), Some(Token::Name(_) | Token::Command(_)));
        if basic
            || evaluates
            || matches!(value, Expr::Name(_) | Expr::Member(..))
                && matches!(self.peek(0), Some(Token::Text(_)))
        {
            let mut args = vec![self.expression()];
            while self.sign(',') && args.len() < 8 {
                self.at += 1;
                args.push(self.expression());
            }
            return call(value, args, line);
        }
        value
    }

    /// AppleScript: `do shell script`.
    fn is_shell_script(&self, word: &str) -> bool {
        word == "shell" && self.peek(0) == Some(&Token::Name("script"))
    }

    /// A call, a member or an entry of what was read before; else the value as it was.
    fn trailer(&mut self, value: Expr) -> Result<Expr, Expr> {
        let line = self.line();
        let after_member = |this: &mut Self, signs: usize, value: Expr| {
            let Some(Token::Name(member)) = this.peek(signs) else { return Err(value) };
            this.at += signs + 1;
            let called = this.sign('(');
            let member_of = Expr::Member(Box::new(value), (*member).into());
            // Groovy and Kotlin read a file by naming a property.
            let reads = matches!(*member, "text" | "bytes") && !called;
            Ok(if reads { call(member_of, Vec::new(), line) } else { member_of })
        };
        let Some(first) = self.peek(0) else { return Err(value) };
        match (first, self.peek(1)) {
            (Token::Sign('('), _) => {
                self.at += 1;
                let args = self.list(')');
                Ok(call(value, args, line))
            }
            // Rust's macros.
            (Token::Sign('!'), Some(Token::Sign('('))) => {
                self.at += 2;
                let args = self.list(')');
                let is = |n: &str| matches!(&value, Expr::Name(own) if own.as_ref() == n);
                Ok(if is("format") || is("concat") {
                    Expr::Join(args)
                } else {
                    call(value, args, line)
                })
            }
            (Token::Sign('!'), Some(Token::Sign('['))) => {
                self.at += 2;
                Ok(Expr::List(self.list(']')))
            }
            (Token::Sign('['), _) => {
                self.at += 1;
                let mut index = self.list(']');
                let index = index.pop().unwrap_or(Expr::Unknown(Vec::new()));
                Ok(Expr::Index(Box::new(value), Box::new(index)))
            }
            // Perl: `$ENV{HOME}`.
            (Token::Sign('{'), Some(Token::Name(key)))
                if self.peek(2) == Some(&Token::Sign('}')) =>
            {
                self.at += 3;
                Ok(Expr::Index(Box::new(value), Box::new(Expr::Text((*key).into()))))
            }
            (Token::Sign('.'), Some(Token::Name(_))) if self.dots => Err(value),
            (Token::Sign('.'), Some(Token::Name(_))) if !is_text(&value) || self.calls(2) => {
                after_member(self, 1, value)
            }
            (Token::Sign('?' | '!'), Some(Token::Sign('.'))) => after_member(self, 2, value),
            (Token::Sign('-'), Some(Token::Sign('>'))) => after_member(self, 2, value),
            (Token::Sign(':'), Some(Token::Sign(':'))) => match self.peek(2) {
                Some(Token::Sign('<')) => {
                    // `::<Vec<_>>`
                    self.at += 2;
                    for _ in 0..24 {
                        let inside =
                            !matches!(self.peek(0), None | Some(Token::Line | Token::Sign('(')));
                        self.at += usize::from(inside);
                    }
                    Ok(value)
                }
                _ => after_member(self, 2, value),
            },
            // Lua: `object:method(…)`.
            (Token::Sign(':'), Some(Token::Name(_))) if self.calls(2) => {
                after_member(self, 1, value)
            }
            // A line that starts with a dot goes on; so does one that ends with a question mark.
            (Token::Sign('?'), Some(Token::Sign(';' | ')') | Token::Line)) => {
                self.at += 1;
                Ok(value)
            }
            (Token::Line, Some(Token::Sign('.')))
                if matches!(self.peek(2), Some(Token::Name(_))) =>
            {
                self.at += 1;
                Ok(value)
            }
            (Token::Line, Some(Token::Sign('-'))) if self.peek(2) == Some(&Token::Sign('>')) => {
                self.at += 1;
                Ok(value)
            }
            _ => Err(value),
        }
    }

    /// Whether what stands there is called.
    fn calls(&self, ahead: usize) -> bool {
        matches!(self.peek(ahead), Some(Token::Sign('(')))
    }
}

/// The parts of an expression as one.
fn one_of(mut parts: Vec<Expr>, joins: bool, dotted: bool) -> Expr {
    match parts.len() {
        1 => parts.pop().unwrap_or(Expr::Unknown(Vec::new())),
        _ if joins && (dotted || parts.iter().any(is_text)) => Expr::Join(parts),
        _ => Expr::Unknown(parts),
    }
}

fn call(callee: Expr, args: Vec<Expr>, line: u32) -> Expr {
    Expr::Call(Box::new(Call { callee, args, named: Vec::new(), line }))
}

fn name(word: &str) -> Expr {
    Expr::Name(match word {
        "_ENV" | "_SERVER" => "ENV".into(),
        "_POST" | "_GET" | "_REQUEST" | "_COOKIE" => "request-input".into(),
        word => word.into(),
    })
}
