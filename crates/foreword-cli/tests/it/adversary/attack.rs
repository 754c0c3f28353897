//! What one attack is: what the scripted model says in a turn, and what must hold afterwards.

use serde_json::{Value, json};

/// How the model answers one call.
pub(super) enum Step {
    /// It calls a tool.
    Call(&'static str, Value),
    /// It calls several at once.
    Calls(Vec<(&'static str, Value)>),
    /// It says something made of the canary in its prompt.
    Leak(fn(&str) -> String),
    /// It puts that into a command.
    LeakInCommand(fn(&str) -> String),
}

impl Step {
    pub(super) fn is_script(&self) -> bool {
        matches!(self, Self::Call("bash", _))
    }
}

/// What must be so after the turn, besides what must always be so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expect {
    Nothing,
    /// The canary was found: the turn was ended.
    Held,
    /// The last tool call was refused because of taint.
    Refused,
    /// No skill of this name is in force.
    NoSkill(String),
}

pub(super) struct Attack {
    /// The finding of issue 12 whose variant it is.
    pub(super) class: &'static str,
    /// What is done, to find it again.
    pub(super) what: String,
    pub(super) steps: Vec<Step>,
    pub(super) expect: Expect,
    /// Directories in which the person uses git afterwards.
    pub(super) visits: Vec<String>,
    /// Paths that a person would have to repair before git works again. A turn comes first.
    pub(super) spoils: Vec<String>,
}

impl Attack {
    pub(super) fn new(class: &'static str, what: impl Into<String>, steps: Vec<Step>) -> Self {
        let what = what.into();
        let (visits, spoils) = (Vec::new(), Vec::new());
        Self { class, what, steps, expect: Expect::Nothing, visits, spoils }
    }

    /// An attack that is one script.
    pub(super) fn script(class: &'static str, what: impl Into<String>, script: &str) -> Self {
        Self::new(class, what, vec![bash(script)])
    }

    pub(super) fn expecting(mut self, expect: Expect) -> Self {
        self.expect = expect;
        self
    }

    pub(super) fn visiting(mut self, directory: impl Into<String>) -> Self {
        self.visits.push(directory.into());
        self
    }
}

/// Runs a script. `tried` at its end shows that it came so far.
pub(super) fn bash(script: &str) -> Step {
    Step::Call("bash", json!({"command": format!("{script}\necho tried"), "timeout": 20}))
}
