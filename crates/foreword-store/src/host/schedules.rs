//! Schedules: prompts that are to be run later, once or again and again.

use rusqlite::Row;
use rusqlite::types::Type;
use serde::Serialize;
use serde_json::json;

use crate::audit::event::{Event, Outcome};
use crate::audit::origins::{SCHEDULE_ADD, SCHEDULE_REMOVE, SCHEDULE_RUN, next_run};
use crate::audit::seal::{self, SCHEDULES};
use crate::error::StoreError;
use crate::host::session::SessionId;
use crate::host::sessions;
use crate::reader::Reader;
use crate::rows::{self, Rows};
use crate::short_id::{self, Named, SHORT_LETTERS, short_id};
use crate::text_limits;
use crate::transaction::Transaction;

/// The most schedules that may still have something to run.
pub const MAX_SCHEDULES: u64 = 1000;
/// The most finished schedules that are kept.
const KEPT_DONE: usize = 100;
/// The most bytes a prompt may have.
pub const MAX_PROMPT_BYTES: usize = 16 * 1024;
/// The most bytes a name or a cron expression may have.
const MAX_NAME: usize = 256;

const NAMED: Named = Named { table: "schedules", what: "schedule", letters: SHORT_LETTERS };
const COLUMNS: &str = "id, cron, at, prompt, agent, session, created_by, created_at, next_at, \
                       last_at, runs, tainted";

short_id!(
    /// The id of a schedule: six letters.
    ScheduleId
);

/// When a schedule runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum When {
    /// Again and again, as a cron expression that the caller has checked.
    Cron(String),
    /// Once, in milliseconds since 1970.
    At(i64),
}

/// A schedule to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSchedule {
    /// When it runs.
    pub when: When,
    /// What the agent is told then.
    pub prompt: String,
    /// Which agent.
    pub agent: Option<String>,
    /// The session it runs in; a new one each time where none is named.
    pub session: Option<SessionId>,
    /// Who wants it.
    pub by: String,
    /// When it runs next, in milliseconds since 1970.
    pub next_at: i64,
    /// Whether the prompt may come from outside.
    pub tainted: bool,
}

/// A schedule as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Schedule {
    /// Its id.
    pub id: ScheduleId,
    /// When it runs.
    pub when: When,
    /// What the agent is told then.
    pub prompt: String,
    /// Which agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The session it runs in; a new one each time where none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// Who wants it.
    pub by: String,
    /// When it was stored, in milliseconds since 1970.
    pub created_at: i64,
    /// When it runs next; `None` where it has nothing more to run.
    pub next_at: Option<i64>,
    /// When it was last taken to be run.
    pub last_at: Option<i64>,
    /// How often it was taken to be run.
    pub runs: u64,
    /// Whether the prompt may come from outside.
    pub tainted: bool,
}

