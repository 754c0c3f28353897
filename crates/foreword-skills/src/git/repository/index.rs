//! The index, so that `git status` in the repository says what a person expects.
//!
//! We never read it: what counts is the branch. So one that is missing or damaged is made anew.

use std::collections::BTreeMap;
use std::path::PathBuf;

use gix_index::entry::{Flags, Mode, Stat};
use gix_index::{File, State, decode, write};

use super::{BRANCH, Blob, HASH, Repository};
use crate::error::SkillError;

/// A path and what the newest commit holds there.
pub(crate) type IndexChange = (String, Option<Blob>);

impl Repository {
    /// Notes what commits changed. Done once for many, since it costs as much as there are files.
    pub(crate) fn update_index(&self, changes: &[IndexChange]) -> Result<(), SkillError> {
        let index = File::at(self.index_path(), HASH, false, decode::Options::default());
        let mut index = match index {
            Ok(index) => index,
            Err(_) => self.index_of_head()?,
        };
        // Of several changes to one path the last one counts.
        let changes: BTreeMap<&[u8], &Option<Blob>> =
            changes.iter().map(|(path, blob)| (path.as_bytes(), blob)).collect();
        index.remove_tree();
        index.remove_entries(|_, path, _| changes.contains_key::<[u8]>(path));
        for (path, blob) in changes {
            if let Some(blob) = blob {
                push(&mut index, path, *blob);
            }
        }
        self.write_index(index)
    }

    /// Makes the index anew if a process was killed between its commit and the index.
    pub(crate) fn mend_index(&self) -> Result<(), SkillError> {
        let changed =
            |path: &str| self.directory.join(path).metadata().and_then(|m| m.modified()).ok();
        match (changed(BRANCH), changed("index")) {
            (Some(branch), Some(index)) if index >= branch => Ok(()),
            (None, _) => Ok(()),
            _ => self.write_index(self.index_of_head()?),
        }
    }

    fn write_index(&self, mut index: File) -> Result<(), SkillError> {
        index.sort_entries();
        index.write(write::Options::default()).map_err(|e| self.damaged(&e))
    }

    fn index_path(&self) -> PathBuf {
        self.directory.join("index")
    }

    fn index_of_head(&self) -> Result<File, SkillError> {
        let mut index = File::from_state(State::new(HASH), self.index_path());
        for (path, blob) in self.files(self.head()?)? {
            push(&mut index, path.as_bytes(), blob);
        }
        Ok(index)
    }
}

fn push(index: &mut File, path: &[u8], blob: Blob) {
    let mode = if blob.executable { Mode::FILE_EXECUTABLE } else { Mode::FILE };
    index.dangerously_push_entry(Stat::default(), blob.id, Flags::empty(), mode, path.into());
}
