//! Skills that agents may write and people govern.
//!
//! This crate owns the format of skills, their names, how they are listed, and the stores that keep
//! them: [`GitStore`], in which every change is screened, audited and one commit, and
//! [`ReadOnlyStore`]. It must not bypass the audit log: there is no way to change a skill through
//! this crate that leaves no entry. It reads no environment, and no clock but to judge the stamps of
//! files.
//!
//! A change goes through three steps, so that a crash between any two loses nothing: an *intent* in
//! the database, the *commit* in the repository, and *done* in the database. What is found half done
//! is finished or undone before the next change.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests look at what was written"))]

mod diff;
mod error;
mod flow;
mod format;
mod git;
mod listing;
mod listing_cache;
mod read_only;
mod store;

pub use diff::unified;
pub use error::SkillError;
pub use flow::approvals::{Approvals, Standing};
pub use flow::capabilities::proposal_findings;
pub use flow::import::{ImportOutcome, ImportState};
pub use flow::screening::{Opinion, Screeners};
pub use flow::taint::TaintState;
pub use format::complete_header::complete_header;
pub use format::draft::name_of_file;
pub use format::folder::{read_skill_folder, skill_file, validate_folder};
pub use format::name::{MAX_NAME_CHARS, NameError, SkillName, name_faults};
pub use format::{FormatFault, HeaderCommand, MAX_COMPATIBILITY_CHARS, SkillDocument, validate};
pub use git::git_store::{GitStore, GitStoreOptions};
pub use listing::{LIST_CACHE, ListedSkill, Listing, SkillMeta, list};
pub use read_only::ReadOnlyStore;
pub use store::{
    Act, CommittedChange, LogEntry, LogOptions, ProposalRequest, ProposalResult, SkillContent,
    SkillStore,
};
