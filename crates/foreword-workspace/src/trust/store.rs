//! Which workspaces a person trusts, with files and settings as they were accepted.
//!
//! Trust is stored in the person's settings and never in a workspace, so that a downloaded workspace
//! cannot trust itself. It includes the texts of the files, so that a change can be shown as a diff.
//! `foreword.toml` is compared by its settings and not by its bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::config::sensitive::{Concern, SensitiveSettings, SettingChange};
use crate::config::{CONFIG_FILE, Config};
use crate::error::WorkspaceError;
use crate::governed::GovernedGroup;
use crate::governed::contents::{Digest, GovernedContents, GovernedFile};
use crate::own_file::{self, WorkspaceRecord};
use crate::read::SourceFile;
use crate::snapshot::UsedFile;
use crate::trust::Review;

/// Version 1 has no settings: `foreword.toml` was accepted as a file.
const FORMAT: u32 = 2;
/// More than the stored texts can ever take.
const MAX_FILE_BYTES: u64 = 128 << 20;
/// The start of a trust file, in which the path of its workspace is.
const START_BYTES: u64 = 16 << 10;
/// Trust files that are listed.
const MAX_LISTED: usize = 10_000;
/// The directory of trust files.
const DIRECTORY: &str = "trust";

/// The trust file of one workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustStore {
    workspace: PathBuf,
    file: PathBuf,
}

/// Whether the person trusts a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Never accepted.
    Unknown,
    /// Accepted and unchanged.
    Trusted,
    /// Accepted, but changed since.
    Changed(TrustChanges),
}

/// What differs from what was accepted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TrustChanges {
    /// Governed files and skills, by path.
    pub files: Vec<TrustChange>,
    /// Settings in `foreword.toml`, by key.
    pub settings: Vec<SettingChange>,
}

/// A governed file that differs from what was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustChange {
    /// The path in the workspace.
    pub path: String,
    /// What it is about.
    pub group: GovernedGroup,
    /// The accepted file; `None` if it is new.
    pub old: Option<GovernedFile>,
    /// The current file; `None` if it was deleted.
    pub new: Option<GovernedFile>,
}

/// What the person accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// The governed files.
    pub files: GovernedContents,
    /// The settings that give something away.
    pub settings: SensitiveSettings,
    /// The skills, by path.
    pub skills: BTreeMap<String, GovernedFile>,
}

/// A workspace that the person trusts, or trusted once.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TrustedWorkspace {
    /// The real path of the workspace.
    pub path: PathBuf,
    /// The trust file.
    pub file: PathBuf,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TrustRecord {
    format: u32,
    /// Where it is; near the start of the file, because workspaces inside others are looked up by it.
    workspace: String,
    files: GovernedContents,
    #[serde(default)]
    settings: Option<SensitiveSettings>,
    /// Absent in records of earlier versions, which did not cover skills.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    skills: BTreeMap<String, GovernedFile>,
}

/// Which files were imported and not accepted yet.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ImportNote {
    workspace: String,
    paths: BTreeSet<String>,
}

/// As little of a record as a list needs.
#[derive(Deserialize)]
struct RecordHead {
    workspace: PathBuf,
    #[serde(rename = "files")]
    _files: IgnoredAny,
}

impl TrustChanges {
    fn is_empty(&self) -> bool {
        self.files.is_empty() && self.settings.is_empty()
    }
}

impl TrustStore {
    /// Locates the trust file of a workspace. Reads nothing yet.
    pub fn open(config_dir: &Path, workspace: &Path) -> Result<Self, WorkspaceError> {
        let WorkspaceRecord { workspace, file } =
            WorkspaceRecord::locate(config_dir, DIRECTORY, workspace)?;
        Ok(Self { workspace, file })
    }

