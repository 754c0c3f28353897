//! Changes to identity files that an agent asks for and a person decides about.

use rusqlite::Row;
use serde::Serialize;

use crate::error::StoreError;
use crate::host::session::SessionId;
use crate::host::sessions;
use crate::reader::Reader;
use crate::rows::{self, Rows};
use crate::short_id::{self, ID_LETTERS, Named, short_id};
use crate::stored_enum::{stored_enum, word};
use crate::text_limits;
use crate::transaction::Transaction;

/// The most bytes the proposed content of an identity file may have.
pub const MAX_IDENTITY_BYTES: usize = 256 * 1024;
/// The most such proposals that may wait for a decision.
pub const MAX_PENDING_IDENTITY: u64 = 200;
/// The number of decided proposals whose content is kept.
const KEPT_DECIDED: usize = 100;
/// The most that are listed.
const MAX_LISTED: usize = 1000;
/// The most bytes a name may have.
const MAX_NAME: usize = 256;
/// The most bytes a reason may have.
const MAX_REASON: usize = 4096;

const NAMED: Named = Named {
    table: "identity_proposals",
    what: "proposal for an identity file",
    letters: ID_LETTERS,
};
const COLUMNS: &str = "id, file, base, reason, proposed_by, session, state, created_at, decided_at, \
                       decided_by, decision_reason, ifnull(octet_length(content), 0)";

short_id!(
    /// The id of a proposal for an identity file.
    IdentityProposalId
);

/// What became of a proposal for an identity file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IdentityState {
    /// It waits for a person.
    Pending,
    /// A person said yes.
    Approved,
    /// A person said no.
    Rejected,
}

stored_enum!(IdentityState {
    Pending = "pending",
    Approved = "approved",
    Rejected = "rejected",
});

/// What a person decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IdentityVerdict {
    /// The file is to be changed so.
    Approve,
    /// It stays as it is.
    Reject,
}

/// A proposal to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewIdentityProposal {
    /// Which file of the workspace.
    pub file: String,
    /// What it would say, all of it.
    pub content: String,
    /// The blake3 digest of what it says now; `None` where there is no such file.
    pub base: Option<[u8; 32]>,
    /// Why, as the author says.
    pub reason: Option<String>,
    /// Who proposes.
    pub by: String,
    /// From which session.
    pub session: Option<SessionId>,
}

/// A stored proposal without its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IdentityProposal {
    /// Its id.
    pub id: IdentityProposalId,
    /// Which file of the workspace.
    pub file: String,
    /// The blake3 digest of what it said when it was proposed; `None` where there was no such file.
    #[serde(skip)]
    pub base: Option<[u8; 32]>,
    /// Why, as the author said.
    pub reason: Option<String>,
    /// Who proposed.
    pub by: String,
    /// From which session.
    pub session: Option<SessionId>,
    /// What became of it.
    pub state: IdentityState,
    /// When it was stored, in milliseconds since 1970.
    pub created_at: i64,
    /// When it was decided.
    pub decided_at: Option<i64>,
    /// Who decided.
    pub decided_by: Option<String>,
    /// Why it was decided so.
    pub decision_reason: Option<String>,
    /// How long the proposed content is; 0 where it was decided long ago.
    pub bytes: u64,
}

