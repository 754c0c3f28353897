//! `--from`: recognises the layout of a directory and takes it over.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::report::NotTaken;
use super::source::{Kind, Source, is_portable};
use super::write::NewFile;
use super::{claude_code, cosmonauts, openclaw, settings};
use crate::error::CliError;

/// Files that are taken from one directory.
const MOST_FILES: usize = 5_000;
/// Names that are looked at inside folders, so that links among folders cannot multiply the work.
const MOST_VISITS: usize = 20_000;
/// Bytes of all files that are taken, which are held in memory until everything is checked.
const MOST_BYTES: usize = 64 << 20;
/// Directories inside directories that are followed.
const DEEPEST: usize = 12;
/// Folders that tools fill and nobody wrote.
const GENERATED: [&str; 5] = ["node_modules", "__pycache__", "target", "venv", "dist"];

/// A layout that is known.
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

/// What was taken from a directory and what was not.
pub(super) struct TakenOver {
    pub(super) layout: Layout,
    /// The files by which it was recognised.
    pub(super) signs: Vec<&'static str>,
    pub(super) blueprint: &'static str,
    /// Sorted by path; `foreword.toml` is one of them.
    pub(super) files: Vec<NewFile>,
    /// Ids of agents, sorted.
    pub(super) agents: Vec<String>,
    pub(super) not_taken: Vec<NotTaken>,
    pub(super) notes: Vec<String>,
}

/// Reads a directory whose layout is known. Writes nothing.
pub(super) fn take_over(from: &Path) -> Result<TakenOver, CliError> {
    let source = Source::open(from)?;
    let (layout, signs) = recognise(&source).ok_or_else(|| {
        CliError::usage(format!("{}: no layout that is known here", from.display()))
            .hint("OpenClaw: SOUL.md, IDENTITY.md, TOOLS.md, AGENTS.md, skills/*/SKILL.md, agents/*/")
            .hint("Claude Code: CLAUDE.md or .claude/")
            .hint("Cosmonauts: prompts/cosmonauts.md, prompts/capabilities/, prompts/agents/*/, or prompts/base/coding.md with prompts/roles/")
            .hint("for a fresh workspace leave `--from` out")
    })?;
    let mut import = Import::new(source);
    let blueprint = match layout {
        Layout::Cosmonauts => cosmonauts::take(&mut import),
        Layout::OpenClaw => openclaw::take(&mut import),
        Layout::ClaudeCode => claude_code::take(&mut import),
    };
    if import.source.exists("foreword.toml") {
        import.refuse("foreword.toml", "settings are not taken over");
    }
    import.agents.sort();
    import.not_taken.sort();
    import.not_taken.dedup();
    let mut files: Vec<NewFile> = import.files.into_values().collect();
    files.push(settings::file(blueprint, &import.agents));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(TakenOver {
        layout,
        signs,
        blueprint,
        files,
        agents: import.agents,
        not_taken: import.not_taken,
        notes: import.notes,
    })
}

/// The layout, and what gave it away. The more particular layout wins: a Cosmonauts project may well
/// have a CLAUDE.md, and an OpenClaw workspace too.
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

