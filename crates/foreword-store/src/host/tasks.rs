//! Tasks: what is to be done in the workspace, by whom, and how far it is.

use foreword::TaskState;
use rusqlite::Row;
use serde::Serialize;

use crate::audit::key::AuditKey;
use crate::audit::seal::{self, TASKS};
use crate::error::StoreError;
use crate::host::session::SessionId;
use crate::host::sessions;
use crate::reader::Reader;
use crate::rows::{self, Rows};
use crate::short_id::{self, Named, SHORT_LETTERS, short_id};
use crate::stored_enum::word;
use crate::text_limits;
use crate::transaction::Transaction;

/// The most tasks that may be unfinished.
pub const MAX_OPEN_TASKS: u64 = 10_000;
/// The number of finished tasks that are kept.
const KEPT_FINISHED: usize = 2_000;
/// The most bytes a title may have.
pub const MAX_TITLE_BYTES: usize = 500;
/// The most bytes the detail of a task may have.
pub const MAX_DETAIL_BYTES: usize = 16 * 1024;
/// The most bytes a name may have.
const MAX_NAME: usize = 256;
/// The most tasks that are listed at once.
pub const MAX_TASKS_LISTED: usize = 1000;

const NAMED: Named = Named { table: "tasks", what: "task", letters: SHORT_LETTERS };
const COLUMNS: &str =
    "id, title, detail, assignee, state, created_by, session, created_at, changed_at, tainted";

short_id!(
    /// The id of a task: six letters.
    TaskId
);

/// A task to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTask {
    /// What is to be done, in one line.
    pub title: String,
    /// Whatever else has to be known.
    pub detail: Option<String>,
    /// Who should do it.
    pub assignee: Option<String>,
    /// Who wants it done.
    pub by: String,
    /// The session it comes from.
    pub session: Option<SessionId>,
    /// Whether what it says may come from outside.
    pub tainted: bool,
}

/// What changes about a task; what is `None` stays as it was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskChange {
    /// How far it is.
    pub state: Option<TaskState>,
    /// What is to be done.
    pub title: Option<String>,
    /// Whatever else has to be known; an empty text takes it away.
    pub detail: Option<String>,
    /// Who should do it; an empty text unassigns it.
    pub assignee: Option<String>,
    /// Whether what it says now may come from outside; once it does, that stays.
    pub tainted: bool,
}

/// A task as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// Its id.
    pub id: TaskId,
    /// What is to be done.
    pub title: String,
    /// Whatever else has to be known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Who should do it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assignee: Option<String>,
    /// How far it is.
    pub state: TaskState,
    /// Who wants it done.
    pub by: String,
    /// The session it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// When it was stored, in milliseconds since 1970.
    pub created_at: i64,
    /// When it last changed.
    pub changed_at: i64,
    /// Whether what it says may come from outside.
    pub tainted: bool,
}

/// Which tasks to list.
#[derive(Debug, Clone, Default)]
pub struct TaskFilter {
    /// Only those in this state.
    pub state: Option<TaskState>,
    /// Only those that are not finished.
    pub unfinished: bool,
    /// Only those of this assignee.
    pub assignee: Option<String>,
    /// Only those from this session.
    pub session: Option<SessionId>,
}

/// Tasks. No audit entry is written by these functions; the caller adds it in the same transaction.
impl Transaction<'_> {
    /// Stores a new task, to be done.
    pub fn task_create(&mut self, new: &NewTask, at: i64) -> Result<TaskId, StoreError> {
        check(Some(&new.title), new.detail.as_deref(), new.assignee.as_deref())?;
        text_limits::one_line("name of who wants a task done", &new.by, MAX_NAME)?;
        let rows = self.rows();
        if let Some(session) = &new.session {
            sessions::check_exists(rows, session)?;
        }
        check_room(rows)?;
        let id = short_id::fresh(rows, NAMED)?;
        rows.change(
            "INSERT INTO tasks (id, title, detail, assignee, state, created_by, session, created_at, \
             changed_at, tainted) \
             VALUES (?1, ?2, nullif(?3, ''), nullif(?4, ''), 'todo', ?5, ?6, ?7, ?7, ?8)",
            (
                &id,
                &new.title,
                &new.detail,
                &new.assignee,
                &new.by,
                new.session.as_ref().map(SessionId::as_str),
                at,
                new.tainted,
            ),
        )?;
        seal::seal(rows, self.key(), TASKS, &id)?;
        Ok(TaskId::stored(id))
    }

    /// Changes a task; gives it as it is then.
    pub fn task_update(
        &mut self,
        id: &str,
        change: &TaskChange,
        at: i64,
    ) -> Result<Task, StoreError> {
        check(change.title.as_deref(), change.detail.as_deref(), change.assignee.as_deref())?;
        let rows = self.rows();
        let before = find(rows, id)?;
        seal::check(rows, self.key(), TASKS, before.id.as_str())?;
        let state = change.state.unwrap_or(before.state);
        if before.state.is_finished() && !state.is_finished() {
            check_room(rows)?;
        }
        rows.change(
            "UPDATE tasks SET state = ?2, title = ifnull(?3, title), \
             detail = nullif(ifnull(?4, detail), ''), \
             assignee = nullif(ifnull(?5, assignee), ''), changed_at = ?6, \
             tainted = max(tainted, ?7) WHERE id = ?1",
            (
                before.id.as_str(),
                state.as_str(),
                &change.title,
                &change.detail,
                &change.assignee,
                at,
                change.tainted,
            ),
        )?;
        seal::seal(rows, self.key(), TASKS, before.id.as_str())?;
        let after = find(rows, before.id.as_str())?;
        if state.is_finished() && !before.state.is_finished() {
            forget_finished(rows)?;
        }
        Ok(after)
    }

    /// As [`Reader::task`], in this transaction.
    pub fn task(&self, id: &str) -> Result<Task, StoreError> {
        find(self.rows(), id)
    }
}