    /// The workspaces with a trust file in a configuration directory, sorted. A file that cannot be
    /// read is left out: it trusts nothing.
    pub fn list(config_dir: &Path) -> Result<Vec<TrustedWorkspace>, WorkspaceError> {
        let directory = config_dir.join(DIRECTORY);
        let io = |source| WorkspaceError::Io { path: directory.display().to_string(), source };
        let entries = match fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(io(error)),
        };
        let mut found = Vec::new();
        for entry in entries.take(MAX_LISTED) {
            let file = entry.map_err(io)?.path();
            if file.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let Ok(Some(text)) = own_file::read_text(&file, MAX_FILE_BYTES) else { continue };
            let Ok(head) = serde_json::from_str::<RecordHead>(&text) else { continue };
            found.push(TrustedWorkspace { path: head.workspace, file });
        }
        found.sort();
        Ok(found)
    }

    /// Forgets that the person accepted a workspace that no longer exists; `false` if they never did. Its
    /// path is compared as it was then.
    pub fn revoke_missing(config_dir: &Path, workspace: &Path) -> Result<bool, WorkspaceError> {
        let known = Self::list(config_dir)?.into_iter().find(|known| known.path == workspace);
        let Some(TrustedWorkspace { path: workspace, file }) = known else { return Ok(false) };
        Self { workspace, file }.revoke()
    }

    /// The trust file, whether it exists or not.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Compares what there is now with what was accepted.
    pub fn standing(&self, now: &Review) -> Result<Standing, WorkspaceError> {
        let Some(before) = self.accepted()? else { return Ok(Standing::Unknown) };
        let changes = now.files.changes_since(&before.files);
        let mut paths = [changes.added, changes.changed, changes.removed].concat();
        paths.retain(|path| path != CONFIG_FILE);
        paths.sort();
        let change = |path: String| {
            let (old, new) =
                (before.files.files.get(&path).cloned(), now.files.files.get(&path).cloned());
            let group = new.as_ref().or(old.as_ref()).map(|file| file.group)?;
            Some(TrustChange { path, group, old, new })
        };
        let mut settings = now.settings.changes_since(&before.settings);
        // What the person's own settings allow now, they need not accept.
        settings.retain(|change| !now.allowed.0.contains_key(&change.key));
        let files = paths.into_iter().filter_map(change);
        let files = files.chain(skill_changes(&before.skills, &now.skills)).collect();
        let changes = TrustChanges { files, settings };
        Ok(if changes.is_empty() { Standing::Trusted } else { Standing::Changed(changes) })
    }

    /// Stores that the person accepted this as it was shown, not as it is now. What was accepted for
    /// another working directory stays accepted.
    pub fn accept(&self, shown: &Review) -> Result<(), WorkspaceError> {
        let _lock = self.lock()?;
        let files = match self.accepted() {
            Ok(Some(before)) => shown.files.clone().with_others_of(&before.files),
            // One that cannot be read is replaced.
            _ => shown.files.clone(),
        };
        self.keep(files, shown.settings.clone(), shown.skills.clone())?;
        match fs::remove_file(self.import_note()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.not_written(error)),
            _ => Ok(()),
        }
    }

    /// Those of these skills, by path and digest, that the person did not accept.
    pub fn unaccepted_skills(
        &self,
        used: &BTreeMap<String, Digest>,
    ) -> Result<Vec<String>, WorkspaceError> {
        if used.is_empty() {
            return Ok(Vec::new());
        }
        let accepted = self.accepted()?.map(|accepted| accepted.skills).unwrap_or_default();
        let is_new = |path: &str, digest: &Digest| {
            accepted.get(path).is_none_or(|skill| skill.digest != *digest)
        };
        Ok(used.iter().filter(|(p, d)| is_new(p, d)).map(|(path, _)| path.clone()).collect())
    }

    /// Those of these files whose bytes the person did not accept. `foreword.toml` is compared by its
    /// settings and is not among them.
    pub fn unaccepted(&self, used: &BTreeSet<UsedFile>) -> Result<Vec<String>, WorkspaceError> {
        let accepted = self.accepted()?.map(|accepted| accepted.files).unwrap_or_default();
        let same = |used: &UsedFile| {
            used.path == CONFIG_FILE
                || accepted.files.get(&used.path).is_some_and(|file| file.digest == used.digest)
        };
        let mut paths: Vec<String> =
            used.iter().filter(|used| !same(used)).map(|used| used.path.clone()).collect();
        paths.dedup();
        Ok(paths)
    }

    /// The workspaces inside a directory that the person trusts, or trusted once. Reads the start of
    /// each trust file only, because it is asked before every turn.
    #[must_use]
    pub fn workspaces_inside(config_dir: &Path, root: &Path) -> Vec<PathBuf> {
        let files = fs::read_dir(config_dir.join(DIRECTORY)).into_iter().flatten().flatten();
        let named = files.take(MAX_LISTED).filter_map(|entry| {
            let mut start = Vec::new();
            File::open(entry.path()).ok()?.take(START_BYTES).read_to_end(&mut start).ok()?;
            let start = String::from_utf8_lossy(&start);
            let (_, rest) = start.split_once("\"workspace\":")?;
            let mut values = serde_json::Deserializer::from_str(rest).into_iter::<String>();
            values.next()?.ok().map(PathBuf::from)
        });
        named.filter(|workspace| workspace.starts_with(root) && workspace != root).collect()
    }

    /// Accepts only some files, for a change that the host made because a person approved it. Does
    /// nothing in a workspace that was never accepted.
    pub fn accept_only(
        &self,
        shown: &GovernedContents,
        paths: &[&str],
    ) -> Result<(), WorkspaceError> {
        let _lock = self.lock()?;
        let Some(Accepted { mut files, settings, skills }) = self.accepted()? else {
            return Ok(());
        };
        for path in paths {
            match shown.files.get(*path) {
                Some(file) => files.files.insert((*path).to_owned(), file.clone()),
                None => files.files.remove(*path),
            };
        }
        self.keep(files, settings, skills)
    }

    /// Notes that files were imported which the person has not accepted. Until they do, these do not speak
    /// with authority.
    pub fn note_import(&self, paths: &BTreeSet<String>) -> Result<(), WorkspaceError> {
        let _lock = self.lock()?;
        let paths = paths.union(&self.untrusted_imports()?).cloned().collect();
        let note = ImportNote { workspace: self.workspace.display().to_string(), paths };
        let bytes = serde_json::to_vec(&note).map_err(|error| self.not_written(error.into()))?;
        own_file::replace(&self.import_note(), &bytes).map_err(|error| self.not_written(error))
    }

    /// The imported files that wait for the person to accept them, by path in the workspace.
    pub fn untrusted_imports(&self) -> Result<BTreeSet<String>, WorkspaceError> {
        let file = self.import_note();
        let bad =
            |reason: String| WorkspaceError::BadTrust { path: file.display().to_string(), reason };
        let Some(text) = own_file::read_text(&file, MAX_FILE_BYTES)? else {
            return Ok(BTreeSet::new());
        };
        let note: ImportNote =
            serde_json::from_str(&text).map_err(|error| bad(format!("is damaged: {error}")))?;
        Ok(note.paths)
    }

    fn import_note(&self) -> PathBuf {
        self.file.with_extension("imported")
    }

    /// Forgets that the person accepted the workspace; `false` if they never did.
    pub fn revoke(&self) -> Result<bool, WorkspaceError> {
        let _lock = self.lock()?;
        match fs::remove_file(&self.file) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.not_written(error)),
        }
    }

    /// What was accepted; `None` if the workspace never was. Fails if other users could have written
    /// the file.
    pub fn accepted(&self) -> Result<Option<Accepted>, WorkspaceError> {
        let text =
            own_file::read_text(&self.file, MAX_FILE_BYTES).map_err(|error| match error {
                WorkspaceError::Io { .. } => error,
                WorkspaceError::NotYours { reason, .. } => self.bad(reason.to_owned()),
                error => self.bad(format!("cannot be used ({error})")),
            })?;
        let Some(text) = text else { return Ok(None) };
        let record: TrustRecord = serde_json::from_str(&text)
            .map_err(|error| self.bad(format!("is damaged: {error}")))?;
        let settings = match (record.format, record.settings) {
            (1, None) => settings_of_version_1(&record.files),
            (FORMAT, Some(settings)) => settings,
            (1 | FORMAT, _) => return Err(self.bad("is damaged: settings".to_owned())),
            (format, _) => {
                return Err(self.bad(format!("has format {format}, expected {FORMAT}")));
            }
        };
        Ok(Some(Accepted { files: record.files, settings, skills: record.skills }))
    }

    /// Keeps two processes that accept at the same time from undoing each other's changes.
    fn lock(&self) -> Result<File, WorkspaceError> {
        let directory = self.file.parent().unwrap_or(Path::new("."));
        own_file::make_directory(directory).map_err(|error| self.not_written(error))?;
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let lock = options.open(directory.join("lock")).map_err(|error| self.not_written(error))?;
        lock.lock().map_err(|error| self.not_written(error))?;
        Ok(lock)
    }

    fn keep(
        &self,
        files: GovernedContents,
        settings: SensitiveSettings,
        skills: BTreeMap<String, GovernedFile>,
    ) -> Result<(), WorkspaceError> {
        let workspace = self.workspace.display().to_string();
        let record =
            TrustRecord { format: FORMAT, workspace, files, settings: Some(settings), skills };
        let bytes = serde_json::to_vec(&record).map_err(|error| self.not_written(error.into()))?;
        own_file::replace(&self.file, &bytes).map_err(|error| self.not_written(error))
    }

    fn bad(&self, reason: String) -> WorkspaceError {
        WorkspaceError::BadTrust { path: self.file.display().to_string(), reason }
    }

    fn not_written(&self, source: io::Error) -> WorkspaceError {
        WorkspaceError::NotMade { path: self.file.display().to_string(), source }
    }
}

