//! `.foreword/`: state and private layers, kept from the eyes of other agents.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::WorkspaceError;

/// The folder of state and private layers.
pub const PRIVATE_DIR: &str = ".foreword";

/// The file of the database in that folder.
pub const DATABASE_FILE: &str = "foreword.db";

/// The text of `.foreword/.gitignore`: nothing in the folder is committed.
pub const PRIVATE_GITIGNORE: &str = include_str!("text/private-gitignore");

/// The text of `.foreword/README.md`: a warning that tells other agents to keep out.
pub const PRIVATE_README: &str = include_str!("text/private-readme.md");

/// Makes the folder, with what keeps it out of the user's own repository and other agents out of it;
/// gives its path.
pub fn make_private_dir(root: &Path) -> Result<PathBuf, WorkspaceError> {
    let directory = root.join(PRIVATE_DIR);
    let io =
        |path: &Path, source| WorkspaceError::NotMade { path: path.display().to_string(), source };
    fs::create_dir_all(&directory).map_err(|error| io(&directory, error))?;
    for (name, text) in [(".gitignore", PRIVATE_GITIGNORE), ("README.md", PRIVATE_README)] {
        let path = directory.join(name);
        if !path.exists() {
            fs::write(&path, text).map_err(|error| io(&path, error))?;
        }
    }
    Ok(directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_made_is_said_so() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = make_private_dir(file.path()).unwrap_err();
        assert!(error.to_string().contains(".foreword: cannot be created: "), "{error}");
    }

    #[test]
    fn the_folder_ignores_itself_and_warns() {
        assert_eq!(PRIVATE_GITIGNORE, "*\n");
        assert!(PRIVATE_README.contains("Do not read"));
        assert!(PRIVATE_README.contains("AI agent"));
    }
}
