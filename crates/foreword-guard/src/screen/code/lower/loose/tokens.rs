//! The tokens of a language that has no grammar here: what nearly all languages agree on.

/// Tokens that are kept.
const MAX_TOKENS: usize = 60_000;

/// Quotes that nothing closes; then quotes are signs like any other.
const MAX_UNCLOSED: usize = 8;

/// A piece of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token<'t> {
    Name(&'t str),
    /// The text between quotes, as written.
    Text(&'t str),
    /// A command between backticks, in languages where that runs it.
    Command(&'t str),
    Number(&'t str),
    Sign(char),
    /// The end of a line.
    Line,
}

/// A token with the line it starts on.
pub(super) type Placed<'t> = (Token<'t>, u32);

/// The tokens of a text, without comments.
pub(super) fn tokens(text: &str) -> Vec<Placed<'_>> {
    // Perl and PHP run what stands between backticks.
    let runs = ["<?php", "use strict", "my $", "my @", "perl"].iter().any(|t| text.contains(t));
    let slashes = !text.contains("use strict") && !text.contains("local ");
    let lua = text.contains("local ");
    let mut reader =
        Reader { text, at: 0, line: 1, runs, slashes, lua, unclosed: 0, out: Vec::new() };
    while reader.at < text.len() && reader.out.len() < MAX_TOKENS {
        reader.next();
    }
    reader.out
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    line: u32,
    runs: bool,
    /// `//` starts a comment.
    slashes: bool,
    /// `[[` starts a text.
    lua: bool,
    /// Quotes that nothing closes, of which few are looked for.
    unclosed: usize,
    out: Vec<Placed<'t>>,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn push(&mut self, token: Token<'t>, length: usize) {
        self.out.push((token, self.line));
        self.skip(length);
    }

    fn skip(&mut self, length: usize) {
        let passed = self.rest().get(..length).unwrap_or_else(|| self.rest());
        self.line += u32::try_from(passed.matches('\n').count()).unwrap_or(0);
        self.at += length.max(1);
        while self.at < self.text.len() && !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
    }

    fn next(&mut self) {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return };
        if let Some(length) = self.comment(rest) {
            return self.skip(length);
        }
        match first {
            '\n' => self.push(Token::Line, 1),
            c if c.is_whitespace() => self.skip(1),
            '"' | '\'' | '`' => self.quoted(rest, first),
            '[' if rest.starts_with("[[") && self.lua && self.unclosed < MAX_UNCLOSED => {
                let inner = rest.get(2..).unwrap_or_default();
                match inner.find("]]") {
                    Some(end) => self.push(Token::Text(inner.get(..end).unwrap_or("")), end + 4),
                    None => {
                        self.unclosed += 1;
                        self.push(Token::Sign('['), 1);
                    }
                }
            }
            // A sigil is no part of a name.
            '$' | '@' | '%'
                if rest.get(1..).is_some_and(|r| {
                    r.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                }) =>
            {
                self.skip(1);
            }
            c if c.is_alphabetic() || c == '_' => {
                let is_name = |c: char| c.is_alphanumeric() || c == '_';
                let end = rest.find(|c: char| !is_name(c)).unwrap_or(rest.len());
                self.push(Token::Name(rest.get(..end).unwrap_or_default()), end);
            }
            c if c.is_ascii_digit() => {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
                self.push(Token::Number(rest.get(..end).unwrap_or_default()), end);
            }
            c => self.push(Token::Sign(c), c.len_utf8()),
        }
    }

    /// The length of a comment that starts here.
    fn comment(&self, rest: &str) -> Option<usize> {
        let to_end_of_line = || Some(rest.find('\n').unwrap_or(rest.len()));
        let fresh = self.at == 0
            || self.text.as_bytes().get(self.at - 1).is_some_and(u8::is_ascii_whitespace);
        if rest.starts_with("/*") {
            return Some(rest.find("*/").map_or(rest.len(), |end| end + 2));
        }
        if rest.starts_with("//") && self.slashes && (fresh || !self.after_colon()) {
            return to_end_of_line();
        }
        let hash = ["# ", "#!", "#[", "##", "#\n", "#include", "#define"];
        if fresh && (hash.iter().any(|h| rest.starts_with(h)) || rest.starts_with("-- ")) {
            return to_end_of_line();
        }
        let line_starts = self.out.last().is_none_or(|(token, _)| *token == Token::Line);
        let word = |w: &str| rest.get(..w.len()).is_some_and(|r| r.eq_ignore_ascii_case(w));
        if line_starts && (word("rem ") || rest.starts_with('\'') && !closes(rest)) {
            return to_end_of_line();
        }
        None
    }

    fn after_colon(&self) -> bool {
        self.text.get(..self.at).is_some_and(|before| before.ends_with(':'))
    }

    fn quoted(&mut self, rest: &'t str, quote: char) {
        if self.unclosed >= MAX_UNCLOSED {
            return self.push(Token::Sign(quote), 1);
        }
        for triple in ["\"\"\"", "'''"] {
            if let Some(inner) = rest.strip_prefix(triple) {
                let end = inner.find(triple).unwrap_or(inner.len());
                return self.push(Token::Text(inner.get(..end).unwrap_or_default()), end + 6);
            }
        }
        let inner = rest.get(1..).unwrap_or_default();
        let mut escaped = false;
        let mut doubled = false;
        let end = inner.char_indices().find(|(at, c)| {
            // VBA writes a quote as two.
            let twice = *at > 0 && inner.get(at + 1..).is_some_and(|r| r.starts_with('"'));
            let found = *c == quote && !escaped && !std::mem::take(&mut doubled);
            escaped = *c == '\\' && !escaped && quote != '`';
            doubled = found && quote == '"' && twice;
            found && !doubled
        });
        match end {
            // Rust's lifetimes and a person's apostrophe are no texts.
            Some((end, _)) if quote != '\'' || closes(rest) => {
                let text = inner.get(..end).unwrap_or_default();
                let runs = quote == '`' && self.runs;
                let token = if runs { Token::Command(text) } else { Token::Text(text) };
                self.push(token, end + 2);
            }
            end => {
                self.unclosed += usize::from(end.is_none());
                self.push(Token::Sign(quote), 1);
            }
        }
    }
}

/// Whether what a single quote opens is closed on the same line, and is not a lifetime.
fn closes(rest: &str) -> bool {
    let line = rest.get(1..).unwrap_or_default();
    let end = line.find(['\'', '\n']).filter(|end| line.as_bytes().get(*end) == Some(&b'\''));
    end.is_some_and(|end| {
        let inner = line.get(..end).unwrap_or_default();
        !(inner.contains(['<', '>', '&', ',']) && inner.starts_with(char::is_alphabetic))
            || inner.contains([' ', '/', '.'])
    })
}
