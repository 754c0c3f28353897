//! A workspace directory: the opened root, its settings, and the files by name.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::config::toml_text;
use crate::config::{CONFIG_FILE, Config};
use crate::error::{AskedBy, WorkspaceError};
use crate::private::PRIVATE_DIR;
use crate::read::{Root, SourceFile};
use crate::rel_path::RelPath;
use crate::snapshot::{Snapshot, UsedFile};
use crate::tools::{self, TOOLS_FILE, ToolEntry};
use foreword::nearest;

/// The settings say how large other files may be; this says how large they may be themselves.
const MAX_CONFIG_BYTES: u64 = 1 << 20;
/// Entries a directory of prompts or agents may have.
pub(crate) const MAX_DIRECTORY_ENTRIES: usize = 20_000;

/// An opened workspace. Files are read when they are asked for, and never kept.
#[derive(Debug, Clone)]
pub struct Workspace {
    given: PathBuf,
    pub(crate) files: Root,
    config: Config,
    config_file: Option<SourceFile>,
    /// Where the person's settings and trust are, if they are known.
    pub(crate) config_dir: Option<PathBuf>,
    /// Files that were imported, and that the person has not accepted yet.
    pub(crate) imported: BTreeSet<String>,
}

impl Workspace {
    /// Opens a workspace and reads its `foreword.toml`; one without it has the defaults.
    pub fn open(root: &Path) -> Result<Self, WorkspaceError> {
        let files = Root::open(root)?;
        // State and private layers of another place must not pass for those of this one.
        files.refuse_link(PRIVATE_DIR)?;
        let config_file = files.read(&RelPath::listed("", CONFIG_FILE), MAX_CONFIG_BYTES)?;
        let config = config_file.as_ref().map(Config::parse).transpose()?.unwrap_or_default();
        let given = root.to_path_buf();
        Ok(Self { given, files, config, config_file, config_dir: None, imported: BTreeSet::new() })
    }

    /// The directory, as it was given.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.given
    }

    /// The settings.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The place of a setting, to name as who asked for something: `&["limits", "max_file_chars"]`.
    #[must_use]
    pub fn config_asked_by(&self, key: &[&str]) -> AskedBy {
        let line = self.config_file.as_ref().map(|file| toml_text::line_of_key(&file.text, key));
        AskedBy { file: CONFIG_FILE.into(), line }
    }

    /// Everything that was looked at so far and what was there, to ask later whether it still is.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::of(&self.files.seen)
    }

    /// Every file that was read so far, with the bytes it had then. A file that changed meanwhile is
    /// here twice. Skills are not among them: each is approved by its own digest.
    #[must_use]
    pub fn used_files(&self) -> BTreeSet<UsedFile> {
        self.files.seen.used_files()
    }

    /// Reads a file of the workspace; `None` if it does not exist.
    pub fn file(&self, rel: &str) -> Result<Option<SourceFile>, WorkspaceError> {
        self.read(&check(rel, None)?)
    }

    /// Reads a file that something refers to.
    pub fn required_file(
        &self,
        rel: &str,
        asked_by: &AskedBy,
    ) -> Result<SourceFile, WorkspaceError> {
        let path = check(rel, Some(asked_by))?;
        match self.read(&path)? {
            Some(file) => Ok(file),
            None => Err(WorkspaceError::Missing {
                similar: self.similar(path.as_str()),
                path: path.as_str().to_owned(),
                asked_by: asked_by.clone(),
            }),
        }
    }

    /// Reads a blueprint of the workspace.
    pub fn blueprint_file(
        &self,
        rel: &str,
        asked_by: &AskedBy,
    ) -> Result<SourceFile, WorkspaceError> {
        self.required_file(rel, asked_by)
    }

    /// The tools of `tools.toml`, in its order; none if there is no such file.
    pub fn tools(&self) -> Result<Vec<ToolEntry>, WorkspaceError> {
        let file = self.read(&RelPath::listed("", TOOLS_FILE))?;
        file.as_ref().map_or_else(|| Ok(Vec::new()), tools::parse)
    }

    /// Where a configured root of skills really is, if that is outside the workspace.
    pub(crate) fn outside_root(&self, configured: &str) -> Option<PathBuf> {
        let root = self.files.further(configured).ok()?;
        let outside = !root.directory().starts_with(self.files.directory());
        outside.then(|| root.directory().to_path_buf())
    }

    pub(crate) fn read(&self, path: &RelPath) -> Result<Option<SourceFile>, WorkspaceError> {
        self.files.read(path, self.config.limits.max_file_bytes)
    }

    /// A file in the same directory of nearly the same name.
    fn similar(&self, path: &str) -> Option<String> {
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        let entries = self.files.list(directory, MAX_DIRECTORY_ENTRIES).ok()??;
        let near = nearest(name, entries.iter().map(|entry| entry.name.as_str()))?;
        Some(RelPath::listed(directory, near).as_str().to_owned())
    }
}

