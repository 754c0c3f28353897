//! Making the repository.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use super::{BRANCH, sync_file};
use crate::error::SkillError;

/// Makes a repository beside its place and moves it there whole: a crash leaves nothing half made.
pub(super) fn create(directory: &Path, work_tree: &str) -> Result<(), SkillError> {
    let io = |path: &Path| {
        let path = path.to_owned();
        move |source| SkillError::io(&path, source)
    };
    let parent = directory.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(parent).map_err(io(parent))?;
    let making = parent.join(format!("skills.git.{}", std::process::id()));
    if making.exists() {
        fs::remove_dir_all(&making).map_err(io(&making))?;
    }
    for folder in ["objects/info", "objects/pack", "refs/heads", "refs/tags", "info"] {
        let folder = making.join(folder);
        fs::create_dir_all(&folder).map_err(io(&folder))?;
    }
    let config = format!(
        "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\
         \tworktree = {work_tree}\n\tlogallrefupdates = false\n\tautocrlf = false\n\
         [gc]\n\tauto = 0\n"
    );
    for (name, text) in [
        ("HEAD", format!("ref: {BRANCH}\n")),
        ("config", config),
        ("description", "The skills of a Foreword workspace, one commit per change\n".to_owned()),
    ] {
        let path = making.join(name);
        let mut file = File::create(&path).map_err(io(&path))?;
        file.write_all(text.as_bytes()).map_err(io(&path))?;
        file.sync_all().map_err(io(&path))?;
    }
    match fs::rename(&making, directory) {
        Ok(()) => sync_file(parent),
        // Another process was first.
        Err(_) if directory.join("HEAD").exists() => {
            fs::remove_dir_all(&making).map_err(io(&making))
        }
        Err(source) => Err(SkillError::io(directory, source)),
    }
}
