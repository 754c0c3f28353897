//! `foreword-migration.toml`: what a migration wrote here, and what it could not bring along.
//!
//! The file is kept with the workspace, so that everyone who has the workspace can see what was lost
//! and `foreword sync` can tell which side changed. It instructs no agent.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::config::toml_text;
use crate::error::WorkspaceError;
use crate::read::{SourceFile, line_of};
use crate::rel_path::RelPath;
use crate::workspace::Workspace;

/// The name of the record.
pub const MIGRATION_FILE: &str = "foreword-migration.toml";

const VERSION: u32 = 1;

const INTRO: &str = "\
# Written by `foreword init --from` and `foreword sync`. Commit this file.
#
# `foreword lint` fails for every [[lost]] entry. Once you have replaced what was lost, or decided to
# do without it, set `accepted = true`.

";

/// What a migration wrote, and what it lost.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MigrationRecord {
    /// The layouts that were found, by name.
    pub layouts: Vec<String>,
    /// Whether the workspace is in the directory of the old setup, which then holds the files below too.
    pub in_place: bool,
    /// What the old setup did and this workspace does not.
    pub lost: Vec<MigrationLoss>,
    /// The files that were written, with the digests of their bytes at that time.
    pub files: BTreeMap<String, String>,
}

/// Something that a migration could not bring along.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct MigrationLoss {
    /// The file of the old setup, and the part of it if it is not the whole file.
    pub source: String,
    /// Why it was lost, and what to do.
    pub reason: String,
    /// Whether a person decided to do without it.
    pub accepted: bool,
    /// Its line in the record; 0 if it was not read from there.
    pub line: usize,
}

#[derive(Serialize)]
struct Written<'a> {
    version: u32,
    layouts: &'a [String],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    in_place: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lost: Vec<WrittenLoss<'a>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    files: &'a BTreeMap<String, String>,
}

#[derive(Serialize)]
struct WrittenLoss<'a> {
    source: &'a str,
    reason: &'a str,
    accepted: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    version: u32,
    #[serde(default)]
    layouts: Vec<String>,
    #[serde(default)]
    in_place: bool,
    #[serde(default)]
    lost: Vec<RawLoss>,
    #[serde(default)]
    files: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLoss {
    source: Spanned<String>,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    accepted: bool,
}

impl MigrationRecord {
    /// The digest of a file, as the record holds it.
    #[must_use]
    pub fn digest(bytes: &[u8]) -> String {
        format!("blake3:{}", blake3::hash(bytes).to_hex())
    }

    /// Reads a record.
    pub fn parse(file: &SourceFile) -> Result<Self, WorkspaceError> {
        let mut raw: Raw = toml_text::parse(file)?;
        if raw.version != VERSION {
            return Err(WorkspaceError::BadValue {
                path: file.path.clone(),
                line: toml_text::line_of_key(&file.text, &["version"]),
                key: "version".into(),
                message: format!("is {}, this version of Foreword reads {VERSION}", raw.version),
            });
        }
        let lost = std::mem::take(&mut raw.lost).into_iter().map(|loss| MigrationLoss {
            line: line_of(file.text.as_bytes(), loss.source.span().start),
            source: loss.source.into_inner(),
            reason: loss.reason,
            accepted: loss.accepted,
        });
        let Raw { layouts, in_place, files, .. } = raw;
        Ok(Self { layouts, in_place, lost: lost.collect(), files })
    }

    /// The text of the record's file; `None` if it cannot be written as TOML.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        let lost = self.lost.iter().map(|loss| WrittenLoss {
            source: &loss.source,
            reason: &loss.reason,
            accepted: loss.accepted,
        });
        let written = Written {
            version: VERSION,
            layouts: &self.layouts,
            in_place: self.in_place,
            lost: lost.collect(),
            files: &self.files,
        };
        toml::to_string(&written).ok().map(|body| format!("{INTRO}{body}"))
    }

    /// Keeps the decisions of an earlier record for the losses that are still the same.
    pub fn keep_decisions(&mut self, earlier: &Self) {
        for loss in &mut self.lost {
            loss.accepted |= earlier.lost.iter().any(|known| {
                known.accepted && known.source == loss.source && known.reason == loss.reason
            });
        }
    }
}

impl Workspace {
    /// The record of the migration that made this workspace; `None` if none did.
    pub fn migration(&self) -> Result<Option<MigrationRecord>, WorkspaceError> {
        let file = self.read(&RelPath::listed("", MIGRATION_FILE))?;
        file.as_ref().map(MigrationRecord::parse).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scratch;

    fn record() -> MigrationRecord {
        MigrationRecord {
            layouts: vec!["Claude Code".into()],
            in_place: true,
            lost: vec![MigrationLoss {
                source: ".claude/settings.json: hooks.\"Stop\"".into(),
                reason: "Foreword runs no hooks".into(),
                accepted: false,
                line: 0,
            }],
            files: BTreeMap::from([("AGENTS.md".into(), MigrationRecord::digest(b"x"))]),
        }
    }

    #[test]
    fn a_record_reads_as_it_was_written_with_the_lines_of_its_losses() {
        let scratch = Scratch::new(&[]);
        assert_eq!(scratch.open().migration().unwrap(), None);
        scratch.write(MIGRATION_FILE, record().text().unwrap());
        let mut read = scratch.open().migration().unwrap().unwrap();
        assert_eq!(read.lost[0].line, 11);
        read.lost[0].line = 0;
        assert_eq!(read, record());
    }

    #[test]
    fn a_decision_holds_for_the_same_loss_only() {
        let mut earlier = record();
        earlier.lost[0].accepted = true;
        let mut same = record();
        same.keep_decisions(&earlier);
        assert!(same.lost[0].accepted);
        let mut other = record();
        other.lost[0].reason.push('!');
        other.keep_decisions(&earlier);
        assert!(!other.lost[0].accepted);
    }

    #[test]
    fn another_version_and_unknown_keys_are_refused_by_line() {
        let refuse = |text: &str| {
            let file = SourceFile { path: MIGRATION_FILE.into(), text: text.into(), first_line: 1 };
            MigrationRecord::parse(&file).unwrap_err().to_string()
        };
        assert_eq!(
            refuse("\nversion = 2\n"),
            "foreword-migration.toml:2: `version` is 2, this version of Foreword reads 1"
        );
        assert!(refuse("version = 1\nloss = 1\n").contains(":2: unknown key `loss`"));
    }
}
