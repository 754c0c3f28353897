//! `.foreword/`: state and private layers, kept from the eyes of other agents.

use std::fs;
use std::io::{self, Write as _};
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
    let not_made =
        |path: &Path, source| WorkspaceError::NotMade { path: path.display().to_string(), source };
    if fs::symlink_metadata(&directory).is_ok_and(|meta| meta.is_symlink()) {
        return Err(WorkspaceError::IsLink { path: directory.display().to_string() });
    }
    fs::create_dir_all(&directory).map_err(|error| not_made(&directory, error))?;
    for (name, text) in [(".gitignore", PRIVATE_GITIGNORE), ("README.md", PRIVATE_README)] {
        let path = directory.join(name);
        // Only where there is nothing: not even a link that leads nowhere is written through.
        match fs::OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => {
                file.write_all(text.as_bytes()).map_err(|error| not_made(&path, error))?;
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(not_made(&path, error)),
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
    fn a_link_in_its_place_or_in_it_is_not_written_through() {
        let dir = tempfile::tempdir().unwrap();
        let (root, outside) = (dir.path().join("w"), dir.path().join("outside"));
        fs::create_dir_all(root.join(PRIVATE_DIR)).unwrap();
        fs::create_dir(&outside).unwrap();
        std::os::unix::fs::symlink(outside.join("made"), root.join(".foreword/README.md")).unwrap();
        make_private_dir(&root).unwrap();
        assert!(!outside.join("made").exists());
        fs::remove_dir_all(root.join(PRIVATE_DIR)).unwrap();
        std::os::unix::fs::symlink(&outside, root.join(PRIVATE_DIR)).unwrap();
        let error = make_private_dir(&root).unwrap_err();
        assert!(
            error.to_string().ends_with(".foreword: is a link, and links are not followed here")
        );
        let error = crate::Workspace::open(&root).unwrap_err();
        assert_eq!(error.to_string(), ".foreword: is a link, and links are not followed here");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    }

    #[test]
    fn the_folder_ignores_itself_and_warns() {
        assert_eq!(PRIVATE_GITIGNORE, "*\n");
        assert!(PRIVATE_README.contains("Do not read"));
        assert!(PRIVATE_README.contains("AI agent"));
    }
}
