//! Which files are skills, in which order, and which of two of one name wins.
//!
//! The rules are here once, for reading skills whole and for listing them: what differs is what is
//! taken from each file. Files are looked at and read by a few threads, and judged in their order.

use std::collections::HashMap;
use std::sync::Arc;
use std::thread;

use crate::error::WorkspaceError;
use crate::found_file::{FileStamp, FoundFile};
use crate::read::{Entry, EntryKind, Root};
use crate::rel_path::PathFault;
use crate::skills::SkillProblem;
use crate::workspace::{Workspace, check};

/// Entries all roots together may have.
const MAX_SKILL_ENTRIES: usize = 20_000;
/// Bytes of skills held in memory at once.
pub(crate) const MAX_SKILL_BYTES: u64 = 64 << 20;
/// Markdown files that lie beside skills and are none.
const NOT_SKILLS: [&str; 4] = ["README.md", "AGENTS.md", "CLAUDE.md", "SKILL.md"];

/// Whether a name at the top of a directory of skills is that of a file that is no skill.
#[must_use]
pub fn is_beside_skills(name: &str) -> bool {
    NOT_SKILLS.iter().any(|known| name.eq_ignore_ascii_case(known))
}
/// Below this many files a second thread costs more than it brings.
const FEW_TO_FIND: usize = 1000;
const FEW_TO_READ: usize = 100;
/// More threads than this do not make a disk faster.
const MAX_THREADS: usize = 4;

/// The file of a skill in its folder.
pub(crate) const IN_FOLDER: &str = "SKILL.md";

/// A file that is a skill if it is there. There may be very many, so it is one text and little else.
pub(crate) struct Candidate {
    /// The file, as it is shown to a person.
    pub(crate) path: String,
    /// The root, as the settings name it.
    pub(crate) configured: Arc<str>,
    /// The place of its root among the roots.
    root: usize,
    /// The bytes of `path` that are the root's.
    root_length: usize,
    kind: CandidateKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CandidateKind {
    /// A single file; whether it is one is seen when it is found.
    Flat,
    /// A file in what the listing said is a directory.
    InDirectory,
    /// A file in what may be a link to a directory.
    BehindLink,
}

impl Candidate {
    /// The path below the root.
    fn below_root(&self) -> &str {
        self.path.get(self.root_length..).unwrap_or_default()
    }

    /// The name of its folder, or of its file without `.md`.
    pub(crate) fn own_name(&self) -> &str {
        let below = self.below_root();
        match self.kind {
            CandidateKind::Flat => below.strip_suffix(".md").unwrap_or(below),
            _ => below.split('/').next().unwrap_or_default(),
        }
    }

    /// The folder of the files it brings along; `None` for a single file.
    pub(crate) fn dir(&self) -> Option<String> {
        match self.kind {
            CandidateKind::Flat => None,
            _ => self.path.rsplit_once('/').map(|(folder, _)| folder.to_owned()),
        }
    }

    fn find(&self, roots: &[Root], limit: u64) -> Result<Option<FoundFile>, WorkspaceError> {
        let Some(root) = roots.get(self.root) else { return Ok(None) };
        let found = root.find(self.below_root(), self.kind != CandidateKind::BehindLink)?;
        if let Some(found) = &found {
            found.kind.check(found.stamp.size, &self.path, limit)?;
        }
        Ok(found)
    }

    fn bytes(
        &self,
        roots: &[Root],
        found: &FoundFile,
        limit: u64,
    ) -> Result<Vec<u8>, WorkspaceError> {
        let root = roots.get(self.root);
        root.map_or_else(|| Ok(Vec::new()), |root| root.bytes(self.below_root(), found, limit))
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
    /// How many files had to be read.
    pub(crate) read: usize,
}

/// What becomes of a candidate.
enum Step<K> {
    Nothing,
    Problem(SkillProblem),
    Known(FileStamp, K),
    Read(FileStamp),
}

impl Workspace {
    /// Scans all roots. Of each file that is there, `known` may know what it says; the others are
    /// read by `read`. Either way `make` gives the skill.
    pub(crate) fn scan_skills<T: Found, K: Send>(
        &self,
        known: impl Fn(&Candidate, &FileStamp) -> Option<K>,
        read: impl Fn(&Candidate, Vec<u8>) -> Result<K, WorkspaceError> + Sync,
        make: impl Fn(Candidate, FileStamp, K) -> T,
    ) -> Result<Scanned<T>, WorkspaceError> {
        let limit = self.config().limits.max_file_bytes;
        let (roots, candidates) = self.candidates()?;
        let found = in_order(&candidates, FEW_TO_FIND, |candidate| match candidate {
            Ok(candidate) => candidate.find(&roots, limit),
            Err(_) => Ok(None),
        });
        let mut total = 0_u64;
        let mut to_read = Vec::new();
        let mut steps = Vec::with_capacity(candidates.len());
        for (candidate, found) in candidates.iter().zip(found) {
            steps.push(match (candidate, found) {
                (Err(_), _) | (Ok(_), Ok(None)) => Step::Nothing,
                (Ok(_), Err(error)) => Step::Problem(error.into()),
                (Ok(candidate), Ok(Some(_))) if total >= MAX_SKILL_BYTES => {
                    Step::Problem(SkillProblem::OverTotal { path: candidate.path.clone() })
                }
                (Ok(candidate), Ok(Some(found))) => {
                    total = total.saturating_add(found.stamp.size);
                    let stamp = found.stamp;
                    known(candidate, &stamp).map_or_else(
                        || {
                            to_read.push((candidate, found));
                            Step::Read(stamp)
                        },
                        |known| Step::Known(stamp, known),
                    )
                }
            });
        }
        let texts = in_order(&to_read, FEW_TO_READ, |(candidate, found)| {
            read(candidate, candidate.bytes(&roots, found, limit)?)
        });
        let read = texts.len();
        let mut texts = texts.into_iter();
        drop(to_read);
        let mut choice = Choice::default();
        for (candidate, step) in candidates.into_iter().zip(steps) {
            match (candidate, step) {
                (Err(problem), _) | (Ok(_), Step::Problem(problem)) => {
                    choice.problems.push(problem);
                }
                (Ok(_), Step::Nothing) => {}
                (Ok(candidate), Step::Known(stamp, known)) => {
                    choice.add(make(candidate, stamp, known));
                }
                (Ok(candidate), Step::Read(stamp)) => match texts.next() {
                    Some(Ok(text)) => choice.add(make(candidate, stamp, text)),
                    Some(Err(error)) => choice.problems.push(error.into()),
                    None => {}
                },
            }
        }
        let Choice { mut found, hidden, problems, .. } = choice;
        found.sort_by(|a, b| a.name().cmp(b.name()));
        Ok(Scanned { found, hidden, problems, read })
    }

