//! What is known after writing: which documents reach a prompt, and the record of the migration.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use foreword_gather::{Request, gather};
use foreword_workspace::{MIGRATION_FILE, MigrationLoss, MigrationRecord, Workspace};

use super::layout::Migration;
use super::row::Outcome;
use super::write::{NewFile, replace};
use crate::error::CliError;

/// Documents of the main agent that every prompt of it has to show.
const SHOWN: [&str; 8] = [
    "AGENTS.md",
    "CLAUDE.md",
    "CONTEXT.md",
    "SOUL.md",
    "IDENTITY.md",
    "USER.md",
    "TOOLS.md",
    "HEARTBEAT.md",
];

impl Migration {
    /// Turns rows into losses whose document is in no prompt of the main agent. A prompt that cannot be
    /// built is reported elsewhere.
    pub(crate) fn check_prompt(&mut self, root: &Path) {
        let request = Request { neutral: true, ..Request::default() };
        let Ok(gathered) = gather(root, &request) else { return };
        if gathered.context.is_bootstrap() {
            return;
        }
        let prompt = gathered.blueprint.build(&gathered.context);
        let sections = &prompt.manifest().sections;
        let shown: BTreeSet<&str> = sections
            .iter()
            .flat_map(|section| section.sources.iter().map(|source| source.path))
            .collect();
        for row in &mut self.rows {
            let Some(to) = row.to.as_deref() else { continue };
            let is_blank = self
                .files
                .iter()
                .any(|file| file.path == to && file.bytes.iter().all(u8::is_ascii_whitespace));
            if SHOWN.contains(&to) && !shown.contains(to) && !is_blank {
                row.note = Some(format!(
                    "the prompt of the main agent does not show {to}; add a section for it to the blueprint"
                ));
                row.outcome = Outcome::Lost;
                row.to = None;
            }
        }
    }

    /// The losses, for the record.
    pub(crate) fn losses(&self) -> Vec<MigrationLoss> {
        let lost = self.rows.iter().filter(|row| row.outcome == Outcome::Lost);
        lost.map(|row| MigrationLoss {
            source: row.source.clone(),
            reason: row.note.clone().unwrap_or_default(),
            accepted: false,
            line: 0,
        })
        .collect()
    }
}

/// The record of an earlier migration; none if there is none that can be read.
pub(crate) fn earlier(root: &Path) -> Result<Option<MigrationRecord>, CliError> {
    Ok(Workspace::open(root)?.migration()?)
}

/// Writes the record.
pub(crate) fn write(
    root: &Path,
    migration: &Migration,
    in_place: bool,
    files: BTreeMap<String, String>,
    earlier: Option<&MigrationRecord>,
) -> Result<MigrationRecord, CliError> {
    let layouts = migration.layouts.iter().map(|name| (*name).to_owned()).collect();
    let mut record = MigrationRecord { layouts, in_place, lost: migration.losses(), files };
    if let Some(earlier) = earlier {
        record.keep_decisions(earlier);
    }
    let text = record
        .text()
        .ok_or_else(|| CliError::internal(format!("cannot write {MIGRATION_FILE} as TOML")))?;
    replace(root, &NewFile::text(MIGRATION_FILE, text))?;
    Ok(record)
}