pub(crate) fn check(rel: &str, asked_by: Option<&AskedBy>) -> Result<RelPath, WorkspaceError> {
    RelPath::parse(rel).map_err(|reason| WorkspaceError::BadPath {
        given: rel.to_owned(),
        reason,
        asked_by: asked_by.cloned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scratch;

    #[test]
    fn an_empty_directory_has_the_defaults() {
        let scratch = Scratch::new(&[]);
        let workspace = scratch.open();
        assert_eq!(workspace.config(), &Config::default());
        assert_eq!(workspace.root(), scratch.path());
        assert_eq!(workspace.file("SOUL.md").unwrap(), None);
        assert!(workspace.tools().unwrap().is_empty());
        assert!(workspace.agents().unwrap().is_empty());
        assert!(workspace.skills().unwrap().skills.is_empty());
        assert_eq!(workspace.config_asked_by(&["agent"]).to_string(), "foreword.toml");
    }

    #[test]
    fn a_directory_that_does_not_exist_says_so() {
        let scratch = Scratch::new(&[]);
        let error = Workspace::open(&scratch.path().join("gone")).unwrap_err();
        assert!(error.to_string().ends_with("gone: directory not found"));
    }

    #[test]
    fn wrong_settings_keep_a_workspace_closed() {
        let scratch = Scratch::new(&[("foreword.toml", "\nprofil = 'yolo'\n")]);
        let error = Workspace::open(scratch.path()).unwrap_err();
        assert_eq!(error.to_string(), "foreword.toml:2: unknown key `profil`");
        assert_eq!(error.hint(), "did you mean `profile`?");
    }

    #[test]
    fn the_settings_bound_what_is_read() {
        let scratch = Scratch::new(&[
            ("foreword.toml", "agent = 'x'\n[limits]\nmax_file_bytes = 3\n"),
            ("SOUL.md", "four"),
        ]);
        let workspace = scratch.open();
        assert_eq!(
            workspace.file("SOUL.md").unwrap_err().to_string(),
            "SOUL.md: is 4 bytes long, more than the limit of 3"
        );
        let asked_by = workspace.config_asked_by(&["limits", "max_file_bytes"]);
        assert_eq!(asked_by.to_string(), "foreword.toml:3");
    }

    #[test]
    fn a_required_file_names_who_asked_and_what_was_meant() {
        let scratch = Scratch::new(&[("blueprints/mine.toml", "name = 'mine'")]);
        let workspace = scratch.open();
        let asked_by = AskedBy::new("foreword.toml", 1);
        let error = workspace.blueprint_file("blueprints/mime.toml", &asked_by).unwrap_err();
        assert_eq!(
            error.to_string(),
            "blueprints/mime.toml: file not found; foreword.toml:1 refers to it"
        );
        assert_eq!(
            error.hint(),
            "did you mean blueprints/mine.toml? Otherwise create blueprints/mime.toml"
        );
        let file = workspace.blueprint_file("./blueprints/mine.toml", &asked_by).unwrap();
        assert_eq!(file.path, "blueprints/mine.toml");
        let error = workspace.required_file("../x", &asked_by).unwrap_err();
        assert_eq!(
            error.to_string(),
            "foreword.toml:1: `../x` cannot be used as a path here: it climbs out with `..`"
        );
    }

    #[test]
    fn tools_are_read_from_their_file() {
        let scratch = Scratch::new(&[("tools.toml", "[[tool]]\nname = 'read'\n")]);
        assert_eq!(scratch.open().tools().unwrap()[0].name, "read");
    }
}
