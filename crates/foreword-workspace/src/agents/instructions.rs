//! AGENTS.md, or CLAUDE.md in its place: instructions for a directory and all below it.

use std::path::Path;

use crate::error::WorkspaceError;
use crate::read::SourceFile;
use crate::rel_path::RelPath;
use crate::workspace::Workspace;

impl Workspace {
    /// The instructions for a directory: the root's first, then each nested one on the way down,
    /// so that the nearest comes last.
    ///
    /// In each directory AGENTS.md counts, or CLAUDE.md where there is none. A relative `cwd` is
    /// taken from the root of the workspace. Outside the workspace only the root's instructions
    /// apply, for there is no way down from the root to it.
    pub fn instructions(&self, cwd: Option<&Path>) -> Result<Vec<SourceFile>, WorkspaceError> {
        let nested = match cwd {
            Some(cwd) => self.files.directories_towards(cwd)?,
            None => Vec::new(),
        };
        let mut found = Vec::new();
        for directory in std::iter::once("").chain(nested.iter().map(String::as_str)) {
            let file = match self.read(&RelPath::listed(directory, "AGENTS.md"))? {
                Some(file) => Some(file),
                None => self.read(&RelPath::listed(directory, "CLAUDE.md"))?,
            };
            found.extend(file);
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scratch;

    fn paths(workspace: &Workspace, cwd: Option<&Path>) -> Vec<String> {
        workspace.instructions(cwd).unwrap().into_iter().map(|file| file.path).collect()
    }

    #[test]
    fn claude_md_stands_in_for_a_missing_agents_md() {
        let scratch = Scratch::new(&[("CLAUDE.md", "c")]);
        assert_eq!(paths(&scratch.open(), None), ["CLAUDE.md"]);
        scratch.write("AGENTS.md", "a");
        assert_eq!(paths(&scratch.open(), None), ["AGENTS.md"]);
    }

    #[test]
    fn nested_instructions_come_nearest_last_each_with_its_own_fallback() {
        let scratch = Scratch::new(&[
            ("AGENTS.md", "root"),
            ("a/CLAUDE.md", "a"),
            ("a/b/x.txt", "no instructions here"),
            ("a/b/c/AGENTS.md", "c"),
            ("a/b/c/CLAUDE.md", "passed over"),
            ("a/other/AGENTS.md", "not on the way"),
        ]);
        let workspace = scratch.open();
        let expected = ["AGENTS.md", "a/CLAUDE.md", "a/b/c/AGENTS.md"];
        assert_eq!(paths(&workspace, Some(Path::new("a/b/c"))), expected);
        assert_eq!(paths(&workspace, Some(&scratch.path().join("a/b/c"))), expected);
        assert_eq!(paths(&workspace, Some(Path::new("a/b"))), ["AGENTS.md", "a/CLAUDE.md"]);
        assert_eq!(paths(&workspace, None), ["AGENTS.md"]);
    }

    #[test]
    fn outside_only_the_roots_instructions_apply() {
        let scratch = Scratch::new(&[("ws/AGENTS.md", "root"), ("AGENTS.md", "outside")]);
        let workspace = Workspace::open(&scratch.path().join("ws")).unwrap();
        assert_eq!(paths(&workspace, Some(scratch.path())), ["AGENTS.md"]);
        assert_eq!(workspace.instructions(Some(scratch.path())).unwrap()[0].text, "root");
        assert!(workspace.instructions(Some(Path::new("gone"))).is_err());
    }
}
