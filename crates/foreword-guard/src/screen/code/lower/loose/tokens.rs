//! The tokens of a language that has no grammar here: what nearly all languages agree on.

use crate::screen::code::language::Signs;

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
pub(super) fn tokens<'t>(text: &'t str, signs: &'static Signs) -> Vec<Placed<'t>> {
    let mut reader =
        Reader { text, at: 0, line: 1, signs, unclosed: 0, missing: Vec::new(), out: Vec::new() };
    while reader.at < text.len() && reader.out.len() < MAX_TOKENS {
        reader.next();
    }
    reader.out
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    line: u32,
    signs: &'static Signs,
    /// Quotes that nothing closes, of which few are looked for.
    unclosed: usize,
    /// Signs that close a comment or a text, and do not come any more.
    missing: Vec<&'static str>,
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
        let signs = self.signs;
        if let Some((inner, length)) = self.enclosed(rest, signs.texts) {
            return self.push(Token::Text(inner), length);
        }
        let triple = signs.texts.iter().find(|(open, _)| rest.starts_with(open));
        if let Some((open, _)) = triple.filter(|_| first != '[') {
            return self.push(Token::Sign(first), open.len());
        }
        if let Some(words) = self.perl_words(rest) {
            return self.words(words);
        }
        match first {
            '\n' => self.push(Token::Line, 1),
            c if c.is_whitespace() => self.skip(1),
            '"' | '\'' | '`' => self.quoted(rest, first),
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

    /// Perl: what stands in `qw(…)`.
    fn perl_words(&self, rest: &'t str) -> Option<&'t str> {
        let inner = rest.strip_prefix("qw").filter(|_| self.signs.dots && self.signs.runs)?;
        let close = match inner.chars().next()? {
            '(' => ')',
            '[' => ']',
            '{' => '}',
            '<' => '>',
            '/' => '/',
            _ => return None,
        };
        let mut end = inner.len().min(2_000);
        while !inner.is_char_boundary(end) {
            end -= 1;
        }
        let inner = inner.get(1..end)?;
        inner.get(..inner.find(close)?)
    }

    /// A list of words without quotes.
    fn words(&mut self, words: &'t str) {
        self.out.push((Token::Sign('('), self.line));
        for word in words.split_whitespace() {
            self.out.push((Token::Text(word), self.line));
            self.out.push((Token::Sign(','), self.line));
        }
        self.out.push((Token::Sign(')'), self.line));
        self.skip(words.len() + "qw()".len());
    }

    /// The length of a comment that starts here.
    fn comment(&mut self, rest: &'t str) -> Option<usize> {
        let signs = self.signs;
        if let Some((_, length)) = self.enclosed(rest, signs.blocks) {
            return Some(length);
        }
        let starts = |sign: &str| {
            let own = rest.get(..sign.len()).is_some_and(|r| r.eq_ignore_ascii_case(sign));
            own && match sign {
                "#" => !self.is_operator(rest),
                "rem " => self.out.last().is_none_or(|(token, _)| *token == Token::Line),
                _ => true,
            }
        };
        let shebang = self.at == 0 && rest.starts_with("#!");
        let found = shebang || signs.lines.iter().any(|sign| starts(sign));
        found.then(|| rest.find('\n').unwrap_or(rest.len()))
    }

    /// Whether a hash is no comment: `$#rows`, `s#a#b#`, `#[Attribute]`.
    fn is_operator(&self, rest: &str) -> bool {
        let before = self.text.get(..self.at).unwrap_or_default();
        let quotes = ["s", "m", "y", "tr", "q", "qq", "qw", "qr"];
        let quoted = matches!(self.out.last(), Some((Token::Name(word), _))
            if self.signs.dots && quotes.contains(word) && before.ends_with(word));
        let perl_count = self.signs.dots && before.ends_with('$');
        quoted || perl_count || self.signs.runs && rest.starts_with("#[")
    }

    /// What stands between two signs, and the length of all. A sign that nothing closes is one like
    /// any other: else it would hide the rest of the program.
    fn enclosed(
        &mut self,
        rest: &'t str,
        signs: &[(&'static str, &'static str)],
    ) -> Option<(&'t str, usize)> {
        let (open, close) = signs.iter().find(|(open, _)| rest.starts_with(open))?;
        if self.missing.contains(close) {
            return None;
        }
        let inner = rest.get(open.len()..).unwrap_or_default();
        match inner.find(close) {
            Some(end) => Some((inner.get(..end)?, open.len() + end + close.len())),
            None => {
                self.missing.push(close);
                None
            }
        }
    }

    fn quoted(&mut self, rest: &'t str, quote: char) {
        if self.unclosed >= MAX_UNCLOSED || quote == '\'' && !self.signs.single {
            return self.push(Token::Sign(quote), 1);
        }
        let inner = rest.get(1..).unwrap_or_default();
        let mut escaped = false;
        let mut doubled = false;
        let end = inner.char_indices().find(|(at, c)| {
            // VBA writes a quote as two.
            let twice = *at > 0 && inner.get(at + 1..).is_some_and(|r| r.starts_with('"'));
            let found = *c == quote && !escaped && !std::mem::take(&mut doubled);
            escaped = *c == '\\' && !escaped && quote != '`' && self.signs.escapes;
            doubled = found && quote == '"' && twice;
            found && !doubled
        });
        match end {
            // Rust's lifetimes and a person's apostrophe are no texts.
            Some((end, _)) if quote != '\'' || closes(rest) => {
                let text = inner.get(..end).unwrap_or_default();
                let runs = quote == '`' && self.signs.runs;
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
