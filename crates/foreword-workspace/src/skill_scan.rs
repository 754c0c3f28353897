//! Which files are skills, in which order, and which of two of one name wins.
//!
//! The rules are here once, for reading skills whole and for listing them: what differs is what is
//! taken from each file. Files are looked at and read by a few threads, and judged in their order.

use std::collections::BTreeMap;
use std::thread;

use crate::error::WorkspaceError;
use crate::read::{Entry, EntryKind, Located, Root};
use crate::rel_path::{PathFault, RelPath};
use crate::skills::SkillProblem;
use crate::workspace::{Workspace, check};

/// Entries all roots together may have.
const MOST_ENTRIES: usize = 20_000;
/// Bytes of skills held in memory at once.
pub(crate) const MOST_BYTES: u64 = 64 << 20;
/// Markdown files that lie beside skills and are none.
const NOT_SKILLS: [&str; 4] = ["README.md", "AGENTS.md", "CLAUDE.md", "SKILL.md"];
/// Below this many files a second thread costs more than it brings.
const FEW: usize = 128;
/// More threads than this do not make a disk faster.
const MOST_THREADS: usize = 4;

/// A file that is a skill if it is there.
pub(crate) struct Candidate {
    /// The place of its root among the roots.
    root: usize,
    file: RelPath,
    /// How many names of `file` are known to be directories.
    directories: usize,
    /// The file, as it is shown to a person.
    pub(crate) path: String,
    /// The root, as the settings name it.
    pub(crate) configured: String,
    /// The name of its folder, or of its file without `.md`.
    pub(crate) own_name: String,
    /// The folder of the files it brings along; `None` for a single file.
    pub(crate) dir: Option<String>,
}

impl Candidate {
    /// Its file, if it is there.
    fn find(&self, roots: &[Root], limit: u64) -> Result<Option<Located>, WorkspaceError> {
        let Some(root) = roots.get(self.root) else { return Ok(None) };
        let found = root.find(&self.file, self.directories)?;
        found.iter().try_for_each(|located| located.check(&self.path, limit))?;
        Ok(found)
    }
}

/// What a scan takes from a file.
pub(crate) trait Found: Send {
    fn name(&self) -> &str;
    fn path(&self) -> &str;
    fn root(&self) -> &str;
}

/// What a scan found, by name, and what it passed over.
pub(crate) struct Scanned<T> {
    pub(crate) found: Vec<T>,
    /// Read, and hidden by one of those.
    pub(crate) hidden: Vec<T>,
    pub(crate) problems: Vec<SkillProblem>,
}

impl Workspace {
    /// Scans all roots, taking from each file what `take` makes of it.
    pub(crate) fn scan_skills<T: Found>(
        &self,
        take: impl Fn(&Candidate, &Located, u64) -> Result<T, WorkspaceError> + Sync,
    ) -> Result<Scanned<T>, WorkspaceError> {
        let limit = self.config().limits.max_file_bytes;
        let (roots, candidates) = self.candidates()?;
        let located = in_order(&candidates, |candidate| match candidate {
            Ok(candidate) => candidate.find(&roots, limit),
            Err(_) => Ok(None),
        });
        let mut total = 0_u64;
        let mut files = Vec::with_capacity(candidates.len());
        for (candidate, located) in candidates.into_iter().zip(located) {
            files.push(match (candidate, located) {
                (Err(problem), _) => Err(problem),
                (Ok(_), Err(error)) => Err(error.into()),
                (Ok(_), Ok(None)) => continue,
                (Ok(candidate), Ok(Some(_))) if total >= MOST_BYTES => {
                    Err(SkillProblem::OverTotal { path: candidate.path })
                }
                (Ok(candidate), Ok(Some(located))) => {
                    total = total.saturating_add(located.meta.len());
                    Ok((candidate, located))
                }
            });
        }
        let taken = in_order(&files, |file| {
            file.as_ref().ok().map(|(candidate, located)| take(candidate, located, limit))
        });
        let mut choice = Choice::default();
        for (file, taken) in files.into_iter().zip(taken) {
            match (file, taken) {
                (Err(problem), _) => choice.problems.push(problem),
                (Ok(_), Some(Err(error))) => choice.problems.push(error.into()),
                (Ok(_), Some(Ok(found))) => choice.add(found),
                (Ok(_), None) => {}
            }
        }
        let mut found: Vec<T> = choice.found.into_values().collect();
        found.sort_by(|a, b| a.name().cmp(b.name()));
        Ok(Scanned { found, hidden: choice.hidden, problems: choice.problems })
    }

