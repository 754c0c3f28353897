//! Where instructions go: the first document stays the main agent's AGENTS.md (or CLAUDE.md), and all
//! others follow in CONTEXT.md, each under the name of its file.

use super::import::Import;
use super::imports::{self, Expanded, Following};

pub(super) const AGENTS: &str = "AGENTS.md";
pub(super) const CLAUDE: &str = "CLAUDE.md";
pub(super) const CONTEXT: &str = "CONTEXT.md";

/// Documents that are yet to be placed.
#[derive(Debug, Default)]
pub(super) struct Instructions {
    parts: Vec<Part>,
    /// The CONTEXT.md of a layout that has one, which comes before the others.
    pub(super) context: Option<String>,
}

#[derive(Debug)]
struct Part {
    source: String,
    heading: String,
    text: String,
    note: String,
}

impl Instructions {
    /// Adds a document, to be placed after those before it.
    pub(super) fn add(&mut self, source: &str, heading: &str, text: &str, note: &str) {
        self.parts.push(Part {
            source: source.to_owned(),
            heading: heading.to_owned(),
            text: text.trim().to_owned(),
            note: note.to_owned(),
        });
    }
}

impl Import {
    /// Places AGENTS.md and CLAUDE.md of the root. `claude` is where CLAUDE.md is, if it is one.
    pub(super) fn place_main(&mut self, agents: Option<&str>, claude: Option<&str>) {
        let agents_text = agents.and_then(|path| self.read(path));
        if let (Some(path), Some(_)) = (agents, &agents_text) {
            self.copy(path, AGENTS);
        }
        let Some(claude) = claude else { return };
        let Some(text) = self.read(claude) else { return };
        let skip = agents.filter(|_| agents_text.is_some());
        if let (Some(agents), Some(main)) = (skip, &agents_text)
            && main.trim() == text.trim()
        {
            self.imports_of_main(agents, main, &[]);
            return self.row_same(claude);
        }
        let how = Following { skip, ..Following::default() };
        let expanded = imports::expand(&self.source, claude, &text, how);
        self.record_imports(claude, &expanded);
        if let (Some(agents), Some(main), true) = (skip, &agents_text, expanded.names_skipped) {
            self.imports_of_main(agents, main, &expanded.included);
        }
        let has_imports = !expanded.included.is_empty();
        if agents_text.is_some() {
            if expanded.text.trim().is_empty() {
                return self.mapped(claude, AGENTS, "only imports AGENTS.md");
            }
            let note =
                if has_imports { "with its imports, below AGENTS.md" } else { "below AGENTS.md" };
            self.instructions.add(claude, claude, &expanded.text, note);
            self.record_included(&expanded, CONTEXT);
        } else if has_imports {
            if self.add_text(claude, AGENTS, expanded.text.clone()) {
                self.mapped(claude, AGENTS, "with its imports inlined");
                self.record_included(&expanded, AGENTS);
            }
        } else {
            self.copy(claude, CLAUDE);
        }
    }

    /// What AGENTS.md imports for a tool that reads it through CLAUDE.md. AGENTS.md stays as it is, and the
    /// imported texts follow.
    fn imports_of_main(&mut self, agents: &str, text: &str, seen: &[String]) {
        let how = Following { seen, ..Following::default() };
        let expanded = imports::expand(&self.source, agents, text, how);
        self.record_imports(agents, &expanded);
        for (path, text) in &expanded.direct {
            self.instructions.add(path, path, text, "imported with `@`, below AGENTS.md");
        }
        // Those that were imported by them have no place of their own.
        let is_direct = |path: &String| expanded.direct.iter().any(|(direct, _)| direct == path);
        for path in expanded.included.iter().filter(|path| !is_direct(path)) {
            self.mapped(path, CONTEXT, "imported with `@`");
        }
    }

    /// Puts the imports of a text into it, with rows for them.
    pub(super) fn with_imports(
        &mut self,
        path: &str,
        text: &str,
        to: &str,
        from_root: bool,
    ) -> String {
        let how = Following { from_root, ..Following::default() };
        let expanded = imports::expand(&self.source, path, text, how);
        self.record_imports(path, &expanded);
        self.record_included(&expanded, to);
        expanded.text
    }

    /// Where instructions beside the main ones go, once every layout is read.
    pub(super) fn place_of_others(&self) -> &'static str {
        let has_main = self.has(AGENTS) || self.has(CLAUDE);
        if has_main || self.instructions.context.is_some() { CONTEXT } else { AGENTS }
    }

    fn row_same(&mut self, path: &str) {
        self.mapped(path, AGENTS, "has the same text");
    }

    /// Rows for references that could not be followed.
    pub(super) fn record_imports(&mut self, path: &str, expanded: &Expanded) {
        for (name, reason) in &expanded.lost {
            self.lost(&format!("{path}: {name}"), reason.as_str());
        }
        for name in &expanded.missing {
            self.left(&format!("{path}: @{name}"), "no such file");
        }
        for name in &expanded.directories {
            self.left(&format!("{path}: @{name}"), "a directory; only files are imported");
        }
    }

    /// Rows for the files that were put into another.
    pub(super) fn record_included(&mut self, expanded: &Expanded, to: &str) {
        for included in &expanded.included {
            self.mapped(included, to, "imported with `@`");
        }
    }

    /// Writes the documents that are left, after all layouts are read.
    pub(super) fn place_instructions(&mut self) {
        let Instructions { parts, context } = std::mem::take(&mut self.instructions);
        let has_main = self.has(AGENTS) || self.has(CLAUDE);
        let to = if has_main || context.is_some() { CONTEXT } else { AGENTS };
        if parts.is_empty() {
            if context.is_some() {
                self.copy(CONTEXT, CONTEXT);
            }
            return;
        }
        let mut text = context.as_deref().map(|own| own.trim_end().to_owned()).unwrap_or_default();
        for part in &parts {
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            if part.heading.is_empty() {
                text.push_str(&part.text);
            } else {
                text.push_str(&format!("## {}\n\n{}", one_line(&part.heading), part.text));
            }
        }
        text.push('\n');
        let from = parts.first().map_or(to, |part| part.source.as_str()).to_owned();
        if !self.add_text(&from, to, text) {
            return;
        }
        if context.is_some() {
            self.mapped(CONTEXT, to, "with other instructions below it");
        }
        for part in parts {
            self.mapped(&part.source, to, part.note);
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
