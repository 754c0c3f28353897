//! The list of skills, fast enough to ask for at every turn.
//!
//! A list looks at every file and opens only those it does not know. What it knows is in a cache on
//! disk, which is no more than that: without it, with a damaged one, or where it cannot be written,
//! the list is the same and takes longer.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use foreword_workspace::{Invocation, SkillHead, SkillProblem, Workspace, WorkspaceError};
use serde::{Deserialize, Serialize};

use crate::listing_cache::Cache;

/// Where the cache of a workspace lies, below its private directory.
pub const LIST_CACHE: &str = "cache/skills";

/// What a store says of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SkillMeta {
    /// The name its header gives, or that of its folder or file.
    pub name: String,
    /// When to use it, if its header says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its file, relative to the workspace, with forward slashes.
    pub path: String,
}

/// A skill in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedSkill {
    /// What the list shows.
    pub meta: SkillMeta,
    /// The root it was found in, as the settings name it.
    pub root: Arc<str>,
    /// The folder of the files it brings along; `None` for a single file.
    pub dir: Option<String>,
    /// Who may ask for it.
    pub invocation: Invocation,
    /// The blake3 digest of the file's bytes as they lie on disk.
    pub digest: [u8; 32],
    /// The size of the file in bytes.
    pub size: u64,
}

/// All skills of a workspace, and what was passed over.
#[derive(Debug, Default)]
pub struct Listing {
    /// Sorted by name; no name twice.
    pub skills: Vec<ListedSkill>,
    /// In the order in which they were met.
    pub problems: Vec<SkillProblem>,
}

/// Lists the skills of a workspace: the same as [`Workspace::skills`] finds.
///
/// `cache` is the file to remember them in, usually [`LIST_CACHE`] in the private directory; its
/// directory is created if the one above exists. `now` is the time before the call: a file that was
/// changed just then is not remembered, since it could change again without its stamp changing.
pub fn list(
    workspace: &Workspace,
    cache: Option<&Path>,
    now: SystemTime,
) -> Result<Listing, WorkspaceError> {
    let bytes = cache.and_then(Cache::read).unwrap_or_default();
    let known = Cache::parse(&bytes).unwrap_or_default();
    let scan = workspace.skill_heads(&known)?;
    if let Some(path) = cache {
        let heads = || scan.heads.iter().chain(&scan.hidden);
        known.update(path, heads, now);
    }
    Ok(Listing {
        skills: scan.heads.into_iter().map(ListedSkill::from).collect(),
        problems: scan.problems,
    })
}

impl From<SkillHead> for ListedSkill {
    fn from(head: SkillHead) -> Self {
        let SkillHead { name, description, path, root, dir, invocation, digest, stamp } = head;
        let meta = SkillMeta { name, description, path };
        Self { meta, root, dir, invocation, digest, size: stamp.size }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::time::Duration;

    #[test]
    fn a_warm_list_opens_no_file_it_knows() {
        let scratch = tempfile::tempdir().unwrap();
        let skills = scratch.path().join("skills");
        fs::create_dir(&skills).unwrap();
        for (name, text) in [("a", "A"), ("b", "---\nname: a\n---\n"), ("c", "\u{e9}\0")] {
            fs::write(skills.join(format!("{name}.md")), text).unwrap();
        }
        let cache = scratch.path().join("cache");
        let workspace = Workspace::open(scratch.path()).unwrap();
        let later = SystemTime::now() + Duration::from_secs(10);
        list(&workspace, Some(&cache), later).unwrap();
        let written = fs::metadata(&cache).unwrap().modified().unwrap();

        let bytes = Cache::read(&cache).unwrap();
        let known = Cache::parse(&bytes).unwrap();
        // Only the one that cannot be read is tried again; the hidden one is known too.
        assert_eq!(workspace.skill_heads(&known).unwrap().read, 1);
        assert_eq!(workspace.skill_heads(&()).unwrap().read, 3);

        list(&workspace, Some(&cache), later).unwrap();
        assert_eq!(fs::metadata(&cache).unwrap().modified().unwrap(), written);
    }
}
