//! What agents have spent: one row for each model call, and one for the time of each turn.
//!
//! The rows stand apart from turns: what a turn spent before its host died counts, and so does what a
//! session spent that is deleted.

use rusqlite::Row;
use serde::Serialize;

use crate::error::StoreError;
use crate::host::session::SessionId;
use crate::host::turn::TurnNumber;
use crate::reader::Reader;
use crate::rows::{self, Rows};
use crate::text_limits;
use crate::transaction::Transaction;

const DAY_MILLIS: i64 = 86_400_000;
/// The most bytes of a name that are kept.
const MAX_NAME: usize = 256;
/// The most that one row counts for, so that any number of them can be added.
const MAX_AMOUNT: u64 = 1 << 40;

const SUMS: &str = "ifnull(sum(tokens), 0), ifnull(sum(cost), 0), \
                    ifnull(sum(iif(cost IS NULL, tokens, 0)), 0), ifnull(sum(millis), 0)";

/// Something that was spent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spending {
    /// In which session.
    pub session: SessionId,
    /// The session of the person's message, for agents that other agents start.
    pub root: SessionId,
    /// In which turn, where it was in one.
    pub turn: Option<TurnNumber>,
    /// Which host spent it.
    pub owner: String,
    /// The model that was called; empty for the time of a turn.
    pub model: String,
    /// Tokens the model read and wrote.
    pub tokens: u64,
    /// What they cost, in millionths of a US dollar; `None` where the price is unknown.
    pub cost: Option<u64>,
    /// The time a turn took, in milliseconds.
    pub millis: u64,
    /// When, in milliseconds since 1970.
    pub at: i64,
}

/// What was spent together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Spent {
    /// Tokens that models read and wrote.
    pub tokens: u64,
    /// What they cost, in millionths of a US dollar, as far as prices are known.
    pub cost: u64,
    /// Those of the tokens whose price is unknown.
    pub unpriced_tokens: u64,
    /// The time of turns that have ended, in milliseconds.
    pub millis: u64,
}

impl Spent {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            cost: self.cost.saturating_add(other.cost),
            unpriced_tokens: self.unpriced_tokens.saturating_add(other.unpriced_tokens),
            millis: self.millis.saturating_add(other.millis),
        }
    }

    /// This without the other.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(other.tokens),
            cost: self.cost.saturating_sub(other.cost),
            unpriced_tokens: self.unpriced_tokens.saturating_sub(other.unpriced_tokens),
            millis: self.millis.saturating_sub(other.millis),
        }
    }
}

impl From<&Spending> for Spent {
    fn from(spending: &Spending) -> Self {
        Self {
            tokens: spending.tokens,
            cost: spending.cost.unwrap_or_default(),
            unpriced_tokens: if spending.cost.is_none() { spending.tokens } else { 0 },
            millis: spending.millis,
        }
    }
}

/// How far the rows have been summed: a later sum that goes on from here reads only newer ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpendingMark(i64);

/// Spending. No audit entry is written by these functions.
impl Transaction<'_> {
    /// Notes that something was spent.
    pub fn spending_add(&mut self, spending: &Spending) -> Result<(), StoreError> {
        let amount = |number: u64| rows::stored(number.min(MAX_AMOUNT));
        self.rows().change(
            "INSERT INTO spending (at, owner, session, root, turn, model, tokens, cost, millis) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            (
                spending.at,
                &spending.owner,
                spending.session.as_str(),
                spending.root.as_str(),
                spending.turn.map(|turn| rows::stored(turn.0)),
                text_limits::line(&spending.model, MAX_NAME),
                amount(spending.tokens),
                spending.cost.map(amount),
                amount(spending.millis),
            ),
        )?;
        Ok(())
    }
}

/// Spending.
impl Reader {
    /// What a session spent, with the agents it started.
    pub fn spent_in_session(&self, session: &SessionId) -> Result<Spent, StoreError> {
        let statement = format!("SELECT {SUMS} FROM spending WHERE root = ?1 OR session = ?1");
        self.read(|rows| sums(rows, &statement, [session.as_str()]))
    }

    /// What was spent from a time on, by all hosts except one, in rows written after a mark; and the mark
    /// of the newest row.
    ///
    /// A host asks before every model call. Rows are only ever added, so it keeps the sum and the mark,
    /// and the cost does not grow over the day.
    pub fn spent_since(
        &self,
        at: i64,
        except: &str,
        SpendingMark(after): SpendingMark,
    ) -> Result<(Spent, SpendingMark), StoreError> {
        // The first sum finds its rows by time. A later one must not: that index holds the whole day.
        let time = if after == 0 { "at" } else { "+at" };
        let statement = format!(
            "SELECT {SUMS}, (SELECT ifnull(max(id), 0) FROM spending) FROM spending \
             WHERE id > ?1 AND {time} >= ?2 AND owner <> ?3"
        );
        let sums_and_mark = |row: &Row<'_>| Ok((spent(row)?, SpendingMark(row.get(4)?)));
        self.read(|rows| {
            Ok(rows.first(&statement, (after, at, except), sums_and_mark)?.unwrap_or_default())
        })
    }
}

/// When the day of a time began in UTC; both in milliseconds since 1970.
#[must_use]
pub fn start_of_day(at: i64) -> i64 {
    at - at.rem_euclid(DAY_MILLIS)
}

fn sums(
    rows: Rows<'_>,
    statement: &str,
    values: impl rusqlite::Params,
) -> Result<Spent, StoreError> {
    Ok(rows.first(statement, values, spent)?.unwrap_or_default())
}

fn spent(row: &Row<'_>) -> rusqlite::Result<Spent> {
    Ok(Spent {
        tokens: rows::number(row, 0)?,
        cost: rows::number(row, 1)?,
        unpriced_tokens: rows::number(row, 2)?,
        millis: rows::number(row, 3)?,
    })
}