    /// Everything that may be a skill: the workspace's own, then the further roots in their order.
    #[expect(clippy::type_complexity, reason = "read in one place")]
    fn candidates(
        &self,
    ) -> Result<(Vec<Root>, Vec<Result<Candidate, SkillProblem>>), WorkspaceError> {
        let settings = &self.config().skills;
        let mut roots: Vec<Root> = Vec::new();
        let mut candidates = Vec::new();
        let mut entries_left = MAX_SKILL_ENTRIES;
        let directory = check(&settings.directory, None)?;
        if let Some(entries) = self.files.list(directory.as_str(), MAX_SKILL_ENTRIES)? {
            // Listing it has shown that it is a directory inside the workspace.
            let root = self.files.further(directory.as_str())?;
            entries_left = entries_left.saturating_sub(entries.len());
            candidates.extend(in_root(&root, roots.len(), &settings.directory, entries));
            roots.push(root);
        }
        for configured in &settings.roots {
            let root = match self.files.further(configured) {
                Ok(root) if roots.iter().any(|known| known.is_same(&root)) => continue,
                Ok(root) if !self.may_read_root(configured, &root)? => {
                    candidates.push(Err(SkillProblem::RootNotAllowed {
                        root: configured.clone(),
                        directory: root.directory().display().to_string(),
                    }));
                    continue;
                }
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
    let configured: Arc<str> = configured.into();
    let (files, folders): (Vec<_>, Vec<_>) = entries.into_iter().partition(is_flat);
    let candidate = |entry: Entry| {
        if entry.kind == EntryKind::BadName {
            let given = root.show(&entry.name);
            let reason = PathFault::Character;
            let error = WorkspaceError::BadPath { given, reason, asked_by: None };
            return Some(Err(error.into()));
        }
        let kind = match entry.kind {
            _ if is_flat(&entry) => CandidateKind::Flat,
            EntryKind::Directory => CandidateKind::InDirectory,
            EntryKind::File => return None,
            _ => CandidateKind::BehindLink,
        };
        let below = if kind == CandidateKind::Flat {
            if is_beside_skills(&entry.name) {
                return None;
            }
            entry.name
        } else {
            entry.name + "/" + IN_FOLDER
        };
        let path = root.show(&below);
        let root_length = path.len() - below.len();
        let configured = Arc::clone(&configured);
        Some(Ok(Candidate { path, configured, root: number, root_length, kind }))
    };
    folders.into_iter().chain(files).filter_map(candidate).collect()
}

/// Whether an entry is a skill in a single file.
fn is_flat(entry: &Entry) -> bool {
    entry.kind != EntryKind::Directory && entry.name.ends_with(".md")
}

/// Of skills of one name, whatever their case, the one to keep.
struct Choice<T> {
    found: Vec<T>,
    /// Places in `found`, by names in lower case.
    places: HashMap<String, usize>,
    hidden: Vec<T>,
    problems: Vec<SkillProblem>,
}

impl<T> Default for Choice<T> {
    fn default() -> Self {
        let (found, hidden, problems) = (Vec::new(), Vec::new(), Vec::new());
        Self { found, places: HashMap::new(), hidden, problems }
    }
}

impl<T: Found> Choice<T> {
    fn add(&mut self, new: T) {
        let key = new.name().to_lowercase();
        let place = self.places.get(&key).and_then(|place| self.found.get_mut(*place));
        let Some(known) = place else {
            self.places.insert(key, self.found.len());
            self.found.push(new);
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
fn in_order<T: Sync, R: Send>(items: &[T], few: usize, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = if items.len() < few {
        1
    } else {
        thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS)
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
