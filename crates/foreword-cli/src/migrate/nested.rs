//! AGENTS.md and CLAUDE.md below the root: they count for agents that work in their directory. So do
//! rules of Cursor.

use super::cursor;
use super::import::Import;
use super::imports;
use super::instructions::{AGENTS, CLAUDE};

/// Directories to look into.
const MAX_DIRECTORIES: usize = 20_000;
const MAX_DEPTH: usize = 8;
/// What Codex reads instead of AGENTS.md.
const OVERRIDE: &str = "AGENTS.override.md";
/// Folders that hold other people's code, or none.
const SKIPPED: [&str; 10] = [
    "node_modules",
    "target",
    "vendor",
    "venv",
    "dist",
    "build",
    "third_party",
    "__pycache__",
    // Read as what they are.
    "agents",
    "skills",
];

pub(super) fn migrate(import: &mut Import) {
    let mut looked = 0;
    let mut open = vec![(String::new(), 0)];
    while let Some((directory, depth)) = open.pop() {
        looked += 1;
        if looked > MAX_DIRECTORIES {
            return import.lost(
                &directory,
                format!("more than {MAX_DIRECTORIES} directories; instructions further down were not looked for"),
            );
        }
        // Another workspace of Foreword has instructions of its own.
        if depth > 0 && import.source.exists(&format!("{directory}/foreword.toml")) {
            continue;
        }
        if depth > 0 {
            migrate_directory(import, &directory);
            cursor::migrate_directory(import, &directory);
        }
        for name in import.source.directories(&directory) {
            let path =
                if directory.is_empty() { name.clone() } else { format!("{directory}/{name}") };
            let skip = SKIPPED.contains(&name.as_str()) || (depth == 0 && name == "prompts");
            if !skip && depth < MAX_DEPTH {
                open.push((path, depth + 1));
            }
        }
    }
}

fn migrate_directory(import: &mut Import, directory: &str) {
    let (agents, claude) = (format!("{directory}/{AGENTS}"), format!("{directory}/{CLAUDE}"));
    let note = format!("read when an agent works in {directory}/");
    let instead = format!("{directory}/{OVERRIDE}");
    let has_agents = if import.source.is_file(&instead) {
        import.left_if_present(&agents, "AGENTS.override.md replaces it");
        import.copy(&instead, &agents)
    } else {
        import.source.is_file(&agents) && import.copy(&agents, &agents)
    };
    if !import.source.is_file(&claude) {
        return;
    }
    let Some(text) = import.read(&claude) else { return };
    let skip = has_agents.then_some(agents.as_str());
    let expanded = imports::expand(&import.source, &claude, &text, skip);
    import.record_imports(&claude, &expanded);
    if has_agents {
        if expanded.text.trim().is_empty()
            || Some(text.trim()) == import.text_of(&agents).map(str::trim)
        {
            return import.mapped(&claude, &agents, "says the same");
        }
        return import.lost(&claude, format!("{agents} is read instead; move the text there"));
    }
    if expanded.included.is_empty() {
        import.copy(&claude, &claude);
    } else if import.add_text(&claude, &agents, expanded.text.clone()) {
        import.mapped(&claude, &agents, note);
        import.record_included(&expanded, &agents);
    }
}
