//! The words memories are found by: postings in FTS5, and how many memories have each word.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _};

/// How many memories have this word.
pub(crate) fn holders(connection: &Connection, term: &str) -> rusqlite::Result<u64> {
    let count: Option<i64> = connection
        .prepare_cached("SELECT docs FROM memory_terms WHERE term = ?1")?
        .query_row([term], |row| row.get(0))
        .optional()?;
    Ok(count.and_then(|count| u64::try_from(count).ok()).unwrap_or(0))
}

/// The memories that have this word, the newest first, up to a limit.
pub(crate) fn postings(
    connection: &Connection,
    term: &str,
    limit: usize,
) -> rusqlite::Result<Vec<i64>> {
    // Terms are letters and digits; a quotation mark would end the phrase.
    if term.is_empty() || term.contains('"') {
        return Ok(Vec::new());
    }
    connection
        .prepare_cached(
            "SELECT rowid FROM memory_words WHERE memory_words MATCH ?1 \
             ORDER BY rowid DESC LIMIT ?2",
        )?
        .query_map((format!("\"{term}\""), i64::try_from(limit).unwrap_or(i64::MAX)), |row| {
            row.get(0)
        })?
        .collect()
}

/// Changes to the counts of words, gathered so that each word is written once.
#[derive(Default)]
pub(crate) struct Counts(BTreeMap<String, i64>);

impl Counts {
    pub(crate) fn insert(
        &mut self,
        connection: &Connection,
        key: i64,
        terms: &[String],
    ) -> rusqlite::Result<()> {
        connection
            .prepare_cached("INSERT INTO memory_words (rowid, terms) VALUES (?1, ?2)")?
            .execute((key, terms.join(" ")))?;
        self.count(terms, 1);
        Ok(())
    }

    pub(crate) fn delete(
        &mut self,
        connection: &Connection,
        key: i64,
        terms: &[String],
    ) -> rusqlite::Result<()> {
        connection.prepare_cached("DELETE FROM memory_words WHERE rowid = ?1")?.execute([key])?;
        self.count(terms, -1);
        Ok(())
    }

    fn count(&mut self, terms: &[String], by: i64) {
        for term in terms {
            match self.0.get_mut(term) {
                Some(count) => *count += by,
                None => drop(self.0.insert(term.clone(), by)),
            }
        }
    }

    pub(crate) fn write(self, connection: &Connection) -> rusqlite::Result<()> {
        let mut upsert = connection.prepare_cached(
            "INSERT INTO memory_terms (term, docs) VALUES (?1, ?2) \
             ON CONFLICT (term) DO UPDATE SET docs = max(0, docs + excluded.docs)",
        )?;
        let mut gone =
            connection.prepare_cached("DELETE FROM memory_terms WHERE term = ?1 AND docs <= 0")?;
        for (term, by) in &self.0 {
            if *by != 0 {
                upsert.execute((term, by))?;
            }
            if *by < 0 {
                gone.execute([term])?;
            }
        }
        Ok(())
    }
}
