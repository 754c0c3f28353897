//! Everything that stays tainted until a person clears it: files, memories, tasks, schedules, skill
//! proposals and sessions.

use std::fmt;

use foreword::Provenance;
use serde::Serialize;
use serde_json::json;

use crate::audit::event::{Event, Outcome};
use crate::audit::origins::TAINT_CLEAR;
use crate::audit::seal::{self, SCHEDULES, SESSIONS, SealedTable, TASKS};
use crate::error::StoreError;
use crate::host::contents::Content;
use crate::host::session::SessionId;
use crate::host::sessions;
use crate::memory::memories;
use crate::reader::Reader;
use crate::rows;
use crate::stored_enum::stored_enum;
use crate::text_limits;
use crate::transaction::Transaction;

/// The finding that marks a skill proposal of a tainted session.
pub const TAINTED_SESSION: &str = "tainted-session";
/// The most of each kind that are listed.
const MAX_LISTED: usize = 20_000;
/// The most bytes of a text that are shown.
const MAX_TEXT: usize = 200;

/// What can be tainted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TaintKind {
    /// A file or directory of the workspace.
    File,
    /// A memory.
    Memory,
    /// A task.
    Task,
    /// A schedule that has something to run.
    Schedule,
    /// A pending proposal of a skill.
    Proposal,
    /// A session.
    Session,
}

stored_enum!(TaintKind {
    File = "file",
    Memory = "memory",
    Task = "task",
    Schedule = "schedule",
    Proposal = "proposal",
    Session = "session",
});

impl TaintKind {
    /// All kinds, in the order in which they are listed.
    pub const ALL: [Self; 6] =
        [Self::Session, Self::File, Self::Memory, Self::Task, Self::Schedule, Self::Proposal];

    /// Id, text, session and time of what is tainted.
    fn statement(self) -> String {
        match self {
            Self::File => {
                "SELECT path, '', session, at FROM tainted_files ORDER BY path".to_owned()
            }
            Self::Memory => "SELECT id, text, source, created_at FROM memories WHERE tainted \
                 ORDER BY key"
                .to_owned(),
            Self::Task => "SELECT id, title, session, changed_at FROM tasks WHERE tainted \
                 ORDER BY number"
                .to_owned(),
            Self::Schedule => "SELECT id, prompt, session, created_at FROM schedules \
                 WHERE tainted AND next_at IS NOT NULL ORDER BY number"
                .to_owned(),
            Self::Proposal => format!(
                "SELECT id, skill, NULL, created_at FROM proposals WHERE state = 'pending' \
                 AND EXISTS (SELECT 1 FROM json_each(findings) \
                 WHERE json_extract(value, '$.rule') = '{TAINTED_SESSION}') ORDER BY created_at, id"
            ),
            Self::Session => "SELECT id, external_tokens || ' of ' || total_tokens || ' tokens', \
                 NULL, last_at FROM sessions WHERE external_tokens > 0 ORDER BY last_at DESC"
                .to_owned(),
        }
    }
}

/// Something that is tainted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tainted {
    /// What it is.
    pub kind: TaintKind,
    /// Its id; the path of a file, the name of a session.
    pub id: String,
    /// The start of what it says, in one line.
    pub text: String,
    /// Where it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// When it was written, in milliseconds since 1970.
    pub at: i64,
}

impl fmt::Display for Tainted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.id)
    }
}

impl Reader {
    /// All that is tainted, by kind.
    pub fn tainted(&self) -> Result<Vec<Tainted>, StoreError> {
        let mut all = Vec::new();
        for kind in TaintKind::ALL {
            let statement = format!("{} LIMIT ?1", kind.statement());
            all.extend(self.read(|rows| {
                rows.all(&statement, [rows::limit(MAX_LISTED)], |row| {
                    let (text, source): (String, Option<String>) = (row.get(1)?, row.get(2)?);
                    Ok(Tainted {
                        kind,
                        id: row.get(0)?,
                        text: text_limits::line(&text, MAX_TEXT),
                        source: source.map(|source| text_limits::line(&source, MAX_TEXT)),
                        at: row.get(3)?,
                    })
                })
            })?);
        }
        Ok(all)
    }
}

/// Clearing taint. The audit entry is written here: taint falls only by a recorded act of a person.
impl Transaction<'_> {
    /// Clears what is tainted, in the name of a person. A row that was changed outside Foreword is an
    /// error.
    pub fn taint_clear(&mut self, item: &Tainted, by: &str, at: i64) -> Result<(), StoreError> {
        let id = item.id.as_str();
        let event = Event::new(by, TAINT_CLEAR, id, Outcome::Done)
            .with_detail(json!({ "kind": item.kind }));
        self.audit(&event)?;
        match item.kind {
            TaintKind::File => self.file_clear(id)?,
            TaintKind::Memory => {
                let rows = self.rows();
                memories::clear_taint(rows.connection, rows.path, id)?;
            }
            TaintKind::Task => {
                self.clear_row(TASKS, "UPDATE tasks SET tainted = 0 WHERE id = ?1", id)?;
            }
            TaintKind::Schedule => {
                self.clear_row(SCHEDULES, "UPDATE schedules SET tainted = 0 WHERE id = ?1", id)?;
            }
            TaintKind::Proposal => {
                self.rows().change(
                    "UPDATE proposals SET findings = (SELECT json_group_array(json(value)) \
                     FROM json_each(findings) WHERE json_extract(value, '$.rule') <> ?2) \
                     WHERE id = ?1",
                    (id, TAINTED_SESSION),
                )?;
            }
            TaintKind::Session => self.clear_session(&SessionId::parse(id)?, by, at)?,
        }
        Ok(())
    }

    fn clear_row(&self, table: SealedTable, statement: &str, id: &str) -> Result<(), StoreError> {
        let (rows, key) = (self.rows(), self.key());
        seal::check(rows, key, table, id)?;
        rows.change(statement, [id])?;
        seal::seal(rows, key, table, id)
    }

    /// What came from outside no longer counts; the person's own words still do.
    fn clear_session(&mut self, id: &SessionId, by: &str, at: i64) -> Result<(), StoreError> {
        let changed = self.rows().change(
            "UPDATE sessions SET total_tokens = max(total_tokens - external_tokens, 0), \
             external_tokens = 0, external_since_person = 0 WHERE id = ?1",
            [id.as_str()],
        )?;
        if changed == 0 {
            return Err(sessions::no_such(id));
        }
        seal::seal(self.rows(), self.key(), SESSIONS, id.as_str())?;
        let note = Content {
            provenance: Provenance::User,
            source: format!("taint cleared by {by}"),
            tokens: 0,
            external: false,
            at,
        };
        self.content_add(id, None, &note).map(drop)
    }
}
