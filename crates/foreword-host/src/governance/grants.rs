//! What a person decides about agents' actions: granting them once, and removing schedules.

use foreword_store::{Event, GrantId, Outcome, Refusal, Schedule, SessionId, StoreError};
use serde_json::json;

use crate::error::HostError;
use crate::host::Host;

impl Host {
    /// Grants the next call of an action in a session, whatever its arguments.
    pub fn grant(&self, session: &SessionId, action: &str) -> Result<GrantId, HostError> {
        let now = self.now();
        let (session, action) = (session.clone(), action.to_owned());
        let by = self.options.person.clone();
        Ok(self.writer.write(now, move |write| -> Result<GrantId, StoreError> {
            let grant = write.grant_add(&session, &action, &by, now)?;
            let event = Event::new(&by, "taint.grant", session.as_str(), Outcome::Done);
            write
                .audit(&event.with_detail(json!({ "action": action, "grant": grant.as_str() })))?;
            Ok(grant)
        })?)
    }

    /// Decides about a refused call: grants exactly that call once, or dismisses it.
    pub fn decide_refusal(&self, id: &str, allow: bool) -> Result<Refusal, HostError> {
        let now = self.now();
        let (id, by) = (id.to_owned(), self.options.person.clone());
        Ok(self.writer.write(now, move |write| -> Result<Refusal, StoreError> {
            let (refusal, action) = if allow {
                (write.refusal_grant(&id, &by, now)?.1, "taint.grant")
            } else {
                (write.refusal_dismiss(&id, &by, now)?, "taint.dismiss")
            };
            let event = Event::new(&by, action, refusal.session.as_str(), Outcome::Done);
            let detail = json!({ "action": refusal.action, "refusal": refusal.id.as_str() });
            write.audit(&event.with_detail(detail))?;
            Ok(refusal)
        })?)
    }

    /// Removes a schedule, by its id or an unambiguous prefix of it.
    pub fn remove_schedule(&self, id: &str) -> Result<Schedule, HostError> {
        let now = self.now();
        let (id, by) = (id.to_owned(), self.options.person.clone());
        Ok(self.writer.write(now, move |write| -> Result<Schedule, StoreError> {
            let removed = write.schedule_remove(&id)?;
            let event = Event::new(&by, "schedule.remove", removed.id.as_str(), Outcome::Done);
            write.audit(&event.with_detail(json!({ "by": removed.by })))?;
            Ok(removed)
        })?)
    }
}
