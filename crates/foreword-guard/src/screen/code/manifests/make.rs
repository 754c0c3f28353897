//! The recipes of a Makefile, and the commands in its variables.

use std::collections::HashMap;

use super::{Pieces, continued};

/// Variables that are kept, and how long a line may get by putting them in.
const MAX_VARIABLES: usize = 200;
const MAX_LINE: usize = 4 * 1024;

pub(super) fn makefile(text: &str, found: &mut Pieces) {
    let variables = variables(text);
    for (line, raw) in continued(text) {
        if found.is_full() {
            found.left_out += usize::from(raw.starts_with('\t'));
            continue;
        }
        if raw.starts_with('\t') || raw.starts_with("  ") {
            let code = raw.trim().trim_start_matches(['@', '-', '+']);
            found.shell(line, expanded(code, &variables));
        }
        let mut rest = raw.as_str();
        while let Some((_, from)) = rest.split_once("$(shell ") {
            let end = closing(from);
            found.shell(line, expanded(from.get(..end).unwrap_or_default(), &variables));
            rest = from.get(end..).unwrap_or_default();
        }
        if let Some((_, command)) = raw.split_once("!=") {
            found.shell(line, expanded(command.trim(), &variables));
        }
    }
}

/// `NAME := text`, for those that are no commands.
fn variables(text: &str) -> HashMap<String, String> {
    let mut known = HashMap::new();
    for (_, raw) in continued(text).filter(|(_, raw)| !raw.starts_with('\t')) {
        let Some((name, value)) = raw.split_once('=') else { continue };
        let name = name.trim_end_matches([':', '?', '+', ' ', '\t']).trim_start();
        let name = name.trim_start_matches("export ").trim();
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if name.is_empty() || !name.chars().all(plain) || value.contains("$(shell") {
            continue;
        }
        if known.len() < MAX_VARIABLES && value.len() <= 512 {
            known.entry(name.to_owned()).or_insert_with(|| value.trim().to_owned());
        }
    }
    known
}

/// A command as the shell gets it: variables of the Makefile put in, `$$` as `$`.
fn expanded(code: &str, variables: &HashMap<String, String>) -> String {
    let mut code = code.to_owned();
    // Variables may stand in variables.
    for _ in 0..3 {
        let (mut out, mut changed) = (String::with_capacity(code.len()), false);
        let mut rest = code.as_str();
        while let Some(at) = rest.find('$') {
            out.push_str(rest.get(..at).unwrap_or_default());
            let from = rest.get(at..).unwrap_or_default();
            let close = if from.starts_with("$(") { ')' } else { '}' };
            let opened = from.starts_with("$(") || from.starts_with("${");
            let end = from.find(close).filter(|_| opened);
            let value = end.and_then(|end| variables.get(from.get(2..end)?));
            match (value, end) {
                (Some(value), Some(end)) if out.len() < MAX_LINE => {
                    out.push_str(value);
                    changed = true;
                    rest = from.get(end + 1..).unwrap_or_default();
                }
                _ => {
                    let length = if from.starts_with("$$") { 2 } else { 1 };
                    out.push_str(from.get(..length).unwrap_or_default());
                    rest = from.get(length..).unwrap_or_default();
                }
            }
        }
        out.push_str(rest);
        code = out;
        if !changed {
            break;
        }
    }
    code.replace("$$", "$")
}

/// Where the bracket that was opened before closes.
fn closing(text: &str) -> usize {
    let mut open = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => open += 1,
            b')' if open == 0 => return at,
            b')' => open -= 1,
            _ => {}
        }
    }
    text.len()
}
