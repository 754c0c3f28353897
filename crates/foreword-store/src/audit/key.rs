//! The audit key: a secret of the user's, kept outside every workspace.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};

use crate::audit::chain::{Hash, from_hex, to_hex};
use crate::error::StoreError;

/// The name of the key file in the configuration directory.
const FILE: &str = "audit.key";
/// What a key file begins with.
const MARK: &str = "foreword-audit-key-1 ";
/// The most bytes that are read of a file that should hold a key.
const MAX_BYTES: u64 = 256;

/// The secret with which the links of the audit chain are made.
///
/// Keys for separate uses are derived from it, so that what is made for one use cannot stand in
/// for another. It is never printed.
#[derive(Clone)]
pub struct AuditKey {
    entry: [u8; 32],
    check: [u8; 32],
    head: [u8; 32],
    approval: [u8; 32],
    row: [u8; 32],
    canary: [u8; 32],
}

impl fmt::Debug for AuditKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AuditKey(…)")
    }
}

impl AuditKey {
    /// A key made of these bytes.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self {
            entry: blake3::derive_key("foreword 2026 audit entry", &bytes),
            check: blake3::derive_key("foreword 2026 audit log identity", &bytes),
            head: blake3::derive_key("foreword 2026 audit head", &bytes),
            approval: blake3::derive_key("foreword 2026 approval", &bytes),
            row: blake3::derive_key("foreword 2026 row", &bytes),
            canary: blake3::derive_key("foreword 2026 canary", &bytes),
        }
    }

    /// Seals an approval: without the key, a skill cannot pass for approved.
    #[must_use]
    pub fn seal(&self, approval: &[u8]) -> Hash {
        Hash(*blake3::keyed_hash(&self.approval, approval).as_bytes())
    }

    /// Where the key of this configuration directory lies.
    #[must_use]
    pub fn path(config_dir: &Path) -> PathBuf {
        config_dir.join(FILE)
    }

    /// The key of this configuration directory.
    pub fn load(config_dir: &Path) -> Result<Self, StoreError> {
        read_key(&Self::path(config_dir))?
            .ok_or_else(|| StoreError::NoKey { path: Self::path(config_dir) })
    }

    /// The key of this configuration directory, made if there is none.
    ///
    /// Processes that do this at the same time end with the same key.
    pub fn load_or_create(config_dir: &Path) -> Result<Self, StoreError> {
        let path = Self::path(config_dir);
        if let Some(key) = read_key(&path)? {
            return Ok(key);
        }
        create_private_dir(config_dir)?;
        create_key(config_dir, &path)?;
        Self::load(config_dir)
    }

    /// Seals a row of the database.
    pub(crate) fn row_seal(&self, bytes: &[u8]) -> Hash {
        Hash(*blake3::keyed_hash(&self.row, bytes).as_bytes())
    }

    /// The bytes of a canary, which nobody without the key can guess.
    pub(crate) fn canary_bytes(&self, log: &[u8; 16], removed: u64, name: &str) -> [u8; 16] {
        let mut hasher = blake3::Hasher::new_keyed(&self.canary);
        hasher.update(log).update(&removed.to_le_bytes()).update(name.as_bytes());
        let mut bytes = [0; 16];
        hasher.finalize_xof().fill(&mut bytes);
        bytes
    }

    pub(crate) fn entry_hash(&self, bytes: &[u8]) -> Hash {
        Hash(*blake3::keyed_hash(&self.entry, bytes).as_bytes())
    }

    pub(crate) fn check_hash(&self, purpose: &[u8], bytes: &[u8]) -> Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.check);
        hasher.update(purpose).update(bytes);
        Hash(*hasher.finalize().as_bytes())
    }

    /// The seal of a head file. Compared in constant time, being a `blake3::Hash`.
    pub(crate) fn head_seal(&self, bytes: &[u8]) -> blake3::Hash {
        blake3::keyed_hash(&self.head, bytes)
    }
}

/// Refuses a configuration directory inside the workspace, where an agent could read the key.
///
/// Neither has to exist yet: links are followed as far as there are files.
pub fn check_outside_workspace(config_dir: &Path, workspace: &Path) -> Result<(), StoreError> {
    let directory = resolve(config_dir)?;
    let root = resolve(workspace)?;
    if directory.starts_with(&root) {
        return Err(StoreError::KeyInsideWorkspace { directory, workspace: root });
    }
    Ok(())
}

