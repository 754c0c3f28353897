//! Which mode the agent works in.

use serde::{Deserialize, Serialize};

use crate::context::{Hints, ModeChoice};

const PLAN_WORDS: [&str; 4] = ["research", "explore", "analyze", "investigate"];
const REVIEW_WORDS: [&str; 4] = ["review", "audit", "verify", "check"];

/// The mode an agent works in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Think and lay out steps; change nothing.
    Plan,
    /// Do the work.
    Act,
    /// Judge work that is there.
    Review,
}

impl Mode {
    /// Explicit choice, then the caller's hints, then words of the task, then `act`.
    pub fn infer(choice: ModeChoice, hints: Hints, task: &str) -> Self {
        Self::told(choice, hints, task).unwrap_or(Self::Act)
    }

    /// The same where something tells the mode; nothing where `act` would only be the default.
    pub fn told(choice: ModeChoice, hints: Hints, task: &str) -> Option<Self> {
        Some(match choice {
            ModeChoice::Plan => Self::Plan,
            ModeChoice::Act => Self::Act,
            ModeChoice::Review => Self::Review,
            ModeChoice::Auto if hints.is_interactive => Self::Plan,
            ModeChoice::Auto if hints.has_git_changes => Self::Act,
            ModeChoice::Auto if has_word(task, &PLAN_WORDS) => Self::Plan,
            ModeChoice::Auto if has_word(task, &REVIEW_WORDS) => Self::Review,
            ModeChoice::Auto => return None,
        })
    }

    /// The name used in files and prompts.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Act => "act",
            Self::Review => "review",
        }
    }
}

/// One of the words as a whole word, in any case.
fn has_word(text: &str, words: &[&str]) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .any(|word| words.iter().any(|w| w.eq_ignore_ascii_case(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explicit_then_hints_then_words_then_act() {
        let auto = |hints, task| Mode::infer(ModeChoice::Auto, hints, task);
        let none = Hints::default();
        let interactive = Hints { is_interactive: true, has_git_changes: true };
        let changes = Hints { is_interactive: false, has_git_changes: true };
        assert_eq!(Mode::infer(ModeChoice::Review, interactive, "explore"), Mode::Review);
        assert_eq!(auto(interactive, "review this"), Mode::Plan);
        assert_eq!(auto(changes, "explore"), Mode::Act);
        assert_eq!(auto(none, "Please INVESTIGATE and review"), Mode::Plan);
        assert_eq!(auto(none, "double-check it"), Mode::Review);
        assert_eq!(auto(none, "checker, reviews, unexplored"), Mode::Act);
        assert_eq!(auto(none, ""), Mode::Act);
    }
}
