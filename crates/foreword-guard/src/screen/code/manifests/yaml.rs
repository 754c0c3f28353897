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
    let given = given(&lines);
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        let item = line.trim_start();
        let bare = item.trim_start_matches("- ");
        let indent = line.len() - item.len();
        let Some((key, value)) = bare.split_once(':') else { continue };
        let value = value.trim();
        // Ansible names whose module it is: `ansible.builtin.shell`.
        let key = key.trim().trim_matches(['"', '\'']);
        if !KEYS.contains(&key.rsplit('.').next().unwrap_or(key)) {
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
                block.push_str(if quoted { unquoted(inner) } else { inner });
                block.push('\n');
                at += 1;
            }
            block
        } else if let Some(words) = value.strip_prefix('[') {
            let words = words.trim_end_matches(']').split(',').map(str::trim);
            words.collect::<Vec<_>>().join(" ")
        } else {
            unquoted(value).to_owned()
        };
        if code.trim().len() > 2 {
            let above = if code.contains('\n') { start } else { start - 1 };
            let line = u32::try_from(above).unwrap_or(0) + 1;
            found.add(Language::Shell, format!("{given}{}", expressions(&code)), None, || line);
        }
    }
}

/// A value without the quotes around all of it.
pub(super) fn unquoted(value: &str) -> &str {
    let inner = ['"', '\''].iter().find_map(|q| value.strip_prefix(*q)?.strip_suffix(*q));
    inner.unwrap_or(value)
}

/// Variables of a workflow that hold its secrets, as a shell sets them.
fn given(lines: &[&str]) -> String {
    let mut out = String::new();
    for line in lines {
        let Some((name, value)) = line.trim_start().trim_start_matches("- ").split_once(':') else {
            continue;
        };
        let value = value.trim();
        let is_name = !name.is_empty()
            && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
        if is_name && value.contains("${{") && value.contains("secrets") && out.len() < 2_000 {
            out.push_str(&format!("{name}={}; ", expressions(value.trim_matches(['"', '\'']))));
        }
    }
    out
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
            let kind = if inner.starts_with("secrets.") { "SECRETS_" } else { "" };
            out.push_str(&format!("${{{kind}{}}}", plain.collect::<String>()));
        }
        rest = after;
    }
    out.push_str(rest);
    out
}
