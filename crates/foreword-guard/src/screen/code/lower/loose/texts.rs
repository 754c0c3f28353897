//! Texts of a language without a grammar, and the values they name.

use crate::screen::code::ir::Expr;
use crate::screen::code::text::unescape;

/// Bytes of a placeholder.
const MAX_PLACEHOLDER: usize = 64;

/// Whether an expression is a text, or put together from one.
pub(super) fn is_text(expr: &Expr) -> bool {
    matches!(expr, Expr::Text(_))
        || matches!(expr, Expr::Join(parts) if parts.iter().any(|p| matches!(p, Expr::Text(_))))
}

/// A text with the values that it names: `$name`, `${name}`, `{name}`, `#{name}`, `$ENV{NAME}`.
pub(super) fn text_of(raw: &str) -> Expr {
    let mut parts = Vec::new();
    let mut plain = String::new();
    let raw = &*raw.replace("\"\"", "\"");
    let mut rest = raw;
    while let Some(at) = rest.find(['$', '{', '#']) {
        let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        plain.push_str(before);
        let (value, length) = hole(from);
        match value {
            Some(value) => {
                if !plain.is_empty() {
                    parts.push(Expr::Text(unescape(&plain).as_str().into()));
                    plain.clear();
                }
                parts.push(value);
            }
            None => plain.push_str(from.get(..length).unwrap_or_default()),
        }
        rest = from.get(length..).unwrap_or_default();
        if parts.len() > 32 {
            break;
        }
    }
    plain.push_str(rest);
    let plain = if plain.contains('\\') { unescape(&plain) } else { plain };
    if parts.is_empty() {
        return Expr::Text(plain.into());
    }
    if !plain.is_empty() {
        parts.push(Expr::Text(plain.into()));
    }
    Expr::Join(parts)
}

/// What a placeholder stands for, and how long it is.
fn hole(from: &str) -> (Option<Expr>, usize) {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let first = from.chars().next().unwrap_or_default();
    let opened = from.starts_with("${") || from.starts_with("#{") || first == '{';
    if opened {
        let start = if first == '{' { 1 } else { 2 };
        let end = from.bytes().take(MAX_PLACEHOLDER).position(|byte| byte == b'}');
        let Some(end) = end else { return (None, first.len_utf8()) };
        let inner = from.get(start..end).unwrap_or_default();
        let inner = inner.split(':').next().unwrap_or_default();
        let last = inner.trim_start_matches('$').rsplit(['.', '[', '{']).next().unwrap_or_default();
        // Shells, Rust and Kotlin name a value; JSON and code stand in braces, too.
        if inner.len() <= 40 && inner.chars().all(|c| is_name(c) || matches!(c, '.' | '$' | '_')) {
            let value = match last {
                "" => Expr::Unknown(Vec::new()),
                "HOME" | "USERPROFILE" => Expr::Text("~".into()),
                _ => Expr::Name(inner.trim_start_matches('$').into()),
            };
            return (Some(value), end + 1);
        }
        return (None, first.len_utf8());
    }
    let Some(after) = from.strip_prefix('$') else { return (None, first.len_utf8()) };
    let end = after.find(|c: char| !is_name(c)).unwrap_or(after.len());
    let word = after.get(..end).unwrap_or_default();
    match word {
        "" => (None, 1),
        "HOME" => (Some(Expr::Text("~".into())), 1 + end),
        "ENV" | "_SERVER" | "_ENV" => {
            let key = after.get(end..).unwrap_or_default();
            let close = key.bytes().take(MAX_PLACEHOLDER).position(|b| matches!(b, b'}' | b']'));
            let close = close.unwrap_or(0);
            let inner = key.get(1..close).unwrap_or_default().trim_matches(['\'', '"']);
            let value =
                Expr::Index(Box::new(Expr::Name("ENV".into())), Box::new(Expr::Text(inner.into())));
            (Some(value), 1 + end + close + usize::from(close > 0))
        }
        word => (Some(Expr::Name(word.into())), 1 + end),
    }
}
