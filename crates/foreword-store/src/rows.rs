//! Statements that are prepared once, and whose failure names the database.

use std::path::Path;

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension as _, Params, Row};

use crate::error::{InDatabase as _, StoreError};

/// The rows of a database, in a transaction or as they were last committed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows<'c> {
    pub(crate) connection: &'c Connection,
    pub(crate) path: &'c Path,
}

impl Rows<'_> {
    /// Carries out a statement; gives how many rows it changed.
    pub(crate) fn change(self, statement: &str, values: impl Params) -> Result<usize, StoreError> {
        self.connection
            .prepare_cached(statement)
            .and_then(|mut statement| statement.execute(values))
            .at(self.path)
    }

    /// The first row of the answer.
    pub(crate) fn first<T>(
        self,
        statement: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        self.connection
            .prepare_cached(statement)
            .and_then(|mut statement| statement.query_row(values, read).optional())
            .at(self.path)
    }

    /// All rows of the answer.
    pub(crate) fn all<T>(
        self,
        statement: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        self.connection
            .prepare_cached(statement)
            .and_then(|mut statement| statement.query_map(values, read)?.collect())
            .at(self.path)
    }

    /// The number that a statement counts.
    pub(crate) fn count(self, statement: &str, values: impl Params) -> Result<u64, StoreError> {
        Ok(self.first(statement, values, |row| number(row, 0))?.unwrap_or_default())
    }
}

/// A number that is never negative, as it is stored; one beyond what can be stored is cut.
pub(crate) fn stored(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A number of rows as a limit.
pub(crate) fn limit(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

/// Reads a number that is never negative.
pub(crate) fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let value: i64 = row.get(column)?;
    u64::try_from(value).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Integer, Box::new(error))
    })
}
