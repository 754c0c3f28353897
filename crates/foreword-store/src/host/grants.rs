//! What a person allowed: one action each, used once.

use rusqlite::Row;
use serde::Serialize;
use serde_json::json;

use crate::audit::event::{Event, Outcome};
use crate::audit::origins::{GRANT, GRANT_USED, GrantState, grant_state};
use crate::audit::seal::{self, GRANTS};
use crate::error::StoreError;
use crate::host::refusals::RefusalId;
use crate::host::session::SessionId;
use crate::host::sessions;
use crate::reader::Reader;
use crate::rows::{self, Rows};
use crate::short_id::{self, ID_LETTERS, Named, short_id};
use crate::text_limits;
use crate::transaction::Transaction;

/// The most grants of a session that may wait to be used.
pub const MAX_UNUSED_GRANTS: u64 = 100;
/// The most grants that are listed.
const MAX_LISTED: usize = 1000;
/// The most bytes the name of an action or of a person may have.
pub(crate) const MAX_NAME: usize = 256;

const COLUMNS: &str = "id, session, action, refusal, granted_by, granted_at, used_at";
const NAMED: Named = Named { table: "grants", what: "grant", letters: ID_LETTERS };

short_id!(
    /// The id of a grant.
    GrantId
);

/// An action that a person allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    /// Its id.
    pub id: GrantId,
    /// In which session.
    pub session: SessionId,
    /// Which action.
    pub action: String,
    /// The refusal it answers.
    pub refusal: Option<RefusalId>,
    /// Who allowed it.
    pub by: String,
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// When it was used up.
    pub used_at: Option<i64>,
}

/// What came of asking for a grant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GrantUse {
    /// The grant that was used up; `None` where the action is not allowed.
    pub grant: Option<Grant>,
    /// Rows that look like grants and are not, to warn about.
    pub passed_over: Vec<GrantId>,
}

/// Grants. These functions write their audit entries themselves: a grant counts only with its entry.
impl Transaction<'_> {
    /// Allows one action in a session, once, whatever its arguments.
    pub fn grant_add(
        &mut self,
        session: &SessionId,
        action: &str,
        by: &str,
        at: i64,
    ) -> Result<GrantId, StoreError> {
        self.insert_grant(session, action, None, by, at)
    }

    /// Uses up a grant for this action, in the name of `actor`. A grant that answers a refusal is for
    /// the arguments that were refused, as their digest tells; it goes before one that is for any.
    ///
    /// One grant is used once, however many ask for it, in this process and in others. A row that was
    /// not written with the key, or that the log says is used up, is passed over.
    pub fn grant_use(
        &mut self,
        session: &SessionId,
        action: &str,
        digest: &[u8; 32],
        actor: &str,
        at: i64,
    ) -> Result<GrantUse, StoreError> {
        let (rows, key) = (self.rows(), self.key());
        let statement = format!(
            "SELECT {COLUMNS} FROM grants WHERE session = ?1 AND action = ?2 AND used_at IS NULL \
             AND (digest IS NULL OR digest = ?3) ORDER BY digest IS NULL, number LIMIT ?4"
        );
        let values = (session.as_str(), action, digest, rows::limit(MAX_LISTED));
        let mut used = GrantUse::default();
        for candidate in rows.all(&statement, values, grant)? {
            let id = candidate.id.as_str();
            let genuine = seal::is_sealed(rows, key, GRANTS, id)?
                && grant_state(rows, session.as_str(), id)? == GrantState::Unused;
            if genuine {
                used.grant = Some(Grant { used_at: Some(at), ..candidate });
                break;
            }
            used.passed_over.push(candidate.id);
        }
        let Some(grant) = &used.grant else { return Ok(used) };
        let id = grant.id.as_str();
        rows.change("UPDATE grants SET used_at = ?2 WHERE id = ?1", (id, at))?;
        seal::seal(rows, key, GRANTS, id)?;
        let event = Event::new(actor, GRANT_USED, session.as_str(), Outcome::Done)
            .with_detail(json!({ "action": action, "grant": id }));
        self.audit(&event)?;
        Ok(used)
    }

    pub(crate) fn insert_grant(
        &mut self,
        session: &SessionId,
        action: &str,
        answers: Option<(&RefusalId, &[u8; 32])>,
        by: &str,
        at: i64,
    ) -> Result<GrantId, StoreError> {
        let rows = self.rows();
        let id = insert(rows, session, action, answers, by, at)?;
        seal::seal(rows, self.key(), GRANTS, id.as_str())?;
        let mut detail = json!({ "action": action, "grant": id.as_str() });
        if let (Some((refusal, _)), Some(fields)) = (answers, detail.as_object_mut()) {
            fields.insert("refusal".to_owned(), json!(refusal.as_str()));
        }
        let event = Event::new(by, GRANT, session.as_str(), Outcome::Done);
        self.audit(&event.with_detail(detail))?;
        Ok(id)
    }
}

/// Grants.
impl Reader {
    /// What was allowed in a session, used or not, the newest first.
    pub fn grants(&self, session: &SessionId) -> Result<Vec<Grant>, StoreError> {
        let statement = format!(
            "SELECT {COLUMNS} FROM grants WHERE session = ?1 ORDER BY number DESC LIMIT ?2"
        );
        let values = (session.as_str(), rows::limit(MAX_LISTED));
        self.read(|rows| rows.all(&statement, values, grant))
    }
}

fn insert(
    rows: Rows<'_>,
    session: &SessionId,
    action: &str,
    answers: Option<(&RefusalId, &[u8; 32])>,
    by: &str,
    at: i64,
) -> Result<GrantId, StoreError> {
    text_limits::one_line("name of an action", action, MAX_NAME)?;
    text_limits::one_line("name of a person", by, MAX_NAME)?;
    sessions::check_exists(rows, session)?;
    let unused = rows.count(
        "SELECT count(*) FROM grants WHERE session = ?1 AND used_at IS NULL",
        [session.as_str()],
    )?;
    if unused >= MAX_UNUSED_GRANTS {
        return Err(StoreError::TooMany { what: "unused grants", limit: MAX_UNUSED_GRANTS });
    }
    let id = short_id::fresh(rows, NAMED)?;
    let (refusal, digest) = answers.unzip();
    rows.change(
        "INSERT INTO grants (id, session, action, refusal, digest, granted_by, granted_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        (&id, session.as_str(), action, refusal.map(RefusalId::as_str), digest, by, at),
    )?;
    Ok(GrantId::stored(id))
}

fn grant(row: &Row<'_>) -> rusqlite::Result<Grant> {
    Ok(Grant {
        id: GrantId::stored(row.get(0)?),
        session: SessionId::stored(row.get(1)?),
        action: row.get(2)?,
        refusal: row.get::<_, Option<String>>(3)?.map(RefusalId::stored),
        by: row.get(4)?,
        at: row.get(5)?,
        used_at: row.get(6)?,
    })
}