/// Schedules. These functions write their audit entries themselves: a schedule runs only when the log
/// says so too.
impl Transaction<'_> {
    /// Stores a new schedule.
    pub fn schedule_add(&mut self, new: &NewSchedule, at: i64) -> Result<ScheduleId, StoreError> {
        let (cron, once) = match &new.when {
            When::Cron(cron) => (Some(cron.as_str()), None),
            When::At(at) => (None, Some(*at)),
        };
        if let Some(cron) = cron {
            text_limits::one_line("cron expression", cron, MAX_NAME)?;
        }
        text_limits::not_empty("prompt of a schedule", &new.prompt, MAX_PROMPT_BYTES)?;
        if let Some(agent) = &new.agent {
            text_limits::one_line("name of an agent", agent, MAX_NAME)?;
        }
        text_limits::one_line("name of who wants a schedule", &new.by, MAX_NAME)?;
        let rows = self.rows();
        if let Some(session) = &new.session {
            sessions::check_exists(rows, session)?;
        }
        let active = rows.count("SELECT count(*) FROM schedules WHERE next_at IS NOT NULL", [])?;
        if active >= MAX_SCHEDULES {
            return Err(StoreError::TooMany { what: "schedules", limit: MAX_SCHEDULES });
        }
        let id = short_id::fresh(rows, NAMED)?;
        rows.change(
            "INSERT INTO schedules (id, cron, at, prompt, agent, session, created_by, created_at, \
             next_at, tainted, runs) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 0)",
            (
                &id,
                cron,
                once,
                &new.prompt,
                &new.agent,
                new.session.as_ref().map(SessionId::as_str),
                &new.by,
                at,
                new.next_at,
                new.tainted,
            ),
        )?;
        seal::seal(rows, self.key(), SCHEDULES, &id)?;
        let event = Event::new(&new.by, SCHEDULE_ADD, &id, Outcome::Done)
            .with_detail(json!({ "next": new.next_at, "tainted": new.tainted }));
        self.audit(&event)?;
        Ok(ScheduleId::stored(id))
    }

    /// Removes a schedule; gives what it was.
    pub fn schedule_remove(&mut self, id: &str, by: &str) -> Result<Schedule, StoreError> {
        let rows = self.rows();
        let found = find(rows, id)?;
        rows.change("DELETE FROM schedules WHERE id = ?1", [found.id.as_str()])?;
        seal::forget(rows, SCHEDULES, &[found.id.to_string()])?;
        let event = Event::new(by, SCHEDULE_REMOVE, found.id.as_str(), Outcome::Done)
            .with_detail(json!({ "by": found.by }));
        self.audit(&event)?;
        Ok(found)
    }

    /// Takes a schedule that is due, to run it; `None` where it is not the caller who runs it.
    ///
    /// `expected` is when it was due as the caller saw it, `next` when it is due again; `None` where
    /// it has nothing more to run. Exactly one of several hosts gets it, and a run that is taken
    /// is not given out again, also when its host dies. An error where the row was not written with the
    /// key, or where the log does not say that it is due then.
    pub fn schedule_claim(
        &mut self,
        id: &ScheduleId,
        expected: i64,
        next: Option<i64>,
        at: i64,
    ) -> Result<Option<Schedule>, StoreError> {
        let (rows, key) = (self.rows(), self.key());
        let found = match find(rows, id.as_str()) {
            Ok(found) if found.next_at == Some(expected) => found,
            Ok(_) | Err(StoreError::NoSuch { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        seal::check(rows, key, SCHEDULES, id.as_str())?;
        if next_run(rows, id.as_str())? != Some(Some(expected)) {
            return Err(StoreError::Unsealed { what: NAMED.what, id: id.to_string() });
        }
        rows.change(
            "UPDATE schedules SET next_at = ?2, last_at = ?3, runs = runs + 1 WHERE id = ?1",
            (id.as_str(), next, at),
        )?;
        seal::seal(rows, key, SCHEDULES, id.as_str())?;
        let claimed = find(rows, id.as_str())?;
        if next.is_none() {
            let gone: Vec<String> = rows.all(
                "DELETE FROM schedules WHERE number IN (SELECT number FROM schedules \
                 WHERE next_at IS NULL ORDER BY last_at DESC, number DESC LIMIT -1 OFFSET ?1) \
                 RETURNING id",
                [rows::limit(KEPT_DONE)],
                |row| row.get(0),
            )?;
            seal::forget(rows, SCHEDULES, &gone)?;
        }
        let event = Event::new("host", SCHEDULE_RUN, id.as_str(), Outcome::Pending)
            .with_detail(json!({ "due": expected, "next": next, "by": found.by }));
        self.audit(&event)?;
        Ok(Some(claimed))
    }
}

/// Schedules.
impl Reader {
    /// All schedules, oldest first, also those that have nothing more to run.
    pub fn schedule_list(&self) -> Result<Vec<Schedule>, StoreError> {
        let statement = format!("SELECT {COLUMNS} FROM schedules ORDER BY number");
        self.read(|rows| rows.all(&statement, [], schedule))
    }

    /// The schedules that are due, the longest due first.
    pub fn schedules_due(&self, now: i64) -> Result<Vec<Schedule>, StoreError> {
        let statement = format!(
            "SELECT {COLUMNS} FROM schedules WHERE next_at IS NOT NULL AND next_at <= ?1 \
             ORDER BY next_at, number"
        );
        self.read(|rows| rows.all(&statement, [now], schedule))
    }
}

fn find(rows: Rows<'_>, id: &str) -> Result<Schedule, StoreError> {
    let id = short_id::find(rows, NAMED, id)?;
    let statement = format!("SELECT {COLUMNS} FROM schedules WHERE id = ?1");
    rows.first(&statement, [&id], schedule)?.ok_or(StoreError::NoSuch { what: NAMED.what, id })
}

fn schedule(row: &Row<'_>) -> rusqlite::Result<Schedule> {
    let when = match (row.get(1)?, row.get(2)?) {
        (Some(cron), None) => When::Cron(cron),
        (None, Some(at)) => When::At(at),
        _ => {
            let message = "a schedule runs once, or again and again".into();
            return Err(rusqlite::Error::FromSqlConversionFailure(1, Type::Text, message));
        }
    };
    Ok(Schedule {
        id: ScheduleId::stored(row.get(0)?),
        when,
        prompt: row.get(3)?,
        agent: row.get(4)?,
        session: row.get::<_, Option<String>>(5)?.map(SessionId::stored),
        by: row.get(6)?,
        created_at: row.get(7)?,
        next_at: row.get(8)?,
        last_at: row.get(9)?,
        runs: rows::number(row, 10)?,
        tainted: row.get(11)?,
    })
}
