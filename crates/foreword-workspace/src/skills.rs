//! Skills: `skills/<name>/SKILL.md` or `skills/<name>.md`, and further roots.

pub(crate) mod description;
pub(crate) mod fields;
pub(crate) mod folder;
pub(crate) mod head;
pub(crate) mod scan;

use crate::agents::header::{HeaderSplit, split_header};
use crate::error::WorkspaceError;
use crate::read::{SourceFile, decode};
use crate::skills::fields::{Fields, HeaderNote, Value, read_fields};
use crate::skills::scan::{Candidate, Found, MAX_SKILL_BYTES};
use crate::tools::ToolMode;
use crate::workspace::{MAX_DIRECTORY_ENTRIES, Workspace};

/// A longer name in a header is none; the folder's is taken.
const MAX_HEADER_NAME_CHARS: usize = 128;

/// Who may ask for a skill, by the keys that clients of the format have for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Invocation {
    /// Whether a model may choose it by itself; not with `disable-model-invocation: true`.
    pub model: bool,
    /// Whether a person is offered it by its name; not with `user-invocable: false`.
    pub people: bool,
}

impl Invocation {
    fn of(fields: &Fields) -> Self {
        let says = |key: &str, words: &[&str]| {
            let said = fields.text(key).unwrap_or_default();
            words.iter().any(|word| said.trim().eq_ignore_ascii_case(word))
        };
        Self {
            model: !says("disable-model-invocation", &["true", "yes", "on", "y", "1"]),
            people: !says("user-invocable", &["false", "no", "off", "n", "0"]),
        }
    }
}

/// One skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// The name its header gives, or that of its folder or file.
    pub name: String,
    /// When to use it, as its header says.
    pub description: Option<String>,
    /// The modes in which it is offered; empty for all.
    pub modes: Vec<ToolMode>,
    /// Who may ask for it.
    pub invocation: Invocation,
    /// The text after the header.
    pub body: SourceFile,
    /// The root it was found in, as the settings name it.
    pub root: String,
    /// The folder of the files it brings along; `None` for a single file.
    pub dir: Option<String>,
    /// The blake3 digest of the file's bytes as they lie on disk: what an approval is for.
    pub digest: [u8; 32],
    /// Why its header could not be read as YAML; what could be read of it line by line is used.
    pub broken_header: Option<HeaderNote>,
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
    /// A skill of a name that differs only in case was preferred.
    #[error(
        "{path}: skill `{}` differs only in case from `{}` in {by}, which is used instead",
        .name.escape_debug(), .other.escape_debug()
    )]
    CaseClash {
        /// The name.
        name: String,
        /// The file that was passed over.
        path: String,
        /// The name of the skill that won.
        other: String,
        /// The file that won.
        by: String,
    },
    /// A root outside the workspace that the person did not allow.
    #[error(
        "foreword.toml: skipped the skills in `{}`: {} is outside the workspace; run `foreword trust` \
         to allow it, or add it to `roots` under [skills] in your settings.toml",
        .root.escape_debug(), .directory.escape_debug()
    )]
    RootNotAllowed {
        /// The root as it is configured.
        root: String,
        /// Where it really is.
        directory: String,
    },
    /// The file or the root cannot be read.
    #[error(transparent)]
    Unreadable(#[from] WorkspaceError),
    /// There is more text in the skills than is held at once.
    #[error("{path}: skipped: the skills before it already total {MAX_SKILL_BYTES} bytes")]
    OverTotal {
        /// The file that was passed over.
        path: String,
    },
}

impl Workspace {
    /// All skills: the workspace's own, then those of the further roots in their order.
    ///
    /// Of two skills of one name the first wins; within a root, a folder wins over a file. Names
    /// that differ only in case are one name, and within a root the one in lower case wins. What is
    /// hidden or cannot be read is a problem to report, not a reason to have no skills at all. Not every
    /// one may be offered to a model: see [`Skill::invocation`].
    pub fn skills(&self) -> Result<SkillScan, WorkspaceError> {
        let scan = self.scan_skills(|_, _| None, Skill::read, |_, _, skill| skill)?;
        Ok(SkillScan { skills: scan.found, problems: scan.problems })
    }

    /// The folder of a skill in the workspace, if there is more in it than the skill itself.
    #[must_use]
    pub fn files_beside(&self, skill: &Skill) -> Option<String> {
        let folder = skill.dir.as_ref().filter(|folder| !folder.starts_with('/'))?;
        let own = skill.body.path.strip_prefix(folder.as_str())?.strip_prefix('/')?;
        let entries = self.files.list(folder, MAX_DIRECTORY_ENTRIES).ok()??;
        let is_other = |name: &str| name != own && !name.starts_with('.');
        entries.iter().any(|entry| is_other(&entry.name)).then(|| folder.clone())
    }
}

impl Skill {
    pub(crate) fn read(candidate: &Candidate, bytes: Vec<u8>) -> Result<Self, WorkspaceError> {
        let digest = blake3::hash(&bytes).into();
        let path = candidate.path.clone();
        let text = decode(bytes, &path)?;
        // A header that never ends is text: what a skill says matters more than its form.
        let whole = HeaderSplit { header: None, body: &text, body_first_line: 1 };
        let (split, unclosed) = match split_header(&text) {
            Ok(split) => (split, None),
            Err(fault) => (whole, Some(HeaderNote { line: 1, message: fault.to_string() })),
        };
        let fields = split.header.map(|header| read_fields(header, 2)).unwrap_or_default();
        let text_of = |key| fields.text(key).map(str::to_owned);
        let name = text_of("name").filter(|name| name.chars().count() <= MAX_HEADER_NAME_CHARS);
        let (body, first_line) = (split.body.to_owned(), split.body_first_line);
        Ok(Self {
            name: name.unwrap_or_else(|| candidate.own_name().to_owned()),
            description: text_of("description"),
            modes: modes(&fields),
            invocation: Invocation::of(&fields),
            body: SourceFile { path, text: body, first_line },
            root: candidate.configured.to_string(),
            dir: candidate.dir(),
            digest,
            broken_header: unclosed
                .or_else(|| fields.faults.into_iter().last().filter(|_| fields.broken)),
        })
    }
}

/// The text of a skill's file without its header.
#[must_use]
pub fn skill_body(text: &str) -> &str {
    split_header(text).map_or(text, |split| split.body)
}

/// `modes` of the header, or of its `metadata`: a list, or names in a row. What is no mode of ours is
/// another client's word and limits nothing.
fn modes(fields: &Fields) -> Vec<ToolMode> {
    let in_metadata = || match &fields.get("metadata")?.value {
        Value::Map(entries) => entries.iter().find(|(key, _)| key == "modes").map(|(_, v)| v),
        _ => None,
    };
    let names: Vec<&str> = match fields.get("modes").map(|field| &field.value).or_else(in_metadata)
    {
        Some(Value::Text(text)) => text.split([' ', ',']).collect(),
        Some(Value::List(items)) => items
            .iter()
            .filter_map(|item| match item {
                Value::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect(),
        _ => return Vec::new(),
    };
    let known = ToolMode::ALL.into_iter();
    known.filter(|mode| names.iter().any(|name| name.trim() == mode.as_str())).collect()
}

impl Found for Skill {
    fn name(&self) -> &str {
        &self.name
    }

    fn path(&self) -> &str {
        &self.body.path
    }

    fn root(&self) -> &str {
        &self.root
    }
}

#[cfg(test)]
#[path = "skills_tests.rs"]
mod tests;
