//! `--from`: recognises the layout of a directory and imports it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::report::Skipped;
use super::source::{Kind, Source, is_portable};
use super::write::NewFile;
use super::{claude_code, cosmonauts, openclaw, settings};
use crate::error::CliError;

/// Files to import.
const MAX_FILES: usize = 5_000;
/// Names to visit in folders, so that links among folders cannot multiply the work.
const MAX_VISITS: usize = 20_000;
/// Bytes of all files together, which are held in memory until everything is checked.
const MAX_BYTES: usize = 64 << 20;
const MAX_DEPTH: usize = 12;
/// Folders that tools generate.
const GENERATED: [&str; 5] = ["node_modules", "__pycache__", "target", "venv", "dist"];

/// A known layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    Cosmonauts,
    OpenClaw,
    ClaudeCode,
}

impl Layout {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Cosmonauts => "Cosmonauts",
            Self::OpenClaw => "OpenClaw",
            Self::ClaudeCode => "Claude Code",
        }
    }
}

/// The files to write, and the files that were skipped.
pub(super) struct Imported {
    pub(super) layout: Layout,
    /// The files that identify the layout.
    pub(super) signs: Vec<&'static str>,
    pub(super) blueprint: &'static str,
    /// Sorted by path, with `foreword.toml`.
    pub(super) files: Vec<NewFile>,
    /// Ids of agents, sorted.
    pub(super) agents: Vec<String>,
    pub(super) skipped: Vec<Skipped>,
    pub(super) notes: Vec<String>,
}

/// Reads a directory with a known layout. Writes nothing.
pub(super) fn import(from: &Path) -> Result<Imported, CliError> {
    let source = Source::open(from)?;
    let (layout, signs) = recognise(&source).ok_or_else(|| {
        CliError::usage(format!("{}: unknown layout", from.display()))
            .hint("OpenClaw: SOUL.md, IDENTITY.md, TOOLS.md, AGENTS.md, skills/*/SKILL.md, agents/*/")
            .hint("Claude Code: CLAUDE.md or .claude/")
            .hint("Cosmonauts: prompts/cosmonauts.md, prompts/capabilities/, prompts/agents/*/, or prompts/base/coding.md with prompts/roles/")
            .hint("omit `--from` to create a workspace from a template")
    })?;
    let mut import = Import::new(source);
    let blueprint = match layout {
        Layout::Cosmonauts => cosmonauts::import(&mut import),
        Layout::OpenClaw => openclaw::import(&mut import),
        Layout::ClaudeCode => claude_code::import(&mut import),
    };
    if import.source.exists("foreword.toml") {
        import.skip("foreword.toml", "settings are not imported");
    }
    import.agents.sort();
    import.skipped.sort();
    import.skipped.dedup();
    let mut files: Vec<NewFile> = import.files.into_values().collect();
    files.push(settings::file(blueprint, &import.agents));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(Imported {
        layout,
        signs,
        blueprint,
        files,
        agents: import.agents,
        skipped: import.skipped,
        notes: import.notes,
    })
}

/// The layout, and the files that identify it. The more specific layout wins: a Cosmonauts project or an
/// OpenClaw workspace may have a CLAUDE.md too.
fn recognise(source: &Source) -> Option<(Layout, Vec<&'static str>)> {
    let found = |signs: Vec<&'static str>| Some(signs).filter(|signs| !signs.is_empty());
    if let Some(signs) = found(cosmonauts::signs(source)) {
        return Some((Layout::Cosmonauts, signs));
    }
    if let Some(signs) = found(openclaw::sure_signs(source)) {
        return Some((Layout::OpenClaw, signs));
    }
    if let Some(signs) = found(claude_code::signs(source)) {
        return Some((Layout::ClaudeCode, signs));
    }
    found(openclaw::weak_signs(source)).map(|signs| (Layout::OpenClaw, signs))
}

/// An import in progress.
pub(super) struct Import {
    pub(super) source: Source,
    pub(super) notes: Vec<String>,
    /// By path in the workspace.
    files: BTreeMap<String, NewFile>,
    agents: Vec<String>,
    skipped: Vec<Skipped>,
    bytes: usize,
    visits: usize,
}

impl Import {
    fn new(source: Source) -> Self {
        Self {
            source,
            notes: Vec::new(),
            files: BTreeMap::new(),
            agents: Vec::new(),
            skipped: Vec::new(),
            bytes: 0,
            visits: 0,
        }
    }

    /// Records a skipped file.
    pub(super) fn skip(&mut self, path: &str, reason: impl Into<String>) {
        self.skipped.push(Skipped { path: path.to_owned(), reason: reason.into() });
    }

    /// Records a skipped file, if it exists.
    pub(super) fn skip_if_present(&mut self, path: &str, reason: &str) {
        if self.source.exists(path) {
            self.skip(path, reason);
        }
    }

