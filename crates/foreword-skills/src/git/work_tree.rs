//! The directory of skills as the store sees it: every touch of a file goes through a directory
//! handle that cannot be left, and a link on the way is refused.

use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};

use crate::error::SkillError;
use foreword_store::FileChange;

/// Files one skill may bring along, and how deep they may lie.
pub(crate) const MOST_FILES: usize = 200;
pub(crate) const DEEPEST: usize = 8;
/// Bytes of one file, and of all files of one skill.
pub(crate) const MAX_FILE_BYTES: u64 = 1 << 20;
pub(crate) const LARGEST_SKILL: u64 = 8 << 20;

/// A file as it lies on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DiskFile {
    pub(crate) content: Vec<u8>,
    pub(crate) executable: bool,
}

/// A directory of skills.
pub(crate) struct WorkTree {
    dir: Dir,
    /// What is put in front of a path to show it to a person.
    shown: String,
}

impl WorkTree {
    /// Opens the directory `path` below `root`, making it where it is not there yet.
    pub(crate) fn open_or_create(root: &Path, path: &str) -> Result<Self, SkillError> {
        let whole = root.join(path);
        let top = Dir::open_ambient_dir(root, ambient_authority())
            .map_err(|source| SkillError::io(root, source))?;
        let clean = path.trim_end_matches('/').trim_start_matches("./");
        if let Err(source) = top.create_dir_all(clean)
            && source.kind() != io::ErrorKind::AlreadyExists
        {
            return Err(SkillError::io(&whole, source));
        }
        let dir = top.open_dir(clean).map_err(|source| SkillError::io(&whole, source))?;
        Ok(Self { dir, shown: format!("{clean}/") })
    }

    /// Opens a directory that a person named, wherever it lies.
    pub(crate) fn open(path: &Path) -> Result<Self, SkillError> {
        let dir = Dir::open_ambient_dir(path, ambient_authority())
            .map_err(|source| SkillError::io(path, source))?;
        Ok(Self { dir, shown: format!("{}/", path.display().to_string().trim_end_matches('/')) })
    }

    /// How a path is shown to a person.
    pub(crate) fn show(&self, path: &str) -> String {
        format!("{}{path}", self.shown)
    }

    /// Reads a file; `None` if nothing is there.
    pub(crate) fn read(&self, path: &str) -> Result<Option<DiskFile>, SkillError> {
        if !self.plain(path)? {
            return Ok(None);
        }
        let io = |source| SkillError::io(Path::new(&self.show(path)), source);
        let meta = self.dir.symlink_metadata(path).map_err(io)?;
        if !meta.is_file() {
            return Err(SkillError::NotAFile { path: self.show(path) });
        }
        if meta.len() > MAX_FILE_BYTES {
            return Err(SkillError::TooLarge { path: self.show(path), limit: MAX_FILE_BYTES });
        }
        let mut content = Vec::new();
        let file = self.dir.open(path).map_err(io)?;
        file.take(MAX_FILE_BYTES + 1).read_to_end(&mut content).map_err(io)?;
        if u64::try_from(content.len()).unwrap_or(u64::MAX) > MAX_FILE_BYTES {
            return Err(SkillError::TooLarge { path: self.show(path), limit: MAX_FILE_BYTES });
        }
        Ok(Some(DiskFile { content, executable: is_executable(&meta) }))
    }

    /// Makes the disk agree with a change: a file is written beside its place and moved there.
    pub(crate) fn apply(&self, change: &FileChange) -> Result<(), SkillError> {
        match &change.content {
            Some(content) => self.write(&change.path, content, change.executable),
            None => self.remove(&change.path),
        }
    }

    fn write(&self, path: &str, content: &[u8], executable: bool) -> Result<(), SkillError> {
        let shown = self.show(path);
        let io = |source| SkillError::io(Path::new(&shown), source);
        self.plain(path)?;
        let parent = path.rsplit_once('/').map(|(parent, _)| parent);
        if let Some(parent) = parent {
            self.dir.create_dir_all(parent).map_err(io)?;
        }
        let beside = match path.rsplit_once('/') {
            Some((parent, name)) => format!("{parent}/.{name}.foreword"),
            None => format!(".{path}.foreword"),
        };
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        {
            use cap_std::fs::OpenOptionsExt as _;
            options.mode(if executable { 0o755 } else { 0o644 });
        }
        #[cfg(not(unix))]
        let _ = executable;
        let written = self.dir.open_with(&beside, &options).and_then(|mut file| {
            file.write_all(content)?;
            file.sync_all()
        });
        if let Err(source) = written.and_then(|()| self.dir.rename(&beside, &self.dir, path)) {
            let _ = self.dir.remove_file(&beside);
            return Err(io(source));
        }
        self.sync_names(path).map_err(io)
    }

