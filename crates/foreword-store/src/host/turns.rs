//! Turns as rows: begun, and ended exactly once.

use foreword::Usage;
use rusqlite::Row;

use crate::error::{InDatabase as _, StoreError};
use crate::host::contents::MAX_CONTENT_TOKENS;
use crate::host::session::SessionId;
use crate::host::sessions;
use crate::host::turn::{
    FinishedTurn, MAX_MESSAGE_BYTES, RunningTurn, Turn, TurnMessages, TurnNumber, TurnRange,
    TurnState, TurnUsage,
};
use crate::reader::Reader;
use crate::rows::{self, Rows};
use crate::stored_enum::word;
use crate::text_limits;
use crate::transaction::Transaction;

/// The most bytes of the name of a host.
const MAX_OWNER: usize = 512;
/// The most bytes of a reason that are kept.
const MAX_REASON: usize = 4096;

/// Turns. No audit entry is written by these functions; the caller adds it in the same transaction.
impl Transaction<'_> {
    /// Begins the next turn of a session.
    ///
    /// `owner` names the host in a way that it can be told later whether it is still alive, such as
    /// process, start time and boot.
    pub fn turn_begin(
        &mut self,
        session: &SessionId,
        message: &str,
        owner: &str,
        at: i64,
    ) -> Result<TurnNumber, StoreError> {
        text_limits::within("message", message, MAX_MESSAGE_BYTES)?;
        text_limits::one_line("owner of a turn", owner, MAX_OWNER)?;
        let rows = self.rows();
        if let Some(running) = running(rows, Some(session), 1)?.pop() {
            return Err(StoreError::TurnRunning {
                session: session.to_string(),
                turn: running.number,
                owner: running.owner,
            });
        }
        let number = rows
            .first(
                "UPDATE sessions SET turns = turns + 1, last_at = max(last_at, ?2) WHERE id = ?1 \
                 RETURNING turns",
                (session.as_str(), at),
                |row| rows::number(row, 0),
            )?
            .ok_or_else(|| sessions::no_such(session))?;
        rows.change(
            "INSERT INTO turns (session, turn, state, owner, message, input, output, cache_read, \
             cache_write, calls, began_at) VALUES (?1, ?2, 'running', ?3, ?4, 0, 0, 0, 0, 0, ?5)",
            (session.as_str(), rows::stored(number), owner, message, at),
        )?;
        Ok(TurnNumber(number))
    }

    /// Ends a turn that is under way.
    pub fn turn_finish(
        &mut self,
        session: &SessionId,
        turn: TurnNumber,
        finished: &FinishedTurn,
    ) -> Result<(), StoreError> {
        finished.check()?;
        let usage = &finished.usage;
        let changed = self.rows().change(
            "UPDATE turns SET state = ?3, messages = ?4, answer = ?5, input = ?6, output = ?7, \
             cache_read = ?8, cache_write = ?9, calls = ?10, ended_at = ?11 \
             WHERE session = ?1 AND turn = ?2 AND state = 'running'",
            (
                session.as_str(),
                rows::stored(turn.0),
                TurnState::from(finished.state).as_str(),
                &finished.messages,
                &finished.answer,
                tokens(usage.tokens.input_tokens),
                tokens(usage.tokens.output_tokens),
                tokens(usage.tokens.cache_read_tokens),
                tokens(usage.tokens.cache_write_tokens),
                tokens(usage.calls),
                finished.at,
            ),
        )?;
        self.ended(session, turn, changed, finished.at)
    }

    /// Adds what was spent for a turn after it has ended.
    pub fn turn_add_usage(
        &mut self,
        session: &SessionId,
        turn: TurnNumber,
        usage: TurnUsage,
    ) -> Result<(), StoreError> {
        self.rows().change(
            "UPDATE turns SET input = input + ?3, output = output + ?4, \
             cache_read = cache_read + ?5, cache_write = cache_write + ?6, calls = calls + ?7 \
             WHERE session = ?1 AND turn = ?2",
            (
                session.as_str(),
                rows::stored(turn.0),
                rows::stored(usage.tokens.input_tokens),
                rows::stored(usage.tokens.output_tokens),
                rows::stored(usage.tokens.cache_read_tokens),
                rows::stored(usage.tokens.cache_write_tokens),
                rows::stored(usage.calls),
            ),
        )?;
        Ok(())
    }

    /// Ends a turn that is under way and came to nothing, with what it cost nevertheless.
    pub fn turn_fail(
        &mut self,
        session: &SessionId,
        turn: TurnNumber,
        reason: &str,
        usage: TurnUsage,
        at: i64,
    ) -> Result<(), StoreError> {
        let tokens = rows::stored;
        let changed = self.rows().change(
            "UPDATE turns SET state = 'failed', reason = ?3, input = ?4, output = ?5, \
             cache_read = ?6, cache_write = ?7, calls = ?8, ended_at = ?9 \
             WHERE session = ?1 AND turn = ?2 AND state = 'running'",
            (
                session.as_str(),
                rows::stored(turn.0),
                text_limits::line(reason, MAX_REASON),
                tokens(usage.tokens.input_tokens),
                tokens(usage.tokens.output_tokens),
                tokens(usage.tokens.cache_read_tokens),
                tokens(usage.tokens.cache_write_tokens),
                tokens(usage.calls),
                at,
            ),
        )?;
        self.ended(session, turn, changed, at)
    }

    /// Gives up the turns of a host that is dead; gives how many there were.
    ///
    /// Whether it is dead is for the caller to find out: see [`Reader::running_turns`].
    pub fn turns_abandon(
        &mut self,
        session: &SessionId,
        owner: &str,
        at: i64,
    ) -> Result<usize, StoreError> {
        self.rows().change(
            "UPDATE turns SET state = 'lost', ended_at = ?3 \
             WHERE session = ?1 AND state = 'running' AND owner = ?2",
            (session.as_str(), owner, at),
        )
    }

    /// As [`Reader::running_turns`], in this transaction.
    pub fn running_turns(
        &self,
        session: Option<&SessionId>,
    ) -> Result<Vec<RunningTurn>, StoreError> {
        running(self.rows(), session, TurnRange::MAX_TURNS)
    }

    fn ended(
        &self,
        session: &SessionId,
        turn: TurnNumber,
        changed: usize,
        at: i64,
    ) -> Result<(), StoreError> {
        if changed == 0 {
            let found = self.rows().first(
                "SELECT state FROM turns WHERE session = ?1 AND turn = ?2",
                (session.as_str(), rows::stored(turn.0)),
                |row| word(row, 0, TurnState::parse),
            )?;
            return Err(StoreError::TurnNotRunning { session: session.to_string(), turn, found });
        }
        sessions::touch(self.rows(), session, at)
    }
}

