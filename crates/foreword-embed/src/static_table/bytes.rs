//! Where the bytes of the static table are: in the program, or in a file that several programs of one
//! package share.

#[cfg(not(feature = "external-table"))]
pub(super) fn table_bytes() -> Result<&'static [u8], crate::embedder::EmbedError> {
    Ok(&embedded::TABLE)
}

#[cfg(not(feature = "external-table"))]
mod embedded {
    use foreword_embed_table_a::BYTES as FIRST;
    use foreword_embed_table_b::BYTES as SECOND;

    const LENGTH: usize = FIRST.len() + SECOND.len();

    /// The halves, joined by the compiler: the program has the table once, in one piece, and copies nothing.
    /// There are two because a published package may have 10 MB.
    pub(super) static TABLE: [u8; LENGTH] = {
        let mut whole = [0; LENGTH];
        let (first, second) = whole.split_at_mut(FIRST.len());
        first.copy_from_slice(FIRST);
        second.copy_from_slice(SECOND);
        whole
    };
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
