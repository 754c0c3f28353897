//! What a command for `bash` runs, and which files it reads and writes, as far as its text says.
//!
//! Every command inside is noted: in lists, substitutions and functions, and behind programs that run
//! another one. What cannot be read makes the text opaque, which the defaults ask about. `parse.rs` walks the
//! text, `programs.rs` knows what programs run in turn, `files.rs` and `written.rs` which files they read and
//! write, and `piped.rs` which files a command names for the next one of its pipeline.

mod files;
mod git;
mod parse;
mod piped;
mod programs;
mod words;
mod wrappers;
mod written;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::ToolUse;
use super::pattern::CommandPattern;
use super::rule::relative;
use programs::SHELLS;
use words::shown;

/// Places outside the workspace that anybody may write to.
const HARMLESS_TARGETS: [&str; 4] = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"];

/// Whether a program is a shell, by its name.
pub(super) fn is_shell(program: &str) -> bool {
    SHELLS.contains(&program.rsplit('/').next().unwrap_or(program))
}

/// Whether writing there changes nothing of anybody.
pub(super) fn is_harmless(path: &str) -> bool {
    path.starts_with("/tmp/") || HARMLESS_TARGETS.contains(&path)
}

/// The commands in a text for a shell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ShellReading {
    /// The whole text.
    pub(super) text: String,
    /// Every command inside, in each of the ways it can be read.
    commands: Vec<Vec<String>>,
    /// The first command, as it is written and without harmless options of git; without what it runs in
    /// turn.
    first: Vec<String>,
    /// Files that output is written to.
    targets: Vec<String>,
    /// Files that are read.
    sources: Vec<String>,
    /// Files that commands write, move or remove.
    written: Vec<String>,
    /// Directories that commands remove or overwrite with all that is in them.
    erased: Vec<String>,
    /// Files that the command being read gets the names of on its standard input.
    piped: Rc<[String]>,
    /// Directories it changes to.
    moves: Vec<PathBuf>,
    /// Whether it is one command with plain words.
    pub(super) is_simple: bool,
    /// Whether the text does not say what is run.
    is_opaque: bool,
}

impl ShellReading {
    pub(super) fn of(text: &str) -> Self {
        let mut reading = Self { text: text.trim().to_owned(), ..Self::default() };
        if !text.contains("\\\n") {
            reading.read(text, 0);
            return reading;
        }
        reading.read(&words::without_continuations(text), 0);
        // Where a here-document ends is the shell's to say: both readings count.
        if text.contains("<<") {
            let is_simple = reading.is_simple;
            reading.read(&text.replace("\\\n", ""), 0);
            reading.read(text, 0);
            reading.is_simple &= is_simple;
        }
        reading
    }

    /// Whether one of its commands fits. A word that is not known may be the one that the pattern names:
    /// `git $X` may be `git push`.
    pub(super) fn any(&self, pattern: &CommandPattern) -> bool {
        self.commands
            .iter()
            .any(|words| pattern.fits_words(words) || pattern.fits_text(&shown(words)))
    }

    /// Whether the command that is written there fits, whatever it runs in turn.
    pub(super) fn is_first(&self, pattern: &CommandPattern) -> bool {
        self.first.iter().any(|command| pattern.fits_text(command))
    }

    /// Whether it is one simple command that writes nowhere else.
    pub(super) fn is_plain(&self, call: &ToolUse<'_>) -> bool {
        self.is_simple && !self.is_opaque && !self.writes_outside(call)
    }

    /// The files it reads, from the root of the workspace, in each directory it may be in by then.
    pub(super) fn reads(&self, call: &ToolUse<'_>) -> Vec<String> {
        self.located(&[&self.sources], call)
    }

    /// The files it writes, moves or removes, likewise.
    pub(super) fn writes(&self, call: &ToolUse<'_>) -> Vec<String> {
        self.located(&[&self.targets, &self.written, &self.erased], call)
    }

    /// The directories that it removes or overwrites with all that is in them, likewise.
    pub(super) fn erases(&self, call: &ToolUse<'_>) -> Vec<String> {
        // What `find` finds is written this way.
        let is_all_below = |word: &&String| word.rsplit('/').next() == Some("**");
        let found: Vec<String> = self.written.iter().filter(is_all_below).cloned().collect();
        self.located(&[&self.erased, &found], call)
    }

    fn located(&self, words: &[&Vec<String>], call: &ToolUse<'_>) -> Vec<String> {
        let mut paths = BTreeSet::new();
        for place in self.places(call.cwd) {
            let words = words.iter().copied().flatten();
            paths.extend(words.map(|it| relative(it, &place, call.root)));
        }
        paths.into_iter().collect()
    }

    /// What the rules cannot see of it.
    pub(super) fn hides(&self, call: &ToolUse<'_>) -> Option<&'static str> {
        if self.is_opaque {
            return Some("it does not say in plain words what it runs");
        }
        self.writes_outside(call).then_some("it writes to a file outside the workspace")
    }

    /// The program and its subcommand or first option, for a rule that covers calls like this one; nothing
    /// where that would cover too much.
    pub(super) fn simple_prefix(&self) -> Option<String> {
        // Without the options of git in front of its subcommand.
        let command = self.first.last().filter(|_| self.is_simple && !self.is_opaque)?;
        let mut words = command.split(' ');
        let program = words.next()?;
        // An option is no subcommand: `rm -rf` with another path is something else.
        let is_name = |word: &str| {
            word.starts_with(|c: char| c.is_ascii_alphanumeric())
                && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        let runs_others = wrappers::runs_others(program) || SHELLS.contains(&program);
        match words.next() {
            None => Some(program.to_owned()),
            Some(second) if is_name(second) && !runs_others => Some(format!("{program} {second}")),
            // A path or a script: the same program with another one is something else.
            Some(_) => None,
        }
    }

    fn writes_outside(&self, call: &ToolUse<'_>) -> bool {
        let is_outside = |path: String| path.starts_with('/') && !is_harmless(&path);
        let places = self.places(call.cwd);
        self.targets
            .iter()
            .any(|target| places.iter().any(|place| is_outside(relative(target, place, call.root))))
    }

    /// The directories it may be in by the time of a command.
    fn places(&self, cwd: &Path) -> Vec<PathBuf> {
        let moved = self.moves.iter().map(|directory| cwd.join(directory));
        moved.chain([cwd.to_path_buf()]).collect()
    }
}
