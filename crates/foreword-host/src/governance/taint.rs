//! The taint of a session, and clearing taint, which only a person does.

use foreword::TaintLevel;
use foreword_store::{SessionId, StoreError, Tainted};

use crate::error::HostError;
use crate::host::Host;

impl Host {
    /// How much of a session came from outside: all of it, if its counters were changed outside Foreword.
    pub(crate) fn totals(&self, session: &SessionId) -> Result<TaintLevel, HostError> {
        let totals = self.reader.content_totals_with(&self.key, session)?;
        if totals.is_altered {
            self.report_unsealed("session", std::iter::once(session.as_str()));
        }
        Ok(totals.level)
    }

    /// Clears what a person looked at, all of it or nothing.
    pub fn clear_taint(&self, items: Vec<Tainted>) -> Result<(), HostError> {
        let (now, by) = (self.now(), self.options.person.clone());
        Ok(self.writer.write(now, move |write| -> Result<(), StoreError> {
            items.iter().try_for_each(|item| write.taint_clear(item, &by, now))
        })?)
    }
}
