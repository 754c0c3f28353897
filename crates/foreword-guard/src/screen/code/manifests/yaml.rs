//! Commands in YAML: workflows, task files, containers.

use super::Pieces;
use crate::screen::code::language::Language;

/// Keys whose value is a command, a block of commands or a list of them.
const KEYS: [&str; 18] = [
    "run",
    "script",
    "command",
    "commands",
    "cmd",
    "cmds",
    "entrypoint",
    "entry",
    "shell",
    "before_script",
    "after_script",
    "postinstall",
    "args",
    "raw",
    "bash",
    "exec",
    "install",
    "before_install",
];

/// The commands of a file.
pub(super) fn yaml(text: &str, found: &mut Pieces) {
    let lines: Vec<&str> = text.lines().collect();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        let item = line.trim_start();
        let bare = item.trim_start_matches("- ");
        let indent = line.len() - item.len();
        let Some((key, value)) = bare.split_once(':') else { continue };
        let value = value.trim();
        if !KEYS.contains(&key.trim().trim_matches(['"', '\''])) {
            continue;
        }
        let start = at;
        let code = if value.is_empty() || value.starts_with(['|', '>']) {
            let mut block = String::new();
            while let Some(inner) = lines.get(at) {
                let depth = inner.len() - inner.trim_start().len();
                let is_item = value.is_empty() && inner.trim_start().starts_with("- ");
                if !inner.trim().is_empty() && depth <= indent && !(is_item && depth == indent) {
                    break;
                }
                let inner = inner.trim_start();
                let inner = if value.is_empty() { inner.trim_start_matches("- ") } else { inner };
                let quoted = inner.len() > 1 && inner.starts_with(['"', '\'']) && value.is_empty();
                block.push_str(if quoted { inner.trim_matches(['"', '\'']) } else { inner });
                block.push('\n');
                at += 1;
            }
            block
        } else if let Some(words) = value.strip_prefix('[') {
            let words = words.trim_end_matches(']').split(',').map(str::trim);
            words.collect::<Vec<_>>().join(" ")
        } else {
            value.trim_matches(['"', '\'']).to_owned()
        };
        if code.trim().len() > 2 {
            let above = if code.contains('\n') { start } else { start - 1 };
            let line = u32::try_from(above).unwrap_or(0) + 1;
            found.add(Language::Shell, expressions(&code), None, || line);
        }
    }
}

/// `${{ secrets.NAME }}` as the variable that it is.
fn expressions(code: &str) -> String {
    let mut out = String::with_capacity(code.len());
    let mut rest = code;
    while let Some((before, from)) = rest.split_once("${{") {
        let (inner, after) = from.split_once("}}").unwrap_or((from, ""));
        out.push_str(before);
        let inner = inner.trim();
        if inner.to_ascii_lowercase().contains("tojson(secrets") {
            out.push_str("$(printenv)");
        } else {
            let name = inner.rsplit('.').next().unwrap_or_default();
            let plain = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_');
            out.push_str(&format!("${{{}}}", plain.collect::<String>()));
        }
        rest = after;
    }
    out.push_str(rest);
    out
}
