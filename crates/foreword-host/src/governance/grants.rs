//! What a person decides about agents' actions: granting them once, and removing schedules.

use std::sync::PoisonError;

use foreword_store::{Event, GrantId, Outcome, Refusal, Schedule, SessionId, StoreError};
use serde_json::json;

use crate::error::HostError;
use crate::host::Host;
use crate::turn::report::Observer;
use crate::turn::warning::Warning;

/// How many rows an audit entry names, and how many warnings wait to be shown.
const MAX_NAMED: usize = 20;

impl Host {
    /// Grants the next call of an action in a session, whatever its arguments.
    pub fn grant(&self, session: &SessionId, action: &str) -> Result<GrantId, HostError> {
        let now = self.now();
        let (session, action) = (session.clone(), action.to_owned());
        let by = self.options.person.clone();
        Ok(self.writer.write(now, move |write| write.grant_add(&session, &action, &by, now))?)
    }

    /// Decides about a refused call: grants exactly that call once, or dismisses it.
    pub fn decide_refusal(&self, id: &str, allow: bool) -> Result<Refusal, HostError> {
        let now = self.now();
        let (id, by) = (id.to_owned(), self.options.person.clone());
        Ok(self.writer.write(now, move |write| -> Result<Refusal, StoreError> {
            if allow {
                return Ok(write.refusal_grant(&id, &by, now)?.1);
            }
            let refusal = write.refusal_dismiss(&id, &by, now)?;
            let event = Event::new(&by, "taint.dismiss", refusal.session.as_str(), Outcome::Done);
            let detail = json!({ "action": refusal.action, "refusal": refusal.id.as_str() });
            write.audit(&event.with_detail(detail))?;
            Ok(refusal)
        })?)
    }

    /// Removes a schedule, by its id or an unambiguous prefix of it.
    pub fn remove_schedule(&self, id: &str) -> Result<Schedule, HostError> {
        let now = self.now();
        let (id, by) = (id.to_owned(), self.options.person.clone());
        Ok(self.writer.write(now, move |write| write.schedule_remove(&id, &by))?)
    }

    /// Warns about rows that were changed outside Foreword, which are not used, and records them.
    pub(crate) fn report_unsealed<'a>(
        &self,
        what: &'static str,
        ids: impl Iterator<Item = &'a str>,
    ) {
        let ids: Vec<&str> = ids.collect();
        let Some(first) = ids.first() else { return };
        let (count, named) = (ids.len(), ids.get(..MAX_NAMED).unwrap_or(&ids));
        let warning = Warning::Unsealed { what, id: (*first).to_owned(), more: count - 1 };
        self.warn_later(warning);
        let event = Event::new("host", "seal.broken", what, Outcome::Refused);
        self.record(event.with_detail(json!({ "ids": named, "count": count })));
    }

    /// Keeps a warning until a turn shows it.
    pub(crate) fn warn_later(&self, warning: Warning) {
        let mut pending = self.pending_warnings.lock().unwrap_or_else(PoisonError::into_inner);
        if pending.len() < MAX_NAMED && !pending.contains(&warning) {
            pending.push(warning);
        }
    }

    /// Shows what actions found that a person should know.
    pub(crate) fn show_pending_warnings(&self, observer: &mut dyn Observer) {
        let pending = {
            let mut pending = self.pending_warnings.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *pending)
        };
        for warning in pending {
            observer.warning(&warning);
        }
    }
}
