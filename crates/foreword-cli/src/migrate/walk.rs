//! The files below a folder of the old setup: agents, commands and rules may lie in subfolders.

use std::path::PathBuf;

use super::import::Import;
use super::source::Kind;

const MAX_DEPTH: usize = 4;

impl Import {
    /// Every file below a folder, in the order of the names; hidden ones are skipped. What is not looked into
    /// gets a row.
    pub(super) fn files_below(&mut self, folder: &str) -> Vec<String> {
        let mut found = Vec::new();
        if self.source.is_dir(folder) {
            self.look_below(folder, &mut Vec::new(), &mut found);
        }
        found
    }

    fn look_below(&mut self, folder: &str, above: &mut Vec<PathBuf>, found: &mut Vec<String>) {
        let resolved = match self.source.resolve(folder) {
            Ok(resolved) => resolved,
            Err(reason) => return self.lost(folder, reason),
        };
        if above.contains(&resolved) {
            return self.left(folder, "symbolic link to a parent directory");
        }
        if above.len() > MAX_DEPTH {
            return self.lost(folder, format!("nested more than {MAX_DEPTH} directories deep"));
        }
        let names = match self.source.names(folder) {
            Ok(names) => names,
            Err(reason) => return self.lost(folder, reason),
        };
        above.push(resolved);
        for name in names.into_iter().filter(|name| !name.starts_with('.')) {
            let path = format!("{folder}/{name}");
            if !self.may_visit() {
                self.lost(&path, "too many files; the rest is skipped");
                break;
            }
            match self.source.kind(&path) {
                Kind::Directory => self.look_below(&path, above, found),
                // What cannot be read is reported where it is.
                Kind::File | Kind::Missing => found.push(path),
            }
        }
        above.pop();
    }
}

/// The last name of a path.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
