//! AGENTS.md and CLAUDE.md below the root: they count for agents that work in their directory. So do
//! rules of Cursor. Skills of Claude Code are found there, too.

use super::cursor;
use super::import::Import;
use super::imports::{self, Following};
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
            let own = format!("{directory}/.claude");
            if import.source.is_dir(&own) {
                import.nested_claude.push(own);
            }
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

/// Claude Code finds skills below the root, after those of the root. The rest counts only where it is started
/// in that directory.
pub(super) fn migrate_claude(import: &mut Import) {
    for own in std::mem::take(&mut import.nested_claude) {
        for name in import.source.names(&own).unwrap_or_default() {
            let path = format!("{own}/{name}");
            match name.as_str() {
                "skills" => import.copy_skills(&path),
                _ => import.left(
                    &path,
                    "counts only where Claude Code starts in its directory; migrate that one by itself",
                ),
            }
        }
    }
}

fn migrate_directory(import: &mut Import, directory: &str) {
    let (agents, claude) = (format!("{directory}/{AGENTS}"), format!("{directory}/{CLAUDE}"));
    let note = format!("read when an agent works in {directory}/");
    let instead = format!("{directory}/{OVERRIDE}");
    let own = if import.source.is_file(&instead) {
        import.left_if_present(&agents, "AGENTS.override.md replaces it");
        Some(instead.as_str())
    } else {
        Some(agents.as_str()).filter(|path| import.source.is_file(path))
    };
    let own_text = own.and_then(|own| import.source.read(own).ok());
    let has_claude = import.source.is_file(&claude);
    let Some(text) = has_claude.then(|| import.read(&claude)).flatten() else {
        if let Some(own) = own {
            import.copy(own, &agents);
        }
        return;
    };
    let skip = own.filter(|_| own_text.is_some());
    let how = Following { skip, ..Following::default() };
    let expanded = imports::expand(&import.source, &claude, &text, how);
    if let Some(own) = own {
        // A tool that reads CLAUDE.md also follows what AGENTS.md imports.
        let is_same = own_text.as_deref().map(str::trim) == Some(text.trim());
        if is_same || expanded.names_skipped {
            place_with_imports(import, own, &agents, own_text.as_deref().unwrap_or_default());
        } else {
            import.copy(own, &agents);
        }
        if is_same {
            return import.mapped(&claude, &agents, "says the same");
        }
        import.record_imports(&claude, &expanded);
        if expanded.text.trim().is_empty() {
            return import.mapped(&claude, &agents, "says the same");
        }
        return import.lost(&claude, format!("{agents} is read instead; move the text there"));
    }
    import.record_imports(&claude, &expanded);
    if expanded.included.is_empty() {
        import.copy(&claude, &claude);
    } else if import.add_text(&claude, &agents, expanded.text.clone()) {
        import.mapped(&claude, &agents, note);
        import.record_included(&expanded, &agents);
    }
}

/// Writes an AGENTS.md with its imports in it. In place it stays as it is, so that they are lost.
fn place_with_imports(import: &mut Import, own: &str, to: &str, text: &str) {
    let expanded = imports::expand(&import.source, own, text, Following::default());
    import.record_imports(own, &expanded);
    if expanded.included.is_empty() || import.in_place {
        import.copy(own, to);
        for path in &expanded.included {
            let reason = format!("imported with `@`, which {to} does not do; copy the text there");
            import.lost(&format!("{own}: @{path}"), reason);
        }
    } else if import.add_text(own, to, expanded.text.clone()) {
        import.mapped(own, to, "with its imports inlined");
        import.record_included(&expanded, to);
    }
}