/// Turns.
impl Reader {
    /// What the person said first in a session; nothing before its first turn.
    pub fn first_message(&self, session: &SessionId) -> Result<Option<String>, StoreError> {
        self.read(|rows| {
            rows.first(
                "SELECT message FROM turns WHERE session = ?1 ORDER BY turn LIMIT 1",
                [session.as_str()],
                |row| row.get(0),
            )
        })
    }

    /// Turns of a session, oldest first.
    pub fn turns(&self, session: &SessionId, range: TurnRange) -> Result<Vec<Turn>, StoreError> {
        self.read(|rows| {
            newest(
                rows,
                "SELECT octet_length(message) + ifnull(octet_length(answer), 0), turn, state, \
                 owner, message, answer, reason, input, output, cache_read, cache_write, calls, \
                 began_at, ended_at FROM turns WHERE session = ?1 ORDER BY turn DESC LIMIT ?2",
                session,
                range,
                turn,
            )
        })
    }

    /// The messages of turns that ended with some, oldest first: the history of the next turn.
    pub fn history(
        &self,
        session: &SessionId,
        range: TurnRange,
    ) -> Result<Vec<TurnMessages>, StoreError> {
        self.read(|rows| {
            newest(
                rows,
                "SELECT octet_length(messages), turn, state, messages FROM turns \
                 WHERE session = ?1 AND messages IS NOT NULL ORDER BY turn DESC LIMIT ?2",
                session,
                range,
                |row| {
                    Ok(TurnMessages {
                        number: TurnNumber(rows::number(row, 1)?),
                        state: word(row, 2, TurnState::parse)?,
                        messages: row.get(3)?,
                    })
                },
            )
        })
    }