/// Proposals for identity files. No audit entry is written by these functions; the caller adds it in
/// the same transaction.
impl Transaction<'_> {
    /// Stores a proposal, to be decided by a person.
    pub fn identity_propose(
        &mut self,
        new: &NewIdentityProposal,
        at: i64,
    ) -> Result<IdentityProposalId, StoreError> {
        text_limits::one_line("name of an identity file", &new.file, MAX_NAME)?;
        text_limits::within("content of an identity file", &new.content, MAX_IDENTITY_BYTES)?;
        text_limits::within("reason", new.reason.as_deref().unwrap_or_default(), MAX_REASON)?;
        text_limits::one_line("name of who proposes", &new.by, MAX_NAME)?;
        let rows = self.rows();
        if let Some(session) = &new.session {
            sessions::check_exists(rows, session)?;
        }
        let pending =
            rows.count("SELECT count(*) FROM identity_proposals WHERE state = 'pending'", [])?;
        if pending >= MAX_PENDING_IDENTITY {
            return Err(StoreError::TooMany {
                what: "proposals for identity files",
                limit: MAX_PENDING_IDENTITY,
            });
        }
        let id = short_id::fresh(rows, NAMED)?;
        rows.change(
            "INSERT INTO identity_proposals (id, file, content, base, reason, proposed_by, session, \
             state, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'pending', ?8)",
            (
                &id,
                &new.file,
                &new.content,
                new.base,
                &new.reason,
                &new.by,
                new.session.as_ref().map(SessionId::as_str),
                at,
            ),
        )?;
        Ok(IdentityProposalId::stored(id))
    }

    /// Decides about a proposal that waits, unless it is decided; returns the new state.
    pub fn identity_decide(
        &mut self,
        id: &str,
        verdict: IdentityVerdict,
        by: &str,
        reason: Option<&str>,
        at: i64,
    ) -> Result<IdentityProposal, StoreError> {
        text_limits::one_line("name of a person", by, MAX_NAME)?;
        text_limits::within("reason", reason.unwrap_or_default(), MAX_REASON)?;
        let state = match verdict {
            IdentityVerdict::Approve => IdentityState::Approved,
            IdentityVerdict::Reject => IdentityState::Rejected,
        };
        let rows = self.rows();
        let before = find(rows, id)?;
        if before.state != IdentityState::Pending {
            let (id, found) = (before.id.to_string(), before.state.as_str());
            return Err(StoreError::Decided { what: NAMED.what, id, found });
        }
        rows.change(
            "UPDATE identity_proposals SET state = ?2, decided_at = ?3, decided_by = ?4, \
             decision_reason = ?5 WHERE id = ?1",
            (before.id.as_str(), state.as_str(), at, by, reason),
        )?;
        forget_contents(rows)?;
        find(rows, before.id.as_str())
    }

    /// As [`Reader::identity_proposal`], in this transaction.
    pub fn identity_proposal(&self, id: &str) -> Result<IdentityProposal, StoreError> {
        find(self.rows(), id)
    }

    /// As [`Reader::identity_content`], in this transaction.
    pub fn identity_content(&self, id: &IdentityProposalId) -> Result<Option<String>, StoreError> {
        content(self.rows(), id)
    }
}

/// Proposals for identity files.
impl Reader {
    /// The proposal with this id, or the only one whose id begins with it.
    pub fn identity_proposal(&self, id: &str) -> Result<IdentityProposal, StoreError> {
        let found = self.read(|rows| find(rows, id).map(Some))?;
        found.ok_or_else(|| StoreError::NoSuch { what: NAMED.what, id: short_id::cut_id(id) })
    }

    /// What the file would say; `None` where that was decided long ago.
    pub fn identity_content(&self, id: &IdentityProposalId) -> Result<Option<String>, StoreError> {
        self.read(|rows| content(rows, id))
    }

    /// The proposals in a state, or all, the newest first and without their content.
    pub fn identity_proposals(
        &self,
        state: Option<IdentityState>,
    ) -> Result<Vec<IdentityProposal>, StoreError> {
        let statement = format!(
            "SELECT {COLUMNS} FROM identity_proposals WHERE ?1 IS NULL OR state = ?1 \
             ORDER BY number DESC LIMIT ?2"
        );
        let values = (state.map(IdentityState::as_str), rows::limit(MAX_LISTED));
        self.read(|rows| rows.all(&statement, values, proposal))
    }
}

fn find(rows: Rows<'_>, id: &str) -> Result<IdentityProposal, StoreError> {
    let id = short_id::find(rows, NAMED, id)?;
    let statement = format!("SELECT {COLUMNS} FROM identity_proposals WHERE id = ?1");
    rows.first(&statement, [&id], proposal)?.ok_or(StoreError::NoSuch { what: NAMED.what, id })
}

fn content(rows: Rows<'_>, id: &IdentityProposalId) -> Result<Option<String>, StoreError> {
    let found =
        rows.first("SELECT content FROM identity_proposals WHERE id = ?1", [id.as_str()], |row| {
            row.get(0)
        })?;
    Ok(found.flatten())
}

fn forget_contents(rows: Rows<'_>) -> Result<(), StoreError> {
    rows.change(
        "UPDATE identity_proposals SET content = NULL WHERE number IN \
         (SELECT number FROM identity_proposals WHERE state != 'pending' AND content IS NOT NULL \
         ORDER BY decided_at DESC, number DESC LIMIT -1 OFFSET ?1)",
        [rows::limit(KEPT_DECIDED)],
    )?;
    Ok(())
}

fn proposal(row: &Row<'_>) -> rusqlite::Result<IdentityProposal> {
    Ok(IdentityProposal {
        id: IdentityProposalId::stored(row.get(0)?),
        file: row.get(1)?,
        base: row.get(2)?,
        reason: row.get(3)?,
        by: row.get(4)?,
        session: row.get::<_, Option<String>>(5)?.map(SessionId::stored),
        state: word(row, 6, IdentityState::parse)?,
        created_at: row.get(7)?,
        decided_at: row.get(8)?,
        decided_by: row.get(9)?,
        decision_reason: row.get(10)?,
        bytes: rows::number(row, 11)?,
    })
}