    /// Everything that may be a skill: the workspace's own, then the further roots in their order.
    #[expect(clippy::type_complexity, reason = "read in one place")]
    fn candidates(
        &self,
    ) -> Result<(Vec<Root>, Vec<Result<Candidate, SkillProblem>>), WorkspaceError> {
        let settings = &self.config().skills;
        let mut roots: Vec<Root> = Vec::new();
        let mut candidates = Vec::new();
        let mut entries_left = MOST_ENTRIES;
        let directory = check(&settings.directory, None)?;
        if let Some(entries) = self.files.list(directory.as_str(), MOST_ENTRIES)? {
            // Listing it has shown that it is a directory inside the workspace.
            let root = self.files.further(directory.as_str())?;
            entries_left = entries_left.saturating_sub(entries.len());
            candidates.extend(in_root(&root, roots.len(), &settings.directory, entries));
            roots.push(root);
        }
        for configured in &settings.roots {
            let root = match self.files.further(configured) {
                Ok(root) if roots.iter().any(|known| known.is_same(&root)) => continue,
                Ok(root) => root,
                Err(error) => {
                    candidates.push(Err(error.into()));
                    continue;
                }
            };
            match root.list("", entries_left) {
                Ok(entries) => {
                    let entries = entries.unwrap_or_default();
                    entries_left = entries_left.saturating_sub(entries.len());
                    candidates.extend(in_root(&root, roots.len(), configured, entries));
                }
                Err(error) => candidates.push(Err(error.into())),
            }
            roots.push(root);
        }
        Ok((roots, candidates))
    }
}

/// The candidates of one root: folders first, so that a folder wins over a file.
fn in_root(
    root: &Root,
    number: usize,
    configured: &str,
    entries: Vec<Entry>,
) -> Vec<Result<Candidate, SkillProblem>> {
    let (files, folders): (Vec<_>, Vec<_>) = entries.into_iter().partition(is_flat);
    let candidate = |entry: Entry| {
        if entry.kind == EntryKind::BadName {
            let given = root.show(&entry.name);
            let reason = PathFault::Character;
            let error = WorkspaceError::BadPath { given, reason, asked_by: None };
            return Some(Err(error.into()));
        }
        let flat = is_flat(&entry);
        let is_none = match (flat, entry.kind) {
            (true, _) => NOT_SKILLS.iter().any(|name| entry.name.eq_ignore_ascii_case(name)),
            (false, kind) => kind == EntryKind::File,
        };
        if is_none {
            return None;
        }
        let file = if flat {
            RelPath::listed("", &entry.name)
        } else {
            RelPath::listed(&entry.name, "SKILL.md")
        };
        Some(Ok(Candidate {
            root: number,
            directories: usize::from(entry.kind == EntryKind::Directory),
            path: root.show(file.as_str()),
            file,
            configured: configured.to_owned(),
            dir: (!flat).then(|| root.show(&entry.name)),
            own_name: match entry.name.strip_suffix(".md") {
                Some(stem) if flat => stem.to_owned(),
                _ => entry.name,
            },
        }))
    };
    folders.into_iter().chain(files).filter_map(candidate).collect()
}

/// Whether an entry is a skill in a single file.
fn is_flat(entry: &Entry) -> bool {
    entry.kind != EntryKind::Directory && entry.name.ends_with(".md")
}

/// Of skills of one name, whatever their case, the one to keep.
struct Choice<T> {
    /// By their names in lower case.
    found: BTreeMap<String, T>,
    hidden: Vec<T>,
    problems: Vec<SkillProblem>,
}

impl<T> Default for Choice<T> {
    fn default() -> Self {
        Self { found: BTreeMap::new(), hidden: Vec::new(), problems: Vec::new() }
    }
}

impl<T: Found> Choice<T> {
    fn add(&mut self, new: T) {
        let key = new.name().to_lowercase();
        let Some(known) = self.found.get_mut(&key) else {
            self.found.insert(key, new);
            return;
        };
        let loser = if new.name() == key && known.name() != key && known.root() == new.root() {
            // Within one root the name that is in lower case, as names should be, is the one meant.
            std::mem::replace(known, new)
        } else {
            new
        };
        let (name, path) = (loser.name().to_owned(), loser.path().to_owned());
        let by = known.path().to_owned();
        self.problems.push(if known.name() == name {
            SkillProblem::Shadowed { name, path, by }
        } else {
            SkillProblem::CaseClash { name, path, other: known.name().to_owned(), by }
        });
        self.hidden.push(loser);
    }
}

/// Does the same for every item, by several threads if there are many; answers in their order.
fn in_order<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = if items.len() < FEW {
        1
    } else {
        thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS)
    };
    if threads == 1 {
        return items.iter().map(work).collect();
    }
    let share = items.len().div_ceil(threads);
    thread::scope(|scope| {
        let running: Vec<_> = items
            .chunks(share)
            .map(|chunk| scope.spawn(|| chunk.iter().map(&work).collect::<Vec<R>>()))
            .collect();
        let done = running.into_iter().flat_map(|thread| match thread.join() {
            Ok(answers) => answers,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        done.collect()
    })
}