/// Skills that are new or changed. One that is gone instructs nobody.
fn skill_changes<'s>(
    before: &'s BTreeMap<String, GovernedFile>,
    now: &'s BTreeMap<String, GovernedFile>,
) -> impl Iterator<Item = TrustChange> + 's {
    let is_new = |path: &str, skill: &GovernedFile| {
        before.get(path).is_none_or(|known| known.digest != skill.digest)
    };
    now.iter().filter(move |(path, skill)| is_new(path, skill)).map(|(path, skill)| TrustChange {
        path: path.clone(),
        group: skill.group,
        old: before.get(path).cloned(),
        new: Some(skill.clone()),
    })
}

/// The settings that a person accepted when only the name of `foreword.toml`, the model's server and the
/// hosts of `web_fetch` were shown. What was not shown was not accepted.
fn settings_of_version_1(files: &GovernedContents) -> SensitiveSettings {
    let text = files.files.get(CONFIG_FILE).and_then(|file| file.text.clone());
    let Some(text) = text else { return SensitiveSettings::default() };
    let file = SourceFile { path: CONFIG_FILE.into(), text, first_line: 1 };
    let mut settings = Config::parse(&file).map(|config| config.sensitive()).unwrap_or_default();
    settings.0.retain(|key, value| {
        matches!(Concern::of(key, value), None | Some(Concern::ModelServer | Concern::WebHosts))
    });
    settings
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
