//! A migration in progress: the files to write so far, and the rows of the table.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::header;
use super::instructions::Instructions;
use super::mcp_servers::Servers;
use super::permissions::Permissions;
use super::row::{Outcome, Row};
use super::settings::Settings;
use super::source::{Kind, Source, is_portable};
use super::write::NewFile;

/// Files to import.
const MAX_FILES: usize = 5_000;
/// Names to visit in folders, so that links among folders cannot multiply the work.
const MAX_VISITS: usize = 20_000;
/// Bytes of all files together, which are held in memory until everything is checked.
const MAX_BYTES: usize = 64 << 20;
/// Rows of the table. What is beyond is one row.
const MAX_ROWS: usize = 10_000;
const MAX_DEPTH: usize = 12;
/// Folders that tools generate.
const GENERATED: [&str; 7] =
    ["node_modules", "__pycache__", "target", "venv", ".venv", "dist", ".git"];

/// An agent that the main agent can start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SubAgent {
    pub(super) id: String,
    pub(super) description: String,
}

pub(super) struct Import {
    pub(super) source: Source,
    pub(super) notes: Vec<String>,
    pub(super) instructions: Instructions,
    pub(super) servers: Servers,
    pub(super) permissions: Permissions,
    pub(super) settings: Settings,
    pub(super) agents: Vec<SubAgent>,
    /// Whether the workspace is made in the directory of the old setup.
    pub(super) in_place: bool,
    rows: Vec<Row>,
    /// By path in the workspace.
    files: BTreeMap<String, NewFile>,
    bytes: usize,
    visits: usize,
    skill_roots: Vec<String>,
    /// Folders of Claude Code below the root.
    pub(super) nested_claude: Vec<String>,
    /// Skills that the other tool has turned off, by folder or name.
    pub(super) disabled_skills: BTreeSet<String>,
    /// The source of each skill, by name in lower case.
    skill_names: BTreeMap<String, String>,
}

impl Import {
    pub(super) fn new(source: Source, in_place: bool) -> Self {
        Self {
            source,
            in_place,
            notes: Vec::new(),
            instructions: Instructions::default(),
            servers: Servers::default(),
            permissions: Permissions::default(),
            settings: Settings::default(),
            agents: Vec::new(),
            rows: Vec::new(),
            files: BTreeMap::new(),
            bytes: 0,
            visits: 0,
            skill_roots: Vec::new(),
            nested_claude: Vec::new(),
            disabled_skills: BTreeSet::new(),
            skill_names: BTreeMap::new(),
        }
    }

    pub(super) fn carried(&mut self, source: &str, to: &str) {
        self.row(source, Outcome::Carried, Some(to), None);
    }

    pub(super) fn mapped(&mut self, source: &str, to: &str, note: impl Into<String>) {
        self.row(source, Outcome::Mapped, Some(to), Some(note.into()));
    }

    /// An MCP server, with what it takes to turn it on.
    pub(super) fn server_row(&mut self, source: &str, is_same: bool, note: String) {
        let outcome = if is_same { Outcome::Carried } else { Outcome::Mapped };
        self.row(source, outcome, Some(super::mcp_servers::MCP_FILE), Some(note));
    }

    pub(super) fn left(&mut self, source: &str, reason: impl Into<String>) {
        self.row(source, Outcome::Left, None, Some(reason.into()));
    }

    pub(super) fn lost(&mut self, source: &str, reason: impl Into<String>) {
        self.row(source, Outcome::Lost, None, Some(reason.into()));
    }

    pub(super) fn left_if_present(&mut self, path: &str, reason: &str) {
        if self.source.exists(path) {
            self.left(path, reason);
        }
    }

    pub(super) fn lost_if_present(&mut self, path: &str, reason: &str) {
        if self.source.exists(path) {
            self.lost(path, reason);
        }
    }

    fn row(&mut self, source: &str, outcome: Outcome, to: Option<&str>, note: Option<String>) {
        if self.rows.len() == MAX_ROWS {
            let note = format!("more than {MAX_ROWS} entries; the rest is not listed");
            let source = "…".to_owned();
            self.rows.push(Row { source, outcome: Outcome::Lost, to: None, note: Some(note) });
        } else if self.rows.len() < MAX_ROWS {
            let to = to.map(str::to_owned);
            self.rows.push(Row { source: source.to_owned(), outcome, to, note });
        }
    }

    /// The table, sorted, and the files.
    pub(super) fn finish(self) -> (Vec<Row>, BTreeMap<String, NewFile>) {
        let mut rows = self.rows;
        rows.sort();
        rows.dedup();
        (rows, self.files)
    }

