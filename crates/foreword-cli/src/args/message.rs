//! What is known about one message besides its text.

use clap::{Args, ValueEnum};
use foreword::Hints;

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct MessageArgs {
    /// Fact that decides the work mode if `--mode` does not; may be repeated
    #[arg(long = "hint", value_enum, value_name = "NAME")]
    hints: Vec<Hint>,
    /// The message does not mention the agent, so the agent may stay silent
    #[arg(long)]
    no_mention: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum, PartialEq, Eq)]
enum Hint {
    /// A person is at the terminal: plan
    Interactive,
    /// The work tree has changes: act
    GitChanges,
    /// The message names the files to work on: act
    NamedFiles,
}

impl MessageArgs {
    pub(crate) fn hints(&self) -> Hints {
        Hints {
            is_interactive: self.hints.contains(&Hint::Interactive),
            has_git_changes: self.hints.contains(&Hint::GitChanges),
            has_named_files: self.hints.contains(&Hint::NamedFiles),
        }
    }

    /// Whether the agent may stay silent; the workspace decides where this says nothing.
    pub(crate) fn reply_gate(&self) -> Option<bool> {
        self.no_mention.then_some(true)
    }
}
