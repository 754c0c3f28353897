//! The report of `init`: text on standard error, and JSON.

use std::path::Path;

use foreword_watch::Layout;
use serde::Serialize;

use super::from_capture::Captured;
use crate::error::CliError;
use crate::migrate::{Migration, Outcome, Row, Written};
use crate::terminal::{Terminal, counted, paint_err};

/// Longer lists are shown as a count.
const MAX_LINES: usize = 30;
/// The widest column of sources. What follows a longer one is on the next line, in its column.
const MAX_COLUMN: usize = 48;

/// A file that could not be written, and the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Blocked {
    path: String,
    reason: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    workspace: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    template: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    layouts: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from_capture: Option<Layout>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blueprint: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    agents: Vec<String>,
    written: Vec<String>,
    kept: Vec<String>,
    unchanged: Vec<String>,
    /// Files that could not be written.
    blocked: Vec<Blocked>,
    /// What became of the old setup.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    table: Vec<Row>,
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
            layouts: Vec::new(),
            blueprint: None,
            agents: Vec::new(),
            written: Vec::new(),
            kept: Vec::new(),
            unchanged: Vec::new(),
            blocked: Vec::new(),
            table: Vec::new(),
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

    pub(super) fn migrated(&mut self, from: &Path, migration: &Migration) {
        self.from = Some(from.display().to_string());
        self.layouts.clone_from(&migration.layouts);
        self.blueprint = Some(migration.blueprint.clone());
        self.signs.clone_from(&migration.signs);
        self.agents.clone_from(&migration.agents);
        self.notes.clone_from(&migration.notes);
        self.table.clone_from(&migration.rows);
    }

    pub(super) fn captured(&mut self, captured: &Captured) {
        self.from_capture = Some(captured.layout.clone());
        self.notes = captured.notes();
    }

    /// Adds a note.
    pub(super) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    pub(super) fn outcome(&mut self, written: Written) {
        (self.written, self.written_from) = written.new.into_iter().unzip();
        self.kept = written.kept;
        self.unchanged = written.unchanged;
        let blocked = written.blocked.into_iter();
        self.blocked = blocked.map(|(path, reason)| Blocked { path, reason }).collect();
    }

    pub(super) fn show(&self, terminal: &Terminal) -> Result<(), CliError> {
        if let Some(from) = &self.from {
            let layouts = self.layouts.join(", ");
            terminal.say(&format!("{from}: {layouts} ({})", self.signs.join(", ")));
            // The table says what became of each.
            terminal.say(&format!("wrote {}", counted(self.written.len() as u64, "file")));
        } else {
            self.show_files(terminal);
        }
        for Blocked { path, reason } in self.blocked.iter().take(MAX_LINES) {
            terminal.say(&format!("skipped    {}: {reason}", escape(path)));
        }
        self.show_table(terminal);
        for note in &self.notes {
            terminal.say(&format!("note: {note}"));
        }
        for problem in &self.problems {
            terminal.warn(problem);
        }
        terminal.say(&format!("next: {}", self.next_step()));
        if terminal.json { terminal.print_json(self) } else { Ok(()) }
    }

    fn show_files(&self, terminal: &Terminal) {
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
    }

    /// The table of a migration: losses last, next to what the user does next, and never shortened.
    fn show_table(&self, terminal: &Terminal) {
        if self.table.is_empty() {
            return;
        }
        let widths = self.table.iter().map(|row| escape(&row.source).chars().count());
        let width = widths.filter(|width| *width <= MAX_COLUMN).max().unwrap_or(0);
        for outcome in Outcome::ALL {
            let rows: Vec<&Row> = self.table.iter().filter(|row| row.outcome == outcome).collect();
            let most = if outcome == Outcome::Lost { usize::MAX } else { MAX_LINES };
            for row in rows.iter().take(most) {
                terminal.say(&table_line(row, width));
            }
            if let Some(more @ 1..) = rows.len().checked_sub(most) {
                let word = outcome.as_str();
                terminal.say(&format!("{word:<8} {more} more; pass `--json` to list them"));
            }
        }
        let counts = Outcome::ALL.map(|outcome| {
            let count = self.table.iter().filter(|row| row.outcome == outcome).count();
            format!("{count} {}", outcome.as_str())
        });
        terminal.say(&counts.join(", "));
        if self.table.iter().any(|row| row.outcome == Outcome::Lost) {
            terminal.say("`foreword lint` fails until each loss is handled or accepted in foreword-migration.toml");
        }
    }

    /// The command to run next.
    fn next_step(&self) -> String {
        let is_roles = self.blueprint.as_deref() == Some("roles");
        let agent = match self.agents.as_slice() {
            [first, _, ..] if is_roles || self.from.is_none() => {
                format!(" --agent {}", for_shell(first))
            }
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
            "foreword build{workspace}{agent} \"…\", or foreword run{workspace}{agent} \"hello\""
        )
    }
}

fn table_line(row: &Row, width: usize) -> String {
    let colour = match row.outcome {
        Outcome::Carried | Outcome::Mapped => "32",
        Outcome::Left => "33",
        Outcome::Lost => "31",
    };
    let word = format!("{:<8}", row.outcome.as_str());
    let source = escape(&row.source);
    let note = row.note.as_deref().map(escape);
    let what = match (row.to.as_deref().map(escape), note) {
        (Some(to), Some(note)) => format!("→ {to} ({note})"),
        (Some(to), None) => format!("→ {to}"),
        (None, note) => note.unwrap_or_default(),
    };
    let word = paint_err(&word, colour);
    let line = if source.chars().count() > width {
        format!("{word} {source}\n{:indent$}{what}", "", indent = width + 11)
    } else {
        format!("{word} {source:<width$}  {what}")
    };
    line.trim_end().to_owned()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_a_long_source_stays_in_its_column() {
        let row = |source: &str, to: Option<&str>, note: Option<&str>| Row {
            source: source.to_owned(),
            outcome: Outcome::Mapped,
            to: to.map(str::to_owned),
            note: note.map(str::to_owned),
        };
        let rows = [
            row("CLAUDE.md", Some("AGENTS.md"), None),
            row("settings: allow Bash(make test:*)", Some("foreword.toml"), Some("asked about")),
            row("hooks", None, Some("no hooks")),
            row("skills", None, None),
        ];
        let lines: Vec<String> = rows.iter().map(|row| table_line(row, 12)).collect();
        assert_eq!(
            lines.join("\n"),
            "mapped   CLAUDE.md     → AGENTS.md\n\
             mapped   settings: allow Bash(make test:*)\n                       \
             → foreword.toml (asked about)\n\
             mapped   hooks         no hooks\n\
             mapped   skills"
        );
    }
}