    /// Whether a path of the workspace will be written.
    pub(super) fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// Whether anything below a folder of the workspace will be written.
    pub(super) fn has_below(&self, folder: &str) -> bool {
        self.files
            .range(folder.to_owned()..)
            .next()
            .is_some_and(|(path, _)| path.starts_with(folder))
    }

    /// The paths in the workspace so far.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// The text of a file to write.
    pub(super) fn text_of(&self, path: &str) -> Option<&str> {
        self.files.get(path).and_then(|file| std::str::from_utf8(&file.bytes).ok())
    }

    /// Reads a file, or records it as lost.
    pub(super) fn read(&mut self, path: &str) -> Option<String> {
        match self.source.read(path) {
            Ok(text) => Some(text),
            Err(reason) => {
                self.lost(path, reason);
                None
            }
        }
    }

    /// Copies a text, if it exists.
    pub(super) fn copy_if_present(&mut self, from: &str, to: &str) -> bool {
        self.source.exists(from) && self.copy(from, to)
    }

    /// Copies a text, with a row.
    pub(super) fn copy(&mut self, from: &str, to: &str) -> bool {
        // Read as text for its checks, and copied as it is.
        let bytes = self.source.read(from).and_then(|_| self.source.read_bytes(from));
        let copied = match bytes {
            Ok((bytes, executable)) => {
                self.add(from, NewFile { executable, ..NewFile::bytes(to, bytes) })
            }
            Err(reason) => {
                self.lost(from, reason);
                false
            }
        };
        if copied {
            self.carried(from, to);
        }
        copied
    }

    /// Adds a text that was made from a file. The caller adds the row, except for a refusal.
    pub(super) fn add_text(&mut self, from: &str, to: &str, text: impl Into<String>) -> bool {
        self.add(from, NewFile::text(to, text))
    }

    fn add(&mut self, from: &str, mut file: NewFile) -> bool {
        let refusal = if !file.path.split('/').all(is_portable) {
            "its name is not valid on every platform".to_owned()
        } else if let Some(other) = self.files.get(&file.path) {
            if other.bytes == file.bytes {
                return true;
            }
            let other = other.from.as_ref().unwrap_or(&other.path);
            format!("{other} already gives {}", file.path)
        } else if self.files.len() >= MAX_FILES {
            format!("the limit of {MAX_FILES} files is reached")
        } else if self.bytes.saturating_add(file.bytes.len()) > MAX_BYTES {
            format!("the limit of {} MiB for all files is reached", MAX_BYTES >> 20)
        } else {
            self.bytes += file.bytes.len();
            file.from = Some(from.to_owned()).filter(|from| *from != file.path);
            self.files.insert(file.path.clone(), file);
            return true;
        };
        self.lost(from, refusal);
        false
    }

    /// Adds an agent, if its id is valid and free.
    pub(super) fn add_agent(
        &mut self,
        from: &str,
        to: &str,
        agent: SubAgent,
        text: impl Into<String>,
    ) -> bool {
        let id = agent.id.to_lowercase();
        if !is_portable(&agent.id) {
            self.lost(from, "its id is not a valid file name on every platform");
        } else if self.agents.iter().any(|known| known.id.to_lowercase() == id) {
            // Case is ignored, as on some file systems.
            self.lost(from, format!("agent `{}` already exists", agent.id));
        } else if self.add_text(from, to, text) {
            self.agents.push(agent);
            return true;
        }
        false
    }

    /// Counts a name that is looked at; `false` if there were too many.
    pub(super) fn may_visit(&mut self) -> bool {
        self.visits += 1;
        self.visits <= MAX_VISITS
    }

    /// Copies a folder with all its files, hidden and binary ones too, and gives their number.
    pub(super) fn copy_folder(&mut self, from: &str, to: &str) -> usize {
        let before = self.files.len();
        self.copy_inside(from, to, &mut Vec::new());
        self.files.len() - before
    }

    fn copy_inside(&mut self, from: &str, to: &str, above: &mut Vec<PathBuf>) {
        let resolved = match self.source.resolve(from) {
            Ok(resolved) => resolved,
            Err(reason) => return self.lost(from, reason),
        };
        if above.contains(&resolved) {
            return self.left(from, "symbolic link to a parent directory");
        }
        if above.len() >= MAX_DEPTH {
            return self.lost(from, format!("nested more than {MAX_DEPTH} directories deep"));
        }
        let names = match self.source.names(from) {
            Ok(names) => names,
            Err(reason) => return self.lost(from, reason),
        };
        above.push(resolved);
        for name in names {
            let (from, to) = (format!("{from}/{name}"), format!("{to}/{name}"));
            let may_visit = self.may_visit();
            if name == ".DS_Store" || name == "Thumbs.db" {
                continue;
            } else if self.files.len() >= MAX_FILES || !may_visit {
                self.lost(&from, "too many files; the rest is skipped");
                break;
            } else if is_secret(&name) {
                self.lost(&from, "may hold keys; set them in your environment");
            } else if GENERATED.contains(&name.as_str()) {
                self.left(&from, "generated by tools");
            } else if self.source.kind(&from) == Kind::Directory {
                self.copy_inside(&from, &to, above);
            } else {
                match self.source.read_bytes(&from) {
                    Ok((bytes, executable)) => {
                        self.add(&from, NewFile { executable, ..NewFile::bytes(to, bytes) });
                    }
                    Err(reason) => self.lost(&from, reason),
                }
            }
        }
        above.pop();
    }