    /// Whether a path of the workspace will be written.
    pub(super) fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// The paths in the workspace so far.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Reads a file, or records it as skipped.
    pub(super) fn read(&mut self, path: &str) -> Option<String> {
        match self.source.read(path) {
            Ok(text) => Some(text.text),
            Err(reason) => {
                self.skip(path, reason);
                None
            }
        }
    }

    /// Copies a file, if it exists.
    pub(super) fn copy_if_present(&mut self, from: &str, to: &str) -> bool {
        self.source.exists(from) && self.copy(from, to)
    }

    /// Copies a file.
    pub(super) fn copy(&mut self, from: &str, to: &str) -> bool {
        match self.source.read(from) {
            Ok(read) => {
                let file = NewFile { executable: read.executable, ..NewFile::text(to, read.text) };
                self.add(from, file)
            }
            Err(reason) => {
                self.skip(from, reason);
                false
            }
        }
    }

    /// Adds a text that was made from a file.
    pub(super) fn add_text(&mut self, from: &str, to: &str, text: String) -> bool {
        self.add(from, NewFile::text(to, text))
    }

    fn add(&mut self, from: &str, mut file: NewFile) -> bool {
        let refusal = if !file.path.split('/').all(is_portable) {
            "its name is not valid on every platform".to_owned()
        } else if let Some(other) = self.files.get(&file.path) {
            let other = other.from.as_ref().unwrap_or(&other.path);
            format!("{other} is already imported as {}", file.path)
        } else if self.files.len() >= MAX_FILES {
            format!("the limit of {MAX_FILES} files is reached")
        } else if self.bytes.saturating_add(file.text.len()) > MAX_BYTES {
            format!("the limit of {} MiB for all files is reached", MAX_BYTES >> 20)
        } else {
            self.bytes += file.text.len();
            file.from = Some(from.to_owned()).filter(|from| *from != file.path);
            self.files.insert(file.path.clone(), file);
            return true;
        };
        self.skip(from, refusal);
        false
    }

    /// Records an agent.
    pub(super) fn add_agent(&mut self, id: &str) {
        self.agents.push(id.to_owned());
    }

    /// Whether an agent has this id. Case is ignored, as on some file systems.
    pub(super) fn agent_is_known(&self, id: &str) -> bool {
        let id = id.to_lowercase();
        self.agents.iter().any(|known| known.to_lowercase() == id)
    }

    /// Copies all text files of a directory.
    pub(super) fn copy_folder(&mut self, from: &str, to: &str) {
        self.copy_inside(from, to, &mut Vec::new());
    }

    fn copy_inside(&mut self, from: &str, to: &str, above: &mut Vec<PathBuf>) {
        let resolved = match self.source.resolve(from) {
            Ok(resolved) => resolved,
            Err(reason) => return self.skip(from, reason),
        };
        if above.contains(&resolved) {
            return self.skip(from, "symbolic link to a parent directory");
        }
        if above.len() >= MAX_DEPTH {
            return self.skip(from, format!("nested more than {MAX_DEPTH} directories deep"));
        }
        let names = match self.source.names(from) {
            Ok(names) => names,
            Err(reason) => return self.skip(from, reason),
        };
        above.push(resolved);
        for name in names {
            let (from, to) = (format!("{from}/{name}"), format!("{to}/{name}"));
            self.visits += 1;
            if name.starts_with('.') {
                self.skip(&from, "hidden file");
            } else if self.files.len() >= MAX_FILES || self.visits > MAX_VISITS {
                self.skip(&from, "too many files; the rest is skipped");
                break;
            } else if self.source.kind(&from) != Kind::Directory {
                self.copy(&from, &to);
            } else if GENERATED.contains(&name.as_str()) {
                self.skip(&from, "generated by tools");
            } else {
                self.copy_inside(&from, &to, above);
            }
        }
        above.pop();
    }

    /// Copies skills: folders with a SKILL.md, and single files.
    pub(super) fn copy_skills(&mut self, from: &str) {
        if !self.source.is_dir(from) {
            return;
        }
        let names = match self.source.names(from) {
            Ok(names) => names,
            Err(reason) => return self.skip(from, reason),
        };
        for name in names.iter().filter(|name| !name.starts_with('.')) {
            let (path, to) = (format!("{from}/{name}"), format!("skills/{name}"));
            if self.source.is_file(&format!("{path}/SKILL.md")) {
                self.copy_folder(&path, &to);
            } else if self.source.is_dir(&path) {
                self.skip(&path, "no SKILL.md in it");
            } else if name.ends_with(".md") {
                self.copy(&path, &to);
            } else {
                self.skip(&path, "not a skill");
            }
        }
    }
}
