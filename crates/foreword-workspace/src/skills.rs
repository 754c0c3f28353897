//! Skills: `skills/<name>/SKILL.md` or `skills/<name>.md`, and further roots.

use serde::Deserialize;
use std::collections::BTreeMap;

use crate::error::WorkspaceError;
use crate::header;
use crate::read::{Entry, EntryKind, Root, SourceFile};
use crate::rel_path::{PathFault, RelPath};
use crate::workspace::{Workspace, check};

/// Entries all roots together may have.
const MOST_ENTRIES: usize = 20_000;
/// Bytes of skills held in memory at once.
const MOST_BYTES: usize = 64 << 20;
/// Markdown files that lie beside skills and are none.
const NOT_SKILLS: [&str; 4] = ["README.md", "AGENTS.md", "CLAUDE.md", "SKILL.md"];

/// One skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// The name its header gives, or that of its folder or file.
    pub name: String,
    /// When to use it, as its header says.
    pub description: Option<String>,
    /// The text after the header.
    pub body: SourceFile,
    /// The root it was found in, as the settings name it.
    pub root: String,
    /// The folder of the files it brings along; `None` for a single file.
    pub dir: Option<String>,
}

/// All skills of a workspace, and what was passed over.
#[derive(Debug, Default)]
pub struct SkillScan {
    /// Sorted by name; no name twice.
    pub skills: Vec<Skill>,
    /// In the order in which they were met.
    pub problems: Vec<SkillProblem>,
}

/// Why a skill, or a whole root, is not among the skills.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkillProblem {
    /// A skill of this name was found before.
    #[error("{path}: skill `{}` is hidden by {by}", .name.escape_debug())]
    Shadowed {
        /// The name.
        name: String,
        /// The file that was passed over.
        path: String,
        /// The file that won.
        by: String,
    },
    /// The file or the root cannot be read.
    #[error(transparent)]
    Unreadable(#[from] WorkspaceError),
    /// There is more text in the skills than is held at once.
    #[error("{path}: skipped, the skills before it already hold {MOST_BYTES} bytes")]
    OverTotal {
        /// The file that was passed over.
        path: String,
    },
}

/// What we read of a skill's header; other tools put more there.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Header {
    name: Option<String>,
    description: Option<String>,
}

impl Workspace {
    /// All skills: the workspace's own, then those of the further roots in their order.
    ///
    /// Of two skills of one name the first wins; within a root, a folder wins over a file. What is
    /// hidden or cannot be read is a problem to report, not a reason to have no skills at all.
    ///
    /// # Errors
    ///
    /// If the workspace's own directory of skills leads outside or cannot be listed.
    pub fn skills(&self) -> Result<SkillScan, WorkspaceError> {
        let settings = &self.config().skills;
        let mut scan = Scan { limit: self.config().limits.max_file_bytes, ..Scan::default() };
        let mut roots: Vec<Root> = Vec::new();
        let directory = check(&settings.directory, None)?;
        if let Some(entries) = self.files.list(directory.as_str(), MOST_ENTRIES)? {
            // Listing it has shown that it is a directory inside the workspace.
            let root = self.files.further(directory.as_str())?;
            scan.root(&root, &settings.directory, &entries);
            roots.push(root);
        }
        for configured in &settings.roots {
            let root = match self.files.further(configured) {
                Ok(root) if roots.iter().any(|known| known.is_same(&root)) => continue,
                Ok(root) => root,
                Err(error) => {
                    scan.problems.push(error.into());
                    continue;
                }
            };
            match root.list("", MOST_ENTRIES.saturating_sub(scan.entries)) {
                Ok(entries) => scan.root(&root, configured, &entries.unwrap_or_default()),
                Err(error) => scan.problems.push(error.into()),
            }
            roots.push(root);
        }
        Ok(SkillScan { skills: scan.found.into_values().collect(), problems: scan.problems })
    }
}

/// The state of one scan.
#[derive(Default)]
struct Scan {
    limit: u64,
    entries: usize,
    bytes: usize,
    found: BTreeMap<String, Skill>,
    problems: Vec<SkillProblem>,
}

impl Scan {
    fn root(&mut self, root: &Root, configured: &str, entries: &[Entry]) {
        self.entries += entries.len();
        let (files, folders): (Vec<_>, Vec<_>) = entries.iter().partition(|entry| is_flat(entry));
        for entry in folders.into_iter().chain(files) {
            match self.entry(root, configured, entry) {
                Ok(Some(skill)) => self.add(skill),
                Ok(None) => {}
                Err(error) => self.problems.push(error.into()),
            }
        }
    }

    fn entry(
        &mut self,
        root: &Root,
        configured: &str,
        entry: &Entry,
    ) -> Result<Option<Skill>, WorkspaceError> {
        let (file, own_name, dir) = match entry.kind {
            EntryKind::BadName => {
                return Err(WorkspaceError::BadPath {
                    given: root.show(&entry.name),
                    reason: PathFault::Character,
                    asked_by: None,
                });
            }
            _ if is_flat(entry) => {
                if NOT_SKILLS.iter().any(|name| entry.name.eq_ignore_ascii_case(name)) {
                    return Ok(None);
                }
                let name = entry.name.strip_suffix(".md").unwrap_or(&entry.name);
                (RelPath::listed("", &entry.name), name, None)
            }
            EntryKind::File => return Ok(None),
            EntryKind::Directory | EntryKind::Other => {
                let file = RelPath::listed(&entry.name, "SKILL.md");
                (file, entry.name.as_str(), Some(root.show(&entry.name)))
            }
        };
        if self.bytes >= MOST_BYTES {
            self.problems.push(SkillProblem::OverTotal { path: root.show(file.as_str()) });
            return Ok(None);
        }
        let Some(file) = root.read(&file, self.limit)? else { return Ok(None) };
        self.bytes = self.bytes.saturating_add(file.text.len());
        let parts = header::split(file)?;
        let header: Header = parts.parse()?;
        let name = header.name.filter(|name| !name.trim().is_empty());
        Ok(Some(Skill {
            name: name.unwrap_or_else(|| own_name.to_owned()),
            description: header.description.filter(|text| !text.trim().is_empty()),
            body: parts.body,
            root: configured.to_owned(),
            dir,
        }))
    }

    fn add(&mut self, skill: Skill) {
        if let Some(winner) = self.found.get(&skill.name) {
            self.problems.push(SkillProblem::Shadowed {
                name: skill.name,
                path: skill.body.path,
                by: winner.body.path.clone(),
            });
        } else {
            self.found.insert(skill.name.clone(), skill);
        }
    }
}

/// Whether an entry is a skill in a single file.
fn is_flat(entry: &Entry) -> bool {
    entry.kind != EntryKind::Directory && entry.name.ends_with(".md")
}

#[cfg(test)]
#[path = "skills_tests.rs"]
mod tests;
