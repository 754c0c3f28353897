//! The sandbox of the newest turn, so that a weaker one does not pass unnoticed.

use crate::error::StoreError;
use crate::reader::Reader;
use crate::text_limits;
use crate::transaction::Transaction;

/// The name of the value in the table of such values.
const NAME: &str = "last_sandbox";
/// The most bytes of a description.
const MAX_BYTES: usize = 4096;

/// The sandbox of the newest turn. No audit entry is written by this function; the caller adds it in the
/// same transaction.
impl Transaction<'_> {
    /// Keeps the sandbox that a turn runs in, as the host describes it.
    pub fn sandbox_used(&mut self, description: &str) -> Result<(), StoreError> {
        text_limits::within("sandbox", description, MAX_BYTES)?;
        let statement = "INSERT INTO meta (name, value) VALUES (?1, ?2) \
                         ON CONFLICT (name) DO UPDATE SET value = excluded.value";
        self.rows().change(statement, (NAME, description)).map(drop)
    }
}

impl Reader {
    /// The sandbox of the newest turn, as the host described it; `None` before the first turn.
    pub fn last_sandbox(&self) -> Result<Option<String>, StoreError> {
        self.read(|rows| {
            rows.first("SELECT value FROM meta WHERE name = ?1", [NAME], |row| {
                row.get::<_, Option<String>>(0)
            })
            .map(Option::flatten)
        })
    }
}
