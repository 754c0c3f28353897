//! Short random ids: unique in their table, and found by their first characters.

use crate::error::StoreError;
use crate::rows::Rows;

/// The letters of an id: base 32, none of which is mistaken for another.
const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
/// How many letters an id usually has: 50 random bits.
pub(crate) const ID_LETTERS: usize = 10;
/// How many letters an id has that agents write again and again: 30 random bits.
pub(crate) const SHORT_LETTERS: usize = 6;
/// How many ids to try before giving up.
const TRIES: usize = 16;
/// The most ids that are named when several begin alike.
const CANDIDATES: i64 = 10;

/// A table whose rows have ids, and what one row is called.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named {
    pub(crate) table: &'static str,
    pub(crate) what: &'static str,
    pub(crate) letters: usize,
}

/// The letters of a new id.
pub(crate) fn random_letters(count: usize) -> Result<String, StoreError> {
    let mut bytes = vec![0; count];
    getrandom::fill(&mut bytes)
        .map_err(|error| StoreError::Random { detail: error.to_string() })?;
    let letters = bytes.iter().filter_map(|byte| LETTERS.get(usize::from(byte % 32)));
    Ok(letters.map(|&letter| char::from(letter)).collect())
}

/// An id that no row of the table has.
pub(crate) fn fresh(rows: Rows<'_>, named: Named) -> Result<String, StoreError> {
    let statement = format!("SELECT 1 FROM {} WHERE id = ?1", named.table);
    for _ in 0..TRIES {
        let id = random_letters(named.letters)?;
        if rows.first(&statement, [&id], |_| Ok(()))?.is_none() {
            return Ok(id);
        }
    }
    Err(StoreError::Random { detail: format!("every id tried for a {} is in use", named.what) })
}

/// The one id that is `wanted` or begins with it.
pub(crate) fn find(rows: Rows<'_>, named: Named, wanted: &str) -> Result<String, StoreError> {
    let prefix = wanted.to_ascii_lowercase();
    let none = || StoreError::NoSuch { what: named.what, id: cut_id(wanted) };
    if prefix.is_empty() || !prefix.bytes().all(|byte| LETTERS.contains(&byte)) {
        return Err(none());
    }
    let statement = format!(
        "SELECT id FROM {} WHERE id >= ?1 AND id < ?1 || '~' ORDER BY id LIMIT ?2",
        named.table
    );
    let mut found: Vec<String> = rows.all(&statement, (&prefix, CANDIDATES), |row| row.get(0))?;
    match found.as_slice() {
        [] => Err(none()),
        // The shortest comes first, so an id that is whole is the first.
        [first, ..] if found.len() == 1 || *first == prefix => Ok(found.swap_remove(0)),
        _ => Err(StoreError::Ambiguous { what: named.what, prefix, candidates: found }),
    }
}

/// What was asked for, in a length that can be shown.
pub(crate) fn cut_id(id: &str) -> String {
    crate::text_limits::line(id, 80)
}

/// Makes the type of an id.
macro_rules! short_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
        pub struct $name(String);

        impl $name {
            pub(crate) fn stored(id: String) -> Self {
                Self(id)
            }

            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

pub(crate) use short_id;
