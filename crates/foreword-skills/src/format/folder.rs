//! A skill's folder against the format.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use foreword_workspace::{WorkspaceError, read_named};

use crate::error::SkillError;
use crate::format::{FormatFault, validate};
use crate::git::work_tree::WorkTree;

/// The largest file that is looked at; it is also the default of `max_file_bytes`.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// The file of a skill in its folder: `SKILL.md`, or `skill.md` where that is absent.
#[must_use]
pub fn skill_file(folder: &Path) -> Option<PathBuf> {
    ["SKILL.md", "skill.md"].iter().map(|name| folder.join(name)).find(|path| path.exists())
}

/// What the format has against a folder; nothing, if it is that of a valid skill.
///
/// The verdict is that of the reference validator, as for [`validate`], except that a file of more
/// than 4 MiB is refused unread. Names that lie outside the folder are not followed here: use it on
/// folders a person names, and the workspace for the rest.
#[must_use]
pub fn validate_folder(folder: &Path) -> Vec<FormatFault> {
    match read(folder) {
        Ok(text) => {
            let name = folder.file_name().map(|name| name.to_string_lossy());
            validate(&text, name.as_deref())
        }
        Err(message) => vec![FormatFault::at(1, message)],
    }
}

/// The files of a skill's folder, by path below it, within the limits of the store.
///
/// A link is an error, because its target could change after screening.
pub fn read_skill_folder(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>, SkillError> {
    let tree = WorkTree::open(folder)?;
    let mut files = BTreeMap::new();
    for name in tree.names()?.iter().filter(|name| *name != ".git") {
        files.extend(tree.files(name)?.into_iter().map(|(path, file)| (path, file.content)));
    }
    Ok(files)
}

fn read(folder: &Path) -> Result<String, String> {
    if !folder.is_dir() {
        return Err("is not a folder".into());
    }
    let Some(path) = skill_file(folder) else {
        return Err("the folder has no SKILL.md".into());
    };
    let bytes = read_named(&path, MAX_FILE_BYTES).map_err(|error| match error {
        WorkspaceError::TooLarge { limit, .. } => format!("SKILL.md is longer than {limit} bytes"),
        WorkspaceError::Io { source, .. } => format!("SKILL.md cannot be read: {source}"),
        _ => "SKILL.md is not a regular file".into(),
    })?;
    String::from_utf8(bytes).map_err(|error| {
        format!("SKILL.md is not UTF-8 text (byte {})", error.utf8_error().valid_up_to())
    })
}
