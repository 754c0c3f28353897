//! Modes: how the agent works, how much of the prompt it gets, and who started it.

use serde::{Deserialize, Serialize};

use crate::names::{Choice, Inferable, names};

const PLAN_WORDS: [&str; 4] = ["research", "explore", "analyze", "investigate"];
const REVIEW_WORDS: [&str; 4] = ["review", "audit", "verify", "check"];

names! {
    /// The mode an agent works in.
    ///
    /// ```
    /// use foreword::{Choice, Hints, Mode};
    ///
    /// assert_eq!(Mode::infer(Choice::Auto, Hints::default(), "investigate the crash"), Mode::Plan);
    /// ```
    pub enum Mode: "mode" {
        /// Explore and plan; change nothing.
        Plan = "plan",
        /// Do the work.
        Act = "act",
        /// Check existing work.
        Review = "review",
    }
}

/// The mode as asked for.
///
/// ```
/// use foreword::{Choice, Mode, ModeChoice};
///
/// let choice: ModeChoice = "act".parse().unwrap();
/// assert_eq!(choice, Choice::Fixed(Mode::Act));
/// ```
pub type ModeChoice = Choice<Mode>;

impl Inferable for Mode {
    const AUTO: &'static str = "Inferred from the task.";
    const NAMES: &'static [&'static str] = &["auto", "plan", "act", "review"];
}

names! {
    /// How much of the prompt is built.
    ///
    /// ```
    /// use foreword::{Blueprint, Context};
    ///
    /// let built = |json: &str| {
    ///     Blueprint::builtin("standard").unwrap().build(&Context::from_json(json).unwrap()).tokens()
    /// };
    /// assert!(built(r#"{"promptMode": "minimal"}"#) <= built("{}"));
    /// ```
    pub enum PromptMode: "prompt mode", default Full {
        /// All sections.
        Full = "full",
        /// Identity and tools, for sub-agents and scheduled runs.
        Minimal = "minimal",
        /// Identity only.
        None = "none",
    }
}

names! {
    /// Who started the agent.
    ///
    /// ```
    /// use foreword::SpawnMode;
    ///
    /// assert_eq!("sub-agent".parse(), Ok(SpawnMode::SubAgent));
    /// ```
    pub enum SpawnMode: "start mode", default TopLevel {
        /// As if by a person.
        TopLevel = "top-level",
        /// As the sub-agent of another.
        SubAgent = "sub-agent",
    }
}

/// What the caller knows that helps to infer the mode.
///
/// ```
/// use foreword::{Choice, Hints, Mode};
///
/// let hints = Hints { has_git_changes: true, ..Hints::default() };
/// assert_eq!(Mode::infer(Choice::Auto, hints, "review the change"), Mode::Act);
/// assert_eq!(Mode::infer(Choice::Auto, Hints::default(), "review the change"), Mode::Review);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Hints {
    /// A person is at the terminal.
    pub is_interactive: bool,
    /// The work tree has changes.
    pub has_git_changes: bool,
    /// The person named the files to work on.
    pub has_named_files: bool,
}

impl Mode {
    /// The explicit choice, else the caller's hints, else words of the task, else `act`.
    pub fn infer(choice: ModeChoice, hints: Hints, task: &str) -> Self {
        Self::indicated(choice, hints, task).unwrap_or(Self::Act)
    }

    /// The mode if something indicates one; `None` where `act` would only be the default.
    pub fn indicated(choice: ModeChoice, hints: Hints, task: &str) -> Option<Self> {
        Some(match choice {
            Choice::Fixed(mode) => mode,
            Choice::Auto if hints.is_interactive => Self::Plan,
            Choice::Auto if hints.has_git_changes || hints.has_named_files => Self::Act,
            Choice::Auto if has_word(task, &PLAN_WORDS) => Self::Plan,
            Choice::Auto if has_word(task, &REVIEW_WORDS) => Self::Review,
            Choice::Auto => return None,
        })
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
        let auto = |hints, task| Mode::infer(Choice::Auto, hints, task);
        let none = Hints::default();
        let changes = Hints { has_git_changes: true, ..none };
        let interactive = Hints { is_interactive: true, ..changes };
        let files = Hints { has_named_files: true, ..none };
        assert_eq!(Mode::infer(Choice::Fixed(Mode::Review), interactive, "explore"), Mode::Review);
        assert_eq!(auto(interactive, "review this"), Mode::Plan);
        assert_eq!(auto(changes, "explore"), Mode::Act);
        assert_eq!(auto(files, "explore"), Mode::Act);
        assert_eq!(auto(none, "Please INVESTIGATE and review"), Mode::Plan);
        assert_eq!(auto(none, "double-check it"), Mode::Review);
        assert_eq!(auto(none, "checker, reviews, unexplored"), Mode::Act);
        assert_eq!(auto(none, ""), Mode::Act);
    }
}