/// Tasks.
impl Reader {
    /// The task with this id, or the only one whose id begins with it.
    pub fn task(&self, id: &str) -> Result<Task, StoreError> {
        let found = self.read(|rows| find(rows, id).map(Some))?;
        found.ok_or_else(|| StoreError::NoSuch { what: NAMED.what, id: short_id::cut_id(id) })
    }

    /// The tasks that the filter lets through, oldest first; at most [`MAX_TASKS_LISTED`].
    pub fn task_list(&self, filter: &TaskFilter, limit: usize) -> Result<Vec<Task>, StoreError> {
        let statement = format!(
            "SELECT {COLUMNS} FROM tasks WHERE (?1 IS NULL OR state = ?1) \
             AND (NOT ?2 OR state NOT IN ('done', 'dropped')) \
             AND (?3 IS NULL OR assignee = ?3) AND (?4 IS NULL OR session = ?4) \
             ORDER BY number LIMIT ?5"
        );
        let values = (
            filter.state.map(TaskState::as_str),
            filter.unfinished,
            &filter.assignee,
            filter.session.as_ref().map(SessionId::as_str),
            rows::limit(limit.min(MAX_TASKS_LISTED)),
        );
        self.read(|rows| rows.all(&statement, values, task))
    }

    /// The same without the tasks that were not written with this key, whose ids come second.
    pub fn task_list_sealed(
        &self,
        key: &AuditKey,
        filter: &TaskFilter,
        limit: usize,
    ) -> Result<(Vec<Task>, Vec<TaskId>), StoreError> {
        let (mut genuine, mut others) = (Vec::new(), Vec::new());
        for task in self.task_list(filter, limit)? {
            let sealed = self.read(|rows| seal::is_sealed(rows, key, TASKS, task.id.as_str()))?;
            if sealed {
                genuine.push(task);
            } else {
                others.push(task.id);
            }
        }
        Ok((genuine, others))
    }
}

fn check(
    title: Option<&str>,
    detail: Option<&str>,
    assignee: Option<&str>,
) -> Result<(), StoreError> {
    if let Some(title) = title {
        text_limits::one_line("title of a task", title, MAX_TITLE_BYTES)?;
    }
    text_limits::within("detail of a task", detail.unwrap_or_default(), MAX_DETAIL_BYTES)?;
    match assignee {
        Some(name) if !name.is_empty() => {
            text_limits::one_line("assignee of a task", name, MAX_NAME)
        }
        _ => Ok(()),
    }
}

fn check_room(rows: Rows<'_>) -> Result<(), StoreError> {
    let open =
        rows.count("SELECT count(*) FROM tasks WHERE state IN ('todo', 'doing', 'blocked')", [])?;
    if open >= MAX_OPEN_TASKS {
        return Err(StoreError::TooMany { what: "unfinished tasks", limit: MAX_OPEN_TASKS });
    }
    Ok(())
}

fn forget_finished(rows: Rows<'_>) -> Result<(), StoreError> {
    let gone: Vec<String> = rows.all(
        "DELETE FROM tasks WHERE number IN (SELECT number FROM tasks \
         WHERE state IN ('done', 'dropped') ORDER BY changed_at DESC, number DESC \
         LIMIT -1 OFFSET ?1) RETURNING id",
        [rows::limit(KEPT_FINISHED)],
        |row| row.get(0),
    )?;
    seal::forget(rows, TASKS, &gone)
}

fn find(rows: Rows<'_>, id: &str) -> Result<Task, StoreError> {
    let id = short_id::find(rows, NAMED, id)?;
    let statement = format!("SELECT {COLUMNS} FROM tasks WHERE id = ?1");
    rows.first(&statement, [&id], task)?.ok_or(StoreError::NoSuch { what: NAMED.what, id })
}

fn task(row: &Row<'_>) -> rusqlite::Result<Task> {
    Ok(Task {
        id: TaskId::stored(row.get(0)?),
        title: row.get(1)?,
        detail: row.get(2)?,
        assignee: row.get(3)?,
        state: word(row, 4, |word| word.parse().ok())?,
        by: row.get(5)?,
        session: row.get::<_, Option<String>>(6)?.map(SessionId::stored),
        created_at: row.get(7)?,
        changed_at: row.get(8)?,
        tainted: row.get(9)?,
    })
}
