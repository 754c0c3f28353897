//! Where a database lies. A workspace from elsewhere may bring a link in its place, so none is followed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::StoreError;

/// What SQLite keeps beside a database.
pub(crate) const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// The path of a database with the links of its directory resolved. The file itself and the files
/// beside it must be regular files, if they are there.
pub(crate) fn locate(database: &Path) -> Result<PathBuf, StoreError> {
    let directory = match database.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => directory,
        _ => Path::new("."),
    };
    let directory =
        directory.canonicalize().map_err(|error| StoreError::io("open", database, error))?;
    let path = directory.join(database.file_name().unwrap_or_default());
    check_regular(&path)?;
    for end in BESIDE {
        let mut beside = path.clone().into_os_string();
        beside.push(end);
        check_regular(Path::new(&beside))?;
    }
    Ok(path)
}

fn check_regular(path: &Path) -> Result<(), StoreError> {
    match fs::symlink_metadata(path) {
        // A directory is refused where the first bytes are looked at.
        Ok(meta) if meta.is_file() || meta.is_dir() => Ok(()),
        Ok(meta) => {
            let kind = if meta.is_symlink() { "a link" } else { "not a regular file" };
            Err(StoreError::NotAFile { path: path.to_path_buf(), kind })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(StoreError::io("open", path, error)),
    }
}
