//! A person's word: leave for one action, once, and what is taken off the schedule.

use foreword_store::{Event, GrantId, Outcome, Refusal, Schedule, SessionId, StoreError};
use serde_json::json;

use crate::error::HostError;
use crate::host::Host;

impl Host {
    /// Allows an action in a session, once.
    ///
    /// # Errors
    ///
    /// If there is no such session, or too many grants wait there.
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

    /// Allows what was refused, once, or leaves it at the refusal.
    ///
    /// # Errors
    ///
    /// If there is no such refusal, or somebody decided already.
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

    /// Takes something off the schedule, for the person.
    ///
    /// # Errors
    ///
    /// If there is no such schedule, or more than one whose id begins so.
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
