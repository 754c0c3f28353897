//! The index, so that `git status` in the repository says what a person expects.
//!
//! We never read it: what counts is the branch. So one that is missing or damaged is made anew.

use gix::index::entry::{Flags, Mode, Stat};
use gix::index::{File, State, write};

use super::{FileChange, Repository};
use crate::error::SkillError;

impl Repository {
    /// Notes what a commit changed.
    pub(super) fn update_index(&self, changes: &[FileChange]) -> Result<(), SkillError> {
        let mut index = match self.git.open_index() {
            Ok(index) => index,
            Err(_) => self.index_of_head()?,
        };
        index.remove_tree();
        index.remove_entries(|_, path, _| changes.iter().any(|change| path == change.path));
        for change in changes {
            let Some(content) = &change.content else { continue };
            let id = self.blob_id(content)?;
            push(&mut index, &change.path, id, change.executable);
        }
        index.sort_entries();
        index.write(write::Options::default()).map_err(|e| self.damaged(&e))
    }

    fn index_of_head(&self) -> Result<File, SkillError> {
        let state = State::new(self.git.object_hash());
        let mut index = File::from_state(state, self.git.index_path());
        for (path, blob) in self.files(self.head()?)? {
            push(&mut index, &path, blob.id, blob.executable);
        }
        Ok(index)
    }
}

fn push(index: &mut File, path: &str, id: gix::ObjectId, executable: bool) {
    let mode = if executable { Mode::FILE_EXECUTABLE } else { Mode::FILE };
    index.dangerously_push_entry(Stat::default(), id, Flags::empty(), mode, path.into());
}