    /// Copies skills: folders with a SKILL.md, and single files.
    pub(super) fn copy_skills(&mut self, from: &str) {
        if !self.source.is_dir(from) || self.skill_roots.iter().any(|root| root == from) {
            return;
        }
        self.skill_roots.push(from.to_owned());
        let names = match self.source.names(from) {
            Ok(names) => names,
            Err(reason) => return self.lost(from, reason),
        };
        // In place, skills stay where they are and are read from there.
        let stays = self.in_place && from != "skills";
        for name in names.iter().filter(|name| !name.starts_with('.')) {
            let (path, to) = (format!("{from}/{name}"), format!("skills/{name}"));
            let skill = name.strip_suffix(".md").unwrap_or(name);
            let is_skill = self.source.is_file(&format!("{path}/SKILL.md"))
                || (name.ends_with(".md") && !foreword_workspace::is_beside_skills(name));
            if is_skill && self.is_disabled(skill, &path) {
                match self.in_place {
                    // The files are in the workspace already.
                    true => self.lost(&path, "turned off before and on here; delete the skill"),
                    false => self.left(&path, "turned off in the settings of the other tool"),
                }
            } else if is_skill && !self.take_skill_name(skill, &path) {
                self.second_skill(skill, &path);
            } else if stays && is_skill {
                self.settings.add_skill_root(from);
                self.record_skill_features(&path);
                let path = if self.source.is_dir(&path) { format!("{path}/") } else { path };
                self.carried(&path, &path);
            } else if self.source.is_file(&format!("{path}/SKILL.md")) {
                self.copy_skill(&path, &to);
            } else if self.source.is_dir(&path) {
                self.lost(&path, "no SKILL.md in it");
            } else if !name.ends_with(".md") {
                self.left(&path, "not a skill");
            } else if foreword_workspace::is_beside_skills(name) {
                self.left(&path, "describes the folder, not a skill");
            } else {
                self.copy(&path, &to);
                self.record_skill_features(&path);
            }
        }
    }

    /// Whether the other tool has turned a skill off, by the name of its folder or that in its header.
    fn is_disabled(&self, folder: &str, path: &str) -> bool {
        if self.disabled_skills.is_empty() {
            return false;
        }
        let text = self.source.read(&format!("{path}/SKILL.md"));
        let text = text.or_else(|_| self.source.read(path)).unwrap_or_default();
        let name = header::split(&text).ok().and_then(|parts| parts.line("name"));
        self.disabled_skills.contains(folder)
            || name.is_some_and(|name| self.disabled_skills.contains(&name))
    }

    /// Reserves the name of a skill; `false` if it is taken. Case is ignored, as on some file systems.
    pub(super) fn take_skill_name(&mut self, name: &str, from: &str) -> bool {
        match self.skill_names.entry(name.to_lowercase()) {
            Entry::Occupied(_) => false,
            Entry::Vacant(free) => {
                free.insert(from.to_owned());
                true
            }
        }
    }

    /// A skill whose name another one has. Tools often link or copy one skill into several folders.
    fn second_skill(&mut self, name: &str, path: &str) {
        let first = self.skill_names.get(&name.to_lowercase()).cloned().unwrap_or_default();
        let text = |path: &str| {
            let inside = self.source.read(&format!("{path}/SKILL.md"));
            inside.or_else(|_| self.source.read(path)).ok()
        };
        if text(path) == text(&first) {
            self.left(path, format!("has the same text as {first}"));
        } else {
            self.lost(path, format!("{first} has the same name; rename one of them"));
        }
    }

    fn copy_skill(&mut self, from: &str, to: &str) {
        if self.copy_folder(from, to) > 0 {
            self.carried(&format!("{from}/"), &format!("{to}/"));
            self.record_skill_features(from);
        }
    }
}

/// Whether a file name is one under which people keep keys.
fn is_secret(name: &str) -> bool {
    let example = [".example", ".sample", ".template", ".dist"];
    (name == ".env" || name.starts_with(".env.")) && !example.iter().any(|end| name.ends_with(end))
}
