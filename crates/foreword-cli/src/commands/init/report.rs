//! The report of `init`: text on standard error, and JSON.

use std::path::Path;

use foreword_watch::Layout;
use serde::Serialize;

use super::from_capture::Captured;
use super::import::Imported;
use super::write::Outcome;
use crate::error::CliError;
use crate::terminal::Terminal;

/// Longer lists are shown as a count.
const MAX_LINES: usize = 30;

/// A skipped file and the reason.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Skipped {
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
    from_capture: Option<Layout>,
    #[serde(skip_serializing_if = "Option::is_none")]
    layout: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blueprint: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    agents: Vec<String>,
    written: Vec<String>,
    kept: Vec<String>,
    unchanged: Vec<String>,
    #[serde(rename = "notTaken")]
    skipped: Vec<Skipped>,
    notes: Vec<String>,
    /// Whether the files of the template are trusted now.
    pub(super) trusted: bool,
    /// Errors of the prompts of the workspace.
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
            from_capture: None,
            layout: None,
            blueprint: None,
            agents: Vec::new(),
            written: Vec::new(),
            kept: Vec::new(),
            unchanged: Vec::new(),
            skipped: Vec::new(),
            notes: Vec::new(),
            trusted: false,
            problems: Vec::new(),
            signs: Vec::new(),
            written_from: Vec::new(),
        }
    }

    pub(super) fn template(&mut self, name: &'static str) {
        self.template = Some(name);
    }

    pub(super) fn imported(&mut self, from: &Path, imported: &Imported) {
        self.from = Some(from.display().to_string());
        self.layout = Some(imported.layout.name());
        self.blueprint = Some(imported.blueprint);
        self.signs.clone_from(&imported.signs);
        self.agents.clone_from(&imported.agents);
        self.notes.clone_from(&imported.notes);
        self.skipped.clone_from(&imported.skipped);
    }

    pub(super) fn captured(&mut self, captured: &Captured) {
        self.from_capture = Some(captured.layout.clone());
        self.notes = captured.notes();
    }

    /// Adds a note.
    pub(super) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    pub(super) fn outcome(&mut self, outcome: Outcome) {
        (self.written, self.written_from) = outcome.written.into_iter().unzip();
        self.kept = outcome.kept;
        self.unchanged = outcome.unchanged;
        self.skipped.extend(outcome.blocked);
    }

    pub(super) fn show(&self, terminal: &Terminal) -> Result<(), CliError> {
        if let (Some(from), Some(layout)) = (&self.from, self.layout) {
            terminal.say(&format!("{from}: {layout} layout ({})", self.signs.join(", ")));
        }
        let made = self.written.iter().zip(&self.written_from);
        let made: Vec<String> = made
            .map(|(path, from)| match from {
                Some(from) => format!("{} (from {})", escape(path), escape(from)),
                None => escape(path),
            })
            .collect();
        say_each(terminal, "wrote", &made);
        let escaped = |paths: &[String]| paths.iter().map(|path| escape(path)).collect::<Vec<_>>();
        say_each(terminal, "unchanged", &escaped(&self.unchanged));
        say_each(terminal, "kept", &escaped(&self.kept));
        for Skipped { path, reason } in self.skipped.iter().take(MAX_LINES) {
            terminal.say(&format!("skipped    {}: {reason}", escape(path)));
        }
        if let Some(more @ 1..) = self.skipped.len().checked_sub(MAX_LINES) {
            terminal.say(&format!("skipped    {more} more; pass `--json` to list them"));
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

    /// The command to run next.
    fn next_step(&self) -> String {
        let agent = match self.agents.as_slice() {
            [first, _, ..] => format!(" --agent {}", for_shell(first)),
            _ => String::new(),
        };
        let workspace = match self.workspace.as_str() {
            "." => String::new(),
            workspace => format!(" -w {}", for_shell(workspace)),
        };
        if self.from.is_some() || self.from_capture.is_some() {
            return format!(
                "foreword trust{workspace}, then foreword build{workspace}{agent} \"…\""
            );
        }
        format!(
            "foreword build{workspace}{agent} \"…\", or foreword run{workspace}{agent} -m \"hello\""
        )
    }
}

fn say_each(terminal: &Terminal, what: &str, lines: &[String]) {
    if lines.len() > MAX_LINES {
        terminal.say(&format!("{what:<9}  {} files", lines.len()));
        return;
    }
    for line in lines {
        terminal.say(&format!("{what:<9}  {line}"));
    }
}

/// An untrusted file name with escaped control characters.
fn escape(path: &str) -> String {
    path.chars()
        .flat_map(|c| if c.is_control() { c.escape_debug().collect() } else { vec![c] })
        .collect()
}

/// A word of a command line, quoted if necessary.
fn for_shell(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-~+@%:,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        escape(word)
    } else {
        format!("'{}'", escape(word).replace('\'', "'\\''"))
    }
}