/// The path with links followed as far as it exists.
fn resolve(path: &Path) -> Result<PathBuf, StoreError> {
    let failed = |error| StoreError::io("find", path, error);
    let absolute = std::path::absolute(path).map_err(failed)?;
    let mut existing = absolute.components();
    let mut missing = Vec::new();
    let mut resolved = loop {
        match existing.as_path().canonicalize() {
            Ok(found) => break found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                missing.push(existing.next_back().ok_or_else(|| failed(error))?);
            }
            Err(error) => return Err(failed(error)),
        }
    };
    // What does not exist is no link, so that `..` leads back from it.
    for component in missing.into_iter().rev() {
        match component {
            Component::ParentDir => drop(resolved.pop()),
            other => resolved.push(other),
        }
    }
    Ok(resolved)
}

/// Makes a directory that only its owner can look into, if there is none.
pub(crate) fn create_private_dir(path: &Path) -> Result<(), StoreError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|error| StoreError::io("create the directory", path, error))
}

/// Options to make a new file that only its owner can read.
pub(crate) fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// A few random letters for the name of a temporary file.
pub(crate) fn random_suffix() -> Result<String, StoreError> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes)
        .map_err(|error| StoreError::Random { detail: error.to_string() })?;
    Ok(format!("{:016x}", u64::from_le_bytes(bytes)))
}

fn read_key(path: &Path) -> Result<Option<AuditKey>, StoreError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoreError::io("read", path, error)),
    };
    check_private(path, &file)?;
    let mut text = Vec::new();
    file.take(MAX_BYTES)
        .read_to_end(&mut text)
        .map_err(|error| StoreError::io("read", path, error))?;
    let malformed = || StoreError::KeyMalformed { path: path.to_path_buf() };
    let text = std::str::from_utf8(&text).map_err(|_| malformed())?;
    let digits = text.strip_prefix(MARK).ok_or_else(malformed)?;
    let bytes = from_hex(digits.trim_end()).map_err(|_| malformed())?;
    Ok(Some(AuditKey::from_bytes(bytes)))
}

/// Refuses a key that others can read, or that lies where others can replace it.
fn check_private(path: &Path, file: &File) -> Result<(), StoreError> {
    let metadata = file.metadata().map_err(|error| StoreError::io("look at", path, error))?;
    if !metadata.is_file() {
        return Err(StoreError::KeyMalformed { path: path.to_path_buf() });
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let exposed = |path: &Path, mode: u32, wanted| StoreError::KeyExposed {
            path: path.to_path_buf(),
            mode: mode & 0o777,
            wanted,
        };
        let mode = metadata.permissions().mode();
        if mode & 0o077 != 0 {
            return Err(exposed(path, mode, 0o600));
        }
        if let Some(directory) = path.parent() {
            let mode = fs::metadata(directory)
                .map_err(|error| StoreError::io("look at", directory, error))?
                .permissions()
                .mode();
            if mode & 0o002 != 0 {
                return Err(exposed(directory, mode, 0o700));
            }
        }
    }
    Ok(())
}

/// Writes a new key beside its place and links it there, unless another process was first.
fn create_key(config_dir: &Path, path: &Path) -> Result<(), StoreError> {
    struct Digits([u8; 32]);
    impl fmt::Display for Digits {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            to_hex(&self.0, f)
        }
    }
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| StoreError::Random { detail: error.to_string() })?;
    let temporary = config_dir.join(format!(".{FILE}.{}", random_suffix()?));
    let written = (|| {
        let mut file = private_file().open(&temporary)?;
        writeln!(file, "{MARK}{}", Digits(bytes))?;
        file.sync_all()?;
        match fs::hard_link(&temporary, path) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            // A file system without links: the first to come takes the place under its own name.
            Err(_) if !path.exists() => fs::rename(&temporary, path),
            Err(error) => Err(error),
        }
    })();
    // Gone already where it was renamed.
    let _ = fs::remove_file(&temporary);
    written.map_err(|error| StoreError::io("write", path, error))
}
