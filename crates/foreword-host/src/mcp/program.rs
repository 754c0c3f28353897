//! Finding the program of a server and what it needs to be seen of the machine.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::ServerFault;
use crate::turn::runner::{find, installation, is_system, prefix};

/// The longest first line of a script.
const MAX_FIRST_LINE: u64 = 512;

/// A program as a sandbox gets it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct LocatedProgram {
    /// The file itself, links resolved.
    pub(super) program: PathBuf,
    /// As it was found; a virtual environment of Python knows itself by that name.
    pub(super) found: PathBuf,
    /// Directories it must be able to read.
    pub(super) read_only: Vec<PathBuf>,
    /// Directories that come first in its `PATH`.
    pub(super) path: Vec<PathBuf>,
}

/// Finds a program: a path from the root of the workspace, or a name in the person's `PATH`.
pub(super) fn locate(name: &str, root: &Path, path: &str) -> Result<LocatedProgram, ServerFault> {
    let missing = || ServerFault::NoProgram { program: name.to_owned() };
    let found = if name.contains('/') { Some(root.join(name)) } else { find(name, path) }
        .ok_or_else(missing)?;
    let program = found.canonicalize().map_err(|_| missing())?;
    let mut located = LocatedProgram { found: found.clone(), ..LocatedProgram::default() };
    if !program.starts_with(root) {
        located.add(installation(&program));
        // Next to it is what it brings along: `bin` beside `lib`.
        if !program.ancestors().any(|path| path.ends_with("node_modules")) {
            located.add(prefix(&program));
            located.add(prefix(&found));
        }
    }
    if let Some(interpreter) = interpreter(&program, path) {
        located.path.extend(interpreter.parent().map(Path::to_owned));
        located.add(prefix(&interpreter));
        if let Ok(real) = interpreter.canonicalize() {
            located.add(prefix(&real));
        }
    }
    located.program = program;
    Ok(located)
}

impl LocatedProgram {
    fn add(&mut self, tree: Option<PathBuf>) {
        let tree = tree.filter(|tree| !is_system(tree) && !self.read_only.contains(tree));
        self.read_only.extend(tree);
    }
}

/// What runs a script, by its first line.
#[expect(clippy::disallowed_methods, reason = "a program on the person's PATH")]
fn interpreter(program: &Path, path: &str) -> Option<PathBuf> {
    let mut start = Vec::new();
    std::fs::File::open(program).ok()?.take(MAX_FIRST_LINE).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line.split_ascii_whitespace();
    let first = PathBuf::from(words.next()?);
    if first.ends_with("env") {
        let name = words.find(|word| !word.starts_with('-'))?;
        return find(name, path);
    }
    first.is_absolute().then_some(first)
}
