//! Words of a command as the program sees them: without quotes, escapes and line continuations.

use tree_sitter::Node;

/// Stands for a piece of a word that only the shell knows.
pub(super) const UNKNOWN: char = '…';

/// A word without its quotes.
pub(super) fn word(node: Node<'_>, text: &str) -> String {
    let source = text.get(node.byte_range()).unwrap_or_default();
    match node.kind() {
        // A glob or a brace may become anything, but no other program.
        "word" | "number" => unescaped(source, |_| true),
        "string_content" => unescaped(source, |c| matches!(c, '$' | '`' | '"' | '\\')),
        "raw_string" => source.trim_matches('\'').to_owned(),
        "ansi_c_string" => ansi_c(source).unwrap_or_else(|| UNKNOWN.to_string()),
        "translated_string" => {
            node.named_child(0).map_or_else(|| UNKNOWN.to_string(), |inner| word(inner, text))
        }
        "string" => {
            let range = node.start_byte() + 1..node.end_byte().saturating_sub(1);
            pieces(node, range, text, &|gap| {
                unescaped(gap, |c| matches!(c, '$' | '`' | '"' | '\\'))
            })
        }
        "command_name" | "concatenation" => {
            pieces(node, node.byte_range(), text, &|gap| unescaped(gap, |_| true))
        }
        // Paths are looked for from the working directory anyway.
        "simple_expansion" if source == "$PWD" => ".".to_owned(),
        "expansion" if source == "${PWD}" => ".".to_owned(),
        // `{1..3}` stays what it is, which counts as a glob.
        "brace_expression" => source.to_owned(),
        _ => UNKNOWN.to_string(),
    }
}

/// The words inside a word, and the text between them.
fn pieces(
    node: Node<'_>,
    range: std::ops::Range<usize>,
    text: &str,
    plain: &dyn Fn(&str) -> String,
) -> String {
    let mut out = String::new();
    let mut at = range.start;
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        out.push_str(&plain(text.get(at..child.start_byte()).unwrap_or_default()));
        out.push_str(&word(child, text));
        at = child.end_byte();
    }
    out + &plain(text.get(at..range.end).unwrap_or_default())
}

/// Takes the backslash away in front of characters that it escapes.
fn unescaped(source: &str, escapes: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(source.len());
    let mut chars = source.chars();
    while let Some(c) = chars.next() {
        match (c, chars.clone().next()) {
            ('\\', Some('\n')) => _ = chars.next(),
            ('\\', Some(next)) if escapes(next) => {
                out.push(next);
                chars.next();
            }
            _ => out.push(c),
        }
    }
    out
}

/// The text without line continuations, as the shell reads it: a backslash at the end of a line goes with
/// the line's end, unless it stands in single quotes, in a comment or in a here-document whose end is
/// quoted.
pub(super) fn without_continuations(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut quote = None;
    let mut heredocs: Vec<String> = Vec::new();
    let mut before = '\n';
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some('\'' | 'A'), '\'') => quote = None,
            (Some('\''), _) => {}
            (_, '\\') => {
                match chars.next() {
                    Some('\n') if quote != Some('A') => continue,
                    Some(next) => out.extend([c, next]),
                    None => out.push(c),
                }
                before = '\\';
                continue;
            }
            (Some('"'), '"') => quote = None,
            (None, '\'') => quote = Some(if before == '$' { 'A' } else { '\'' }),
            (None, '"') => quote = Some('"'),
            (None, '#') if before.is_whitespace() || ";&|(".contains(before) => {
                out.push(c);
                while let Some(next) = chars.next_if(|next| *next != '\n') {
                    out.push(next);
                }
                before = '#';
                continue;
            }
            (None, '<') if before == '<' && chars.peek() != Some(&'<') => {
                let mut rest = chars.clone().skip_while(|c| matches!(c, '-' | ' ' | '\t'));
                let end: String = rest
                    .by_ref()
                    .take_while(|c| !c.is_whitespace() && !";&|)".contains(*c))
                    .collect();
                if end.contains(['\'', '"', '\\']) {
                    heredocs.push(end.replace(['\'', '"', '\\'], ""));
                }
            }
            (None, '\n') if !heredocs.is_empty() => {
                out.push(c);
                for end in heredocs.drain(..) {
                    let mut line = String::new();
                    while let Some(next) = chars.next() {
                        line.push(next);
                        if next == '\n' || chars.peek().is_none() {
                            out.push_str(&line);
                            if line.trim_start_matches('\t').trim_end_matches('\n') == end {
                                break;
                            }
                            line.clear();
                        }
                    }
                }
                before = '\n';
                continue;
            }
            _ => {}
        }
        out.push(c);
        before = c;
    }
    out
}

/// A command as text.
pub(super) fn shown(words: &[String]) -> String {
    words.join(" ")
}

/// Whether a word is known only when the shell runs.
pub(super) fn is_unknown(word: &str) -> bool {
    word.contains(UNKNOWN)
}

/// Whether the shell would look for files of this name, or make several words of it.
pub(super) fn is_expanded(word: &str) -> bool {
    word.contains(['*', '?', '[', '{'])
}

/// What `$'…'` stands for; nothing if it has an escape that is not read here.
fn ansi_c(source: &str) -> Option<String> {
    let inner = source.strip_prefix("$'")?.strip_suffix('\'')?;
    let mut out = String::new();
    let mut rest = inner.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let (radix, most) = match rest.next()? {
            c @ ('\\' | '\'' | '"' | '?') => {
                out.push(c);
                continue;
            }
            'n' => {
                out.push('\n');
                continue;
            }
            't' => {
                out.push('\t');
                continue;
            }
            'x' => (16, 2),
            'u' => (16, 4),
            'U' => (16, 8),
            digit @ '0'..='7' => {
                let mut digits = digit.to_string();
                while digits.len() < 3
                    && let Some(next) = rest.next_if(|c| c.is_digit(8))
                {
                    digits.push(next);
                }
                out.push(char::from_u32(u32::from_str_radix(&digits, 8).ok()?)?);
                continue;
            }
            _ => return None,
        };
        let mut digits = String::new();
        while digits.len() < most
            && let Some(next) = rest.next_if(|c| c.is_digit(radix))
        {
            digits.push(next);
        }
        out.push(char::from_u32(u32::from_str_radix(&digits, radix).ok()?)?);
    }
    Some(out)
}
