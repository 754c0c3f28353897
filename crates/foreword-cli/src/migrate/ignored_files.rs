//! Files that a tool must not read (`.cursorignore` and its like): `deny` rules for `read`.
//!
//! Patterns are those of `.gitignore`. A rule denies and no other rule takes that back, so a pattern that begins
//! with `!` is lost, as is one that rules on files cannot say.

use super::import::Import;
use super::permissions::{Decision, Rule};

/// The files with such patterns. Those for an index alone limit no reading.
const FILES: [&str; 5] =
    [".cursorignore", ".claudeignore", ".codexignore", ".agentignore", ".aiignore"];
/// Patterns of one file.
const MAX_PATTERNS: usize = 1_000;

/// Imports the patterns of a directory: the root (an empty path) or one below it.
pub(super) fn migrate(import: &mut Import, directory: &str) {
    for name in FILES {
        let path =
            if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") };
        if !import.source.is_file(&path) {
            continue;
        }
        let Some(text) = import.read(&path) else { continue };
        let lines = text.lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        for (number, line) in lines.enumerate() {
            if number == MAX_PATTERNS {
                import
                    .lost(&path, format!("more than {MAX_PATTERNS} patterns; the rest is skipped"));
                break;
            }
            let source = format!("{path}: {line}");
            match patterns(line, directory) {
                Ok(patterns) => {
                    import.permissions.rules.extend(patterns.into_iter().map(|it| Rule {
                        decision: Decision::Deny,
                        pattern: format!("read({it})"),
                        source: source.clone(),
                        is_for_one_agent: false,
                    }));
                }
                Err(reason) => import.lost(&source, reason),
            }
        }
    }
}

/// What a pattern stands for, from the root of the workspace: the file, and what is in the directory of its name.
fn patterns(line: &str, directory: &str) -> Result<Vec<String>, &'static str> {
    if line.starts_with('!') {
        return Err("an exception; a `deny` rule has none, so list the files that stay hidden");
    }
    if line.contains(['?', '[', ']', '{', '\\', '(', ')']) || line.ends_with(":*") {
        return Err("rules on files know only `*` and `**`; write a `deny` rule for `read`");
    }
    let is_directory = line.ends_with('/');
    let path = line.trim_end_matches('/');
    let is_anchored = path.contains('/');
    let path = path.trim_start_matches('/');
    if path.is_empty() || path.split('/').any(|part| part == "..") {
        return Err("names no file of the project");
    }
    let start = if directory.is_empty() { String::new() } else { format!("{directory}/") };
    let path = match is_anchored || path.starts_with("**") {
        true => format!("{start}{path}"),
        false => format!("{start}**/{path}"),
    };
    let inside = format!("{path}/**");
    Ok(match path.ends_with("/**") {
        true => vec![path],
        false if is_directory => vec![inside],
        false => vec![path, inside],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_hold_where_those_of_gitignore_do() {
        let of = |line: &str| patterns(line, "").unwrap();
        assert_eq!(of(".env"), ["**/.env", "**/.env/**"]);
        assert_eq!(of("/.env"), [".env", ".env/**"]);
        assert_eq!(of("secrets/"), ["**/secrets/**"]);
        assert_eq!(of("config/keys/"), ["config/keys/**"]);
        assert_eq!(of("config/*.pem"), ["config/*.pem", "config/*.pem/**"]);
        assert_eq!(of("logs/**"), ["logs/**"]);
        assert_eq!(of("**/private"), ["**/private", "**/private/**"]);
        assert_eq!(patterns("*.key", "web").unwrap(), ["web/**/*.key", "web/**/*.key/**"]);
        for line in ["!keep.md", "a?.md", "[ab].md", "../x", "/"] {
            assert!(patterns(line, "").is_err(), "{line}");
        }
    }
}