/// The state of taking a directory over.
pub(super) struct Import {
    pub(super) source: Source,
    pub(super) notes: Vec<String>,
    /// By the path in the workspace.
    files: BTreeMap<String, NewFile>,
    agents: Vec<String>,
    not_taken: Vec<NotTaken>,
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
            not_taken: Vec::new(),
            bytes: 0,
            visits: 0,
        }
    }

    /// Notes that a file is not taken.
    pub(super) fn refuse(&mut self, path: &str, reason: impl Into<String>) {
        self.not_taken.push(NotTaken { path: path.to_owned(), reason: reason.into() });
    }

    /// Notes it if there is something there.
    pub(super) fn refuse_if_there(&mut self, path: &str, reason: &str) {
        if self.source.exists(path) {
            self.refuse(path, reason);
        }
    }

    /// Whether a file of the workspace was taken.
    pub(super) fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// The files taken so far, by their path in the workspace.
    pub(super) fn taken(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Reads a file; notes it where that fails.
    pub(super) fn read(&mut self, path: &str) -> Option<String> {
        match self.source.read(path) {
            Ok(text) => Some(text.text),
            Err(reason) => {
                self.refuse(path, reason);
                None
            }
        }
    }

    /// Takes a file as it is, if it is there.
    pub(super) fn take_if_there(&mut self, from: &str, to: &str) -> bool {
        self.source.exists(from) && self.take(from, to)
    }

    /// Takes a file as it is.
    pub(super) fn take(&mut self, from: &str, to: &str) -> bool {
        match self.source.read(from) {
            Ok(read) => {
                let file = NewFile { executable: read.executable, ..NewFile::text(to, read.text) };
                self.add(from, file)
            }
            Err(reason) => {
                self.refuse(from, reason);
                false
            }
        }
    }

    /// Takes a text made from a file.
    pub(super) fn take_text(&mut self, from: &str, to: &str, text: String) -> bool {
        self.add(from, NewFile::text(to, text))
    }

    fn add(&mut self, from: &str, mut file: NewFile) -> bool {
        let refusal = if !file.path.split('/').all(is_portable) {
            "its name does not work on every platform".to_owned()
        } else if let Some(other) = self.files.get(&file.path) {
            let other = other.from.as_ref().unwrap_or(&other.path);
            format!("{other} is taken as {} already", file.path)
        } else if self.files.len() >= MOST_FILES {
            format!("{MOST_FILES} files are taken already, which is the limit")
        } else if self.bytes.saturating_add(file.text.len()) > MOST_BYTES {
            format!("the files before it hold nearly {MOST_BYTES} bytes, which is the limit")
        } else {
            self.bytes += file.text.len();
            file.from = Some(from.to_owned()).filter(|from| *from != file.path);
            self.files.insert(file.path.clone(), file);
            return true;
        };
        self.refuse(from, refusal);
        false
    }

    /// Makes an agent known.
    pub(super) fn add_agent(&mut self, id: &str) {
        self.agents.push(id.to_owned());
    }

    /// Whether an id is taken; one that differs in case only is, for some file systems cannot tell.
    pub(super) fn agent_is_known(&self, id: &str) -> bool {
        let id = id.to_lowercase();
        self.agents.iter().any(|known| known.to_lowercase() == id)
    }

    /// Takes a directory with all text files in it.
    pub(super) fn take_folder(&mut self, from: &str, to: &str) {
        self.take_inside(from, to, &mut Vec::new());
    }

    fn take_inside(&mut self, from: &str, to: &str, above: &mut Vec<PathBuf>) {
        let resolved = match self.source.resolve(from) {
            Ok(resolved) => resolved,
            Err(reason) => return self.refuse(from, reason),
        };
        if above.contains(&resolved) {
            return self.refuse(from, "is a link to a directory around it");
        }
        if above.len() >= DEEPEST {
            return self.refuse(from, format!("is more than {DEEPEST} directories deep"));
        }
        let names = match self.source.names(from) {
            Ok(names) => names,
            Err(reason) => return self.refuse(from, reason),
        };
        above.push(resolved);
        for name in names {
            let (from, to) = (format!("{from}/{name}"), format!("{to}/{name}"));
            self.visits += 1;
            if name.starts_with('.') {
                self.refuse(&from, "is hidden");
            } else if self.files.len() >= MOST_FILES || self.visits > MOST_VISITS {
                self.refuse(&from, "there are too many files; the rest was not looked at");
                break;
            } else if self.source.kind(&from) != Kind::Directory {
                self.take(&from, &to);
            } else if GENERATED.contains(&name.as_str()) {
                self.refuse(&from, "is made by tools");
            } else {
                self.take_inside(&from, &to, above);
            }
        }
        above.pop();
    }

    /// Takes skills: folders with a SKILL.md whole, and single files.
    pub(super) fn take_skills(&mut self, from: &str) {
        if !self.source.is_dir(from) {
            return;
        }
        let names = match self.source.names(from) {
            Ok(names) => names,
            Err(reason) => return self.refuse(from, reason),
        };
        for name in names.iter().filter(|name| !name.starts_with('.')) {
            let (path, to) = (format!("{from}/{name}"), format!("skills/{name}"));
            if self.source.is_file(&format!("{path}/SKILL.md")) {
                self.take_folder(&path, &to);
            } else if self.source.is_dir(&path) {
                self.refuse(&path, "there is no SKILL.md in it");
            } else if name.ends_with(".md") {
                self.take(&path, &to);
            } else {
                self.refuse(&path, "is not a skill");
            }
        }
    }
}
