//! Regular expressions and globs, in linear time and bounded memory.

use regex_automata::meta::{BuildError, Config, Regex};
use regex_automata::util::syntax;

use super::ToolError;

/// The most memory a compiled pattern may take.
const MAX_COMPILED: usize = 4 << 20;
/// The longest pattern.
const MAX_PATTERN: usize = 4 << 10;

/// What is looked for in lines.
pub(super) fn regex(text: &str, ignore_case: bool) -> Result<Regex, ToolError> {
    compile("pattern", text, text, ignore_case)
}

/// Which files: `*` and `?` within a name, `**` across directories, `{a,b}` for either. A glob
/// without a slash is about the name alone.
pub(super) fn glob(text: &str) -> Result<Regex, ToolError> {
    let mut pattern = String::from(if text.contains('/') { "^" } else { "^(?:.*/)?" });
    let mut chars = text.trim_start_matches("./").chars().peekable();
    let mut depth = 0usize;
    while let Some(c) = chars.next() {
        match c {
            '*' if chars.next_if_eq(&'*').is_some() => {
                // `**/` is any number of directories, also none.
                pattern.push_str(if chars.next_if_eq(&'/').is_some() { "(?:.*/)?" } else { ".*" });
            }
            '*' => pattern.push_str("[^/]*"),
            '?' => pattern.push_str("[^/]"),
            '{' => {
                depth += 1;
                pattern.push_str("(?:");
            }
            '}' if depth > 0 => {
                depth -= 1;
                pattern.push(')');
            }
            ',' if depth > 0 => pattern.push('|'),
            c if c.is_ascii_punctuation() => {
                pattern.push('\\');
                pattern.push(c);
            }
            c => pattern.push(c),
        }
    }
    pattern.push('$');
    compile("glob", text, &pattern, false)
}

fn compile(
    what: &'static str,
    text: &str,
    pattern: &str,
    ignore_case: bool,
) -> Result<Regex, ToolError> {
    let wrong = |message: String| ToolError::Pattern {
        what,
        text: text.chars().take(200).collect(),
        message,
    };
    if pattern.len() > MAX_PATTERN {
        return Err(wrong(format!("it is longer than {MAX_PATTERN} bytes")));
    }
    Regex::builder()
        .configure(
            Config::new().nfa_size_limit(Some(MAX_COMPILED)).hybrid_cache_capacity(MAX_COMPILED),
        )
        .syntax(syntax::Config::new().case_insensitive(ignore_case).nest_limit(100))
        .build(pattern)
        .map_err(|error| wrong(explain(&error)))
}

fn explain(error: &BuildError) -> String {
    if let Some(limit) = error.size_limit() {
        return format!("it needs more than {limit} bytes");
    }
    match (error.syntax_error(), std::error::Error::source(error)) {
        (Some(error), _) => error.to_string(),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_are_understood() {
        for (text, path, expected) in [
            ("*.rs", "src/main.rs", true),
            ("*.rs", "main.rsx", false),
            ("src/*.rs", "src/a/main.rs", false),
            ("src/**/*.rs", "src/main.rs", true),
            ("src/**/*.rs", "src/a/b/main.rs", true),
            ("*.{ts,tsx}", "a/b.tsx", true),
            ("?.md", "ab.md", false),
            ("a[1].txt", "a[1].txt", true),
            ("ä*.txt", "äb.txt", true),
        ] {
            assert_eq!(glob(text).unwrap().is_match(path), expected, "{text} {path}");
        }
        assert!(glob("{a").is_err());
    }

    #[test]
    fn patterns_that_would_cost_too_much_are_refused() {
        for text in ["(", "a{1000}{1000}{1000}", &"(".repeat(5000), "\\w{5000}{100}"] {
            assert!(regex(text, false).is_err(), "{text}");
        }
        assert!(regex("GRÖSSE", true).unwrap().is_match("die grösse"));
        assert!(regex(r"\bfn\s+\w+\(", false).unwrap().is_match("pub fn größer(x)"));
    }
}
