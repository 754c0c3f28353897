//! What `init` did, for a person on standard error and for a program as JSON.

use std::path::Path;

use serde::Serialize;

use super::import::TakenOver;
use super::write::Outcome;
use crate::error::CliError;
use crate::terminal::Terminal;

/// Above this many lines of one kind a person is better served by their number.
const MOST_LINES: usize = 30;

/// A file that was not taken, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct NotTaken {
    pub(super) path: String,
    pub(super) reason: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    workspace: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    template: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    layout: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blueprint: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    agents: Vec<String>,
    written: Vec<String>,
    kept: Vec<String>,
    unchanged: Vec<String>,
    not_taken: Vec<NotTaken>,
    notes: Vec<String>,
    /// Why a prompt of the workspace cannot be built.
    pub(super) problems: Vec<String>,
    #[serde(skip)]
    signs: Vec<&'static str>,
    #[serde(skip)]
    written_from: Vec<Option<String>>,
}

impl Report {
    pub(super) fn new(workspace: &Path) -> Self {
        Self {
            workspace: workspace.display().to_string(),
            template: None,
            from: None,
            layout: None,
            blueprint: None,
            agents: Vec::new(),
            written: Vec::new(),
            kept: Vec::new(),
            unchanged: Vec::new(),
            not_taken: Vec::new(),
            notes: Vec::new(),
            problems: Vec::new(),
            signs: Vec::new(),
            written_from: Vec::new(),
        }
    }

    pub(super) fn template(&mut self, name: &'static str) {
        self.template = Some(name);
    }

    pub(super) fn from(&mut self, from: &Path, taken: &TakenOver) {
        self.from = Some(from.display().to_string());
        self.layout = Some(taken.layout.name());
        self.blueprint = Some(taken.blueprint);
        self.signs.clone_from(&taken.signs);
        self.agents.clone_from(&taken.agents);
        self.notes.clone_from(&taken.notes);
        self.not_taken.clone_from(&taken.not_taken);
    }

    pub(super) fn outcome(&mut self, outcome: Outcome) {
        (self.written, self.written_from) = outcome.written.into_iter().unzip();
        self.kept = outcome.kept;
        self.unchanged = outcome.unchanged;
        self.not_taken.extend(outcome.blocked);
    }

    pub(super) fn show(&self, terminal: &Terminal) -> Result<(), CliError> {
        if let (Some(from), Some(layout)) = (&self.from, self.layout) {
            terminal.say(&format!("{from}: {layout} layout ({})", self.signs.join(", ")));
        }
        let made = self.written.iter().zip(&self.written_from);
        let made: Vec<String> = made
            .map(|(path, from)| match from {
                Some(from) => format!("{} (from {})", shown(path), shown(from)),
                None => shown(path),
            })
            .collect();
        say_each(terminal, "wrote", &made);
        let shown_all = |paths: &[String]| paths.iter().map(|path| shown(path)).collect::<Vec<_>>();
        say_each(terminal, "unchanged", &shown_all(&self.unchanged));
        say_each(terminal, "kept", &shown_all(&self.kept));
        for NotTaken { path, reason } in self.not_taken.iter().take(MOST_LINES) {
            terminal.say(&format!("not taken  {}: {reason}", shown(path)));
        }
        if let Some(more @ 1..) = self.not_taken.len().checked_sub(MOST_LINES) {
            terminal.say(&format!("not taken  {more} more, which `--json` lists"));
        }
        for note in &self.notes {
            terminal.say(&format!("note: {note}"));
        }
        for problem in &self.problems {
            terminal.warn(problem);
        }
        terminal.say(&format!("next: {}", self.next_step()));
        if terminal.json { terminal.print_json(self) } else { Ok(()) }
    }

    /// The command that shows the first result.
    fn next_step(&self) -> String {
        let agent = match self.agents.as_slice() {
            [first, _, ..] => format!(" --agent {}", for_shell(first)),
            _ => String::new(),
        };
        format!("foreword build -w {}{agent} \"…\"", for_shell(&self.workspace))
    }
}

fn say_each(terminal: &Terminal, what: &str, lines: &[String]) {
    if lines.len() > MOST_LINES {
        terminal.say(&format!("{what:<9}  {} files", lines.len()));
        return;
    }
    for line in lines {
        terminal.say(&format!("{what:<9}  {line}"));
    }
}

/// A name from a directory someone else filled, without what a terminal would obey.
fn shown(path: &str) -> String {
    path.chars()
        .flat_map(|c| if c.is_control() { c.escape_debug().collect() } else { vec![c] })
        .collect()
}

/// A word of a command line.
fn for_shell(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-~+@%:,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        shown(word)
    } else {
        format!("'{}'", shown(word).replace('\'', "'\\''"))
    }
}
