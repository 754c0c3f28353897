//! Deleting sessions for good, on request or when they are old.

use foreword_store::{Event, Outcome, RemovedSession, SessionId, StoreError};
use serde_json::json;

use crate::error::HostError;
use crate::host::Host;
use crate::turn::process_identity;

impl Host {
    /// Deletes sessions with those that their agents started, and erases what is left of them in the
    /// files of the database. All are deleted, or none.
    ///
    /// The audit log keeps its entries: who did what and when, with digests, and nothing of what was
    /// said. Memories made in a session stay.
    pub fn remove_sessions(&self, ids: &[SessionId]) -> Result<Vec<RemovedSession>, HostError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let (now, person, ids) = (self.now(), self.options.person.clone(), ids.to_vec());
        let removed = self.writer.write(now, move |write| -> Result<_, HostError> {
            let mut all: Vec<RemovedSession> = Vec::new();
            for id in &ids {
                // It may have gone with the session that started it.
                if all.iter().any(|removed| removed.sessions.contains(id)) {
                    continue;
                }
                for running in write.running_turns(Some(id))? {
                    if !process_identity::is_alive(&running.owner) {
                        write.turns_abandon(id, &running.owner, now)?;
                    }
                }
                let removed = write.session_remove(id).map_err(|error| match error {
                    StoreError::TurnRunning { session, .. } => HostError::Busy { session },
                    error => error.into(),
                })?;
                let event = Event::new(&person, "session.remove", id.as_str(), Outcome::Done);
                let detail = json!({ "sessions": removed.sessions, "turns": removed.turns });
                write.audit(&event.with_detail(detail))?;
                all.push(removed);
            }
            Ok(all)
        })?;
        self.store()?.erase_deleted()?;
        Ok(removed)
    }

    /// Deletes sessions that are older than `host.retention` of the person's settings.
    pub fn apply_retention(&self) -> Result<Vec<RemovedSession>, HostError> {
        let settings = self.settings()?;
        let Some(age) = settings.host.retention else { return Ok(Vec::new()) };
        self.remove_sessions(&self.idle_sessions(age.millis())?)
    }

    /// Sessions in which nothing has happened for so many milliseconds and no turn is running.
    pub fn idle_sessions(&self, millis: i64) -> Result<Vec<SessionId>, HostError> {
        let running = self.reader.running_turns(None)?;
        let mut idle = self.reader.sessions_before(self.now().saturating_sub(millis))?;
        idle.retain(|id| !running.iter().any(|turn| turn.session == *id));
        Ok(idle)
    }
}
