//! What a person decides about changes that were held.

use std::path::{Component, Path};

use foreword_store::{Event, FileVersion, HeldChange, MAX_HELD_BYTES, Outcome};
use foreword_workspace::PRIVATE_DIR;
use serde_json::json;

use crate::error::HostError;
use crate::governance::before;
use crate::governance::file_version::{Found, WorkspaceFiles};
use crate::host::Host;

impl Host {
    /// A held change, by its id or an unambiguous prefix of it; with both versions while it waits.
    pub fn held_change(
        &self,
        id: &str,
    ) -> Result<(HeldChange, Option<(FileVersion, FileVersion)>), HostError> {
        let held = self.reader.held_change(id)?;
        let versions = self.reader.held_versions(&held.id)?;
        Ok((held, versions))
    }

    /// Applies a held change, or drops it. Applying needs the file to be as it was put back.
    pub fn decide_held(
        &self,
        id: &str,
        approve: bool,
        reason: Option<&str>,
    ) -> Result<HeldChange, HostError> {
        let _lock = before::lock(&self.root)?;
        let (held, versions) = self.held_change(id)?;
        let apply = versions.filter(|_| approve);
        let path = Path::new(&held.path);
        let files = WorkspaceFiles::new(&self.root);
        if let Some((old, new)) = &apply {
            let is_plain = path.components().all(|name| matches!(name, Component::Normal(_)));
            let found = match is_plain && !path.starts_with(PRIVATE_DIR) {
                true => files.read(path, MAX_HELD_BYTES)?,
                false => Found::Other,
            };
            if !matches!(&found, Found::Version(found) if found == old || found == new) {
                return Err(HostError::ProposalOutdated { file: held.path });
            }
        }
        let by = self.options.person.clone();
        let action = if approve { "change.approve" } else { "change.reject" };
        let event = Event::new(&by, action, held.session.as_str(), Outcome::Done)
            .with_detail(json!({ "change": held.id.as_str(), "path": held.path, "by": held.by }));
        let (id, reason) = (held.id.as_str().to_owned(), reason.map(str::to_owned));
        let (now, root) = (self.now(), self.root.clone());
        self.writer.write(now, move |write| -> Result<_, HostError> {
            let decided = write.held_decide(&id, approve, &by, reason.as_deref(), now)?;
            write.audit(&event)?;
            // In the transaction, so that the change stays open if the file cannot be written.
            if let Some((_, new)) = &apply {
                WorkspaceFiles::new(&root).write(Path::new(&decided.path), new)?;
                // A turn that is running now expects it.
                before::settle(&root, None, &decided.path, new)?;
            }
            Ok(decided)
        })
    }
}
