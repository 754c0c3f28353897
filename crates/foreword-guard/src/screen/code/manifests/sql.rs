//! Programs that a database starts.

use super::Pieces;

/// The commands of a script for a database.
pub(super) fn sql(text: &str, found: &mut Pieces) {
    for (line, raw) in (1..).zip(text.lines()) {
        let raw = raw.trim_start();
        if raw.starts_with("--") {
            continue;
        }
        // psql, MySQL and SQLite hand a line to a shell.
        for prefix in ["\\! ", "\\!", ".shell ", ".system ", "system "] {
            if let Some(command) = raw.strip_prefix(prefix) {
                found.shell(line, command.trim_end_matches(';'));
                break;
            }
        }
        let lower = raw.to_ascii_lowercase();
        for word in ["program ", "xp_cmdshell", "sys_exec", "sys_eval", "sys.system"] {
            let Some(at) = lower.find(word) else { continue };
            let after = raw.get(at + word.len()..).unwrap_or_default();
            let Some((_, quoted)) = after.split_once('\'') else { continue };
            let command = text_in_quotes(quoted);
            let gets = word == "program " && lower.get(..at).is_some_and(|t| t.ends_with("to "));
            let code = if gets { format!("pg_dump | {{ {command}; }}") } else { command };
            found.shell(line, code);
        }
    }
}

/// A text up to its closing quote; two quotes stand for one.
fn text_in_quotes(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' if chars.peek() == Some(&'\'') => out.extend(chars.next()),
            '\'' => break,
            _ => out.push(c),
        }
    }
    out
}
