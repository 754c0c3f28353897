//! Where the bytes of the static table are: in the program, or in a file that several programs of one
//! package share.

#[cfg(not(feature = "external-table"))]
pub(super) fn table_bytes() -> Result<&'static [u8], crate::embedder::EmbedError> {
    Ok(&include_bytes!("../../model/static.bin")[..])
}

#[cfg(feature = "external-table")]
pub use self::external::set_table_file;
#[cfg(feature = "external-table")]
pub(super) use self::external::table_bytes;

#[cfg(feature = "external-table")]
mod external {
    use std::path::PathBuf;
    use std::sync::{Mutex, OnceLock, PoisonError};

    use crate::embedder::EmbedError;

    static FILE: Mutex<Option<PathBuf>> = Mutex::new(None);
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();

    /// Says where the table is. It is read at the first use, once for the whole process.
    pub fn set_table_file(path: impl Into<PathBuf>) {
        *FILE.lock().unwrap_or_else(PoisonError::into_inner) = Some(path.into());
    }

    pub(in crate::static_table) fn table_bytes() -> Result<&'static [u8], EmbedError> {
        if let Some(bytes) = BYTES.get() {
            return Ok(bytes);
        }
        let file = FILE.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let path = file.unwrap_or_else(|| PathBuf::from("static.bin"));
        let bytes = std::fs::read(&path).map_err(|source| EmbedError::Unreadable {
            path: path.display().to_string(),
            source,
        })?;
        Ok(BYTES.get_or_init(|| bytes))
    }
}