    /// Takes a file away, and the folders that it leaves empty.
    fn remove(&self, path: &str) -> Result<(), SkillError> {
        if !self.plain(path)? {
            return Ok(());
        }
        let io = |source| SkillError::io(Path::new(&self.show(path)), source);
        self.dir.remove_file(path).map_err(io)?;
        let mut rest = path;
        while let Some((parent, _)) = rest.rsplit_once('/') {
            if self.dir.remove_dir(parent).is_err() {
                break;
            }
            rest = parent;
        }
        self.sync_names(path).map_err(io)
    }

    /// Puts the names on the way to a file on the disk itself: a file that a loss of power takes away,
    /// or brings back, would look like a person's edit.
    fn sync_names(&self, path: &str) -> io::Result<()> {
        if cfg!(not(unix)) {
            return Ok(()); // Folders cannot be opened as files there.
        }
        let parents = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
        for parent in parents.chain(["."]) {
            // Opened as files: the handles of directories are made for going through them only.
            match self.dir.open(parent) {
                Ok(folder) => folder.sync_all()?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The names at the top, sorted.
    pub(crate) fn names(&self) -> Result<Vec<String>, SkillError> {
        let io = |source| SkillError::io(Path::new(&self.shown), source);
        let mut names = Vec::new();
        for entry in self.dir.entries().map_err(io)? {
            names.push(entry.map_err(io)?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }

    /// All files of a folder, or the one file of this path, by path; hidden ones are left out.
    pub(crate) fn files(&self, top: &str) -> Result<BTreeMap<String, DiskFile>, SkillError> {
        let mut files = BTreeMap::new();
        let mut bytes = 0;
        if self.plain(top)? {
            self.collect(top, 0, &mut files, &mut bytes)?;
        }
        Ok(files)
    }

    fn collect(
        &self,
        path: &str,
        depth: usize,
        files: &mut BTreeMap<String, DiskFile>,
        bytes: &mut u64,
    ) -> Result<(), SkillError> {
        let io = |source| SkillError::io(Path::new(&self.show(path)), source);
        let meta = self.dir.symlink_metadata(path).map_err(io)?;
        if meta.is_symlink() {
            return Err(SkillError::Link { path: self.show(path) });
        }
        if !meta.is_dir() {
            let Some(file) = self.read(path)? else { return Ok(()) };
            *bytes += u64::try_from(file.content.len()).unwrap_or(u64::MAX);
            if *bytes > LARGEST_SKILL {
                return Err(SkillError::TooLarge { path: self.show(path), limit: LARGEST_SKILL });
            }
            files.insert(path.to_owned(), file);
            if files.len() > MOST_FILES {
                return Err(SkillError::TooManyFiles { path: self.show(path), limit: MOST_FILES });
            }
            return Ok(());
        }
        if depth >= DEEPEST {
            return Err(SkillError::TooManyFiles { path: self.show(path), limit: MOST_FILES });
        }
        let mut names: Vec<String> = Vec::new();
        for entry in self.dir.read_dir(path).map_err(io)? {
            let name = entry.map_err(io)?.file_name();
            let name = name.to_str().ok_or_else(|| SkillError::NotAFile {
                path: self.show(&format!("{path}/{}", name.to_string_lossy())),
            })?;
            if !name.starts_with('.') {
                names.push(name.to_owned());
            }
            if names.len() > MOST_FILES {
                return Err(SkillError::TooManyFiles { path: self.show(path), limit: MOST_FILES });
            }
        }
        names.sort();
        for name in names {
            self.collect(&format!("{path}/{name}"), depth + 1, files, bytes)?;
        }
        Ok(())
    }

    /// Whether something is at a path. A link anywhere on the way is refused: what it leads to may
    /// change, and is not what was reviewed.
    fn plain(&self, path: &str) -> Result<bool, SkillError> {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        for end in ends {
            let part = path.get(..end).unwrap_or(path);
            match self.dir.symlink_metadata(part) {
                Ok(meta) if meta.is_symlink() => {
                    return Err(SkillError::Link { path: self.show(part) });
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(false),
                Err(source) => return Err(SkillError::io(Path::new(&self.show(part)), source)),
            }
        }
        Ok(true)
    }
}

#[cfg(unix)]
fn is_executable(meta: &cap_std::fs::Metadata) -> bool {
    use cap_std::fs::MetadataExt as _;
    meta.mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &cap_std::fs::Metadata) -> bool {
    false
}

#[cfg(test)]
#[path = "work_tree_tests.rs"]
mod tests;
