//! Names that many memories share, each stored once: kinds, scopes, embedders.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension as _};

/// The number of a name, if it has one.
pub(crate) fn number(connection: &Connection, name: &str) -> rusqlite::Result<Option<u32>> {
    connection
        .prepare_cached("SELECT id FROM memory_names WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()
}

/// The name of a number.
pub(crate) fn name(connection: &Connection, number: u32) -> rusqlite::Result<Option<String>> {
    connection
        .prepare_cached("SELECT name FROM memory_names WHERE id = ?1")?
        .query_row([number], |row| row.get(0))
        .optional()
}

/// Gives names their numbers, and new ones where they have none.
pub(crate) struct InternedNames<'c> {
    connection: &'c Connection,
    known: HashMap<String, u32>,
}

impl<'c> InternedNames<'c> {
    pub(crate) fn new(connection: &'c Connection) -> Self {
        Self { connection, known: HashMap::new() }
    }

    /// 0 for what is not set.
    pub(crate) fn of(&mut self, name: Option<&str>) -> rusqlite::Result<u32> {
        let Some(name) = name else { return Ok(0) };
        if let Some(number) = self.known.get(name) {
            return Ok(*number);
        }
        let number = match number(self.connection, name)? {
            Some(number) => number,
            None => self
                .connection
                .prepare_cached("INSERT INTO memory_names (name) VALUES (?1) RETURNING id")?
                .query_row([name], |row| row.get(0))?,
        };
        self.known.insert(name.to_owned(), number);
        Ok(number)
    }
}
