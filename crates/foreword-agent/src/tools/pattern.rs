//! Regular expressions and globs, in linear time and bounded memory.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use regex_automata::meta::{BuildError, Config, Regex};
use regex_automata::util::syntax;

use super::ToolError;

/// Memory that a compiled pattern may take.
const MAX_COMPILED_BYTES: usize = 4 << 20;
const MAX_PATTERN_BYTES: usize = 4 << 10;
const MAX_GLOB_BYTES: usize = 1 << 10;

/// What is looked for in lines.
pub(super) fn regex(text: &str, ignore_case: bool) -> Result<Regex, ToolError> {
    let wrong = |message: String| unusable("pattern", text, message);
    if text.len() > MAX_PATTERN_BYTES {
        return Err(wrong(format!("it is longer than {MAX_PATTERN_BYTES} bytes")));
    }
    Regex::builder()
        .configure(
            Config::new()
                .nfa_size_limit(Some(MAX_COMPILED_BYTES))
                .hybrid_cache_capacity(MAX_COMPILED_BYTES),
        )
        .syntax(syntax::Config::new().case_insensitive(ignore_case).nest_limit(100))
        .build(text)
        .map_err(|error| wrong(explain(&error)))
}

/// Which files to search. A glob without a slash is about the file name alone.
pub(super) struct FileGlob {
    set: GlobSet,
    name_only: bool,
}

impl FileGlob {
    pub(super) fn new(text: &str) -> Result<Self, ToolError> {
        let wrong = |message: String| unusable("glob", text, message);
        if text.len() > MAX_GLOB_BYTES {
            return Err(wrong(format!("it is longer than {MAX_GLOB_BYTES} bytes")));
        }
        let glob = GlobBuilder::new(text.trim_start_matches("./")).literal_separator(true).build();
        let glob = glob.map_err(|error| wrong(error.kind().to_string()))?;
        // A set, because a single glob panics where a set reports that it cannot be compiled.
        let set = GlobSetBuilder::new().add(glob).build();
        let set = set.map_err(|error| wrong(error.kind().to_string()))?;
        Ok(Self { set, name_only: !text.contains('/') })
    }

    /// Whether a path, relative to where the search began, is one of these files.
    pub(super) fn is_match(&self, path: &str) -> bool {
        let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
        self.set.is_match(if self.name_only { name } else { path })
    }
}

fn unusable(what: &'static str, text: &str, message: String) -> ToolError {
    ToolError::Pattern { what, text: text.chars().take(200).collect(), message }
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
            ("a[1].txt", "a1.txt", true),
            ("[a-z]*.txt", "src/notes.txt", true),
            ("[a-z]*.txt", "src/Notes.txt", false),
            ("[!a-z]*.txt", "Notes.txt", true),
            ("{src,tests}/*.rs", "tests/it.rs", true),
            ("./src/*.rs", "src/main.rs", true),
            ("ä*.txt", "äb.txt", true),
        ] {
            assert_eq!(FileGlob::new(text).unwrap().is_match(path), expected, "{text} {path}");
        }
        for text in ["{a", "[a", &"a".repeat(2000)] {
            assert!(FileGlob::new(text).is_err(), "{text}");
        }
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
