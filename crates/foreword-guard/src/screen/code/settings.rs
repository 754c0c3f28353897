//! What the settings of a folder say: JSON as it is, and the lines of YAML, TOML and the like.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::value::Value;

/// Settings of one file that are kept.
const MAX_SETTINGS: usize = 64;

/// The values in a file of settings, by name: those of a section under its name, and all by their own.
pub(super) fn settings(text: &str) -> Option<Value> {
    if let Ok(json) = serde_json::from_str::<serde_json::Value>(text) {
        return Some(Value::of_json(&json, 0));
    }
    let mut all: BTreeMap<Arc<str>, Value> = BTreeMap::new();
    let mut sections: BTreeMap<Arc<str>, BTreeMap<Arc<str>, Value>> = BTreeMap::new();
    let (mut section, mut indent): (Option<Arc<str>>, usize) = (None, 0);
    for line in text.lines().take(400) {
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with(['#', ';', '-']) || all.len() >= MAX_SETTINGS {
            continue;
        }
        if let Some(name) = bare.strip_prefix('[').and_then(|name| name.split(']').next()) {
            (section, indent) = (Some(name.trim_matches(['[', '"', ' ']).into()), 0);
            continue;
        }
        let depth = line.len() - line.trim_start().len();
        let Some(at) = bare.find([':', '=']) else { continue };
        let (name, value) = bare.split_at_checked(at)?;
        let (name, value) = (name.trim(), value.get(1..).unwrap_or_default().trim());
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        if name.is_empty() || !name.trim_start_matches("export ").chars().all(plain) {
            continue;
        }
        let name: Arc<str> = name.trim_start_matches("export ").into();
        if value.is_empty() {
            (section, indent) = (Some(name), depth + 1);
            continue;
        }
        let value = Value::text(value.trim_matches(['"', '\'']));
        if let Some(section) = section.as_ref().filter(|_| depth >= indent) {
            sections
                .entry(Arc::clone(section))
                .or_default()
                .insert(Arc::clone(&name), value.clone());
        }
        all.entry(name).or_insert(value);
    }
    for (name, fields) in sections {
        let section = Value { fields: Some(Rc::new(fields)), ..Value::default() };
        all.insert(name, section.holding());
    }
    (!all.is_empty()).then(|| Value { fields: Some(Rc::new(all)), ..Value::default() }.holding())
}

/// What a path of `jq` or `yq` names in settings: `.api.host`.
pub(super) fn at_path(text: &str, path: &str) -> Option<Value> {
    let path = path.strip_prefix('.')?;
    let mut value = settings(text)?;
    for name in path.split('.').take(8) {
        value = value.field(name.trim_matches(['"', '[', ']']))?.clone();
    }
    Some(value)
}