    /// The messages of a turn as a JSON array, if it ended with some.
    pub fn turn_messages(
        &self,
        session: &SessionId,
        turn: TurnNumber,
    ) -> Result<Option<String>, StoreError> {
        self.read(|rows| {
            let found = rows.first(
                "SELECT messages FROM turns WHERE session = ?1 AND turn = ?2",
                (session.as_str(), rows::stored(turn.0)),
                |row| row.get(0),
            )?;
            Ok(found.flatten())
        })
    }

    /// What all turns of a session cost together.
    pub fn session_usage(&self, session: &SessionId) -> Result<TurnUsage, StoreError> {
        self.read(|rows| {
            let found = rows.first(
                "SELECT ifnull(sum(input), 0), ifnull(sum(output), 0), ifnull(sum(cache_read), 0), \
                 ifnull(sum(cache_write), 0), ifnull(sum(calls), 0) FROM turns WHERE session = ?1",
                [session.as_str()],
                |row| usage(row, 0),
            )?;
            Ok(found.unwrap_or_default())
        })
    }

    /// The turns that are under way, of one session or of all.
    pub fn running_turns(
        &self,
        session: Option<&SessionId>,
    ) -> Result<Vec<RunningTurn>, StoreError> {
        self.read(|rows| running(rows, session, TurnRange::MAX_TURNS))
    }
}

fn running(
    rows: Rows<'_>,
    session: Option<&SessionId>,
    limit: usize,
) -> Result<Vec<RunningTurn>, StoreError> {
    let statement = match session {
        Some(_) => {
            "SELECT session, turn, owner, began_at FROM turns \
             WHERE state = 'running' AND session = ?1 ORDER BY turn LIMIT ?2"
        }
        None => {
            "SELECT session, turn, owner, began_at FROM turns \
             WHERE state = 'running' AND ?1 IS NULL ORDER BY session, turn LIMIT ?2"
        }
    };
    rows.all(statement, (session.map(SessionId::as_str), rows::limit(limit)), |row| {
        Ok(RunningTurn {
            session: SessionId::stored(row.get(0)?),
            number: TurnNumber(rows::number(row, 1)?),
            owner: row.get(2)?,
            began_at: row.get(3)?,
        })
    })
}

/// Reads from the newest turn back until the next one no longer fits; the first column is its size.
fn newest<T>(
    rows: Rows<'_>,
    statement: &str,
    session: &SessionId,
    range: TurnRange,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, StoreError> {
    let most = rows::limit(range.newest.min(TurnRange::MAX_TURNS));
    let mut room = u64::try_from(range.bytes).unwrap_or(u64::MAX);
    let mut read_all = || -> rusqlite::Result<Vec<T>> {
        let mut statement = rows.connection.prepare_cached(statement)?;
        let mut found = statement.query((session.as_str(), most))?;
        let mut turns = Vec::new();
        while let Some(row) = found.next()? {
            let size = rows::number(row, 0)?;
            if size > room && !turns.is_empty() {
                break;
            }
            room = room.saturating_sub(size);
            turns.push(read(row)?);
        }
        turns.reverse();
        Ok(turns)
    };
    read_all().at(rows.path)
}

fn turn(row: &Row<'_>) -> rusqlite::Result<Turn> {
    Ok(Turn {
        number: TurnNumber(rows::number(row, 1)?),
        state: word(row, 2, TurnState::parse)?,
        owner: row.get(3)?,
        message: row.get(4)?,
        answer: row.get(5)?,
        reason: row.get(6)?,
        usage: usage(row, 7)?,
        began_at: row.get(12)?,
        ended_at: row.get(13)?,
    })
}

/// A number of tokens that can be added to others: what a model says of itself may be anything.
fn tokens(count: u64) -> i64 {
    rows::stored(count.min(MAX_CONTENT_TOKENS))
}

/// The five numbers from this column on.
fn usage(row: &Row<'_>, first: usize) -> rusqlite::Result<TurnUsage> {
    Ok(TurnUsage {
        tokens: Usage {
            input_tokens: rows::number(row, first)?,
            output_tokens: rows::number(row, first + 1)?,
            cache_read_tokens: rows::number(row, first + 2)?,
            cache_write_tokens: rows::number(row, first + 3)?,
        },
        calls: rows::number(row, first + 4)?,
    })
}
