//! What only means harm together: a shell and a connection, a remote and a push.

use std::collections::HashSet;

use super::hosts::Standing;
use super::{Judge, short};
use crate::screen::code::effect::{Act, Effect};
use crate::screen::code::language::Language;
use crate::screen::verdict::Verdict;

impl Judge<'_> {
    /// A program opens a connection and starts a shell that takes its orders from its input: however
    /// the two are joined, in whatever language.
    pub(super) fn joined_shells(&mut self, effects: &[Effect]) {
        let opens = |e: &&Effect| {
            e.act == Act::Listen
                || e.act == Act::Connect && self.standing(e, &e.target) != Standing::Local
        };
        let connected: HashSet<usize> = effects.iter().filter(opens).map(|e| e.file).collect();
        for shell in effects.iter().filter(|e| e.act == Act::Shell) {
            // Scripts wait for a port and hand over to a shell; they join the two by other means.
            let program = self.programs.get(shell.file);
            let is_script = program.is_none_or(|program| program.language == Language::Shell);
            if !is_script && !self.in_document(shell) && connected.contains(&shell.file) {
                let message = "Gives another machine a shell.".into();
                self.add(shell, "reverse-shell", Verdict::Reject, message);
            }
        }
    }

    /// A program adds a remote that the documents do not name, and pushes.
    pub(super) fn repositories(&mut self, effects: &[Effect]) {
        let pushing = effects.iter().filter(|e| e.target.starts_with("git push"));
        let pushing: HashSet<usize> = pushing.map(|e| e.file).collect();
        let mut found = Vec::new();
        for remote in effects.iter().filter(|e| e.act == Act::Copy && !self.in_document(e)) {
            if remote.target.starts_with("git remote ") && pushing.contains(&remote.file) {
                let standing = self.standing(remote, &remote.target);
                if matches!(standing, Standing::Stranger | Standing::Weak(_)) {
                    found.push((remote, self.whereto(standing, &remote.target)));
                }
            }
        }
        for (remote, to) in found {
            let message = format!("Pushes the repository to {}.", short(&to));
            self.add(remote, "data-upload", Verdict::Reject, message);
        }
    }
}
