//! Clearing taint, which only a person does.

use foreword_store::{StoreError, Tainted};

use crate::error::HostError;
use crate::host::Host;

impl Host {
    /// Clears what a person looked at, all of it or nothing.
    pub fn clear_taint(&self, items: Vec<Tainted>) -> Result<(), HostError> {
        let (now, by) = (self.now(), self.options.person.clone());
        Ok(self.writer.write(now, move |write| -> Result<(), StoreError> {
            items.iter().try_for_each(|item| write.taint_clear(item, &by, now))
        })?)
    }
}
